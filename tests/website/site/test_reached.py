"""The table of published runs in a browser: filters, order and link; all of it without a script."""

from __future__ import annotations

from typing import Any

import pytest

from scripts.website.pages.reached import FIRST, runs_on, shown_runs
from scripts.website.pages.run_kinds import TITLES
from tests.support.browsing import faults

pytestmark = pytest.mark.browser

PAGE = "reached/"
_SHOWN = """() => [...document.querySelectorAll('.fb-runs tbody tr')].filter(row => !row.hidden)
    .map(row => [...row.cells].map(cell => cell.textContent.trim()))"""


def ready(context: Any, base: str, query: str = "") -> Any:
    """A tab with the table, ready for use: its rows come when a reader comes near."""
    tab = context.new_page()
    tab.goto(base + PAGE + query)
    assert tab.locator(".fb-runs tbody tr").count() in (FIRST, len(shown_runs()))
    tab.locator("#all-of-them").scroll_into_view_if_needed()
    tab.wait_for_selector(".fb-reached[data-ready]")
    return tab


def test_a_link_filters_by_chip_and_kind(surf: Any, base: str) -> None:
    def use(context: Any) -> None:
        tab = ready(context, base, "?chip=nvidia/h100-sxm&kind=matmul")
        wanted = [
            run
            for run in shown_runs()
            if run.chip == "nvidia/h100-sxm" and run.row.kind == "matmul_peak"
        ]
        assert len(tab.evaluate(_SHOWN)) == len(wanted) > 3
        tab.get_by_role("button", name="Clear filters").click()
        assert f"{len(shown_runs()):,} of" in tab.inner_text(".fb-count")
        assert tab.evaluate("location.search") == ""

    surf(use)


def test_a_choice_is_kept_in_the_address_and_words_are_found(surf: Any, base: str) -> None:
    def use(context: Any) -> None:
        tab = ready(context, base)
        assert len(tab.evaluate(_SHOWN)) == 100
        tab.get_by_placeholder("configuration, software, source").fill("maxtext")
        tab.wait_for_function("location.search === '?find=maxtext'")
        rows = tab.evaluate(_SHOWN)
        assert rows and all("maxtext" in " ".join(row).lower() for row in rows)
        # A scan looks through hidden rows too, for nothing: two thousand of them take most of its
        # time.
        tab.evaluate("document.querySelectorAll('.fb-runs tr[hidden]').forEach(r => r.remove())")
        assert faults(tab) == {}

    surf(use)


def test_the_first_rows_are_those_of_the_order(surf: Any, base: str) -> None:
    """Sorted by what was reached, the highest share of a filter stands first."""

    def use(context: Any) -> None:
        tab = ready(context, base, "?kind=matmul")
        tab.locator(".fb-runs thead").get_by_role("button", name="Share of printed").click()
        shares = [float(row[3].split()[0]) for row in tab.evaluate(_SHOWN)]
        assert shares == sorted(shares, reverse=True) and len(shares) > 20

    surf(use)


def test_an_unknown_name_in_a_link_is_said(surf: Any, base: str) -> None:
    def use(context: Any) -> None:
        tab = ready(context, base, "?chip=nvidia/h1000")
        assert "asks for chip 'nvidia/h1000', which" in tab.inner_text(".fb-wrong")

    surf(use)


def test_without_a_script_every_run_is_there_and_in_view(surf: Any, base: str) -> None:
    def use(context: Any) -> None:
        tab = context.new_page()
        tab.goto(base + PAGE)
        assert tab.locator(".fb-runs tbody tr").count() == FIRST
        assert tab.locator(".fb-panel button").count() == 0
        for page, title in TITLES.items():
            tab.click(f"p.fb-more >> text={title}")
            tab.wait_for_load_state()
            assert tab.locator(".fb-runs tbody tr").count() == len(runs_on(page))
            frame = tab.locator(".fb-scroll:has(.fb-runs)")
            assert frame.evaluate("frame => frame.scrollWidth - frame.clientWidth") == 0
            tab.goto(base + PAGE)

    surf(use, java_script_enabled=False, viewport={"width": 1440, "height": 900})


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone(surf: Any, base: str, scheme: str) -> None:
    def use(context: Any) -> None:
        tab = ready(context, base)
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        tab.get_by_role("button", name="Filters").click()
        assert tab.get_by_placeholder("configuration, software, source").is_visible()

    surf(use, viewport={"width": 390, "height": 800}, color_scheme=scheme)
