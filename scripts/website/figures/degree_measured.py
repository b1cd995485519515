"""Time of a step by the degree of tensor parallelism, on the same GPUs and with the same batch."""

from __future__ import annotations

from flopbook.data.measured_runs import run_files
from flopbook.quantities.units import percent
from scripts.website.figures.drawing import Figure, Sheet, box, words
from scripts.website.figures.plotted import FigureValue

GROUP = "vtrain-multi-3.6B"
NODE = 8
_ROW, _BAR = 30.0, 20.0


def steps() -> dict[int, float]:
    """TP degree -> seconds of the fastest step that was measured at it, without stages."""
    fastest: dict[int, float] = {}
    for row in run_files()["vtrain-multi"].rows:
        if row.group == GROUP and row.parallelism["pp"] == 1:
            degree, time = int(row.parallelism["tp"]), float(row.measured["step_time_s"])
            fastest[degree] = min(time, fastest.get(degree, time))
    return dict(sorted(fastest.items()))


def figure() -> Figure:
    """A bar for each degree; the last one spans two nodes."""
    times = steps()
    alone, node, two = times[1], times[NODE], times[2 * NODE]
    told = ", ".join(f"TP {degree} {time:.2f} s" for degree, time in times.items())
    return Figure(
        f"In a node TP costs this run up to {percent(node / alone - 1)}; over two nodes the step "
        f"takes {two / alone:.1f} times as long",
        f"Time of a step: {told}.",
        "A GPT of 3.6B parameters on 64 A100 in nodes of eight, 512 sequences of 2,048 in a "
        "step, the fastest micro-batch at each degree. The model fits on one GPU, so TP gains "
        "nothing here, and the bars show its cost alone.",
        _ROW * len(times) + 10,
        tuple(_bars(times, 62, 470)),
        narrow=Sheet(344, _ROW * len(times) + 10, tuple(_bars(times, 52, 180))),
        readings=tuple(
            FigureValue(GROUP, f"TP {degree}", time, "s") for degree, time in times.items()
        ),
    )


def _bars(times: dict[int, float], left: float, width: float) -> list[str]:
    shapes, longest = [], max(times.values())
    for number, (degree, time) in enumerate(times.items()):
        top = 6 + number * _ROW
        colour = "fb-c1" if degree > NODE else "fb-c0"
        tip = f"TP {degree}: {time:.2f} s"
        shapes.append(words(left - 8, top + 15, f"TP {degree}", "end"))
        shapes.append(box(left, top, width * time / longest, _BAR, colour, tip))
        told = f"{time:.1f} s" + (", two nodes" if degree > NODE else "")
        shapes.append(words(left + width * time / longest + 8, top + 15, told, "start"))
    return shapes
