"""The glossary and the cheat sheet in a real browser.

Mouse, keyboard, touch, no JavaScript, search, and paper.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from flopbook.data.library import glossary
from scripts.website.build.weigh import visit
from tests.support.browsing import faults

CHAPTER = "handbook/inference/"
TERMS = {term.id: term for term in glossary()}
BOX = "#fb-meaning"
MINIMUM_PT = 6.5


def opened(context: Any, base: str, page: str = CHAPTER) -> Any:
    tab = context.new_page()
    visit(tab, base + page)
    return tab


def term_of(link: Any) -> str:
    return str(link.get_attribute("href")).rpartition("#")[2]


def test_chapters_and_calculators_link_terms_and_bring_no_meaning(site: Path) -> None:
    """The words are in one file that a page does not load; each term is linked once in a text."""
    words = json.loads((site / "assets/flopbook/glossary.json").read_text(encoding="utf-8"))
    assert set(words) == set(TERMS)
    for path in [*site.glob("handbook/*/index.html"), *site.glob("calculators/*/index.html")]:
        text = path.read_text(encoding="utf-8")
        prose = re.sub(r"<table>.*?</table>", "", text, flags=re.DOTALL)
        ids = re.findall(r'class="fb-term" title="Glossary" href="[./]*glossary/#([\w-]+)"', prose)
        assert set(ids) <= set(TERMS) and (len(ids) >= 15 or "handbook" not in path.parts), path
        assert not any(TERMS[name].meaning in text for name in ids[:5]), path


def test_headings_links_and_code_have_no_terms(site: Path) -> None:
    for path in site.glob("handbook/*/index.html"):
        text = path.read_text(encoding="utf-8")
        for tag in ("h1", "h2", "h3", "code", "pre", "th", "math", "svg", "button"):
            for inside in re.findall(rf"<{tag}\b[^>]*>(.*?)</{tag}>", text, re.DOTALL):
                assert "fb-term" not in inside, (path, tag, inside[:80])
        assert not re.search(r"<a [^>]*>[^<]*<a ", text), path


def test_every_term_is_a_result_of_the_search(site: Path) -> None:
    """The index has a section for each entry, with its anchor."""
    docs = json.loads((site / "search/documents.json").read_text(encoding="utf-8"))
    found = {
        doc["location"].partition("#")[2]: doc
        for doc in docs
        if doc["location"].startswith("glossary/")
    }
    assert set(TERMS) <= set(found)
    assert (
        "ridge point" in found["ridge-point"]["title"]
        and "memory bandwidth" in found["ridge-point"]["text"]
    )


def test_the_markdown_twin_of_a_chapter_is_plain(site: Path) -> None:
    assert "glossary/" not in (site / CHAPTER / "index.md").read_text(encoding="utf-8")
    assert "ridge point" in (site / "glossary/index.md").read_text(encoding="utf-8")


def _mouse(context: Any, base: str) -> dict[str, Any]:
    tab = context.new_page()
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    visit(tab, base + CHAPTER)
    asked_at_first = len(asked)
    link = tab.locator("a.fb-term").nth(2)
    before = tab.locator(BOX).count()
    link.hover()
    tab.wait_for_selector(BOX)
    name, text = term_of(link), tab.inner_text(BOX)
    described = link.get_attribute("aria-describedby")
    tab.hover(BOX)  # the pointer may go on to the words, and they stay
    tab.wait_for_timeout(500)
    stays = tab.is_visible(BOX)
    tab.mouse.move(5, 5)
    tab.wait_for_selector(BOX, state="hidden")
    link.hover()
    tab.wait_for_selector(BOX)
    tab.keyboard.press("Escape")
    return {
        "before": before,
        "name": name,
        "text": text,
        "described": described,
        "stays": stays,
        "asked": [name for name in asked if name in ("glossary.json", "terms.js")],
        "asked at first": asked[:asked_at_first],
        "escaped": not tab.is_visible(BOX),
        "left": link.get_attribute("aria-describedby"),
    }


@pytest.mark.browser
def test_a_term_says_what_it_means_under_the_mouse(surf: Any, base: str) -> None:
    """Hoverable, persistent and dismissible (WCAG 1.4.13).

    Words and script come when they are needed, once.
    """
    seen = surf(_mouse, base)
    assert seen["before"] == 0 and TERMS[seen["name"]].meaning in seen["text"]
    assert seen["described"] == "fb-meaning" and seen["left"] is None
    assert seen["stays"] and seen["escaped"]
    assert sorted(seen["asked"]) == ["glossary.json", "terms.js"]
    assert not set(seen["asked"]) & set(seen["asked at first"])


def _keys(context: Any, base: str) -> list[Any]:
    tab = opened(context, base)
    first = tab.locator("a.fb-term").nth(0)
    first.evaluate("node => node.scrollIntoView({block: 'center'})")
    first.focus()
    tab.wait_for_selector(BOX)
    seen: list[Any] = [term_of(first), tab.inner_text(BOX)]
    tab.keyboard.press("Escape")
    seen += [tab.is_visible(BOX), tab.evaluate("document.activeElement.className")]
    tab.locator("a.fb-term").nth(1).focus()
    tab.wait_for_selector(BOX)
    seen += [tab.inner_text(BOX), term_of(tab.locator("a.fb-term").nth(1))]
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/glossary/#*")
    return [*seen, tab.url.rpartition("#")[2]]


@pytest.mark.browser
def test_a_term_says_what_it_means_on_focus(surf: Any, base: str) -> None:
    """Escape closes the words and keeps the focus; Enter follows the link to the entry."""
    name, text, open_still, focused, next_text, next_name, went = surf(_keys, base)
    assert TERMS[name].meaning in text and not open_still and "fb-term" in focused
    assert TERMS[next_name].meaning in next_text and went == next_name


def _in_a_table(context: Any, base: str) -> list[Any]:
    tab = opened(context, base, "calculators/min-batch/")
    link = tab.locator("tbody th a.fb-term").first
    link.hover()
    tab.wait_for_selector(BOX)
    covered = """() => {
      const {x, y, width, height} =
        document.querySelector('#fb-meaning').getBoundingClientRect();
      return [[2, 2], [width / 2, height / 2], [width - 2, height - 2]].every(([dx, dy]) =>
        document.elementFromPoint(x + dx, y + dy)?.closest('#fb-meaning')); }"""
    return [tab.evaluate(covered), tab.inner_text(BOX), term_of(link)]


@pytest.mark.browser
def test_an_input_of_a_calculator_says_what_it_is(surf: Any, base: str) -> None:
    """From the table of symbols; the cells that stick to its edge do not cover the words."""
    whole, text, name = surf(_in_a_table, base)
    assert whole and TERMS[name].meaning in text


def _touch(context: Any, base: str) -> list[Any]:
    tab = opened(context, base)
    link = tab.locator("a.fb-term").nth(3)
    name = term_of(link)
    link.tap()
    tab.wait_for_selector(BOX)
    seen: list[Any] = [name, tab.url.endswith(CHAPTER), tab.inner_text(BOX)]
    box, width = tab.locator(BOX).bounding_box(), tab.viewport_size["width"]
    seen += [box["x"] >= 0 and box["x"] + box["width"] <= width]
    tab.touchscreen.tap(200, 20)
    seen += [tab.is_visible(BOX)]
    link.tap()
    tab.wait_for_selector(BOX)
    link.tap()
    tab.wait_for_url("**/glossary/#*")
    return [*seen, tab.url.rpartition("#")[2]]


@pytest.mark.browser
def test_the_first_touch_tells_and_the_second_follows(surf: Any, base: str) -> None:
    """A touch elsewhere closes; nothing is beyond the edge of a small screen."""
    options = {"has_touch": True, "is_mobile": True, "viewport": {"width": 390, "height": 800}}
    name, stayed, text, inside, open_still, went = surf(_touch, base, **options)
    assert stayed and TERMS[name].meaning in text and inside and not open_still and went == name


def _plain(context: Any, base: str) -> list[Any]:
    tab = opened(context, base)
    link = tab.locator("a.fb-term").first
    seen = [link.get_attribute("title"), term_of(link)]
    link.click()
    tab.wait_for_url("**/glossary/#*")
    name = tab.locator(f'[id="{seen[1]}"]').inner_text()
    return [*seen, name, tab.locator("#fb-filter:visible").count()]


@pytest.mark.browser
def test_without_javascript_a_link_and_its_title_remain(surf: Any, base: str) -> None:
    title, name, heading, filters = surf(_plain, base, java_script_enabled=False)
    assert title == "Glossary" and heading == TERMS[name].term and filters == 0


def _failing(context: Any, base: str) -> tuple[bool, list[str]]:
    tab = context.new_page()
    errors: list[str] = []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.route("**/glossary.json", lambda route: route.abort())
    visit(tab, base + CHAPTER)
    tab.locator("a.fb-term").first.hover()
    tab.wait_for_timeout(300)
    return tab.locator(BOX).count() > 0 and tab.is_visible(BOX), errors


@pytest.mark.browser
def test_without_the_words_a_term_is_a_link(surf: Any, base: str) -> None:
    """A file that does not come leaves no empty box and no error."""
    assert surf(_failing, base) == (False, [])


def _open_faults(context: Any, base: str) -> dict[str, Any]:
    tab = opened(context, base)
    tab.locator("a.fb-term").nth(2).focus()
    tab.wait_for_selector(BOX)
    return faults(tab)


@pytest.mark.browser
def test_an_open_term_has_no_fault(surf: Any, base: str) -> None:
    assert surf(_open_faults, base) == {}


def _filter(context: Any, base: str) -> list[Any]:
    tab = opened(context, base, "glossary/")
    shown = (
        "() => [...document.querySelectorAll('.fb-entry:not([hidden]) h3')].map(node => node.id)"
    )
    heads = (
        "() => [...document.querySelectorAll('h2:not([hidden])')].map(node => node.textContent[0])"
    )
    seen = [len(tab.evaluate(shown))]
    tab.fill("#fb-filter", "ridge POINT")
    seen += [tab.evaluate(shown), tab.evaluate(heads), tab.inner_text(".fb-hint"), faults(tab)]
    tab.fill("#fb-filter", "no such term")
    seen += [tab.evaluate(shown), tab.inner_text(".fb-hint")]
    tab.fill("#fb-filter", "")
    return [*seen, len(tab.evaluate(shown))]


@pytest.mark.browser
def test_the_glossary_is_filtered_while_typing(surf: Any, base: str) -> None:
    """All words must be there; letters without terms vanish; an empty field shows all again."""
    count, found, heads, said, wrong, none, said_none, again = surf(_filter, base)
    assert count == again == len(TERMS) and "ridge-point" in found and len(found) < 20
    assert "R" in heads and "Z" not in heads and wrong == {}
    assert (
        said == f"{len(found)} of {count} terms"
        and none == []
        and said_none == f"0 of {count} terms"
    )


def _printed(context: Any, base: str) -> dict[str, Any]:
    tab = opened(context, base, "cheat-sheet/")
    pages = {
        (size, landscape): len(
            re.findall(rb"/Type\s*/Page\b", tab.pdf(format=size, landscape=landscape))
        )
        for size in ("A4", "Letter")
        for landscape in (False, True)
    }
    sizes = {}
    for orientation in ({"width": 800, "height": 1100}, {"width": 1100, "height": 800}):
        tab.set_viewport_size(orientation)
        tab.emulate_media(media="print", color_scheme="dark")
        read = """() => [...document.querySelectorAll('.fb-sheet :is(p, a, th, td, h2)')]
          .map(node => parseFloat(getComputedStyle(node).fontSize) * 0.75)"""
        sizes[orientation["width"]] = min(tab.evaluate(read))
    ink = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    return {"pages": pages, "sizes": sizes, "ink": ink, "button": tab.is_visible(".fb-buttons")}


@pytest.mark.browser
def test_the_cheat_sheet_is_one_page_of_either_paper(surf: Any, base: str) -> None:
    """A4 and Letter, upright and across, in 6.5 points at least, light, without its button."""
    seen = surf(_printed, base)
    assert set(seen["pages"].values()) == {1}, seen["pages"]
    assert min(seen["sizes"].values()) >= MINIMUM_PT - 0.01, seen["sizes"]
    assert seen["ink"] in ("rgb(255, 255, 255)", "rgba(0, 0, 0, 0)") and not seen["button"]


def _button(context: Any, base: str) -> list[Any]:
    tab = opened(context, base, "cheat-sheet/")
    tab.evaluate("() => { window.print = () => { window.printed = true; }; }")
    tab.get_by_role("button", name="Print").click()
    wide = []
    for width in (390, 768, 1280):
        tab.set_viewport_size({"width": width, "height": 900})
        wide.append(tab.evaluate("document.documentElement.scrollWidth <= innerWidth"))
    return [tab.evaluate("window.printed"), wide, faults(tab)]


@pytest.mark.browser
def test_the_button_prints_and_the_sheet_fits_every_window(surf: Any, base: str) -> None:
    assert surf(_button, base) == [True, [True, True, True], {}]
