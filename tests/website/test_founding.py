"""What the documents that the project grew from show and ask.

The handbook has a picture and an answer for each.

`founding_figures` and `founding_exercises` list them with document and lines.
"""

from __future__ import annotations

import re
from pathlib import Path

from scripts.website.figures import figure_names, figure_of
from scripts.website.pages.chapter import Chapter, chapter_of
from tests.support.cases import every
from tests.support.founding_exercises import EXERCISES, PRACTICALS, Asked, Practised
from tests.support.founding_figures import FIGURES, LENGTHS, Shown

ROOT = Path(__file__).resolve().parents[2]
HANDBOOK = ROOT / "docs" / "handbook"
_NONE = Chapter("", "", "", 0)
_EXERCISE = re.compile(r"\{\{ exercise\(\"\w+\"\) \}\} (.*?)(?=\n## |\{\{ exercise\()", re.S)


def chapter(name: str) -> str:
    return (HANDBOOK / f"{name}.md").read_text(encoding="utf-8")


def test_all_are_listed_once() -> None:
    """39 figures, 23 exercises and 8 practicals were found by one reader.

    What others found comes on top.
    """
    assert len(FIGURES) >= 39 and len(EXERCISES) >= 23 and len(PRACTICALS) >= 8
    ids = [item.id for item in (*FIGURES, *EXERCISES, *PRACTICALS)]
    assert len(set(ids)) == len(ids)
    assert all(item.notebooks for item in PRACTICALS)


def test_all_have_a_place_in_their_document() -> None:
    """Lines are those of the document, figures in the order of the page."""
    for item in FIGURES:
        assert item.lines == tuple(sorted(set(item.lines)))
        assert all(1 <= line <= LENGTHS[item.document] for line in item.lines), item.id
    for asked in (*EXERCISES, *PRACTICALS):
        assert 1 <= asked.line <= LENGTHS[asked.document], asked.id


@every("item", FIGURES)
def test_every_figure_is_drawn_in_its_chapter(item: Shown) -> None:
    """By a call with its first arguments, or by a table with these words before it."""
    text = chapter(item.chapter)
    assert item.by
    for shown in item.by:
        name = re.match(r'figure\("([\w-]+)"', shown)
        if "(" in shown:
            assert f"{{{{ {shown}" in text, shown
        else:
            assert re.search(re.escape(shown) + r".*\n\n\|", text), shown
        assert name is None or name[1] in figure_names()


@every("item", EXERCISES)
def test_every_exercise_is_asked_and_answered(item: Asked) -> None:
    """Exactly one exercise of the chapter begins so, with an answer that computes or reasons."""
    found = [
        body for body in _EXERCISE.findall(chapter(item.chapter)) if body.startswith(item.begins)
    ]
    assert len(found) == 1, item.begins
    _, answer = found[0].split('??? success "Answer"')
    assert len(answer.split()) >= 10


@every("item", PRACTICALS)
def test_every_practical_is_a_notebook_that_a_chapter_names(item: Practised) -> None:
    named = {
        name
        for one in HANDBOOK.glob("*.md")
        for name in (chapter_of(chapter(one.stem), "") or _NONE).practicals
    }
    for name in item.notebooks:
        assert (ROOT / "calculators" / "notebooks" / f"{name}.py").is_file() and name in named, name


def test_no_figure_of_the_package_is_left_unused() -> None:
    """What is drawn is shown: every module is called by some page."""
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md"))
    called = set(re.findall(r'figure\("([\w-]+)"', pages))
    # A chapter asks for the roofline of a chip by the name of the picture.
    called |= {"roofline"} & set(re.findall(r"{{ (\w+)\(", pages))
    assert set(figure_names()) <= called
    assert all(figure_of(name).title for name in sorted(called & set(figure_names()))[:3])


def test_an_answer_can_be_missed() -> None:
    """The pattern tells exercises apart."""
    text = (
        '{{ exercise("easy") }} One?\n\n??? success "Answer"\n    Yes.\n\n'
        '{{ exercise("hard") }} Two?\n## Key points\n'
    )
    assert [body.split("\n")[0] for body in _EXERCISE.findall(text)] == ["One?", "Two?"]
