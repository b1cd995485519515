"""Statements of the handbook that were wrong once, each with what is right.

Every case failed on the text that had the error.
"""

from __future__ import annotations

import math
import random
import re
from pathlib import Path

import numpy as np
import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from scripts.website.pages.explorer import items
from scripts.website.pages.landscape import new_formats
from tests.support.cases import every
from tests.support.rendering import text_of
from tests.support.wrong_statements import WRONG

HANDBOOK = Path(__file__).resolve().parents[2] / "docs" / "handbook"


@every("chapter, words", WRONG)
def test_what_was_wrong_is_gone(chapter: str, words: str) -> None:
    assert words not in text_of(chapter)


def test_a_limit_across_nodes_is_told_for_a_chip_not_for_a_node() -> None:
    """19,788 tokens are what a node of eight H100 needs; a chip needs an eighth."""
    limit = calculate("fsdp-limit", chip="h100-sxm", batch_tokens=16_777_216)
    assert limit["across_tokens"] == pytest.approx(2474, abs=1)
    assert limit["max_chips"] == pytest.approx(6782, abs=2)
    assert 'fs["across_tokens"]' in text_of("choosing-a-configuration")


@pytest.mark.parametrize("each", [16, 32, 64])
def test_sharded_gradients_leave_once_with_as_many_micro_batches_as_stages(each: int) -> None:
    """An interleaved stage runs its micro-batches chunk by chunk, in groups of the stages.

    So with 16 of both a chunk has all its gradients after one group of backward passes.
    """
    stages, chunks = 16, 8
    order = [
        (chunk, group * stages + number)
        for group in range(each // stages)
        for chunk in reversed(range(chunks))
        for number in range(stages)
    ]
    turns = [chunk for n, (chunk, _) in enumerate(order) if not n or order[n - 1][0] != chunk]
    assert turns.count(0) == each // stages
    assert "its gradients leave once" in text_of("choosing-a-configuration")


@pytest.mark.parametrize("size", [8, 16, 32])
def test_a_scale_rounded_down_cuts_the_maximum_of_some_blocks_and_not_of_all(size: int) -> None:
    """E2M1 ends at 6, and a scale at the power of two below leaves maxima up to 8 times it."""
    blocks = np.random.default_rng(1).normal(size=(4000, size))
    largest = np.abs(blocks).max(axis=1)
    scale = 2.0 ** np.floor(np.log2(largest / 4))
    cut = (largest / scale > 6).mean()
    assert 0.2 < cut < 0.8
    up = 2.0 ** np.ceil(np.log2(largest / 6))
    assert (largest / up <= 6).all()


@pytest.mark.parametrize(("query", "keys"), [(32, 8), (64, 8), (128, 8), (16, 16)])
def test_an_all_to_all_moves_less_than_a_ring_only_on_enough_ranks(query: int, keys: int) -> None:
    """(2H + 2K)(X - 1)/X against 2K(X - 1): equal at X = 1 + H/K."""
    equal = 1 + query / keys
    for ranks in range(2, 4 * int(equal)):
        ring = 2 * keys * (ranks - 1)
        exchange = (2 * query + 2 * keys) * (ranks - 1) / ranks
        assert (exchange < ring) == (ranks > equal)
    assert "$X = 1 + H/G$" in text_of("context-parallelism")


def test_more_ranks_than_kv_heads_break_even_later() -> None:
    """Each rank then receives one whole KV head of all others: 128 query and 8 KV heads need 19."""
    query, keys = 128, 8
    for ranks in range(keys + 1, 129):
        ring = 2 * keys * (ranks - 1)
        exchange = 2 * query * (ranks - 1) / ranks + 2 * (ranks - 1)
        assert (exchange < ring) == (ranks > query / (keys - 1))
    assert "$X = H / (G - 1)$" in text_of("context-parallelism")


def test_an_accumulator_loses_bits_of_products_from_a_sum_of_256_on() -> None:
    """E4M3 factors from 1 to 2 are multiples of 1/8, so products are multiples of 1/64; 13 fraction
    bits hold those below 256, and a sum from 4,096 on in halves only.
    """
    lost = [s for s in range(14) if 2.0 ** (s - 13) > 1 / 64]
    assert 2 ** min(lost) == 256 and 2.0 ** (12 - 13) == 0.5
    assert "at a sum of {{ (2 ** 8)" in text_of("low-precision")


@pytest.mark.parametrize("seed", range(3))
def test_the_sum_that_loses_bits_stays_below_8192_and_loses_7_percent(seed: int) -> None:
    """Rounded down after each of 4,096 terms, the last ones lose about an eighth."""
    draws = random.Random(seed)
    factors = [1 + number / 8 for number in range(8)]
    terms = [draws.choice(factors) * draws.choice(factors) for _ in range(4096)]
    total, kept = 0.0, []
    for term in terms:
        step = 2.0 ** (math.floor(math.log2(total + term)) - 13)
        rounded = math.floor((total + term) / step) * step
        kept.append(rounded - total)
        total = rounded
    assert 2**12 < total < 2**13 and round(100 * (1 - total / sum(terms))) == 7
    assert 1 - sum(kept[-256:]) / sum(terms[-256:]) == pytest.approx(1 / 8, abs=0.03)
    assert "an eighth of its value" in text_of("low-precision")


def test_experts_of_deepseek_v3_fit_from_ep_16_on_and_not_at_ep_8() -> None:
    """With two copies of the weights and full recomputation; the text names both degrees."""
    options = {"model": "deepseek-v3", "chip": "h800-sxm", "seq": 4096, "pp": 16, "dp": 128}
    options |= {"zero": 1, "schedule": "dualpipe", "microbatches": 120, "recompute": "full"}
    options |= {"attention": "flash", "dropout": "no", "optimizer_kind": "adam-bf16"}
    totals = [calculate("memory", **options, grad_bytes=4, ep=ep)["total"] for ep in (8, 16, 64)]
    assert totals[0] > 80e9 > totals[1] > totals[2]
    assert "EP 16 would just fit" in text_of("choosing-a-configuration")


@pytest.mark.parametrize("ranks", [8, 64])
def test_a_copy_goes_out_in_one_byte_and_its_result_comes_back_in_two(ranks: int) -> None:
    """The formula of the chapter on racks is that of the calculator behind its figures."""
    sequences, width, experts, layers, port = 64, 7168, 8, 58, 900e9  # three more are dense
    options = {"model": "deepseek-v3", "chip": "nvidia/gb200-gpu", "dtype": "fp8", "tp": 1}
    answer = calculate("decode", **options, dp=ranks, ep=ranks, batch=sequences * ranks, seq=4096)
    told = sequences * experts * width * 3 * layers / port * (1 - 1 / ranks)
    assert answer["message_seconds"] == pytest.approx(told, rel=1e-6)
    assert r"\frac{n k D g L}{w}" in text_of("racks")


@pytest.mark.parametrize(("domain", "tokens"), [(8, 6250), (18, 2778), (72, 2778)])
def test_the_cards_of_a_rack_feed_one_gather_faster_than_its_ports(
    domain: int, tokens: int
) -> None:
    """From 18 cards of 50 GB/s on, the port of 900 GB/s sets the pace of FSDP over domains."""
    limit = calculate(
        "fsdp-limit",
        chip="nvidia/gb200-gpu",
        model="llama-3-405b",
        chips_per_node=domain,
        scaleout_bandwidth=50e9,
    )
    assert limit["across_tokens"] == pytest.approx(tokens, abs=1)
    assert "as if the cluster were one domain" in text_of("racks")


def test_an_8b_model_is_wider_than_offloaded_inputs_ask_for() -> None:
    """D >= 2 pi / (24 beta) on each chip of the table: the peak over the link to the host."""
    for peak, link in ((989.4e12, 64e9), (2.5e15, 450e9), (459e12, 16e9)):
        assert 2 * peak / (24 * link) < 4096
    assert "is wider than the last column asks" in text_of("overlap-and-offloading")


def test_the_step_of_the_opening_gains_as_much_as_was_measured() -> None:
    """From bf16 to fp8 the row of torchtitan is a fifth shorter (22 percent), not a third."""
    plain, narrow = 6667, 8532
    assert 1 - plain / narrow == pytest.approx(1 / 5, abs=0.03)
    assert "the step takes a fifth less time" in text_of("low-precision")


def test_sequence_parallelism_gathers_its_inputs_again() -> None:
    """Ten halves of an all-reduce of 2BD bytes in a layer, not eight: Korthikanti et al. keep the
    shard alone for the backward pass (korthikanti2023reducing, section 4.2.2).
    """
    assert "$20BD$" in text_of("tensor-parallelism")
    assert "$20 D B" in text_of("choosing-a-configuration")
    assert "t_tp = 10 * 2 *" in text_of("choosing-a-configuration")


def test_two_of_five_exchanges_of_a_block_run_beside_a_product() -> None:
    """Megatron-LM gathers the inputs again beside the gradient of the input, and reduce-scatters
    that gradient beside the gradient of the weights (nvidia2026megatronlayers).
    """
    text = text_of("tensor-parallelism")
    steps = [text.index(f" {number}. ") for number in (7, 8, 9)]
    gather, to_inputs, to_weights = text[steps[0] :], text[steps[1] :], text[steps[2] :]
    assert "all-gather" in gather[: steps[1] - steps[0]]
    assert r"$d\text{In}" in to_inputs[:20] and "start the reduce-scatter" in to_inputs[:220]
    assert r"$dW_\text{in}" in to_weights[:20] and "under way" in to_weights[:160]
    assert "0.6 * t_tp" in text_of("choosing-a-configuration")


@pytest.mark.parametrize(("rounds", "tokens"), [(1, 300), (10, 4096), (20, 300)])
def test_rounds_of_a_chat_read_a_triangle_of_tokens(rounds: int, tokens: int) -> None:
    """Round i sends i times what each round adds."""
    read = sum(number * tokens for number in range(1, rounds + 1))
    assert read == rounds * (rounds + 1) * tokens / 2
    assert r"u + 2u + \dots + r u = \tfrac12 r (r + 1) u" in text_of("serving")


def test_deepseek_multiplies_gradients_in_e4m3_as_well() -> None:
    """E5M2 is what others take for gradients; the report has one format for all."""
    assert "DeepSeek-V3 used E4M3 for gradients, too" in text_of("computer")


def test_the_share_of_the_pencil_and_that_of_the_report_are_explained() -> None:
    """64 percent by the pencil against 40 measured: the text says what lies between."""
    text = text_of("choosing-a-configuration")
    between = text[text.index("Meta reports {{ q(") :]
    assert "What the pencil did not see" in between[:700]
    assert "stragglers and the rest" in between[:1700]


def test_no_emulated_format_counts_as_new() -> None:
    """FP32 and FP64 on Rubin's tensor cores are emulated; v5p has no FP8; v7 no FP16 product."""
    formats = {
        row.family: set(row.formats)
        for maker in ("nvidia", "google")
        for row in new_formats(items(), maker)
    }
    assert "fp32" not in formats.get("Rubin", set())
    assert "fp8" not in formats["TPU v5"] and "fp16" not in formats.get("TPU v7", set())


def test_a_rack_has_one_power() -> None:
    """The figure of the entry, in every chapter."""
    assert 'chip("nvidia/gb200-nvl72").power()' in text_of("accelerators")
    assert chip("nvidia/gb200-nvl72").power() > 72 * 1000


def test_the_scale_of_a_block_is_that_of_the_specification() -> None:
    """Exercise on MXFP4: 2^(floor(log2 0.9) - 2) is 1/8, at which 7.2 saturates to 6."""
    text = text_of("computer")
    assert "a scale of $1/8$" in text and "saturates at" in text


CHAPTERS = sorted(HANDBOOK.glob("*.md"))


def test_verdicts_stand_in_the_margin() -> None:
    """At most ten in the running text of the whole book; the others are notes that open."""
    inline = [
        line
        for path in CHAPTERS
        for line in path.read_text(encoding="utf-8").splitlines()
        if "{{ claim(" in line
    ]
    assert len(inline) <= 10, inline


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_the_text_supposes_no_slide_deck(path: Path) -> None:
    text = re.sub(r"\{\{.*?\}\}|\{%.*?%\}", "", path.read_text(encoding="utf-8"))
    assert not re.search(r"\bslides?\b|this handbook (?:grew|learnt)", text, re.I)


@pytest.mark.parametrize("size", [4, 16])
def test_a_rotation_shares_an_outlier_and_leaves_the_product(size: int) -> None:
    """(X R)(R^T W) = X W; one number becomes `size` numbers, each smaller by the root of it."""
    signs = np.array([[1.0]])
    while len(signs) < size:
        signs = np.block([[signs, signs], [signs, -signs]])
    rotation = signs / math.sqrt(size)
    block = np.zeros(size)
    block[1] = 24.0
    assert np.allclose(np.abs(block @ rotation), 24 / math.sqrt(size))
    draws = np.random.default_rng(0)
    left, right = draws.normal(size=(3, size)), draws.normal(size=(size, 5))
    assert np.allclose((left @ rotation) @ (rotation.T @ right), left @ right)
    assert r"$(X R)(R^{\top} W) = X W$" in text_of("low-precision")


def test_the_clipped_term_gains_nothing_beyond_epsilon() -> None:
    """For a good answer above 1 + e, for a bad one below 1 - e; back towards it always counts."""

    def term(ratio: float, advantage: float, width: float = 0.2) -> float:
        clipped = max(1 - width, min(ratio, 1 + width))
        return min(ratio * advantage, clipped * advantage)

    assert term(1.3, 1) == term(1.2, 1) and term(0.7, -1) == term(0.8, -1)
    assert term(1.3, -1) < term(1.2, -1) and term(0.7, 1) < term(0.8, 1)
    assert r"\max(1 - \epsilon, \min(\rho, 1 + \epsilon))" in text_of("reinforcement-learning")


def test_a_gather_for_each_token_takes_fifty_times_as_long_as_reading() -> None:
    """Seven eighths of the weights over a port of 450 GB/s against an eighth from HBM."""
    weights, port, memory = 141.1e9, chip("h100-sxm").scaleup_bandwidth(), 3.35e12
    gather, read = 7 / 8 * weights / port, weights / 8 / memory
    assert gather == pytest.approx(0.27, abs=0.01) and 50 < gather / read < 55
    assert "FSDP is not among them" in text_of("inference")


@pytest.mark.parametrize(
    ("chips", "share"),
    [(64, 2 / 6), (6144, 2 * 2 * 256 / 3072 / 6), (8960, 2 * 2 * 320 / 4480 / 6)],
)
def test_an_all_to_all_on_a_torus_ends_at_the_links_across_its_middle(
    chips: int, share: float
) -> None:
    """Half of what a chip sends crosses, so it may send at twice its share of those links."""
    each = 1e12  # bytes of a chip, so many that the hops do not count
    options = {"startup": 0, "ramp": 0, "efficiency": 1}
    answer = calculate(
        "collective", chip="tpu-v5p", chips=chips, op="all-to-all", bytes=each * chips, **options
    )
    sent = each / answer["bandwidth_seconds"]
    assert sent == pytest.approx(share * 600e9, rel=0.01)
    assert "Only half of what a chip sends has to cross" in text_of("accelerators")


def test_the_largest_relative_error_of_e4m3_is_a_seventeenth() -> None:
    """Half a step, a sixteenth, relative to what was rounded: halfway from 1 to the next."""
    values = np.linspace(1, 2, 100_001)[:-1]
    error = np.abs(np.round(values * 8) / 8 - values) / values
    assert error.max() == pytest.approx(1 / 17, rel=1e-3)
    assert "is a seventeenth" in text_of("computer")


def test_the_two_matrices_of_fsdp_are_two_cases_with_one_remedy() -> None:
    """What the first contracts is cut in one factor; the second finds its axis in use."""
    for product, case in (
        ("A[B_X, D] * W[D_X, F] -> T[B_X, F]", "2"),
        ("T[B_X, F] * W[F, D_X] -> O[B_X, D]", "4"),
    ):
        found = calculate(
            "sharded-matmul", product=product, dims="B=64,D=64,F=64", mesh="X=4", chip="tpu-v5p"
        )
        assert found["case"][0].startswith(case)
        assert found["collectives"][0] == "all-gather of W over X"
    assert "is case 4 instead" in text_of("fsdp")
