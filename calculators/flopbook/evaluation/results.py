"""What a calculator answers: the inputs as they were used, the outputs, notes and sources."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from flopbook.formulas.declaration import Formula
from flopbook.formulas.omissions import Noted
from flopbook.quantities.units import format_quantity

GIVEN = "given"  # the origin of an input that the caller wrote; all others name what supplied it
DEFAULT = "default"


class Value(NamedTuple):
    """An input as it was used: SI value or text, unit, where it came from and by which source."""

    value: Any
    unit: str
    origin: str = GIVEN
    source: str = ""
    place: str = ""  # file and line where that claim is written


class Fit(NamedTuple):
    """Memory of a chip against what it has to hold, in bytes, and what would make it fit."""

    free: float
    fewest_chips: float | None
    remedy: str
    # Sequences that fit on these chips; None where an answer has no batch to change.
    largest_batch: float | None = None

    @property
    def fits(self) -> bool:
        """Whether nothing is missing."""
        return self.free >= 0

    @property
    def text(self) -> str:
        """What stands before an answer that does not fit; empty where it does."""
        if self.fits:
            return ""
        parts = [f"does not fit: {format_quantity(-self.free, 'byte')} over"]
        if self.largest_batch:
            parts.append(f"largest batch {self.largest_batch:,.0f}")
        if self.fewest_chips is not None and math.isfinite(self.fewest_chips):
            parts.append(f"smallest number of chips {self.fewest_chips:,.0f}")
        if self.remedy:
            parts.append(f"with {self.remedy} it fits")
        return "; ".join(parts)

    def as_json(self) -> dict[str, Any]:
        """Entries of the answer in JSON; the figures stand among the outputs, too."""
        if self.fits:
            return {"fits": True}
        fewest = self.fewest_chips
        is_known = fewest is not None and math.isfinite(fewest)
        return {
            "fits": False,
            "over": {"value": -self.free, "unit": "byte"},
            **self._batch_record(),
            "smallest_chips": int(fewest) if is_known and fewest is not None else None,
            "fits_with": self.remedy or None,
        }

    def _batch_record(self) -> dict[str, int]:
        return {} if self.largest_batch is None else {"largest_batch": int(self.largest_batch)}


class Result(Mapping[str, Any]):
    """A calculator's answer: a mapping of outputs (SI) with inputs, notes and sources beside it.

    `omitted` has what is left out and worth more than a tenth, by name. An
    output is a float, a word, a tuple of either, an array where arrays went in, or None where an
    input that it needs was left out.
    """

    seek_fit: Callable[[], Fit | None] | None = None  # what `fit` asks
    unshown: tuple[str, ...] = ()  # notes on what no number rests on: for `--json` alone

    def __init__(
        self,
        formula: Formula,
        inputs: Mapping[str, Value],
        outputs: Mapping[str, Any],
        notes: tuple[str, ...] = (),
        sources: tuple[str, ...] = (),
        omitted: Mapping[str, Noted] = MappingProxyType({}),
    ) -> None:
        self.formula, self.inputs, self.outputs = formula, inputs, outputs
        self.remarks, self.sources, self.omitted = notes, sources, omitted

    @functools.cached_property
    def fit(self) -> Fit | None:
        """Whether it fits into memory, where that is known.

        Found where it is read: what would make an answer fit takes longer than the answer.
        """
        return self.seek_fit() if self.seek_fit else None

    @property
    def notes(self) -> tuple[str, ...]:
        """All that has to be known beside the numbers: remarks, then what is left out."""
        return (*self.remarks, *(noted.text for noted in self.omitted.values()))

    @property
    def shown_notes(self) -> tuple[str, ...]:
        """Those that a reader of the answer needs."""
        return tuple(note for note in self.notes if note not in self.unshown)

    def __getitem__(self, name: str) -> Any:
        return self.outputs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.outputs)

    def __len__(self) -> int:
        return len(self.outputs)

    def __repr__(self) -> str:
        outputs = ", ".join(f"{name} {value}" for name, value in self.outputs.items())
        misfit = f"{self.fit.text}; " if self.fit and self.fit.text else ""
        return f"<{self.formula.id}: {misfit}{outputs}>"

    def as_json(self) -> dict[str, Any]:
        """The answer under the contract of `--json`: SI values, open or unlimited ones as null."""
        outputs = {
            name: {"value": _json_value(value), "unit": self.formula.outputs[name].unit}
            for name, value in self.outputs.items()
        }
        return {
            "calculator": self.formula.id,
            **(self.fit.as_json() if self.fit else {}),
            "inputs": {name: _input_record(used) for name, used in self.inputs.items()},
            "outputs": outputs,
            "notes": list(self.notes),
            "sources": list(self.sources),
        }


def _input_record(used: Value) -> dict[str, Any]:
    record = {"value": _json_value(used.value), "unit": used.unit or None}
    if used.source:
        record["source"] = used.source
    return record


def _json_value(value: Any) -> Any:
    if hasattr(value, "tolist"):  # a NumPy array or scalar
        return _json_value(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_json_value(element) for element in value]
    # JSON has neither infinity nor "not a number"; the notes say which of the two it was.
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
