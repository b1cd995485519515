"""Statements of the chapters on divided training that a count of their own contradicts or keeps."""

from __future__ import annotations

import numpy as np
import pytest

from flopbook.architectures.shape import shape
from flopbook.ledger.rows import ledger_row
from flopbook.pipelines import Times, plan, simulate
from tests.support.rendering import READS_THE_HANDBOOK, rendered, text_of

pytestmark = READS_THE_HANDBOOK


def stated_of(claim: str) -> float:
    found = ledger_row(claim).stated.value
    assert found is not None
    return found


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


def test_a_dropped_visit_is_not_a_dropped_token() -> None:
    """Two of 64 experts for each token, the first expert over its capacity by 448 visits."""
    rng = np.random.default_rng(0)
    visits = np.argsort(rng.random((8192, 64)) - 0.2 * (np.arange(64) == 0), axis=1)[:, :2]
    late = np.flatnonzero((visits == 0).any(axis=1))[320:]
    left = [sum(expert != 0 for expert in visits[token]) for token in late]
    assert len(late) > 0 and set(left) == {1}
    text = text_of("expert-and-context-parallelism")
    assert "those tokens skip the layer" not in text
    assert "A token that loses one visit goes on with its other experts" in text


def test_the_peak_of_the_million_tokens_is_the_one_that_its_authors_state() -> None:
    """It was said that they name none; by it our count comes to their share."""
    model = shape("llama-3-405b")
    done = 1e6 * (2 * model.params + 2 * model.layers * model.d_model * 1e6)
    reached = done / stated_of("yang-million-prefill") / 128
    share = reached / (1e12 * stated_of("yang-peak"))
    assert 100 * share == pytest.approx(stated_of("yang-million-share"), abs=1)
    assert "not of which peak" not in text_of("context-parallelism")


def test_a_ring_over_tcp_hides_by_the_rates_that_were_measured() -> None:
    least = 2 * 1e12 * stated_of("yang-kernel") * 8 / 128 / (1e9 * stated_of("yang-tcp-rate"))
    assert least < 128e3 / 4
    assert f"hides from {least:,.0f} tokens on" in prose("context-parallelism")


def test_plain_tensor_parallelism_exposes_half_where_the_switch_adds() -> None:
    """One all-reduce against two gathers and a scatter, at the bus bandwidths of one node."""
    array = 2 * 4096 * shape("llama-3-70b").d_model
    plain = 2 * 7 / 8 * array / (1e9 * stated_of("nvls-all-reduce"))
    shared = 3 * 7 / 8 * array / (1e9 * stated_of("nvls-all-gather"))
    assert shared / plain == pytest.approx(2, abs=0.05)
    text = prose("tensor-parallelism")
    assert f"{1e6 * plain:.1f} µs" in text and f"{1e6 * shared:.1f} µs, twice as long" in text
