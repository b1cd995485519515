"""Heads of notebooks: read by one guarded reader, by lint and by who builds."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.checks.rules.pageheads import check, extra_in_head, notebook_head
from flopbook.data.library import library
from flopbook.errors import DataError
from scripts.website.build import extras

_HOSTILE = {
    "open": f"jupyter: {'[' * 3_000}",
    "deep": f"jupyter: {'[' * 900}{']' * 900}",
    "anchors": "a: &a0 [x]\nb: [*a0, *a0]",
    "circle": "jupyter: &a {flopbook: *a}",
    "tag": "jupyter: !!python/object/apply:os.system [id]",
    "twice": "jupyter: {}\njupyter: {}",
    "list": "- a",
    "words": "words alone",
    "no mapping": "jupyter: [a]",
    "no mapping inside": "jupyter:\n  flopbook: jax",
    "control": "jupyter: a\x1b[2J",
}
_ABOVE = ("", "#!/usr/bin/env python\n", "# -*- coding: utf-8 -*-\n", "#\n# \n")


def notebook(head: str, above: str = "") -> str:
    """A notebook with a head in comments, and a cell below."""
    lines = "".join(f"# {line}\n" for line in ["---", *head.split("\n"), "---"])
    return f"{above}{lines}\n# %%\n1\n"


@pytest.mark.parametrize("name", _HOSTILE)
@pytest.mark.parametrize("above", _ABOVE)
def test_lint_and_the_build_refuse_a_hostile_head_in_the_same_lines(
    name: str, above: str, tmp_path: Path
) -> None:
    path = tmp_path / "calculators" / "notebooks" / "two.py"
    path.parent.mkdir(parents=True)
    path.write_text(notebook(_HOSTILE[name], above), encoding="utf-8")
    with pytest.raises(DataError) as raised:
        extras.extra_of(path)
    holdings: Any = SimpleNamespace(docs=tmp_path / "docs")
    problems = [finding.problem for finding in check(holdings)]
    assert tuple(problems) == raised.value.problems
    assert all(problem.file.endswith("two.py") for problem in problems)
    assert all(str(problem).isprintable() and len(str(problem)) < 400 for problem in problems)


@given(st.sampled_from(_ABOVE), st.integers(0, 20))
def test_the_line_is_that_of_the_file(above: str, count: int) -> None:
    head = "".join(f"name{number}: a\n" for number in range(count))
    with pytest.raises(DataError) as raised:
        notebook_head(notebook(f"{head}x: &a b", above), "two.py")
    [problem] = raised.value.problems
    assert (problem.line, problem.rule) == (above.count("\n") + count + 2, "anchors")


@pytest.mark.parametrize("above", _ABOVE)
@pytest.mark.parametrize(
    ("head", "extra"),
    [
        ("jupyter:\n  flopbook:\n    extra: jax", "jax"),
        ("jupyter: {flopbook: {extra: torch}}", "torch"),
        ("jupyter: {flopbook: {extra: null}}", ""),
        ("jupyter: {flopbook: {}}", ""),
        ("title: A", ""),
    ],
)
def test_an_extra_is_found_below_all_that_may_stand_above(
    head: str, extra: str, above: str, tmp_path: Path
) -> None:
    path = tmp_path / "two.py"
    path.write_text(notebook(head, above), encoding="utf-8")
    assert extra_in_head(path) == extra


def test_bytes_that_are_no_text_are_said_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "calculators" / "notebooks" / "two.py"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"# %%\n# \xe9\n")
    with pytest.raises(DataError, match=r"two.py:2:1: encoding: found byte 0xe9"):
        extra_in_head(path)
    holdings: Any = SimpleNamespace(docs=tmp_path / "docs")
    assert [finding.problem.line for finding in check(holdings)] == [2]


def test_an_unknown_extra_is_told_in_one_printable_line(tmp_path: Path) -> None:
    path = tmp_path / "two.py"
    path.write_text(notebook(f"jupyter: {{flopbook: {{extra: {'x' * 900}}}}}"), encoding="utf-8")
    with pytest.raises(extras.ExtraError) as raised:
        extras.extra_of(path)
    assert str(raised.value).isprintable() and len(str(raised.value)) < 200


def test_our_notebooks_have_sound_heads() -> None:
    folder = library().docs.parent / "calculators" / "notebooks"
    found = {extra_in_head(path) for path in folder.glob("*.py")}
    assert found == {"", *extras.EXTRAS}


def test_a_notebook_is_no_larger_than_a_page(tmp_path: Path) -> None:
    """A longer one was left out without a word, its head unread until the build came to it."""
    path = tmp_path / "calculators" / "notebooks" / "long.py"
    path.parent.mkdir(parents=True)
    path.write_text(notebook(_HOSTILE["circle"]) + "x = 1\n" * 50_000, encoding="utf-8")
    holdings: Any = SimpleNamespace(docs=tmp_path / "docs")
    [finding] = check(holdings)
    assert "expected at most 250,000 bytes" in str(finding.problem)


@pytest.mark.parametrize("name", ["title", "description"])
def test_words_that_each_page_shows_are_short(name: str, tmp_path: Path) -> None:
    path = tmp_path / "docs" / "long.md"
    path.parent.mkdir()
    path.write_text(f"---\n{name}: {'X' * 501}\n---\n\n# X\n", encoding="utf-8")
    holdings: Any = SimpleNamespace(docs=tmp_path / "docs")
    [finding] = check(holdings)
    assert f"long.md:2:1: page-head: found a {name} of 501 characters" in str(finding.problem)
