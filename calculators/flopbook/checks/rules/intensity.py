"""The dense 16-bit peak over the memory bandwidth of a chip with HBM lies between 30 and 1,000 FLOP
per byte.
"""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import Data, Finding, at_claim
from flopbook.data.library import source_tiers
from flopbook.hardware.choice import choose

NAME = "intensity"
LEAST, MOST = 30, 1000
SAID = (
    f"{LEAST} to {MOST} FLOP per byte",
    "check that both are of one chip and dense, or say why under 'exceptions'",
)


def check(data: Data) -> Iterator[Finding]:
    """Chips whose peak and bandwidth do not fit together; it is how a sparse peak or a half chip
    shows.
    """
    for entry in data.entries.values():
        if not entry.computes:
            continue
        for dtype in ("bf16", "fp16"):
            wanted = ("peak", dtype, "tensor", "dense")
            peaks = (c for c in entry.claims if (c.field, c.dtype, c.engine, c.sparsity) == wanted)
            peak = choose(peaks)
            rate = choose(
                (c for c in entry.claims if (c.field, c.tier) == ("memory_bandwidth", "hbm")),
                source_tiers(),
            )
            if peak and rate and peak.si_value and rate.si_value:
                ratio = peak.si_value / rate.si_value
                if not LEAST <= ratio <= MOST:
                    found = f"{dtype} {peak.value:g} {peak.unit} over {rate.value:g} {rate.unit} = {ratio:.3g}"
                    yield at_claim(NAME, entry, peak, found, SAID)
                break
