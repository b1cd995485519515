"""What later readers found wrong in chapters, each recomputed beside the words that are right."""

from __future__ import annotations

import math

import pytest

from flopbook.architectures.shape import shape
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.prediction.asking import predict
from scripts.website.figures import step_budget
from tests.website.test_handbook_errors import text_of


@pytest.mark.parametrize(("chips", "total", "exact"), [(16384, 7.5, 7.2), (100_000, 38.1, 31.7)])
def test_the_first_order_sum_overstates_what_failures_cost(
    chips: int, total: float, exact: float
) -> None:
    """Daly's formula: a restart that fails is cut short, which the sum does not know."""
    save, restart = 12 * 405.9e9 / 2e12, 600
    apart = calculate("reliability", model="llama-3-405b", chips=chips, save=save, restart=restart)
    between, every = apart["mtbf"], apart["best_interval"]
    taken = between * math.exp(restart / between) * math.expm1((every + save) / between) / every
    assert 100 * apart["lost"] == pytest.approx(total, abs=0.1)
    assert 100 * (1 - 1 / taken) == pytest.approx(exact, abs=0.1)
    assert "overstates the loss" in text_of("reliability-and-energy")


def test_two_pools_wait_for_the_longest_answer_too() -> None:
    """16,384 tokens of a lone sequence take more than a step of pools without a tail."""
    options = {"model": "llama-3-8b", "chip": "h100-sxm", "seq": 512 + 2048}
    alone = 4 * 4096 * calculate("serving", **options, batch=1)["likely_seconds"]
    assert alone == pytest.approx(133.7, abs=0.5)
    assert "both ways wait for the longest answer" in text_of("reinforcement-learning")


def test_blocks_that_run_at_once_share_few_keys_and_values() -> None:
    """132 SMs hold two query heads of 8,192 tokens, which share a KV head: 4.2 MB of 52."""
    heads, width, tokens, cache = 132 / (8192 / 128), 128, 8192, 50 * 2**20
    assert 2 < heads < 3
    assert 2 * 2 * width * tokens < cache / 10
    assert cache / (2 * 2 * width) == pytest.approx(102_400)
    assert "one KV head outgrows it" in text_of("kernels")


def test_buckets_of_ddp_are_three_for_each_layer_of_gpt_3_xl() -> None:
    """A bucket closes with the tensor that takes it to 25 MiB; gradients come last layer first."""
    config = shape("gpt-3-1.3b")
    square, wide = 2 * config.d_model**2, 2 * config.d_model * config.d_ff
    buckets, size = 0, 0.0
    for _ in range(int(config.layers)):
        for tensor in (wide, wide, square, 3 * square):  # down, up, O, and QKV as one
            size += tensor
            if size >= 25 * 2**20:
                buckets, size = buckets + 1, 0.0
    assert buckets == 3 * config.layers and size == 0
    assert "makes some {{ (3 * small.layers)" in text_of("data-parallelism")


def test_steps_of_the_worked_example_follow_from_printed_rates() -> None:
    """2 x 7/8 of the gradients over a port, and an eighth of that over a card of 50 GB/s."""
    sent, at_printed = 2 * 7 / 8 * 2.631e9, {"startup": 0, "ramp": 0, "efficiency": 1}
    h100 = {"chip": "h100-sxm", "op": "all-reduce", "bytes": 2.631e9, **at_printed}
    inside = calculate("collective", chips=8, **h100)["seconds"]
    nodes = {"topology": "two-level", "chips_per_node": 8, "scaleout_bandwidth": 50e9}
    across = calculate("collective", chips=64, **nodes, **h100)["seconds"]
    assert inside == pytest.approx(sent / 450e9, rel=1e-3)
    assert across == pytest.approx(sent / 8 / 50e9, rel=1e-3)
    for name in ("sum_in", "sum_all", "s"):
        opening = f'set {name} = calc("collective", startup=0, ramp=0, efficiency=1'
        assert opening in text_of("data-parallelism")


def test_both_ways_round_a_ring_take_half_as_many_steps() -> None:
    """Each block sets out both ways and stops halfway: the hops that the calculator counts."""
    for chips in (4, 8, 16, 32):
        ring = {"chip": "tpu-v5p", "op": "all-gather", "axes": 1, "topology": "ring"}
        assert calculate("collective", chips=chips, bytes=1e9, **ring)["steps"] == chips / 2
    assert "takes about $N / 2$ steps" in text_of("sharded-matrices")


def test_an_all_to_all_is_an_eighth_where_a_gather_is_a_half() -> None:
    """Of V / w on a ring: 3.75 times on 16 chips and 0.254 on 64, hops left out."""
    ring = {"chip": "tpu-v5p", "axes": 1, "topology": "ring", "bytes": 1e9}

    def taken(op: str, chips: int) -> float:
        return calculate("collective", op=op, chips=chips, **ring)["bandwidth_seconds"]

    assert taken("all-gather", 16) / taken("all-to-all", 16) == pytest.approx(3.75)
    assert taken("all-to-all", 64) / taken("all-gather", 64) == pytest.approx(16 / 63)


