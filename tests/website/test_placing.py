"""Where pages stand: five tabs, a way to each page, siblings beside it, acronyms in the menu."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from flopbook.data.library import entry_ids, load_entry, vendor_ids
from scripts.website.build.generator import CONFIG
from scripts.website.build.handbook import chapters
from scripts.website.build.nav import MENU, filled
from scripts.website.build.placing import place_of
from scripts.website.pages import errata, pairs
from scripts.website.pages.accelerators import entry_page
from scripts.website.pages.products import NO_FAMILY, families_of, family_anchor, short_name
from scripts.website.pages.sources import all_topics, topic_page
from scripts.website.pages.vendors import vendor_page

NAV = filled(yaml.safe_load(CONFIG.read_text(encoding="utf-8"))["nav"])


def titled(items: list[Any], tab: str = "") -> Iterator[tuple[str, str, str]]:
    """Tab, title and page of everything in the navigation; a page without a title has an empty."""
    for item in items:
        for title, target in item.items() if isinstance(item, dict) else [("", item)]:
            if isinstance(target, list):
                yield from titled(target, tab or title)
            else:
                yield tab, title, target


LISTED = list(titled(NAV))


def test_home_and_five_tabs() -> None:
    assert [next(iter(item)) for item in NAV] == [
        *("Home", "Learn", "Chips", "Calculate", "Papers", "About")
    ]


def test_every_tab_opens_with_a_page_and_no_page_stands_twice() -> None:
    assert len({page for _, _, page in LISTED}) == len(LISTED)
    firsts = {tab: page for tab, _, page in reversed(LISTED)}
    assert firsts["Learn"] == "handbook/index.md" and firsts["Papers"] == "references/index.md"
    assert firsts["Chips"] == "accelerators/index.md"
    assert firsts["Calculate"] == "calculators/index.md"


def test_notebooks_are_for_learning_and_all_chapters_are_in_order() -> None:
    learn = [page for tab, _, page in LISTED if tab == "Learn"]
    assert [page for page in learn if page in {one.page for one in chapters()}] == [
        chapter.page for chapter in chapters()
    ]
    assert {tab for tab, _, page in LISTED if page.startswith("notebooks/")} == {"Learn"}


@pytest.mark.parametrize("acronym", ["DP", "FSDP", "ZeRO", "TP", "SP", "PP", "EP", "CP"])
def test_the_menu_has_the_acronyms(acronym: str) -> None:
    titles = " ".join(title for tab, title, _ in LISTED if tab == "Learn")
    assert re.search(rf"\b{acronym}\b", titles)


def test_the_menu_names_chapters_that_there_are() -> None:
    assert set(MENU) <= {chapter.page for chapter in chapters()}


def test_what_the_navigation_lists_has_no_place_of_its_own() -> None:
    pages = {page for _, _, page in LISTED}
    assert [page for page in pages if place_of(page)] == []


def test_every_product_vendor_and_topic_has_a_place() -> None:
    for name in entry_ids():
        place = place_of(entry_page(name))
        assert place and place.tab == "Chips" and 'aria-current="page"' in place.siblings, name
    for name in vendor_ids():
        assert place_of(f"accelerators/{name}/index.md"), name
    for topic in all_topics():
        place = place_of(topic_page(topic.id))
        assert place and place.tab == "Papers" and 'aria-current="page"' in place.siblings


def test_a_comparison_stands_among_the_others_of_its_chips() -> None:
    for pair in pairs.all_pairs():
        place = place_of(pair.page)
        assert place and place.tab == "Chips" and "Comparisons" in place.trail
        assert place.siblings.count('aria-current="page"') == 1


def test_the_way_to_a_chip() -> None:
    place = place_of("accelerators/nvidia/h100-sxm.md")
    assert place
    assert re.findall(r'<a href="([^"]*)">([^<]*)</a>', place.trail) == [
        ("../../", "Chips"),
        ("../", "NVIDIA"),
    ]
    assert place.trail.count('aria-current="page"') == 1
    assert "Hopper" in place.siblings and 'href="../h200-sxm/"' in place.siblings
    assert "../a100-sxm-80gb/" not in place.siblings and "../#family-ampere" in place.siblings


@pytest.mark.parametrize("vendor_id", vendor_ids())
def test_a_vendor_lists_all_its_products_by_family(vendor_id: str) -> None:
    """Each once, in a table, below the heading that the pages of the family lead to."""
    names = [name for name in entry_ids() if name.startswith(f"{vendor_id}/")]
    families = families_of(vendor_id)
    assert sorted(one.id for members in families.values() for one in members) == sorted(names)
    page = vendor_page(vendor_id)
    for name in names:
        entry = load_entry(name)
        assert f'<th scope="row"><a href="{name.partition("/")[2]}/">' in page
        assert short_name(entry) in entry.name
    is_headless = list(families) == [NO_FAMILY]  # no others than these, and nothing leads to them
    for family in families:
        assert page.count(f'id="{family_anchor(family)}"') == int(not is_headless)


@pytest.mark.parametrize("index", [errata.PAGE, errata.HELD])
def test_a_page_of_a_source_stands_below_its_index_beside_the_others(index: str) -> None:
    pages = errata.source_pages(index)
    assert len(pages) > 1 and set(pages) <= set(dict(errata.errata_pages()))
    for page in pages:
        place = place_of(page)
        assert place is not None and place.tab == "About"
        assert 'href="../"' in place.trail and place.siblings.count("<li>") == len(pages)
