"""A training run as people ask for it: a model, a chip, how many, and how it is divided."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from flopbook.data.run_degrees import DIVIDING
from flopbook.data.runs import MeasuredRun
from flopbook.errors import FlopbookError
from flopbook.formulas.omissions import TENTH
from flopbook.formulas.pipeline import SCHEDULES
from flopbook.formulas.training_memory_inputs import OFFLOADED, YES_NO
from flopbook.prediction.bands import AS_FITTED, SOFTWARE, Adjustment, band_names, widest_band
from flopbook.prediction.chunks import Interleaving, interleaving
from flopbook.prediction.conventions import HARDWARE, USUAL, flop_per_token
from flopbook.prediction.fitted import Fitted, fitted_kinds
from flopbook.prediction.idle_chips import no_layout, on_fewer_chips
from flopbook.prediction.layout_memory import LayoutMemory, made_to_fit, memory_of, savings
from flopbook.prediction.layouts import FSDP, LAYOUT_PARTS, OneRun, RunLayout, training_run
from flopbook.prediction.named_models import ModelName, asked_model, sizes_of
from flopbook.prediction.networks import NETWORK, card_rate
from flopbook.prediction.offloading import spread_of
from flopbook.prediction.open_layouts import RECOMPUTE, fastest_layout
from flopbook.prediction.options import (
    amount_option,
    check_stage,
    count_option,
    required,
    step_sequences,
    word_option,
)
from flopbook.prediction.possible_layouts import (
    check_degrees,
    check_format,
    check_groups,
    possible,
)
from flopbook.prediction.predicted import Faster, Prediction
from flopbook.prediction.recurrent import left_out
from flopbook.prediction.similar import similar_runs
from flopbook.prediction.spending import list_price, spending
from flopbook.prediction.stacks import OTHER, SERVING_STACKS, chosen_stack, named
from flopbook.prediction.step_time import step_parts
from flopbook.prediction.training import traits

if TYPE_CHECKING:  # calibrating loads NumPy
    from flopbook.prediction.calibration import Calibration

DEGREES = {
    "tp": "tp",
    "pp": "pp",
    "cp": "cp",
    "ep": "ep",
    "dp": "dp",
    "virtual": "vp",
    "zero": "zero_stage",
    "hsdp": "hsdp",
    "micro_batch": "micro_batch_seqs",
}
# Where none of these is given, the run is laid out for the user.
LAID_OUT = ("tp", "pp", "cp", "ep", "dp", "zero", "hsdp")
SLICES = "slices of a torus"  # as few as hold the chips
OPEN_BATCH = "batch of a step"  # what an answer calls a batch that was not asked
# What a rule may choose so that a run fits.
FITTING = ("zero", "micro_batch", "recompute", "recompute_layers")
PRECISIONS = ("bf16", "fp16", "fp8", "fp4")
DEFAULT_SEQUENCE = 4096
THIS_YEAR = 2026


def predict(
    options: Mapping[str, str | None], calibration: Calibration | None = None
) -> Prediction:
    """The prediction for options as the command line names them, calibrated on runs if given.

    A run without any degree is laid out as the fastest that is found and fits. Raises FlopbookError
    for an option that is missing, unreadable, or does not add up.
    """
    run = run_of(options)
    _, model = asked_model(options)
    asked = _asked_layout(options)
    sequences = step_sequences(options, int(run.shape.tokens))
    is_laid_out = any(options.get(name) for name in LAID_OUT)
    found = None if is_laid_out else _fastest(model, run, sequences, asked, calibration)
    if found:
        return prediction_of(found, model, options, calibration)
    # Without a degree that divides chips or experts, a rule lays the run out.
    is_open = not any(options.get(name) for name in (*DIVIDING, "ep"))
    if is_open and sequences and sequences % int(run.dp) and run.machine.memory:
        return _nearest(model, run, sequences, options, calibration)
    run = possible(model, run, sequences, is_open=is_open)
    memory, problem = _memory(model, run)
    fitting = run
    if run.machine.memory and not (memory and memory.fits):
        fitting = made_to_fit(model, run, _given(options))
        memory, problem = _memory(model, fitting)
    prediction = _prediction(fitting, model, (memory, problem), options, calibration)
    if not is_laid_out or not any(name in run.inferred for name in LAYOUT_PARTS):
        return prediction
    found = _fastest(model, run, sequences, asked, calibration)
    return prediction._replace(faster=_faster(prediction, found, calibration))


def _nearest(
    model: ModelName,
    run: RunLayout,
    sequences: int,
    options: Mapping[str, str | None],
    calibration: Calibration | None,
) -> Prediction:
    """The prediction for a step that chips or batch do not divide, on as many chips as can run it.

    Raises FlopbookError, with a number of chips that would do, where no part of them can.
    """
    asked, chips = _asked_layout(options), int(run.chips)

    def search(count: int) -> RunLayout | None:
        try:
            fewer = run_of({**options, "chips": str(count)})
        except FlopbookError:  # what was asked for divides no such number
            return None
        return _fastest(model, fewer, sequences, asked, calibration)

    def seconds(found: RunLayout) -> float:
        return math.fsum(_parts(found, calibration).values())

    found = search(chips) or on_fewer_chips(search, chips, seconds)
    if found is None:
        raise no_layout(search, chips, sequences)
    idle = chips - int(found.chips)
    return prediction_of(found, model, options, calibration)._replace(idle=idle)


def _fastest(
    model: ModelName,
    run: RunLayout,
    sequences: int | None,
    asked: Mapping[str, Any],
    calibration: Calibration | None,
) -> RunLayout | None:
    """The fastest layout that is found for a step of so many sequences, or of those of the run."""
    parameters = _fitted(calibration).parameters
    return fastest_layout(model, run, sequences or int(run.batch), asked, parameters)


def _faster(
    prediction: Prediction, found: RunLayout | None, calibration: Calibration | None
) -> Faster | None:
    """A layout that was found, where it saves a tenth of the step or ours cannot run."""
    if found is None:
        return None
    seconds = math.fsum(_parts(found, calibration).values())
    fits = prediction.memory is not None and prediction.memory.fits
    can_run = fits and prediction.run.batch % prediction.run.dp == 0
    is_worth = not can_run or seconds < (1 - TENTH) * prediction.seconds
    return Faster(found, seconds) if is_worth else None


def _asked_layout(options: Mapping[str, str | None]) -> dict[str, Any]:
    """What options say of the layout: degrees and the words for schedule and recomputation."""
    counts = {name: count_option(options, name, may_be_zero=name == "zero") for name in DEGREES}
    schedule = word_option(options, "schedule", SCHEDULES)
    words = {"schedule": schedule, "recompute": word_option(options, "recompute", RECOMPUTE)}
    given = {**counts, **words}.items()
    asked: dict[str, Any] = {name: value for name, value in given if value is not None}
    if "virtual" in asked:
        asked.setdefault("schedule", "interleaved" if asked["virtual"] > 1 else "1f1b")
    if options.get("offload") == "parameters":  # only what ZeRO-3 divides comes back in time
        asked.setdefault("zero", FSDP)
    return asked


def prediction_of(
    run: RunLayout,
    model: ModelName,
    options: Mapping[str, str | None],
    calibration: Calibration | None = None,
) -> Prediction:
    """The prediction for a run as it is laid out; options have its tokens, schedule and prices."""
    return _prediction(run, model, _memory(model, run), options, calibration)


def _prediction(
    run: RunLayout,
    model: ModelName,
    held: tuple[LayoutMemory | None, str],
    options: Mapping[str, str | None],
    calibration: Calibration | None,
) -> Prediction:
    """The prediction for a run whose memory is computed, or said not to be."""
    memory, problem = held
    parts = _parts(run, calibration)
    seconds = math.fsum(parts.values())
    known = min(band_of_run(_fitted(calibration), run), _adjustment(calibration).band)
    factor = known * spread_of(seconds, parts["offload"])
    rate = run.batch * run.shape.tokens / seconds / run.chips
    price = price_option(options, run.machine.chip)
    # What full recomputation repeats counts as work of the hardware.
    computed = HARDWARE if run.recompute == "full" else USUAL
    no_memory = () if memory else (f"no memory: {problem}",)
    return Prediction(
        run=run,
        seconds=seconds,
        low=seconds / factor,
        high=seconds * factor,
        tokens_per_second=rate,
        mfu=rate * flop_per_token(run.shape, USUAL) / run.machine.peak(run.precision),
        hfu=rate * flop_per_token(run.shape, computed) / run.machine.peak(run.precision),
        parts=parts,
        inferred=(*run.inferred, *left_out(run), *no_memory),
        similar=similar_runs(run),
        memory=memory,
        spent=spending(model, run, seconds, price, amount_option(options, "tokens", "token")),
        savings=() if memory is None or memory.fits else savings(model, run),
        calibration=calibration,
        interleaving=_open_schedule(model, run, options),
    )


def _adjustment(calibration: Calibration | None) -> Adjustment:
    return calibration.adjustment if calibration else AS_FITTED


def _fitted(calibration: Calibration | None) -> Fitted:
    """What is fitted of training, moved by runs of one's own where they are given."""
    return _adjustment(calibration).on(fitted_kinds()["training_throughput"])


