"""The only reader of the ledger of claims: what sources state, each with a verdict.

`recomputation` evaluates the expressions of a row; `verdicts` says whether its verdict stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flopbook.data.library import library, per_library
from flopbook.data.records import read_checked
from flopbook.data.yaml_text import Node
from flopbook.errors import DataError, Problem, UnknownName, show_path
from flopbook.quantities.units import to_si

DEFAULT_TOLERANCE = 1e-3  # relative; what a source rounds more coarsely says so itself
VERDICTS = ("holds", "rounding", "does-not-hold", "depends", "typo", "quoted")
MISLEADING = ("does-not-hold", "typo", "depends")


@dataclass(frozen=True, slots=True)
class Stated:
    """A value in its unit, or a text where there is no number."""

    value: float | None = None
    unit: str = ""
    text: str = ""

    @property
    def si_value(self) -> float | None:
        """The value in SI units."""
        return None if self.value is None else to_si(self.value, self.unit or "1")


@dataclass(frozen=True, slots=True)
class Defect:
    """What a calculator or planner gets wrong.

    Its number in the list of defects, the tool, the sort of error, and how it was seen.
    """

    number: int
    tool: str
    kind: str
    seen: str


@dataclass(frozen=True, slots=True)
class Row:
    """One claim of a source: statement, verdict, and the expressions that prove it.

    Its place is a `line` of the `document`, a `place` such as a table, or both.
    """

    id: str
    source: str
    document: str
    line: int | None
    topic: str
    statement: str
    stated: Stated
    verdict: str
    why: str
    tolerance: float = DEFAULT_TOLERANCE
    call: str = ""
    reproduces: str = ""
    corrected: Stated | None = None
    assumption: str = ""
    evidence: tuple[str, ...] = ()
    place: str = ""
    chapter: str = ""
    defect: Defect | None = None
    file: str = ""
    file_line: int = 0

    @property
    def where(self) -> str:
        """Where in the source the claim stands, in words."""
        return self.place or f"line {self.line}"

    @property
    def to_teach(self) -> bool:
        """True for what misleads a reader: wrong, mistyped, or true under an unsaid condition.

        Defects of tools have a page of their own, and slips of layout (topic `editing`) teach
        nothing.
        """
        return self.verdict in MISLEADING and self.defect is None and self.topic != "editing"


@per_library
def ledger_rows() -> tuple[Row, ...]:
    """All rows of the library in use, in order. Raises DataError with every problem of its files.

    >>> {row.verdict for row in ledger_rows()} >= {"holds", "does-not-hold"}
    True
    """
    return read_ledger(library().bibliography / "claims")


def read_ledger(folder: Path) -> tuple[Row, ...]:
    """All rows of the ledger files of a folder. Raises DataError with all their problems."""
    rows: list[Row] = []
    problems: list[Problem] = []
    for path in sorted(folder.glob("*.yaml")):
        try:
            rows += _read(path)
        except DataError as error:
            problems += error.problems
    problems += _duplicates(rows)
    if problems:
        raise DataError(problems)
    return tuple(rows)


def ledger_row(row_id: str) -> Row:
    """One row by id. Raises UnknownName with the nearest ids."""
    rows = {row.id: row for row in ledger_rows()}
    if row_id not in rows:
        raise UnknownName("claim", row_id, rows)
    return rows[row_id]


def _duplicates(rows: Iterable[Row]) -> Iterator[Problem]:
    first: dict[str, Row] = {}
    for row in rows:
        if first.setdefault(row.id, row) is not row:
            advice = ("each id once", "rename it")
            yield Problem(row.file, row.file_line, 1, "duplicate", f"claim '{row.id}'", *advice)


def _read(path: Path) -> list[Row]:
    document, file = read_checked(path, "claims"), show_path(path)
    # What is said once above the rows holds for those that do not say otherwise.
    shared = {key: document.get(key) or "" for key in ("source", "file")}
    rows = [_row(node, shared, file) for node in document.value["rows"].value]
    problems = list(_sourceless(rows))
    if problems:
        raise DataError(problems)
    return rows


def _sourceless(rows: Iterable[Row]) -> Iterator[Problem]:
    expected = "the key of a reference"
    mend = "name it in the row, or above the rows for all of them"
    for row in rows:
        if not row.source:
            yield Problem(row.file, row.file_line, 1, "source", "no source", expected, mend)


def _row(node: Node, shared: Mapping[str, str], file: str) -> Row:
    fields: dict[str, Any] = {"line": None, **shared, **node.plain()}
    fields["document"] = fields.pop("file")
    fields["stated"] = Stated(**fields["stated"])
    if "corrected" in fields:
        fields["corrected"] = Stated(**fields["corrected"])
    if "defect" in fields:
        fields["defect"] = Defect(**fields["defect"])
    fields["evidence"] = tuple(fields.get("evidence", ()))
    return Row(file=file, file_line=node.line, **fields)
