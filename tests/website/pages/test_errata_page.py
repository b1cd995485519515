"""Errata and what holds.

Every row once, what is wrong at length, an overview by source that adds up.
"""

from __future__ import annotations

import collections
import dataclasses
import gzip
import itertools
import re

import pytest

from flopbook.data.library import reference
from flopbook.drawing.markup import escape
from flopbook.ledger.recomputation import recompute
from flopbook.ledger.rows import Row, Stated, ledger_rows
from scripts.website.pages.errata import (
    HELD,
    PAGE,
    SHORT,
    VERDICT_WORDS,
    claim_page,
    claim_words,
    errata_page,
    errata_pages,
    recomputed,
)
from scripts.website.pages.home import holdings
from scripts.website.pages.stated import computed_words, said_words, stated_words
from tests.support.cases import every

TEXTS = dict(errata_pages())
ROWS = [row for row in ledger_rows() if not row.defect]
IDS = {
    page: re.findall(r'<article class="fb-claim fb-[a-z-]+" id="([a-z0-9-]+)"', text)
    for page, text in TEXTS.items()
}
HEADINGS = {
    page: re.findall(r"^(##+) .* \{ #([a-z0-9-]+) \}$", text, re.M) for page, text in TEXTS.items()
}


def article(row: Row) -> str:
    text = TEXTS[claim_page(row).partition("#")[0]]
    start = text.index(f'<article class="fb-claim fb-{row.verdict}" id="{row.id}"')
    return text[start : text.index("</article>", start)]


def test_every_row_is_there_once() -> None:
    assert sorted(name for names in IDS.values() for name in names) == sorted(r.id for r in ROWS)
    for row in ROWS:
        page, _, anchor = claim_page(row).partition("#")
        assert anchor == row.id and anchor in IDS[page]
        assert page.startswith("claims" if row.verdict in SHORT else f"errata/{row.source}.md")


def test_every_row_keeps_its_address_on_an_index() -> None:
    """Links from before the pages were split lead to a line that leads to the row."""
    for row in ROWS:
        index = HELD if row.verdict in SHORT else PAGE
        assert TEXTS[index].count(f'id="{row.id}"') == 1, row.id


def test_a_line_of_the_index_says_what_is_stated_and_what_is_right() -> None:
    for row in ROWS:
        if row.verdict in SHORT:
            continue
        line = re.search(f'<li id="{row.id}">.*', TEXTS[PAGE])
        assert line is not None
        slip = row.verdict == "typo"
        assert escape(stated_words(row.stated, words_first=slip)) in line[0]
        if row.corrected:
            assert escape(stated_words(row.corrected, words_first=slip)) in line[0]


def test_rows_keep_the_order_of_the_ledger_within_a_verdict() -> None:
    place = {row.id: n for n, row in enumerate(ROWS)}
    verdicts = list(VERDICT_WORDS)
    by_id = {row.id: row for row in ROWS}
    for page, names in IDS.items():
        shown = [by_id[name] for name in names]
        order = [verdicts.index(row.verdict) for row in shown]
        assert order == sorted(order), page
        groups = [(row.verdict, row.source) for row in shown]
        assert len(set(groups)) == len(list(itertools.groupby(groups)))
        for group in set(groups):
            places = [place[row.id] for row in shown if (row.verdict, row.source) == group]
            assert places == sorted(places)


def test_the_overview_adds_up() -> None:
    """Every number of the table leads to a heading of a page; the last line is the sum."""
    table = [line for line in TEXTS[PAGE].splitlines() if line.startswith('<tr><th scope="row"')]
    numbers = [[int(n) for n in re.findall(r">(\d+)</a>", line)] for line in table]
    last = [int(n) for n in re.findall(r">(\d+)<", table[-1])]
    assert sum(map(sum, numbers)) == sum(last) == len(ROWS)
    for page, name in re.findall(
        r'href="\.\./((?:errata|claims)[\w/.-]*)#([a-z0-9-]+)"', "\n".join(table)
    ):
        assert name in {heading for _, heading in HEADINGS[f"{page.rstrip('/')}.md"]}
    counts = collections.Counter(row.verdict for row in ROWS)
    assert sorted(last) == sorted(counts.values())


def test_headings_name_each_group_once() -> None:
    for page, headings in HEADINGS.items():
        names = [name for _, name in headings]
        assert len(set(names)) == len(names) and not set(names) & set(IDS[page])


@every("row", ROWS[::9])
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


