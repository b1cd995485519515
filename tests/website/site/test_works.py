"""All works in a browser.

Filters, search in notes, sources, choice, copying and export, with the state in the link.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flopbook.data.library import reference, references, topics
from tests.support.browsing import faults

pytestmark = pytest.mark.browser

PAGE = "references/works/"
PAGES = (PAGE, *(f"references/works-to-{year}/" for year in (2025, 2024, 2021)))
_SAID_MS = 3_000  # how long a button says what it did
READY = ".fb-works[data-ready]:not([aria-busy])"
WORKS = {key for key, item in references().items() if item.is_work}


def library(context: Any, base: str, query: str = "") -> Any:
    """A tab with the list, ready for use."""
    tab = context.new_page()
    tab.goto(base + PAGE + query)
    tab.wait_for_selector(READY)
    return tab


def at(query: str = "", **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A test whose function gets a tab with the list in that state."""

    def wrap(use: Callable[..., Any]) -> Callable[..., Any]:
        def test(surf: Any, base: str) -> None:
            surf(
                lambda context: use(library(context, base, query)),
                **{"viewport": {"width": 1280, "height": 900}, **options},
            )

        test.__name__, test.__doc__ = use.__name__, use.__doc__
        return test

    return wrap


def keys(tab: Any) -> list[str]:
    """What is listed, all of it."""
    tab.wait_for_selector(READY)
    more = tab.locator(".fb-more")
    if more.is_visible():
        more.click()
        tab.wait_for_selector(READY)
    return tab.evaluate(
        "[...document.querySelectorAll('.fb-works .fb-list li')].map(row => row.id)"
    )


def state(tab: Any) -> str:
    return tab.evaluate("location.search.slice(1)")


def tick(tab: Any, facet: str, label: str) -> None:
    box = tab.locator(".fb-facets .fb-facet").filter(
        has=tab.locator(f"summary:has-text('{facet}:')")
    )
    box.locator("summary").click()
    box.get_by_label(label, exact=True).click()
    tab.keyboard.press("Escape")


def test_the_whole_state_is_in_the_link(surf: Any, base: str) -> None:
    def inside(context: Any) -> None:
        tab = library(context, base)
        assert state(tab) == "" and set(keys(tab)) == WORKS
        tick(tab, "Topic", "Inference optimizations")
        tick(tab, "Type", "paper")
        tab.get_by_label("Year from").fill("2022")
        tab.get_by_label("with code").check()
        tab.get_by_label("Order").select_option("author")
        tab.locator(".fb-list li input").first.check()
        seen, asked = keys(tab), state(tab)
        for part in (
            "topic=inference",
            "kind=paper",
            "from=2022",
            "code=1",
            "sort=author",
            f"pick={seen[0]}",
        ):
            assert part in asked
        assert seen == sorted(seen) and all(_fits(reference(key)) for key in seen) and len(seen) > 1
        other = library(context, base, f"?{asked}")
        assert keys(other) == seen and state(other) == asked
        assert other.locator(
            ".fb-list li input:checked"
        ).count() == 1 and "1 chosen" in other.inner_text(".fb-count")
        other.get_by_role("button", name="Clear filters").click()
        assert set(keys(other)) == WORKS and "pick=" in state(other)
        other.go_back()
        assert keys(other) == seen

    surf(inside)


def _fits(item: Any) -> bool:
    below = next({one.id for one in top.walk()} for top in topics() if top.id == "inference")
    return (
        bool(below.intersection(item.topics))
        and item.kind == "paper"
        and item.year >= 2022
        and bool(item.code)
    )


@at("?kind=paper&topic=nonsense&kind2=x&sort=price&from=abc&pick=nobody2020x&vendor=nobody")
def test_a_broken_link_does_what_it_can_and_says_what_not(tab: Any) -> None:
    said = tab.inner_text(".fb-panel > .fb-wrong")
    for name in ("nonsense", "price", "abc", "nobody2020x", "nobody", "kind2"):
        assert f"'{name}'" in said
    assert {reference(key).kind for key in keys(tab)} == {"paper"}


