"""Heads of pages: what fills the memory or the stack of a generator is refused in one reading."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.checks.lint import RULES
from flopbook.checks.rules import pageheads
from flopbook.checks.rules.pageheads import check, head_problems
from flopbook.data.library import library

_DOUBLED = "".join(f"x{n}: &a{n + 1} [*a{n}, *a{n}, *a{n}, *a{n}]\n" for n in range(40))
_HOSTILE = {
    "anchors": f"a: &a0 [x]\n{_DOUBLED}",
    "merge": "x: &a {title: Z}\n<<: *a\n",
    "circle": "x: &a [*a]\n",
    "open": f"x: {'[' * 20_000}\n",
    "deep": f"x: {'[' * 900}{']' * 900}\n",
    "tag": "x: !!python/object/apply:os.system [id]\n",
    "twice": "title: A\ntitle: B\n",
    "day": "title: 2026-02-30\n",
    "digits": f"order: {'9' * 5_000}\n",
    "list": "- a\n- b\n",
    "words": "words alone\n",
}


def page(head: str, marks: str = "---") -> str:
    """A page with a head, and a text below."""
    return f"---\n{head}{marks}\n\n# Two\n\nText.\n\n---\n"


@pytest.mark.parametrize("name", _HOSTILE)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_hostile_head_is_refused_in_one_line_each(name: str, end: str) -> None:
    problems = list(head_problems(page(_HOSTILE[name]).replace("\n", end), "two.md"))
    assert problems
    assert all(str(problem).isprintable() and len(str(problem)) < 400 for problem in problems)


@pytest.mark.parametrize("marks", ["---", "--- ", "..."])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_every_end_and_beginning_of_a_head_counts(marks: str, mark: str) -> None:
    assert list(head_problems(mark + page(_HOSTILE["circle"], marks), "two.md"))


@given(st.integers(0, 20))
def test_the_line_is_that_of_the_file(above: int) -> None:
    head = "".join(f"name{number}: a\n" for number in range(above))
    [problem] = head_problems(page(f"{head}x: &a b\n"), "two.md")
    assert (problem.line, problem.rule) == (above + 2, "anchors")


@pytest.mark.parametrize(
    "text",
    ["", "# No head\n", page("title: Two\norder: 2\n"), page(""), "---\nwithout an end", "----\n"],
)
def test_sound_pages_have_none(text: str) -> None:
    assert list(head_problems(text, "two.md")) == []


def test_pages_of_all_folders_are_read(tmp_path: Path) -> None:
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "two.md").write_text(page(_HOSTILE["merge"]), encoding="utf-8")
    (tmp_path / "latin.md").write_bytes(b"---\ntitle: \xe9\n---\n")
    holdings: Any = SimpleNamespace(docs=tmp_path)
    [finding] = check(holdings)
    assert finding.problem.file.endswith("part/two.md") and not finding.owners


def test_our_pages_have_sound_heads() -> None:
    holdings: Any = SimpleNamespace(docs=library().docs)
    assert list(check(holdings)) == [] and pageheads in RULES
