"""Fits the prediction on the rows of calculators/runs/ that are marked `fit`, and nothing else.

`python -m scripts.fit` writes parameters, bands and residuals into the package and prints the
errors; `--only KIND,KIND` leaves the other kinds as they are; `--check` compares with what is
committed and writes nothing.
"""

from __future__ import annotations

import argparse
import functools
import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from flopbook.data.files import write_text
from flopbook.data.measured_runs import run_files
from flopbook.data.runs import RunSource
from flopbook.prediction import collectives, memory, training, whole_runs
from flopbook.prediction.arrays import Column, Mask
from flopbook.prediction.bands import BAND_OF_PARTIAL_ROWS, BAND_WITHOUT_STACK, THROUGHPUT_BAND
from flopbook.prediction.catalogue import MODELS
from flopbook.prediction.fits import (
    FOLDS,
    cases_of,
    fitted_with_moves,
    left_out_errors,
    predicted,
)
from flopbook.prediction.fitted import FILE, Fitted, fitted_kinds
from flopbook.prediction.models import Case, PredictionModel, no_traits
from flopbook.prediction.named_models import MODEL_SHAPE
from scripts.fit_bands import (
    NOTHING,
    LeftOut,
    covered,
    measured_bands,
    power_of_unseen,
    raised,
)
from scripts.fit_calibration import calibrated_sources, summary
from scripts.fit_left_out import collective_errors, errors_without_framework
from scripts.fit_moves import triangle, with_short_rows
from scripts.fit_traits import trait_values
from scripts.fit_years import MANY, powers_of_years

# Digits that the same locked packages give on every machine.
DIGITS = 6
NOT_RAISED = {"": 1.0}
NO_FITS: Mapping[str, dict[str, Any]] = {}


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
    kinds: dict[str, dict[str, Any]] = {}
    for kind in chosen:
        kinds[kind] = fit_kind(MODELS[kind], with_bands=not options.check, fits=kinds)
    if options.check:
        return _compare(kinds)
    committed = json.loads(FILE.read_text(encoding="utf-8"))
    fits = {kind: kinds.get(kind, committed.get(kind)) for kind in MODELS}
    write_text(FILE, with_short_rows(json.dumps(fits, indent=1)) + "\n")
    print(f"wrote {FILE.name}")
    return 0


def fit_kind(
    model: PredictionModel, *, with_bands: bool, fits: Mapping[str, dict[str, Any]] = NO_FITS
) -> dict[str, Any]:
    """Parameters, bands by quantity, and residuals of a kind, rounded.

    `fits` are the kinds that were fitted before it; what they lack is what is committed.
    """
    readable = cases_of(model, run_files().values(), use="fit").cases
    # What a name stands for may change with its entry: only sizes that a source gives are fitted.
    cases = tuple(case for case in readable if MODEL_SHAPE not in case.inferred)
    parameters, moves = fitted_with_moves(model, cases)
    measured = np.array([case.measured for case in cases])
    errors = predicted(model, cases, parameters) / measured - 1
    record: dict[str, Any] = {
        "parameters": {name: _rounded(value) for name, value in parameters.items()},
        "bands": {},
        "residuals": _by_row(cases, errors),
        "left_out": {},
        "coverage": {},
        "moves": triangle(model, moves),
    }
    if not with_bands:
        return record
    clusters = _left_out(model, cases, _sweep if model is collectives.MODEL else _cluster)
    sources = _left_out(model, cases, _source, folds=MANY)
    by_trait = {
        trait: _left_out(model, cases, functools.partial(_trait, model, trait), folds=MANY)
        for trait in trait_values(model, cases)
    }
    # Who asks has a cluster that no fit has seen, as a left-out source has. Collectives have
    # too few sources: a left-out one leaves nothing to know its links from.
    unseen = clusters if model is collectives.MODEL else sources
    # Who asks has a run that is younger than all that was fitted, too.
    told = powers_of_years(model, cases, _years()) if model.priors else {}
    trained = _training(fits)
    powers = {"": _power_of_years(model, trained), **told}
    others = _spread_of_others(model, trained)

    def bands_by(chosen: Mask, powers: Mapping[str, float] = powers) -> dict[str, Any]:
        kept = [case for case, is_chosen in zip(cases, chosen, strict=True) if is_chosen]
        traits = {trait: one.where(chosen) for trait, one in by_trait.items()}
        record = measured_bands(model, kept, unseen.where(chosen), traits, others)
        return {**record, "bands": raised(record["bands"], powers)}

    record["left_out"] = _by_row(cases, unseen.errors)
    record["years"] = {name: _rounded(power) for name, power in told.items()}
    record |= bands_by(np.full(len(cases), fill_value=True))
    if model is memory.MODEL:
        record["bands"] = _memory_bands(cases, errors, trained)
    record["bands"] |= _blind_bands(model, cases, powers)
    ways = _ways_to_leave_out(model, {"publication": sources, "cluster": clusters, **by_trait})
    record["coverage"] = {name: covered(model, cases, one, bands_by) for name, one in ways.items()}
    if told:
        as_measured = functools.partial(bands_by, powers=NOT_RAISED)
        record["same_years"] = covered(model, cases, sources, as_measured)
    of_kind = Fitted(**record)
    record["calibrated"] = summary(calibrated_sources(model, cases, of_kind)) if parameters else {}
    _print(model, cases, errors, clusters.errors, sources.errors)
    return record


