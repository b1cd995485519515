"""One layer of a server on three lanes: while it reads a prompt, and while it writes tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from flopbook.architectures.shape import shape
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip as find_chip
from flopbook.quantities.units import format_quantity, percent
from scripts.website.figures.drawing import WIDTH, Figure, Sheet, labelled, words
from scripts.website.figures.overlap import Bar, lane_readings
from scripts.website.figures.shapes import SHEET

MODEL, CHIP, CHIPS, CONTEXT = "llama-3-70b", "h100-sxm", 8, 8192
BYTES = 2  # of a number in bf16
LANES = ("tensor cores", "memory", "links")
_CORES, _MEMORY, _LINKS = range(3)
_LANE, _TITLE, _GAP, _THIN = 22.0, 20.0, 18.0, 1.5
_PANEL = _TITLE + len(LANES) * _LANE + _GAP


class ServedPart(NamedTuple):
    """What a layer does before its next all-reduce: seconds at the peak, and of reading."""

    name: str
    arithmetic: float
    reading: float

    @property
    def seconds(self) -> float:
        """The longer of the two: both run at once."""
        return max(self.arithmetic, self.reading)


def parts(tokens: int, sequences: int) -> tuple[ServedPart, ServedPart]:
    """Attention and feed-forward block of a layer, for this many tokens of some sequences.

    A prompt has all its tokens at once and reads no cache; else each sequence brings one token.
    """
    model, chip = shape(MODEL), find_chip(CHIP)
    held = calculate("params", model=MODEL)
    peak, rate = CHIPS * chip.peak("bf16"), CHIPS * chip.memory_bandwidth()
    weights = {name: float(held[name]) / model.layers for name in ("attention", "ffn")}
    multiplied = {name: 2 * count * tokens / peak for name, count in weights.items()}
    read = {name: BYTES * count / rate for name, count in weights.items()}
    is_prompt = tokens > sequences
    pairs = CONTEXT * CONTEXT / 2 if is_prompt else sequences * CONTEXT
    scores = 4 * pairs * model.heads * model.head_dim / peak
    cached = calculate("kv-cache", model=MODEL, seq=CONTEXT)["bytes"] / model.layers
    cache = 0.0 if is_prompt else sequences * cached / rate
    return (
        ServedPart("attention", multiplied["attention"] + scores, read["attention"] + cache),
        ServedPart("feed-forward", multiplied["ffn"], read["ffn"]),
    )


def reduction(tokens: int) -> float:
    """Seconds of one of a layer's two all-reduces: of a whole prompt, or of a token of each user.

    Those of a prompt are as long as their bytes take, those of a step as its kernels were timed.
    """
    model = shape(MODEL)
    if tokens == CONTEXT:
        found = calculate("prefill", model=MODEL, chip=CHIP, tp=CHIPS, seq=CONTEXT)
        return float(found["message_seconds"]) / (2 * model.layers)
    size = BYTES * tokens * model.d_model
    timed = calculate("collective", chip=CHIP, chips=CHIPS, bytes=size, op="all-reduce")
    return float(timed["seconds"])


def bars(tokens: int, sequences: int) -> list[Bar]:
    """What each lane does in a layer, one part after the other, each followed by an all-reduce."""
    drawn: list[Bar] = []
    now, sent = 0.0, reduction(tokens)
    for part in parts(tokens, sequences):
        drawn.append(Bar(_CORES, now, now + part.arithmetic, part.name, "c0"))
        drawn.append(Bar(_MEMORY, now, now + part.reading, part.name, "c1"))
        now += part.seconds
        drawn.append(Bar(_LINKS, now, now + sent, "all-reduce", "c6"))
        now += sent
    return drawn


PANELS = (
    ("it reads a prompt", CONTEXT, 1),
    ("it writes for one user", 1, 1),
    ("it writes for 64 users", 64, 64),
)


def busy(found: Sequence[Bar], lane: int) -> float:
    """The share of the layer in which a lane works."""
    works = sum(bar.end - bar.start for bar in found if bar.lane == lane)
    return works / max(bar.end for bar in found)


def figure() -> Figure:
    """Three panels, each a layer from end to end; their times stand above them."""
    drawn = [(text, bars(tokens, sequences)) for text, tokens, sequences in PANELS]
    prompt, alone, _ = (busy(found, _CORES) for _, found in drawn)
    facts = "; ".join(f"{_told(text, found)}: {_shares(found)}" for text, found in drawn)
    return Figure(
        f"Of a layer's time the tensor cores work {percent(prompt)} while it reads a prompt and "
        f"{percent(alone, 1)} while it writes for one user",
        f"{facts}.",
        f"One of {shape(MODEL).layers:.0f} layers of Llama 3 70B in bf16 on eight H100, TP 8, "
        f"contexts of {CONTEXT:,} tokens, by the formulas of this chapter; each panel has its own "
        "scale. Arithmetic and reading run at once, and the longer sets the time; nothing runs "
        "beside a message, and those of a token are nearly all latency.",
        len(drawn) * _PANEL - _GAP + 6,
        tuple(_panels(drawn, 96.0, WIDTH)),
        narrow=Sheet(SHEET, len(drawn) * _PANEL - _GAP + 6, tuple(_panels(drawn, 82.0, SHEET))),
        readings=lane_readings(drawn, LANES, "s"),
    )


def _told(text: str, found: Sequence[Bar]) -> str:
    return f"{text}: {format_quantity(max(bar.end for bar in found), 's')} a layer"


def _shares(found: Sequence[Bar]) -> str:
    return ", ".join(
        f"{name} busy {percent(busy(found, lane), 1)}" for lane, name in enumerate(LANES)
    )


def _panels(drawn: Sequence[tuple[str, Sequence[Bar]]], left: float, width: float) -> Iterator[str]:
    for number, (text, found) in enumerate(drawn):
        top = number * _PANEL
        yield words(left, top + 12, _told(text, found), "start", "fb-strong")
        scale = (width - left - 6) / max(bar.end for bar in found)
        for lane, name in enumerate(LANES):
            yield words(left - 8, top + _TITLE + lane * _LANE + 15, name, "end")
        for bar in found:
            wide = max((bar.end - bar.start) * scale, _THIN)
            place = (left + bar.start * scale, top + _TITLE + bar.lane * _LANE, wide, _LANE - 4)
            yield labelled(place, bar.text if wide > 7 * len(bar.text) else "", bar.colour)
