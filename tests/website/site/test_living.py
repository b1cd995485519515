"""Pictures that a reader sets in motion: true to the formulas, to the simulation, and to everyone.

One visit of each page for all that is asked of its picture.
"""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.pipelines import Times, plan, simulate
from scripts.website.figures.overlap import LAYERS, idle_share, step
from scripts.website.pages.living import GPU, TPU

pytestmark = pytest.mark.browser

# What a picture shows after its quantities are set: the sentence below it, and its bars.
_SET = """async ([label, value]) => {
  const figure = document.querySelector('.fb-alive');
  const control = [...figure.querySelectorAll('.fb-controls [aria-label], .fb-choice select')]
    .find(one => one.ariaLabel === label
      || one.closest('.fb-choice')?.textContent.startsWith(label));
  control.value = value;
  control.dispatchEvent(new Event(control.matches('select') ? 'change' : 'input'));
  return figure.querySelector('.fb-told').textContent;
}"""
# Its controls stand before it is told its width, and only then it is drawn and says a moment.
_READY = "document.querySelector('.fb-alive .fb-time [aria-valuetext]') !== null"
_CELLS = """[...document.querySelectorAll('.fb-stage text')].map(one => one.textContent)
  .filter(text => /^(\\d|all)$/.test(text))"""


def _opened(tab: Any, base: str, page: str) -> list[str]:
    """The page with its picture awake; what the console says meanwhile."""
    said: list[str] = []
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.goto(base + page)
    tab.locator(".fb-alive").scroll_into_view_if_needed()
    tab.wait_for_function(_READY)
    return said


def _fsdp(context: Any, base: str) -> dict[str, Any]:
    tab = context.new_page()
    said = _opened(tab, base, "handbook/fsdp/")
    shown = {
        tokens: tab.evaluate(_SET, ["Tokens per chip", tokens]) for tokens in (9, 10, 11, 12, 14)
    }
    given = tab.evaluate("JSON.parse(document.querySelector('.fb-alive').dataset.given)")
    return {"said": said, "shown": shown, "given": given}


def test_a_step_of_fsdp_waits_as_long_as_its_figure(surf: Any, base: str) -> None:
    """The order of work is that of the figure of the chapter; times are those of the formulas."""
    seen = surf(_fsdp, base)
    assert seen["said"] == []
    params = seen["given"]["params"]
    rates = {"startup": 0, "ramp": 0, "efficiency": 1, "reduction_efficiency": 1}
    gather = calculate(
        "collective",
        chip=GPU,
        op="all-gather",
        chips=8,
        bytes=2 * params,
        topology="two-level",
        **rates,
    )["seconds"]
    for power, words in seen["shown"].items():
        forward = 2 * params * 2 ** float(power) / chip(GPU).peak("bf16")
        idle = idle_share(step("fsdp", forward / gather))
        hidden = "never waits" in words
        assert hidden == (idle < 0.005), words
        if not hidden:
            assert f"waits for {round(100 * idle)} %" in words, (words, idle)
    assert LAYERS == 4


def _pipeline(context: Any, base: str) -> dict[str, Any]:
    tab = context.new_page()
    said = _opened(tab, base, "handbook/pipeline-parallelism/")
    shown: dict[str, str] = {}
    for schedule in ("gpipe", "1f1b"):
        tab.evaluate(_SET, ["Schedule", schedule])
        for stages in (2, 4, 8):
            tab.evaluate(_SET, ["Stages", stages])
            for count in (1, 3, 8, 16):
                words = tab.evaluate(_SET, ["Micro-batches", count])
                shown[f"{schedule} {stages} {count}"] = words
    longer = tab.evaluate(_SET, ["Time between stages", 0.5])
    tab.get_by_role("button", name="Step", exact=True).click()
    heard = tab.locator(".fb-controls [role=status]").text_content()
    moment = tab.locator(".fb-time input").get_attribute("aria-valuetext")
    tab.locator(".fb-time input").focus()
    tab.keyboard.press("End")
    at_end = tab.locator(".fb-time input").get_attribute("aria-valuetext")
    return {
        "said": said,
        "shown": shown,
        "longer": longer,
        "moments": (moment, at_end),
        "heard": heard,
    }


