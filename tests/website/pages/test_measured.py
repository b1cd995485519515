"""The tables of measured runs: which rows they compare, and how far the calculators are off."""

from __future__ import annotations

import statistics

import pytest

from scripts.website.measured.comparisons import KINDS, compared
from scripts.website.pages.prose import render


def factors(kind: str) -> list[float]:
    return [line.factor for line in compared(kind).lines]


@pytest.mark.parametrize("kind", KINDS)
def test_no_row_is_refused_and_none_comes_twice(kind: str) -> None:
    found = compared(kind)
    ids = [line.id for line in found.lines]
    assert found.refused == 0 and len(ids) == len(set(ids)) > 10
    assert all(line.measured > 0 and line.computed > 0 for line in found.lines)


def test_half_of_the_collectives_are_within_a_third() -> None:
    assert statistics.median(factors("collective")) < 1.3


def test_half_of_the_memories_are_within_eight_percent() -> None:
    assert statistics.median(abs(line.error) for line in compared("memory").lines) < 0.08


@pytest.mark.parametrize("kind", ["decode", "prefill", "batch"])
def test_the_bound_of_inference_is_nowhere_above_what_was_measured(kind: str) -> None:
    """A bound that a real system beats is no bound."""
    assert {line.id: line.error for line in compared(kind).lines if line.error > 0} == {}


def test_the_table_names_the_worst_run_and_counts_all() -> None:
    text = render('{{ measured("memory") }}', "measured.md", "docs/measured.md")
    worst = max(compared("memory").lines, key=lambda line: line.factor)
    assert worst.id in text and f">{len(compared('memory').lines)}<" in text
    assert "<caption>" in text and "torchtitan" in text
