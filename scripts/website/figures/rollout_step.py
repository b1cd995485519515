"""One step of reinforcement learning in one pool: who still writes, who scores, who trains."""

from __future__ import annotations

from typing import NamedTuple

from flopbook.architectures.shape import shape
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.quantities.units import format_quantity
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure, words
from scripts.website.figures.plotted import ChartAxis, Point
from scripts.website.figures.rollout_tail import alive

# The worked example of the chapter: an 8B model on 64 GPUs, all of which do one job at a time.
MODEL, CHIP, GPUS = "llama-3-8b", "h100-sxm", 64
ANSWERS, PROMPT, MEAN, MFU = 128 * 16, 512, 4096, 0.4
LONGEST, SPREAD = 4.0, 0.5  # mean lengths of the longest answer, and the spread that makes it so
FEW = 0.1
_SHARES = (0, 0.25, 0.5, 0.75, 1)
_STRIDE = 64  # tokens between two points of the line


class OnePoolStep(NamedTuple):
    """The points of writing (seconds, share that still writes), and the times after it."""

    writing: list[Point]
    score: float
    train: float

    @property
    def written(self) -> float:
        """When the longest answer ends."""
        return self.writing[-1][0]

    @property
    def seconds(self) -> float:
        """The whole step."""
        return self.written + self.score + self.train

    @property
    def thin(self) -> float:
        """Seconds in which fewer than a tenth of the answers are still being written."""
        return self.written - next(time for time, share in self.writing if share < FEW)


def rollout_step() -> OnePoolStep:
    """The step of the example, with the decoding step of a tuned engine at every batch."""
    each = ANSWERS // GPUS
    one, two = (
        calculate("serving", model=MODEL, chip=CHIP, seq=PROMPT + MEAN / 2, batch=batch)[
            "likely_seconds"
        ]
        for batch in (each, 2 * each)
    )
    grows = (two - one) / each
    fixed = one - each * grows
    time, writing = 0.0, [(0.0, 1.0)]
    for token in range(_STRIDE, int(LONGEST * MEAN) + 1, _STRIDE):
        share = alive(token / MEAN, SPREAD)
        time += _STRIDE * (fixed + grows * each * share)
        writing.append((time, share))
    work = 2 * shape(MODEL).pick("params").value * ANSWERS * (PROMPT + MEAN)
    passes = work / (GPUS * MFU * chip(CHIP).peak("bf16"))
    return OnePoolStep(writing, 2 * passes, 3 * passes)


def figure() -> Figure:
    """The share of answers that are still written, over time, and what comes after them."""
    step = rollout_step()
    chart = Chart(
        ChartAxis("time of the step", 0, 1.02 * step.seconds, "s", log=False),
        ChartAxis("share of the answers at work", 0, 1.08, "1", log=False, ticks=_SHARES),
        (84, 14, 616, 270),
    )
    shapes = [*chart.grid(), chart.line(step.writing, 0, "answers that are still written")]
    begin = step.written
    for number, (name, seconds) in enumerate((("score", step.score), ("train", step.train)), 1):
        end = begin + seconds
        shapes.append(chart.line([(begin, 0), (begin, 1), (end, 1), (end, 0)], number, name))
        x, y = chart.place(((begin + end) / 2, 0.5))
        shapes.append(words(x, y, name))
        begin = end
    x, y = chart.place(step.writing[len(step.writing) // 3])
    shapes.append(words(x + 8, y, "generate", "start"))
    whole = format_quantity(round(step.seconds), "s")
    return Figure(
        f"For {step.thin:.0f} of {whole} fewer than a tenth of the answers are still being written",
        f"Writing takes {step.written:.0f} s, scoring {step.score:.0f} s and training "
        f"{step.train:.0f} s. For {step.thin:.0f} s of that fewer than a tenth of the answers are "
        "being written.",
        f"{ANSWERS:,} answers of {MEAN:,} tokens on average, the longest four times as long, of an "
        f"8B model on {GPUS} H100 in one pool, with the times that the worked example computes. "
        "The batch empties, and its decoding step hardly gets shorter; scoring and training work "
        "on all answers at once.",
        312,
        tuple(shapes),
        plots=(chart,),
    )
