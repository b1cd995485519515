"""Forms in use: keys, values of the picture, what is copied, hostile links, and a phone."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from flopbook.data.library import load_head
from flopbook.evaluation.calculator import calculate, takes
from flopbook.formulas import get_formula
from flopbook.quantities.units import format_quantity
from scripts.website.build.weigh import visit
from tests.support.forming import open_form, put, read, unfold

pytestmark = pytest.mark.browser


def _copy(context: Any, base: str) -> tuple[str, ...]:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab = open_form(context, base, "bubble", "?stages=4&microbatches=12")
    tab.get_by_role("button", name="Copy command").click()
    tab.get_by_text("copied").wait_for()
    command = tab.evaluate("navigator.clipboard.readText()")
    tab.get_by_role("button", name="Copy Python").click()
    tab.wait_for_function("navigator.clipboard.readText().then(text => text.startsWith('from'))")
    call = tab.evaluate("navigator.clipboard.readText()")
    tab.get_by_role("button", name="Copy link").click()
    tab.wait_for_function("navigator.clipboard.readText().then(text => text.startsWith('http'))")
    link = tab.evaluate("navigator.clipboard.readText()")
    tab.get_by_role("button", name="Start again").click()
    return command, call, link, tab.inner_text(".fb-command"), tab.evaluate("location.search")


def test_command_call_and_link_can_be_copied_and_the_form_starts_again(
    surf: Any, base: str
) -> None:
    command, call, link, afresh, search = surf(_copy, base)
    assert (
        call
        == 'from flopbook import calculate\ncalculate("bubble", stages="4", microbatches="12")\n'
    )
    assert command == "flopbook bubble --stages 4 --microbatches 12"
    assert link == f"{base}calculators/bubble/?stages=4&microbatches=12"
    assert (
        afresh == "flopbook bubble --stages 8 --microbatches 32"
        and search == "?stages=8&microbatches=32"
    )


def _hostile(context: Any, base: str) -> tuple[bool, str]:
    query = urlencode(
        {"chip": "nobody/none", "peak": "<img src=x onerror=window.hit=1>", "bandwidth": "1TB/s"}
    )
    tab = open_form(context, base, "min-batch", f"?{query}")
    return tab.evaluate(
        "window.hit === undefined && !document.querySelector('.fb-calculator img')"
    ), tab.inner_text(".fb-command")


def test_a_link_made_by_somebody_else_runs_nothing(surf: Any, base: str) -> None:
    harmless, _ = surf(_hostile, base)
    assert harmless


def _home(context: Any, base: str) -> list[str]:
    tab = context.new_page()
    tab.set_viewport_size({"width": 390, "height": 844})
    tab.goto(f"{base}calculators/min-batch/")
    tab.wait_for_selector(".fb-large")
    picker, answer, typed = (
        tab.locator(s).bounding_box()["y"] for s in ("[name=chip]", ".fb-answer", ".fb-typed")
    )
    return [picker < answer < typed, answer < 844]


def test_on_a_phone_the_answer_stands_under_the_pickers(surf: Any, base: str) -> None:
    assert surf(_home, base) == [True, True]


def _in_a_chapter(context: Any, base: str) -> tuple[list[str], int, int, str]:
    tab, asked = context.new_page(), []
    tab.on("request", lambda request: asked.append(request.url))
    visit(tab, f"{base}handbook/fsdp/")
    before = [url for url in asked if "/values/" in url or "/formulas/" in url]
    forms = tab.locator(".fb-form").count()
    tab.get_by_role("button", name="Change the numbers").first.click()
    tab.wait_for_selector(".fb-large")
    return before, forms, tab.locator(".fb-form").count(), tab.inner_text(".fb-large")


def test_a_form_in_a_chapter_is_made_when_a_reader_asks_for_it(surf: Any, base: str) -> None:
    before, forms, after, answer = surf(_in_a_chapter, base)
    assert before == [] and forms == 0 and after == 1 and answer.endswith("tokens")


REACHED = """() => {
  const focused = document.activeElement;
  const ofPicture = focused.closest('.fb-axes, .fb-plotted');
  return focused.name || (ofPicture ? 'picture' : focused.textContent);
}"""


def _keyboard(tab: Any, _: str) -> tuple[dict[str, float | str | None], list[str]]:
    unfold(tab)
    tab.locator("[name=chip]").focus()
    reached = []
    formula = get_formula("min-batch")
    for _turn in range(len(takes(formula)) + 2 * len(formula.inputs) + 12):
        reached.append(tab.evaluate(REACHED))
        if reached[-1] == "bandwidth":
            tab.keyboard.type("1TB/s")
        tab.keyboard.press("Tab")
    return read(tab), reached


def test_the_keyboard_reaches_everything_in_order(forms: Any) -> None:
    result, walked = forms("min-batch", _keyboard)
    formula = get_formula("min-batch")
    # Below a value that is the chip's stands the way to its source.
    assert walked[walked.index("peak") + 1] == load_head("nvidia/h100-sxm").name
    reached = [one for one in walked if one != load_head("nvidia/h100-sxm").name]
    place = len(formula.asks)  # then what opens all values and what opens more inputs
    assert reached[:place] == list(formula.asks)
    assert reached[place].startswith("All ") and reached[place + 1].startswith("More ")
    files = ["", "Picture as SVG", "Picture as PNG", "Values as CSV"]  # the walk opens their menu
    pictures = ["picture", "picture", *files, "picture"]  # two choices, then its values
    buttons = ["Copy command", "Copy Python", "Copy link", "Start again"]
    walk = [*formula.inputs, *pictures, *buttons]
    assert reached[place + 2 :][: len(walk)] == walk
    answer = calculate("min-batch", chip="nvidia/h100-sxm", bandwidth="1TB/s")
    assert result["tokens"] == pytest.approx(answer["tokens"])


def _read_out(tab: Any, _: str) -> dict[str, Any]:
    put(tab, {"stages": "8", "microbatches": "32"})
    tab.locator(".fb-axes select").last.select_option(label="Pipeline stages")
    plot, tip = tab.locator(".fb-curve .fb-plotted"), tab.locator(".fb-curve [role=status]")
    plot.focus()
    seen = []
    for key in ("ArrowRight", "ArrowRight", "End", "Escape"):
        tab.keyboard.press(key)
        tip.wait_for(state="attached")
        tab.wait_for_timeout(50)
        seen.append(tip.text_content() if tip.is_visible() else "")
    dot = tab.locator(".fb-curve .fb-ridge").bounding_box()
    tab.mouse.move(dot["x"] + 5, dot["y"] + 5)
    tip.wait_for(state="visible")
    ticks = tab.locator(".fb-curve svg text").all_text_contents()
    return {"keys": seen, "pointed": tip.text_content(), "ticks": ticks}


def test_the_picture_gives_its_values_to_pointer_and_keys(forms: Any) -> None:
    """As the figures of the handbook do; shares in percent, as in the answer."""
    seen = forms("bubble", _read_out)

    def at(stages: int) -> str:
        share = calculate("bubble", stages=stages, microbatches=32)["fraction"]
        return f"{format_quantity(100 * share, '1')} % at {stages}"

    assert seen["keys"] == [at(1), at(2), at(64), ""]
    assert seen["pointed"] == at(8) and "20 %" in seen["ticks"]
