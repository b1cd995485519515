"""Shares are written as running text has them, "16 %": by `percent`, and in words from data."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from flopbook.data.library import load_entries, references
from flopbook.ledger.rows import ledger_rows
from flopbook.quantities.units import percent
from tests.support.cases import every

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(
    path
    for folder in ("scripts/website", "scripts/bench", "calculators/flopbook")
    for path in (ROOT / folder).rglob("*.py")
)
# What is to be typed again: a share as an option takes it.
TYPED = ("calculators/flopbook/formulas/input_bounds.py",)
_TIGHT = re.compile(r"\d%(?![0-9A-F]{2})")


def tight(source: str) -> Iterator[int]:
    """Lines of code that would print a percent sign right behind a number."""
    for node in ast.walk(ast.parse(source)):
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and re.search(r"\{[^{}]*:[^{}]*%\}", text):
            yield node.lineno
        if not isinstance(node, ast.JoinedStr):
            continue
        for piece, after in zip(node.values, [*node.values[1:], None], strict=True):
            if not isinstance(piece, ast.FormattedValue):
                continue
            spec = ast.unparse(piece.format_spec) if piece.format_spec else ""
            ends = after.value if isinstance(after, ast.Constant) else ""
            # A length of a style, `width:{share}%;`, is no text.
            if spec.rstrip("'\"").endswith("%") or re.match(r"%(?![;\"')])", str(ends)):
                yield piece.lineno


@pytest.mark.parametrize(
    ("share", "words"),
    [(-0.0004, "0 %"), (0.0004, "0 %"), (0.0, "0 %"), (-0.006, "-1 %"), (0.006, "+1 %")],
)
def test_nothing_has_no_sign(share: float, words: str) -> None:
    """A bias that rounds to nothing is neither too fast nor too slow."""
    assert percent(share, signed=True) == words
    assert percent(-0.0004) == "0 %"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('f"idle {share:.1%} of it"', [1]),
        ('f"idle {100 * share:.0f}% of it"', [1]),
        ('"idle {:.1%}".format(share)', [1]),
        ('f"idle {percent(share)} of it"', []),
        ("f'style=\"width:{share:.1f}%\"'", []),
        ('f"{count % 8} left"', []),
    ],
)
def test_a_tight_sign_is_seen(source: str, found: list[int]) -> None:
    assert list(tight(source)) == found


@every("path", SOURCES)
def test_code_prints_shares_with_their_blank(path: Path) -> None:
    name = path.relative_to(ROOT).as_posix()
    lines = list(tight(path.read_text(encoding="utf-8")))
    assert not lines or name in TYPED, f"{name}: {lines}: use percent() of quantities.units"


def test_words_from_data_have_the_blank_too() -> None:
    """Our own sentences; what a source says stays as the source writes it."""
    words = [
        (row.id, text) for row in ledger_rows() for text in (row.statement, row.why, row.assumption)
    ]
    words += [(key, work.annote) for key, work in references().items()]
    for entry in load_entries().values():
        words += [(entry.id, text) for text in (entry.summary, entry.notes)]
        words += [(entry.id, claim.note) for claim in entry.claims]
    assert [(name, text) for name, text in words if _TIGHT.search(text)] == []


def test_a_share_is_written_with_the_digits_that_are_asked_for() -> None:
    assert percent(0.158) == "16 %" and percent(0.158, 1) == "15.8 %"
    assert percent(0.5, signed=True) == "+50 %" and percent(-0.5, signed=True) == "-50 %"
