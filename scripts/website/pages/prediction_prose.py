"""Predictions of a step in prose: `prediction(model="llama-3-70b", ...)`, parameters, ablation."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

from flopbook.errors import FlopbookError, UnknownName
from flopbook.prediction import asking
from flopbook.prediction.bands import THROUGHPUT_BAND, band_of
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.parameters import PRIORS
from flopbook.prediction.predicted import Prediction
from flopbook.prediction.step_time import RIDGE
from flopbook.prediction.validation import Comparison, summary_of
from flopbook.quantities.units import format_quantity, percent
from scripts.website.figures.mfu_years import quartiles, trained
from scripts.website.markup import Html, table
from scripts.website.measured.ablation import AblationLine, ablation, line_of
from scripts.website.pages.number import Number
from scripts.website.pages.predicted import CHECK, FIT, sound_lines, validated
from scripts.website.pages.prediction_checks import (
    constant_error,
    covering_factor,
    later_error,
    strayed,
)
from scripts.website.pages.prediction_order import order_table, ordered

KIND = "training_throughput"
_UNITS = {"seconds": "s", "low": "s", "high": "s", "mfu": "1", "tokens_per_second": "token/s"}
_HEAD = ("Parameter", "#Prior", "#Typical range", "#Fitted")
_MIDDLE_HEAD = ("Run", "Chips", "#Measured", "#Predicted", "#Error")
_FEWEST = 5  # runs of a publication that has a run in the middle
_GROUPS_HEAD = ("Training runs", "#Fitted rows", "#Median", "#Other rows", "#Median", "#Bias")
# What tells rows apart: a name, and which rows belong to it.
GROUPS: Mapping[str, Callable[[Comparison], bool]] = {
    "dense models": lambda line: not _is_mixture(line),
    "mixtures of experts": lambda line: _is_mixture(line),
    "16 bits": lambda line: not _is_narrow(line),
    "8 bits and fewer": lambda line: _is_narrow(line),
    "up to 64 chips": lambda line: _chips(line) <= 64,
    "above 64 chips": lambda line: _chips(line) > 64,
}


def _is_mixture(line: Comparison) -> bool:
    return bool(line.case.row.model.get("n_experts", 1) > 1)


def _is_narrow(line: Comparison) -> bool:
    return line.case.inputs.precision in ("fp8", "fp4")


def _chips(line: Comparison) -> float:
    return float(line.case.inputs.chips)


class PredictedStep:
    """A prediction in prose: what it says by name, and each part of the step."""

    def __init__(self, found: Prediction) -> None:
        self._found = found

    def __getitem__(self, name: str) -> Number:
        if name not in _UNITS:
            raise UnknownName("answer", name, tuple(_UNITS))
        return Number(getattr(self._found, name), _UNITS[name])

    def goodput(self) -> Number:
        """The share of the time that goes into steps that count; 1 where no failures are known."""
        return Number(self._found.spent.goodput or 1.0, "1")

    def memory(self) -> Number:
        """What a chip holds, in bytes. Raises UnknownName where it was not counted."""
        if self._found.memory is None:
            raise UnknownName("answer", "memory", tuple(_UNITS))
        return Number(self._found.memory.total, "byte")

    def part(self, *names: str) -> Number:
        """Seconds of one part of the step, or of several."""
        for name in names:
            if name not in self._found.parts:
                raise UnknownName("part", name, tuple(self._found.parts))
        return Number(sum(self._found.parts[name] for name in names), "s")

    def parts(self) -> Html:
        """A table of the parts, the longest first, with their share of the step."""
        rows = [
            (
                name.replace("_", " "),
                format_quantity(seconds, "s"),
                percent(seconds / self._whole, 1),
            )
            for name, seconds in sorted(self._found.parts.items(), key=lambda part: -part[1])
            if seconds > 0
        ]
        return table(
            ("Part", "#Time", "#Share"), rows, caption="Parts of a predicted step", stacked=True
        )

    @property
    def _whole(self) -> float:
        return self._found.seconds

    def inferred(self) -> str:
        """What a rule filled in, as a list in words."""
        return ", ".join(self._found.inferred)


class MeasuredStep:
    """A published run in prose: its model, chips, rate or time, and the error of the prediction."""

    def __init__(self, line: Comparison) -> None:
        row = line.case.row
        self.name = str(row.model["name"])
        self.chips = int(row.hardware["n_chips"])
        self.measured = Number(line.case.measured, "s" if line.case.is_time else "token/s")
        self.error = _percent(line.error)


class PredictionProse:
    """What chapters say of the prediction of training."""

    def __call__(self, **options: Any) -> PredictedStep:
        """The prediction for options as the command line names them."""
        return PredictedStep(
            asking.predict({name: str(option) for name, option in options.items()})
        )

    def count(self) -> str:
        """How many parameters are fitted."""
        return f"{len(PRIORS)}"

    def rows(self) -> str:
        """How many complete rows without a flag they are fitted to."""
        return f"{ablation().rows}"

    def fitted(self, name: str) -> Number:
        """The fitted value of a parameter that is a share or a factor."""
        return Number(_fitted(name), "1")

    def band(self) -> Number:
        """The factor of the band of a throughput."""
        return Number(band_of(fitted_kinds()[KIND], "throughput"), "1")

    def calibrated(self, name: str) -> Number:
        """What three runs of a left-out source make of its others: a count, else in per cent."""
        found = fitted_kinds()[KIND].calibrated
        if name not in found:
            raise UnknownName("figure of calibration", name, found)
        value = found[name]
        return Number(value, "1") if isinstance(value, int) else _percent(value)

    def aged(self) -> Number:
        """The factor by which runs of later years widen that band, as a logarithm (1)."""
        return Number(fitted_kinds()[KIND].years[THROUGHPUT_BAND], "1")

    def inside(self) -> Number:
        """The share of runs never fitted within the band of a run that states all, in per cent."""
        band = band_of(fitted_kinds()[KIND], "throughput")
        ratios = [1 + line.error for line in sound_lines(KIND, CHECK)]
        return _percent(sum(1 / band <= ratio <= band for ratio in ratios) / len(ratios))

    def covering(self) -> Number:
        """The factor that would have held the promised share of the later runs."""
        return Number(covering_factor(), "1")

    def spread(self, widening: float) -> Number:
        """The error of left-out runs that a widening for few of them makes the band of (1)."""
        return Number(math.log(self.band()) / float(self.aged()) / widening, "1")

    def known(self) -> Number:
        """The error that half of the fitted runs stay within, in per cent."""
        return _percent(median(abs(line.error) for line in sound_lines(KIND, FIT)))

    def later(self, share: float = 0.5) -> Number:
        """The error that this share of the later runs stays within, in per cent."""
        return _percent(later_error(share))

    def constant(self, of_peak: float, share: float = 0.5) -> Number:
        """The same error if a constant share of the peak were the whole prediction."""
        return _percent(constant_error(of_peak, share))

    def mixtures(self, use: str) -> Number:
        """How many in a hundred of the rows of a use are mixtures of experts."""
        lines = sound_lines(KIND, use)
        return _percent(sum(map(_is_mixture, lines)) / len(lines))

    def moved(self) -> str:
        """How many parameters ended more than one width from their start."""
        return f"{len(strayed())}"

    def strayed(self, place: int) -> str:
        """The parameter that ended farthest from its start, or the next, with its values."""
        meaning, _, typical, value = _parameter(strayed()[place])
        return f"{meaning} ({value}, typically {typical})"

    def parameters(self, *names: str) -> Html:
        """A table of parameters: what each means, its prior, and the fitted value."""
        rows = [_parameter(name) for name in names]
        return table(_HEAD, rows, caption="Parameters and priors", stacked=True)

    def added(self, name: str, size: str = "median", digits: int = 0) -> Number:
        """The error once a piece and all before it are there, in per cent to some decimals."""
        return _percent(getattr(line_of(ablation().added, name), size), digits)

    def without(self, name: str, size: str = "mean") -> Number:
        """The error of all pieces but one, in per cent."""
        return _percent(getattr(line_of(ablation().left_out, name), size))

    def whole(self, size: str = "mean") -> Number:
        """The error of all pieces, in per cent."""
        return _percent(getattr(ablation().whole, size))

    def worst(self, place: int) -> str:
        """The piece whose absence costs most, or the next after it, in words."""
        return _by_cost()[place].label

    def worst_error(self, place: int, size: str = "mean") -> Number:
        """The error without this piece, in per cent: its mean, median or 90th percentile."""
        return _percent(getattr(_by_cost()[place], size))

    def quartile(self, place: int) -> Number:
        """The MFU, in per cent, below and above which a quarter of published runs lie."""
        return _percent(quartiles(trained())[place])

    def row(self, name: str) -> MeasuredStep:
        """A published run by its id, beside what is predicted for it."""
        for line in validated().lines:
            if line.case.row.id == name:
                return MeasuredStep(line)
        raise UnknownName("run", name, tuple(line.case.row.id for line in validated().lines))

    def middle(self) -> Html:
        """The run of the middle error of each publication that no fit has seen, by name."""
        rows = [_middle(line) for line in middle_lines()]
        caption = "Never fitted: the run in the middle of each publication's errors"
        return table(_MIDDLE_HEAD, rows, caption=caption, stacked=True)

    def order(self) -> Html:
        """How often the faster of two layouts of one run is predicted to be the faster."""
        return order_table()

    def in_order(self, apart: float, publication: str | None = None) -> Number:
        """The share of pairs of fitted runs, measured so far apart, in their order, in per cent."""
        return _percent(ordered(FIT, apart, publication).share)

    def groups(self) -> Html:
        """Errors of training runs of some kinds, fitted and never fitted."""
        lines = {use: sound_lines(KIND, use) for use in (FIT, CHECK)}
        rows = [_group(name, lines) for name in GROUPS]
        return table(_GROUPS_HEAD, rows, caption="Errors of predicted training runs", stacked=True)


def middle_lines() -> list[Comparison]:
    """Of each publication with several runs that no fit has seen, the one of the middle error."""
    by_publication: dict[str, list[Comparison]] = {}
    for line in sound_lines(KIND, CHECK):
        by_publication.setdefault(line.case.row.publication, []).append(line)
    found = []
    for lines in by_publication.values():
        if len(lines) >= _FEWEST:
            lines.sort(key=lambda line: abs(line.error))
            found.append(lines[(len(lines) - 1) // 2])
    return sorted(found, key=lambda line: abs(line.error))


def _middle(line: Comparison) -> tuple[str, ...]:
    row, unit = line.case.row, "s" if line.case.is_time else "token/s"
    predicted = line.case.measured * (1 + line.error)
    if line.case.is_time:  # an error is one of throughput
        predicted = line.case.measured / (1 + line.error)
    return (
        f"{row.model['name']}, {row.run['precision']}",
        f"{row.hardware['n_chips']} × {row.hardware['chip']}",
        format_quantity(line.case.measured, unit),
        format_quantity(predicted, unit),
        percent(line.error, signed=True),
    )


def _by_cost() -> list[AblationLine]:
    return sorted(ablation().left_out, key=lambda line: -line.mean)


def _percent(share: float, digits: int = 0) -> Number:
    return Number(round(100 * share, digits), "1")


def _fitted(name: str) -> float:
    if name not in PRIORS:
        raise UnknownName("parameter", name, tuple(PRIORS))
    return float(fitted_kinds()[KIND].parameters[name])


def _parameter(name: str) -> tuple[str, ...]:
    value = _fitted(name)
    prior = PRIORS[name]
    width = math.exp(prior.spread)
    low, high = prior.start / width, prior.start * width
    meaning = prior.meaning.replace("RIDGE", f"{RIDGE:.0f} FLOP/byte")
    return meaning, _short(prior.start), f"{_short(low)} to {_short(high)}", _short(value)


def _short(number: float) -> str:
    """Two digits that matter, without a power of ten."""
    return f"{float(f'{number:.2g}'):g}"


def _group(name: str, lines: Mapping[str, list[Comparison]]) -> tuple[str, ...]:
    fitted, never_fitted = (
        summary_of([line for line in lines[use] if GROUPS[name](line)]) for use in (FIT, CHECK)
    )
    if not fitted["n"] or not never_fitted["n"]:
        raise FlopbookError(f"no rows of {name}")
    return (
        name,
        str(fitted["n"]),
        percent(fitted["median"]),
        str(never_fitted["n"]),
        percent(never_fitted["median"]),
        percent(never_fitted["bias"], signed=True),
    )
