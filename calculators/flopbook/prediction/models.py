"""What a model of one kind of measurement consists of: inputs of a row, parameters, predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from flopbook.data.runs import MeasuredRun, RunSource
from flopbook.prediction.arrays import Column
from flopbook.prediction.parameters import Prior

Parameters = Mapping[str, float]


class PrintedAs(NamedTuple):
    """How a value of a model is printed: `factor` times it, or over it where `is_inverse`.

    `band` names the band where one quantity has several.
    """

    quantity: str
    unit: str
    factor: float = 1.0
    is_inverse: bool = False
    band: str = ""

    def of(self, value: float) -> float:
        """The value as it is printed."""
        return self.factor / value if self.is_inverse else self.factor * value


class Case(NamedTuple):
    """A row as a model takes it: its inputs, what it measured, and what a rule filled in.

    Inputs never hold a result: a prediction sees `inputs` alone. `measured` is in the unit of the
    model; `shown` turns it into what the row prints.
    """

    row: MeasuredRun
    inputs: Any
    measured: float
    inferred: tuple[str, ...] = ()
    shown: PrintedAs | None = None

    @property
    def source(self) -> str:
        """The publication of the row."""
        return self.row.publication

    @property
    def cluster(self) -> str:
        """Rows of one source, model and chip share what no row says."""
        return f"{self.source} {self.row.model.get('name')} {self.row.hardware['chip']}"

    @property
    def is_time(self) -> bool:
        """Whether the model gives seconds, so that what is faster is smaller."""
        return self.shown is not None and self.shown.unit == "s" and not self.shown.is_inverse

    @property
    def is_sound(self) -> bool:
        """Whether the row is complete and carries no flag."""
        return self.row.complete and not self.row.flags


def no_traits(inputs: Any) -> Mapping[str, str]:
    """Nothing tells runs of a kind apart."""
    return {}


class PredictionModel(NamedTuple):
    """How one kind of row is predicted.

    `read` raises FlopbookError for a row that lacks an input; `predict` gives the value of each of
    some inputs, in the unit of `shown` unless a case is shown in another. `arrange` turns inputs
    into what `predict` takes quickest, once for the many times that a fit asks; a model that
    `takes_arrays` is asked for several sets of parameters at once, each a column. `shared` is the
    standard deviation of what all runs of a source may lie off together, as a logarithm. `traits`
    names what a run may be unlike all others in.
    """

    kind: str
    shown: PrintedAs
    priors: Mapping[str, Prior]
    read: Callable[[MeasuredRun, RunSource], Case]
    predict: Callable[[Any, Parameters], Column]
    arrange: Callable[[Sequence[Any]], Any] = tuple
    takes_arrays: bool = False
    shared: float = 0.0
    traits: Callable[[Any], Mapping[str, str]] = no_traits
