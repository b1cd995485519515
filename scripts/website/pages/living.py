"""Pictures that a reader sets in motion: a step of FSDP, a pipeline schedule, a ring all-reduce.

The scripts in `docs/assets/flopbook/living/` draw them, with times from the formulas as JavaScript;
what a formula needs to know is resolved here, from the data. Without a script a still picture of
the same stands there.
"""

from __future__ import annotations

import json
import math
from typing import Any, NamedTuple

from flopbook.architectures.shape import shape
from flopbook.drawing.pictures import formula_inputs
from flopbook.errors import UnknownName
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.quantities.units import format_quantity
from scripts.website.figures import drawn_of
from scripts.website.figures.drawing import svg
from scripts.website.figures.origins import newest_reading
from scripts.website.markup import Html, attribute, link, trusted
from scripts.website.pages.accelerators import INDEX
from scripts.website.pages.sources import html_link

GPU, TPU, MODEL = "nvidia/h100-sxm", "google/tpu-v5p", "llama-3-8b"
# Printed rates: the chapters derive them before they say what software reaches.
_IDEAL = {"startup": 0, "ramp": 0, "efficiency": 1, "reduction_efficiency": 1}


class Scene(NamedTuple):
    """A living picture: what it says, its still figure, what it knows, and where that is from."""

    title: str
    still: str
    given: dict[str, Any]
    caption: str
    calculator: str


def living(page: str, name: str) -> Html:
    """A living picture for a page. Raises UnknownName."""
    if name not in _SCENES:
        raise UnknownName("living picture", name, tuple(_SCENES))
    scene = _SCENES[name]()
    anchor = f"fig-living-{name}"
    drawn = drawn_of(scene.still)
    return Html(
        '<figure class="fb-figure fb-alive" id="{id}" data-scene="{name}" data-given="{given}">'
        '<div class="fb-chart-head"><p class="fb-says">{title}</p></div>'
        '<div class="fb-stage"><div class="fb-wide" tabindex="0">{still}</div></div>'
        '<div class="fb-controls" role="group" aria-label="{title}"></div>'
        '<p class="fb-told" aria-live="polite">{words}</p>'
        '<figcaption>{caption} <span class="fb-from">Source: {source}.</span></figcaption></figure>'
    ).format(
        id=attribute(anchor),
        name=attribute(name),
        given=attribute(json.dumps(scene.given, default=float, separators=(",", ":"))),
        title=scene.title,
        still=trusted(svg(drawn, anchor)),
        words=drawn.description,
        caption=scene.caption,
        source=_source(page, scene),
    )


def _source(page: str, scene: Scene) -> Html:
    """What a picture is computed from; with the day of the newest reading where chips are given."""
    calculator = link(
        f"calculator {scene.calculator}", html_link(page, f"calculators/{scene.calculator}.md")
    )
    if not scene.given:
        return calculator
    chips = link("chips", html_link(page, INDEX))
    return Html("{}, {}, as read by {}").format(chips, calculator, newest_reading())


def _fsdp() -> Scene:
    """A step of four layers of a model on nodes of GPUs."""
    device, layers = chip(GPU), shape(MODEL)
    counted = calculate("params", model=MODEL)
    # Attention, feed-forward block and the two norms; the tables are gathered on their own.
    norms = 2 * layers.pick("d_model").value
    params = (counted["attention"] + counted["ffn"]) / layers.pick("layers").value + norms
    rate = format_quantity(device.peak("bf16"), "FLOP/s")
    return Scene(
        "Drag the batch until the chip no longer waits for the network",
        '["overlap",{"kind":"fsdp","chip":"nvidia/h100-sxm"}]',
        {
            "inputs": _inputs(chip=GPU, op="all-gather", topology="two-level"),
            "peak": device.peak("bf16"),
            "params": params,
            "bytes": 2,
        },
        f"Four layers of {layers.model.name} on {device.name}, {rate} in bf16 and printed rates of "
        "the links; beyond eight chips, layers are gathered across nodes too. F: forward, B: "
        "backward; on the network G: all-gather of a layer's weights, R: reduce-scatter of its "
        "gradients. A dashed box is a wait.",
        "collective",
    )


def _pipeline() -> Scene:
    return Scene(
        "More micro-batches shrink the bubble, longer links feed it",
        '["pipeline-schedule",{"schedule":"1f1b"}]',
        {},
        "A row for each stage, a bar for each pass with the number of its micro-batch: blue "
        "forward, light backward, which takes twice as long. A dashed box is a wait.",
        "bubble",
    )


def _ring() -> Scene:
    return Scene(
        "A ring all-reduce goes round twice: once to sum, once to share the sums",
        '["ring-collective",{"op":"all-reduce"}]',
        {"inputs": _inputs(chip=TPU, op="all-reduce", axes=1)},
        f"An all-reduce on one axis of {chip(TPU).name}, at printed rates. A column is a chip, a "
        "row a block; the number is how many chips' values it sums. The picture shows one "
        "direction; with both, a block goes only half the way round in either.",
        "collective",
    )


def _inputs(**options: Any) -> dict[str, Any]:
    """All inputs of `collective` in SI units; what is without end is null, as JSON has it."""
    answer = calculate("collective", bytes=1e9, chips=4, **_IDEAL, **options)
    return {
        name: None if isinstance(value, float) and math.isinf(value) else value
        for name, value in formula_inputs(answer).items()
    }


_SCENES = {"fsdp": _fsdp, "pipeline": _pipeline, "ring": _ring}
