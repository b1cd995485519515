"""Published runs in pairs that differ in one thing: nodes and racks, wide and narrow formats."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import NamedTuple

from flopbook.errors import UnknownName
from flopbook.hardware.chip import chip
from flopbook.prediction.reached import reached_runs
from scripts.website.figures.drawing import Figure, Sheet, box, path, words
from scripts.website.figures.plotted import FigureValue

_ROW, _BAR = 46.0, 15.0
_FIRST = 40.0  # the top of the first bar
_VALUE = 32.0  # pixels that a ratio takes


class RunPair(NamedTuple):
    """Two runs by their ids, under one name."""

    name: str
    first: str
    second: str
    layouts: str = ""  # how the two differ in what the figure is about

    @property
    def ratio(self) -> float:
        """The rate of the second over that of the first."""
        return _rates()[self.second] / _rates()[self.first]

    @property
    def said(self) -> str:
        """The name and the layouts on one line."""
        return f"{self.name}, {self.layouts}" if self.layouts else self.name


class PairKind(NamedTuple):
    """Pairs of one kind: what the two runs of each are, and what a reader should see."""

    first: str
    second: str
    pairs: tuple[RunPair, ...]
    title: str
    caption: str
    peaks: Callable[[], float]


_APRIL = "bridge-26.04.01-pre-"
KINDS: Mapping[str, PairKind] = {
    "racks": PairKind(
        "nodes of 8",
        "racks",
        (
            RunPair(
                "Qwen3-30B-A3B, 8 GPUs",
                f"{_APRIL}qwen3-30b-a3b-b200-mxfp8-8gpu-l247",
                f"{_APRIL}qwen3-30b-a3b-gb200-mxfp8-8gpu-l245",
                "EP 8 on both",
            ),
            RunPair(
                "Nemotron 3 Super, 64 GPUs",
                f"{_APRIL}nemotron-3-super-b200-mxfp8-64gpu-l288",
                f"{_APRIL}nemotron-3-super-gb200-mxfp8-64gpu-l284",
                "EP 64 on both",
            ),
            RunPair(
                "DeepSeek-V3, 256 GPUs",
                f"{_APRIL}deepseekv3-b200-mxfp8-256gpu-l228",
                f"{_APRIL}deepseekv3-gb200-mxfp8-256gpu-l226",
                "EP 32 to EP 64",
            ),
            RunPair(
                "Qwen3-235B-A22B, 256 GPUs",
                f"{_APRIL}qwen3-235b-a22b-b200-mxfp8-256gpu-l257",
                f"{_APRIL}qwen3-235b-a22b-gb200-mxfp8-256gpu-l255",
                "EP 8 to EP 32",
            ),
        ),
        "The same models train {low:.2f} to {high:.2f} times as fast in racks as on nodes of 8",
        "Each bar is one model in one container, in racks of GB200 over nodes of eight B200, by "
        "tokens per second and GPU, with the EP degree on either. Dashed: the ratio of the printed "
        "peaks. On eight GPUs the two machines are alike. Two large mixtures gain more than the "
        "peaks explain, the third less, though its exchange crosses nodes.",
        lambda: chip("nvidia/gb200-gpu").peak("fp8") / chip("nvidia/b200").peak("fp8"),
    ),
    "formats": PairKind(
        "the wider format",
        "the narrower one",
        (
            RunPair(
                "DeepSeek-V3: bf16, MXFP8",
                "bridge-25.11-deepseekv3-gb300-bf16-256gpu",
                "bridge-25.11-deepseekv3-gb300-fp8-mx-256gpu",
            ),
            RunPair(
                "Llama 3 8B: bf16, fp8",
                "titan-h100-t1-fsdp-compile-tps",
                "titan-h100-t1-fsdp-compile-fp8-tps",
            ),
            RunPair(
                "Llama 3 70B: MXFP8, NVFP4",
                f"{_APRIL}llama3-70b-gb200-mxfp8-64gpu-l205",
                f"{_APRIL}llama3-70b-gb200-nvfp4-64gpu-l206",
            ),
            RunPair(
                "Llama 3.1 405B: MXFP8, NVFP4",
                f"{_APRIL}llama3.1-405b-gb200-mxfp8-256gpu-l217",
                f"{_APRIL}llama3.1-405b-gb200-nvfp4-256gpu-l218",
            ),
        ),
        "The peaks double, and a step gets {low:.2f} to {high:.2f} times as fast",
        "Each bar is one model in one layout, the narrower format over the wider one by tokens per "
        "second and GPU. Dashed: the ratio of the printed peaks, the same in every pair. A mixture "
        "of experts gains least, the largest dense model most; the GPUs differ from pair to pair.",
        lambda: chip("nvidia/gb200-gpu").peak("fp8") / chip("nvidia/gb200-gpu").peak("bf16"),
    ),
}


@functools.cache
def _rates() -> dict[str, float]:
    """Tokens per second and chip of every published run that has them."""
    return {run.row.id: run.rate.value for run in reached_runs() if run.rate.value is not None}


def figure(kind: str = "racks") -> Figure:
    """A bar for each pair from one, where nothing is gained, with a line at the ratio of the peaks.

    Raises UnknownName for another kind of pairs.
    """
    if kind not in KINDS:
        raise UnknownName("kind of pairs", kind, tuple(KINDS))
    found = KINDS[kind]
    named = [(pair.name, pair.ratio) for pair in found.pairs]
    ratios = [ratio for _, ratio in named]
    shapes, height = _rows(found, 196.0, 412.0)
    sheet, tall = _rows(found, 8.0, 310.0, above=True)
    facts = [f"{pair.name}: {pair.ratio:.2f}" for pair in found.pairs]
    return Figure(
        found.title.format(low=min(ratios), high=max(ratios)),
        f"Rates of {found.second} over {found.first}, beside a ratio of the printed peaks of "
        f"{found.peaks():.3g}. {'; '.join(facts)}.",
        found.caption,
        height,
        shapes,
        narrow=Sheet(344, tall, sheet),
        readings=(
            *(FigureValue(f"{found.second} over {found.first}", *pair) for pair in named),
            FigureValue("printed peaks", f"{found.second} over {found.first}", found.peaks()),
        ),
    )


def _rows(
    found: PairKind, left: float, width: float, *, above: bool = False
) -> tuple[tuple[str, ...], float]:
    peaks, least = found.peaks(), 0.9
    most = max(peaks, *(pair.ratio for pair in found.pairs)) + 0.08
    across = functools.partial(_across, left, width / (most - least), least)
    one, bound = across(1.0), across(peaks)
    pitch = _ROW - 14
    if not above and any(pair.layouts for pair in found.pairs):
        pitch += 8  # two lines of words
    shapes: list[str] = []
    top = _FIRST
    for pair in found.pairs:
        if above:
            shapes.append(words(left, top + 10, pair.said, "start", "fb-strong"))
            top += 16
        elif pair.layouts:
            shapes.append(words(left - 10, top + 8, pair.name, "end"))
            shapes.append(words(left - 10, top + 21, pair.layouts, "end", "fb-small"))
        else:
            shapes.append(words(left - 10, top + 14, pair.name, "end"))
        end = across(pair.ratio)
        tip = f"{pair.name}: {pair.ratio:.2f}"
        shapes.append(box(min(one, end), top, abs(end - one), _BAR + 4, "fb-c0", tip))
        beside = max(one, end) + 6
        if beside - 4 < bound < beside + _VALUE:
            beside = bound + 6  # else the dashed line would run through it
        shapes.append(words(beside, top + 14, f"{pair.ratio:.2f}", "start", "fb-strong"))
        below = top + _BAR + 9
        # the lines must cross neither a name nor the words over them
        over = top - 2 if above else max(below - pitch - 2, _FIRST - 10)
        shapes.append(path([(one, over), (one, below)], "fb-stroke"))
        shapes.append(path([(bound, over), (bound, below)], "fb-dashed"))
        top += pitch
    return (*shapes, *_heads(found, one, bound)), top + 6


def _across(left: float, scale: float, least: float, ratio: float) -> float:
    """The place of a ratio."""
    return left + (ratio - least) * scale


def _heads(found: PairKind, one: float, bound: float) -> list[str]:
    """What the two lines are: beside each other, or one over the other where they are close."""
    base = f"as {found.first}"
    peaks = f"the peaks: {found.peaks():.3g}"
    if bound - one > 150:
        return [
            words(one, 24, base, "start", "fb-small"),
            words(bound, 24, peaks, "end", "fb-small"),
        ]
    return [
        words(one, 24, base, "middle", "fb-small"),
        words(bound, 10, peaks, "start", "fb-small"),
    ]
