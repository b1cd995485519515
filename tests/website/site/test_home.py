"""The first page in a browser: questions answered as typed, a picture that moves or is still."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.planning.serving import plan_serving
from scripts.website.build.typesetting import typeset
from scripts.website.pages import planner, serving_data, serving_planner
from scripts.website.pages.planner_words import serving_words

_ANSWER = "form => [...form.querySelectorAll('.fb-said p')].map(one => one.textContent)"


def _open(context: Any, base: str) -> Any:
    context.set_default_timeout(60_000)
    tab = context.new_page()
    tab.goto(base)
    return tab


def _ask(tab: Any, ask: str, chips: str, **chosen: str) -> list[str]:
    """The lines of an answer once it is there."""
    form = tab.locator(f"form[data-ask={ask}]")
    form.evaluate("one => { one.querySelector('.fb-said').textContent = ''; }")
    for name, value in chosen.items():
        form.locator(f"select[name={name}]").select_option(value)
    form.locator("input").fill("")
    form.locator("input").fill(chips)
    tab.locator(f"form[data-ask={ask}]:not([aria-busy]) .fb-verdict:not(:empty)").wait_for()
    return list(form.evaluate(_ANSWER))


def _examples(context: Any, base: str) -> dict[str, Any]:
    tab = _open(context, base)
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    shown = {
        name: tab.locator(f"form[data-ask={name}]").evaluate(_ANSWER) for name in ("train", "serve")
    }
    quiet = not [url for url in asked if "/plan/" in url]
    train = _ask(tab, "train", str(planner.FIRST["chips"]))
    serve = _ask(tab, "serve", str(serving_planner.FIRST["chips"]))
    return {"shown": shown, "quiet": quiet, "train": train, "serve": serve}


@pytest.mark.browser
def test_script_and_page_give_one_answer(surf: Any, base: str) -> None:
    """And what the script needs comes only when somebody asks."""
    seen = surf(_examples, base)
    assert seen["shown"] == {"train": seen["train"], "serve": seen["serve"]}
    assert seen["train"] == [*map(typeset, planner.answer(**planner.FIRST))] and seen["quiet"]
    assert seen["serve"] == [*map(typeset, serving_planner.answer(**serving_planner.FIRST))]


def _answers(context: Any, base: str) -> dict[str, list[str]]:
    tab = _open(context, base)
    return {
        "small": _ask(tab, "train", "8", model="llama-3-405b"),
        "one": _ask(tab, "train", "1", model="gpt-2-small"),
        "huge": _ask(tab, "serve", "1", model="llama-3-405b"),
        "copies": _ask(tab, "serve", "64", model="llama-3-70b"),
        "bad": _ask(tab, "train", "many"),
        "none": _ask(tab, "train", "0"),
    }


@pytest.mark.browser
def test_what_does_not_fit_says_what_would(surf: Any, base: str) -> None:
    seen = surf(_answers, base)
    assert seen["small"][0].startswith("Does not fit") and "It fits from" in seen["small"][1]
    assert seen["one"][0].startswith("Fits") and "layouts: one chip." in seen["one"][1]
    assert seen["huge"][0].startswith("Does not fit") and "it fits from" in seen["huge"][1]
    asked = serving_data.usual_question("llama-3-70b", "h100-sxm", 64)
    assert typeset(serving_words(plan_serving(asked, 1).layouts[0])) in seen["copies"][1]
    assert "is not a quantity" in seen["bad"][0] and "from 1 to 1,048,576" in seen["none"][0]


def _slide(context: Any, base: str) -> dict[str, Any]:
    tab = _open(context, base)
    slider = tab.locator("#fb-batch")
    before = tab.text_content(".fb-living output")
    slider.focus()
    tab.keyboard.press("Home")
    first = tab.text_content(".fb-living output")
    tab.keyboard.press("End")
    last = tab.text_content(".fb-living output")
    full = tab.locator(".fb-point.fb-full").count()
    tab.wait_for_timeout(400)
    return {
        "before": before,
        "first": first,
        "last": last,
        "full": full,
        "rests": tab.text_content(".fb-living output") == last,
    }


@pytest.mark.browser
def test_the_picture_moves_by_keyboard_and_rests_where_motion_is_unwelcome(
    surf: Any, base: str
) -> None:
    seen = surf(_slide, base, reduced_motion="reduce")
    assert seen["before"] == "16 · 5 % of peak" and seen["first"] == "1 · 0.3 % of peak"
    assert seen["last"] == "4,096 · 100 % of peak" and seen["full"] == 1 and seen["rests"]


def _still(context: Any, base: str) -> dict[str, Any]:
    tab = _open(context, base)
    return {
        "slider": tab.locator("#fb-batch").is_visible(),
        "point": tab.locator(".fb-point").is_visible(),
        "answers": tab.locator(".fb-verdict").all_text_contents(),
        "fields": sum(one.is_visible() for one in tab.locator(".fb-ask .fb-choice").all()),
        "told": tab.locator(".fb-ask noscript").all_inner_texts(),
    }


@pytest.mark.browser
def test_without_a_script_everything_stands_still_and_answers(surf: Any, base: str) -> None:
    seen = surf(_still, base, java_script_enabled=False)
    assert not seen["slider"] and seen["point"]
    assert [words.partition(":")[0] for words in seen["answers"]] == ["Fits", "Fits"]
    assert seen["fields"] == 0 and all("this is the answer for" in words for words in seen["told"])
    assert len(seen["told"]) == 2
