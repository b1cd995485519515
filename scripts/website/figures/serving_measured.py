"""What one server of eight GPUs writes, and how long each user waits for it, as measured."""

from __future__ import annotations

from typing import NamedTuple

from flopbook.data.measured_runs import run_files
from scripts.website.figures.chart import Chart
from scripts.website.figures.drawing import Figure
from scripts.website.figures.plotted import ChartAxis, Point

FILE, RUN = "sglang-cookbook", "sgl-deepseek-r1-b200-fp8-"
_MILLI = 1e-3


class ServedLoad(NamedTuple):
    """Requests of one mix of lengths, and the runs that had more and more of them at once."""

    name: str
    runs: tuple[str, str, str]
    beside: tuple[str, Point] = ("start", (9, 4))  # where its name stands at its last point


LOADS = (
    ServedLoad("500 in, 500 out", ("610-421-1", "496-509-16", "500-504-100")),
    ServedLoad(
        "500 in, 4,000 out", ("610-4445-1", "496-3978-16", "497-4065-64"), ("end", (-9, -4))
    ),
    ServedLoad("4,000 in, 500 out", ("4194-421-1", "3750-520-16", "3981-530-64")),
)


class ServedRun(NamedTuple):
    """One run: requests at once at most, medians of both waits (s), and all tokens a second."""

    at_once: int
    first: float
    pace: float
    rate: float


def served(load: ServedLoad) -> list[ServedRun]:
    """The runs of a load, fewest requests at once first."""
    rows = {row.id: row for row in run_files()[FILE].rows}
    found = []
    for name in load.runs:
        measured = rows[RUN + name].measured
        found.append(
            ServedRun(
                int(name.rpartition("-")[2]),
                _MILLI * float(measured["first_token_latency_ms"]),
                _MILLI * float(measured["ms_per_token"]),
                float(measured["output_tokens_per_s"]),
            )
        )
    return found


def figure() -> Figure:
    """A line for each load, a point for each number of requests at once."""
    chart = Chart(
        ChartAxis("time between two tokens of an answer, median", 8e-3, 8e-2, "s"),
        ChartAxis("tokens a second of the server", 80, 4e3),
    )
    shapes, facts = chart.grid(), []
    for number, load in enumerate(LOADS):
        runs = served(load)
        shapes.append(chart.line([(run.pace, run.rate) for run in runs], number))
        shapes += [
            chart.dot(run.pace, run.rate, f"{load.name}, {_told(run)}", f"fb-c{number}")
            for run in runs
        ]
        facts.append(f"{load.name}: {'; '.join(map(_told, runs))}")
        last = runs[-1]
        anchor, shift = load.beside
        shapes.append(chart.words((last.pace, last.rate), _named(load, last), anchor, shift))
    return Figure(
        _title(),
        f"Both axes logarithmic. {'. '.join(facts)}.",
        "DeepSeek-R1 in fp8 on eight B200 under SGLang, random lengths of these means. Each line "
        "begins with one request at a time; the next point has 16, the last as many as it says. "
        "SGLang reads prompts in turn with writing, so with long ones as many users wait longer "
        "for a token.",
        336,
        tuple(shapes),
        plots=(chart,),
    )


def _named(load: ServedLoad, last: ServedRun) -> str:
    return f"{load.name}: {last.at_once} at once"


def _told(run: ServedRun) -> str:
    return (
        f"{run.at_once} at once: first token after {run.first / _MILLI:.0f} ms, then one every "
        f"{run.pace / _MILLI:.1f} ms, {run.rate:,.0f} tokens a second"
    )


def _title() -> str:
    """What 64 requests at once cost and bring where answers are long."""
    one, _, many = served(LOADS[1])
    return (
        f"{many.at_once} requests at once bring {many.rate / one.rate:.0f} times the tokens of "
        f"one, and each user waits {many.pace / one.pace:.1f} times as long for a token"
    )
