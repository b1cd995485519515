"""What misleads is taught: every such row has a chapter, and the chapter says it once."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from flopbook.checks.rules.taught import findings
from flopbook.ledger.rows import Row, ledger_row, ledger_rows
from scripts.website.build.handbook import chapters
from scripts.website.pages.chapter import framed
from scripts.website.pages.stated import stated_words
from scripts.website.pages.taught import statements_box
from tests.support.rendering import READS_THE_HANDBOOK, rendered

pytestmark = READS_THE_HANDBOOK

ROWS = [row for row in ledger_rows() if row.to_teach]
CHAPTER = "# A chapter\n\n## Common mistakes\n\nNone.\n\n## Exercises\n\nNone.\n"


@pytest.mark.parametrize("page", [one.page for one in chapters()])
def test_a_chapter_says_each_of_its_rows_once(page: str) -> None:
    """In its own sentences or in the box behind its text, with a link to the row."""
    text = rendered(page)
    box = statements_box(text, page)
    mine = [row for row in ROWS if f"handbook/{row.chapter}.md" == page]
    for row in mine:
        assert bool(_mention(row, text)) != bool(_mention(row, box)), row.id


def _mention(row: Row, text: str) -> re.Match[str] | None:
    return re.search(rf"#{row.id}(?![\w-])", text)


def test_the_box_is_closed_and_counts_its_rows() -> None:
    page = f"handbook/{ROWS[0].chapter}.md"
    mine = [row for row in ROWS if row.chapter == ROWS[0].chapter]
    box = statements_box(CHAPTER, page)
    assert box.count("\n    - ") == len(mine)
    assert box.startswith(f'??? note "{len(mine)} statements published elsewhere, checked')


def test_the_box_stands_behind_the_text_and_the_exercises_follow_the_mistakes() -> None:
    """Whoever reads on from the mistakes reaches the exercises at once."""
    box = '??? note "N"\n    - One'
    framed_chapter = framed(CHAPTER, chapters()[0], 1, 2, "- A notebook.", box)
    places = ("None.\n\n## Exercises", "- A notebook.\n\n??? note", "- One\n\n<details>")
    found = [framed_chapter.index(place) for place in places]
    assert found == sorted(found)


def test_a_row_that_the_text_speaks_of_is_not_said_twice() -> None:
    row = ROWS[0]
    said = CHAPTER.replace("None.", f"[so](../errata.md#{row.id})", 1)
    assert f"#{row.id}" not in statements_box(said, f"handbook/{row.chapter}.md")


def test_a_chapter_without_rows_has_no_box() -> None:
    assert statements_box(CHAPTER, "handbook/nothing.md") == ""


def test_what_the_statement_says_is_not_said_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stated number stands once, and a computation that gives the same is left out."""
    row = dataclasses.replace(
        ledger_row("slides-v5p-ici"), chapter="x", why="Because.", assumption=""
    )
    again = dataclasses.replace(row, statement=f"It has {stated_words(row.stated)}.")
    other = dataclasses.replace(again, statement="It has a peak.")
    for one, said in ((again, "It has"), (other, "Stated:")):
        monkeypatch.setattr("scripts.website.pages.taught.ledger_rows", lambda one=one: (one,))
        shown = statements_box(CHAPTER, "handbook/x.md")
        assert said in shown and shown.count(stated_words(row.stated)) == 1


def test_the_words_of_the_ledger_are_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A contributed row cannot write HTML into a chapter."""
    row = dataclasses.replace(
        ROWS[0], statement="<script>x</script>", why="a <b>", chapter="x", assumption="<i>"
    )
    monkeypatch.setattr("scripts.website.pages.taught.ledger_rows", lambda: (row,))
    shown = statements_box(CHAPTER, "handbook/x.md")
    assert "&lt;script&gt;" in shown and not re.search(r"<(script|b|i)>", shown)


def test_a_row_without_chapter_or_with_an_unknown_one_is_refused(tmp_path: Path) -> None:
    (tmp_path / "fsdp.md").write_text("# FSDP\n", encoding="utf-8")
    row = ROWS[0]

    def found(**changes: object) -> list[str]:
        return [
            one.problem.found for one in findings((dataclasses.replace(row, **changes),), tmp_path)
        ]

    assert found(chapter="fsdp") == []
    assert found(chapter="") == [f"{row.id} is taught nowhere"]
    assert found(chapter="index") == [f"{row.id}: no chapter 'index'"]
    assert found(chapter="", verdict="holds") == found(chapter="", topic="editing") == []


def test_an_installed_package_has_no_chapters_to_compare_with(tmp_path: Path) -> None:
    assert list(findings(tuple(ROWS), tmp_path / "nothing")) == []
