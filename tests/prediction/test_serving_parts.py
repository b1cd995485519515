"""Parts of a served pass as laws: layers by what they see, experts, and sums between servers."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.architectures.shape import shape
from flopbook.planning.serving_question import serving_question
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.machines import machine
from flopbook.prediction.named_models import seen_of, sizes_of
from flopbook.prediction.seen_layers import (
    ALL_FULL,
    SeenLayers,
    pairs_seen,
    seen_layers,
    tokens_kept,
    tokens_read,
)
from flopbook.prediction.serving import DECODE, PREFILL, predict
from flopbook.prediction.serving_case import Serving
from flopbook.prediction.serving_load import held_bytes
from flopbook.prediction.serving_parts import (
    common_weights,
    exchange_seconds,
    expert_work,
    experts_read,
    routed_weights,
    sum_seconds,
    visited_experts,
)
from flopbook.prediction.transformers import transformer

P = fitted_kinds()["inference"].parameters
H100 = machine("h100-sxm")
MIXTURE = transformer(sizes_of(shape("qwen-3-30b-a3b"), 1024))
SEEN = st.builds(
    SeenLayers,
    windowed=st.sampled_from((0.0, 0.5, 0.75)),
    window=st.sampled_from((128.0, 4096.0)),
    selecting=st.sampled_from((0.0, 0.25)),
    selected=st.just(2048.0),
    attending=st.just(1.0),
    state_values=st.just(0.0),
)
LENGTHS = st.integers(1, 100_000)


def served(model: str, **changes: Any) -> Serving:
    asked = {"model": model, "chip": "h100-sxm", "chips": "8", "dtype": "fp8"}
    return serving_question(asked).base._replace(**changes)


@given(SEEN, LENGTHS)
def test_a_layer_reads_no_more_than_it_keeps_and_keeps_no_more_than_there_is(
    seen: SeenLayers, context: int
) -> None:
    read, kept = tokens_read(seen, context), tokens_kept(seen, context)
    assert read <= kept + 1e-9 and kept <= context + 1e-9
    if context <= min(seen.window, seen.selected):
        assert read == pytest.approx(context) == pytest.approx(kept)


@given(SEEN, st.integers(1, 300))
def test_pairs_are_the_sum_of_what_each_token_sees(seen: SeenLayers, prompt: int) -> None:
    each = sum(tokens_read(seen, place) for place in range(1, prompt + 1))
    assert pairs_seen(seen, prompt) == pytest.approx(each)


def test_layers_are_those_of_the_model() -> None:
    """GPT-OSS has windows in every other layer; Qwen3-Next attends in one layer of four."""
    windows = seen_layers(sizes_of(shape("gpt-oss-120b"), 1024))
    assert (windows.windowed, windows.window, windows.attending) == (0.5, 128, 1)
    states = seen_layers(sizes_of(shape("qwen-3-next-80b-a3b"), 1024))
    assert states.attending == 0.25 and states.windowed == 0 and states.state_values > 0
    assert seen_layers(sizes_of(shape("llama-3-8b"), 1024)) == ALL_FULL
    # A row that names a model and gives its sizes has its windows, unless it is another one.
    assert seen_of({"name": "gpt-oss-120b", "n_layers": 36})["seen_windowed"] == 0.5
    assert not seen_of({"name": "gpt-oss-120b", "n_layers": 12}) and not seen_of({"name": "mine"})


@pytest.mark.parametrize("model", ["gpt-oss-120b", "qwen-3-next-80b-a3b", "gemma-3-27b"])
def test_windows_and_states_spare_long_contexts(model: str) -> None:
    case = served(model, prompt=100_000.0, batch=32.0, chips=8.0, tp=8.0)
    full = case._replace(seen=ALL_FULL, cache_values=case.cache_values / case.seen.attending)
    for task in (DECODE, PREFILL):
        least, most = (predict([one._replace(task=task)], P)[0] for one in (case, full))
        assert least < most
    assert held_bytes(case, 100_000) < held_bytes(full, 100_000)


def test_a_pass_over_all_experts_reads_all_weights() -> None:
    read = common_weights(MIXTURE) + experts_read(MIXTURE, 1e6)
    assert read == pytest.approx(MIXTURE.parameters - MIXTURE.embedding, rel=0.01)
    assert visited_experts(MIXTURE, 1) == pytest.approx(MIXTURE.experts_per_token)
    assert experts_read(MIXTURE, 1) == pytest.approx(routed_weights(MIXTURE))


@given(st.integers(1, 4096), st.sampled_from((1, 8, 32)))
def test_experts_fill_tiles_and_wait_for_the_busiest(tokens: int, ranks: int) -> None:
    """Never less work than the tokens are; less for each of more tokens."""
    work = expert_work(MIXTURE, tokens, 60.0, ranks)
    assert work >= routed_weights(MIXTURE) * tokens
    assert work >= expert_work(MIXTURE, tokens, 60.0, 1) * (1 - 1e-12)
    assert expert_work(MIXTURE, 2 * tokens, 60.0, ranks) <= 2 * work * (1 + 1e-12)
    assert expert_work(transformer(sizes_of(shape("llama-3-8b"), 1)), tokens, 60.0, 1) == 0


@given(st.floats(0, 1e9), st.sampled_from((2, 4, 8)), st.sampled_from((2, 4, 16)))
def test_a_sum_between_servers_takes_longer(sent: float, ranks: int, servers: int) -> None:
    inside, between = sum_seconds(H100, 8, sent, P), sum_seconds(H100, 8 * servers, sent, P)
    assert between > inside >= sum_seconds(H100, ranks, sent, P) > 0
    assert sum_seconds(H100, 1, sent, P) == 0
    assert sum_seconds(H100, 8 * servers, 2 * sent, P) >= between


def test_a_small_sum_between_two_servers_is_the_latency_of_a_tree() -> None:
    """4.4 us to start, twice seven steps of 1.2 us over links and one of 8.5 us between servers."""
    assert sum_seconds(H100, 16, 0.0, P) == pytest.approx(4.4e-6 + 2 * (7 * 1.2e-6 + 8.5e-6))


@given(st.floats(1, 1e9), st.sampled_from((16, 64)))
def test_tokens_reach_experts_on_other_servers_later(sent: float, ranks: int) -> None:
    assert exchange_seconds(H100, ranks, sent, P) > exchange_seconds(H100, 8, sent, P)
    assert math.isfinite(exchange_seconds(H100, ranks, sent, P))


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_ranks_on_a_mesh_sum_over_the_links_between_them(ranks: int) -> None:
    """Each of eight MI300X has a link to each other one; two once summed over all seven."""
    board, sent = machine("mi300x"), 2.0**26
    link = board.link_bandwidth / 7
    over_links = sum_seconds(board, ranks, sent, P) - P["sum_seconds"]
    assert over_links == pytest.approx(2 * sent / ranks / (link * P["sum_share"]))
    # Half of what a pair exchanges stays where it is.
    steps = exchange_seconds(board, 2, 0.0, P)
    assert exchange_seconds(board, 2, sent, P) - steps == pytest.approx(
        sent / 2 / (link * P["sum_share"])
    )


@pytest.mark.parametrize("name", ["h100-sxm", "tpu-v5p", "google/tpu-8i", "l40s"])
def test_switches_and_tori_and_large_domains_are_no_mesh(name: str) -> None:
    assert machine(name).mesh == 0
