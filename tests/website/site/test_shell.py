"""The frame of a page, which needs no script of the theme: colours, drawer, contents, marks."""

from __future__ import annotations

from typing import Any

import pytest

from scripts.website.build.pagehook import frame_tables

pytestmark = pytest.mark.browser
_SCHEME = "document.body.dataset.mdColorScheme"
_OFFERED = "!document.querySelector('.md-top').hidden"
_ACTIVE = """[...document.querySelectorAll('.md-sidebar--secondary .md-nav__link--active')]
  .map(link => link.hash)"""


def _colours(context: Any, base: str) -> list[str]:
    """The scheme as the page is opened, after each of three clicks, on the next page, and later."""
    tab = context.new_page()
    tab.goto(base + "handbook/batch/")
    found = [tab.evaluate(_SCHEME)]
    for _ in range(2):
        tab.locator("[data-md-component=palette] label:visible").click()
        found.append(tab.evaluate(_SCHEME))
    tab.goto(base + "handbook/")
    found.append(tab.evaluate(_SCHEME))
    tab.evaluate("localStorage.setItem(Object.keys(localStorage)[0], '{\"index\": 99}')")
    tab.goto(base)
    found.append(tab.evaluate(_SCHEME))
    tab.emulate_media(color_scheme="light")
    tab.wait_for_selector("body[data-md-color-scheme=default]")
    return [*found, str(tab.locator("[data-md-component=palette] label:visible").count())]


def test_the_scheme_is_the_systems_until_a_reader_chooses(surf: Any, base: str) -> None:
    """What storage holds may be wrong; then the system decides again."""
    found = surf(_colours, base, color_scheme="dark", viewport={"width": 1280, "height": 800})
    assert found == ["slate", "default", "slate", "slate", "slate", "1"]


_TALL = """document.querySelector('article').prepend(Object.assign(
  document.createElement('div'), {className: 'tall-for-a-test', style: 'height: 600px'}))"""


def _moved(context: Any, base: str) -> dict[str, Any]:
    tab = context.new_page()
    tab.goto(base + "handbook/fsdp/")
    links = "[...document.querySelectorAll('.md-sidebar--secondary a.md-nav__link')]"
    third = tab.evaluate(f"{links}[2].hash")
    tab.evaluate(_TALL)
    tab.wait_for_timeout(300)
    tab.evaluate(f"document.querySelector('{third}').scrollIntoView()")
    tab.wait_for_function(f"{_ACTIVE}.length > 0")
    below = tab.evaluate("scrollY")
    found = {"active": tab.evaluate(_ACTIVE) == [third], "top": tab.evaluate(_OFFERED)}
    # What shrinks above the reader scrolls the page back, and no reader did.
    tab.evaluate("document.querySelector('article > .tall-for-a-test').remove()")
    tab.wait_for_function(f"scrollY <= {below} - 300")
    tab.wait_for_timeout(100)
    found["shrunk"] = tab.evaluate(_OFFERED)
    tab.mouse.wheel(0, -200)
    tab.wait_for_selector(".md-top:not([hidden])")
    tab.click(".md-top")
    tab.wait_for_function("scrollY === 0")
    tab.keyboard.press("n")
    tab.wait_for_url("**/tensor-parallelism/")
    tab.goto(base + "handbook/batch/?h=critical+batch")
    tab.wait_for_selector("mark[data-md-highlight]")
    words = tab.locator("mark[data-md-highlight]").all_text_contents()
    return {**found, "marks": {word.lower() for word in words}}


def test_contents_follow_the_reader_and_keys_lead_on(surf: Any, base: str) -> None:
    found = surf(_moved, base, viewport={"width": 1280, "height": 800})
    assert found == {"active": True, "top": False, "shrunk": False, "marks": {"critical", "batch"}}


def _drawer(context: Any, base: str) -> list[bool]:
    tab = context.new_page()
    tab.goto(base + "handbook/fsdp/")
    inside = "document.querySelector('.md-sidebar--primary').getBoundingClientRect().left >= 0"
    found = [tab.evaluate(inside)]
    tab.click("label[for=__drawer]:visible >> nth=0")
    tab.wait_for_function(inside)
    tab.keyboard.press("Escape")
    tab.wait_for_function(f"!({inside})")
    return [*found, tab.evaluate("document.querySelector('#__drawer').checked")]


def test_the_drawer_opens_by_touch_and_closes_by_key(surf: Any, base: str) -> None:
    assert surf(_drawer, base, viewport={"width": 390, "height": 844}) == [False, False]


def test_tables_of_prose_are_framed_and_no_others() -> None:
    table, other = "<table>\n<tr></tr>\n</table>", '<table class="fb-sort"><tr></tr></table>'
    made = frame_tables(f"<p>a</p>{table}{other}{table}")
    framed = (
        f'<div class="md-typeset__scrollwrap"><div class="md-typeset__table">{table}</div></div>'
    )
    assert made == f"<p>a</p>{framed}{other}{framed}"
