"""What predict assumed where no option says it, with the size of each assumption."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from flopbook.evaluation.answers import counted
from flopbook.formulas.omissions import TENTH, size_of
from flopbook.planning.assumptions import (
    fastest_layout,
    layout_options,
    seconds_of,
    with_each_stack,
    with_half_the_network,
    with_larger_steps,
)
from flopbook.prediction.asking import OPEN_BATCH
from flopbook.prediction.bands import SOFTWARE
from flopbook.prediction.networks import NETWORK
from flopbook.prediction.options import flag_of
from flopbook.quantities.units import format_quantity

if TYPE_CHECKING:
    from flopbook.prediction.asking import Prediction
    from flopbook.prediction.layouts import RunLayout

Options = Mapping[str, str | None]
# What the line of the layout shows.
_OF_LAYOUT = (
    *("layout", "micro-batch size", "gradient accumulation steps", "ZeRO stage", "recompute"),
    "chunks of a stage",
)
OPEN_SOFTWARE = "assumed: software as in published runs that do not name it (--stack)"
_NO_MEMORY = "no memory: "


def faster_rows(prediction: Prediction, options: Options) -> list[tuple[str, str, str]]:
    """The fastest layout that a plan finds, where it saves a tenth or ours cannot run."""
    # A plan is not calibrated, so the two would not be of one kind.
    is_open = any(name in prediction.inferred for name in _OF_LAYOUT)
    if prediction.calibration or not (is_open or cannot_run(prediction.run)):
        return []
    layout = fastest_layout(options, prediction.run)
    if layout is None:
        return []
    share = layout.seconds / prediction.seconds - 1
    fits = prediction.memory is not None and prediction.memory.fits
    if fits and not cannot_run(prediction.run) and share > -TENTH:
        return []
    words = " ".join(f"{flag_of(n)} {text}" for n, text in layout_options(layout, options).items())
    seconds = f"{layout.seconds:.3g} s"
    return [("a faster layout", seconds, f"{size_of(share)} with {words} (flopbook plan)")]


def cannot_run(run: RunLayout) -> str:
    """Why a layout that a rule chose cannot share the sequences of a step; empty if it can."""
    if run.batch % run.dp == 0:
        return ""
    return (
        f"cannot run as laid out here: {counted(int(run.batch), 'sequence')} do not divide over "
        f"{counted(int(run.dp), 'replica')}"
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
    of_layout = [name for name in inferred if name in _OF_LAYOUT]
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