@at()
def test_words_are_found_in_titles_authors_and_notes(tab: Any) -> None:
    """Of a work that only its note explains, the note is shown."""
    find = tab.get_by_label("Find", exact=True)
    find.press_sequentially("waterman ROOFLINE")
    assert "williams2009roofline" in keys(tab)
    assert state(tab) == "find=waterman%20ROOFLINE"
    word = next(
        one
        for one in reference("williams2009roofline").annote.split()
        if len(one) > 8 and one.isalpha()
    )
    find.fill(word)
    row = tab.locator("#williams2009roofline")
    row.locator(".fb-annote").wait_for()
    assert row.locator(".fb-annote").text_content() == reference("williams2009roofline").annote
    many = next(
        item for key, item in references().items() if key in WORKS and len(item.people) > 12
    )
    find.fill(many.people[8].full)
    tab.wait_for_function(f"document.getElementById('{many.key}')?.isConnected")
    find.fill("no work has these words")
    assert keys(tab) == [] and "include the sources" in tab.inner_text(".fb-nothing")


@at("?notes=1")
def test_notes_are_shown_on_demand(tab: Any) -> None:
    tab.locator(".fb-list .fb-annote").first.wait_for()
    first = keys(tab)[0]
    # Rows that are far from the window are not laid out, and have no inner text.
    assert tab.locator(f"#{first} .fb-annote").text_content() == reference(first).annote
    tab.get_by_label("show notes").uncheck()
    assert not tab.locator(f"#{first} .fb-annote").is_visible()


def test_sources_come_on_demand_and_with_a_link_that_names_one(surf: Any, base: str) -> None:
    def inside(context: Any) -> None:
        tab = library(context, base)
        tab.get_by_label("sources of values too").check()
        tab.wait_for_function(
            f"document.querySelector('.fb-count').textContent.includes(' {len(references()):,} ')"
        )
        assert set(keys(tab)) == set(references())
        link = tab.locator("#aiwiki2026h200 a").first
        assert (
            link.evaluate("link => link.href")
            == f"{base}references/accelerators-nvidia/#aiwiki2026h200"
        )
        other = library(context, base, "?pick=aiwiki2026h200")
        assert other.inner_text(".fb-panel > .fb-wrong") == "" and "1 chosen" in other.inner_text(
            ".fb-count"
        )
        assert "aiwiki2026h200" not in keys(other)

    surf(inside)


def test_bibtex_and_citation_are_copied_and_the_choice_is_exported(surf: Any, base: str) -> None:
    def inside(context: Any) -> None:
        context.clock.install()
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        tab = library(context, base, "?find=roofline&pick=williams2009roofline,chng2024roofline")
        row = tab.locator("#williams2009roofline")
        for name, said in (
            ("BibTeX", "@"),
            ("citation", "Samuel Williams, Andrew Waterman, David Patterson. Roofline:"),
        ):
            row.get_by_role("button", name=f"Copy {name} of").click()
            row.get_by_text("Copied").wait_for()
            text = tab.evaluate("navigator.clipboard.readText()")
            assert text.startswith(said) and ("williams2009roofline" in text) == (name == "BibTeX")
            tab.clock.fast_forward(_SAID_MS)
            tab.wait_for_function(
                "!document.querySelector('.fb-works').textContent.includes('Copied')"
            )
        picked = {"williams2009roofline", "chng2024roofline"}
        assert _exported(tab, "BibTeX").count("\n@") + 1 == 2
        records = json.loads(_exported(tab, "CSL-JSON"))
        assert {one["id"] for one in records} == picked and all(one["title"] for one in records)
        tab.get_by_role("button", name="Clear choice").click()
        assert {one["id"] for one in json.loads(_exported(tab, "CSL-JSON"))} == set(keys(tab))

    surf(inside, accept_downloads=True, alone=True)  # a clock stays with its context


def _exported(tab: Any, kind: str) -> str:
    with tab.expect_download() as got:
        tab.get_by_role("button", name=f"Export {kind}").click()
    tab.clock.fast_forward(_SAID_MS)
    tab.get_by_role("button", name=f"Export {kind}").wait_for()
    return Path(got.value.path()).read_text(encoding="utf-8")


