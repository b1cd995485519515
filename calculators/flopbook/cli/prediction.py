"""What was measured, and what is predicted of it: validate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flopbook.cli.layout import print_json
from flopbook.cli.parser import Option
from flopbook.cli.plain import command
from flopbook.errors import FlopbookError, printable, shorten
from flopbook.evaluation.answers import columns, counted

if TYPE_CHECKING:
    from flopbook.data.runs import RunFile
    from flopbook.prediction.validation import Validation

_ROWS = Option("--rows", "all_rows", "Print a line for every row, the worst first.")
MOST_REASONS = 8


@command("validate", _ROWS, argument="[FILE ...]")
def validate_command(files: Sequence[str], all_rows: bool, as_json: bool) -> None:
    """Hold predictions against measured runs, and print how far off they are.
    FILE has runs in the layout of calculators/runs/; without one all runs on file count.

    Errors are predicted over measured, less one, on rows whose configuration is complete as well
    as on those where a rule filled in what is missing. The rows on file are those that the
    parameters were fitted on: their errors flatter. Bands are measured on runs that were left out.

    Example: flopbook validate --rows
    """
    from flopbook.prediction.validation import validate

    validation = validate(_run_files(files))
    if as_json:
        print_json(validation.record())
        return
    record = validation.record()
    print(_table(record["kinds"]))
    if all_rows:
        print("\n" + _lines(validation))
    if validation.refused:
        print("\n" + _refusals(validation))


def _run_files(names: Sequence[str]) -> list[RunFile]:
    """The files that are named, or all on file. Raises FlopbookError or DataError."""
    from flopbook.data.measured_runs import run_files
    from flopbook.data.runs import read_run_file

    if not names:
        return list(run_files().values())
    return [read_run_file(_existing(name)) for name in names]


def _existing(name: str) -> Path:
    path = Path(name)
    if not path.is_file():
        raise FlopbookError(f"no file '{printable(shorten(name))}'; give a file of measured runs")
    return path


def _table(kinds: Mapping[str, Mapping[str, Any]]) -> str:
    """A line for each kind: how many rows, how large the errors, and how often the band held."""
    head = ("kind", "rows", "median", "mean", "p90", "bias", "in the band", "refused")
    rows = []
    for kind, summary in kinds.items():
        errors = [_percent(summary[name]) for name in ("median", "mean", "p90", "bias", "coverage")]
        rows.append((kind, f"{summary['n']}", *errors, f"{summary['refused']}"))
    return columns(rows, head=head)


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"


def _lines(validation: Validation) -> str:
    """Every row that was predicted, the largest error first."""
    ordered = sorted(validation.lines, key=lambda line: -abs(line.error))
    rows = [
        (
            line.case.row.id,
            line.quantity,
            f"{line.measured:.4g}",
            f"{line.predicted:.4g}",
            line.unit,
            f"{100 * line.error:+.0f} %",
            "" if line.is_covered else "outside the band",
        )
        for line in ordered
    ]
    return columns(rows, head=("row", "quantity", "measured", "predicted", "", "error", ""))


def _refusals(validation: Validation) -> str:
    """Why rows could not be predicted, the most frequent reason first."""
    counts: dict[str, int] = {}
    for _, _, reason in validation.refused:
        counts[reason] = counts.get(reason, 0) + 1
    ordered = sorted(counts.items(), key=lambda pair: -pair[1])
    lines = [f"refused: {counted(count, 'row')}: {reason}" for reason, count in ordered]
    return "\n".join(lines[:MOST_REASONS])