def _parts(run: RunLayout, calibration: Calibration | None) -> dict[str, float]:
    """Seconds of the parts of a step."""
    parts = step_parts(OneRun(run), _fitted(calibration).parameters)._asdict()
    # What no parameter explains shortens or stretches every part alike.
    return {name: float(part) / _adjustment(calibration).factor for name, part in parts.items()}


def _open_schedule(
    model: ModelName, run: RunLayout, options: Mapping[str, str | None]
) -> Interleaving | None:
    """What several chunks on a stage would save, where neither they nor a schedule is named."""
    if run.pp < 2 or options.get("virtual") or options.get("schedule"):
        return None

    def fits(chunked: RunLayout) -> bool:
        memory, _ = _memory(model, chunked)
        return memory is None or memory.fits

    return interleaving(run, fitted_kinds()["training_throughput"].parameters, fits)


def band_of_run(known: Fitted, run: RunLayout) -> float:
    """The factor of the band of a run's time, the wider the less it is like the fitted ones."""
    names = band_names(run.inferred, is_mixture=run.shape.is_mixture)
    return widest_band(known, names, traits(run))


def _given(options: Mapping[str, str | None]) -> Iterator[str]:
    """The fields of a layout's memory that options fix; a rule may choose the others."""
    return (name for name in FITTING if options.get(name) is not None)


