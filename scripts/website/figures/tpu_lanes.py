"""A constructed trace of two layers on a TPU, on the tracks that XProf gives it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from flopbook.quantities.units import percent
from scripts.website.figures.drawing import WIDTH, Figure, Sheet, labelled, words
from scripts.website.figures.plotted import FigureValue
from scripts.website.figures.shapes import SHEET

TRACKS = ("Steps", "XLA Modules", "Name Scope", "XLA Ops", "host")
_STEPS, _MODULES, _SCOPE, _OPS, _HOST = range(len(TRACKS))
_LANE, _TOP = 30.0, 14.0
_BLOCK, _TALL = 22.0, 52.0  # height of a block, and of a track with its name above it


class TrackEvent(NamedTuple):
    """A block on a track: when it begins and ends, its words, its colour."""

    track: int
    start: float
    end: float
    text: str
    colour: str


# One layer: what the compiler put one after the other, in units of time.
_LAYER = (
    ("n", 0.6, "c8"),  # a norm
    ("s", 0.4, "c1"),  # the gather of the next weights starts and runs on beside products
    ("fusion", 4.0, "c0"),
    ("d", 0.6, "c6"),  # its done: the program stands until the weights are there
    ("fusion", 4.4, "c0"),
    ("c", 0.7, "c5"),  # a copy between two layouts, which no code asked for
    ("R", 1.9, "c6"),  # a reduce-scatter that nothing hides
)
LAYERS, IDLE = 2, 1.2  # and the gap before the next step, while the host brings a batch


def events() -> list[TrackEvent]:
    """All tracks from left to right."""
    found, now = [], 0.0
    for layer in range(LAYERS):
        begin = now
        for text, length, colour in _LAYER:
            found.append(TrackEvent(_OPS, now, now + length, text, colour))
            now += length
        found.append(TrackEvent(_SCOPE, begin, now, f"layer_{layer}", "c5"))
    found.append(TrackEvent(_MODULES, 0.0, now, "jit_train_step", "c5"))
    found.append(TrackEvent(_HOST, now - 2 * IDLE, now + IDLE, "next batch", "c5"))
    found.append(TrackEvent(_STEPS, 0.0, now + IDLE, "step 12", "c5"))
    return found


def exposed(found: Sequence[TrackEvent]) -> float:
    """The share of the step in which the program stands at a message."""
    whole = max(event.end for event in found)
    waits = ("d", "R")
    return sum(event.end - event.start for event in found if event.text in waits) / whole


def idle(found: Sequence[TrackEvent]) -> float:
    """The share of the step without an operation on the chip."""
    whole = max(event.end for event in found)
    return 1 - max(event.end for event in found if event.track == _OPS) / whole


def figure() -> Figure:
    """Five tracks over one axis."""
    found = events()
    height = _TOP + len(TRACKS) * _LANE + 2
    tracks = "; ".join(
        f"{name}: " + ", ".join(event.text for event in found if event.track == number)
        for number, name in enumerate(TRACKS)
    )
    return Figure(
        f"On a TPU what is exposed has a name: {percent(exposed(found))} of this step stands at "
        f"the end of a message, {percent(idle(found))} waits for the host",
        f"{tracks}.",
        "A constructed trace of two layers, on the tracks that XProf has for a TPU. n: norm; s and "
        "d: start and done of a gather, hidden between the two and exposed at its done; c: a copy "
        "between layouts; R: a reduce-scatter that nothing hides. Where no operation stands, the "
        "chip waits for its next batch.",
        height,
        tuple(_drawn(found, 92.0, WIDTH)),
        narrow=Sheet(SHEET, len(TRACKS) * _TALL, tuple(_phone(found))),
        readings=tuple(
            FigureValue(TRACKS[one.track], one.text, one.end - one.start, start=one.start)
            for one in found
        ),
    )


def _drawn(found: Sequence[TrackEvent], left: float, width: float) -> Iterator[str]:
    """Names of the tracks beside them, and their blocks."""
    for number, name in enumerate(TRACKS):
        yield words(left - 8, _TOP + number * _LANE + 15, name, "end")
    scale = (width - left - 6) / max(event.end for event in found)
    tops = [_TOP + number * _LANE for number in range(len(TRACKS))]
    yield from _blocks(found, left, scale, tops)


def _phone(found: Sequence[TrackEvent]) -> Iterator[str]:
    """Names of the tracks above them, so that blocks are as wide as they can be."""
    for number, name in enumerate(TRACKS):
        yield words(0, number * _TALL + 10, name, "start")
    scale = (SHEET - 2) / max(event.end for event in found)
    tops = [number * _TALL + 14 for number in range(len(TRACKS))]
    yield from _blocks(found, 1.0, scale, tops)


def _blocks(
    found: Sequence[TrackEvent], left: float, scale: float, tops: Sequence[float]
) -> Iterator[str]:
    """Blocks of the tracks with their words: in them, or below where a letter has no room."""
    for event in found:
        wide = (event.end - event.start) * scale
        x, y = left + event.start * scale, tops[event.track]
        has_room = wide > 6.6 * len(event.text) + 3
        yield labelled((x, y, wide, _BLOCK), event.text if has_room else "", event.colour)
        if not has_room:
            is_letter = len(event.text) == 1
            at, anchor = (x + wide / 2, "middle") if is_letter else (x + wide, "end")
            yield words(at, y + _BLOCK + 10, event.text, anchor, "fb-small")
