"""Reading a chapter in a real browser.

The place, what was read, links to all parts, copying, paper, a phone.
"""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
from bs4 import BeautifulSoup, SoupStrainer

from scripts.website.build.handbook import chapters
from scripts.website.build.weigh import visit
from tests.support.browsing import faults, settle

CHAPTERS = [one.page.removesuffix(".md") + "/" for one in chapters()]
_END = "document.getElementById('key-points').scrollIntoView()"

# All else of a page takes ten times as long to read.
_FOOTER_LINKS = SoupStrainer("a", class_=re.compile(r"\bmd-footer__link\b"))


def _soup(site: Path, page: str) -> BeautifulSoup:
    return BeautifulSoup((site / page / "index.html").read_text(encoding="utf-8"), "html.parser")


def _read(tab: Any, base: str, page: str) -> None:
    tab.goto(base + page)
    tab.wait_for_selector(".fb-progress", state="attached")
    tab.evaluate(_END)
    settle(tab, 60)


def test_chapters_lead_to_each_other_in_order(site: Path) -> None:
    """The handbook's page, the chapters, and what comes after the last."""
    pages = ["handbook/", *CHAPTERS]
    hrefs = {page: [link["href"] for link in _footer(site, page)] for page in pages}
    for before, after in itertools.pairwise(pages):
        assert _target(before, hrefs[before][-1]) == after, before
        assert _target(after, hrefs[after][0]) == before, after


def _footer(site: Path, page: str) -> list[Any]:
    """The links to the page before and the page after."""
    text = (site / page / "index.html").read_text(encoding="utf-8")
    return list(BeautifulSoup(text, "html.parser", parse_only=_FOOTER_LINKS).select("a"))


def _target(page: str, href: str) -> str:
    return urljoin(f"http://x/{page}", href).removeprefix("http://x/")


@pytest.mark.browser
def test_a_bar_shows_the_place_and_moves_nothing(surf: Any, base: str) -> None:
    def scales(context: Any) -> list[float]:
        tab = context.new_page()
        tab.goto(base + CHAPTERS[0])
        tab.wait_for_selector(".fb-progress", state="attached")
        seen = []
        for part in (0, 0.5, 1):
            tab.evaluate(f"scrollTo(0, document.documentElement.scrollHeight * {part})")
            settle(tab, 60)
            seen.append(
                tab.evaluate(
                    "new "
                    "DOMMatrix(getComputedStyle(document.querySelector('.fb-progress')).transform).a"
                )
            )
        style = tab.evaluate(
            "(({position, transitionDuration}) => [position, transitionDuration])"
            "(getComputedStyle(document.querySelector('.fb-progress')))"
        )
        assert style == ["fixed", "0s"]
        assert tab.get_attribute(".fb-progress", "aria-hidden") == "true"
        return seen

    first, middle, last = surf(scales, reduced_motion="reduce")
    assert first == 0 < middle < last == 1


@pytest.mark.browser
def test_without_javascript_there_is_no_bar_and_no_state(surf: Any, base: str) -> None:
    def parts(context: Any) -> list[int]:
        tab = context.new_page()
        tab.goto(base + CHAPTERS[0])
        return [
            tab.locator(name).count()
            for name in (".fb-progress", ".fb-reading", ".fb-tools", ".fb-exercise[id]")
        ]

    bar, state, tools, exercises = surf(parts, java_script_enabled=False)
    assert bar == state == tools == 0 and exercises >= 5


@pytest.mark.browser
def test_what_was_read_is_marked_continued_and_forgotten(surf: Any, base: str) -> None:
    """In the browser only.

    Nothing is asked of another host, and the record holds names of chapters and headings.
    """

    def story(context: Any) -> None:
        asked: list[str] = []
        tab = context.new_page()
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(base + "handbook/")
        assert tab.locator(".fb-reading").count() == 0, "who has read nothing is told nothing"
        _read(tab, base, CHAPTERS[1])
        _read(tab, base, CHAPTERS[2])
        tab.goto(base + "handbook/")
        assert f"2 of {len(CHAPTERS)}" in tab.inner_text(".fb-reading")
        assert "in your browser only" in tab.inner_text(".fb-reading")
        assert tab.locator("ol > li .fb-done").count() == 2
        assert tab.locator(".md-nav--primary .fb-done").count() == 2
        assert faults(tab) == {}
        tab.set_viewport_size({"width": 1280, "height": 800})
        tab.click(".fb-reading a")
        tab.wait_for_load_state()
        assert tab.url.startswith(f"{base}{CHAPTERS[2]}#")
        assert tab.locator(f"[id='{tab.url.partition('#')[2]}']").count() == 1
        kept = json.loads(tab.evaluate("localStorage.getItem('flopbook.reading')"))
        assert set(kept) == {"read", "last"} and kept["read"] == [
            page.split("/")[1] for page in CHAPTERS[1:3]
        ]
        tab.goto(base + "handbook/")
        tab.click("text=Forget what I have read")
        assert tab.evaluate("localStorage.getItem('flopbook.reading')") is None
        assert tab.locator(".fb-done").count() == 0 and "Forgotten" in tab.inner_text(":focus")
        assert all(url.startswith(base) for url in asked)

    surf(story)


