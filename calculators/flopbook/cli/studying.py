"""`study`: plans for many models, chips, sizes and prices, as one table."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flopbook.cli.layout import print_json
from flopbook.cli.parser import Option
from flopbook.cli.plain import command
from flopbook.errors import FlopbookError, printable
from flopbook.evaluation.answers import columns, counted
from flopbook.quantities.formatting import format_quantity
from flopbook.quantities.units import percent

if TYPE_CHECKING:
    from flopbook.planning.study import Answer, Options, Study
    from flopbook.planning.study_workers import Answered

MOST_TOP, MOST_SHOWN, MOST_REASONS = 100, 20, 5
RESULTS = "results.parquet"
PAUSE, PAUSE_OF_LOGS = 0.2, 60.0  # seconds between two lines of progress
_OPTIONS = (
    Option("--output", "output", "Folder of the results; FILE.study if open.", "FOLDER"),
    Option("--scheduler", "scheduler", "Compute on this Dask cluster.", "ADDRESS"),
    Option("--top", "top", "Layouts of each case to keep; 1 if open.", "COUNT"),
)
# Columns that are numbers; all others are words.
_REAL = (
    *("price", "considered", "rank", "best_tp", "best_pp", "best_cp", "best_ep", "best_dp"),
    *("virtual", "best_zero", "best_hsdp", "micro_batch", "seconds", "low", "high", "bytes", "mfu"),
    "token_cost",
)
_WORDS = ("problem", "schedule", "best_recompute")


@command("study", *_OPTIONS, argument="FILE")
def study_command(
    file: str,
    output: str | None,
    scheduler: str | None,
    top: str | None,
    as_json: bool,
) -> None:
    """Plan every combination of models, chips, sizes and prices in a file.
    Results are Parquet, one row for each case, price and layout.

    FILE has options of flopbook plan, each with a value or a list: model, chip, chips and
    batch-tokens, and if you like seq, dtype, stack, price and degrees. Finished cases are kept in
    the folder of the results, so that a study that was stopped goes on where it was. Workers of a
    Dask cluster need the same version of flopbook.

    Example: flopbook study sizes.yaml
    """
    from flopbook.planning.study import name_of, read_study
    from flopbook.planning.study_journal import opened

    most = _count("top", top, MOST_TOP)
    if importlib.util.find_spec("duckdb") is None:
        raise FlopbookError("studies write Parquet: pip install 'flopbook[parquet]'")
    path = Path(file)
    study = read_study(path)
    folder = Path(output) if output is not None else path.with_suffix(".study")
    with opened(folder) as journal:
        left = [case for case in study.cases if name_of(case, most) not in journal.answers]
        progress = _Progress(len(study.cases), len(study.cases) - len(left))
        try:
            for options, answer in _answers(left, most, scheduler) if left else ():
                journal.add(name_of(options, most), answer)
                progress.advance()
        finally:
            progress.end()
            # What is finished is a result, too, where the study is stopped.
            record = _written(study, journal.answers, most, folder) if journal.answers else {}
    record["asked"] = len(left)
    if as_json:
        print_json(record)
        return
    print(_summary(record))


def _count(name: str, text: str | None, most: int) -> int:
    from flopbook.prediction.options import count_option

    count = count_option({name: text}, name) or 1
    if count > most:
        raise FlopbookError(f"--{name} is {count:,}, expected at most {most:,}")
    return count


def _answers(cases: Sequence[Options], top: int, scheduler: str | None) -> Iterator[Answered]:
    from flopbook.planning import study_workers

    if scheduler is not None:
        return study_workers.on_a_cluster(cases, top, scheduler)
    return study_workers.in_this_process(cases, top)


class _Progress:
    """How many cases are finished, on the error stream: in one line of a terminal, else by logs.

    A log gets a line a minute, so that a study of seconds says nothing but its answer.
    """

    def __init__(self, total: int, done: int) -> None:
        self._total, self._done, self._told = total, done, time.monotonic()
        self._is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._pause = PAUSE if self._is_terminal else PAUSE_OF_LOGS

    def advance(self) -> None:
        """One more is finished."""
        self._done += 1
        now = time.monotonic()
        if now - self._told < self._pause:
            return
        self._told = now
        start, end = ("\r", "") if self._is_terminal else ("", "\n")
        words = f"{self._done:,} of {self._total:,} cases"
        print(f"{start}{words}", end=end, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Leave the line in which progress was told."""
        if self._is_terminal:
            print("\r", end="", file=sys.stderr)


def _written(
    study: Study, answers: Mapping[str, Answer], top: int, folder: Path
) -> dict[str, object]:
    """Write the rows of all finished cases; what there is to say of them."""
    from flopbook.data.files import write_bytes
    from flopbook.export.tables import Table, parquet_of
    from flopbook.planning.study import name_of, rows

    listed = list(rows(study, answers, top))
    kinds = {**dict.fromkeys(study.cases[0], "text"), **dict.fromkeys(_WORDS, "text")}
    kinds |= dict.fromkeys(_REAL, "real")
    table = Table("results", kinds, [tuple(row.get(name) for name in kinds) for row in listed])
    path = folder / RESULTS
    write_bytes(path, parquet_of({RESULTS: table})[RESULTS])
    finished = [answer for case in study.cases if (answer := answers.get(name_of(case, top)))]
    return {
        "cases": len(study.cases),
        "finished": len(finished),
        "planned": sum(bool(answer.layouts) for answer in finished),
        "results": str(path),
        "rows": listed,
    }


def _summary(made: Mapping[str, Any]) -> str:
    """The fastest rows, how many cases have one, and where the results lie."""
    from flopbook.planning.study import FIELDS

    best = sorted((row for row in made["rows"] if row["rank"] == 1), key=lambda row: row["seconds"])
    varying = [
        name
        for name in (made["rows"][0] if made["rows"] else ())
        if name in (*FIELDS, "batch_tokens") and len({row.get(name) for row in made["rows"]}) > 1
    ]
    lines = []
    if best:
        head = ("step", "MFU", "memory", *varying, "USD per million tokens")
        table = [_line(row, varying) for row in best[:MOST_SHOWN]]
        is_priced = any("token_cost" in row for row in best)
        width = len(head) if is_priced else -1
        lines = [columns([line[:width] for line in table], head=head[:width]), ""]
    if len(best) > MOST_SHOWN:
        lines.append(f"{len(best) - MOST_SHOWN:,} more rows are slower")
    if made["asked"] < made["cases"]:
        lines.append(f"{made['cases'] - made['asked']:,} cases were finished before")
    lines.append(f"{made['planned']:,} of {made['cases']:,} cases have a layout that fits")
    lines += _reasons(made["rows"])
    return "\n".join([*lines, f"wrote {printable(made['results'])}"])


def _reasons(listed: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Why cases have no layout, the most frequent reasons first."""
    reasons = Counter(row["problem"] for row in listed if row["problem"])
    for reason, count in reasons.most_common(MOST_REASONS):
        yield printable(f"{counted(count, 'row')} without one: {reason}")


def _line(row: Mapping[str, Any], varying: Sequence[str]) -> tuple[str, ...]:
    words = (_word(name, row[name]) for name in varying)
    cost = f"{1e6 * row['token_cost']:.3g}" if "token_cost" in row else ""
    return (
        format_quantity(row["seconds"], "s", digits=3),
        percent(row["mfu"]),
        format_quantity(row["bytes"], "byte", digits=3),
        *words,
        cost,
    )


def _word(name: str, value: Any) -> str:
    return f"{3600 * value:.4g} USD/h" if name == "price" else str(value)
