"""Whether the verdict of a row stands when its expressions are recomputed.

A `holds` that does not hold is a problem, and so is a `does-not-hold` that does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from flopbook.errors import DataError, FlopbookError
from flopbook.ledger.recomputation import recompute
from flopbook.ledger.rows import DEFAULT_TOLERANCE, Row
from flopbook.ledger.units import expression_dimensions
from flopbook.quantities.units import UnitError, unit

AGREEING = ("holds", "rounding", "depends")  # verdicts whose computation gives what is stated


def judge(row: Row) -> list[str]:
    """What is wrong with a row's verdict; an empty list when the verdict stands.

    Raises DataError when a file that the row computes with is broken.
    """
    try:
        return list(_faults(row))
    except DataError:  # a broken entry is that entry's problem, not this row's
        raise
    except (FlopbookError, UnitError) as error:
        return [str(error)]


def _faults(row: Row) -> Iterator[str]:
    yield from _unit_faults(row)
    yield from _tolerance_faults(row)
    computed = recompute(row.call) if row.call else None
    if computed is not None:
        yield from _statement_faults(row, computed)
    yield from _correction_faults(row, computed)
    yield from _reproduction_faults(row)


def _unit_faults(row: Row) -> Iterator[str]:
    """The computation measures something else than the stated unit does; FLOP is not FLOP/s."""
    stated = row.stated if row.stated.unit else row.corrected
    if not row.call or stated is None or not stated.unit:
        return
    computed = expression_dimensions(row.call)
    if computed is not None and computed.powers != unit(stated.unit).dimensions:
        yield f"states {stated.unit}, but the computation gives {computed}"


def _tolerance_faults(row: Row) -> Iterator[str]:
    if row.verdict == "rounding" and row.tolerance <= DEFAULT_TOLERANCE:
        usual = f"the usual {DEFAULT_TOLERANCE:g}"
        yield f"verdict rounding, but the tolerance {row.tolerance:g} is not above {usual}"


def _statement_faults(row: Row, computed: float) -> Iterator[str]:
    stated = row.stated.si_value
    near = _near(computed, stated, row.tolerance)
    if row.verdict in AGREEING and not near:
        both = f"it states {stated} and the computation gives {computed:.8g}"
        yield f"verdict {row.verdict}, but {both}"
    if row.verdict == "does-not-hold" and near:
        yield f"verdict does-not-hold, but the computation gives {computed:.8g} as stated"


def _correction_faults(row: Row, computed: float | None) -> Iterator[str]:
    """The correction of a wrong statement is not what comes out; that of a typo may be words."""
    corrected = None if row.corrected is None else row.corrected.si_value
    is_number = computed is not None and corrected is not None
    if row.verdict != "does-not-hold" and not (row.verdict == "typo" and is_number):
        return
    if computed is None:
        yield f"the correction says {corrected}, but there is no computation"
    elif not _near(computed, corrected, row.tolerance):
        yield f"the correction says {corrected}, but the computation gives {computed:.8g}"


def _reproduction_faults(row: Row) -> Iterator[str]:
    """The expression that shows how a source came to its number gives another one."""
    if not row.reproduces:
        return
    reproduced = recompute(row.reproduces)
    stated = row.stated.si_value
    if not _near(reproduced, stated, row.tolerance):
        yield f"'reproduces' gives {reproduced:.8g}, not the stated {stated}"


def _near(computed: float | None, stated: float | None, tolerance: float) -> bool:
    if computed is None or stated is None:
        return False
    if not (math.isfinite(computed) and math.isfinite(stated)):
        return False
    # Relative to the larger of both, so that nothing but 0 is near 0.
    return abs(computed - stated) <= tolerance * max(abs(computed), abs(stated))
