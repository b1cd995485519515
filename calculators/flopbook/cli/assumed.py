"""What predict assumed where no option says it, with the size of each assumption."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from flopbook.evaluation.answers import counted
from flopbook.formulas.omissions import size_of
from flopbook.planning.assumptions import (
    layout_options,
    seconds_of,
    with_each_stack,
    with_half_the_network,
    with_larger_steps,
)
from flopbook.prediction.asking import OPEN_BATCH
from flopbook.prediction.bands import SOFTWARE
from flopbook.prediction.layouts import LAYOUT_PARTS
from flopbook.prediction.networks import NETWORK
from flopbook.prediction.options import flag_of
from flopbook.quantities.units import format_quantity, percent

if TYPE_CHECKING:
    from flopbook.prediction.layouts import RunLayout
    from flopbook.prediction.predicted import Prediction

Options = Mapping[str, str | None]
OPEN_SOFTWARE = "assumed: software as in published runs that do not name it (--stack)"
_NO_MEMORY = "no memory: "


def faster_rows(prediction: Prediction, options: Options) -> list[tuple[str, str, str]]:
    """A layout that takes less, or one that runs where ours cannot."""
    found = prediction.faster
    if found is None:
        return []
    share = found.seconds / prediction.seconds - 1
    chosen = layout_options(found.run, options)
    words = " ".join(f"{flag_of(name)} {text}" for name, text in chosen.items())
    title = "a faster layout" if share < 0 else "a layout that runs"
    return [(title, f"{found.seconds:.3g} s", f"{size_of(share)} with {words}")]


def cannot_run(run: RunLayout) -> str:
    """Why a layout that a rule chose cannot share the sequences of a step; empty if it can."""
    if run.batch % run.dp == 0:
        return ""
    return (
        f"cannot run as laid out here: {counted(int(run.batch), 'sequence')} do not divide over "
        f"{counted(int(run.dp), 'replica')}"
    )


def what_runs(prediction: Prediction) -> str:
    """What stands before a step that not all chips, or none, can run; empty if all do."""
    if not prediction.idle:
        return cannot_run(prediction.run)
    used, sequences = int(prediction.run.chips), counted(int(prediction.run.batch), "sequence")
    chips = used + prediction.idle
    return (
        f"runs on {used:,} of {chips:,} chips: no layout of all of them divides {sequences} and "
        f"fits; idle: {prediction.idle:,} ({percent(prediction.idle / chips)})"
    )


def why_no_memory(prediction: Prediction) -> str:
    """Why the memory of a layout has no number."""
    if cannot_run(prediction.run):
        return "no such layout"
    problems = (name for name in prediction.inferred if name.startswith(_NO_MEMORY))
    return "".join(problems).removeprefix(_NO_MEMORY)


def training_notes(prediction: Prediction, options: Options) -> Iterator[str]:
    """A line for each assumption that is no part of the layout, one for all that are."""
    run, inferred = prediction.run, prediction.inferred
    of_layout = [name for name in inferred if name in LAYOUT_PARTS]
    if of_layout:
        yield f"assumed, as the line of the layout has it: {', '.join(of_layout)}"
    if OPEN_BATCH in inferred:
        size = size_of(with_larger_steps(options, run))
        yield (
            f"assumed: a step of {counted(int(run.batch), 'sequence')} (--batch-tokens); with four "
            f"times as many, the time of a token changes ({size})"
        )
    if NETWORK in inferred:
        yield network_note(run)
    if SOFTWARE in inferred:
        yield _software(run, options)
    known = (*of_layout, OPEN_BATCH, NETWORK, SOFTWARE)
    others = [name for name in inferred if name not in known and not name.startswith(_NO_MEMORY)]
    if others:
        yield f"assumed: {', '.join(others)}"


def row_notes(prediction: Prediction) -> Iterator[str]:
    """What a row of a file left open."""
    if prediction.inferred:
        yield f"assumed, as the row does not say it: {', '.join(prediction.inferred)}"


def network_note(run: RunLayout) -> str:
    """The rate of a card, and what half of it would cost."""
    rate = format_quantity(run.machine.card_bandwidth, "byte/s", digits=3)
    size = size_of(with_half_the_network(run))
    return (
        f"assumed: each chip sends {rate} beyond its node, one way (--network); "
        f"at half of that the step takes longer ({size})"
    )


def _software(run: RunLayout, options: Options) -> str:
    """What the same layout takes with the fastest and with the slowest stack on such chips."""
    found = with_each_stack(options, run)
    if not found:
        return f"{OPEN_SOFTWARE}; no run on such chips names any"
    ours = seconds_of(run)
    ends = dict.fromkeys((found[0], found[-1]))
    words = (f"{size_of(end.seconds / ours - 1)} with {end.stack}" for end in ends)
    return f"{OPEN_SOFTWARE}; the same layout takes {', '.join(words)}"
