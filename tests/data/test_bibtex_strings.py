"""Abbreviations of BibTeX and other short files that would fill the memory or the day."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from flopbook.data.references import read_bib
from flopbook.errors import DataError

DOUBLING = "\n".join(
    [
        '@string{a0 = "laughs "}',
        *(f"@string{{a{n} = a{n - 1} # a{n - 1}}}" for n in range(1, 40)),
        "@misc{bomb, title = a39}",
    ]
)
FIELD = "@misc{bomb,\n title = " + " # ".join(["{0123456789}"] * 20_000) + "}\n"
ABBREVIATED = '@string{long = "' + "x" * 1000 + '"}\n'
HOSTILE = {
    "doubling": (DOUBLING, 14, "bibtex: found abbreviations for more than 100,000 characters"),
    "one long abbreviation": (
        ABBREVIATED + "@misc{a, title = " + "#".join(["long"] * 200) + "}",
        2,
        "write the text out where it stands",
    ),
    "in many entries": (
        ABBREVIATED + "".join(f"@misc{{a{n}, title = long}}\n" for n in range(200)),
        102,
        "more than 100,000 characters",
    ),
    "many tiny entries": (
        "".join(f"@a{{k{n},a=1}}\n" for n in range(200_000)),
        1,
        "size: found 400,000 entries, names and marks of LaTeX, expected at most 150,000",
    ),
    "many authors": ("@a{k, author={" + "A and " * 400_000 + "B}}", 1, "split the file"),
    "much LaTeX": ("@a{k, title={" + r"\'e" * 400_000 + "}}", 1, "split the file"),
    "braces in braces": ("@a{k,\n title={" + "{" * 5000 + "}" * 5000 + "}}", 2, "bibtex: found"),
    "macros in macros": ("@a{k, title={" + r"\emph{" * 5000 + "}" * 5000 + "}}", 1, "bibtex"),
}


@pytest.mark.parametrize("attack", HOSTILE)
def test_a_bomb_is_a_problem_with_its_line_within_seconds(attack: str, tmp_path: Path) -> None:
    text, line, message = HOSTILE[attack]
    path = tmp_path / "all.bib"
    path.write_text(text)
    begun = time.process_time()
    with pytest.raises(DataError) as refusal:
        list(read_bib(path))
    assert time.process_time() - begun < 5
    (problem,) = refusal.value.problems
    assert problem.line == line and message in str(problem) and len(str(problem)) < 400


def test_abbreviations_of_a_usual_size_are_read(tmp_path: Path) -> None:
    path = tmp_path / "all.bib"
    path.write_text(
        '@string{acl = "Annual Meeting"}\n@misc{a, title = acl # { of } # 2026, month = jan}'
    )
    (entry,) = read_bib(path)
    assert (entry.title, entry.month) == ("Annual Meeting of 2026", 1)


def test_a_long_field_in_pieces_is_read(tmp_path: Path) -> None:
    path = tmp_path / "all.bib"
    path.write_text(FIELD)
    (entry,) = read_bib(path)
    assert len(entry.title) == 200_000


@pytest.mark.parametrize("error", [MemoryError, RecursionError, OverflowError, KeyError])
def test_a_parser_that_gives_up_is_a_problem(
    error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pybtex.database.input.bibtex import Parser

    def give_up(*_: object) -> None:
        raise error

    monkeypatch.setattr(Parser, "process_entry", give_up)
    path = tmp_path / "all.bib"
    path.write_text("\n\n@misc{a, title = {T} # {U}}")  # to be worked out
    with pytest.raises(DataError, match=rf"all\.bib:3:1: bibtex: found {error.__name__}"):
        list(read_bib(path))


def test_a_macro_without_its_arguments_is_a_problem(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """pylatexenc prints a warning, and made the title `a %s/%s`."""
    path = tmp_path / "all.bib"
    path.write_text("@misc{a, title = {a \\frac}}")
    with pytest.raises(DataError, match="latex: found LaTeX that cannot be read in a"):
        list(read_bib(path))
    assert capfd.readouterr() == ("", "")
