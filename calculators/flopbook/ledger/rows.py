"""The only reader of the ledger of claims: what sources state, recomputed, with a verdict.

`recompute` evaluates a row; `judge` says whether its verdict stands. A `holds` that does not hold
is a problem, and so is a `does-not-hold` that does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flopbook.architectures.shape import Shape, shape
from flopbook.data.folders import schema_paths
from flopbook.data.library import library, per_library
from flopbook.data.schema import check, load_schema, text_problems
from flopbook.data.yaml_text import Node, read_yaml
from flopbook.errors import DataError, FlopbookError, Problem, UnknownName, shorten, show_path
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import Chip, chip
from flopbook.quantities import ops
from flopbook.quantities.expressions import evaluate
from flopbook.quantities.units import UnitError, parse_quantity, to_si, unit

DEFAULT_TOLERANCE = 1e-3
VERDICTS = ("holds", "rounding", "does-not-hold", "depends", "typo", "quoted")


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
    """What a calculator or planner gets wrong: its number in the list, the tool, the sort of error,
    how it was seen.
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
        """True for what misleads a reader: wrong, mistyped or true under a condition that goes
        without saying.

        Defects of tools have a page of their own, and slips of layout (topic `editing`) teach
        nothing.
        """
        return (
            self.verdict in ("does-not-hold", "typo", "depends")
            and not self.defect
            and self.topic != "editing"
        )


class _ChipView:
    """What an expression may ask of a chip."""

    expression_attributes = (
        "peak",
        "memory",
        "memory_bandwidth",
        "scaleup_bandwidth",
        "power",
        "total",
    )

    def __init__(self, name: str) -> None:
        inner: Chip = chip(name)
        for attribute in self.expression_attributes:
            setattr(self, attribute, getattr(inner, attribute))


class _ModelView:
    """What an expression may ask of a model."""

    expression_attributes = (
        "params",
        "active_params",
        "tokens",
        "layers",
        "d_model",
        "d_ff",
        "heads",
        "kv_heads",
        "head_dim",
        "vocab",
        "context",
        "experts",
        "experts_per_token",
        "batch_tokens",
        "train_flop",
        "gpu_hours",
        "chips",
    )

    def __init__(self, name: str) -> None:
        self._inner: Shape = shape(name)

    def __getattr__(self, name: str) -> float:
        return getattr(self._inner, name)


def _quantity(text: str) -> float:
    """`q("80GB")`: an amount with its unit, in SI."""
    import re

    match = re.fullmatch(r"\s*[-+]?[0-9._]+(?:[eE][-+]?[0-9]+)?\s*(.*?)\s*", text)
    if match is None:
        raise UnitError(f"'{shorten(text)}' is not a quantity")
    return parse_quantity(text, unit(match[1]).si if match[1] else "1")


NAMES: dict[str, Any] = {
    "chip": _ChipView,
    "model": _ModelView,
    "calc": calculate,
    "q": _quantity,
    "min": ops.minimum,
    "max": ops.maximum,
    "sqrt": ops.sqrt,
    "floor": ops.floor,
    "ceil": ops.ceil,
    "abs": abs,
}


def recompute(expression: str) -> float:
    """Evaluate an expression of the ledger to an SI number. Raises FlopbookError."""
    value = evaluate(expression, NAMES)
    if not isinstance(value, (int, float)):
        value = next(iter(value.values())) if hasattr(value, "values") and len(value) else value
    if not isinstance(value, (int, float)):
        raise FlopbookError(f"'{shorten(expression)}' gives no number")
    return float(value)


def judge(row: Row) -> list[str]:
    """What is wrong with a row's verdict; an empty list when the verdict stands.

    Raises DataError when a file that the row computes with is broken.
    """
    try:
        return list(_judge(row))
    except DataError:  # a broken entry is that entry's problem, not this row's
        raise
    except (FlopbookError, UnitError) as error:
        return [str(error)]


