"""What published runs reach: one rate a row, and its share of the printed rate of the chip.

Utilisations of training follow one convention, whatever a source prints: the FLOPs of the weights
that a token is multiplied with and of unmasked attention (`conventions.USUAL`), over the dense peak
of the format that the matrix products run in.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from flopbook.data.library import library, per_library
from flopbook.data.measured_runs import run_files
from flopbook.data.runs import MODEL_FILE, MeasuredRun, RunSource
from flopbook.errors import FlopbookError
from flopbook.hardware.picked import Picked
from flopbook.prediction.conventions import (
    TRAINED,
    USUAL,
    Printed,
    flop_per_token,
    measured_tokens,
)
from flopbook.prediction.layouts import trains_adapters
from flopbook.prediction.machines import ChipRates, machine, machine_of, package_named, peak_of
from flopbook.prediction.named_models import with_kinds
from flopbook.prediction.transformers import transformer

GIGA, TERA, MILLI, MICRO, GIBI, HOUR = 1e9, 1e12, 1e-3, 1e-6, 2.0**30, 3600.0
# The first that a source's words contain; names of weight formats come before those of products.
FORMATS = {
    "fp4": ("nvfp4", "mxfp4", "fp4"),
    "int4": ("int4", "nf4", "q4", "awq", "gptq"),
    "fp8": ("fp8", "float8"),
    "int8": ("int8", "q8"),
    "bf16": ("bf16",),
    "fp16": ("fp16", "f16"),
    "tf32": ("tf32",),
    "fp32": ("fp32",),
}
_HALF_CHIP = re.compile(r"one of 2 devices")
TOKENS = "token/s"
_TOKENS = ("tokens_per_s_per_chip", "tokens_per_s", "step_time_s")
# How a share came about: from tokens and seconds, from a share or FLOP/s that the source counts in
# its own way, by the rule of six alone, or as the source prints it.
COMPUTED, CONVERTED, RULE_OF_SIX, AS_PRINTED = "computed", "converted", "6ND", "as printed"


class Rate(NamedTuple):
    """A measured value in SI units, and its share of what is printed for the chip.

    `share` is None where nothing is printed to compare with, and `lacks` says what is missing.
    """

    value: float | None
    unit: str
    share: float | None = None
    basis: str = ""
    lacks: str = ""


class Reached(NamedTuple):
    """A published run with what it reached, and the ids of its chip and model where we have them.

    `date` is a year with its month as a fraction where the row states one.
    """

    row: MeasuredRun
    source: RunSource
    chip: str
    model: str
    format: str
    date: float
    rate: Rate

    @property
    def is_whole(self) -> bool:
        """Whether the configuration is enough to compute the run."""
        return self.row.complete and not self.rate.lacks


@per_library
def reached_runs() -> tuple[Reached, ...]:
    """Every published run of the library in use, by file and line."""
    return tuple(
        reached(row, file.sources[row.publication])
        for file in run_files().values()
        for row in file.rows
    )


def reached(row: MeasuredRun, source: RunSource) -> Reached:
    """What one row reached; a row that cannot be computed says what it lacks."""
    chip = ""
    try:
        chip = package_named(row.hardware["chip"]).id
        rate = _READERS[row.kind](row, source)
    except FlopbookError as error:
        rate = Rate(None, "", lacks=str(error))
    words = str(row.run.get("precision", ""))
    return Reached(
        row, source, chip, model_of(row.model), format_of(words), _date(row, source), rate
    )


def format_of(words: str) -> str:
    """The number format that the words of a run name, such as bf16; empty for none."""
    lowered = words.lower()
    for name, parts in FORMATS.items():
        if any(part in lowered for part in parts):
            return name
    return ""


def model_of(model: Mapping[str, object]) -> str:
    """The id of the model that a row names; empty where there is none of that name."""
    ours = MODEL_FILE.match(str(model.get("dims_from", "")))
    name = ours[1] if ours else str(model.get("name", ""))
    return _known_model(name)


@functools.lru_cache(maxsize=1024)
def _known_model(name: str) -> str:
    try:
        return library().model(name).id
    except FlopbookError:
        return ""


def _date(row: MeasuredRun, source: RunSource) -> float:
    year, _, month = str(row.run.get("date", source.year)).partition("-")
    return float(year) + (int(month) - 0.5) / 12 if month else float(year)


def _chips(row: MeasuredRun) -> float:
    return float(row.hardware.get("n_chips") or 1)


def _peak(chip: ChipRates, words: str) -> float:
    """The dense peak of the format of matrix products; weights alone are widened before them."""
    return chip.peak("" if "weight" in words.lower() else format_of(words))


# One reader for each kind of row.


def _training(row: MeasuredRun, source: RunSource) -> Rate:
    chip = machine_of(row.hardware, row.run)
    peak = _peak(chip, str(row.run.get("precision", "")))
    if trains_adapters(row):
        return _as_printed(row, peak, "adapters train few weights: not six FLOPs for each")
    try:
        shape = transformer(with_kinds(row).model)
    except FlopbookError as error:
        return _as_printed(row, peak, str(error))
    printed = Printed(
        measured=row.measured,
        shape=shape,
        convention=source.flops_convention_code,
        # A share that a source prints is of the peak that it names, else of 16 bits.
        peak=float(row.measured.get("peak_tflops_per_s", 0)) * TERA or chip.peak_16bit,
        chips=_chips(row),
        batch=_batch(row),
        active=row.model.get("n_active_params"),
    )
    try:
        tokens = measured_tokens(printed)
    except FlopbookError as error:
        return _as_printed(row, peak, str(error))
    for name, words in (
        ("the sequence length", row.model.get("seq_len_tokens")),
        ("the number format", format_of(str(row.run.get("precision", "")))),
    ):
        if not words:
            return Rate(tokens, TOKENS, lacks=f"{name} is not given")
    basis = COMPUTED if any(name in row.measured for name in _TOKENS) else CONVERTED
    return Rate(tokens, TOKENS, tokens * flop_per_token(shape, USUAL) / peak, basis)


def _as_printed(row: MeasuredRun, peak: float, lacks: str) -> Rate:
    """The figures of a source that nothing can be computed from; FLOP/s as it counts them."""
    measured = row.measured
    tokens = measured.get("tokens_per_s_per_chip")
    if tokens is None and "tokens_per_s" in measured:
        tokens = measured["tokens_per_s"] / _chips(row)
    share = None
    if "mfu_pct" in measured:
        share = measured["mfu_pct"] / 100
    elif "model_tflops_per_s_per_chip" in measured:
        share = measured["model_tflops_per_s_per_chip"] * TERA / peak
    return Rate(tokens, TOKENS, share, AS_PRINTED if share else "", lacks)


def _batch(row: MeasuredRun) -> float | None:
    """Sequences of a step, as stated or from the batch of a replica."""
    degrees = row.parallelism
    if "global_batch_seqs" in degrees:
        return float(degrees["global_batch_seqs"])
    if "micro_batch_seqs" not in degrees:
        return None
    replicas = degrees.get("dp") or _chips(row) / (degrees.get("tp", 1) * degrees.get("pp", 1))
    return float(degrees["micro_batch_seqs"] * replicas * degrees.get("grad_accum", 1))


def _whole_run(row: MeasuredRun, source: RunSource) -> Rate:
    chip, hours = machine(row.hardware["chip"]), row.measured.get("accelerator_hours")
    parameters = row.model.get("n_active_params") or row.model.get("n_params")
    tokens = row.measured.get("tokens")
    if not (hours and tokens and parameters):
        lacks = "chip-hours, tokens or parameters are not given"
        return Rate(hours and hours * HOUR, "chip*s", lacks=lacks)
    rate = tokens / (hours * HOUR)
    share = TRAINED * parameters * rate / chip.peak_16bit
    return Rate(rate, TOKENS, share, RULE_OF_SIX)


def _inference(row: MeasuredRun, source: RunSource) -> Rate:
    """Tokens per second and chip: of answers, or of prompts where only these were timed."""
    measured, chips, unit = row.measured, _chips(row), TOKENS
    if "output_tokens_per_s_per_chip" in measured:
        return Rate(measured["output_tokens_per_s_per_chip"], unit)
    for name in ("output_tokens_per_s", "tokens_per_s"):
        if name in measured:
            return Rate(measured[name] / chips, unit)
    batch = row.run.get("batch_seqs", 1)
    if "decode_tokens_per_s_per_seq" in measured:
        return Rate(measured["decode_tokens_per_s_per_seq"] * batch / chips, unit)
    for name in ("step_latency_ms", "ms_per_token"):
        if name in measured:
            return Rate(batch / (measured[name] * MILLI) / chips, unit)
    prompt = row.run.get("input_len_tokens")
    if prompt and "first_token_latency_ms" in measured:
        return Rate(batch * prompt / (measured["first_token_latency_ms"] * MILLI) / chips, unit)
    return Rate(None, unit, lacks="no tokens per second are given")


def _matmul(row: MeasuredRun, source: RunSource) -> Rate:
    value = _given(row, "matmul_tflops_per_s") * TERA
    chip = machine(row.hardware["chip"])
    words = str(row.run.get("precision", ""))
    # A chip may multiply one format of 16 bits faster than the other, as an MI100 does.
    own = peak_of(package_named(row.hardware["chip"]), format_of(words))
    peak = own or _peak(chip, words)
    return Rate(value, "FLOP/s", value / (peak * _share_of_chip(row)), COMPUTED)


def _memory_rate(row: MeasuredRun, source: RunSource) -> Rate:
    chip = package_named(row.hardware["chip"])
    return _of_printed(row, "memory_bandwidth_gb_per_s", chip.pick_memory_bandwidth)


def _link_rate(row: MeasuredRun, source: RunSource) -> Rate:
    chip = package_named(row.hardware["chip"])
    rate = _of_printed(row, "bandwidth_gb_per_s", chip.pick_scaleup_bandwidth)
    ways = 2.0 if str(row.run.get("direction", "")).startswith("bi") else 1.0
    return rate._replace(share=rate.share and rate.share / ways)


def _of_printed(row: MeasuredRun, name: str, pick: Callable[[], Picked | None]) -> Rate:
    """A bandwidth beside the one that is printed for the chip."""
    value = _given(row, name) * GIGA
    try:
        printed = pick()
    except FlopbookError:
        printed = None
    if printed is None:
        return Rate(value, "byte/s", lacks="nothing is printed for the chip")
    return Rate(value, "byte/s", value / (printed.value * _share_of_chip(row)), COMPUTED)


def _share_of_chip(row: MeasuredRun) -> float:
    return 0.5 if _HALF_CHIP.search(row.hardware["chip"]) else 1.0


def _collective(row: MeasuredRun, source: RunSource) -> Rate:
    if "busbw_gb_per_s" in row.measured:
        return Rate(row.measured["busbw_gb_per_s"] * GIGA, "byte/s")
    return Rate(_given(row, "time_us") * MICRO, "s")


def _memory_used(row: MeasuredRun, source: RunSource) -> Rate:
    """Peak bytes of a device; variants of a chip differ in memory, so there is no share."""
    for name, size in (("peak_memory_gb", GIGA), ("peak_memory_gib", GIBI)):
        if name in row.measured:
            return Rate(row.measured[name] * size, "byte")
    return Rate(None, "byte", lacks="no peak memory is given")


def _given(row: MeasuredRun, name: str) -> float:
    if name not in row.measured:
        raise FlopbookError(f"{name} is not given")
    return float(row.measured[name])


_READERS: Mapping[str, Callable[[MeasuredRun, RunSource], Rate]] = {
    "training_throughput": _training,
    "whole_run": _whole_run,
    "inference": _inference,
    "matmul_peak": _matmul,
    "hbm_bandwidth": _memory_rate,
    "p2p_bandwidth": _link_rate,
    "collective": _collective,
    "training_memory": _memory_used,
}
