"""What the page of a calculator shows of its pictures, in Markdown."""

from __future__ import annotations

from collections.abc import Callable

from flopbook.drawing import kernels, schedules, shards
from flopbook.drawing.markup import escape
from flopbook.drawing.pictures import formula_inputs, picture
from flopbook.evaluation.answers import example
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import get_formula
from flopbook.pipelines import Times, plan, simulate
from flopbook.quantities.units import format_quantity

# A few chips far apart: many FLOPs per byte, much bandwidth, and a TPU.
ROOFLINE_CHIPS = ("h100-sxm", "mi300x", "tpu-v5p")


def picture_section(name: str) -> list[str]:
    """The part of a calculator's page about its pictures; empty where it has none."""
    return _SECTIONS[name](name) if name in _SECTIONS else []


def _schedules(name: str) -> list[str]:
    """Each pipeline schedule, for a case small enough to follow."""
    lines = [
        "## The schedules, pass by pass\n",
        "Each form equals a simulation of its schedule that knows nothing of the form. For GPipe, "
        "1F1B and interleaved that holds for any times; for ZB-H1 and ZB-H2 where W is no longer "
        "than F and B; for ZB-V where W <= F <= B and M >= 2K - 1; for DualPipe and DualPipe-V "
        "where F = B, W is no longer, and M >= 2K. Elsewhere the calculator refuses the form, and "
        "`--timeline` still runs the schedule.\n",
        "The pictures: four stages, eight micro-batches, and three passes of equal length, "
        "forward, backward for the inputs, backward for the weights. The number in a bar is its "
        "micro-batch; darker bars are the second chunk of a stage, or micro-batches from the other "
        "end. Draw your own with `--timeline` or `--plot FILE.svg`.\n",
        schedules.STYLE + "\n",
    ]
    for schedule, label in schedules.NAMES.items():
        chunks = 2 if schedule == "interleaved" else 1
        run = simulate(plan(schedule, 4, 8, chunks), Times(1.0, 1.0, 1.0))
        held = " / ".join(format_quantity(count, "1") for count in run.held)
        caption = (
            f"{label}: idle {run.fraction:.1%} of the step; "
            f"micro-batches held, stage by stage: {held}."
        )
        lines.append(_figure(schedules.timeline_svg(run), escape(caption)))
    return lines


def _shards(name: str) -> list[str]:
    """The blocks of each example."""
    lines = [
        "## Which device holds what\n",
        "A cell is a block; the numbers in it are the devices that hold it, counted with the last "
        "axis of the mesh fastest. Rows and columns are named by the coordinates on the axes that "
        "cut them.\n",
        shards.STYLE + "\n",
    ]
    formula = get_formula(name)
    for number, options in enumerate(formula.examples):
        result = calculate(name, **{key.replace("-", "_"): text for key, text in options.items()})
        inputs = {key: given.value for key, given in result.inputs.items()}
        caption = f"<code>{escape(example(formula, number))}</code>"
        lines.append(_figure(picture(name, inputs).svg(False), caption))
    return lines


def _kernels(name: str) -> list[str]:
    """The standard kernels on a few chips."""
    wide_figure = "figure.fb-figure:has(.fb-kernels){width:100%;max-width:48rem}"
    style = kernels.STYLE.replace("<style>", f"<style>{wide_figure}")
    lines = ["## The same kernels on a few chips\n", style + "\n"]
    for chip in ROOFLINE_CHIPS:
        result = calculate(name, chip=chip)
        svg = picture(name, formula_inputs(result)).svg(False)
        waiting = sum(bound == "memory" for bound in result["bound"])
        caption = (
            f"{result.inputs['chip'].value}: {waiting} of {len(result['bound'])} kernels wait for "
            f"memory; the ridge of bf16 is at {result['flop_per_byte'][0]:,.0f}."
        )
        lines.append(_figure(svg, escape(caption)))
    return lines


def _figure(svg: str, caption: str) -> str:
    return f'<figure class="fb-figure">{svg}<figcaption>{caption}</figcaption></figure>\n'


_SECTIONS: dict[str, Callable[[str], list[str]]] = {
    "bubble": _schedules,
    "shard": _shards,
    "sharded-matmul": _shards,
    "roofline": _kernels,
}
