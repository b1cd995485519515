"""The same run with the same failures, saved rarely, well and too often: where its time goes."""

from __future__ import annotations

import math
from typing import NamedTuple

from flopbook.quantities.units import percent
from scripts.website.figures.drawing import Figure, Sheet, box, words
from scripts.website.figures.plotted import FigureValue

# In units of the time that a checkpoint takes: its end, a restart, and when it fails.
SAVE, RESTART, END = 1.0, 4.0, 120.0
FAILURES = (33.0, 58.0, 108.0)
_BAR, _PANEL = 24.0, 60.0
_COLOURS = {"work": "fb-c0", "save": "fb-c3", "lost": "fb-c1", "restart": "fb-hollow"}


class RunTime(NamedTuple):
    """Some time of the run: work that stays, saving, work that a failure undoes, or a restart."""

    kind: str
    start: float
    end: float


def between() -> float:
    """Mean time between failures."""
    return END / len(FAILURES)


def best_interval() -> float:
    """The interval that loses least on average, sqrt(2 S T)."""
    return math.sqrt(2 * SAVE * between())


def spans(interval: float) -> list[RunTime]:
    """What the run does from start to end if it saves after each `interval` of work."""
    timeline: list[RunTime] = []
    now = 0.0
    for failure in (*FAILURES, math.inf):
        stop = min(failure, END)
        now, kept = _until(now, stop, interval)
        timeline += kept
        if now < stop:
            timeline.append(RunTime("work" if math.isinf(failure) else "lost", now, stop))
        if math.isinf(failure):
            return timeline
        timeline.append(RunTime("restart", stop, stop + RESTART))
        now = stop + RESTART
    return timeline


def _until(now: float, stop: float, interval: float) -> tuple[float, list[RunTime]]:
    """Whole intervals with their checkpoints before `stop`, and when the last of them ends."""
    kept: list[RunTime] = []
    while now + interval + SAVE <= stop:
        kept += [
            RunTime("work", now, now + interval),
            RunTime("save", now + interval, now + interval + SAVE),
        ]
        now += interval + SAVE
    return now, kept


def shares(interval: float) -> dict[str, float]:
    """The share of the time that each kind takes."""
    timeline = spans(interval)
    return {
        kind: sum(span.end - span.start for span in timeline if span.kind == kind) / END
        for kind in _COLOURS
    }


def intervals() -> tuple[tuple[str, float], ...]:
    """Names and intervals of the three ways."""
    best = best_interval()
    return ("rarely", 3 * best), ("at the best interval", best), ("too often", best / 5)


def figure() -> Figure:
    """A bar for each way, with the share of the time that counts."""
    shapes, height = _bars(8.0, 622.0)
    sheet, tall = _bars(4.0, 336.0)
    facts = [
        f"saved {name}: {percent(shares(every)['work'])} counts, {percent(shares(every)['save'])} "
        f"goes to saving, {percent(shares(every)['lost'])} is repeated, "
        f"{percent(shares(every)['restart'])} goes to restarts"
        for name, every in intervals()
    ]
    counts = [percent(shares(every)["work"]) for _, every in intervals()]
    return Figure(
        f"Saved rarely, well and too often, {counts[0]}, {counts[1]} and {counts[2]} of it count",
        "The same three failures in each. " + "; ".join(facts) + ".",
        "Dark: work that counts. Light: work that a failure undoes. Thin: checkpoints. Empty: "
        "restarts. All three runs fail at the same moments. Rare checkpoints lose more at every "
        "failure, frequent ones lose time all along, and restarts cost the same at any interval.",
        height,
        shapes,
        narrow=Sheet(344, tall, sheet),
        readings=tuple(
            FigureValue(f"saved {name}", span.kind, span.end - span.start, start=span.start)
            for name, every in intervals()
            for span in spans(every)
        ),
    )


def _bars(left: float, width: float) -> tuple[tuple[str, ...], float]:
    scale = width / END
    shapes: list[str] = []
    top = 8.0
    for name, every in intervals():
        text = f"saved {name}: {percent(shares(every)['work'])} counts"
        shapes.append(words(left, top + 12, text, "start", "fb-strong"))
        for span in spans(every):
            long = span.end - span.start
            size = max(scale * long - 0.8, 0.8), _BAR
            place = left + scale * span.start, top + 20
            shapes.append(box(*place, *size, _COLOURS[span.kind], f"{span.kind}: {long:.3g}"))
        top += _PANEL
    return tuple(shapes), top - 6
