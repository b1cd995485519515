"""The degrees of a run against its chips: what multiplies, to what, and where that cannot be.

Who reads a run and who checks the runs on file ask the same rule; planning asks it of options.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from flopbook.data.runs import MeasuredRun

# Expert parallelism divides replicas that data parallelism counts already.
DIVIDING = ("tp", "pp", "dp", "cp")
# The flag with which a row owns up to degrees that its source contradicts itself in.
WRONG_DEGREES = "parallel_sizes_do_not_multiply_to_n_gpus"
MEND_RUN = f"mend a degree, or flag {WRONG_DEGREES}"


class Contradiction(NamedTuple):
    """Degrees with their product, and what the chips ask of it."""

    observed: str
    expected: str


def contradiction(degrees: Mapping[str, float], chips: float) -> Contradiction | None:
    """Degrees that do not multiply to the chips; without DP, that do not divide them.

    >>> contradiction({"tp": 4, "dp": 3}, 8)
    Contradiction(observed='tp 4 x dp 3 = 12', expected='a product of 8 chips')
    >>> contradiction({"tp": 4, "dp": 2}, 8)
    """
    dividing = {name: degrees[name] for name in DIVIDING if name in degrees}
    product = math.prod(dividing.values())
    is_divisor = product > 0 and chips % product == 0
    is_sound = product == chips if "dp" in dividing else is_divisor
    if is_sound:
        return None
    sizes = " x ".join(f"{name} {degree}" for name, degree in dividing.items())
    expected = "a product of" if "dp" in dividing else "a divisor of the"
    return Contradiction(f"{sizes} = {product}", f"{expected} {chips} chips")


def contradiction_of_run(row: MeasuredRun) -> Contradiction | None:
    """What `contradiction` finds in a row that names its chips and does not own up to it."""
    chips, degrees = row.hardware.get("n_chips"), row.parallelism
    # Degrees of a part of a chip, such as a core, multiply to more than the chips.
    if chips is None or "parallel_unit" in degrees or WRONG_DEGREES in row.flags:
        return None
    experts = degrees.get("ep", 1)
    if not experts or chips % experts:
        return Contradiction(f"ep {experts}", f"a divisor of the {chips} chips")
    return contradiction(degrees, chips)
