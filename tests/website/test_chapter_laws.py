"""What chapters conclude in words, tried on the calculators.

It must hold for other numbers than those they show.
"""

from __future__ import annotations

from collections import Counter

import pytest

from flopbook.evaluation.calculator import Result, calculate
from flopbook.quantities.number_formats import number_format
from scripts.website.figures.all_reduce_algorithms import latency, seconds
from scripts.website.figures.attention_share import even_length
from scripts.website.figures.bucket_sizes import CLUSTERS
from scripts.website.figures.bucket_sizes import exposed as bucket_exposed
from scripts.website.figures.bucket_sizes import times as bucket_times
from scripts.website.figures.context_traffic import exchange_share, ring_share
from scripts.website.figures.fat_tree import links
from scripts.website.figures.fsdp_measured import SERIES, kept, runs
from scripts.website.figures.gradient_noise import AT_BATCH, AT_RANK, BATCH, RANK, parts, squared
from scripts.website.figures.mixed_lanes import length, traffic
from scripts.website.figures.narrow_sums import nearest, sums
from scripts.website.figures.recompute_memory import hill
from scripts.website.figures.tensor_degree import DEGREES, exposed, hidden
from tests.support.rendering import text_of

CHIP = "google/tpu-v5p"


def product(text: str, i: int, k: int) -> Result:
    """A product of [i, 8192] and [8192, k] on four chips."""
    return calculate(
        "sharded-matmul", product=text, dims=f"I={i},J=8192,K={k}", mesh="X=4", chip=CHIP
    )


@pytest.mark.parametrize("i", [2048, 8192, 32768])
@pytest.mark.parametrize("k", [1024, 2048, 8192, 32768])
def test_cutting_the_whole_factor_pays_where_the_result_is_under_half_of_the_gathered(
    i: int, k: int
) -> None:
    """Sharded matrices: case 2 as case 3 always divides the arithmetic, not always the traffic."""
    gathered = product("A[I, J_X] * B[J, K] -> C[I, K]", i, k)
    summed = product("A[I, J_X] * B[J_X, K] -> C[I, K]", i, k)
    assert float(summed["compute_seconds"]) == pytest.approx(float(gathered["compute_seconds"]) / 4)
    ratio = float(summed["communication_seconds"]) / float(gathered["communication_seconds"])
    # But for the hops, which do not depend on the bytes.
    assert ratio == pytest.approx(2 * k / 8192, abs=0.03, rel=0.05)


@pytest.mark.parametrize("chips_per_node", [2, 4, 8])
@pytest.mark.parametrize("scaleout", [12.5e9, 50e9])
def test_a_node_with_its_least_tokens_just_hides_the_sum_between_nodes(
    chips_per_node: int, scaleout: float
) -> None:
    """Data parallelism: C over w_out tokens for a node, however many chips are in it.

    Exact for many nodes.
    """
    chip, params, nodes = "nvidia/h100-sxm", 8e9, 4096
    least = calculate("dp-limit", chip=chip, scaleout_bandwidth=scaleout)["pod_tokens"]
    peak = float(calculate("min-batch", chip=chip)["flop_per_byte"]) * 3.35e12
    between = calculate(
        "collective",
        chip=chip,
        op="all-reduce",
        topology="two-level",
        chips=nodes * chips_per_node,
        chips_per_node=chips_per_node,
        scaleout_bandwidth=scaleout,
        link_bandwidth=1e15,
        bytes=2 * params,
    )
    backward = 4 * params * float(least) / (chips_per_node * peak)
    assert float(between["bandwidth_seconds"]) == pytest.approx(backward, rel=1e-3)


@pytest.mark.parametrize(("width", "wide"), [(768, 3072), (4096, 14336), (16384, 53248)])
def test_the_exact_minimum_batch_has_the_intensity_of_the_ridge(width: int, wide: int) -> None:
    """Batch parallelism: 1/I = 1/B + 1/D + 1/F, solved for B at the ridge point."""
    found = calculate("min-batch", chip="nvidia/h100-sxm", d_model=width, d_ff=wide)
    batch, ridge = float(found["tokens_exact"]), float(found["flop_per_byte"])
    assert 1 / (1 / batch + 1 / width + 1 / wide) == pytest.approx(ridge)


@pytest.mark.parametrize("nodes", [8, 64, 512])
def test_steps_of_trees_grow_with_the_logarithm_of_the_nodes(nodes: int) -> None:
    """Networks: eight times the nodes cost a ring eight times the wait and trees three levels."""
    assert latency("ring", 8 * nodes) / latency("ring", nodes) == pytest.approx(8, rel=0.05)
    assert latency("trees", 8 * nodes) - latency("trees", nodes) == pytest.approx(2 * 3 * 5e-6)


