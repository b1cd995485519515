"""What the documents that the project grew from show and ask: the handbook has a picture and an answer for each.

`founding.yml` lists figures, exercises and practicals with document and lines. The practicals are checked elsewhere.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from flopbook.pages.figures import figure_names

ROOT = Path(__file__).resolve().parents[1]
HANDBOOK = ROOT / "docs" / "handbook"
FOUND: dict[str, list[dict[str, Any]]] = yaml.safe_load((ROOT / "tests" / "founding.yml").read_text(encoding="utf-8"))
LINES = {"000_b96e0dffd70d35e2.txt": 347, "001_b142a54a5cf9f211.txt": 66, "002_fe2fe86b10071ac9.txt": 1446}
_EXERCISE = re.compile(r"\{\{ exercise\(\"\w+\"\) \}\} (.*?)(?=\n## |\{\{ exercise\()", re.S)


def chapter(item: dict[str, Any]) -> str:
    return (HANDBOOK / f"{item['chapter']}.md").read_text(encoding="utf-8")


def test_all_are_listed_once_with_a_place_in_their_document() -> None:
    """39 figures, 23 exercises and 8 practicals were found by one reader; what others found comes on top."""
    counts = {kind: len(items) for kind, items in FOUND.items()}
    assert counts["figures"] >= 39 and counts["exercises"] >= 23 and counts["practicals"] >= 8
    every = [item for items in FOUND.values() for item in items]
    assert len({item["id"] for item in every}) == len(every)
    for item in every:
        lines = item.get("lines") or [item["line"]]
        assert all(1 <= line <= LINES[item["document"]] for line in lines), item["id"]
    assert all(item["notebooks"] for item in FOUND["practicals"])


@pytest.mark.parametrize("item", FOUND["figures"], ids=lambda item: item["id"])
def test_every_figure_is_drawn_in_its_chapter(item: dict[str, Any]) -> None:
    """By a call, of which the first arguments are given, or by a table with these words before it."""
    text = chapter(item)
    assert item["shown_by"]
    for shown in item["shown_by"]:
        name = re.match(r'figure\("([\w-]+)"', shown)
        if "(" in shown:
            assert f"{{{{ {shown}" in text, shown
        else:
            assert re.search(re.escape(shown) + r".*\n\n\|", text), shown
        assert name is None or name[1] in figure_names()


@pytest.mark.parametrize("item", FOUND["exercises"], ids=lambda item: item["id"])
def test_every_exercise_is_asked_and_answered(item: dict[str, Any]) -> None:
    """Exactly one exercise of the chapter begins so, and an answer with a computed number or a reason follows."""
    found = [body for body in _EXERCISE.findall(chapter(item)) if body.startswith(item["begins"])]
    assert len(found) == 1, item["begins"]
    _, answer = found[0].split('??? success "Answer"')
    assert len(answer.split()) >= 10


def test_an_answer_can_be_missed() -> None:
    """The pattern tells exercises apart."""
    text = (
        '{{ exercise("easy") }} One?\n\n??? success "Answer"\n    Yes.\n\n{{ exercise("hard") }} Two?\n## Key points\n'
    )
    assert [body.split("\n")[0] for body in _EXERCISE.findall(text)] == ["One?", "Two?"]
