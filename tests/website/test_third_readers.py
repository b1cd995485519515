"""What two independent readers found wrong in the handbook: each statement computed anew."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from flopbook.data.library import load_entry
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.ledger.rows import ledger_rows
from scripts.website.figures import training_compute
from scripts.website.pages.explorer import items
from scripts.website.pages.landscape import new_formats

HANDBOOK = Path(__file__).resolve().parents[2] / "docs" / "handbook"


def text_of(chapter: str) -> str:
    return (HANDBOOK / f"{chapter}.md").read_text(encoding="utf-8")


def test_tensor_cores_are_not_counted_at_the_boost_clock() -> None:
    """1.83 GHz is the clock of the tensor rates; 1.98 GHz, the boost clock, of the vector rates."""
    clocks = {
        claim.name: claim.si_value
        for claim in load_entry("nvidia/h100-sxm").claims
        if claim.field == "clock"
    }
    assert clocks["tensor"] == 1.83e9 and clocks["boost"] == 1.98e9
    h100 = chip("h100-sxm")
    ratio = h100.peak("bf16") / h100.peak("bf16", engine="vector")
    assert ratio == pytest.approx(8 * 1.83 / 1.98, rel=1e-3)
    assert "assumes the boost clock" not in text_of("accelerators")


def test_the_third_layout_loses_to_recomputation_and_exchanges() -> None:
    """Sixteen stages with 128 micro-batches idle less than eight with 32."""
    longer = calculate("bubble", stages=16, microbatches=128)["fraction"]
    shorter = calculate("bubble", stages=8, microbatches=32)["fraction"]
    assert longer == pytest.approx(15 / 143) and longer < shorter
    assert "a longer pipeline" not in text_of("choosing-a-configuration")


def test_all_three_states_of_dualpipe_are_twice_those_of_a_stage() -> None:
    asked = {"seq": 4096, "pp": 16, "dp": 128, "ep": 64, "zero": 1, "microbatches": 120}
    usual = {"optimizer_kind": "adam-bf16", "grad_bytes": 4, "recompute": "full"}
    held = calculate("memory", model="deepseek-v3", schedule="dualpipe", **asked, **usual)
    assert held["optimizer"] == pytest.approx(2 * 8 * 671e9 / 2048, rel=0.01)
    assert "All three are twice what one stage needs" in text_of("choosing-a-configuration")


def test_half_the_replicas_send_a_little_less() -> None:
    rank = 6 * 405.85e9 / 128
    assert rank * (1 - 1 / 64) == pytest.approx(18.73e9, rel=1e-3)
    assert "(1 - 2 / dp)" in text_of("choosing-a-configuration")


def test_a_full_h200_is_bound_by_its_matmuls() -> None:
    """Sharing the read alone would gain 1.61; beyond the ridge point of 206 it is 1.47."""
    usual = {"model": "llama-3-70b", "tp": 8, "seq": 8192}
    old = calculate("serving", chip="h100-sxm", **usual)
    new = calculate("serving", chip="h200-sxm", **usual)
    assert new["batch_fits"] > new["batch_saturates"]
    shared = new["batch_fits"] / ((139e9 + new["batch_fits"] * 2.684e9) / (8 * 4.8e12))
    assert shared / old["tokens_per_s"] == pytest.approx(1.61, abs=0.01)
    assert new["tokens_per_s"] / old["tokens_per_s"] == pytest.approx(1.47, abs=0.01)
    assert "they share one read of the weights." not in text_of("inference")


def test_a_format_has_the_year_of_the_first_chip_with_it() -> None:
    """Da Vinci began in 2018 with fp16 and int8; bf16 came in 2022 with the 910B."""
    rows = [(row.family, int(row.year), row.formats) for row in new_formats(items(), "huawei")]
    assert rows[:2] == [("Da Vinci", 2018, ["fp16", "int8"]), ("Da Vinci", 2022, ["bf16", "fp32"])]


def test_deepseek_saw_400_tokens_for_each_active_parameter() -> None:
    """Its 14.8 trillion over the 37 billion of every other page."""
    assert round(14.8e12 / 37e9) == 400
    assert '["active"]) | round(0)' not in text_of("why-compute")


def test_block_recomputation_of_four_chunks_is_of_four_layers() -> None:
    text = text_of("from-plan-to-flags")
    assert "four layers of a stage instead of two" in text and "recompute_layers=4" in text


def test_tensor_parallelism_in_the_node_does_not_relax_fsdp() -> None:
    """With TP 8 both the bytes through a card and the arithmetic of a GPU stay as they were."""
    layer, tokens, nodes = 855.7e6, 488.3, 8
    alone = (2 * layer / nodes, 2 * layer * tokens)
    with_tensors = (2 * layer / nodes, 2 * (layer / 8) * 8 * tokens)
    assert alone == pytest.approx(with_tensors)
    assert "You have three options" in text_of("fsdp")


def test_fsdp_counts_unsharded_layers_once() -> None:
    """Two of weights and two of gradients; one of the latter twice as large in fp32."""
    text = text_of("fsdp")
    assert "(4 * 2 * layer)" in text and "(5 * 2 * layer)" in text
    assert "two of weights and two of gradients" in text
    assert "five if gradients are reduced in fp32" in text


def test_fsdp_says_what_published_runs_leave_exposed() -> None:
    text = text_of("fsdp")
    assert 'told.part("gathers")' in text and "almost none of it" not in text
    assert "hides nearly all of them" not in text
    assert "percent of the forward pass, and hides" not in text


def test_one_ring_is_compared_at_the_same_rate() -> None:
    """39.9 ms at the printed rate of a card, eight times as long, and no 49."""
    one = calculate(
        "collective",
        chip="h100-sxm",
        chips=512,
        bytes="1GB",
        op="all-reduce",
        scaleout_bandwidth="50GB/s",
    )
    assert one["one_ring_seconds"] == pytest.approx(2 * 511 / 512 * 1e9 / 50e9)
    assert round(one["one_ring_seconds"] / one["seconds"]) == 8
    text = text_of("networks")
    assert "set one_ring = 2 * 511 / 512 * GB / nic" in text and "instead of through eight" in text


def test_a_switch_that_adds_does_not_speed_up_a_lone_reduce_scatter() -> None:
    assert "It helps all-reduce and reduce-scatter" not in text_of("networks")
    # It saves no bandwidth, but steps and processors.
    assert "gains nothing from SHARP" not in text_of("networks")


def test_replicas_across_nodes_need_as_many_tokens_behind_the_backward_pass() -> None:
    """4P/8 bytes through a card behind 4P operations for a token: the limit of FSDP."""
    flop, card = chip("h100-sxm").peak("bf16"), 25e9
    replicas = (4 / 8 / card) / (4 / flop)
    sharded = calculate("fsdp-limit", chip="h100-sxm", scaleout_bandwidth=card)["across_tokens"]
    assert sharded == pytest.approx(replicas, rel=0.01)
    assert "Shard within the node and replicate across nodes (HSDP) if" not in text_of("networks")


def test_rings_use_both_directions_of_a_link() -> None:
    assert "can use only one direction" not in text_of("sharded-matrices")


def test_the_measured_kernel_reads() -> None:
    """The benchmark writes one number for a block of threads; its type is fp32."""
    text = text_of("roofline")
    assert "switches between reading and writing" not in text
    assert "only reads, and writes a single number for a whole block" in text


def test_the_listing_of_attention_is_that_of_todays_kernels() -> None:
    text = text_of("kernels")
    assert 'Since its second version ({{ cite("dao2024flashattention") }})' in text


def test_sequence_parallelism_sends_a_quarter_more_than_four_all_reduces() -> None:
    assert math.isclose(20 / 16, 1.25)
    assert "gathers a fifth time, a quarter more bytes" in text_of("prediction")


def test_the_trainer_of_the_measured_pools_did_not_slow_down_in_proportion() -> None:
    """113.16 s on half the GPUs against 113.81; 206.63 on a quarter against 86.27."""
    stated = {row.id: row.stated.value for row in ledger_rows()}
    half = stated["verl-7b-training-apart-64"] / stated["verl-7b-training"]
    quarter = stated["verl-30b-training-apart"] / stated["verl-30b-training"]
    assert half == pytest.approx(1, abs=0.01) and quarter == pytest.approx(2.4, abs=0.01)
    assert "And the trainer had not been busy" in text_of("reinforcement-learning")


def test_measured_weight_sync_took_longer_than_one_port() -> None:
    stated = {row.id: row.stated.value for row in ledger_rows()}
    for size in (30, 235):
        assert stated[f"verl-sync-{size}b"] > 2 * size * 1e9 / 50e9
    assert "Weight sync is a matter of" not in text_of("reinforcement-learning")


def test_the_bubble_does_not_change_with_the_context_ranks() -> None:
    """The local batch is eight in every row, so eight stages have eight micro-batches at most."""
    assert calculate("bubble", stages=8, microbatches=8)["fraction"] == pytest.approx(7 / 15)
    assert "may change from row to row" not in text_of("context-parallelism")


def test_nvfp4_is_also_held_against_the_fastest_run_in_eight_bits() -> None:
    stated = {row.id: row.stated.value for row in ledger_rows()}
    assert stated["bridge-llama-70b-fp8"] == 4224 and stated["bridge-llama-405b-fp8"] == 864
    assert round(4864 / 4224, 2) == 1.15 and round(1184 / 864, 2) == 1.37
    assert "Do not take the last two rows for what NVFP4 gains" in text_of("low-precision")


def test_a_band_that_held_half_of_the_later_runs_is_not_said_to_deserve_its_name() -> None:
    assert "deserves its name" not in text_of("prediction")


def test_keeping_the_batch_is_an_option_with_a_number() -> None:
    """With eight times the GPUs the backward pass waits: 4.1 times as fast for twice the hours."""
    limit = calculate("fsdp-limit", chip="h100-sxm")["across_tokens"]
    faster = 3 * 8192 / (1024 + 2 * limit)
    assert faster == pytest.approx(4.1, abs=0.05) and 8 / faster == pytest.approx(1.9, abs=0.05)
    assert "With the same batch each has" in text_of("batch")
    assert "save less than half of what they cost" not in text_of("batch")


def test_a_window_sends_less_as_well() -> None:
    assert "Sliding windows and sparse patterns compute less" not in text_of("context-parallelism")


def test_two_layouts_are_not_compared_on_two_stacks() -> None:
    text = text_of("pipeline-parallelism")
    assert "the layout is {{ (pieces" in text and "the framework {{" in text


def test_no_order_of_tiles_reaches_the_time_without_a_cache() -> None:
    text = text_of("kernels")
    assert "the order of tiles, which decides what the cache catches, is worth" not in text


def test_the_mixture_that_gained_little_from_a_rack_is_counted() -> None:
    stated = {row.id: row.stated.value for row in ledger_rows()}
    gain = stated["bridge-nemotron-super-racks"] / stated["bridge-nemotron-super-nodes"]
    assert gain == pytest.approx(1.04) and "a third {{ (100 * (stated" in text_of("racks")


def test_the_update_of_a_lone_replica_lasts_as_long_as_many_tokens() -> None:
    """30 bytes of a parameter against six operations for each token: some 1,500 tokens."""
    h100 = chip("h100-sxm")
    tokens = 30 / 6 * h100.peak("bf16") / h100.memory_bandwidth()
    assert tokens == pytest.approx(1477, abs=1)
    assert '(30 / 6 * ridge["tokens"])' in text_of("batch")


def test_a_trace_is_read_by_the_category_of_its_events() -> None:
    assert "whose category `cat` is `kernel`" in text_of("profiling")


def test_the_largest_runs_are_those_with_printed_tokens() -> None:
    assert training_compute.figure().title.startswith("Of runs with printed tokens")


def test_a_whole_layer_allows_a_lower_degree_than_its_feed_forward_block() -> None:
    """Exchanges of attention count as much, its matmuls less: near 12 instead of 19."""
    wide, width, keys = 28672, 8192, 1024
    flop, port = chip("h100-sxm").peak("bf16"), chip("h100-sxm").scaleup_bandwidth()
    matmuls = (6 * width * wide + 4 * width * (width + keys)) / flop
    traffic = 2 * 2 * 2 * width / port
    assert matmuls / traffic == pytest.approx(11.9, abs=0.05)
    assert "(7 * (ffn + att) / (2 * move))" in text_of("tensor-parallelism")


def test_narrow_experts_ask_for_a_larger_batch_than_the_rough_rule() -> None:
    """295 tokens for each by the ridge point, 363 with their activations: 9,500 and 11,600."""
    answer = calculate("min-batch", chip="h800-sxm", d_model=7168, d_ff=2048)
    assert answer["tokens"] * 256 / 8 == pytest.approx(9456, rel=1e-3)
    assert answer["tokens_exact"] * 256 / 8 == pytest.approx(11610, rel=1e-3)
    text = text_of("expert-and-context-parallelism")
    assert "narrow_batch * E / k" in text
