"""Statements of the chapters on divided training that a count of their own contradicts or keeps."""

from __future__ import annotations

import pytest

from flopbook.pipelines import Times, plan, simulate
from tests.support.rendering import READS_THE_HANDBOOK, rendered, text_of

pytestmark = READS_THE_HANDBOOK


def prose(chapter: str) -> str:
    return " ".join(rendered(f"handbook/{chapter}.md").replace("\xa0", " ").split())


def test_a_zero_bubble_ends_where_stages_wait_for_the_norm() -> None:
    """Equal passes, 8 stages, 32 micro-batches: over all stages ZB-H2 loses what ZB-H1 does."""
    runs = {name: simulate(plan(name, 8, 32)) for name in ("zb-h1", "zb-h2", "zb-v")}
    lost = {name: round(100 * (1 - 96 / run.makespan), 1) for name, run in runs.items()}
    assert lost["zb-h2"] == lost["zb-h1"] > lost["zb-v"] > 0
    assert f"that is {lost['zb-h2']} and {lost['zb-v']} percent" in prose("pipeline-parallelism")


def test_the_formula_of_dualpipe_is_exact_for_equal_passes_only() -> None:
    """It was said that formula and schedule agree, without a condition."""
    run = simulate(plan("dualpipe", 8, 32), Times(10, 11, 8))
    idle = run.seconds - 32 * (10 + 11 + 8)
    assert idle == pytest.approx(69) and 3 * (10 + 2 * 11 - 8) == 72
    assert "it gives 72 ms, and the schedule run pass by pass 69 ms" in prose(
        "pipeline-parallelism"
    )
    assert "run pass by pass, both agree" not in text_of("pipeline-parallelism")
