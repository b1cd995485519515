"""The explorer's state in the link; tabs; accessibility, width, weight and print of its views."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flopbook.data.library import entry_ids
from scripts.website.build.weigh import BUDGET, loaded, weight
from tests.support.browsing import faults
from tests.support.exploring import PAGE, at, column, count, explore, names, query, tick

pytestmark = pytest.mark.browser

VIEWS = {
    "table": "",
    "compare": "?view=compare&compare=nvidia/h100-sxm,amd/mi300x,google/tpu-v5p",
    "scatter": "?view=scatter",
    "trends": "?view=trends",
}


def test_the_whole_state_is_in_the_link(surf: Any, base: str) -> None:
    """What one reader sees, another sees who opens the link."""

    def inside(context: Any) -> None:
        tab = explore(context, base)
        assert query(tab) == ""
        tick(tab, "Vendor", "NVIDIA", "AMD")
        tab.get_by_label("Year from").fill("2022")
        tab.get_by_label("Number format").select_option("fp8")
        tab.get_by_label("only with this peak").check()
        tab.locator(".fb-all thead th").get_by_role("button", name="Memory", exact=True).click()
        tab.locator(".fb-all tbody input").nth(0).click()
        tab.locator(".fb-all tbody input").nth(1).click()
        seen, state = names(tab), query(tab)
        for part in ("vendor=", "from=2022", "dtype=fp8", "only=1", "sort=-memory", "compare="):
            assert part in state
        other = explore(context, base, f"?{state}")
        assert names(other) == seen and query(other) == state
        assert other.locator(".fb-all tbody input:checked").count() == 2
        assert other.locator("th[aria-sort=descending]").inner_text().startswith("Memory")
        assert other.get_by_label("Year from").input_value() == "2022"
        assert other.get_by_label("only with this peak").is_checked()
        assert column(other, "Peak, fp8 dense")

    surf(inside, viewport={"width": 1280, "height": 900})


@at()
def test_back_and_forward_go_through_the_states(tab: Any) -> None:
    every = count(tab)
    tick(tab, "Vendor", "Google")
    some = count(tab)
    tab.get_by_role("tab", name="Scatter").click()
    tab.go_back()
    assert (
        tab.get_by_role("tab", name="Table").get_attribute("aria-selected") == "true"
        and count(tab) == some
    )
    tab.go_back()
    assert count(tab) == every and query(tab) == ""
    tab.go_forward()
    assert count(tab) == some and "vendor=google" in query(tab)


@at("?price=1,x,3&compare=h100-sxm,mi300x,b200&view=compare")
def test_a_price_in_a_link_that_is_none_is_told(tab: Any) -> None:
    assert "'x'" in tab.inner_text(".fb-panel > .fb-wrong")
    assert [field.input_value() for field in tab.locator("[data-price]").all()] == ["1", "", "3"]


@at("", viewport={"width": 390, "height": 844})
def test_on_a_phone_a_row_is_a_block_and_nothing_moves_sideways(tab: Any) -> None:
    row = tab.locator(".fb-all tbody tr").first
    box = row.bounding_box()
    assert box["width"] <= 390
    for cell in row.locator("th, td").all():
        if cell.is_visible():
            inside = cell.bounding_box()
            assert inside["x"] >= 0 and inside["x"] + inside["width"] <= 390
    frame = tab.locator(".fb-stacked").first
    assert frame.evaluate("one => one.scrollWidth <= one.clientWidth")
    tab.get_by_label("Sort").select_option("-memory")
    assert "sort=-memory" in query(tab)


@at()
def test_typing_is_one_step_back(tab: Any) -> None:
    tab.get_by_label("Find", exact=True).press_sequentially("mi300")
    assert "find=mi300" in query(tab)
    tab.go_back()
    assert query(tab) == "" and tab.get_by_label("Find", exact=True).input_value() == ""


@at(
    "?compare=h100-sxm,nonsense/chip&vendor=google,nobody&view=what&from=abc&x=%3Cb%3E&dtype=fp99&other=1"
)
def test_a_broken_link_does_what_it_can_and_says_what_not(tab: Any) -> None:
    said = tab.inner_text(".fb-panel > .fb-wrong")
    for name in ("nonsense/chip", "nobody", "what", "abc", "<b>", "fp99"):
        assert f"'{name}'" in said
    assert said.endswith("and sets 'other', which this page does not have.")
    assert all(name.startswith("google/") for name in names(tab))
    assert tab.get_by_role("tab", name="Compare (1)").is_visible(), "an alias names a chip too"


@at("?kind=")
def test_every_entry_can_be_shown(tab: Any) -> None:
    assert set(names(tab)) == set(entry_ids())


@at()
def test_tabs_follow_the_arrow_keys(tab: Any) -> None:
    tab.get_by_role("tab", name="Table").focus()
    for name in ("Compare", "Scatter", "Trends", "Table"):
        tab.keyboard.press("ArrowRight")
        one = tab.get_by_role("tab", name=name)
        assert one.get_attribute("aria-selected") == "true" and one.evaluate(
            "tab => tab === document.activeElement"
        )
        panel = tab.locator(f"#{one.get_attribute('aria-controls')}")
        assert panel.is_visible() and tab.locator("[role=tabpanel]:visible").count() == 1


@at()
def test_a_folded_list_opens_and_closes_by_keyboard(tab: Any) -> None:
    summary = tab.locator(".fb-facets summary").first
    summary.focus()
    tab.keyboard.press("Enter")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Space")
    assert "vendor=" in query(tab)
    tab.keyboard.press("Escape")
    assert not tab.locator(".fb-facets details").first.evaluate("fold => fold.open")
    assert summary.evaluate("summary => summary === document.activeElement")


def _checked(context: Any, base: str, state: str) -> dict[str, Any]:
    said: list[str] = []
    tab = explore(context, base, state)
    # The check of access measures what is not laid out yet, and the browser remarks on that.
    remark = "Rendering was performed in a subtree hidden by content-visibility."

    def hear(message: Any) -> None:
        if message.text != remark:
            said.append(message.text)

    tab.on("console", hear)
    tab.on("pageerror", lambda error: said.append(str(error)))
    return faults(tab) | ({"console": said} if said else {})


@pytest.mark.parametrize("view", VIEWS)
def test_each_view_is_accessible_and_fits_a_phone(surf: Any, base: str, view: str) -> None:
    assert surf(_checked, base, VIEWS[view]) == {}


def test_the_page_with_scripts_styles_and_data_keeps_to_its_weight(
    surf: Any, base: str, site: Path
) -> None:
    def inside(context: Any) -> list[str]:
        tab = context.new_page()
        asked: list[str] = []
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(base + PAGE)
        tab.wait_for_selector(".fb-explorer[data-ready]")
        tab.close()
        return list(dict.fromkeys([*loaded(context, base, PAGE), *asked]))

    asked = surf(inside)
    assert any(url.endswith("explorer.json") for url in asked)
    late = ("sources.json", "explorer-values.json", "scatter.js", "compare.js", "/trends/")
    early = [url for url in asked for name in late if url.endswith(name)]
    assert early == [], "what other views need is fetched when it is asked for"
    assert weight(site, base, asked) <= BUDGET


def test_rows_below_the_window_wait_for_the_list_and_come_back_without_it(
    surf: Any, base: str
) -> None:
    """To lay out three hundred products takes a phone longer than to show the chips of today."""
    rows = "[...document.querySelectorAll('.fb-all tbody tr')].filter(row => row.offsetHeight)"

    def inside(context: Any) -> tuple[int, int]:
        tab = context.new_page()
        waiting: list[Any] = []
        tab.route("**/explorer.json", lambda route: waiting.append(route))
        with tab.expect_request("**/explorer.json"):
            tab.goto(base + PAGE)
        before: int = tab.evaluate(f"{rows}.length")
        waiting[0].abort()
        tab.wait_for_selector(".fb-explorer[data-ready]")
        return before, tab.evaluate(f"{rows}.length")

    before, after = surf(inside)
    assert 10 < before <= 60 and after > 300


def _plain(context: Any, base: str) -> tuple[int, str]:
    tab = context.new_page()
    tab.goto(base + PAGE)
    count_, heads = tab.locator(".fb-all tbody tr").count(), tab.inner_text(".fb-all thead")
    tab.get_by_role("link", name="the pictures").click()
    # A click returns before the next page is read: wait for what it shows.
    tab.locator(".fb-trend svg").first.wait_for()
    return count_, heads


def _late(context: Any, base: str) -> dict[str, Any]:
    """What a reader gets who is faster than the values, and one who never gets them."""
    tab = context.new_page()
    tab.goto(base + PAGE)
    tab.wait_for_selector(".fb-explorer[data-ready]")
    tab.get_by_role("tab", name="Scatter").click()
    tab.locator(".fb-scatter a").first.wait_for()
    context.route("**/explorer-values.json", lambda route: route.abort())
    other = context.new_page()
    other.goto(f"{base}{PAGE}?view=compare&compare=h100-sxm")
    other.get_by_text("The values could not be loaded; try again.").wait_for()
    return {"rows": other.locator(".fb-all tbody tr").count()}


def test_a_view_waits_for_its_values_and_says_when_they_do_not_come(surf: Any, base: str) -> None:
    assert surf(_late, base)["rows"] > 0


def test_without_javascript_it_is_a_plain_table_with_pictures(surf: Any, base: str) -> None:
    rows, heads = surf(_plain, base, java_script_enabled=False)
    assert rows == len(entry_ids())
    assert "bf16 2:4 sparse" in heads and "bf16 sparsity unstated" in heads


@at("?view=compare&compare=nvidia/h100-sxm,amd/mi300x")
def test_print_shows_the_view_without_its_controls(tab: Any) -> None:
    tab.emulate_media(media="print")
    assert tab.locator(".fb-compare").is_visible()
    assert not tab.locator(".fb-panel").is_visible() and not tab.locator(".fb-all").is_visible()


@at("", viewport={"width": 360, "height": 800})
def test_filters_are_folded_on_a_phone(tab: Any) -> None:
    fold = tab.get_by_role("button", name="Filters", exact=True)
    assert (
        not tab.get_by_label("Find", exact=True).is_visible()
        and fold.get_attribute("aria-expanded") == "false"
    )
    fold.click()
    tab.get_by_label("Find", exact=True).fill("b200")
    assert fold.get_attribute("aria-expanded") == "true" and count(tab) >= 1


@at("", reduced_motion="reduce")
def test_nothing_moves_for_those_who_ask_for_that(tab: Any) -> None:
    moving = (
        "[...document.querySelectorAll('.fb-explorer *')]"
        ".filter(e => getComputedStyle(e).transitionDuration !== '0s')"
    )
    assert tab.evaluate(f"{moving}.length") == 0
