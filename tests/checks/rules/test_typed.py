"""Typed numbers with units in prose: found with their line, excused with a reason, and counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from flopbook.checks.lint import prose_share
from flopbook.checks.rules import typed
from flopbook.checks.rules.base import Holdings
from flopbook.checks.rules.typed import Share, bound_numbers, share_of, typed_numbers
from flopbook.data.library import library


@pytest.mark.parametrize(
    "text",
    [
        "has 80 GB of memory",
        "at 989 TFLOP/s",
        "3.35TB/s",
        "takes 10 ns",
        "700 W each",
        "295 FLOP/byte",
        "15 trillion tokens",
        "1,024 chips",
        "45 percent",
        "in 54 days",
        "300 tokens",
        "1.5 PF-days",
        "20 % of it",
    ],
)
def test_a_typed_number_is_found(text: str) -> None:
    assert [line for line, _ in typed_numbers(f"First line.\n\nIt {text}, they say.")] == [3]


@pytest.mark.parametrize(
    "text",
    [
        "2 bytes wide",
        "a byte is 8 bits",
        "16 chips",
        "7 FLOP",
        "take $n = 4$ tokens",
        "$10^{15}$ FLOP",
        "`80 GB`",
        "{{ q('80GB', 'byte') }}",
        "{{ n }} GB",
        "in 2017 a paper",
        "exercise 8 shows",
        "GPT-3 B",
        "2:4",
        "[a page](https://example.org/80 GB)",
        '<b title="80 GB">',
        "```\n80 GB\n```",
        "$$ 80 GB $$",
        "32-bit words",
        "{% set a = '80 GB' %}",
        "int4 weights",
        "3x B",
        "h100-80 sold",
        "in the 2010s",
    ],
)
def test_what_is_not_a_typed_number_is_left_alone(text: str) -> None:
    """Small counts, maths, code, expressions, addresses, years and names."""
    assert typed_numbers(text) == []


def test_lines_are_those_of_the_file() -> None:
    """What is taken away leaves its lines behind."""
    text = "{% set a = [\n  1,\n] %}\n```\n80 GB\n```\n$$\nx\n$$\nIt has 80 GB.\n"
    assert typed_numbers(text) == [(10, "80 GB")]


def test_expressions_that_print_numbers_are_counted() -> None:
    assert (
        bound_numbers(
            '{{ chip("a") }} {{ chip("a").peak("bf16") }} {{ cite("b") }} {{ n | unit("s") }}'
        )
        == 2
    )
    assert (
        bound_numbers(
            '{% raw %}{{ a }}{% endraw %} {{ figure("x") }} {{ exercise("easy") }} {{ claim("c") }}'
        )
        == 1
    )


def with_docs(docs: Path) -> Holdings:
    """Holdings of which the rule needs the folder of prose alone."""
    return Holdings(library=library(), docs=docs)


def folder(tmp_path: Path, **pages: str) -> Holdings:
    """The holdings of a repository with these pages of prose and nothing else."""
    docs = tmp_path / "docs"
    (docs / "contributing").mkdir(parents=True)
    for name, text in pages.items():
        (docs / f"{name.replace('_', '/')}.md").write_text(text, encoding="utf-8")
    return with_docs(docs)


def test_a_reason_excuses_its_line_and_no_other(tmp_path: Path) -> None:
    holdings = folder(
        tmp_path,
        a="80 GB {# typed: a quotation #}\n90 GB\n{# typed: #} 70 GB\n{# typed: none #}\n",
    )
    numbers = [(finding.problem.line, finding.problem.found) for finding in typed.check(holdings)]
    assert numbers == [
        (2, "the typed number '90 GB'"),
        (3, "the typed number '70 GB'"),
        (4, "a reason for a typed number"),
    ]
    assert share_of(holdings.docs) == Share(bound=0, typed=3, excused=2)


def test_pages_that_show_how_to_write_are_exempt(tmp_path: Path) -> None:
    holdings = folder(tmp_path, contributing_a="80 GB", b="{{ x }} and {{ y }}")
    assert list(typed.check(holdings)) == [] and share_of(holdings.docs) == Share(2, 0, 0)


def test_an_installed_package_has_no_prose(tmp_path: Path) -> None:
    nowhere = tmp_path / "docs"
    assert list(typed.check(with_docs(nowhere))) == [] and share_of(nowhere) is None


def test_the_share_says_what_it_counts() -> None:
    assert str(Share(190, 10, 10)) == "190 of 200 numbers with units in docs/ are computed (95.0 %)"


def test_our_own_prose_keeps_the_rule() -> None:
    """No typed number without a reason, and at least 95 percent computed."""
    assert [finding.problem for finding in typed.check(with_docs(library().docs))] == []
    share = prose_share()
    assert share is not None and share.bound >= 0.95 * (share.bound + share.typed)
