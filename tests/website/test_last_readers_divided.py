"""What the last readers found wrong in chapters on divided training, counted anew."""

from __future__ import annotations

import math

import pytest

from flopbook.hardware.chip import chip
from flopbook.ledger.rows import ledger_row
from flopbook.pipelines import plan, simulate
from scripts.website.pages.prediction_prose import PredictionProse
from tests.support.rendering import READS_THE_HANDBOOK, rendered, text_of

pytestmark = READS_THE_HANDBOOK

CARD = 50e9  # bytes per second, one way


def stated_of(claim: str) -> float:
    found = ledger_row(claim).stated.value
    assert found is not None
    return found


def prose(chapter: str) -> str:
    return " ".join(rendered(f"handbook/{chapter}.md").replace("\xa0", " ").split())


def test_matmuls_in_fp8_lower_the_limit_of_tensor_parallelism() -> None:
    """It was said to rise to 4/3, and falls to 2/3: the peak doubles."""
    h100, width = chip("h100-sxm"), 28672  # of Llama 3 70B
    by_format = [
        1.5 * width * h100.scaleup_bandwidth() / h100.peak(number) for number in ("bf16", "fp8")
    ]
    raised = by_format[1] * 4 / 3
    assert raised / by_format[0] == pytest.approx(2 / 3, rel=1e-3)
    assert f"falls from {by_format[0]:.1f} to {by_format[1]:.1f} with" in prose(
        "tensor-parallelism"
    )
    assert f"by a third, to {raised:.0f}." in prose("tensor-parallelism")


def test_weights_are_sharded_over_context_ranks_where_fsdp_runs_over_them() -> None:
    text = text_of("context-parallelism")
    assert "weights are whole on every context rank" not in text
    assert "The weights stay whole" not in text and "CP alone stores no fewer" in text


def test_what_an_exchange_hides_behind_counts_beside_its_bytes() -> None:
    assert "so what they move decides" not in text_of("context-parallelism")


def test_an_all_reduce_over_two_nodes_hides_a_card_at_half_its_rate() -> None:
    """Eight cards carry an eighth of the array each; of an all-to-all half passes the cards."""
    bus, through_card = 2 * 15 / 16, 2 * 1 / 2 / 8
    assert bus / through_card * CARD / 2 == pytest.approx(375e9)
    inside = 7 / 16 / chip("h100-sxm").scaleup_bandwidth()
    assert inside < 1 / 2 / CARD  # so the cards set the pace of an all-to-all
    text = text_of("networks")
    assert "Run the same over every pair of nodes" not in text
    assert "`alltoall_perf` of the same tests over every pair" in text


def test_critical_batches_as_ours_are_one_to_six_million_tokens() -> None:
    start = 256 * 512
    stated = {
        name: stated_of(f"critical-{name}")
        for name in ("batch-85m", "batch-1200m", "steps-85m", "steps-1200m")
    }
    ours = [5 * (512 * stated[f"batch-{size}"] - 1.2 * start) for size in ("85m", "1200m")]
    assert 1e6 < ours[0] < ours[1] < 6e6
    growth = math.log(stated["batch-1200m"] / stated["batch-85m"]) / math.log(
        stated["steps-1200m"] / stated["steps-85m"]
    )
    assert f"{{% set growth = {growth:.4f} %}}" in text_of("batch")
    assert "one to twenty million" not in text_of("batch")


def test_the_smallest_degree_whose_weights_arrive_in_time_has_a_formula() -> None:
    """1,024 chips, 500,000 tokens, two axes for the weights: between TP 2 and TP 4."""
    v5p = chip("google/tpu-v5p")
    ratio = v5p.peak("bf16") / (v5p.scaleup_bandwidth() / 3)
    least = 1024 * ratio / (2 * 500e3)
    assert 2 < least < 4
    assert f"= {least:.2f}, so TP 4" in prose("mixed-parallelism")


def test_zb_h1_holds_as_much_on_all_stages_as_1f1b_on_the_first() -> None:
    assert simulate(plan("1f1b", 4, 8)).held == (4, 3, 2, 1)
    assert simulate(plan("zb-h1", 4, 8)).held == (4, 4, 4, 4)
    assert "every stage comes to hold four" in text_of("pipeline-parallelism")


def test_two_rates_explain_long_sequences_and_their_traffic_hardly_counts() -> None:
    """A line through the first and the last row, and the bytes of context parallelism beside it."""
    lengths = [32768, 65536, 131072, 262144]
    names = ["cp1-32k", "cp2-64k", "cp4-128k", "cp8-256k"]
    run = PredictionProse().row
    took = [1 / float(run(f"titan-h100-t6-{name}-tps").measured) for name in names]
    slope = (took[3] - took[0]) / (lengths[3] - lengths[0])
    line = [took[0] + slope * (length - lengths[0]) for length in lengths]
    assert max(abs(a / b - 1) for a, b in zip(line, took, strict=True)) < 0.065
    layers, width, head = 126, 16384, 128  # of Llama 3.1 405B
    assert 6 * layers * width / slope == pytest.approx(58e12, rel=0.02)
    of_layer = 5 * 2 * head * 2 * lengths[3] * 7 / 8 / CARD
    exposed = layers * of_layer * 8 / lengths[0] * 15 / 8
    assert exposed / took[3] == pytest.approx(0.011, abs=0.001)
    assert "That is 1 percent of the" in prose("context-parallelism")
