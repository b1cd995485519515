"""Expressions of prose: what cannot be read, and what names nothing, is told before any build."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from flopbook.checks.rules.base import Holdings
from flopbook.checks.rules.expressions import check
from flopbook.data.library import library


def told(text: str, tmp_path: Path, unreadable: frozenset[str] = frozenset()) -> list[str]:
    """What the rule says of a page, as line, finding and remedy."""
    (tmp_path / "page.md").write_text(text, encoding="utf-8")
    holdings = Holdings(
        library=library(),
        references=library().references,
        docs=tmp_path,
        unreadable=unreadable,
    )
    problems = [finding.problem for finding in check(holdings)]
    assert {(one.file, one.rule) for one in problems} <= {(str(tmp_path / "page.md"), "prose")}
    return [f"{one.line}: {one.found}; {one.mend}" for one in problems]


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("{{ unclosed", "unexpected end of template"),
        ("{% if %}", "Expected an expression"),
        ("{% if 1 %}", "Unexpected end of template"),
        ('{{ chip("h100-smx").peak("bf16") }}', "unknown chip 'h100-smx'; nearest: h100-sxm"),
        ('{{ entry("nobody/none").name }}', "unknown chip 'nobody/none'"),
        ('{{ calc("min-batsch", chip="h100-sxm") }}', "unknown calculator 'min-batsch'"),
        ('{{ calc("min-batch", chip="h100-smx") }}', "unknown chip 'h100-smx'"),
        ('{{ (2 * model("llama-3-8c").params) }}', "unknown model 'llama-3-8c'"),
        ('{{ cite("nobody2020x") }}', "unknown reference 'nobody2020x'"),
        ('{{ claim("no-row") }}', "unknown claim 'no-row'"),
    ],
)
def test_each_is_told_with_its_line(expression: str, found: str, tmp_path: Path) -> None:
    (one,) = told(f"# A title\n\n{expression}\n", tmp_path)
    assert one.partition(": ")[2].startswith(found)
    assert one.startswith("3: ") or "end of template" in one


@pytest.mark.parametrize(
    "text",
    [
        '{{ chip("h100-sxm").peak("bf16") }} {{ calc("min-batch", chip="nvidia/h100-sxm") }}',
        '{{ cite("williams2009roofline") }} {{ model("llama-3-8b").params }}',
        '{% raw %}{{ chip("none") }} {{{% endraw %} {# {{ cite("none") }} #}',
        '{% set name = "none" %}{{ chip(name) }} {{ figure("none") }}',
    ],
)
def test_what_is_there_or_is_not_known_here_is_left(text: str, tmp_path: Path) -> None:
    assert told(text, tmp_path) == []


def test_what_cannot_be_read_elsewhere_is_not_missing_here(tmp_path: Path) -> None:
    text = '{{ cite("nobody2020x") }} {{ claim("no-row") }} {{ model("none") }}'
    unreadable = frozenset({"references", "ledger", "models"})
    assert told(text, tmp_path, unreadable) == []


def _large() -> Iterator[str]:
    yield "{{ " + "(" * 50_000
    yield "{{" * 50_000
    yield "{% raw %}" * 20_000
    yield "{{ 1" + "+1" * 40_000 + " }}"
    yield "{% if 1 %}" * 5_000
    yield "{{ cite('" + "a" * 200_000 + "') }}"


@pytest.mark.parametrize("text", _large(), ids=range(6))
def test_large_ones_are_told_soon(text: str, tmp_path: Path) -> None:
    begun = time.process_time()
    (one,) = told(text, tmp_path)
    assert len(one) < 500 and time.process_time() - begun < 5