@pytest.mark.browser
@pytest.mark.parametrize(
    "text", ["{", "null", "[]", '{"read": 1}', '{"read": ["x", 2], "last": {"chapter": 3}}']
)
def test_a_broken_record_breaks_no_page(surf: Any, base: str, text: str) -> None:
    def story(context: Any) -> tuple[list[str], str]:
        said: list[str] = []
        tab = context.new_page()
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.goto(base + "handbook/")
        tab.evaluate("text => localStorage.setItem('flopbook.reading', text)", text)
        tab.reload()
        _read(tab, base, CHAPTERS[0])
        tab.goto(base + "handbook/")
        tab.wait_for_selector(".fb-reading")
        return said, tab.inner_text(".fb-reading")

    said, shown = surf(story)
    assert said == [] and f"1 of {len(CHAPTERS)}" in shown


@pytest.mark.browser
def test_every_figure_exercise_and_formula_has_its_link_and_formulas_their_latex(
    surf: Any, base: str
) -> None:
    def story(context: Any) -> str:
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        tab = context.new_page()
        for page in ("handbook/fsdp/", "handbook/roofline/"):  # one that lives, and ones in a frame
            tab.goto(base + page)
            tab.wait_for_selector(".fb-tools", state="attached")
            # A figure in a frame has its link in its menu.
            links = tab.evaluate(
                "[...document.querySelectorAll('article a.headerlink, .fb-menu a[href^=\"#\"]')]"
                ".map(a => a.getAttribute('href').slice(1))"
            )
            ids = tab.evaluate(
                "[...document.querySelectorAll('.fb-figure[id], .fb-exercise[id], "
                ".fb-maths[id]')].map(e => e.id)"
            )
            assert len(ids) > 10 and not set(ids) - set(links)
        tab.hover(".fb-maths")
        tab.click(".fb-maths + .fb-tools button")
        tab.wait_for_selector("text=Copied")
        return tab.evaluate("navigator.clipboard.readText()")

    assert surf(story).startswith("T")


@pytest.mark.browser
@pytest.mark.parametrize(
    "page", ["handbook/roofline/", "calculators/min-batch/", "notebooks/min-batch/", "using/"]
)
def test_every_block_of_code_can_be_copied(surf: Any, base: str, page: str) -> None:
    def counts(context: Any) -> list[int]:
        tab = context.new_page()
        tab.goto(base + page)
        tab.wait_for_selector(".fb-copy", state="attached")
        return [
            tab.locator(name).count()
            for name in ("article pre:not(.fb-output)", "article pre", ".fb-copy")
        ]

    code, _, buttons = surf(counts)
    assert code == buttons > 0


@pytest.mark.browser
def test_the_keyboard_reaches_the_text_the_search_and_the_answers(surf: Any, base: str) -> None:
    def story(context: Any) -> None:
        tab = context.new_page()
        tab.goto(base + "handbook/roofline/")
        tab.keyboard.press("Tab")
        assert "md-skip" in tab.evaluate("document.activeElement.className")
        tab.wait_for_function(
            "getComputedStyle(document.activeElement).opacity !== '0'"
        )  # it fades in
        tab.keyboard.press("Enter")
        assert tab.url.endswith("#rooflines-and-the-minimum-batch")
        answer = tab.locator("details.success > summary").first
        answer.focus()
        assert tab.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
        tab.keyboard.press("Enter")
        assert tab.locator("details.success").first.get_attribute("open") is not None
        for key in ("/", "s"):
            tab.goto(base + "handbook/batch/")
            tab.keyboard.press(key)
            assert tab.evaluate("document.activeElement.name") == "query"

    surf(story)


@pytest.mark.browser
def test_paper_shows_answers_whole_figures_and_no_navigation(surf: Any, base: str) -> None:
    def story(context: Any) -> None:
        tab = context.new_page()
        visit(tab, base + "handbook/fsdp/")
        tab.emulate_media(media="print")
        tab.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert tab.locator("details.success:not([open])").count() == 0
        for name in (
            ".md-header",
            ".md-sidebar",
            ".md-footer",
            ".fb-progress",
            ".fb-copy",
            ".fb-tools",
            ".md-tabs",
            ".fb-typed",
        ):
            assert not any(one.is_visible() for one in tab.locator(name).all()), name
        for kept in ("figure", ".md-typeset__scrollwrap"):
            assert (
                tab.evaluate(
                    "name => getComputedStyle(document.querySelector(name)).breakInside", kept
                )
                == "avoid"
            )
        tab.evaluate("dispatchEvent(new Event('afterprint'))")
        assert tab.locator("details.success[open]").count() == 0

    surf(story)


def test_the_bibtex_of_a_chapter_names_it(site: Path) -> None:
    for one in chapters():
        page = _soup(site, one.page.removesuffix(".md"))
        text = page.select("pre.fb-bibtex")[-1].get_text()
        assert f"handbook/{Path(one.page).stem}" in text and re.search(
            r"@misc\{\w+,\n(  \w+ = \{.*\},?\n)+\}", text
        )
        assert BeautifulSoup(one.title, "html.parser").get_text().split()[0] in text
