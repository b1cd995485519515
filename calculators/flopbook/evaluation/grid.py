"""The answer of a sweep: columns of inputs and outputs over all points of its axes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from flopbook.evaluation.axes import Axis
from flopbook.evaluation.results import Result, Value
from flopbook.formulas.declaration import Formula
from flopbook.quantities.units import format_quantity


class Sweep(Mapping[str, Any]):
    """Columns by name, swept inputs before outputs; the last axis moves fastest.

    Numbers are NumPy arrays (lists without NumPy), not a number where a point is refused or an
    output open. `problems` says for each refused point why.
    """

    def __init__(self, formula: Formula, axes: tuple[Axis, ...], fixed: Mapping[str, Any]) -> None:
        self.formula, self.axes, self.fixed = formula, axes, fixed
        self.size = math.prod(len(axis.values) for axis in axes)
        self.columns: dict[str, Any] = {}
        self.problems: dict[int, str] = {}
        self.inputs: dict[str, Value] = {}
        self.notes: tuple[str, ...] = ()
        self.sources: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Any:
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __repr__(self) -> str:
        over = " and ".join(f"{axis.name} ({len(axis.values)})" for axis in self.axes)
        return f"<sweep of {self.formula.id} over {over}: {', '.join(self.outputs())}>"

    def unit(self, name: str) -> str:
        """SI unit of a column, empty for words."""
        for axis in self.axes:
            if axis.name == name:
                return axis.unit
        spec = self.formula.outputs[name]
        return "" if spec.choices else spec.unit

    def outputs(self) -> list[str]:
        """The outputs that have a value at some point."""
        names = self.formula.outputs
        return [name for name in names if not all(map(_is_open, self.column(name)))]

    def column(self, name: str) -> list[Any]:
        """A column as a list of plain values."""
        return _as_list(self.columns[name])

    @property
    def misfit(self) -> str:
        """How many points do not fit into memory and which is the first; empty where all fit."""
        if "free" not in self.columns:
            return ""
        over = [point for point, free in enumerate(self.column("free")) if _is_below_zero(free)]
        if not over:
            return ""
        first = ", ".join(self._written(axis.name, over[0]) for axis in self.axes)
        missing = format_quantity(-self.column("free")[over[0]], "byte")
        count = f"{len(over):,} of {self.size:,} points"
        return f"does not fit: {count}, the first at {first}, {missing} over"

    def _written(self, name: str, point: int) -> str:
        value = self.column(name)[point]
        if isinstance(value, str):
            return f"{name} {value}"
        return f"{name} {format_quantity(value, self.unit(name) or '1')}"

    def as_json(self) -> dict[str, Any]:
        """The answer under the contract of `--json`: lists where there was one value before."""
        # What was held has the form of an answer without outputs.
        notes = (self.misfit, *self.notes) if self.misfit else self.notes
        fixed = Result(self.formula, self.inputs, {}, notes, self.sources).as_json()
        axes, swept = [], {}
        for axis in self.axes:
            unit = axis.unit or None
            axes.append({"input": axis.name, "unit": unit, "values": _as_list(axis.values)})
            swept[axis.name] = {"value": self.column(axis.name), "unit": unit}
        outputs = {
            name: {"value": self._json_column(name), "unit": spec.unit}
            for name, spec in self.formula.outputs.items()
        }
        problems = [{"point": point, "why": why} for point, why in sorted(self.problems.items())]
        return fixed | {
            "inputs": swept | fixed["inputs"],  # swept ones first, as in the columns
            "outputs": outputs,
            "sweep": {"axes": axes, "points": self.size, "problems": problems},
        }

    def _json_column(self, name: str) -> list[Any]:
        return [None if _is_open(value) else value for value in self.column(name)]


def _as_list(values: Any) -> list[Any]:
    return values.tolist() if hasattr(values, "tolist") else list(values)


def _is_below_zero(value: Any) -> bool:
    return isinstance(value, float) and value < 0


def _is_open(value: Any) -> bool:
    return value is None or (isinstance(value, float) and not math.isfinite(value))
