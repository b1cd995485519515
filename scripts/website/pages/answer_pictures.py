"""What the page of a calculator shows of its pictures, for calculators whose answers have one."""

from __future__ import annotations

from collections.abc import Callable

from flopbook.drawing import kernels, schedules, shards
from flopbook.drawing.pictures import picture
from flopbook.evaluation.answers import example
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import get_formula
from flopbook.pipelines import Times, plan, simulate
from flopbook.quantities.units import format_quantity, percent
from scripts.website.markup import Html, Markdown, tag, trusted

# A few chips far apart: many FLOPs per byte, much bandwidth, and a TPU.
ROOFLINE_CHIPS = ("h100-sxm", "mi300x", "tpu-v5p")
# Large enough for a steady state to be seen, small enough for every pass to have a number.
STAGES, MICRO_BATCHES = 4, 8


def picture_section(name: str) -> list[Html]:
    """The section with pictures of a calculator's answers; empty where it has none."""
    section = _SECTIONS.get(name)
    if section is None:
        return []
    return section(name)


def _figure(svg: str, caption: Html) -> Html:
    return Html('<figure class="fb-figure">{}<figcaption>{}</figcaption></figure>\n').format(
        trusted(svg), caption
    )


def _schedules(name: str) -> list[Html]:
    """A timeline of each pipeline schedule, for a case small enough to follow."""
    blocks = [
        Markdown("## The schedules, pass by pass\n"),
        Markdown(
            "Each closed form is tested against a simulation that runs its schedule pass by pass. "
            "For GPipe, 1F1B and interleaved the two agree for any times; for ZB-H1 and ZB-H2 if W "
            "is no longer than F and B; for ZB-V if W <= F <= B and M >= 2K - 1; for DualPipe and "
            "DualPipe-V if F = B, W is no longer, and M >= 2K. Otherwise the calculator refuses "
            "the closed form, and `--timeline` still runs the schedule.\n"
        ),
        Markdown(
            "The pictures: four stages, eight micro-batches, and three passes of equal length, "
            "forward, backward for the inputs, backward for the weights. The number in a bar is "
            "its micro-batch; darker bars are the second chunk of a stage, or with a line at their "
            "foot micro-batches from the other end. Draw your own with `--timeline` or "
            "`--plot FILE.svg`.\n"
        ),
        trusted(schedules.STYLE + "\n"),
    ]
    for schedule, label in schedules.NAMES.items():
        # The other schedules have one chunk, or two by their own definition.
        chunks = 2 if schedule == "interleaved" else 1
        run = simulate(plan(schedule, STAGES, MICRO_BATCHES, chunks), Times(1.0, 1.0, 1.0))
        held = " / ".join(format_quantity(micro_batches, "1") for micro_batches in run.held)
        caption = Html("{}: idle {} of the step; micro-batches held, stage by stage: {}.").format(
            label, percent(run.fraction, 1), held
        )
        blocks.append(_figure(schedules.timeline_svg(run), caption))
    return blocks


def _shards(name: str) -> list[Html]:
    """Which device holds which block, for each example of the calculator."""
    blocks = [
        Markdown("## Which device holds what\n"),
        Markdown(
            "A cell is a block; the numbers in it are the devices that hold it, counted with the "
            "last axis of the mesh fastest. Rows and columns are named by the coordinates on the "
            "axes that cut them.\n"
        ),
        trusted(shards.STYLE + "\n"),
    ]
    formula = get_formula(name)
    for number, options in enumerate(formula.examples):
        result = calculate(name, **{key.replace("-", "_"): text for key, text in options.items()})
        inputs = {key: entry.value for key, entry in result.inputs.items()}
        svg = picture(name, inputs).svg(False)
        blocks.append(_figure(svg, tag("code", example(formula, number))))
    return blocks


def _kernels(name: str) -> list[Html]:
    """The standard kernels under the roofs of a few chips."""
    # The list of kernels below the roofs needs more width than a figure usually has.
    style = kernels.STYLE.replace(
        "<style>", "<style>figure.fb-figure:has(.fb-kernels){width:100%;max-width:48rem}"
    )
    blocks = [Markdown("## The same kernels on a few chips\n"), trusted(style + "\n")]
    formula = get_formula(name)
    for chip in ROOFLINE_CHIPS:
        result = calculate(name, chip=chip)
        inputs = {key: result.inputs[key].value for key in result.inputs if key in formula.inputs}
        svg = picture(name, {**formula.defaults, **inputs}).svg(False)
        bounds = result["bound"]
        caption = Html(
            "{}: {} of {} kernels wait for memory; the ridge of bf16 is at {:,.0f}."
        ).format(
            result.inputs["chip"].value,
            bounds.count("memory"),
            len(bounds),
            result["flop_per_byte"][0],
        )
        blocks.append(_figure(svg, caption))
    return blocks


_SECTIONS: dict[str, Callable[[str], list[Html]]] = {
    "bubble": _schedules,
    "shard": _shards,
    "sharded-matmul": _shards,
    "roofline": _kernels,
}
