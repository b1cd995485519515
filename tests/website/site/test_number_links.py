"""Following a number of the text shows the same number in the form."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup, SoupStrainer

from scripts.website.build.typesetting import typeset
from tests.support.forming import visit

pytestmark = pytest.mark.browser
_LINKS = SoupStrainer("a", class_="fb-num")  # all else of a chapter takes ten times as long
_PLACE = re.compile(r"calculators/([\w-]+)/\?(.*)")
_TEXTS = "() => [...document.querySelectorAll('dd[data-output]')].map(e => e.textContent)"


def linked_numbers(site: Path) -> dict[str, dict[str, set[str]]]:
    """Calculator -> query -> exact texts of the numbers that lead there."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for path in site.rglob("index.html"):
        page = path.read_text(encoding="utf-8")
        if 'class="fb-num"' not in page:  # most pages have none, and parsing takes long
            continue
        soup = BeautifulSoup(page, "html.parser", parse_only=_LINKS)
        for link in soup.select('a[href*="calculators/"]'):
            if place := _PLACE.search(str(link["href"])):
                exact = str(link.get("title") or link.get_text())
                found[place[1]][place[2]].add(typeset(exact))
    return found


def _read(tab: Any, base: str, queries: list[str]) -> dict[str, list[str]]:
    shown = {}
    for query in queries:
        visit(tab, base, f"?{query}")
        shown[query] = tab.evaluate(_TEXTS)
    return shown


def test_the_form_shows_each_number_that_leads_to_it(site: Path, forms: Any) -> None:
    numbers = linked_numbers(site)
    assert sum(len(texts) for states in numbers.values() for texts in states.values()) > 200
    wrong = []
    for name, states in numbers.items():
        shown = forms(name, _read, list(states))
        for query, texts in states.items():
            lost = {text for text in texts if text not in shown[query]}
            if lost:
                wrong.append((name, query, lost, shown[query]))
    assert wrong == []
