"""Prose that two processes make is what one makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.website.build import content

_PAGE = "---\ntitle: {0}\ndescription: What it is.\n---\n\n# {0}\n\n{1}\n"


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Three pages, of which the second is the longest; the last draws a figure."""
    monkeypatch.setattr(content, "DOCS", tmp_path)
    texts = ("Text.", "More text. " * 9, '{{ figure("number-formats") }}')
    paths = [tmp_path / f"{name}.md" for name in ("a", "b", "c")]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(_PAGE.format(path.stem, text), encoding="utf-8")
    return paths


def test_two_processes_make_what_one_makes(pages: list[Path]) -> None:
    alone = content._prose_part({}, is_alone=True)
    together = content._prose_part({}, is_alone=False)
    assert together == alone
    assert [*together.pages][:3] == [path.name for path in pages]
    assert any(name.endswith(".svg") for name in together.files)


def test_problems_of_both_halves_are_told_by_place(pages: list[Path]) -> None:
    for path in pages:
        path.write_text(_PAGE.format(path.stem, "{{ nothing }}"), encoding="utf-8")
    problems = content._prose_part({}, is_alone=False).problems
    assert [problem.file for problem in problems] == [f"docs/{path.name}" for path in pages]


def test_what_fails_in_the_other_process_fails_here(
    pages: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second largest page is made there."""

    def refuse(text: str, page: str, *_: object) -> str:
        if page == "c.md":
            raise ArithmeticError("of this page")
        return text

    monkeypatch.setattr(content, "render", refuse)
    with pytest.raises(ArithmeticError, match="of this page"):
        content._prose_part({}, is_alone=False)