def _judge(row: Row) -> Iterator[str]:
    computed = recompute(row.call) if row.call else None
    stated = row.stated.si_value
    if row.call and (problem := _wrong_unit(row)):
        yield problem
    if row.verdict == "rounding" and row.tolerance <= DEFAULT_TOLERANCE:
        yield f"verdict rounding, but the tolerance {row.tolerance:g} is not above the usual {DEFAULT_TOLERANCE:g}"
    if (
        row.verdict in ("holds", "rounding", "depends")
        and computed is not None
        and not _near(computed, stated, row.tolerance)
    ):
        yield f"verdict {row.verdict}, but it states {stated} and the computation gives {computed:.8g}"
    if row.verdict == "does-not-hold":
        if _near(computed, stated, row.tolerance):
            yield f"verdict does-not-hold, but the computation gives {computed:.8g} as stated"
        yield from _check_correction(row, computed)
    if (
        row.verdict == "typo"
        and computed is not None
        and row.corrected
        and row.corrected.value is not None
    ):
        yield from _check_correction(row, computed)
    if row.reproduces and not _near(recompute(row.reproduces), stated, row.tolerance):
        yield f"'reproduces' gives {recompute(row.reproduces):.8g}, not the stated {stated}"


def _wrong_unit(row: Row) -> str:
    """What the computation measures, where that is not what the stated unit measures; FLOP is not
    FLOP/s.
    """
    from flopbook.ledger.units import expression_dimensions

    said = row.stated if row.stated.unit else row.corrected
    if said is None or not said.unit:
        return ""
    found, name = expression_dimensions(row.call), said.unit
    if found is None or found.powers == unit(name).dimensions:
        return ""
    return f"states {name}, but the computation gives {found}"


def _check_correction(row: Row, computed: float | None) -> Iterator[str]:
    corrected = row.corrected.si_value if row.corrected else None
    if not _near(computed, corrected, row.tolerance):
        yield f"the correction says {corrected}, but the computation gives {computed:.8g}"


def _near(a: float | None, b: float | None, tolerance: float) -> bool:
    if a is None or b is None or not (math.isfinite(a) and math.isfinite(b)):
        return False
    return abs(a - b) <= tolerance * max(abs(a), abs(b))


@per_library
def ledger_rows() -> tuple[Row, ...]:
    """All rows of the library in use, in order. Raises DataError with every problem of its files.

    >>> {row.verdict for row in ledger_rows()} >= {"holds", "does-not-hold"}
    True
    """
    return read_ledger(library().bibliography / "claims")


def read_ledger(folder: Path) -> tuple[Row, ...]:
    """All rows of all ledger files of a folder. Raises DataError with every problem of the files."""
    rows: list[Row] = []
    problems: list[Problem] = []
    for path in sorted(folder.glob("*.yaml")):
        try:
            rows += _read(path)
        except DataError as error:
            problems += error.problems
    first: dict[str, Row] = {}
    for row in rows:
        other = first.setdefault(row.id, row)
        if other is not row:
            problems.append(
                Problem(
                    row.file,
                    row.file_line,
                    1,
                    "duplicate",
                    f"claim '{row.id}'",
                    "each id once",
                    "rename it",
                )
            )
    if problems:
        raise DataError(problems)
    return tuple(rows)


def _read(path: Path) -> Iterator[Row]:
    data = read_yaml(path)
    file = show_path(path)
    problems = [
        *check(data, load_schema(schema_paths()["claims"]), file),
        *text_problems(data, file),
    ]
    if problems:
        raise DataError(problems)
    whole = {"source": data.get("source") or "", "file": data.get("file") or ""}
    rows = [_row(node, whole, file) for node in data.value["rows"].value]
    if nameless := [row for row in rows if not row.source]:
        said = (
            "no source",
            "the key of a reference",
            "name it in the row, or above the rows for all of them",
        )
        raise DataError([Problem(file, row.file_line, 1, "source", *said) for row in nameless])
    return iter(rows)


def _row(node: Node, whole: dict[str, str], file: str) -> Row:
    raw = {"line": None, **whole, **node.plain()}
    raw["document"] = raw.pop("file")
    raw["stated"] = Stated(**raw["stated"])
    raw["corrected"] = Stated(**raw["corrected"]) if "corrected" in raw else None
    raw["evidence"] = tuple(raw.get("evidence", ()))
    raw["defect"] = Defect(**raw["defect"]) if "defect" in raw else None
    return Row(file=file, file_line=node.line, **raw)


def ledger_row(row_id: str) -> Row:
    """One row by id. Raises UnknownName with the nearest ids."""
    known = {row.id: row for row in ledger_rows()}
    if row_id not in known:
        raise UnknownName("claim", row_id, known)
    return known[row_id]
