"""Serving as people ask for it: a model on some chips, prompts and answers, a batch or a load."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from flopbook.data.runs import MeasuredRun
from flopbook.errors import FlopbookError, UnknownName
from flopbook.evaluation.results import Fit
from flopbook.prediction import serving
from flopbook.prediction.asking import DEFAULT_SEQUENCE, price_option
from flopbook.prediction.bands import AS_FITTED, SOFTWARE, widest_band
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.known_runs import known_runs
from flopbook.prediction.named_models import asked_model, sizes_of
from flopbook.prediction.options import count_option, required, word_option
from flopbook.prediction.possible_layouts import check_served_heads
from flopbook.prediction.serving import DECODE, LOADED, PREFILL, STATIC
from flopbook.prediction.serving_case import Serving
from flopbook.prediction.serving_load import full_batch, held_bytes
from flopbook.prediction.similar import SimilarRuns, nearest
from flopbook.prediction.stacks import SERVING_STACKS, named

if TYPE_CHECKING:
    from flopbook.prediction.calibration import Calibration

PRECISIONS = ("bf16", "fp16", "fp8", "int8", "int4", "fp4")
MILLION = 1e6
# Formats of published weights that are narrower than 16 bits, as `--dtype` names them.
_NAMED_FORMATS = {"fp8": "fp8", "mxfp4": "fp4", "int4": "int4"}
# What serves models, as `--stack` names it.
STACKS = (*SERVING_STACKS, *serving.EARLY_STACKS)


class Banded(NamedTuple):
    """A predicted value with the ends of its 80 % band."""

    value: float
    low: float
    high: float

    def record(self, unit: str) -> dict[str, float]:
        """As JSON holds it, the unit in the name."""
        return {unit: self.value, "low": self.low, "high": self.high}


class ServingPrediction(NamedTuple):
    """Time to the first token and per token (s), tokens of answers per second of all chips."""

    serving: Serving
    first_token: Banded
    token: Banded
    throughput: Banded
    batch: float
    bytes: float
    inferred: tuple[str, ...]
    similar: SimilarRuns
    cost_per_million: float | None = None

    @property
    def reads_together(self) -> bool:
        """Whether several prompts are read at once; at full load they come one by one."""
        return self.serving.task == STATIC and self.batch > 1

    @property
    def fit(self) -> Fit:
        """How weights and cache fit into the memory of a chip, and the largest batch that does."""
        free = self.serving.machine.memory - self.bytes
        return Fit(free, None, "", _largest_batch(self.serving))

    @property
    def fits(self) -> bool:
        """Whether weights and cache have room in the memory of the chips."""
        return self.fit.fits

    def record(self) -> dict[str, Any]:
        """The prediction as `flopbook predict --json` prints it."""
        prediction: dict[str, Any] = {
            "first_token": self.first_token.record("seconds"),
            "token": self.token.record("seconds"),
            "throughput": self.throughput.record("tokens_per_s"),
            "tokens_per_s_per_chip": self.throughput.value / self.serving.chips,
            "batch": self.batch,
            "bytes": self.bytes,
            "fits": self.fits,
        }
        if not self.fits:
            prediction["over"] = -self.fit.free
            prediction["largest_batch"] = self.fit.largest_batch
        if self.cost_per_million is not None:
            prediction["cost_per_million_tokens"] = self.cost_per_million
        return {
            "prediction": prediction,
            "inferred": list(self.inferred),
            "similar_runs": [similar.record() for similar in self.similar.nearest],
            "similar_count": self.similar.total,
        }


def predict_serving(
    options: Mapping[str, str | None], calibration: Calibration | None = None
) -> ServingPrediction:
    """The prediction for options as the command line names them, calibrated on runs if given.

    `seq` is the length of prompts, `answer` that of answers; without `batch` the server is at full
    load. Raises FlopbookError for an option that is missing, unreadable, or does not add up.
    """
    case, inferred = serving.serving_of(_row(options))
    p = fitted_kinds()["inference"].parameters
    batch = case.batch or full_batch(case, p)
    loaded = LOADED if not case.batch else STATIC
    case = case._replace(batch=batch)
    rate = _banded(case._replace(task=loaded), calibration)
    price = price_option(options, case.machine.chip)
    # At full load prompts are read one by one, as they come.
    first = case._replace(task=PREFILL, batch=batch if loaded == STATIC else 1.0)
    cost = None if price is None else price * case.chips / rate.value * MILLION
    return ServingPrediction(
        serving=case,
        first_token=_banded(first, calibration),
        token=_banded(case._replace(task=DECODE), calibration),
        throughput=rate,
        batch=batch,
        bytes=held_bytes(case, case.prompt + case.answer),
        inferred=inferred if options.get("stack") else (*inferred, SOFTWARE),
        similar=_similar(case),
        cost_per_million=cost,
    )


def _largest_batch(case: Serving) -> float:
    """Sequences that fit at once, whole ones on each replica; 0 where the weights leave no room."""
    context = case.prompt + case.answer
    weights = held_bytes(case._replace(batch=0.0), context)
    of_one = held_bytes(case._replace(batch=case.replicas), context) - weights
    of_each = (case.machine.memory - weights) // of_one
    return max(of_each, 0.0) * case.replicas


def published_format(options: Mapping[str, str | None]) -> str | None:
    """The format of the published weights, as `--dtype` names it, where nobody asked for one.

    None where a format was asked for, or where the published one is not narrower than 16 bits.
    """
    model, _ = asked_model(options)
    claim = model.claim("weight_format")
    if claim is None or options.get("dtype"):
        return None
    return _NAMED_FORMATS.get(str(claim.value))


def one_prompt(options: Mapping[str, str | None]) -> ServingPrediction:
    """The same server with one sequence on it."""
    return predict_serving({**options, "batch": "1"})


def _row(options: Mapping[str, str | None]) -> MeasuredRun:
    required(options, ("model", "chip"))
    model, _ = asked_model(options)
    chips = count_option(options, "chips") or count_option(options, "tp") or 1
    prompt = count_option(options, "seq") or DEFAULT_SEQUENCE
    batch = count_option(options, "batch")
    tp = count_option(options, "tp") or chips
    if chips % tp:
        raise FlopbookError(f"--tp {tp} does not divide {chips} chips")
    sizes = sizes_of(model, prompt)
    check_served_heads(sizes.get("n_heads", 0), tp)
    lengths = {"input_len_tokens": prompt, "output_len_tokens": count_option(options, "answer")}
    asked = {} if batch is None else {"batch_seqs": batch}
    return MeasuredRun(
        id="asked",
        kind="inference",
        publication="",
        where="",
        measured={},
        model=sizes,
        hardware={"chip": str(options["chip"]), "n_chips": chips},
        parallelism={"tp": tp},
        run={
            **lengths,
            **asked,
            "phase": "prefill+decode, static batch" if batch else "prefill+decode",
            "precision": word_option(options, "dtype", PRECISIONS) or "bf16",
            "software": _stack(options),
        },
    )


def _stack(options: Mapping[str, str | None]) -> str:
    """The software that was named. Raises UnknownName with the nearest names."""
    name = named(options.get("stack") or "")
    if name and name not in STACKS:
        raise UnknownName("stack", name, STACKS)
    return name


def _banded(case: Serving, calibration: Calibration | None) -> Banded:
    """What is predicted for a task, with its band."""
    adjustment = calibration.adjustment if calibration else AS_FITTED
    fitted = adjustment.on(fitted_kinds()["inference"])
    shown = serving.SHOWN[case.task]
    widest = widest_band(fitted, [shown.band or shown.quantity], serving.traits(case))
    factor = min(widest, adjustment.band)
    raw = float(serving.predict_one(case, fitted.parameters))
    value = adjustment.of(raw, is_time=shown.unit == "s")
    return Banded(value, value / factor, value * factor)


def _similar(case: Serving) -> SimilarRuns:
    """Inference runs on the same generation of chips, the nearest in size first."""
    generation = case.machine.generation
    runs = known_runs(serving.MODEL.kind)
    return nearest((run for run in runs if run.generation == generation), case, "chip generation")