@pytest.mark.parametrize(
    ("value", "name", "told"),
    [
        (8e9, "param", "8 billion params"),
        (16e6, "token", "16 million tokens"),
        (590.746, "token", "590.746 tokens"),
        (1.8e11, "byte/s", "180 GB/s"),
        (4.59e14, "FLOP/s", "459 TFLOP/s"),
        (10, "byte", "10 bytes"),
        (1, "byte", "1 byte"),
        (33554432, "byte", "33,554,432 bytes"),
        (1460000, "s", "1,460,000 s"),
        (1.5, "ratio", "1.5"),
        (287, "count", "287"),
        (23, "us", "23 us"),
    ],
)
def test_a_stated_value_is_told_in_words_that_people_read(
    value: float, name: str, told: str
) -> None:
    assert stated_words(Stated(value, name)) == told


def test_what_is_stated_and_what_is_computed_can_be_compared() -> None:
    """Both are told in the same unit and with the same prefix, or both without one."""
    letters = re.compile(r"[^\W\d_]{2,}.*")
    for row in ROWS:
        if (
            row.call
            and row.stated.value
            and 0.5 < recompute(row.call) / (row.stated.si_value or 1) < 2
        ):
            stated, computed = stated_words(row.stated), computed_words(row)
            assert letters.findall(stated) == letters.findall(computed), (row.id, stated, computed)


def test_the_short_form_leaves_nothing_out() -> None:
    """Rows that hold or are quoted have no correction, no assumption and no reproduction."""
    for row in ROWS:
        if row.verdict in SHORT:
            assert not (row.corrected or row.assumption or row.reproduces), row.id


@every("page", TEXTS)
def test_the_text_is_light_enough(page: str) -> None:
    """A third of what a page may weigh; the theme brings about as much, and rows will be added."""
    assert len(gzip.compress(TEXTS[page].encode())) < 50_000


def test_the_pages_lead_to_each_other() -> None:
    assert f"]({HELD})" in TEXTS[PAGE] and f"]({PAGE})" in TEXTS[HELD]
    for page, text in TEXTS.items():
        if "/" in page:
            assert f"](../{HELD if page.startswith('claims') else PAGE})" in text


@every("row", ROWS[::17])
def test_a_claim_in_running_text(row: Row) -> None:
    assert reference(row.source).title in claim_words(row) and claim_page(row).endswith(
        f"#{row.id}"
    )


def test_a_claim_in_running_text_is_a_sentence() -> None:
    """A count has no unit to name, and a quoted claim is not said to be doing anything."""
    for row in ROWS:
        assert " count;" not in claim_words(row) and "this quoted" not in claim_words(row), row.id
        assert not computed_words(row).endswith(" count") if row.call else True, row.id


def test_what_can_only_be_quoted_is_not_counted_as_recomputed() -> None:
    rows = ledger_rows()
    counted = recomputed()
    assert {row.verdict for row in rows} - {row.verdict for row in counted} == {"quoted"}
    assert f">{len(counted):,}<" in str(holdings())
    of_print = sum(not row.defect for row in counted)
    assert f"{len(counted)} so far. Of {of_print} in papers" in errata_page()


def test_no_line_repeats_the_verdict_that_stands_above_it() -> None:
    page = errata_page()
    assert "it depends on what the source leaves open" not in page
    assert "<p><strong>Depends on what the source leaves open</strong></p>" in page


@pytest.mark.parametrize(
    ("stated", "told"),
    [
        (Stated(1, "ratio", "with very minimal overhead"), "“with very minimal overhead”, here 1"),
        (Stated(74.5, "%", "39X"), "“39X”, here 74.5 %"),
        (Stated(13.7, "ratio", "13.7 times the batch"), "13.7"),
        (Stated(2097152, "token", "2048K"), "“2048K”, here 2.097152 million tokens"),
        (Stated(128000, "token", "128K tokens"), "128,000 tokens"),
        (Stated(13.7, "ratio"), "13.7"),
    ],
)
def test_no_number_is_put_into_the_mouth_of_a_source(stated: Stated, told: str) -> None:
    row = dataclasses.replace(ROWS[0], stated=stated, verdict="depends")
    assert said_words(row) == told


def test_what_depends_is_not_counted_as_wrong() -> None:
    """The page began with 148 claims that do not hold; two in three hold under a condition."""
    text = errata_page()
    told = re.search(
        r"(\d+) do not hold \((\d+) of these are mere slips\) and (\d+) hold only under", text
    )
    assert told
    printed = [row for row in ledger_rows() if not row.defect]
    verdicts = collections.Counter(row.verdict for row in printed)
    wrong, slips, depending = map(int, told.groups())
    assert wrong == verdicts["does-not-hold"] + verdicts["typo"]
    assert (slips, depending) == (verdicts["typo"], verdicts["depends"])
