"""The published runs as plain tables: each run once, and no page too heavy for a phone."""

from __future__ import annotations

import functools
import gzip
import re
from pathlib import Path

import pytest

from scripts.website.build.placing import place_of
from scripts.website.build.weigh import BUDGET
from scripts.website.pages import reached, run_kinds
from scripts.website.pages.prose import render

DOCS = Path(__file__).resolve().parents[3] / "docs"
_SHELL = 22_000  # bytes of head, navigation, style and scripts around a page of text


@functools.cache
def _page(name: str) -> str:
    return render((DOCS / name).read_text(encoding="utf-8"), name, name)


def test_each_run_is_on_one_page_in_the_order_of_all() -> None:
    on_pages = [run for name in run_kinds.PLAIN for run in reached.runs_on(name)]
    assert on_pages == list(reached.shown_runs())
    assert [kind for kinds in run_kinds.PLAIN.values() for kind in kinds] == list(run_kinds.KINDS)


@pytest.mark.parametrize("name", run_kinds.PLAIN)
def test_a_page_has_its_rows_and_keeps_to_the_weight(name: str) -> None:
    rows = re.findall(r"<tr><th scope=.row.", _page(name))
    assert len(rows) == len(reached.runs_on(name)) > 100
    assert f"{len(rows):,} runs in a plain table" in _page(name)
    assert len(gzip.compress(_page(name).encode())) < BUDGET - _SHELL


@pytest.mark.parametrize("name", run_kinds.PLAIN)
def test_a_page_leads_to_the_others(name: str) -> None:
    place = place_of(name)
    assert place
    for other in run_kinds.PLAIN:
        assert other == name or f"({other})" in _page(name)
        assert run_kinds.TITLES[other] in str(place)
    assert f"title: {run_kinds.TITLES[name]}" in (DOCS / name).read_text(encoding="utf-8")


def test_the_page_of_all_names_each_in_its_data_and_in_its_text() -> None:
    text = str(reached.first_runs("reached.md"))
    addresses = re.search(r'data-all="([^"]*)"', text)
    assert addresses
    assert addresses[1].split() == ["../runs/", "../runs-inference/", "../runs-parts/"] or (
        len(addresses[1].split()) == len(run_kinds.PLAIN)
    )
    for title in run_kinds.TITLES.values():
        assert f">{title}</a>" in text
