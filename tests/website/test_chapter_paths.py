"""Sections of chapters stand behind what they need, and a term is defined in one chapter."""

from __future__ import annotations

import pytest

from tests.support.rendering import text_of


@pytest.mark.parametrize(
    ("chapter", "order"),
    [
        ("serving", ("Two targets", "Worked example", "Rates at full load", "Prefill and decode")),
        ("prediction", ("Physics first", "Worked example", "A band", "Three runs")),
        ("choosing-a-configuration", ("The run of the opening", "Thousands of layouts")),
        ("inference", ("Where the cache goes", "Wide groups", "Speculative decoding")),
        ("context-parallelism", ("When the ring hides", "Latents", "The causal mask")),
    ],
)
def test_a_section_stands_behind_what_it_needs(chapter: str, order: tuple[str, ...]) -> None:
    text = text_of(chapter)
    places = [text.index(f"## {head}") for head in order]
    assert places == sorted(places)


def test_the_two_waits_of_a_user_are_defined_once() -> None:
    assert "*time to first token* (TTFT)" in text_of("inference")
    served = text_of("serving")
    assert "(TTFT)" not in served and "(TPOT)" not in served
    assert "(inference.md#two-jobs-not-one)" in served


def test_why_attention_runs_in_groups_is_told_where_the_cache_goes() -> None:
    assert "(inference.md#where-the-cache-goes)" in text_of("from-plan-to-flags")


def test_a_letter_of_predicting_is_no_name_of_a_distribution() -> None:
    """The t of the chapter is the TP degree."""
    assert "Student's $t$" not in text_of("prediction")
