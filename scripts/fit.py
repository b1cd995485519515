"""Fits the prediction on the rows of calculators/runs/ that are marked `fit`, and nothing else.

`python -m scripts.fit` writes parameters, bands and residuals into the package and prints the
errors; `--check` compares with what is committed and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

import numpy as np

from flopbook.data.measured_runs import run_files
from flopbook.prediction.catalogue import MODELS
from flopbook.prediction.fits import (
    band,
    cases_of,
    fitted,
    left_out_errors,
    predicted,
)
from flopbook.prediction.fitted import FILE
from flopbook.prediction.layouts import Column
from flopbook.prediction.models import Case, PredictionModel

# Digits that the same locked packages give on every machine.
DIGITS = 6
# A quantity with fewer left-out runs than this shares the band of its kind.
ENOUGH = 10


def main() -> int:
    """Fit all kinds, or compare the parameters with those that are committed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    options = parser.parse_args()
    kinds = {model.kind: fit_kind(model, with_bands=not options.check) for model in MODELS.values()}
    if options.check:
        return _compare(kinds)
    FILE.write_text(json.dumps(kinds, indent=1) + "\n", encoding="utf-8")
    print(f"wrote {FILE.name}")
    return 0


def fit_kind(model: PredictionModel, *, with_bands: bool) -> dict[str, Any]:
    """Parameters, bands by quantity, and residuals of a kind, rounded."""
    cases = cases_of(model, run_files().values(), use="fit").cases
    parameters = fitted(model, cases)
    measured = np.array([case.measured for case in cases])
    errors = predicted(model, cases, parameters) / measured - 1
    record: dict[str, Any] = {
        "parameters": {name: _rounded(value) for name, value in parameters.items()},
        "bands": {},
        "residuals": {
            case.row.id: round(float(error), 4) for case, error in zip(cases, errors, strict=True)
        },
    }
    if with_bands:
        left_out = left_out_errors(model, cases, lambda case: case.cluster)
        by_source = left_out_errors(model, cases, lambda case: case.source, folds=1000)
        record["bands"] = _bands(model, cases, left_out)
        _print(model, cases, errors, left_out, by_source)
    return record


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def _bands(model: PredictionModel, cases: tuple[Case, ...], errors: Column) -> dict[str, float]:
    """A band for each quantity of sound rows, and one for all."""
    is_sound = np.array([case.is_sound for case in cases])
    quantities = np.array([(case.shown or model.shown).quantity for case in cases])
    bands = {"": round(band(errors[is_sound]), 4)}
    for quantity in sorted(set(quantities)):
        chosen = is_sound & (quantities == quantity)
        if np.sum(chosen) >= ENOUGH:
            bands[quantity] = round(band(errors[chosen]), 4)
    return bands


def _print(
    model: PredictionModel,
    cases: tuple[Case, ...],
    fitted_errors: Column,
    left_out: Column,
    by_source: Column,
) -> None:
    """Median, mean and 90th percentile of the size of errors, of rows that are sound."""
    is_sound = np.array([case.is_sound for case in cases])
    columns = {"fitted": fitted_errors, "clusters": left_out, "sources": by_source}
    print(f"{model.kind}: {np.sum(is_sound)} sound rows of {len(cases)}")
    for name, errors in columns.items():
        sizes = 100 * np.abs(errors[is_sound])
        middle, mean, high = np.median(sizes), np.mean(sizes), np.quantile(sizes, 0.9)
        print(f"  {name:9} median {middle:5.1f} %  mean {mean:5.1f} %  p90 {high:5.1f} %")


def _compare(kinds: dict[str, dict[str, Any]]) -> int:
    committed = json.loads(FILE.read_text(encoding="utf-8"))
    stale = [
        kind
        for kind, record in kinds.items()
        if record["parameters"] != committed.get(kind, {}).get("parameters")
    ]
    for kind in stale:
        print(f"{FILE.name}: the parameters of {kind} are not those of the runs; run scripts.fit")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
