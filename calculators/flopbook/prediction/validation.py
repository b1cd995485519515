"""Holds predictions against measured runs: an error table by kind, and a line for each row."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from flopbook.data.runs import RunFile
from flopbook.errors import FlopbookError
from flopbook.prediction.bands import AS_FITTED, BAND_OF_PARTIAL_ROWS, Adjustment, widest_band
from flopbook.prediction.catalogue import MODELS
from flopbook.prediction.fits import cases_of, predicted
from flopbook.prediction.fitted import Fitted, fitted_kinds
from flopbook.prediction.models import Case, PredictionModel
from flopbook.prediction.own_runs import UnreadRow
from flopbook.quantities.units import percent

# Medians of the size of errors that no change may exceed, on the rows on file that are fitted.
GATES = {
    "training_throughput": 0.09,
    "training_memory": 0.09,
    "inference": 0.10,
    "collective": 0.05,
    "matmul_peak": 0.07,
    "hbm_bandwidth": 0.05,
    "p2p_bandwidth": 0.06,
    "whole_run": 0.15,
}


NOT_CALIBRATED: Mapping[str, Adjustment] = {}


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

    def failed_gates(self) -> tuple[str, ...]:
        """A sentence for each kind whose fitted rows are further off than its gate allows."""
        fitted = [line for line in self.lines if line.case.row.use == "fit"]
        failed = []
        for kind, gate in GATES.items():
            median = summary_of([line for line in fitted if line.case.row.kind == kind])["median"]
            if median is not None and median > gate:
                failed.append(
                    f"{kind}: the median error is {percent(median, 1)}, the gate {percent(gate)}"
                )
        return tuple(failed)

    def summary(self, kind: str) -> dict[str, Any]:
        """Errors of the rows of a kind: how large, which way, and how often the band held."""
        lines = [line for line in self.lines if line.case.row.kind == kind]
        refused = sum(1 for refusal in self.refused if refusal[1] == kind)
        return {**summary_of(lines), "refused": refused}


def _format(line: Comparison) -> str:
    return str(line.case.row.run.get("precision", "not stated")).lower()


def _experts(line: Comparison) -> str:
    model = line.case.row.model
    if not model:
        return "no model"
    return "mixture" if model.get("n_experts", 1) > 1 else "dense"


# What rows may be told apart by, and how a row tells.
GROUPINGS: Mapping[str, Callable[[Comparison], str]] = {
    "chip": lambda line: str(line.case.row.hardware["chip"]),
    "format": _format,
    "experts": _experts,
    "source": lambda line: line.case.source,
    "use": lambda line: line.case.row.use,
}


def grouped(validation: Validation, by: str) -> dict[str, dict[str, dict[str, Any]]]:
    """Errors by kind and then by one of `GROUPINGS`, the largest groups first."""
    tell = GROUPINGS[by]
    by_group: dict[str, dict[str, list[Comparison]]] = {}
    for line in validation.lines:
        by_group.setdefault(line.case.row.kind, {}).setdefault(tell(line), []).append(line)
    return {
        kind: {
            name: summary_of(lines)
            for name, lines in sorted(groups.items(), key=lambda group: -len(group[1]))
        }
        for kind, groups in by_group.items()
    }


def summary_of(lines: Sequence[Comparison]) -> dict[str, Any]:
    """Number, median, mean and 90th percentile of the size of errors, bias, and coverage."""
    if not lines:
        return dict.fromkeys(("median", "mean", "p90", "bias", "coverage")) | {"n": 0}
    errors = [line.error for line in lines]
    sizes = error_sizes(errors)
    return {
        **{name: sizes[name] for name in ("n", "median", "mean", "p90")},
        "bias": float(np.median(errors)),
        "coverage": float(np.mean([line.is_covered for line in lines])),
    }


def error_sizes(errors: Sequence[float]) -> dict[str, Any]:
    """How many errors there are, and the median, mean, 90th percentile and worst of their sizes."""
    if not errors:
        return dict.fromkeys(("median", "mean", "p90", "worst")) | {"n": 0}
    sizes = np.abs(errors)
    return {
        "n": len(errors),
        "median": float(np.median(sizes)),
        "mean": float(np.mean(sizes)),
        "p90": float(np.quantile(sizes, 0.9)),
        "worst": float(np.max(sizes)),
    }


def validate(
    files: Iterable[RunFile],
    unread: Iterable[UnreadRow] = (),
    adjusted: Mapping[str, Adjustment] = NOT_CALIBRATED,
) -> Validation:
    """Predict every row of some files of measured runs, from its configuration alone.

    Rows that could not be read are refused with what is wrong with them. `adjusted` has what
    calibration does to the predictions of a kind.
    """
    files = tuple(files)
    lines: list[Comparison] = []
    refused = [(row.id, row.kind, "; ".join(map(str, row.problems))) for row in unread]
    fitted = fitted_kinds()
    for kind in dict.fromkeys(row.kind for file in files for row in file.rows):
        model = MODELS[kind]
        cases = cases_of(model, files)
        adjustment = adjusted.get(kind, AS_FITTED)
        known = adjustment.on(fitted[kind])
        refused += [(row_id, kind, reason) for row_id, reason in cases.refused]
        for case, value in zip(cases.cases, _values(model, known, cases.cases), strict=True):
            reason = _unusable(case.measured, value)
            if reason:
                refused.append((case.row.id, kind, reason))
            else:
                lines.append(_line(model, known, case, value, adjustment))
    return Validation(tuple(lines), tuple(refused))


def usable_pairs(
    model: PredictionModel, known: Fitted, cases: Sequence[Case]
) -> list[tuple[Case, float]]:
    """Cases with what is predicted for each, those left out that cannot be compared."""
    pairs = zip(cases, _values(model, known, cases), strict=True)
    return [(case, value) for case, value in pairs if not _unusable(case.measured, value)]


def _values(model: PredictionModel, known: Fitted, cases: Sequence[Case]) -> list[float]:
    """What is predicted for each case; not a number where a size is out of all bounds."""
    if not cases:
        return []
    with np.errstate(all="ignore"):
        try:
            return [float(value) for value in predicted(model, cases, known.parameters)]
        except (ArithmeticError, FlopbookError):
            if len(cases) == 1:
                return [math.nan]
        return [value for case in cases for value in _values(model, known, [case])]


def _unusable(measured: float, value: float) -> str:
    """Why a pair of measured and predicted cannot be compared; empty where it can."""
    if not (0 < measured < math.inf):
        return "what was measured is no number above 0"
    if not (0 < value < math.inf):
        return "the prediction of this configuration is no number above 0; check its sizes"
    return ""


def _line(
    model: PredictionModel, known: Fitted, case: Case, value: float, adjustment: Adjustment
) -> Comparison:
    shown = case.shown or model.shown
    names = [shown.band or shown.quantity]
    if not case.is_sound and BAND_OF_PARTIAL_ROWS in known.bands:
        names.append(BAND_OF_PARTIAL_ROWS)
    factor = min(widest_band(known, names, model.traits(case.inputs)), adjustment.band)
    value = adjustment.of(value, is_time=case.is_time)
    ends = shown.of(value / factor), shown.of(value * factor)
    return Comparison(
        case=case,
        quantity=shown.quantity,
        unit=shown.unit,
        measured=shown.of(case.measured),
        predicted=shown.of(value),
        low=min(ends),
        high=max(ends),
    )
