"""A training run as the prediction takes it: what a row gives, and what a rule infers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from flopbook.data.runs import MeasuredRun
from flopbook.errors import FlopbookError
from flopbook.prediction.arrays import Column, Mask
from flopbook.prediction.machines import ChipRates, has_switch, machine_of
from flopbook.prediction.schedules import schedule_of
from flopbook.prediction.software_words import (
    groups_of_states,
    habits,
    is_compiled,
    offloaded_activations,
    offloaded_states,
    precision_named,
    version_year,
)
from flopbook.prediction.stacks import stack_named
from flopbook.prediction.transformers import Transformer, transformer
from flopbook.prediction.usual_layouts import (
    held_by_a_rank,
    usual_degrees,
    usual_recompute,
    zero_that_fits,
)

# Stacks that shard the optimizer unless told otherwise.
SHARDED_OPTIMIZER = ("nemo", "megatron-core")
# Stacks whose elementwise kernels are fused without torch.compile.
FUSED = ("nemo", "megatron-core", "maxtext", "deepspeed")
# Tokens of a micro-batch that people choose where they do not say.
USUAL_MICRO_BATCH_TOKENS = 8192
# Attention and feed-forward of the same input: one sum over tensor-parallel ranks in place of two.
PARALLEL_BLOCKS = "parallel transformer block"
FSDP = 3  # the stage that shards weights too
# What a run leaves open and a rule fills in, as answers call it.
LAYOUT, OPEN_MICRO_BATCH = "layout", "micro-batch size"
# All of it that the line of the layout shows.
LAYOUT_PARTS = (
    *(LAYOUT, OPEN_MICRO_BATCH, "gradient accumulation steps", "ZeRO stage", "recompute"),
    "chunks of a stage",
)
# From this year on stacks have fused attention.
FLASH_YEAR = 2023
# What submissions to MLPerf train language models in, where they do not say: so all of those do
# that say.
BENCHMARK, BENCHMARK_FORMAT = "mlperf", "fp8"
WITHOUT_8_BITS = ("volta", "ampere", "tpu")
# Words of a task that leaves the weights of the model as they are, and the share of them that its
# adapters add.
ADAPTERS = re.compile(r"\b(q?lora|adapters?)\b", re.IGNORECASE)
ADAPTED_SHARE = 0.01
# H100 boards of this power hold their clock far below the printed peak.
_POWER_CAP = " 500w"


class RunLayout(NamedTuple):
    """Everything that the step time depends on, one number or word each.

    `hsdp` groups of replicas each hold everything and divide it among their own ranks. `trained` is
    the share of the weights that get gradients; `recompute_layers` are the layers of a stage that
    full recomputation computes again, 0 for all. `offload` says which states lie in the memory of
    the host, as the calculator of that name does. `gradient_bytes` is the width in which gradients
    are summed; chips without a switch (`has_switch`) share their links out among the others of a
    node; a benchmark that is balanced (`is_balanced`) sends all experts as many tokens. Where
    tensors have an owner (`has_owners`), each owner sends its own to all others by itself.
    `inferred` names what the row leaves open and a rule has filled in.
    """

    machine: ChipRates
    shape: Transformer
    stack: str
    year: float
    chips: float
    tp: float
    pp: float
    cp: float
    ep: float
    dp: float
    virtual: float
    micro_batch: float
    micro_batches: float
    zero: float
    recompute: str
    precision: str
    domain: float
    slices: float
    memory_bandwidth: float
    is_framework_fp8: bool = False
    is_compiled: bool = False
    is_async_tp: bool = False
    is_power_capped: bool = False
    has_flash: bool = True
    has_parallel_blocks: bool = False
    schedule: str = "1f1b"
    hsdp: float = 1.0
    trained: float = 1.0
    recompute_layers: float = 0.0
    offload: str = "no"
    offload_activations: str = "no"
    gradient_bytes: float = 4.0
    overlaps_gradients: bool = True
    has_row_scales: bool = False
    has_switch: bool = True
    is_balanced: bool = False
    has_owners: bool = False
    inferred: tuple[str, ...] = ()

    @property
    def batch(self) -> float:
        """Sequences of a step."""
        return self.micro_batch * self.micro_batches * self.dp


def training_run(row: MeasuredRun, year: int, words: str = "") -> RunLayout:
    """The run that a row describes; `words` of its source tell the stack where the row does not.

    Raises FlopbookError with what is missing.
    """
    runs_on, shape = machine_of(row.hardware, row.run), transformer(row.model)
    trained = ADAPTED_SHARE if trains_adapters(row) else 1.0
    row, is_chosen = _divided(row, shape, runs_on, trained)
    degrees = row.parallelism
    software, strategy = str(row.run.get("software", "")), str(degrees.get("strategy", ""))
    stack = stack_named(f"{software} {strategy} {row.publication} {words}")
    split = _split(row, shape.tokens, runs_on.is_torus)
    inferred = [LAYOUT, *split.inferred] if is_chosen else list(split.inferred)
    zero = degrees.get("zero_stage")
    if zero is None:
        inferred.append("ZeRO stage")
        usual = _zero(strategy, stack, runs_on.is_torus or degrees.get("hsdp", 1) > 1)
        rank = held_by_a_rank(shape, degrees)
        zero = zero_that_fits(usual, rank, split.dp, runs_on.memory, trained)
    recompute = recompute_named(row.run.get("recompute"))
    schedule, virtual = schedule_of(row)
    precision = _precision(row, runs_on)
    is_open = {
        "recompute": not recompute,
        "chunks of a stage": virtual != degrees.get("vp", 1),
        "number format": precision and not row.run.get("precision"),
    }
    return RunLayout(
        machine=runs_on,
        shape=shape,
        stack=stack,
        year=version_year(software, year),
        chips=split.chips,
        tp=degrees.get("tp", 1),
        pp=degrees.get("pp", 1),
        cp=degrees.get("cp", 1),
        ep=degrees.get("ep", 1),
        dp=split.dp,
        virtual=virtual,
        micro_batch=split.micro_batch,
        micro_batches=split.micro_batches,
        zero=zero,
        recompute=recompute or usual_recompute(stack, row.run, runs_on),
        precision=precision_named(precision),
        domain=_domain(row, runs_on),
        slices=row.hardware.get("n_slices", 1),
        memory_bandwidth=_memory_bandwidth(row, runs_on),
        **habits(software, precision.lower(), words),
        is_compiled=is_compiled(software) or stack in FUSED,
        is_power_capped=_POWER_CAP in row.hardware["chip"].lower().replace("-", " "),
        has_flash=_has_flash(row, year, stack),
        has_parallel_blocks=PARALLEL_BLOCKS in str(row.run.get("algorithm_changes", "")),
        schedule=schedule if degrees.get("pp", 1) > 1 else "1f1b",
        hsdp=degrees.get("hsdp") or groups_of_states(software, split.dp),
        trained=trained,
        offload=offloaded_states(row.run),
        offload_activations=offloaded_activations(row.run),
        has_switch=has_switch(row.hardware, runs_on),
        inferred=(*inferred, *(name for name in is_open if is_open[name])),
    )


def trains_adapters(row: MeasuredRun) -> bool:
    """Whether a run leaves the weights of its model as they are and trains a few beside them."""
    return bool(ADAPTERS.search(str(row.run.get("task", ""))))


def _has_flash(row: MeasuredRun, year: int, stack: str) -> bool:
    """Whether attention is fused: by its year and stack, where the row does not deny it."""
    is_scored = "standard" in str(row.run.get("attention", ""))
    return not is_scored and year >= FLASH_YEAR and stack != "deepspeed"


def _divided(
    row: MeasuredRun, shape: Transformer, runs_on: ChipRates, trained: float
) -> tuple[MeasuredRun, bool]:
    """The run, with usual degrees where it states none and one chip could not run; whether so."""
    chips, batch = row.hardware.get("n_chips") or 1, _sequences(row, shape.tokens)
    chosen = usual_degrees(row.parallelism, shape, runs_on, chips, batch, trained)
    return row._replace(parallelism={**row.parallelism, **chosen}), bool(chosen)


def _precision(row: MeasuredRun, runs_on: ChipRates) -> str:
    """The words of a row for its formats, or the format that a benchmark is run in."""
    stated = str(row.run.get("precision", ""))
    return BENCHMARK_FORMAT if not stated and _is_benchmark(row, runs_on) else stated


def _is_benchmark(row: MeasuredRun, runs_on: ChipRates) -> bool:
    """Whether a run was submitted to a benchmark on a chip that has formats of 8 bits for it."""
    is_submitted = BENCHMARK in str(row.run.get("benchmark", "")).lower()
    return is_submitted and runs_on.generation not in WITHOUT_8_BITS


def _sequences(row: MeasuredRun, tokens: float) -> float | None:
    """Sequences of a step; None where the row does not say."""
    stated = row.parallelism.get("global_batch_seqs")
    if stated is None and "global_batch_tokens" in row.parallelism:
        return float(row.parallelism["global_batch_tokens"] / tokens)
    return None if stated is None else float(stated)


class _Split(NamedTuple):
    """How chips and batch are divided, and what of it a rule filled in."""

    chips: float
    dp: float
    micro_batch: float
    micro_batches: float
    inferred: tuple[str, ...]


def _split(row: MeasuredRun, tokens: float, is_torus: bool) -> _Split:
    """Data-parallel degree, micro-batch size and gradient accumulation steps of a row."""
    degrees, inferred = row.parallelism, []
    tp, pp, cp = (degrees.get(name, 1) for name in ("tp", "pp", "cp"))
    chips = row.hardware.get("n_chips") or tp * pp * cp * degrees.get("dp", 1)
    dp = degrees.get("dp") or max(1, chips // (tp * pp * cp))
    if tp * pp * cp * dp != chips:
        # Degrees that do not make the chips: their number is the one that throughput goes by.
        dp = max(1, chips // (tp * pp * cp))
    batch = _sequences(row, tokens)
    micro_batch, accumulation = degrees.get("micro_batch_seqs"), degrees.get("grad_accum")
    if micro_batch is None and "micro_batch_tokens" in degrees:
        micro_batch = degrees["micro_batch_tokens"] / tokens
    if micro_batch is None:
        inferred.append(OPEN_MICRO_BATCH)
        per_replica = batch / dp if batch else None
        micro_batch = _micro_batch(per_replica, accumulation, pp, tokens, is_torus)
    micro_batches = accumulation or (batch / (dp * micro_batch) if batch else None)
    if micro_batches is None:
        inferred.append("gradient accumulation steps")
        micro_batches = 4 * pp if pp > 1 else 1
    return _Split(chips, dp, micro_batch, max(micro_batches, 1), tuple(inferred))


def _micro_batch(
    per_replica: float | None, accumulation: float | None, pp: float, tokens: float, torus: bool
) -> float:
    """Sequences of a micro-batch where the row does not say.

    XLA runs the batch of a chip at once; pipelines take single sequences to shrink the bubble.
    """
    if per_replica is None:
        return 1.0
    if accumulation:
        return max(per_replica / accumulation, 1e-3)
    if pp > 1:
        return 1.0
    if torus:
        return max(per_replica, 1e-3)
    usual = max(1, round(USUAL_MICRO_BATCH_TOKENS / tokens))
    return max(1.0, min(per_replica, usual))


def _zero(strategy: str, stack: str, is_sharded: bool) -> int:
    """The stage of a stack; weights are sharded on TPUs, and by whoever names groups for it."""
    if is_sharded or "FSDP" in strategy.upper():
        return FSDP
    return 1 if stack in SHARDED_OPTIMIZER else 0


def recompute_named(words: str | None) -> str:
    """full, selective, none, or empty for what is not said."""
    if words is None:
        return ""
    kind = words.lower()
    if kind.startswith("full"):
        return "full"
    return "none" if kind.startswith("none") else "selective"


def _domain(row: MeasuredRun, runs_on: ChipRates) -> float:
    """Chips that the fast links join: as the row says, else the smaller of domain and node."""
    stated = row.hardware.get("nvlink_domain")
    if stated:
        return float(stated)
    node = row.hardware.get("chips_per_node") or 8
    # Racks of one NVLink domain are printed with nodes of four.
    is_rack = "nvl72" in row.hardware["chip"].lower()
    return runs_on.domain if is_rack or runs_on.is_torus else float(node)


def _memory_bandwidth(row: MeasuredRun, runs_on: ChipRates) -> float:
    stated = row.hardware.get("hbm_bandwidth_tb_per_s_spec")
    rate = float(stated) * 1e12 if stated else runs_on.memory_bandwidth
    if not rate:
        raise FlopbookError(f"the memory bandwidth of {runs_on.chip} is not published")
    return rate


class Layouts:
    """Many runs as arrays: each number of a run is an array with one element per run."""

    def __init__(self, runs: Sequence[RunLayout]) -> None:
        # Who asks about one run does without NumPy: loading it takes longer than the answer.
        import numpy

        self._numpy = numpy
        self.runs = tuple(runs)
        self._columns: dict[str, Column] = {}

    def __len__(self) -> int:
        return len(self.runs)

    def __getitem__(self, name: str) -> Column:
        """One number of each run, of its shape or of its machine."""
        if name not in self._columns:
            numbers = [float(field_of(run, name)) for run in self.runs]
            self._columns[name] = self._numpy.array(numbers)
        return self._columns[name]

    def inferred(self, name: str) -> Mask:
        """The runs that leave this open, so that a rule has filled it in."""
        return self._numpy.array([name in run.inferred for run in self.runs])

    def where(self, name: str, *words: str) -> Mask:
        """The runs whose word under a name is one of these."""
        key = f"{name} in {words}"
        if key not in self._columns:
            is_in = [field_of(run, name) in words for run in self.runs]
            self._columns[key] = self._numpy.array(is_in)
        return self._columns[key] > 0

    def choose(self, name: str, by_word: Mapping[str, float], otherwise: float) -> Column:
        """A number for the word of each run."""
        chosen: Column = self._numpy.full(len(self), 1.0) * otherwise
        for word, number in by_word.items():
            chosen = self._numpy.where(self.where(name, word), number, chosen)
        return chosen


class OneRun(Layouts):
    """A single run, each number of which is a plain number in place of an array of one."""

    def __init__(self, run: RunLayout) -> None:
        self.runs = (run,)
        # Looked up some hundred times a step; where names are shared, those of the run count.
        self._fields = {**run.machine._asdict(), **run.shape._asdict(), **run._asdict()}

    def __getitem__(self, name: str) -> Any:
        """One number of the run, of its shape or of its machine."""
        return self._fields[name]

    def inferred(self, name: str) -> Any:
        """Whether the run leaves this open."""
        return name in self.runs[0].inferred

    def where(self, name: str, *words: str) -> Any:
        """Whether the word of the run under a name is one of these."""
        return self._fields[name] in words

    def choose(self, name: str, by_word: Mapping[str, float], otherwise: float) -> Any:
        """A number for the word of the run."""
        return by_word.get(self._fields[name], otherwise)


def field_of(run: RunLayout, name: str) -> float | str:
    """A number or word of a run, of its shape or of its machine."""
    for record in (run, run.shape, run.machine):
        if name in record._fields:
            number: float | str = getattr(record, name)
            return number
    raise KeyError(name)
