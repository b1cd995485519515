"""Audits: what is drawn, what a checker sees of it, and what verdicts say."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.checks.audit import (
    COLUMNS,
    VERDICTS,
    Score,
    audits,
    blind_place,
    drawn,
    pooled,
    rate,
    score,
    sheet,
    shown_values,
)
from flopbook.errors import FlopbookError
from tests.support.samples import World, claim


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def filled(text: str, *verdicts: str) -> str:
    """The sheet with these verdicts, in order and over again."""
    rows = rows_of(text)
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS)
    writer.writeheader()
    for number, row in enumerate(rows):
        writer.writerow(row | {"verdict": verdicts[number % len(verdicts)]})
    return out.getvalue()


def test_the_same_seed_draws_the_same_and_nothing_twice() -> None:
    first = drawn(50, 7)
    assert first == drawn(50, 7) != drawn(50, 8)
    assert len({id(shown.claim) for shown in first}) == 50


def test_only_numbers_that_are_shown_are_drawn() -> None:
    values = shown_values()
    assert len(values) > 1000
    assert not any(isinstance(shown.claim.value, str) for shown in values)
    assert not any(shown.claim.known_error for shown in values)


def test_a_checker_does_not_see_the_value() -> None:
    values = drawn(20, 3)
    blind = rows_of(sheet(values))
    assert all(tuple(row) == COLUMNS and not row["verdict"] for row in blind)
    assert all(row["source"] and row["link"] and row["place"] for row in blind)
    assert all(row["value"] for row in rows_of(sheet(values, with_values=True)))


def test_a_filled_sheet_gives_rates() -> None:
    scored = score(filled(sheet(drawn(40, 1)), "right", "right", "Misleading ", "not found"))
    assert (scored.looked_up, scored.not_found) == (30, 10)
    assert scored.wrong.cases == 0 and scored.misleading.cases == 10
    assert scored.misleading.share == pytest.approx(1 / 3)


@given(st.integers(1, 10_000), st.floats(0, 1))
def test_at_the_ends_of_the_interval_the_share_is_just_not_surprising(of: int, part: float) -> None:
    """The score test: |share - end| is 1.96 standard deviations of a share that were `end`."""
    interval = rate(round(part * of), of)
    for bound in (interval.low, interval.high):
        if 1e-9 < bound < 1 - 1e-9:
            deviation = (bound * (1 - bound) / of) ** 0.5
            assert abs(interval.share - bound) == pytest.approx(1.959964 * deviation, rel=1e-6)


@given(st.integers(1, 10_000), st.floats(0, 1))
def test_an_interval_holds_its_share_and_narrows(of: int, share: float) -> None:
    interval = rate(round(share * of), of)
    assert (
        0 <= interval.low <= interval.share + 1e-12
        and interval.share <= interval.high + 1e-12 <= 1 + 1e-9
    )
    narrower = rate(100 * interval.cases, 100 * of)
    assert narrower.high - narrower.low < interval.high - interval.low


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no column conditions and entry and quantity and verdict"),
        ("entry,quantity,conditions,verdict\n", "nothing to count"),
        ("entry,quantity,conditions,verdict\nx/y,peak,,right\n", "line 2: x/y peak is not shown"),
    ],
)
def test_a_sheet_that_cannot_be_counted(text: str, message: str) -> None:
    with pytest.raises(FlopbookError, match=message):
        score(text)


@pytest.mark.parametrize(("word", "shown"), [("", "no verdict"), ("maybe", "'maybe'")])
def test_an_open_or_unknown_verdict_has_a_line(word: str, shown: str) -> None:
    text = filled(sheet(drawn(2, 1)), "right", word)
    with pytest.raises(FlopbookError, match=f"line 3: found {shown}, expected {VERDICTS[0]}"):
        score(text)


def test_more_than_there_is_cannot_be_drawn(world: World) -> None:
    world.entry("one", claim())
    count = len(shown_values())
    with pytest.raises(FlopbookError, match=f"more than the {count} values"):
        drawn(count + 1, 1)


def test_a_text_that_a_spreadsheet_would_run_stays_a_text() -> None:
    (shown,) = drawn(1, 1)
    risky = shown._replace(claim=shown.claim._replace(locator="=1+1"))
    assert rows_of(sheet([risky]))[0]["place"] == "'=1+1"


@pytest.mark.parametrize(
    ("locator", "value", "shown"),
    [
        ("row MI250, column L2 Cache: 16 (8 per GCD)", 16, "L2 Cache: ... (... per GCD)"),
        ("Table 2, column H200 NVL, row Max TDP: up to 600W", 600, "Table 2, column H200 NVL"),
        ("case TPU_8T, int4=int(11.9538e15)", 11953.8, "case TPU_8T, int4=int(...)"),
        ("1,502 MHz peak boost engine clock", 1502, "... MHz"),
        ("text: two chips of two dies", 4, "text: ... chips of ... dies"),
        ("Table 4, row 40 GB", 4, "Table 4, row ... GB"),
    ],
)
def test_a_place_does_not_give_the_value_away(locator: str, value: float, shown: str) -> None:
    blind = blind_place(locator, value)
    assert shown in blind


def test_no_place_of_the_sheet_holds_its_value() -> None:
    for shown in shown_values():
        figure = shown.claim.value
        assert isinstance(figure, (int, float))
        place = blind_place(shown.claim.locator, figure)
        for text in (f" {figure:g} ", f" {figure:,.10g} "):
            named = any(f"{word}{text}" in f" {place} ".lower() for word in (" table", " note"))
            assert text not in f" {place} " or named or "section" in place.lower(), place


def test_each_audit_on_record_counts_what_its_sheet_says() -> None:
    past = audits()
    drawn_of = {audit.seed: audit.score.looked_up + audit.score.not_found for audit in past}
    assert (drawn_of[2311], drawn_of[1411], drawn_of[2611]) == (200, 80, 137)
    assert past[-1].date == max(audit.date for audit in past)


def test_audits_pooled_are_one_audit_of_all_their_values() -> None:
    of_each = [Score(195, 5, rate(1, 195), rate(2, 195)), Score(41, 0, rate(0, 41), rate(1, 41))]
    assert pooled(of_each) == Score(236, 5, rate(1, 236), rate(3, 236))
    assert pooled(of_each[:1]) == of_each[0]
    with pytest.raises(ValueError, match="no audit"):
        pooled([])


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(1, 99)), min_size=1))
def test_more_audits_of_the_same_share_narrow_the_interval(
    counts: list[tuple[int, int, int]],
) -> None:
    scores = [
        Score(
            wrong + misleading + correct, 0, *(rate(n, wrong + misleading + correct) for n in both)
        )
        for wrong, misleading, correct in counts
        for both in [(wrong, misleading)]
    ]
    once, twice = pooled(scores), pooled(scores * 2)
    assert once.wrong.share == pytest.approx(twice.wrong.share)
    assert twice.wrong.high - twice.wrong.low < once.wrong.high - once.wrong.low
    shares = [of_one.misleading.share for of_one in scores]
    assert min(shares) - 1e-12 <= once.misleading.share <= max(shares) + 1e-12