def _ways_to_leave_out(model: PredictionModel, found: Mapping[str, LeftOut]) -> dict[str, LeftOut]:
    """What is left out to see whether bands hold it, where others of its sort remain.

    What is known of memory was read in code with its rows in view: none of them is left out.
    """
    if model is memory.MODEL:
        return {}
    if model is collectives.MODEL:
        return {"sweep": found["cluster"]}
    return {name: one for name, one in found.items() if len(set(one.groups)) > 1}


def _by_row(cases: tuple[Case, ...], errors: Column) -> dict[str, float]:
    return {case.row.id: round(float(error), 4) for case, error in zip(cases, errors, strict=True)}


def _source(case: Case) -> str:
    return case.source


def _cluster(case: Case) -> str:
    return case.cluster


def _trait(model: PredictionModel, trait: str, case: Case) -> str:
    return model.traits(case.inputs)[trait]


def _sweep(case: Case) -> str:
    """The rows of one table: the constants of its links may be known from another."""
    return case.row.group or case.cluster


def _left_out(
    model: PredictionModel,
    cases: tuple[Case, ...],
    group: Callable[[Case], str],
    folds: int = FOLDS,
) -> LeftOut:
    """Errors by fits that saw nothing of a group; nothing of training memory is fitted."""
    if model is collectives.MODEL:
        errors = collective_errors(cases, group)
    else:
        errors = left_out_errors(model, cases, group, folds)
    return LeftOut(tuple(map(group, cases)), errors)


def _blind_bands(
    model: PredictionModel, cases: tuple[Case, ...], powers: Mapping[str, float]
) -> dict[str, float]:
    """The bands of runs where nothing says what decides much: the software, what is recomputed."""
    if model is training.MODEL:
        band = _blind_band(model, cases, training.without_stack)
        return raised({BAND_WITHOUT_STACK: band}, {"": powers.get(THROUGHPUT_BAND, powers[""])})
    if model is whole_runs.MODEL:
        band = _blind_band(model, cases, _without_recompute(_sources()))
        return {whole_runs.BY_UNKNOWN.band: band}
    return {}


def _blind_band(
    model: PredictionModel, cases: tuple[Case, ...], asked: Callable[[Case], Case]
) -> float:
    """The band of runs where nothing says what `asked` hides, such as which software ran."""
    sound = [case for case in cases if case.is_sound]
    errors = left_out_errors(model, sound, _source, MANY, asked=asked)
    return LeftOut(tuple(map(_source, sound)), errors).band


def _without_recompute(sources: Mapping[str, RunSource]) -> Callable[[Case], Case]:
    """Hides what a whole run computes again."""
    return lambda case: whole_runs.without_recompute(case, sources[case.source])


def _years() -> Callable[[Case], int]:
    """The year of the source of a case."""
    sources = _sources()
    return lambda case: sources[case.source].year


def _sources() -> dict[str, RunSource]:
    return {name: source for file in run_files().values() for name, source in file.sources.items()}


def _memory_bands(cases: tuple[Case, ...], errors: Column, trained: Fitted) -> dict[str, float]:
    """Bands of training memory, where the framework is known and where nothing says which ran.

    No constant is fitted that could be left out, but the options of frameworks were read with these
    rows in view. So their band is raised as far as that of training, which has the same layouts
    from the same sources, has to be to hold sources that its fit did not see.
    """
    is_sound = np.array([case.is_sound for case in cases])
    sound = [case for case in cases if case.is_sound]
    seen = LeftOut(tuple(map(_source, cases)), errors)
    blind = LeftOut(tuple(map(_source, sound)), errors_without_framework(sound, _sources()))
    power = _power_of_unseen_training(trained)
    half_width = round(seen.where(is_sound).band ** power, 4)
    return {
        "": half_width,
        memory.SHOWN.quantity: half_width,
        memory.BY_UNKNOWN.band: blind.band,
        BAND_OF_PARTIAL_ROWS: seen.where(~is_sound).band,
    }


def _training(fits: Mapping[str, dict[str, Any]]) -> Fitted:
    """What is known of training: as it was fitted just now, else as it is committed."""
    record = fits.get(training.MODEL.kind)
    return Fitted(**{**NOTHING, **record}) if record else fitted_kinds()[training.MODEL.kind]


def _power_of_years(model: PredictionModel, trained: Fitted) -> float:
    """The power for later runs of a kind that has too few sources to tell it: that of training.

    Nothing moves on where neither software nor generations of chips tell runs apart.
    """
    moves_on = model.priors and model.traits is not no_traits
    return trained.years.get(THROUGHPUT_BAND, 1.0) if moves_on else 1.0


def _spread_of_others(model: PredictionModel, trained: Fitted) -> float:
    """How far left-out sources of training lie apart, the only kind that has many; a logarithm.

    It says nothing of training itself, nor of links, which have sweeps enough of their own.
    """
    if model in (training.MODEL, collectives.MODEL):
        return 0.0
    return _sound_training(trained.left_out).size


def _power_of_unseen_training(trained: Fitted) -> float:
    """How far training's band of fitted errors is from that of left-out ones, as a power."""
    return power_of_unseen(*map(_sound_training, (trained.residuals, trained.left_out)))


def _sound_training(errors: Mapping[str, float]) -> LeftOut:
    """Errors of the sound rows of training, by source."""
    cases = cases_of(training.MODEL, run_files().values(), use="fit").cases
    sound = [case for case in cases if case.is_sound and case.row.id in errors]
    return LeftOut(tuple(map(_source, sound)), np.array([errors[case.row.id] for case in sound]))


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


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