def test_a_pipeline_is_idle_and_holds_as_the_simulation_says(surf: Any, base: str) -> None:
    """Both schedules at twelve sizes each; a longer way between stages only adds to the bubble."""
    seen = surf(_pipeline, base)
    assert seen["said"] == []
    for case, words in seen["shown"].items():
        schedule, stages, count = case.split()
        run = simulate(plan(schedule, int(stages), int(count), 1), Times(1.0, 1.0, 1.0))
        share = calculate("bubble", schedule=schedule, stages=int(stages), microbatches=int(count))[
            "fraction"
        ]
        assert f"idle for {round(100 * run.fraction)} %" in words, (case, words)
        assert f"formula says {round(100 * share)} %" in words, (case, words)
        assert f"holds {round(float(run.held[0]))} micro-batches" in words, (case, words)
    assert "instant links it would be" in seen["longer"]
    assert seen["heard"] == seen["moments"][0], "a step is said aloud"
    assert seen["moments"][0].startswith("1 ") and seen["moments"][0] != seen["moments"][1]


def _ring(context: Any, base: str) -> dict[str, Any]:
    tab = context.new_page()
    tab.emulate_media(reduced_motion="reduce")
    said = _opened(tab, base, "handbook/sharded-matrices/")
    first = tab.evaluate(_CELLS)
    words = {chips: tab.evaluate(_SET, ["Chips", chips]) for chips in (2, 3, 5, 8)}
    tab.evaluate(_SET, ["Chips", 4])
    boards = []
    for share in (0, 1, 2, 3, 4, 5, 6):
        tab.evaluate(_SET, ["Moment", 1000 * share / 6 + (1 if share < 6 else 0)])
        boards.append(tab.evaluate(_CELLS))
    return {"said": said, "words": words, "boards": boards, "first": first}


def _terms(steps: int, chips: int) -> list[str]:
    """How many chips' values are in each block of each chip after so many steps, by doing them."""
    held = [[{chip} for _ in range(chips)] for chip in range(chips)]
    for step_number in range(steps):
        moved = []
        for sender in range(chips):
            block = (sender - step_number) % chips
            moved.append(((sender + 1) % chips, block, set(held[sender][block])))
        for receiver, block, values in moved:
            held[receiver][block] |= values
    full = {chips: "all"}
    return [full.get(len(block), str(len(block))) for row in held for block in row]


def test_a_ring_holds_what_its_steps_bring_and_takes_the_time_of_the_formula(
    surf: Any, base: str
) -> None:
    """Each step done by hand beside it; where motion is unwelcome as well."""
    seen = surf(_ring, base)
    assert seen["said"] == []
    assert seen["first"] == _terms(2, 4), "it opens while something happens"
    for steps, board in enumerate(seen["boards"]):
        assert board == _terms(steps, 4), steps
    rates = {"startup": 0, "ramp": 0, "efficiency": 1, "reduction_efficiency": 1}
    lines = {int(chips) for chips, words in seen["words"].items() if "chips are a line" in words}
    assert lines == {2, 3, 5}, "a torus closes rings of multiples of four"
    for chips, words in seen["words"].items():
        seconds = calculate(
            "collective", chip=TPU, op="all-reduce", chips=int(chips), bytes=1e8, axes=1, **rates
        )["seconds"]
        assert words.startswith(f"{2 * (int(chips) - 1)} steps, {_written(seconds)} in all"), words


def _written(seconds: float) -> str:
    """A time as the pictures write it: three digits, in the largest unit below it."""
    sizes = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
    size, unit = next(one for one in sizes if seconds >= one[0])
    return f"{float(f'{seconds / size:.3g}'):g} {unit}"
