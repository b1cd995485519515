"""The layout that the planner chooses, for models of four sizes on 16 to 8,192 chips."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from typing import NamedTuple

from flopbook.data.library import model
from flopbook.planning.planner import PlannedLayout, plan
from flopbook.planning.question import question_of
from flopbook.quantities.units import percent
from scripts.website.figures.drawing import Figure, Sheet, box, key, words
from scripts.website.figures.plotted import FigureValue

MODELS = ("llama-3-8b", "qwen-3-32b", "llama-3-70b", "llama-3-405b")
CHIPS = tuple(1 << power for power in range(4, 14))
COMMON = {"chip": "h100-sxm", "batch_tokens": "4Mi", "seq": "8192", "stack": "megatron-core"}
NEAR = 1.03  # layouts that are no slower than this are as good as the best
_MOST = 300  # of the fastest, among which the simplest is chosen
_TALL = 40.0
_CELL = "in a cell: TP · PP · CP, then MFU"


class LayoutKind(NamedTuple):
    """A kind of layout: what is used beside data parallelism, and its colour."""

    name: str
    colour: str


ALONE, TENSOR = LayoutKind("ZeRO alone", "fb-c2"), LayoutKind("and TP", "fb-c4")
STAGES, CONTEXT = LayoutKind("and PP", "fb-c1"), LayoutKind("and CP", "fb-c3")
LAYOUT_KINDS = (ALONE, TENSOR, STAGES, CONTEXT)


@functools.cache
def chosen(name: str, chips: int) -> PlannedLayout | None:
    """The simplest of the layouts that are within three percent of the fastest; None if none fits.

    Simple is what needs few kinds of parallelism, then what divides a model over few chips.
    """
    layouts = plan(question_of({**COMMON, "model": name, "chips": str(chips)}), _MOST).layouts
    near = [layout for layout in layouts if layout.seconds <= NEAR * layouts[0].seconds]
    return min(near, key=_effort, default=None)


def _effort(layout: PlannedLayout) -> tuple[int, int, bool, int, int]:
    degrees = (layout.tp, layout.pp, layout.cp)
    kinds = sum(degree > 1 for degree in degrees)
    spread = layout.tp * layout.pp * layout.cp
    return kinds, spread, layout.recompute != "none", layout.zero, layout.virtual


def kind_of_layout(layout: PlannedLayout) -> LayoutKind:
    """The furthest that a layout goes, from ZeRO alone to context parallelism."""
    if layout.cp > 1:
        return CONTEXT
    if layout.pp > 1:
        return STAGES
    return TENSOR if layout.tp > 1 else ALONE


def falls_from() -> int:
    """The fewest chips from which on the MFU of no model rises with more of them."""
    fewest = CHIPS[0]
    for name in MODELS:
        mfus = [(chips, layout.mfu) for chips in CHIPS if (layout := chosen(name, chips))]
        risen = [more for (_, low), (more, high) in itertools.pairwise(mfus) if high > low]
        fewest = max([fewest, *risen])
    return fewest


def figure() -> Figure:
    """A row for each model and a column for each number of chips; turned for a narrow screen."""
    first, last = (chosen("llama-3-70b", chips) for chips in (64, 8192))
    assert first and last
    facts = [_told(name, chips) for name in MODELS for chips in CHIPS if chosen(name, chips)]
    return Figure(
        f"From 64 to 8,192 chips at one batch, a 70B model falls from {percent(first.mfu)} to "
        f"{percent(last.mfu)} MFU",
        f"Layouts that the planner chooses on H100. {'; '.join(facts)}.",
        "Degrees and MFU predicted for Megatron Core, at 4 "
        "Mi tokens a step in sequences of 8,192. The rest of the chips are data-parallel. Of "
        "layouts within 3 percent of the fastest the simplest is shown. From "
        f"{falls_from():,} chips on, the more of them the same batch feeds, the lower the MFU.",
        22 + _TALL * len(MODELS) + 54,
        tuple(_wide()),
        narrow=Sheet(344, 22 + _TALL * len(CHIPS) + 88, tuple(_tall())),
        readings=tuple(
            FigureValue(f"{model(name).name} on {chips:,}", _degrees(layout), layout.mfu, "percent")
            for name in MODELS
            for chips in CHIPS
            if (layout := chosen(name, chips))
        ),
    )


def _wide() -> Iterator[str]:
    step = 54.0
    yield words(90, 14, "chips", "end", "fb-small")
    for column, chips in enumerate(CHIPS):
        yield words(96 + (column + 0.5) * step, 14, f"{chips:,}", kind="fb-small")
    for row, name in enumerate(MODELS):
        top = 22 + row * _TALL
        yield words(90, top + 24, model(name).name.replace("Llama 3.1", "Llama 3"), "end")
        for column, chips in enumerate(CHIPS):
            yield from _cell(name, chips, (96 + column * step, top, step - 3, _TALL - 3))
    foot = 22 + _TALL * len(MODELS) + 10
    for number, kind in enumerate(LAYOUT_KINDS):
        yield from key(96 + 100 * number, foot, kind.name, kind.colour)
    yield words(96 + 100 * len(LAYOUT_KINDS), foot + 10, "empty: does not fit", "start")
    yield words(96, foot + 30, _CELL, "start")


def _tall() -> Iterator[str]:
    step = 72.0
    yield words(46, 14, "chips", "end", "fb-small")
    for column, name in enumerate(MODELS):
        yield words(52 + (column + 0.5) * step, 14, name.split("-")[-1].upper(), kind="fb-small")
    for row, chips in enumerate(CHIPS):
        top = 22 + row * _TALL
        yield words(46, top + 24, f"{chips:,}", "end")
        for column, name in enumerate(MODELS):
            yield from _cell(name, chips, (52 + column * step, top, step - 3, _TALL - 3))
    foot = 22 + _TALL * len(CHIPS) + 10
    for number, kind in enumerate(LAYOUT_KINDS):
        yield from key(20 + 160 * (number % 2), foot + 20 * (number // 2), *kind)
    yield words(20, foot + 50, "empty: does not fit", "start")
    yield words(20, foot + 70, _CELL, "start")


def _cell(name: str, chips: int, place: tuple[float, float, float, float]) -> Iterator[str]:
    layout = chosen(name, chips)
    x, y, width, height = place
    if layout is None:
        yield box(x, y, width, height, "fb-hollow", f"{name} does not fit on {chips:,} chips")
        return
    colour = kind_of_layout(layout).colour
    ink = f"fb-small fb-on{colour[-1]}"
    degrees = f"{layout.tp} · {layout.pp} · {layout.cp}"
    yield box(x, y, width, height, colour, _told(name, chips))
    yield words(x + width / 2, y + 15, degrees, kind=ink)
    yield words(x + width / 2, y + 30, percent(layout.mfu), kind=ink)


def _told(name: str, chips: int) -> str:
    layout = chosen(name, chips)
    assert layout
    return f"{model(name).name} on {chips:,}: {_degrees(layout)}, {percent(layout.mfu)}"


def _degrees(layout: PlannedLayout) -> str:
    return f"TP {layout.tp}, PP {layout.pp}, CP {layout.cp}, DP {layout.dp}"