def test_what_cannot_be_fetched_is_said(surf: Any, base: str) -> None:
    def inside(context: Any) -> None:
        context.route("**/*.json", lambda route: route.abort())
        context.route("**/references.bib", lambda route: route.abort())
        tab = library(context, base)
        tab.get_by_label("show notes").check()
        tab.get_by_text("The notes could not be loaded; try again.").wait_for()
        tab.get_by_role("button", name="Copy BibTeX of").first.click()
        tab.get_by_text("Not reached").wait_for()
        context.unroute("**/*.json")
        tab.get_by_label("show notes").uncheck()
        tab.get_by_label("show notes").check()
        tab.locator(".fb-list .fb-annote").first.wait_for()

    surf(inside)


@at("#williams2009roofline")
def test_an_anchor_leads_to_its_line(tab: Any) -> None:
    box = tab.locator("#williams2009roofline").bounding_box()
    assert 0 <= box["y"] < 900


def _checked(context: Any, base: str, query: str) -> dict[str, Any]:
    return faults(library(context, base, query))


@pytest.mark.parametrize(
    "query", ["?notes=1&sources=1&pick=chng2024roofline", "?find=no+such+words&topic=kernels"]
)
def test_each_state_is_accessible_and_fits_a_phone(surf: Any, base: str, query: str) -> None:
    assert surf(_checked, base, query) == {}


def _plain(context: Any, base: str) -> tuple[list[str], bool]:
    tab = context.new_page()
    rows: list[str] = []
    for page in PAGES:
        tab.goto(base + page)
        rows += tab.evaluate("[...document.querySelectorAll('.fb-list li')].map(row => row.id)")
    seen = tab.locator("h2#y2009").is_visible()
    tab.goto(base + PAGE)
    tab.get_by_role("link", name="up to 2021").click()
    tab.locator("h2#y2009").wait_for()
    return rows, seen


def test_without_javascript_they_are_plain_lists_by_year(surf: Any, base: str) -> None:
    """Each work is on one of the pages; the first leads to the others."""
    rows, seen = surf(_plain, base, java_script_enabled=False)
    assert len(rows) == len(WORKS) and set(rows) == WORKS and seen


def _asked(context: Any, base: str) -> list[int]:
    """Pages of earlier years that were asked for at first, after a filter, and after another."""
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    tab = library(context, base)
    counts = []
    for word in ("", "roofline", "ring"):
        tab.get_by_label("Find", exact=True).fill(word)
        tab.wait_for_selector(READY)
        counts.append(sum("works-to-" in url for url in asked))
    return counts


def test_earlier_years_come_once_and_only_when_asked_for(surf: Any, base: str) -> None:
    assert surf(_asked, base) == [0, 3, 3]


def test_earlier_years_that_cannot_be_fetched_are_said(surf: Any, base: str) -> None:
    def inside(context: Any) -> None:
        context.route("**/works-to-*/", lambda route: route.abort())
        tab = library(context, base)
        tab.get_by_label("Find", exact=True).fill("roofline")
        tab.get_by_text("The works of earlier years could not be loaded; try again.").wait_for()

    surf(inside)


@at("", viewport={"width": 360, "height": 800})
def test_filters_are_folded_on_a_phone(tab: Any) -> None:
    fold = tab.get_by_role("button", name="Filters", exact=True)
    assert (
        not tab.get_by_label("Find", exact=True).is_visible()
        and fold.get_attribute("aria-expanded") == "false"
    )
    fold.click()
    tab.get_by_label("Find", exact=True).fill("roofline")
    assert "williams2009roofline" in keys(tab)


@at("?find=roofline")
def test_print_shows_the_list_without_its_controls(tab: Any) -> None:
    tab.emulate_media(media="print")
    assert tab.locator("#williams2009roofline").is_visible()
    assert (
        not tab.locator(".fb-panel").is_visible()
        and not tab.locator(".fb-list input").first.is_visible()
    )
