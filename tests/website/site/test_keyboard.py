"""By keyboard alone: what has the focus is seen and does what it says; and paper has no menus."""

from __future__ import annotations

from typing import Any

import pytest

from scripts.website.build.weigh import visit

pytestmark = pytest.mark.browser
_RING = """() => {
  const label = document.activeElement.nextElementSibling;
  return [getComputedStyle(label).outlineStyle, label.checkVisibility()];
}"""
_SCHEME = "document.body.dataset.mdColorScheme"


def test_the_choice_of_colours_is_seen_and_changes(surf: Any, base: str) -> None:
    """The ring was drawn around an input of no size, and its keys did nothing."""

    def press(context: Any) -> list[Any]:
        tab = context.new_page()
        visit(tab, base + "handbook/")
        for _ in range(12):
            tab.keyboard.press("Tab")
            if tab.evaluate("document.activeElement.matches('.md-option')"):
                break
        found = [tab.evaluate(_RING)]
        for key in ("Space", "Enter"):
            before = tab.evaluate("document.activeElement.id")
            tab.keyboard.press(key)
            tab.wait_for_function(f"document.activeElement.id !== '{before}'")
            found.append([tab.evaluate(_SCHEME), *tab.evaluate(_RING)])
        return found

    first, light, dark = surf(press, color_scheme="dark", viewport={"width": 1280, "height": 800})
    assert first == ["solid", True]
    assert light == ["default", "solid", True] and dark == ["slate", "solid", True]


@pytest.mark.parametrize("page", ["handbook/fsdp/", "accelerators/nvidia/h100-sxm/"])
def test_no_menu_of_a_picture_is_printed(surf: Any, base: str, page: str) -> None:
    def shown(context: Any) -> tuple[int, int]:
        tab = context.new_page()
        visit(tab, base + page)
        tab.emulate_media(media="print")
        count = "[...document.querySelectorAll('.fb-menu')].filter(m => m.checkVisibility()).length"
        return tab.locator(".fb-menu").count(), tab.evaluate(count)

    menus, printed = surf(shown)
    assert menus > 0 and printed == 0


def test_a_question_is_followed_by_keys(surf: Any, base: str) -> None:
    def follow(context: Any) -> str:
        context.set_default_timeout(30_000)
        tab = context.new_page()
        visit(tab, base + "handbook/fsdp/")
        tab.keyboard.press("/")
        tab.keyboard.type("h100 vs mi300x")
        tab.wait_for_selector(".md-search-result__link[href*='compare/h100-sxm-vs-mi300x/']")
        tab.keyboard.press("ArrowDown")
        tab.keyboard.press("Enter")
        tab.wait_for_url("**/compare/h100-sxm-vs-mi300x/**")
        address: str = tab.url
        return address

    assert "compare/h100-sxm-vs-mi300x" in surf(follow)
