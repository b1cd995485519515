"""Fits the prediction on the rows of calculators/runs/ that are marked `fit`, and nothing else.

`python -m scripts.fit` writes parameters, bands and residuals into the package and prints the
errors; `--only KIND,KIND` leaves the other kinds as they are; `--check` compares with what is
committed and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from flopbook.data.files import write_text
from flopbook.data.measured_runs import run_files
from flopbook.prediction import collectives, memory, training
from flopbook.prediction.arrays import Column
from flopbook.prediction.bands import BAND_OF_PARTIAL_ROWS, BAND_WITHOUT_STACK
from flopbook.prediction.catalogue import MODELS
from flopbook.prediction.fits import (
    FOLDS,
    band,
    cases_of,
    fitted,
    left_out_errors,
    predicted,
)
from flopbook.prediction.fitted import FILE
from flopbook.prediction.models import Case, PredictionModel, no_traits
from flopbook.prediction.named_models import MODEL_SHAPE
from scripts.fit_left_out import collective_errors, errors_without_framework
from scripts.fit_traits import covered, errors_by_trait, seen_by, strangeness, trait_bands

# Rows by what was left out: the group of each, and its error.
LeftOut = dict[str, tuple[Callable[[Case], str], Column]]
# Digits that the same locked packages give on every machine.
DIGITS = 6
# A quantity with fewer left-out runs than this shares the band of its kind.
ENOUGH = 10
MANY = 1000  # folds, so that each source is one


def main() -> int:
    """Fit all kinds, or compare the parameters with those that are committed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    parser.add_argument("--only", default="", help="the kinds to fit, separated by commas")
    options = parser.parse_args()
    chosen = options.only.split(",") if options.only else list(MODELS)
    unknown = [kind for kind in chosen if kind not in MODELS]
    if unknown:
        parser.error(f"no kind {', '.join(unknown)}; there are {', '.join(MODELS)}")
    kinds = {kind: fit_kind(MODELS[kind], with_bands=not options.check) for kind in chosen}
    if options.check:
        return _compare(kinds)
    committed = json.loads(FILE.read_text(encoding="utf-8"))
    fits = {kind: kinds.get(kind, committed.get(kind)) for kind in MODELS}
    write_text(FILE, json.dumps(fits, indent=1) + "\n")
    print(f"wrote {FILE.name}")
    return 0


def fit_kind(model: PredictionModel, *, with_bands: bool) -> dict[str, Any]:
    """Parameters, bands by quantity, and residuals of a kind, rounded."""
    readable = cases_of(model, run_files().values(), use="fit").cases
    # What a name stands for may change with its entry: only sizes that a source gives are fitted.
    cases = tuple(case for case in readable if MODEL_SHAPE not in case.inferred)
    parameters = fitted(model, cases)
    measured = np.array([case.measured for case in cases])
    errors = predicted(model, cases, parameters) / measured - 1
    counts = strangeness(model, cases)
    usual = _usual(cases, counts)
    record: dict[str, Any] = {
        "parameters": {name: _rounded(value) for name, value in parameters.items()},
        "bands": {},
        "residuals": _by_row(cases, errors),
        "left_out": {},
        "seen": seen_by(model, cases),
        "coverage": {},
        "usual_strangeness": usual,
    }
    if with_bands:
        left_out = _left_out(model, cases, _sweep if model is collectives.MODEL else _cluster)
        by_source = _left_out(model, cases, _source, folds=MANY)
        # Who asks has a cluster that no fit has seen, as a left-out source has. Collectives have
        # too few sources: a left-out one leaves nothing to know its links from.
        unseen = left_out if model is collectives.MODEL else by_source
        record["left_out"] = _by_row(cases, unseen)
        if model is memory.MODEL:
            record["bands"] = _memory_bands(cases, errors)
        else:
            record["bands"] = _bands(model, cases, unseen, [count <= usual for count in counts])
        if model is training.MODEL:
            record["bands"][BAND_WITHOUT_STACK] = _blind_band(cases)
        by_trait = errors_by_trait(model, cases)
        record["bands"] |= trait_bands(by_trait, record["bands"].get("", 1.0))
        found: LeftOut = {"publication": (_source, by_source), "cluster": (_cluster, left_out)}
        found |= {name: (one.group, one.errors) for name, one in by_trait.items()}
        if model not in (memory.MODEL, collectives.MODEL):
            record["coverage"] = {
                name: covered(model, cases, record, group, sizes)
                for name, (group, sizes) in found.items()
            }
        _print(model, cases, errors, left_out, by_source)
    return record


def _by_row(cases: tuple[Case, ...], errors: Column) -> dict[str, float]:
    return {case.row.id: round(float(error), 4) for case, error in zip(cases, errors, strict=True)}


def _source(case: Case) -> str:
    return case.source


def _cluster(case: Case) -> str:
    return case.cluster


def _sweep(case: Case) -> str:
    """The rows of one table: the constants of its links may be known from another."""
    return case.row.group or case.cluster


def _left_out(
    model: PredictionModel,
    cases: tuple[Case, ...],
    group: Callable[[Case], str],
    folds: int = FOLDS,
) -> Column:
    """Errors by fits that saw nothing of a group; nothing of training memory is fitted."""
    if model is collectives.MODEL:
        return collective_errors(cases, group)
    return left_out_errors(model, cases, group, folds)


def _blind_band(cases: tuple[Case, ...]) -> float:
    """The band of training steps where nothing says which software ran."""
    sound = [case for case in cases if case.is_sound]
    errors = left_out_errors(training.MODEL, sound, _source, MANY, asked=training.without_stack)
    return round(band(errors), 4)


def _memory_bands(cases: tuple[Case, ...], errors: Column) -> dict[str, float]:
    """Bands of training memory, where the framework is known and where nothing says which ran.

    No constant is fitted that could be left out, and the options of frameworks were read with these
    rows in view: so that the band is not too narrow, flagged and incomplete rows count too.
    """
    sources = {
        name: source for file in run_files().values() for name, source in file.sources.items()
    }
    blind = errors_without_framework([case for case in cases if case.is_sound], sources)
    half_width = round(band(errors), 4)
    return {
        "": half_width,
        memory.SHOWN.quantity: half_width,
        memory.BY_UNKNOWN.band: round(band(blind), 4),
    }


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def _usual(cases: tuple[Case, ...], counts: list[int]) -> int:
    """In how many traits a sound run is unlike those of other sources, in the middle."""
    sound = [count for case, count in zip(cases, counts, strict=True) if case.is_sound]
    return int(np.median(sound)) if sound else 0


def _bands(
    model: PredictionModel, cases: tuple[Case, ...], errors: Column, are_usual: list[bool]
) -> dict[str, float]:
    """A band for each quantity, one for all, and one for rows that are incomplete or flagged.

    They hold sound rows as like the others as half of them are; stranger ones have their own.
    """
    is_like = np.array(
        [case.is_sound and is_usual for case, is_usual in zip(cases, are_usual, strict=True)]
    )
    shown = [case.shown or model.shown for case in cases]
    quantities = [line.band or line.quantity for line in shown]
    bands = {"": round(band(errors[is_like]), 4)}
    for quantity in sorted(set(quantities)):
        chosen = is_like & (np.array(quantities) == quantity)
        if np.sum(chosen) >= ENOUGH:
            bands[quantity] = round(band(errors[chosen]), 4)
    doubted = np.array([not case.is_sound for case in cases])
    if np.sum(doubted) >= ENOUGH and model.traits is not no_traits:
        bands[BAND_OF_PARTIAL_ROWS] = round(band(errors[doubted]), 4)
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
