"""One batch in 1, 4, 8 and 16 micro-batches through the same pipeline, all on one scale of time."""

from __future__ import annotations

from flopbook.pipelines import Times, plan, simulate
from flopbook.pipelines.simulation import Run
from scripts.website.figures.drawing import WIDTH, Figure, box, words

LEFT, RIGHT, TOP, ROW, GAP = 118.0, 60.0, 26.0, 11.0, 18.0


def runs(stages: int, counts: tuple[int, ...]) -> list[Run]:
    """GPipe for each number of micro-batches; the passes shrink as their number grows."""
    return [simulate(plan("gpipe", stages, m, 1), Times(1 / m, 1 / m, 1 / m)) for m in counts]


def figure(stages: int = 4, counts: tuple[int, ...] = (1, 4, 8, 16)) -> Figure:
    """A group of rows for each number. Raises FlopbookError for schedules that do not exist."""
    all_runs = runs(stages, counts)
    scale = (WIDTH - LEFT - RIGHT) / max(float(run.makespan) for run in all_runs)
    shapes = [
        box(LEFT, 4, 12, 12, "fb-c0"),
        words(LEFT + 17, 14, "forward", "start"),
        box(LEFT + 80, 4, 12, 12, "fb-c1"),
        words(LEFT + 97, 14, "backward", "start"),
    ]
    top, facts = TOP, []
    for count, run in zip(counts, all_runs, strict=True):
        shapes.append(
            words(LEFT - 10, top + stages * ROW / 2 - 2, f"M = {count}", "end", "fb-strong")
        )
        shapes.append(
            words(
                LEFT - 10,
                top + stages * ROW / 2 + 12,
                f"idle {run.fraction:.0%}",
                "end",
                "fb-small",
            )
        )
        first = float(min(stage[0].start for stage in run.timed))
        for number, stage in enumerate(run.timed):
            for start, end, slot in stage:
                kind = "fb-c0" if slot[0].kind == "F" else "fb-c1"
                x = LEFT + (float(start) - first) * scale
                shapes.append(
                    box(
                        round(x, 1),
                        top + number * ROW,
                        round(float(end - start) * scale, 1),
                        ROW - 1,
                        kind,
                    )
                )
        end = LEFT + float(run.makespan) * scale
        shapes.append(
            words(
                end + 6,
                top + stages * ROW / 2 + 4,
                f"{float(run.makespan) / sum(run.times) / count:.2f}",
                "start",
            )
        )
        facts.append(
            f"M = {count}: idle {run.fraction:.1%}, "
            f"{float(run.makespan) / sum(run.times) / count:.2f} times"
        )
        top += stages * ROW + GAP
    return Figure(
        f"A batch in micro-batches on {stages} stages",
        f"The same batch each time, a row for each stage. {'; '.join(facts)} the time of the work "
        "alone.",
        "The same batch, cut into more and more pieces. The work of a stage stays, the waiting "
        "shrinks. At the end of each group: its time, where 1 is the work alone.",
        top - GAP + 8,
        tuple(shapes),
    )
