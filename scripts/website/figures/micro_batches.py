"""One batch in 1, 4, 8 and 16 micro-batches through the same pipeline, all on one scale of time."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.pipelines import Times, plan, simulate
from flopbook.pipelines.simulation import Run
from flopbook.quantities.units import percent
from scripts.website.figures.drawing import WIDTH, Figure, box, key, words
from scripts.website.figures.plotted import FigureValue

LEFT, RIGHT, TOP, ROW, GAP = 118.0, 60.0, 26.0, 11.0, 18.0


def runs(stages: int, counts: tuple[int, ...]) -> list[Run]:
    """GPipe for each number of micro-batches; the passes shrink as their number grows."""
    return [simulate(plan("gpipe", stages, m, 1), Times(1 / m, 1 / m, 1 / m)) for m in counts]


def figure(stages: int = 4, counts: tuple[int, ...] = (1, 4, 8, 16)) -> Figure:
    """A group of rows for each number. Raises FlopbookError for schedules that do not exist."""
    all_runs = runs(stages, counts)
    scale = (WIDTH - LEFT - RIGHT) / max(float(run.makespan) for run in all_runs)
    shapes = [*key(LEFT, 4, "forward", "fb-c0"), *key(LEFT + 80, 4, "backward", "fb-c8")]
    facts = []
    height = stages * ROW
    for number, (count, run) in enumerate(zip(counts, all_runs, strict=True)):
        top = TOP + number * (height + GAP)
        middle = top + height / 2
        name = f"M = {count}"
        times_work = f"{float(run.makespan) / sum(run.times) / count:.2f}"
        shapes.append(words(LEFT - 10, middle - 2, name, "end", "fb-strong"))
        shapes.append(
            words(LEFT - 10, middle + 12, f"idle {percent(run.fraction)}", "end", "fb-small")
        )
        shapes += _passes(run, top, scale)
        last = LEFT + float(run.makespan) * scale
        shapes.append(words(last + 6, middle + 4, times_work, "start"))
        facts.append(f"{name}: idle {percent(run.fraction, 1)}, {times_work} times")
    return Figure(
        f"Cut into {counts[-1]}, the same batch leaves {stages} stages idle for "
        f"{percent(all_runs[-1].fraction)} of the step instead of {percent(all_runs[0].fraction)}",
        f"The same batch each time, a row for each stage. {'; '.join(facts)} the time of the work "
        "alone.",
        "More and more micro-batches. The work of a stage stays, the waiting shrinks. At the end "
        "of each group: its time, where 1 is the work alone.",
        TOP + len(counts) * (height + GAP) - GAP + 8,
        tuple(shapes),
        readings=tuple(_readings(counts, all_runs)),
    )


def _readings(counts: tuple[int, ...], all_runs: list[Run]) -> Iterator[FigureValue]:
    """Idle share and time of each run, where 1 is the work alone."""
    for count, run in zip(counts, all_runs, strict=True):
        group = f"M = {count}"
        yield FigureValue(group, "idle", float(run.fraction), "percent")
        yield FigureValue(group, "time", float(run.makespan) / sum(run.times) / count)


def _passes(run: Run, top: float, scale: float) -> Iterator[str]:
    """The passes of a run, a row for each stage; tenths of a pixel keep the page small."""
    first = float(min(stage[0].start for stage in run.timed))
    for number, stage in enumerate(run.timed):
        for start, stop, slot in stage:
            kind = "fb-c0" if slot[0].kind == "F" else "fb-c8"
            x = round(LEFT + (float(start) - first) * scale, 1)
            width = round(float(stop - start) * scale, 1)
            yield box(x, top + number * ROW, width, ROW - 1, kind)
