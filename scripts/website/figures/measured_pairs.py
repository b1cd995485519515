"""Published runs in pairs that differ in one thing: nodes and racks, wide and narrow formats."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import NamedTuple

from flopbook.errors import UnknownName
from flopbook.prediction.reached import reached_runs
from scripts.website.figures.drawing import Figure, Sheet, box, words

_ROW, _BAR = 46.0, 15.0


class RunPair(NamedTuple):
    """Two runs by their ids, under one name."""

    name: str
    first: str
    second: str

    @property
    def ratio(self) -> float:
        """The rate of the second over that of the first."""
        return _rates()[self.second] / _rates()[self.first]


class PairKind(NamedTuple):
    """Pairs of one kind: what the two runs of each are, and what a reader should see."""

    first: str
    second: str
    pairs: tuple[RunPair, ...]
    caption: str


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
            ),
            RunPair(
                "Nemotron 3 Super, 64 GPUs",
                f"{_APRIL}nemotron-3-super-b200-mxfp8-64gpu-l288",
                f"{_APRIL}nemotron-3-super-gb200-mxfp8-64gpu-l284",
            ),
            RunPair(
                "DeepSeek-V3, 256 GPUs",
                f"{_APRIL}deepseekv3-b200-mxfp8-256gpu-l228",
                f"{_APRIL}deepseekv3-gb200-mxfp8-256gpu-l226",
            ),
            RunPair(
                "Qwen3-235B-A22B, 256 GPUs",
                f"{_APRIL}qwen3-235b-a22b-b200-mxfp8-256gpu-l257",
                f"{_APRIL}qwen3-235b-a22b-gb200-mxfp8-256gpu-l255",
            ),
        ),
        "Each pair is one model in one container, on nodes of eight B200 and in racks of GB200, as "
        "tokens per second and GPU with the nodes at 1. On eight GPUs the two machines are alike; "
        "the rack pulls ahead where the exchange of experts no longer fits a node.",
    ),
    "formats": PairKind(
        "wider",
        "narrower",
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
        "Each pair is one model in one layout, with the wider format at 1. The printed peak "
        "doubles in every pair; a step gains less, and a mixture of experts least.",
    ),
}


@functools.cache
def _rates() -> dict[str, float]:
    """Tokens per second and chip of every published run that has them."""
    return {run.row.id: run.rate.value for run in reached_runs() if run.rate.value is not None}


def figure(kind: str = "racks") -> Figure:
    """Two bars for each pair, the first of them 1 long.

    Raises UnknownName for another kind of pairs.
    """
    if kind not in KINDS:
        raise UnknownName("kind of pairs", kind, tuple(KINDS))
    shown = KINDS[kind]
    ratios = [pair.ratio for pair in shown.pairs]
    shapes, height = _rows(shown, 200.0, 400.0)
    sheet, tall = _rows(shown, 4.0, 280.0, above=True)
    facts = [f"{pair.name}: {pair.ratio:.2f}" for pair in shown.pairs]
    return Figure(
        f"Measured, {shown.second} over {shown.first}: {min(ratios):.2f} to {max(ratios):.2f}",
        f"Rates of {shown.second} over {shown.first}. {'; '.join(facts)}.",
        shown.caption,
        height,
        shapes,
        narrow=Sheet(344, tall, sheet),
        source="published runs",
    )


def _rows(
    found: PairKind, left: float, width: float, *, above: bool = False
) -> tuple[tuple[str, ...], float]:
    scale = width / max(1.0, *(pair.ratio for pair in found.pairs))
    shapes: list[str] = []
    top = 8.0
    for pair in found.pairs:
        if above:
            shapes.append(words(left, top + 8, pair.name, "start", "fb-strong"))
            top += 16
        else:
            shapes.append(words(left - 10, top + _BAR + 4, pair.name, "end"))
        for number, (name, long) in enumerate(((found.first, 1.0), (found.second, pair.ratio))):
            place = left, top + number * (_BAR + 2)
            shapes.append(box(*place, scale * long, _BAR, f"fb-c{number}", f"{name}: {long:.2f}"))
            shapes.append(
                words(left + 6, place[1] + 11.5, name, "start", f"fb-small fb-on{number}")
            )
            end = left + scale * long
            shapes.append(words(end + 5, place[1] + 11.5, f"{long:.2f}", "start", "fb-small"))
        top += _ROW
    return tuple(shapes), top
