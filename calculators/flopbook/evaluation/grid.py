"""The answer of a sweep: columns of inputs and outputs over all points of its axes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from flopbook.evaluation.axes import Axis
from flopbook.evaluation.results import Result, Value
from flopbook.formulas.declaration import Formula


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

    def as_json(self) -> dict[str, Any]:
        """The answer under the contract of `--json`: lists where there was one value before."""
        # What was held has the form of an answer without outputs.
        fixed = Result(self.formula, self.inputs, {}, self.notes, self.sources).as_json()
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


def _is_open(value: Any) -> bool:
    return value is None or (isinstance(value, float) and not math.isfinite(value))
