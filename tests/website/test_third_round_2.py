"""What a third reading found wrong in seven chapters, each recomputed beside the words."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.ledger.rows import ledger_row
from scripts.website.figures import (
    compute_against_algorithms,
    latent_matrices,
    power_laws,
    power_peak,
    ring_mask,
    scheme_arrays,
    step_memory,
    tensor_lanes,
    wave_quantisation,
)
from scripts.website.figures.narrow import narrow_sheet
from tests.support.rendering import READS_THE_HANDBOOK, rendered, text_of

pytestmark = READS_THE_HANDBOOK

PAGES = Path(__file__).resolve().parents[2] / "docs/handbook"
DAY, CHIPS, TOKENS = 86_400, 1024, 15e12


def printed(chapter: str) -> str:
    """A chapter as it is printed, on one line and without tags."""
    return " ".join(re.sub(r"<[^>]+>", "", rendered(f"handbook/{chapter}.md")).split())


def test_the_hill_of_a_step_is_as_high_as_its_exercise_says() -> None:
    """Weights, state and the activations of the layers, 149.0 GB; the loss is drawn elsewhere."""
    drawn = step_memory.figure()
    top = {one.name: one.value for one in drawn.readings if one.group == "at time 1"}
    assert top["activations"] == 139_392 * 32 * 8192
    assert sum(top.values()) == pytest.approx(149.0e9, rel=1e-3)
    assert "the loss, drawn in the figure after the next table, is left out" in drawn.caption


def test_layers_that_are_recomputed_in_part_keep_between_the_ends_of_the_table() -> None:
    kept = (8 * 36.54 + 24 * 2.147) / 32
    assert kept == pytest.approx(10.75, abs=0.005) and 2 * 24 / 32 / 6 == 0.25
    told = printed("transformers")
    assert "24 of the second come to 10.75 GB" in told and "beside $6N$: 25 percent more" in told


def test_the_cached_numbers_with_the_position_reach_the_scores_in_the_picture() -> None:
    drawn = latent_matrices.figure()
    narrow = narrow_sheet(drawn)
    assert narrow is not None
    assert all(any(">64<" in part for part in parts) for parts in (drawn.parts, narrow.parts))


def test_the_listing_of_blocks_runs_for_every_size_that_its_exercise_asks_for() -> None:
    """Without its asserts and with one number changed: 40, 28 and 17 percent saturate."""
    page = (PAGES / "low-precision.md").read_text("utf-8")
    listing = next(one for one in re.findall(r"```python\n(.*?)```", page, re.S) if "GRID" in one)
    bare = re.sub(r"^assert.*\n", "", listing, flags=re.M)
    for size, share in ((16, 0.396), (32, 0.281), (64, 0.172)):
        names: dict[str, np.ndarray] = {}
        exec(bare.replace("SIZE = 32 ", f"SIZE = {size} "), names)
        assert names["saturated"].mean() == pytest.approx(share, abs=0.0005)


def test_fewer_tokens_cost_least_where_there_are_many_for_each_parameter() -> None:
    """At 12B and 10T, 833 for each, half the tokens raise the loss by half a percent."""
    floor, by_size, by_tokens = 1.8172, 482.01 / 12e9**0.3478, 2085.43 / 10e12**0.3658
    loss = floor + by_size + by_tokens
    assert by_tokens * (2**0.3658 - 1) / loss == pytest.approx(0.005, abs=0.001)
    assert "fewer tokens cost even less" in printed("low-precision")


def test_training_in_the_landscape_leaves_out_the_table_of_the_input() -> None:
    """6.255e24 operations, as the calculator counts; 179 days on 1,024 H100."""
    work = calculate("training-flops", model="llama-3-70b", tokens=TOKENS)["flop"]
    days = work / (CHIPS * 0.4 * chip("h100-sxm").peak("bf16")) / DAY
    assert days == pytest.approx(178.6, abs=0.1)
    told = printed("landscape")
    assert "179 days | 178 days" in told and "181 days" not in told


def test_a_step_of_decoding_reads_all_but_the_table_of_the_input() -> None:
    h100 = chip("h100-sxm")
    seconds = float(
        calculate("decode", model="llama-3-70b", chip="h100-sxm", tp=8, seq=8192)["seconds"]
    )
    cache = float(calculate("kv-cache", model="llama-3-70b", seq=8192)["bytes"])
    assert seconds * 8 * h100.memory_bandwidth() - cache == pytest.approx(139e9, rel=1e-3)
    assert "all weights but the table of the input, 139 GB, at the full bandwidth" in printed(
        "landscape"
    )


def test_one_chip_makes_the_range_of_work_for_a_joule() -> None:
    found = sorted((spot.y / spot.x, spot.id) for spot in power_peak.spots())
    assert found[-1][1] == "untether/speedai240"
    assert found[-2][0] / found[0][0] == pytest.approx(18, abs=0.5)
    assert "18-fold" in power_peak.figure().title
    assert any("speedAI240" in part for part in power_peak.figure().parts)


def test_a_named_chip_is_drawn_as_its_own_mark_on_a_phone() -> None:
    """H800, hollow, lies on H100."""
    narrow = narrow_sheet(power_peak.figure())
    assert narrow is not None
    marks = [part for part in narrow.parts if "fb-mark" in part and "scale(" not in part]
    assert any("H100 SXM" in part for part in marks)
    assert not any("H800" in part for part in marks)


def test_the_band_on_algorithms_is_that_of_the_published_version() -> None:
    edges = [
        ledger_row(f"ho-halving-{end}-published").stated.value for end in ("fastest", "slowest")
    ]
    assert edges == [2, 22]
    drawn = compute_against_algorithms.figure()
    assert "30 times at least" in drawn.caption
    assert "an interval of 90 percent from 2 to 22 months" in printed("why-compute")


def test_answers_of_reinforcement_learning_follow_from_the_tokens_printed() -> None:
    told = printed("why-compute")
    found = re.search(
        r"of \$D\$, ([\d.]+) billion tokens; as answers of 4,096 tokens that is (\d+) mill", told
    )
    assert found and round(float(found[1]) * 1e3 / 4096) == int(found[2])


def test_panels_of_the_power_laws_span_as_many_decades() -> None:
    assert {round(high / low) for _, _, low, high in power_laws._PANELS} == {10**5}


def test_tensor_parallelism_before_sequence_parallelism_has_whole_arrays_and_all_reduces() -> None:
    assert scheme_arrays.shares("tp") == [1, 1 / 4, 1 / 4, 1]
    drawn = scheme_arrays.figure("tp")
    assert any("forward: an all-reduce of Out over Y" in part for part in drawn.parts)
    assert "draws the all-reduce as its two halves" not in text_of("tensor-parallelism")


def test_each_matmul_of_a_layer_under_tp_is_named_below_its_pieces() -> None:
    drawn = tensor_lanes.figure()
    narrow = narrow_sheet(drawn)
    assert narrow is not None
    for parts in (drawn.parts, narrow.parts):
        for matmul in tensor_lanes.matmuls():
            named = [
                part for part in parts if part.startswith("<text") and f">{matmul.name}<" in part
            ]
            assert len(named) == 2, matmul.name


def test_exercises_on_tensor_parallelism_name_their_block() -> None:
    told = printed("tensor-parallelism")
    assert "Take the feed-forward block of Llama 3 70B, gated and with $F$ = 28,672" in told
    assert "both matrices of a block with $D$ = 8,192 and $F$ = 28,672 by columns" in told


def test_six_ranks_with_neighbouring_pieces_wait_in_the_last_steps() -> None:
    """Rank 2 of six has its own half and two whole blocks, of 5.5 that the ring takes."""
    taken, own = 0.5 + 5, 0.5 + 2
    assert (taken - own) / taken == pytest.approx(0.55, abs=0.005)
    busiest = [max(share for _, share in step) for step in ring_mask.steps(ring_mask.in_pieces)]
    assert busiest[0] == 0.5 and set(busiest[1:]) == {1}
    assert "last three steps, 55 percent of the time" in printed("context-parallelism")


def test_the_scenario_of_the_form_is_the_first_step_of_its_example() -> None:
    limit = calculate("cp-limit", chip="h100-sxm", model="llama-3-405b", seq=131072, causal="yes")
    assert round(limit["tokens_per_chip"]) == 2474 and limit["max_chips"] == 52
    assert "2,474 tokens, so without TP a ring of 52 chips" in printed("context-parallelism")


def test_steps_of_the_ladder_are_told_by_their_points() -> None:
    assert "points 2, 4, 3 and 5 of the list" in text_of("kernels")


def test_lines_of_tiles_are_told_apart_by_a_legend() -> None:
    drawn = wave_quantisation.figure()
    assert sum("fb-line1" in part for part in drawn.parts) == 2