def _memory(model: ModelName, run: RunLayout) -> tuple[LayoutMemory | None, str]:
    """The memory of a layout, or why the calculator refuses it."""
    if not run.machine.memory:
        return None, f"that of {run.machine.chip} is not published"
    try:
        return memory_of(model, run), ""
    except FlopbookError as error:
        return None, str(error)


def price_option(options: Mapping[str, str | None], chip: str) -> float | None:
    """USD/s of a chip, as given or as a cloud asks."""
    cloud = options.get("price_from")
    if cloud and options.get("price"):
        raise FlopbookError("--price and --price-from are two prices; leave one out")
    return list_price(chip, cloud) if cloud else amount_option(options, "price", "USD/s")


def run_of(options: Mapping[str, str | None]) -> RunLayout:
    """The run that options describe; what they leave open a rule fills in, and the run names it.

    Raises FlopbookError for an option that is missing, unreadable, or does not add up.
    """
    required(options)
    model, _ = asked_model(options)
    sequence = count_option(options, "seq") or DEFAULT_SEQUENCE
    chips = count_option(options, "chips") or 1
    degrees: dict[str, Any] = {}
    for option, field in DEGREES.items():
        degree = count_option(options, option, may_be_zero=option == "zero")
        if degree is not None:
            degrees[field] = degree
    check_stage(degrees.get("zero_stage", 0))
    check_degrees(degrees, chips)
    sequences = step_sequences(options, sequence)
    if sequences:
        degrees["global_batch_seqs"] = sequences
    run: dict[str, Any] = {"precision": word_option(options, "dtype", PRECISIONS) or "bf16"}
    recompute = word_option(options, "recompute", RECOMPUTE)
    if recompute:
        run["recompute"] = recompute
    stack = _stack(options)
    row = MeasuredRun(
        id="asked",
        kind="training_throughput",
        publication="",
        where="",
        measured={},
        model=sizes_of(model, sequence),
        hardware={"chip": str(options["chip"]), "n_chips": chips},
        parallelism=degrees,
        run={**run, "software": str(options.get("stack") or "")},
    )
    layout = _with_network(training_run(row, THIS_YEAR, stack), options.get("network"))
    layout = _in_slices(layout)
    check_format(layout)
    check_groups(layout)
    open_batch = () if sequences else (OPEN_BATCH,)
    inferred = (*open_batch, *layout.inferred, *_open_software(options, layout.year))
    layout = _offloading(layout, options)
    layout = _recomputing(layout, count_option(options, "recompute_layers"))
    schedule = word_option(options, "schedule", SCHEDULES) or layout.schedule
    if schedule == "interleaved" and layout.virtual == 1:
        raise FlopbookError("--schedule interleaved needs --virtual of at least 2 chunks a stage")
    if layout.virtual > 1:
        schedule = _interleaved(options.get("schedule"))
    return layout._replace(inferred=inferred, schedule=schedule)


