"""Steps of reinforcement learning that were measured, with all jobs in turn and in two pools."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from flopbook.ledger.rows import ledger_row
from flopbook.quantities.units import format_quantity
from scripts.website.figures.drawing import WIDTH, Figure, Sheet, box, words
from scripts.website.figures.plotted import FigureValue
from scripts.website.figures.shapes import EDGE, SHEET

CHIPS = 128
# Generation reads weights, scoring and the update compute; the rest is waiting and moving.
_FILLS = {"generate": "fb-c1", "score": "fb-c8", "update": "fb-c0", "rest": "fb-hollow"}
_INK = {"generate": "fb-on1", "score": "fb-on8", "update": "fb-on0", "rest": ""}
_TOP, _ROW, _BAR = 44.0, 38.0, 24.0


class RolloutStep(NamedTuple):
    """A bar: its name, the seconds of the step, and those of each job of the trainer's GPUs."""

    name: str
    seconds: float
    jobs: dict[str, float]


def stated(name: str) -> float:
    """A time that the source states (s), by the row of the ledger."""
    return float(ledger_row(name).stated.si_value or 0)


def steps() -> list[RolloutStep]:
    """Both models, in turn and in two pools; of the pools, what the trainer does."""
    rows = []
    pools = (
        ("7b", "7B", 64, "verl-7b-training-apart-64"),
        ("30b", "30B", 32, "verl-30b-training-apart"),
    )
    for model, name, trainers, update_apart in pools:
        scores = ["scoring"] if model == "7b" else ["scoring", "reference"]
        jobs = {
            "generate": stated(f"verl-{model}-generation"),
            "score": sum(stated(f"verl-{model}-{score}") for score in scores),
            "update": stated(f"verl-{model}-training"),
        }
        rows.append(_with_rest(f"{name}, in turn", stated(f"verl-{model}-step"), jobs))
        update = {"update": stated(update_apart)}
        rows.append(_with_rest(f"trainer on {trainers}", stated(f"verl-{model}-apart"), update))
    return rows


def _with_rest(name: str, seconds: float, jobs: dict[str, float]) -> RolloutStep:
    return RolloutStep(name, seconds, {**jobs, "rest": seconds - sum(jobs.values())})


def figure() -> Figure:
    """Two bars for each model on one scale of seconds."""
    rows = steps()
    height, shapes = _bars(rows, 132.0, WIDTH - 60)
    phone_height, phone = _bars(rows, 106.0, SHEET - 54)
    turn, apart = rows[0].jobs["update"], rows[1].jobs["update"]
    facts = "; ".join(
        f"{row.name} {format_quantity(row.seconds, 's')}: "
        + ", ".join(f"{job} {format_quantity(time, 's')}" for job, time in row.jobs.items())
        for row in rows
    )
    return Figure(
        f"Half of the GPUs made the update of the 7B model as fast as all of them: {apart:.0f} s "
        f"against {turn:.0f} s",
        f"Seconds of a step on {CHIPS} H20. {facts}.",
        f"All {CHIPS} H20 do one job after the other, or a pool of engines generates while the "
        "trainer works on the rest of them. Of the trainer's bars the empty end is waiting, sync "
        "and, for the 30B model, its reference scores. The update of the 7B model takes "
        f"{_slower(rows[0], rows[1]):.2g} times as long on half of the GPUs, that of the 30B model "
        f"{_slower(rows[2], rows[3]):.2g} times on a quarter.",
        height,
        tuple(shapes),
        narrow=Sheet(SHEET, phone_height, tuple(phone)),
        source="verl2026async",
        readings=tuple(
            FigureValue(row.name, job, seconds, "s")
            for row in rows
            for job, seconds in row.jobs.items()
        ),
    )


def _slower(turn: RolloutStep, apart: RolloutStep) -> float:
    """How many times as long the update takes on the GPUs that only train."""
    return apart.jobs["update"] / turn.jobs["update"]


def _bars(rows: list[RolloutStep], left: float, right: float) -> tuple[float, list[str]]:
    scale = (right - left) / max(row.seconds for row in rows)
    shapes = [*_legend()]
    for number, row in enumerate(rows):
        shapes += _bar(row, _TOP + number * _ROW, left, scale)
    return _TOP + len(rows) * _ROW + EDGE, shapes


def _legend() -> Iterator[str]:
    x = EDGE
    for job, fill in _FILLS.items():
        yield box(x, 8, 12, 12, fill)
        yield words(x + 17, 18, job, anchor="start", kind="fb-small")
        x += 34 + 6.6 * len(job)


def _bar(row: RolloutStep, top: float, left: float, scale: float) -> Iterator[str]:
    """The name of a row, its jobs from left to right, and the seconds of its step."""
    yield words(left - 8, top + _BAR - 7, row.name, anchor="end")
    x = left
    for job, seconds in row.jobs.items():
        width, text = seconds * scale, f"{seconds:.0f}"
        tip = f"{row.name}, {job}: {format_quantity(seconds, 's')}"
        yield box(x, top, width, _BAR, _FILLS[job], tip)
        if width > 28:
            yield words(x + width / 2, top + _BAR - 8, text, kind=f"fb-small {_INK[job]}".strip())
        x += width
    yield words(x + 6, top + _BAR - 7, f"{row.seconds:.0f} s", anchor="start")