@pytest.mark.parametrize("size", [1e3, 1e6, 1e9])
def test_a_ring_is_never_ahead_while_trees_send_no_more_bytes(size: float) -> None:
    assert seconds("trees", size) < seconds("ring", size)
    assert seconds("ring", 1e11) / seconds("trees", 1e11) == pytest.approx(1, abs=0.01)


def scores_of_ranks(documents: list[int], ranks: int) -> list[int]:
    """Causal scores within documents, of ranks with a chunk from either end of the whole."""
    work = [place + 1 for length in documents for place in range(length)]
    chunk = len(work) // (2 * ranks)
    chunks = [sum(work[n * chunk : (n + 1) * chunk]) for n in range(2 * ranks)]
    return [chunks[n] + chunks[-1 - n] for n in range(ranks)]


@pytest.mark.parametrize("ranks", [4, 8, 16])
def test_chunks_from_both_ends_are_even_for_one_document_and_not_for_packed_ones(
    ranks: int,
) -> None:
    """Context parallelism: a long document before short ones falls back to cutting in order."""
    length = 64 * ranks
    whole = scores_of_ranks([2 * length], ranks)
    assert max(whole) == min(whole)
    packed = scores_of_ranks([length] + [4] * (length // 4), ranks)
    late = max(packed) * ranks / sum(packed)
    assert late == pytest.approx((2 * ranks - 1) / ranks, rel=0.02)


def test_ring_and_all_to_all_receive_what_the_chapter_says() -> None:
    """Context parallelism: 112 and 238 units on 8 ranks, a unit being the tokens of a rank."""
    assert 8 * ring_share(8, 8) == pytest.approx(112)
    assert 8 * exchange_share(128, 8, 8) == pytest.approx(238)
    even = 128 / (8 - 1)
    assert exchange_share(128, 8, even) == pytest.approx(ring_share(8, even))


@pytest.mark.parametrize("heads", [8, 32, 128])
def test_with_a_kv_head_for_every_query_head_the_exchange_wins_from_three_ranks(
    heads: int,
) -> None:
    assert exchange_share(heads, heads, 2) == pytest.approx(ring_share(heads, 2))
    assert exchange_share(heads, heads, 3) < ring_share(heads, 3)


@pytest.mark.parametrize(
    ("model", "tokens"), [("llama-3-8b", 30_633), ("llama-3-405b", 98_299)], ids=("8B", "405B")
)
def test_full_attention_is_as_much_as_the_weights_where_the_chapter_says(
    model: str, tokens: int
) -> None:
    """Transformers: 12 L H d T = 6 N, as two exercises solve it."""
    assert even_length(model) == pytest.approx(tokens, abs=1)


def test_the_layer_of_the_example_reaches_what_its_picture_shows() -> None:
    """Tensor parallelism: 63 percent at TP 8 without overlap, and hiding gains most at the knee."""
    assert exposed(8) == pytest.approx(100 * 885.6 / (885.6 + 522), rel=1e-3)
    gains = {degree: hidden(degree) / exposed(degree) for degree in DEGREES}
    assert all(1 <= gain <= 2 for gain in gains.values()) and max(gains.values()) == max(
        gains[8], gains[16]
    )


def test_the_noise_scale_is_where_noise_is_as_long_as_the_signal() -> None:
    """Batches: the two measured lengths lie on the curve, and the third follows from them."""
    variance, signal = parts()
    assert squared(RANK) == pytest.approx(AT_RANK) and squared(BATCH) == pytest.approx(AT_BATCH)
    assert squared(variance / signal) == pytest.approx(2 * signal)


def test_the_program_on_buckets_starts_from_the_worked_example() -> None:
    """Data parallelism: milliseconds of the backward pass, of the bytes and of a wait."""
    printed = {64: (83.1, 11.5, 0.045), 512: (10.4, 13.0, 0.075)}
    assert set(printed) == set(CLUSTERS)
    for chips, inputs in printed.items():
        assert [1e3 * seconds for seconds in bucket_times(chips)] == pytest.approx(inputs, rel=0.01)


@pytest.mark.parametrize("buckets", [1, 3, 12, 100])
@pytest.mark.parametrize("wait", [1e-5, 1e-4])
def test_past_the_limit_buckets_show_what_the_formula_says(buckets: int, wait: float) -> None:
    backward, wire = 10e-3, 13e-3
    formula = wire + buckets * wait + backward / buckets - backward
    assert bucket_exposed(buckets, backward, wire, wait) == pytest.approx(formula)


@pytest.mark.parametrize("backward", [4e-3, 10e-3])
def test_past_the_limit_the_best_buckets_are_the_root_of_backward_over_wait(
    backward: float,
) -> None:
    wire, wait = 1.2 * backward, 75e-6
    best = min(range(1, 200), key=lambda buckets: bucket_exposed(buckets, backward, wire, wait))
    assert best == pytest.approx((backward / wait) ** 0.5, abs=1)


def test_with_time_to_spare_only_the_last_bucket_shows() -> None:
    backward, wire, wait = bucket_times(64)
    for buckets in (10, 100, 1000):
        shown = bucket_exposed(buckets, backward, wire, wait)
        assert shown == pytest.approx(wait + wire / buckets)


@pytest.mark.parametrize(("again", "recompute"), [(False, "none"), (True, "full")])
def test_the_hill_of_activations_is_highest_at_the_loss(again: bool, recompute: str) -> None:
    """Transformers: no tooth of a layer that is run again comes near the scores."""
    options = {"seq": 8192, "recompute": recompute, "attention": "flash", "dropout": "no"}
    memory = calculate("memory", model="llama-3-8b", **options)
    points = hill(again)
    peak = max(points, key=lambda point: point[1])
    assert peak[1] == pytest.approx(float(memory["activations"]) + float(memory["logits"]))
    assert all(size < 0.99 * peak[1] for time, size in points if time > points[35][0])
    assert points[-1][1] == 0


def test_recomputing_adds_a_forward_pass_of_the_layers() -> None:
    assert hill(again=True)[-1][0] - hill(again=False)[-1][0] == pytest.approx(32)


@pytest.mark.parametrize("name", ["bf16", "fp16", "fp8 E4M3"])
@pytest.mark.parametrize("term", [0.1, 0.3, 1.0])
def test_a_narrow_sum_stops_where_half_a_step_is_more_than_the_term(name: str, term: float) -> None:
    """Computer: the sum ends at a power of two whose steps are too coarse for the term."""
    kind = number_format(name)
    end = sums(kind, term)[-1]
    step = nearest(end * (1 + 2**-kind.fraction), kind) - end
    assert step / 2 >= nearest(term, kind) > step / 4 and end == 2 ** round(end).bit_length() / 2


@pytest.mark.parametrize(("value", "stored"), [(0.3, 0.3125), (0.1, 0.1015625), (0.002, 2**-9)])
def test_a_number_is_stored_as_its_neighbour(value: float, stored: float) -> None:
    """Computer encodes two of these in E4M3 by hand; the third is below its normal numbers."""
    assert nearest(value, number_format("fp8 E4M3")) == stored


@pytest.mark.parametrize("degree", [64, 128, 256, 512])
def test_a_block_of_two_axes_takes_its_exchanges_or_its_weights(degree: int) -> None:
    """FSDP with TP: weights a block ahead and exchanges exposed, as the lanes are drawn."""
    weights, tokens = traffic(degree)
    there_and_back = max(1 + tokens, weights) + max(2 + tokens / 2, 2 * weights)
    assert length(degree) == pytest.approx(there_and_back / 3)
    assert length(degree) == pytest.approx(max(1 + tokens / 2, weights))


def test_with_exchanges_exposed_less_tp_than_moves_least_is_faster() -> None:
    moved = {degree: sum(traffic(degree)) for degree in (64, 128, 256, 512)}
    assert min(moved, key=lambda degree: moved[degree]) == 128
    assert min(moved, key=length) == 256
    assert "the smallest TP degree whose weights arrive in time" in text_of("mixed-parallelism")
    assert "or nearly so" not in text_of("mixed-parallelism")


@pytest.mark.parametrize("name", sorted(SERIES))
def test_runs_of_a_series_differ_in_their_gpus_alone(name: str) -> None:
    """FSDP: the same model, tokens of a GPU, sharding, precision and recomputation."""
    for one in runs(name):
        assert one.model == runs(name)[0].model and one.run == runs(name)[0].run
        for key in ("micro_batch_seqs", "grad_accum", "zero_stage"):
            assert one.parallelism[key] == runs(name)[0].parallelism[key]
        assert one.parallelism["micro_batch_seqs"] * one.model["seq_len_tokens"] in (12288, 16384)


def test_fsdp_loses_little_up_to_128_gpus_and_more_on_512() -> None:
    shares = dict(kept("7B"))
    assert shares[128] > 0.98 and shares[512] < 0.92


@pytest.mark.parametrize("ports", [2, 4, 8, 64])
def test_a_fat_tree_is_as_fat_above_as_below(ports: int) -> None:
    """Networks: p^3 / 4 hosts, as many links at every level, and no switch with a port too many."""
    found = links(ports)
    hosts = ports**3 // 4
    assert Counter(upper for (upper, _), _ in found) == dict.fromkeys(
        ("core", "spine", "leaf"), hosts
    )
    ends = Counter(end for link in found for end in link)
    switches = {end: used for end, used in ends.items() if end[0] != "host"}
    assert set(switches.values()) == {ports} and len(switches) == 5 * ports**2 // 4
    assert len(ends) - len(switches) == hosts and len(set(found)) == len(found)
