"""The errata page: every row once, what is wrong at length and first, an overview by source that adds up."""

from __future__ import annotations

import collections
import gzip
import itertools
import re

import pytest

from flopbook.ledger import Row, ledger_rows
from flopbook.pages.errata import SHORT, VERDICT_WORDS, claim_page, claim_words, errata_page, stated_words
from flopbook.pages.markup import escape
from flopbook.references import reference

PAGE = errata_page()
ROWS = [row for row in ledger_rows() if not row.defect]
IDS = re.findall(r'<article class="fb-claim fb-[a-z-]+" id="([a-z0-9-]+)"', PAGE)
HEADINGS = re.findall(r"^(##+) .* \{ #([a-z0-9-]+) \}$", PAGE, re.M)


def article(row: Row) -> str:
    start = PAGE.index(f'id="{row.id}"')
    return PAGE[start : PAGE.index("</article>", start)]


def test_every_row_is_there_once() -> None:
    assert sorted(IDS) == sorted(row.id for row in ROWS)


def test_what_is_wrong_comes_first_and_sources_stay_together() -> None:
    """Within a verdict the rows of a source follow each other, in the order of the ledger."""
    place = {row.id: n for n, row in enumerate(ROWS)}
    by_id = {row.id: row for row in ROWS}
    shown = [by_id[name] for name in IDS]
    assert list(dict.fromkeys(row.verdict for row in shown)) == [
        v for v in VERDICT_WORDS if v in {r.verdict for r in ROWS}
    ]
    groups = [(row.verdict, row.source) for row in shown]
    assert len(set(groups)) == len(list(itertools.groupby(groups)))
    for group in set(groups):
        places = [place[row.id] for row in shown if (row.verdict, row.source) == group]
        assert places == sorted(places)


def test_the_overview_adds_up() -> None:
    """Every number of the table leads to a heading, and the last line is the sum of the others."""
    table = [line for line in PAGE.splitlines() if line.startswith("| ") and "](#" in line]
    numbers = [[int(n) for n in re.findall(r"\[(\d+)\]\(#", line)] for line in table]
    assert sum(map(sum, numbers[:-1])) == sum(numbers[-1]) == len(ROWS)
    targets = {name for _, name in HEADINGS}
    assert set(re.findall(r"\]\(#([a-z0-9-]+)\)", "\n".join(table))) <= targets
    counts = collections.Counter(row.verdict for row in ROWS)
    assert sorted(numbers[-1]) == sorted(counts.values())


def test_headings_name_each_group_once() -> None:
    names = [name for _, name in HEADINGS]
    assert len(set(names)) == len(names) and not set(names) & set(IDS)
    groups = {(row.verdict, row.source) for row in ROWS}
    assert {name for level, name in HEADINGS if level == "###"} == {f"{verdict}-{source}" for verdict, source in groups}


@pytest.mark.parametrize("row", ROWS[::9], ids=lambda row: row.id)
def test_a_row_says_what_it_has_to(row: Row) -> None:
    told = article(row)
    assert escape(row.statement) in told and escape(row.why) in told and escape(row.where) in told
    assert f'href="#{row.id}"' in told
    if row.call:
        assert escape(row.call) in told
    if row.corrected:
        assert escape(stated_words(row.corrected, words_first=row.verdict == "typo")) in told
    if row.assumption:
        assert escape(row.assumption) in told
    assert ("<dl" in told) == (row.verdict not in SHORT)


def test_the_short_form_leaves_nothing_out() -> None:
    """Rows that hold or are quoted have no correction, no assumption and nothing that reproduces them."""
    for row in ROWS:
        if row.verdict in SHORT:
            assert not (row.corrected or row.assumption or row.reproduces), row.id


def test_the_page_is_light_enough() -> None:
    """Its text takes well below half of what a page may weigh; the theme brings the rest."""
    assert len(gzip.compress(PAGE.encode())) < 75_000


@pytest.mark.parametrize("row", ROWS[::17], ids=lambda row: row.id)
def test_a_claim_in_running_text(row: Row) -> None:
    assert reference(row.source).title in claim_words(row) and claim_page(row).endswith(f"#{row.id}")
