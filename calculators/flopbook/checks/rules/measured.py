"""A measured run agrees with itself: its degrees multiply to its chips, its totals to its parts.

A publication may be wrong; then the row says so with a flag, and nothing is fitted to it unseen.
"""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import Advice, Finding, Holdings
from flopbook.data.runs import MeasuredRun, RunFile
from flopbook.errors import Problem

NAME = "run"
# Two printed figures of one run differ by their rounding; beyond this, one of them is wrong.
ROUNDING = 0.03
DEGREES = ("tp", "pp", "dp", "cp")
# The flags with which a row owns up to a contradiction in its source.
WRONG_DEGREES = "parallel_sizes_do_not_multiply_to_n_gpus"
WRONG_TOTAL = "columns_swapped_in_source"


def check(holdings: Holdings) -> Iterator[Finding]:
    """Runs whose source is unknown, whose id is taken, or whose numbers contradict each other."""
    seen: dict[str, str] = {}
    for name, runs in holdings.runs.items():
        yield from _publications(runs, holdings)
        for row in runs.rows:
            if row.id in seen:
                advice = Advice("an id of its own", f"{seen[row.id]} has it too; rename one")
                yield _at(row, f"id '{row.id}'", advice)
            seen[row.id] = name
            yield from _degrees(row)
            yield from _totals(row)


def _publications(runs: RunFile, holdings: Holdings) -> Iterator[Finding]:
    """Every publication is a work of the bibliography."""
    if "references" in holdings.unreadable:
        return
    for short_name, publication in runs.sources.items():
        if publication.source not in holdings.references:
            observed = f"source '{publication.source}' of {short_name}"
            advice = Advice("a key of bibliography/", "add the publication to a .bib file")
            yield _at(runs.rows[0], observed, advice)


def _degrees(row: MeasuredRun) -> Iterator[Finding]:
    """TP x PP x DP x CP is the number of chips, where all that matter are given."""
    degrees = row.parallelism
    chips = row.hardware.get("n_chips")
    # Degrees of a part of a chip, such as a core, multiply to more than the chips.
    is_open = chips is None or "dp" not in degrees or "parallel_unit" in degrees
    if is_open or WRONG_DEGREES in row.flags:
        return
    product = 1
    for name in DEGREES:
        product *= degrees.get(name, 1)
    if product != chips:
        sizes = " x ".join(f"{name} {degrees[name]}" for name in DEGREES if name in degrees)
        advice = Advice(f"a product of {chips} chips", f"mend a degree, or flag {WRONG_DEGREES}")
        yield _at(row, f"{sizes} = {product}", advice)


def _totals(row: MeasuredRun) -> Iterator[Finding]:
    """Tokens a second of all chips are those of one chip times their number."""
    measured, chips = row.measured, row.hardware.get("n_chips")
    total, each = measured.get("tokens_per_s"), measured.get("tokens_per_s_per_chip")
    if not (chips and total and each) or WRONG_TOTAL in row.flags:
        return
    if abs(each * chips / total - 1) > ROUNDING:
        advice = Advice(f"{each * chips:,.0f} for {chips} chips", "mend one of the three")
        yield _at(row, f"tokens_per_s {total:,}", advice)


def _at(row: MeasuredRun, observed: str, advice: Advice) -> Finding:
    return Finding(Problem(row.file, row.line, 1, NAME, observed, *advice))
