"""Letters of a chapter's formulas: each is listed once, with one meaning, and is used."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.checks.rules import symbols
from flopbook.checks.rules.base import Holdings
from flopbook.checks.rules.symbols import symbol_problems, symbols_of, uses_of
from flopbook.data.library import library

HANDBOOK = Path(__file__).resolve().parents[3] / "docs" / "handbook"
HEAD = "---\ntitle: One\norder: 10\nsymbols:\n{table}---\n\n# One\n\n{text}\n"
TABLE = "  B: tokens in a batch\n  \\pi: peak rate\n  T_\\text{step}: time of a step\n"
TEXT = "With $B$ tokens\n\n$$ T_\\text{step} = \\frac{2 B_X}{\\pi} $$\n"


def found(text: str, table: str = TABLE) -> list[tuple[int, str, str]]:
    problems = symbol_problems(HEAD.format(table=table, text=text), "one.md")
    return [(problem.line, problem.found, problem.mend) for problem in problems]


def test_a_chapter_that_keeps_the_rule_is_left_alone() -> None:
    assert found(TEXT) == []
    assert list(symbol_problems("# A page that is no chapter\n\n$Q$\n", "page.md")) == []


def test_a_chapter_without_a_table_is_found() -> None:
    (problem,) = symbol_problems("---\ntitle: One\norder: 10\n---\n\n# One\n\n$Q$ $Q$\n", "one.md")
    assert (problem.line, problem.found) == (8, "'Q'")


@pytest.mark.parametrize(
    ("text", "line", "symbol"),
    [
        ("and\n\nmore $Q$", 2, "'Q'"),
        ("$$ B\n+ \\eta $$", 1, "'\\eta'"),
        ("$T_\\text{sum}$", 0, "'T_\\text{sum}'"),
        ("$W_\\mathrm{in} \\cdot B$", 0, "'W_\\mathrm{in}'"),
        ("$K'_{i}$", 0, "'K_i'"),
    ],
)
def test_an_unknown_symbol_is_found_at_its_line(text: str, line: int, symbol: str) -> None:
    """The first line of the text is the 15th of the page, behind what is always there."""
    assert [(at, letter) for at, letter, _ in found(TEXT + text)] == [(line + 15, symbol)]


@pytest.mark.parametrize(
    "text",
    [
        "`$Q$`",
        "```\n$Q$\n```",
        "{{ q('$Q$') }}",
        "$\\text{Out} = \\max(\\tfrac{1}{2}, \\ln 3)$",
        "$e^{B} \\, dB$",
        "costs 3 $ or 4 $ each",
        "$\\mathrm{PUE}$",
    ],
)
def test_what_is_no_symbol_is_none(text: str) -> None:
    assert found(TEXT + text) == []


def test_two_meanings_of_a_letter_stop_the_build() -> None:
    ((line, observed, hint),) = found(TEXT, TABLE + "  B: bytes of a number\n")
    assert line == 8 and "'tokens in a batch' and as 'bytes of a number'" in observed
    assert "another letter" in hint


def test_two_letters_for_one_meaning_are_found() -> None:
    problems = found(TEXT + "$W$", TABLE + "  W: peak rate\n")
    assert [(line, letters) for line, letters, _ in problems] == [
        (8, "'\\pi' and 'W' for 'peak rate'")
    ]


def test_a_symbol_that_no_formula_has_is_found() -> None:
    assert [(line, letter) for line, letter, _ in found(TEXT, TABLE + "  Z: nothing\n")] == [
        (8, "'Z'")
    ]


def test_a_line_that_is_none_of_a_table_is_found() -> None:
    problems = found(TEXT, TABLE + "  - $Z$ nothing\n")
    assert [line for line, _, _ in problems] == [8]


@given(st.text("$\\{}_abTX^ \n'", max_size=40))
def test_any_text_is_read_without_an_error(text: str) -> None:
    assert all(use.whole.startswith(use.letter) for use in uses_of(text))


@given(st.sets(st.sampled_from("ABCDEFGHKLMNPQ"), min_size=2))
def test_uses_that_are_listed_are_no_problem(letters: set[str]) -> None:
    table = "".join(f"  {letter}: meaning {letter}\n" for letter in sorted(letters))
    text = " ".join(f"${letter}$" for letter in sorted(letters))
    assert found(text, table) == []
    missing = sorted(letters)[0]
    shorter_table = table.replace(f"  {missing}: meaning {missing}\n", "")
    assert [unknown for _, unknown, _ in found(text, shorter_table)][:1] == [f"'{missing}'"]


# The letters that the whole book shares.
SHARED = {
    "D": "width of the model",
    "F": "width of the feed-forward block",
    "\\beta": "memory bandwidth, byte/s",
}
ELSEWHERE = {  # chapters in which a letter has another meaning, which their table says
    "why-compute": ("D", "\\beta"),
    "accelerators": ("D",),
    "roofline": ("D", "F"),
    "pipeline-parallelism": ("F",),
    "expert-and-context-parallelism": ("F",),
    "low-precision": ("D", "F"),
    "serving": ("D", "F"),
    "reinforcement-learning": ("\\beta",),
}


def test_the_book_agrees_on_its_letters() -> None:
    """And a peak is the same letter everywhere, whatever it is a peak of."""
    for path in sorted(HANDBOOK.glob("*.md")):
        for symbol in symbols_of(path.read_text(encoding="utf-8")):
            is_shared = symbol.latex in SHARED and symbol.latex not in ELSEWHERE.get(path.stem, ())
            if is_shared:
                assert symbol.meaning == SHARED[symbol.latex], (path.stem, symbol)
            assert ("peak rate" in symbol.meaning) == (symbol.latex == "\\pi"), (path.stem, symbol)


def test_the_handbook_keeps_the_rule() -> None:
    holdings = Holdings(library=library(), docs=HANDBOOK.parent)
    assert [str(finding.problem) for finding in symbols.check(holdings)] == []
