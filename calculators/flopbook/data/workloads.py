"""What benchmarks ask of every system: lengths of prompts and answers, and how late they may come.

The only reader of `calculators/runs/workloads/`. A row of a suite's results names its benchmark,
so the lengths stand there once and not in each of hundreds of rows.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from flopbook.data.library import library, per_library
from flopbook.errors import show_path

FOLDER = "workloads"


class Tokens(NamedTuple):
    """A length in tokens: the mean over all samples, with its source and the day of reading."""

    tokens: float
    source: str
    as_of: datetime.date
    median: float | None = None
    longest: float | None = None
    quote: str = ""
    locator: str = ""
    note: str = ""


class Limit(NamedTuple):
    """How late 99 % of tokens may come in a scenario (ms); `drafts` where others may draft them."""

    scenario: str
    first_token_ms: float
    token_ms: float
    source: str
    as_of: datetime.date
    drafts: bool = False
    quote: str = ""
    locator: str = ""
    note: str = ""


class Workload(NamedTuple):
    """What a benchmark asks, under the names that rows have for it.

    `held` is the mean number of tokens of a sequence while it runs, where answers differ in length.
    """

    suite: str
    name: str
    benchmarks: tuple[str, ...]
    samples: int
    prompt: Tokens
    answer: Tokens
    held: Tokens | None = None
    limits: tuple[Limit, ...] = ()
    file: str = ""
    line: int = 1

    @property
    def running(self) -> float:
        """Tokens that a sequence holds on average while it runs."""
        if self.held:
            return self.held.tokens
        return self.prompt.tokens + self.answer.tokens / 2

    @property
    def facts(self) -> tuple[Tokens | Limit, ...]:
        """Everything that has a source."""
        held = () if self.held is None else (self.held,)
        return (self.prompt, self.answer, *held, *self.limits)

    def limit(self, scenario: str) -> Limit | None:
        """How late tokens may come in a scenario; None where they may come at any time."""
        return next((limit for limit in self.limits if limit.scenario == scenario), None)


def read_workloads(path: Path) -> tuple[Workload, ...]:
    """All workloads of a file. Raises DataError with every problem."""
    from flopbook.data.records import read_checked, with_dates

    document, file = read_checked(path, "workloads"), show_path(path)
    raw, nodes = with_dates(document.plain()), document.value["workloads"].value
    rows = zip(raw["workloads"], nodes, strict=True)
    return tuple(_workload(raw["suite"], row, file, node.line) for row, node in rows)


def _workload(suite: str, row: Mapping[str, Any], file: str, line: int) -> Workload:
    held = row.get("held")
    return Workload(
        suite=suite,
        name=row["name"],
        benchmarks=tuple(row["benchmarks"]),
        samples=row["samples"],
        prompt=Tokens(**row["prompt"]),
        answer=Tokens(**row["answer"]),
        held=None if held is None else Tokens(**held),
        limits=tuple(Limit(**limit) for limit in row.get("limits", ())),
        file=file,
        line=line,
    )


@per_library
def workloads() -> tuple[Workload, ...]:
    """All workloads of the library in use; a library may have none. Raises DataError."""
    return tuple(_all(library().folders.runs / FOLDER))


def _all(folder: Path) -> Iterator[Workload]:
    for path in sorted(folder.glob("*.yaml")):
        yield from read_workloads(path)


def workload_of(benchmark: str) -> Workload | None:
    """What the benchmark asks that a row names: a suite, then its name after the last comma."""
    name = benchmark.rpartition(",")[2].strip()
    for one in workloads():
        if benchmark.startswith(one.suite) and name in one.benchmarks:
            return one
    return None
