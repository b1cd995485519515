"""What sources say of network cards, savings and messages reaches the prediction."""

from __future__ import annotations

import math

import pytest

from flopbook.prediction.layouts import Layouts, RunLayout
from flopbook.prediction.machines import stated_card_bandwidth
from flopbook.prediction.parameters import PRIORS
from flopbook.prediction.serving import cache_parts, score_flop
from flopbook.prediction.software_words import keeps_activations
from flopbook.prediction.step_time import step_parts
from flopbook.prediction.transformers import transformer
from tests.support.training_rows import layout

STARTS = {name: prior.start for name, prior in PRIORS.items()}


@pytest.mark.parametrize(
    ("words", "rate"),
    [
        ("4x 100 Gb/s Omni-Path per node (Jean Zay)", 6.25e9),
        ("8x HDR200 InfiniBand per node (Selene)", 25e9),
        ("1600 Gbps/node RoCE", 25e9),
        ("800 Gb/s per node", 12.5e9),
        ("400 Gb/s RDMA per GPU", 50e9),
        ("400 Gbps", None),
        ("InfiniBand (rate not stated)", None),
        ("NVLink within one node", None),
        ("", None),
    ],
)
def test_a_rate_counts_with_what_it_is_of(words: str, rate: float | None) -> None:
    assert stated_card_bandwidth(words, 8) == rate


def test_savings_before_recomputation_keep_activations() -> None:
    said = "full finetune, techniques added cumulatively up to: {}"
    assert keeps_activations(said.format("chunked-ce"))
    assert not keeps_activations(said.format("activation-checkpointing"))
    assert not keeps_activations("full finetune") and not keeps_activations("")


def part(name: str, run: RunLayout) -> float:
    return float(getattr(step_parts(Layouts([run]), STARTS), name)[0])


def mixture(**changes: float) -> RunLayout:
    run = layout(tp=1, dp=64)
    shape = run.shape._replace(experts=64.0, experts_per_token=8.0, expert_parameters=1e9)
    return run._replace(shape=shape, **changes)


def test_a_token_crosses_the_network_once_for_each_node() -> None:
    """Eight experts on two nodes of eight chips are one message, which rarely stays at home."""
    near, far = (part("expert_parallel", mixture(ep=ep)) for ep in (8, 16))
    machine = mixture().machine
    slower = machine.link_bandwidth * STARTS["link_share"]
    slower /= machine.card_bandwidth * STARTS["card_share"]
    imbalance = STARTS["imbalance"]
    busiest = (1 + imbalance * 0.5) / (1 + imbalance * math.sqrt(1 / 8))
    copies = (1 - 0.5**8) / (8 * (1 - 1 / 8))
    assert far / near == pytest.approx(copies * slower * busiest)


def test_each_expert_of_a_rank_is_launched() -> None:
    """Fewer experts on a rank are fewer kernels."""
    assert part("launches", mixture(ep=8)) < part("launches", mixture(ep=1))


def test_stages_of_deepspeed_send_whole_activations() -> None:
    """In deepspeed/runtime/pipe/p2p.py each tensor-parallel rank sends all of the tensor."""
    run = layout(pp=4, dp=2)
    whole, part_of_it = (
        part("pipeline_sends", run._replace(stack=stack)) for stack in ("deepspeed", "nemo")
    )
    assert whole == pytest.approx(8 * part_of_it)


def test_sums_beyond_the_node_leave_by_all_cards_and_wait() -> None:
    """Half the replicas do twice the micro-batches, each at the rate of the cards of a node."""
    inside, beyond = (part("tensor_parallel", layout(tp=tp, dp=64 // tp)) for tp in (8, 16))
    machine = layout().machine
    cards = machine.card_bandwidth * 8 * STARTS["tp_beyond"]
    rate = min(cards, machine.link_bandwidth * STARTS["link_share"])
    shown = STARTS["tp_exposed"] * STARTS["tp_overlapped"]
    expected = 15 / 14 * machine.link_bandwidth * STARTS["link_share"] / rate / shown
    assert beyond / inside == pytest.approx(2 * expected)


LATENT = {
    "n_layers": 61,
    "d_model": 7168,
    "n_heads": 128,
    "n_kv_heads": 128,
    "d_ff": 18432,
    "q_lora_rank": 1536,
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
}


def test_heads_of_latent_attention_work_on_what_is_cached() -> None:
    """Two sums over 512 values and one over 64 for each of 128 heads; the cache is copied."""
    assert score_flop(LATENT, transformer(LATENT)) == 2 * 61 * 128 * (2 * 512 + 64)
    assert cache_parts(LATENT) == 1 and cache_parts({"n_kv_heads": 8}) == 8
    assert cache_parts({}) == math.inf