def _recomputing(layout: RunLayout, layers: int | None) -> RunLayout:
    """The layout with so many layers of a stage recomputed. Raises FlopbookError without any."""
    if layers is None:
        return layout
    if layout.recompute != "full":
        raise FlopbookError("--recompute-layers counts layers of --recompute full; give both")
    return layout._replace(recompute_layers=layers)


def _with_network(layout: RunLayout, network: str | None) -> RunLayout:
    """The layout on the network that was named; it is inferred where traffic leaves the node."""
    if network:
        card = card_rate(network)
        return layout._replace(machine=layout.machine._replace(card_bandwidth=card))
    is_inside = layout.machine.is_torus or layout.chips <= layout.domain
    return layout if is_inside else layout._replace(inferred=(*layout.inferred, NETWORK))


def _in_slices(layout: RunLayout) -> RunLayout:
    """The layout on as many slices as its chips take: a torus ends with its pod."""
    slices = math.ceil(layout.chips / layout.domain) if layout.machine.is_torus else 1
    if slices == 1:
        return layout
    return layout._replace(slices=slices, inferred=(*layout.inferred, SLICES))


def _offloading(layout: RunLayout, options: Mapping[str, str | None]) -> RunLayout:
    """The layout with what options leave on the host; weights are there as ZeRO-3 divides them."""
    offload = word_option(options, "offload", OFFLOADED) or "no"
    activations = word_option(options, "offload_activations", YES_NO) or "no"
    layout = layout._replace(offload=offload, offload_activations=activations)
    is_open = options.get("zero") is None and layout.dp * layout.cp > 1
    return layout._replace(zero=3) if offload == "parameters" and is_open else layout


def _stack(options: Mapping[str, str | None]) -> str:
    """The stack that was named. Raises FlopbookError for one that serves, or that nobody knows."""
    asked = options.get("stack")
    if not asked:
        return OTHER
    if named(asked) in SERVING_STACKS:
        raise FlopbookError(f"--stack {named(asked)} serves and does not train; give --answer too")
    return chosen_stack(asked)


def _open_software(options: Mapping[str, str | None], year: float) -> tuple[str, ...]:
    """What options leave open of the software: which it is, or when its version came out."""
    asked = options.get("stack")
    if not asked:
        return (SOFTWARE,)
    return (f"year of {asked}",) if "@" in asked and year == THIS_YEAR else ()


def _interleaved(asked: str | None) -> str:
    """The schedule of several chunks a stage. Raises FlopbookError where another was asked for."""
    if asked in (None, "interleaved"):
        return "interleaved"
    raise FlopbookError(f"--schedule {asked} has one chunk a stage; leave out --virtual")
