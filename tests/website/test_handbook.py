"""Every chapter has its sections, its exercises have answers, its expressions compute."""

from __future__ import annotations

import re
from pathlib import Path

from scripts.website.build.handbook import chapters
from scripts.website.build.maths import replace_maths
from scripts.website.pages.chapter import (
    HEADINGS,
    LEVELS,
    OPENING,
    chapter_of,
    exercises,
    framed,
    named_exercises,
)
from tests.support import rendering
from tests.support.cases import every

pytestmark = rendering.READS_THE_HANDBOOK
ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = [ROOT / "docs" / one.page for one in chapters()]
INDEX = ROOT / "docs" / "handbook" / "index.md"
chapter = every("path", CHAPTERS)


def source(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def rendered(path: Path) -> str:
    return rendering.rendered(f"handbook/{path.name}")


def test_every_page_of_the_handbook_is_a_chapter() -> None:
    """But for the page that lists them."""
    assert [INDEX, *CHAPTERS] == [INDEX, *sorted(CHAPTERS, key=lambda p: (_order(p), p.name))]
    assert {INDEX, *CHAPTERS} == set((ROOT / "docs" / "handbook").glob("*.md"))


def _order(path: Path) -> int:
    found = chapter_of(source(path), path.name)
    assert found is not None
    return found.order


@chapter
def test_a_chapter_has_its_parts_in_order(path: Path) -> None:
    """Goals, the example, limits, mistakes, exercises, key points, where to go on."""
    text = source(path)
    found = chapter_of(text, path.name)
    assert found is not None and found.title and len(found.description) > 40
    places = [text.find(f"\n{OPENING}\n")] + [text.find(f"\n## {heading}") for heading in HEADINGS]
    assert all(place > 0 for place in places), dict(zip((OPENING, *HEADINGS), places, strict=True))
    assert places == sorted(places)
    assert re.search(r"\n# .+\n\n" + OPENING, text), (
        "the chapter opens with what the reader will be able to do"
    )


@chapter
def test_a_chapter_shows_and_computes(path: Path) -> None:
    """A formula, a picture, citations, and a worked example whose numbers are expressions."""
    text = source(path)
    assert "$$" in text and re.search(r"\{\{ (figure|roofline)\(", text)
    example = re.split(r"^## ", text, flags=re.M)
    worked = next(part for part in example if part.startswith(HEADINGS[0]))
    assert worked.count("{{") >= 5
    assert text[text.index("\n## Where to go on") :].count("{{ cite(") >= 2


@chapter
def test_exercises_are_graded_and_answered(path: Path) -> None:
    """At least five, from easy to hard, every one with an answer that opens and is computed."""
    text = source(path)
    found = exercises(text)
    assert len(found) >= 5
    assert all(one.answered for one in found), [one.number for one in found if not one.answered]
    assert {one.level for one in found} <= set(LEVELS) and len({one.level for one in found}) >= 2
    answers = text[text.index("\n## Exercises") : text.index("\n## Key points")].split(
        '??? success "Answer"'
    )[1:]
    assert len(answers) == len(found)
    assert sum("{{" in answer for answer in answers) >= len(answers) / 2


@chapter
def test_exercises_end_with_one_project(path: Path) -> None:
    """Something to build or to measure, with no answer to look up."""
    exercises_part = source(path).partition("\n## Exercises\n")[2].partition("\n## ")[0]
    assert re.findall(r"^### .*$", exercises_part, re.M)[-1:] == ["### Project"]
    project = exercises_part.partition("\n### Project\n")[2]
    assert len(project.split()) >= 30 and "exercise(" not in project and "???" not in project


@chapter
def test_expressions_compute_and_leave_nothing_behind(path: Path) -> None:
    """A rendered chapter has no template marks, and its references lead somewhere."""
    text = named_exercises(rendered(path))
    assert "{{" not in text and "{%" not in text and "nan" not in re.findall(r"\bnan\b", text)
    for anchor in re.findall(r"\]\(#([\w-]+)\)", text):
        assert f'id="{anchor}"' in text or re.search(
            rf"^#+ {anchor.replace('-', '[- ,:]*')}", text, re.M | re.I
        ), anchor


@chapter
def test_no_dollar_sign_is_left_where_maths_was_meant(path: Path) -> None:
    """`$N$th` is no formula to the build, for a letter follows; nor is what looks like a price."""
    made = replace_maths(rendered(path))
    assert (
        re.findall(
            r".{0,20}\$.{0,20}", re.sub(r"```.*?```|`[^`\n]*`|<[^>]*>", "", made, flags=re.DOTALL)
        )
        == []
    )


@chapter
def test_no_computed_number_begins_a_list(path: Path) -> None:
    """A line that begins with a number and a full stop is an item of a list to Markdown.

    Only where written so.
    """
    item = re.compile(r"^ *\d+\. ", re.M)
    assert item.findall(rendered(path)) == item.findall(source(path))


@chapter
def test_the_last_section_is_a_list_that_practicals_can_join(path: Path) -> None:
    """The build adds one more item behind it."""
    last = source(path).partition("\n## Where to go on\n")[2].strip()
    assert "\n## " not in last and last.startswith("- ")
    assert all(line.startswith(("- ", "  ")) for line in last.splitlines())


@chapter
def test_links_to_other_pages_exist(path: Path) -> None:
    """A link to another chapter names its file."""
    for name in re.findall(r"\]\(([\w-]+\.md)", source(path)):
        assert (path.parent / name).is_file(), name


def test_the_handbook_counts_its_exercises() -> None:
    """Numbers run from 1 in every chapter, as the page shows them."""
    for path in CHAPTERS:
        text = rendered(path)
        shown = re.findall(r'id="exercise-(\d+)">Exercise (\d+)<', text)
        assert shown == [(str(n), str(n)) for n in range(1, len(exercises(source(path))) + 1)], (
            path.name
        )


def test_a_frame_gives_place_time_and_bibtex() -> None:
    """The line under the title, and a reference at the end."""
    first = chapters()[0]
    text = framed("# A & B\n\nSome words.\n", first._replace(title="A & B"), 1, 9)
    assert "# A & B\n\n<p" in text and "Chapter 1 of 9" in text and "about 1 minute to read" in text
    assert "exercise" not in text.split("</p>")[0]
    assert "BibTeX of this chapter" in text and "A &#92;&amp; B" in text
