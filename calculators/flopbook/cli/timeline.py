"""`--timeline` and `--plot` of bubble: the schedule itself, pass by pass, in the terminal or as a file."""

from __future__ import annotations

import shutil
from typing import Any

from flopbook.calculator import calculate, resolved
from flopbook.cli.files import write_svg
from flopbook.problems import FlopbookError
from flopbook.schedules import Run, Times, plan, simulate
from flopbook.units import format_quantity
from flopbook.words import answer

_WIDEST = 400


def run_schedule(name: str, given: dict[str, Any]) -> Run:
    """The schedule that the options of a calculator ask for. Raises FlopbookError."""
    values = {key: item.value for key, item in resolved(name, **given).items()}
    counts = [int(values[key]) for key in ("stages", "microbatches", "virtual")]
    forward = values["forward"]
    times = Times(forward, values["backward_input"] or forward, values["backward_weight"] or forward)
    return simulate(plan(values["schedule"], *counts), times)


def show(name: str, given: dict[str, Any], timeline: bool, plot: str | None) -> str:
    """The text of the answer, with the picture; writes the file of `--plot`."""
    run = run_schedule(name, given)
    blocks = [_closed(name, given), _simulated(run)]
    if timeline:
        from flopbook.timeline import timeline_text

        blocks.append(timeline_text(run, min(_WIDEST, shutil.get_terminal_size().columns)))
    if plot is not None:
        blocks.append(_write(run, plot))
    return "\n\n".join(blocks)


def write_plot(name: str, given: dict[str, Any], plot: str) -> None:
    """Only the file, for `--json` and `--explain`."""
    _write(run_schedule(name, given), plot)


def _closed(name: str, given: dict[str, Any]) -> str:
    """The answer of the closed form, or why there is none for these times."""
    try:
        return answer(calculate(name, **given))
    except FlopbookError as error:
        return f"no closed form here: {str(error).partition(';')[0]}"


def _simulated(run: Run) -> str:
    """The same figures, counted from the schedule."""
    times = [format_quantity(float(value), "s") for value in (run.seconds, run.makespan)]
    held = ", ".join(format_quantity(value, "1") for value in run.held[:16])
    more = ", ..." if len(run.held) > 16 else ""
    return (
        f"run pass by pass: idle {run.fraction:.2%}, {times[0]} a step ({times[1]} from the first pass of any stage to "
        f"the last);\nmicro-batches held, stage by stage: {held}{more}"
    )


def _write(run: Run, plot: str) -> str:
    from flopbook.pages.timeline import timeline_svg

    write_svg(plot, lambda: timeline_svg(run, standalone=True))
    return f"wrote {plot}"
