"""Holds predictions against measured runs: an error table by kind, and a line for each row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from flopbook.data.runs import RunFile
from flopbook.errors import FlopbookError
from flopbook.prediction.catalogue import MODELS
from flopbook.prediction.fits import Cases, cases_of, predicted
from flopbook.prediction.fitted import Fitted, fitted_kinds
from flopbook.prediction.layouts import Column
from flopbook.prediction.models import Case, PredictionModel


class Comparison(NamedTuple):
    """A row that was predicted, as it prints its quantity; `error` is predicted/measured - 1."""

    case: Case
    quantity: str
    unit: str
    measured: float
    predicted: float
    low: float
    high: float

    @property
    def error(self) -> float:
        """Predicted over measured, less one."""
        return self.predicted / self.measured - 1

    @property
    def is_covered(self) -> bool:
        """Whether the band holds what was measured."""
        return self.low <= self.measured <= self.high

    def record(self) -> dict[str, Any]:
        """The line as JSON has it."""
        return {
            "id": self.case.row.id,
            "kind": self.case.row.kind,
            "quantity": self.quantity,
            "measured": self.measured,
            "predicted": self.predicted,
            "low": self.low,
            "high": self.high,
            "unit": self.unit,
            "error": self.error,
        }


class Validation(NamedTuple):
    """The lines of all rows that were predicted, and why others were refused: id, kind, reason."""

    lines: tuple[Comparison, ...]
    refused: tuple[tuple[str, str, str], ...]

    def record(self) -> dict[str, Any]:
        """Kinds and rows as `flopbook validate --json` prints them."""
        refusals = [
            {"id": row_id, "kind": kind, "refused": reason} for row_id, kind, reason in self.refused
        ]
        rows = [line.record() for line in self.lines]
        kinds = dict.fromkeys([*(row["kind"] for row in [*rows, *refusals])])
        return {"kinds": {kind: self.summary(kind) for kind in kinds}, "rows": rows + refusals}

    def summary(self, kind: str) -> dict[str, Any]:
        """Errors of the rows of a kind: how large, which way, and how often the band held."""
        lines = [line for line in self.lines if line.case.row.kind == kind]
        refused = sum(1 for refusal in self.refused if refusal[1] == kind)
        return {**summary_of(lines), "refused": refused}


def summary_of(lines: Sequence[Comparison]) -> dict[str, Any]:
    """Number, median, mean and 90th percentile of the size of errors, bias, and coverage."""
    if not lines:
        return dict.fromkeys(("median", "mean", "p90", "bias", "coverage")) | {"n": 0}
    errors: Column = np.array([line.error for line in lines])
    sizes = np.abs(errors)
    return {
        "n": len(lines),
        "median": float(np.median(sizes)),
        "mean": float(np.mean(sizes)),
        "p90": float(np.quantile(sizes, 0.9)),
        "bias": float(np.median(errors)),
        "coverage": float(np.mean([line.is_covered for line in lines])),
    }


def validate(files: Iterable[RunFile]) -> Validation:
    """Predict every row of some files of measured runs, from its configuration alone."""
    files = tuple(files)
    lines: list[Comparison] = []
    refused: list[tuple[str, str, str]] = []
    known = fitted_kinds()
    for kind in dict.fromkeys(row.kind for file in files for row in file.rows):
        model = MODELS.get(kind)
        if model is None:
            reason = "no prediction for rows of this kind yet"
            rows = [row for file in files for row in file.rows if row.kind == kind]
            refused += [(row.id, kind, reason) for row in rows]
            continue
        cases = cases_of(model, files)
        lines += _lines(model, known[kind], cases)
        refused += [(row_id, kind, reason) for row_id, reason in cases.refused.items()]
    return Validation(tuple(lines), tuple(refused))


def _lines(model: PredictionModel, known: Fitted, cases: Cases) -> list[Comparison]:
    if not cases.cases:
        return []
    values = predicted(model, cases.cases, known.parameters)
    return [_line(model, known, *pair) for pair in zip(cases.cases, values, strict=True)]


def _line(model: PredictionModel, known: Fitted, case: Case, value: float) -> Comparison:
    shown = case.shown or model.shown
    factor = band_of(known, shown.quantity)
    ends = shown.of(value / factor), shown.of(value * factor)
    return Comparison(
        case=case,
        quantity=shown.quantity,
        unit=shown.unit,
        measured=shown.of(case.measured),
        predicted=shown.of(float(value)),
        low=min(ends),
        high=max(ends),
    )


def band_of(known: Fitted, quantity: str) -> float:
    """The factor of the band of a quantity; the widest where the kind has none for it."""
    if not known.bands:
        raise FlopbookError("the fitted parameters have no bands; run python -m scripts.fit")
    return known.bands.get(quantity, max(known.bands.values()))
