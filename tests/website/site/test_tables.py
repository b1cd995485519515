"""Tables sort by pointer and keyboard; sources open and close by hover, focus and touch."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.browser

CELLS = """([table, column]) => [...document.querySelector(table).tBodies[0].rows]
  .filter(row => !row.hidden)
  .map(row => [row.cells[column].textContent.trim().split("\\n")[0],
    row.cells[column].dataset.sort ?? null])"""


def on(page: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A test whose function runs in the browser on a page."""

    def wrap(use: Callable[..., Any]) -> Callable[..., Any]:
        def test(surf: Any, base: str) -> None:
            def inside(context: Any) -> None:
                tab = context.new_page()
                tab.goto(base + page)
                tab.wait_for_selector(".fb-sorter")
                use(tab)

            surf(inside, viewport={"width": 1280, "height": 900})

        test.__name__, test.__doc__ = use.__name__, use.__doc__
        return test

    return wrap


def natural(text: str) -> list[str | int]:
    """The order in which people sort: 7B before 67B."""
    return [int(part) if part.isdigit() else part.lower() for part in re.split(r"([0-9]+)", text)]


def numbers(tab: Any, column: int) -> list[float | None]:
    return [
        None if sort is None else float(sort)
        for _, sort in tab.evaluate(CELLS, [".fb-sort", column])
    ]


@on("models/")
def test_numbers_sort_from_the_largest_and_unknown_stays_last(tab: Any) -> None:
    for column in (2, 10):
        head = tab.locator(".fb-sort thead th").nth(column)
        head.get_by_role("button").click()
        assert head.get_attribute("aria-sort") == "descending"
        down = numbers(tab, column)
        known = [value for value in down if value is not None]
        assert (None in down or column == 2) and down[: len(known)] == sorted(known, reverse=True)
        head.get_by_role("button").click()
        assert head.get_attribute("aria-sort") == "ascending"
        up = numbers(tab, column)
        assert up[: len(known)] == sorted(known) and up[len(known) :] == [None] * (
            len(up) - len(known)
        )


@on("models/")
def test_text_sorts_by_keyboard_and_only_one_column_is_marked(tab: Any) -> None:
    tab.locator(".fb-sort thead th").nth(4).get_by_role("button").click()
    name = tab.locator(".fb-sort thead th").nth(0)
    name.get_by_role("button").focus()
    tab.keyboard.press("Enter")
    names = [text for text, _ in tab.evaluate(CELLS, [".fb-sort", 0])]
    assert name.get_attribute("aria-sort") == "ascending" and names == sorted(names, key=natural)
    tab.keyboard.press("Space")
    turned = [text for text, _ in tab.evaluate(CELLS, [".fb-sort", 0])]
    assert turned == names[::-1] and tab.locator(".fb-sort [aria-sort]").count() == 1


@on("models/")
def test_a_source_opens_inside_the_window_and_escape_closes_it(tab: Any) -> None:
    """In the last row too, where the scrolling box would clip it."""
    for which in ("first", "last"):
        value = getattr(tab.locator(".fb-sort .fb-value"), which)
        value.focus()
        tip = tab.locator(f"#{value.get_attribute('aria-describedby')}")
        assert tip.is_visible() and "read 2026-" in tip.inner_text()
        middle = tip.evaluate(
            "tip => { const box = tip.getBoundingClientRect();"
            " const x = box.left + box.width / 2, y = box.top + box.height / 2;"
            " return [box.left >= 0, box.right <= innerWidth, box.top >= 0, box.bottom <= "
            "innerHeight,"
            " tip.contains(document.elementFromPoint(x, box.top + 4)), "
            "tip.contains(document.elementFromPoint(x, y)),"
            " tip.contains(document.elementFromPoint(x, box.bottom - 4))]; }"
        )
        assert all(middle), (which, middle)
        tab.keyboard.press("Escape")
        assert not tip.is_visible() and value.evaluate("value => value === document.activeElement")


@on("models/")
def test_a_source_opens_on_hover_and_can_be_pointed_at(tab: Any) -> None:
    value = tab.locator(".fb-sort .fb-value").nth(3)
    tip = tab.locator(f"#{value.get_attribute('aria-describedby')}")
    value.hover()
    assert tip.is_visible()
    tip.hover()
    assert tip.is_visible()
    tab.keyboard.press("Escape")
    assert not tip.is_visible()
    tab.mouse.move(5, 5)
    value.hover()
    assert tip.is_visible()


def test_a_touch_opens_a_source_and_a_touch_elsewhere_closes_it(surf: Any, base: str) -> None:
    def inside(context: Any) -> tuple[bool, bool]:
        tab = context.new_page()
        tab.goto(base + "models/")
        tab.wait_for_selector(".fb-sorter")
        value = tab.locator(".fb-sort .fb-value").first
        tip = tab.locator(f"#{value.get_attribute('aria-describedby')}")
        value.tap()
        opened = tip.is_visible()
        tab.locator("h1").tap()
        return opened, tip.is_visible()

    assert surf(inside, viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True) == (
        True,
        False,
    )


def test_the_first_column_stays_in_view_on_a_tablet(surf: Any, base: str) -> None:
    def inside(context: Any) -> list[float]:
        tab = context.new_page()
        tab.goto(base + "models/")
        tab.evaluate("document.querySelector('.fb-scroll').scrollLeft = 300")
        box = tab.evaluate("document.querySelector('.fb-scroll').getBoundingClientRect().left")
        heads = ".fb-sort thead th, .fb-sort tbody th"
        return tab.evaluate(
            f"[...document.querySelectorAll('{heads}')].filter(c => c.cellIndex === 0)"
            ".map(cell => Math.round(cell.getBoundingClientRect().left)).map(left => left - "
            + str(round(box))
            + ")"
        )

    assert all(abs(left) <= 2 for left in surf(inside, viewport={"width": 760, "height": 800}))


def test_bibtex_can_be_copied(surf: Any, base: str) -> None:
    def inside(context: Any) -> str:
        tab = context.new_page()
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        tab.goto(base + "references/roofline/")
        tab.locator(".fb-ref summary").first.click()
        tab.locator(".fb-ref .fb-copy").first.click()
        tab.get_by_text("Copied").wait_for()
        return tab.evaluate("navigator.clipboard.readText()")

    assert surf(inside).startswith("@")
