"""What a prediction rests on that nobody asked for, and how much each of it is worth."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from flopbook.prediction.asking import DEGREES, run_of
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.known_runs import known_runs
from flopbook.prediction.layouts import OneRun, RunLayout
from flopbook.prediction.stacks import OTHER
from flopbook.prediction.step_time import step_parts

_SLOWER = 0.5  # of a network's rate, to see what it is worth
_LARGER = 4  # times the sequences of a step, to see the same


class Software(NamedTuple):
    """A stack that trained on such chips, and the step (s) of the same layout with it."""

    stack: str
    seconds: float


def layout_options(run: RunLayout, given: Mapping[str, str | None]) -> dict[str, str]:
    """The options that make the layout of a run out of those that were given."""
    return {name: text for name, text in _words(run) if given.get(name) is None}


def with_each_stack(options: Mapping[str, str | None], run: RunLayout) -> tuple[Software, ...]:
    """The step of the same layout with each stack that trained on such chips, shortest first."""
    stacks = {
        known.stack
        for known in known_runs("training_throughput")
        if known.generation == run.machine.generation and known.stack != OTHER
    }
    fixed = _as_laid_out(options, run)
    found = (Software(stack, seconds_of(run_of({**fixed, "stack": stack}))) for stack in stacks)
    return tuple(sorted(found, key=lambda software: (software.seconds, software.stack)))


def with_half_the_network(run: RunLayout) -> float:
    """The share by which a step is longer where each chip has a card of half the rate."""
    machine = run.machine
    slow = machine._replace(card_bandwidth=_SLOWER * machine.card_bandwidth)
    return seconds_of(run._replace(machine=slow)) / seconds_of(run) - 1


def with_larger_steps(options: Mapping[str, str | None], run: RunLayout) -> float:
    """The share of its time that a token takes more where a step has several times as many."""
    batch = _LARGER * run.batch
    larger = run_of({**_as_laid_out(options, run), "batch": f"{batch:.0f}"})
    return seconds_of(larger) / _LARGER / seconds_of(run) - 1


def seconds_of(run: RunLayout) -> float:
    """The step of a run, as predict has it without a calibration."""
    return math.fsum(step_parts(OneRun(run), fitted_kinds()["training_throughput"].parameters))


def _words(run: RunLayout) -> Iterator[tuple[str, str]]:
    """A layout as options, without the degrees that are one by themselves."""
    for name in ("tp", "pp", "virtual", "cp", "ep", "hsdp"):
        degree = getattr(run, name)
        if degree > 1:
            yield name, f"{degree:.0f}"
    yield "zero", f"{run.zero:.0f}"
    yield "micro_batch", f"{run.micro_batch:.0f}"
    yield "recompute", run.recompute
    if run.recompute_layers:
        yield "recompute_layers", f"{run.recompute_layers:.0f}"


def _with_batch(options: Mapping[str, str | None], run: RunLayout) -> dict[str, str | None]:
    return {**options, "batch": f"{run.batch:.0f}", "batch_tokens": None}


def _as_laid_out(options: Mapping[str, str | None], run: RunLayout) -> dict[str, str | None]:
    """The options with the layout of a run, so that no rule has anything to choose."""
    degrees = {name: f"{getattr(run, name):.0f}" for name in DEGREES}
    layers = f"{run.recompute_layers:.0f}" if run.recompute_layers else None
    recompute = {"recompute": run.recompute, "recompute_layers": layers}
    return {**_with_batch(options, run), **degrees, **recompute}
