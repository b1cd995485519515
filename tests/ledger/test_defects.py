"""The thirty defects of other calculators.

Each with its wrong figure and the right one, told fairly on one page.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from flopbook.data.library import reference
from flopbook.drawing.markup import escape
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import formulas
from flopbook.ledger.recomputation import recompute
from flopbook.ledger.rows import Row
from flopbook.ledger.verdicts import judge
from scripts.website.pages.calculators import calculator_markdown
from scripts.website.pages.errata import claim_page, errata_page
from scripts.website.pages.pitfalls import (
    KINDS,
    PAGE,
    SEEN,
    defects,
    difference,
    pitfalls_of,
    pitfalls_page,
)
from tests.support.cases import every

ROWS = defects()
TEXT = pitfalls_page()
TOOLS = 15  # that have one or more of the defects


def article(row: Row) -> str:
    found = re.search(rf'<article [^>]*id="{row.id}">.*?</article>', TEXT, re.DOTALL)
    assert found
    return found[0]


def test_there_are_exactly_thirty() -> None:
    """Numbers 1 to 30, each once, in every kind of error."""
    assert sorted(row.defect.number for row in ROWS) == list(range(1, 31))
    assert {row.defect.kind for row in ROWS} == set(KINDS)
    assert {row.defect.seen for row in ROWS} == set(SEEN)
    assert len({row.defect.tool for row in ROWS}) == TOOLS


@every("row", ROWS)
def test_ours_is_right_and_the_wrong_figure_is_named(row: Row) -> None:
    """The verdict stands: our computation gives the correction, and not the figure of the tool."""
    assert row.verdict == "does-not-hold" and judge(row) == []
    assert row.stated.value is not None and row.corrected.si_value == pytest.approx(
        recompute(row.call), rel=0.01
    )
    assert recompute(row.call) != pytest.approx(row.stated.si_value, rel=0.05)


@every("row", ROWS)
def test_the_version_that_was_read_is_named(row: Row) -> None:
    """A commit in the address, a day of reading, and a file with its line or place."""
    item = reference(row.source)
    assert re.fullmatch(r"https://github\.com/[^/]+/[^/]+/tree/[0-9a-f]{40}", item.url)
    assert item.urldate and item.note and item.topics[0] == "tools"
    assert row.document and (row.line or row.place)
    commit = item.url.rpartition("/")[2]
    assert f"/blob/{commit}/{row.document}" in article(row) and commit[:7] in item.note.lower()


@every("row", ROWS)
def test_each_is_told_with_ours_beside_it(row: Row) -> None:
    """Both figures, the reason, and a link to a calculator or chip of ours that is right."""
    told = article(row)
    assert escape(row.defect.tool) in told and "It gives" in told and "Right is" in told
    links = re.findall(r'href="((?:\.\./)+(?:calculators|accelerators)/[^"]+)"', told)
    assert links
    for address in links:
        parts = urlsplit(address.replace("&amp;", "&"))
        if "/calculators/" not in parts.path:
            continue
        name = parts.path.rstrip("/").rpartition("/")[2]
        assert name in formulas()
        given = {key.replace("-", "_"): values[0] for key, values in parse_qs(parts.query).items()}
        assert calculate(name, **given).outputs, address


def test_the_page_is_fair() -> None:
    """It says that the tools are useful and may have been fixed, and mocks nobody."""
    assert "if it has been fixed since" in " ".join(TEXT.split()) and "useful" in TEXT
    for word in (
        "ridiculous",
        "silly",
        "stupid",
        "obviously",
        "laughable",
        "sloppy",
        "embarrass",
        "!",
    ):
        assert word not in re.sub(r"<[^>]*>", "", TEXT).lower().replace("&#33;", "!"), word


def test_defects_stay_off_the_errata_and_claims_find_them() -> None:
    assert not any(f'id="{row.id}"' in errata_page() for row in ROWS)
    assert claim_page(ROWS[0]) == f"{PAGE}#{ROWS[0].id}" and PAGE in errata_page()


def test_pages_of_calculators_say_who_went_wrong() -> None:
    assert f"#{'eleutherai-kv-cache'}" in calculator_markdown(
        "kv-cache"
    ) and "pitfalls.md" in calculator_markdown("bubble")
    assert pitfalls_of("scaling-law", "calculators/scaling-law.md") == []


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (1, "2 times what it gives"),
        (2, "so it gives 64 times that"),
        (10, "so it gives 8.3 % too little"),
        (15, ""),
        (12, "so it gives 100 times that"),
    ],
)
def test_the_difference_in_words(number: int, words: str) -> None:
    (row,) = (row for row in ROWS if row.defect.number == number)
    assert difference(row).removeprefix(", ") == words