def test_logits_and_a_recomputed_layer_are_not_there_together() -> None:
    """Two chips hold the layers' inputs and the logits, but not the two gathered tables as well."""
    options = {"recompute": "full", "attention": "flash", "dropout": "no"}
    found = calculate("memory", model="llama-3-8b", seq=8192, **options)
    left = chip("h100-sxm").memory() - 8 * calculate("params", model="llama-3-8b")["total"]
    at_the_loss = found["activations"] + found["logits"]
    assert at_the_loss < left < at_the_loss + 4 * 128256 * 4096
    assert "the peak comes at the loss" in text_of("transformers")


def test_memory_of_the_70b_run_adds_up_from_what_is_printed() -> None:
    """Terms of step 2, and what is gathered: two tables, two layers, a gradient in 2 + 4 bytes."""
    options = {"recompute": "full", "attention": "flash", "dropout": "no", "zero": 3, "dp": 512}
    found = calculate("memory", model="llama-3-70b", chip="h100-sxm", seq=8192, **options)
    parts = ("activations", "logits", "gathered", "working", "reserved", "context", "communication")
    assert all(f'shard["{part}"]' in text_of("fsdp") for part in parts)
    states = 16 * shape("llama-3-70b").params / 512
    assert states + sum(found[part] for part in parts) == pytest.approx(found["total"], rel=1e-3)
    counted = calculate("params", model="llama-3-70b")
    layer = (counted["attention"] + counted["ffn"]) / 80
    gathered = 2 * counted["embedding"] + (2 * 2 + 2 + 4) * layer
    assert found["gathered"] == pytest.approx(gathered, rel=1e-3)


def test_a_higher_tp_degree_still_pays_where_latency_is_a_third_of_the_step() -> None:
    """141 GB over eight H100 and 160 all-reduces: half the reading at the same latency."""
    exchange = calculate("collective", chip="h100-sxm", chips=8, bytes=131_072, op="all-reduce")
    exchanges, read = 160 * exchange["seconds"], 141.1e9 / 8 / 3.35e12
    assert exchanges / (read + exchanges) == pytest.approx(0.31, abs=0.01)
    assert (read + exchanges) / (read / 2 + exchanges) == pytest.approx(1.53, abs=0.01)
    assert "which a higher degree does not shorten" in text_of("tensor-parallelism")


@pytest.mark.parametrize(
    ("chunks", "default", "other"), [(1, 7.8, 13.1), (10, 27.1, 22.8)], ids=["plain", "ten"]
)
def test_which_order_of_ranks_sends_less_depends_on_the_chunks(
    chunks: int, default: float, other: float
) -> None:
    """Llama 3 70B over TP 4, PP 8, DP 16: bytes of a GPU through the network in a step."""
    border = 32 * 8192 * 2 * 2 * 8192 / 4 * chunks / 1e9
    moved = 6 * 68.4e9 / 32 / 1e9  # the states of a middle stage
    assert border + moved / 2 * 7 / 8 == pytest.approx(default, abs=0.1)
    assert border / 2 + moved * 15 / 16 == pytest.approx(other, abs=0.1)
    assert "Without chunks the default sends less" in text_of("from-plan-to-flags")


@pytest.mark.parametrize(("tp", "total"), [(16, 0.959), (8, 1.064)])
def test_a_side_of_the_v5p_slice_hides_both_kinds_of_traffic_and_half_of_one_does_not(
    tp: int, total: float
) -> None:
    """Shares of the arithmetic: half a side of 16 is a line, at half the rate of its ring."""
    per_axis, batch, wide = 459e12 / 200e9, 4 * 2**20, 28_672
    weights = 6144 / tp * per_axis / (2 * batch)
    activations = (1 if tp == 16 else 2) * tp * per_axis / (1.5 * wide)
    assert weights + activations == pytest.approx(total, abs=0.001)
    assert "it holds, with little to spare" in text_of("choosing-a-configuration")


def test_a_sync_within_a_node_does_not_pass_its_cards() -> None:
    """15 GB in 20 ms are more than four ports of 50 GB/s carry, and less than four of NVLink."""
    size, taken, card = 2 * shape("qwen-2.5-7b").params, 0.02, 50e9
    port = chip("nvidia/h20").scaleup_bandwidth()
    assert 4 * card < size / taken < 4 * port
    assert port / card == 9
    assert "whose links are nine times as fast" in text_of("reinforcement-learning")


def test_the_budget_of_a_step_counts_the_head_that_other_stages_wait_for() -> None:
    """73 percent of products in the picture are 66 of the layers and 7 of the head."""
    planned = next(row for row in step_budget.budgets() if row.name == "as planned")
    parts = predict({**step_budget.RUN, **step_budget.LAYOUTS["as planned"]}).parts
    products, head = parts["products"] / planned.seconds, parts["head"] / planned.seconds
    assert planned.kinds["products"] / planned.seconds == pytest.approx(products + head)
    assert 100 * products == pytest.approx(66, abs=0.5)
    assert "include the output head" in text_of("profiling")
