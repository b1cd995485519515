"""What a chip holds and sends in one step under each kind of parallelism, side by side."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from flopbook.architectures.shape import shape
from flopbook.quantities.units import two_digits
from scripts.website.figures.drawing import Figure, Sheet, arrow, box, key, words
from scripts.website.figures.plotted import FigureValue

DENSE, SPARSE = "llama-3-70b", "deepseek-v3"
GROUP = 8  # chips of a group; four of them are drawn
_DRAWN = 4
_BYTES = 2  # of a number: weights, gradients and activations alike
_CHIP, _STEP, _INNER = 34.0, 42.0, 26.0  # pixels: a chip, from one to the next, what it holds
_PANEL, _ROW = 160.0, 178.0
_BAR = 96.0  # pixels of the longest bar
_WEIGHTS, _TOKENS, _SENT = "fb-c0", "fb-c2", "fb-c1"


class Kind(NamedTuple):
    """A kind of parallelism: name, how weights and tokens are cut, what moves and when.

    A cut is whole, rows (a strip for each chip), columns, or layers.
    """

    name: str
    weights: str
    tokens: str
    moves: str
    when: str


KINDS = {
    "dp": Kind("Data, DP", "whole", "rows", "gradients, summed", "hides behind backward"),
    "fsdp": Kind("FSDP", "rows", "rows", "weights twice, gradients", "hides behind both passes"),
    "tp": Kind(
        "Tensor, TP with SP", "columns", "whole", "activations", "mostly on the critical path"
    ),
    "pp": Kind("Pipeline, PP", "layers", "whole", "activations, once", "hides behind the passes"),
    "cp": Kind("Context, CP", "whole", "columns", "keys and values", "hides behind attention"),
    "ep": Kind("Expert, EP", "experts", "rows", "copies of tokens", "partly on the critical path"),
}


def moved(kind: str, sequences: int = GROUP, length: int = 8192) -> float:
    """Bytes that a chip of a group of `GROUP` sends in one step, forward and backward.

    The group trains `sequences` of `length` tokens, each chip one share; with context parallelism
    the same tokens are one sequence. What stays on a chip is not counted.
    """
    tokens = sequences * length
    away = (GROUP - 1) / GROUP
    dense = shape(DENSE)
    width, layers = dense.pick("d_model").value, dense.pick("layers").value
    weights = _BYTES * dense.pick("params").value
    if kind == "dp":
        return 2 * weights * away
    if kind == "fsdp":
        return 3 * weights * away
    if kind == "tp":  # two blocks, each with two halves of an all-reduce forward and three backward
        return 10 * _BYTES * tokens * width * layers * away
    if kind == "pp":  # activations on, gradients back, at the one border that most stages have
        return 2 * _BYTES * tokens * width
    if kind == "cp":  # keys and values forward, again backward, and their gradients
        cached = 2 * dense.pick("kv_heads").value * dense.pick("head_dim").value
        return 3 * _BYTES * cached * tokens * layers * away
    return _of_experts(tokens / GROUP) * away


def _of_experts(tokens: float) -> float:
    """Dispatch and combine, forward and backward, of the tokens of a chip."""
    sparse = shape(SPARSE)
    copies = tokens * sparse.pick("experts_per_token").value
    layers = sparse.pick("layers").value - sparse.pick("dense_layers").value
    return float(4 * _BYTES * copies * sparse.pick("d_model").value * layers)


def figure() -> Figure:
    """Six panels; the bars below them have one scale."""
    sent = {kind: moved(kind) for kind in KINDS}
    most = max(sent, key=lambda kind: sent[kind])
    least = min(sent, key=lambda kind: sent[kind])
    facts = [
        f"{kind.name}: {kind.moves}, {two_digits(sent[name], 'byte')}, {kind.when}"
        for name, kind in KINDS.items()
    ]
    return Figure(
        f"TP sends {sent[most] / sent[least]:,.0f} times the bytes of a pipeline for the same step"
        if (most, least) == ("tp", "pp")
        else "What moves in one step under each parallelism",
        f"Bytes that one of {GROUP} chips sends in a step of 65,536 tokens of Llama 3 70B, for "
        f"expert parallelism of DeepSeek-V3. {'; '.join(facts)}.",
        f"Four of {GROUP} chips under each kind. Above the arrow is what a chip holds, below it "
        f"what it sends in a step of {GROUP} sequences of 8,192 tokens, in bf16, and what hides "
        "that. Llama 3 70B; for EP, DeepSeek-V3.",
        2 * _ROW + 54,
        tuple(_sheet(sent, 3, 640.0)),
        narrow=Sheet(344, 3 * _ROW + 54, tuple(_sheet(sent, 2, 344.0))),
        readings=tuple(FigureValue("sent", KINDS[kind].name, sent[kind], "byte") for kind in KINDS),
    )


def _sheet(sent: dict[str, float], columns: int, width: float) -> Iterator[str]:
    """The panels in so many columns, and what the colours mean."""
    pitch = width / columns
    for number, kind in enumerate(KINDS):
        left = number % columns * pitch + (pitch - _PANEL) / 2
        top = number // columns * _ROW
        yield from _panel(kind, sent, left, top)
    foot = -(-len(KINDS) // columns) * _ROW + 12
    first = (width - 300) / 2
    yield from key(first, foot, "weights held", _WEIGHTS)
    yield from key(first + 160, foot, "tokens worked on", _TOKENS)
    yield from key(first, foot + 20, "sent by a chip in a step", _SENT)


def _panel(kind: str, sent: dict[str, float], left: float, top: float) -> Iterator[str]:
    kind_words = KINDS[kind]
    yield words(left, top + 18, kind_words.name, "start", "fb-strong")
    for chip in range(_DRAWN):
        x = left + chip * _STEP
        yield box(x, top + 28, _CHIP, 64, "fb-hollow", f"chip {chip}")
        yield from _share(x + 4, top + 32, 30.0, (kind_words.weights, chip), _WEIGHTS)
        yield from _share(x + 4, top + 66, 22.0, (kind_words.tokens, chip), _TOKENS)
    yield from _ways(kind, left, top + 102)
    yield words(left, top + 120, kind_words.moves, "start", "fb-small")
    length = max(1.5, _BAR * sent[kind] / max(sent.values()))
    yield box(left, top + 128, length, 12, _SENT, two_digits(sent[kind], "byte"))
    yield words(left + length + 6, top + 138, two_digits(sent[kind], "byte"), "start", "fb-small")
    yield words(left, top + 156, kind_words.when, "start", "fb-small")


def _ways(kind: str, left: float, y: float) -> Iterator[str]:
    """Who sends to whom: a stage to the next one in each pass, else each chip to all."""
    if kind == "pp":
        middles = [left + chip * _STEP + _CHIP / 2 for chip in range(_DRAWN)]
        for middle, following in pairwise(middles):
            yield arrow((middle + 3, y), (following - 3, y))
        return
    right = left + (_DRAWN - 1) * _STEP + _CHIP
    yield arrow((left + _PANEL / 2, y), (right, y))
    yield arrow((left + _PANEL / 2, y), (left, y))


def _share(x: float, y: float, height: float, cut: tuple[str, int], colour: str) -> Iterator[str]:
    """What a chip holds of an array, filled in its outline."""
    way, chip = cut
    part = 1 / _DRAWN
    if way == "whole":
        yield box(x, y, _INNER, height, colour)
    elif way == "columns":
        yield box(x + chip * part * _INNER, y, part * _INNER, height, colour)
    elif way == "experts":  # what every token visits is whole, the experts are divided
        yield box(x, y, _INNER, height * 0.3, colour)
        remaining = height * 0.7
        yield box(x, y + height * 0.3 + chip * part * remaining, _INNER, part * remaining, colour)
    else:  # rows of a matrix or whole layers: strips from the top
        yield box(x, y + chip * part * height, _INNER, part * height, colour)
    yield box(x, y, _INNER, height, "fb-hollow")
