"""Forms in use: what is copied, what a hostile link does, and how a phone shows them."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from tests.support.forming import open_form

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
    tab.goto(f"{base}handbook/fsdp/", wait_until="networkidle")
    before = [url for url in asked if "/values/" in url or "/formulas/" in url]
    forms = tab.locator(".fb-form").count()
    tab.get_by_role("button", name="Change the numbers").first.click()
    tab.wait_for_selector(".fb-large")
    return before, forms, tab.locator(".fb-form").count(), tab.inner_text(".fb-large")


def test_a_form_in_a_chapter_is_made_when_a_reader_asks_for_it(surf: Any, base: str) -> None:
    before, forms, after, answer = surf(_in_a_chapter, base)
    assert before == [] and forms == 0 and after == 1 and answer.endswith("tokens")
