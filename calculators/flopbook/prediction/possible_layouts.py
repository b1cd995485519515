"""Layouts that people ask for and no framework starts: each is refused with what would do.

Rows of publications are predicted as they stand; a question that does not add up is no question.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from flopbook.data.run_degrees import DIVIDING, contradiction
from flopbook.errors import FlopbookError
from flopbook.evaluation.answers import counted
from flopbook.evaluation.calculator import calculate
from flopbook.formulas.conditions import tp_divides_heads
from flopbook.prediction.chunks import ENDS
from flopbook.prediction.layout_memory import memory_options
from flopbook.prediction.layouts import OPEN_MICRO_BATCH, RunLayout
from flopbook.prediction.machines import lacks_format
from flopbook.prediction.named_models import ModelName
from flopbook.prediction.options import flag_of
from flopbook.prediction.transformers import Transformer
from flopbook.quantities.whole_numbers import divisors

MOST_OFFERED = 8  # sizes that a message lists


def possible(
    model: ModelName, run: RunLayout, sequences: int | None, *, is_open: bool
) -> RunLayout:
    """The run, with an open micro-batch that divides the step of so many sequences.

    Raises FlopbookError, with sizes that would do, for a layout that does not exist. One that is
    left to a rule is nobody's mistake: the answer says that it cannot run, and which would.
    """
    if sequences and not (is_open and sequences % int(run.dp)):
        run = _with_whole_batches(run, sequences)
    if not is_open:
        _check_layout(model, run)
    return run


def _with_whole_batches(run: RunLayout, sequences: int) -> RunLayout:
    """The run whose replicas have equally many sequences, in whole micro-batches."""
    replicas = int(run.dp)
    if sequences % replicas:
        raise FlopbookError(_not_shared(sequences, replicas))
    share = sequences // replicas
    size = run.micro_batch
    if share % size == 0:
        return run
    whole = divisors(share)
    if OPEN_MICRO_BATCH in run.inferred:
        size = max(part for part in whole if part <= max(size, 1))
        return run._replace(micro_batch=float(size), micro_batches=share / size)
    usable = ", ".join(map(str, whole[-MOST_OFFERED:]))
    raise FlopbookError(
        f"--micro-batch {size:g} does not divide the {counted(share, 'sequence')} of each of "
        f"{counted(replicas, 'replica')}; use {usable}"
    )


def _not_shared(sequences: int, replicas: int) -> str:
    """How to mend a step whose sequences are no multiple of its replicas."""
    below = sequences // replicas * replicas
    if not below:
        return (
            f"a step of {counted(sequences, 'sequence')} leaves some of {replicas:,} replicas "
            f"without any; use {replicas:,} sequences, or more --tp, --pp or --cp"
        )
    return (
        f"a step of {counted(sequences, 'sequence')} does not divide over {replicas:,} replicas; "
        f"use {below:,} or {below + replicas:,} sequences"
    )


def _check_layout(model: ModelName, run: RunLayout) -> None:
    """Raise FlopbookError for degrees that heads, experts, layers or sequence do not allow."""
    check_experts(run.shape, run.ep)
    options = memory_options(model, run)
    if not run.machine.memory:  # the rules are those of the layout, whatever the chip holds
        del options["chip"]
    calculate("memory", **options)
    chunks, most = run.pp * run.virtual, run.shape.layers + ENDS
    if run.virtual > 1 and chunks > most:
        raise FlopbookError(
            f"--virtual {run.virtual:g} on {run.pp:g} stages are {chunks:g} chunks of "
            f"{run.shape.layers:g} layers; use at most {max(most // run.pp, 1):g}"
        )


def check_experts(shape: Transformer, ep: float) -> None:
    """Raise FlopbookError where a model without experts is to divide them."""
    if ep > 1 and not shape.is_mixture:
        raise FlopbookError(f"--ep {ep:g} divides experts, and the model has none; leave it out")


def check_served_heads(heads: float, tp: int) -> None:
    """Raise FlopbookError where attention heads do not divide over the chips of a server."""
    if heads:
        tp_divides_heads.check({"heads": heads, "tp": tp})


def check_format(layout: RunLayout) -> None:
    """Raise FlopbookError where a chip is not known to multiply in the format."""
    name, precision = layout.machine.chip, layout.precision
    if lacks_format(name, precision):
        raise FlopbookError(f"{name} has no {precision} peak on record; train in --dtype bf16")


def check_groups(layout: RunLayout) -> None:
    """Groups that each hold everything have whole replicas, and something that ZeRO divides."""
    if layout.hsdp > 1 and not layout.zero:
        raise FlopbookError(
            f"--hsdp {layout.hsdp} groups divide what ZeRO shards; give --zero 1 to 3"
        )
    if layout.dp % layout.hsdp:
        raise FlopbookError(f"--hsdp {layout.hsdp} does not divide --dp {layout.dp:g} replicas")


def check_degrees(degrees: Mapping[str, int], chips: int) -> None:
    """Degrees that are given divide the chips, and multiply to them where all are given."""
    if contradiction(degrees, chips) is not None:
        named = [name for name in DIVIDING if name in degrees]
        sizes = " ".join(f"{flag_of(name)} {degrees[name]}" for name in named)
        product = math.prod(degrees[name] for name in named)
        raise FlopbookError(
            f"{sizes} does not make {chips} chips: give a multiple of {product}, or other degrees"
        )
