"""Layers that are not all alike: dense ones among experts, windows and chunks, in training."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.architectures.shape import shape
from flopbook.data.library import model_ids
from flopbook.data.runs import RunSource
from flopbook.evaluation.calculator import calculate
from flopbook.prediction import training
from flopbook.prediction.conventions import USUAL, flop_per_token
from flopbook.prediction.named_models import sizes_of
from flopbook.prediction.near_layers import TILE
from flopbook.prediction.transformers import Transformer, transformer
from tests.support.training_rows import FITTED, LLAMA, layout, parts, row

SEQUENCE = 8192
MIXTURE = {**LLAMA, "n_experts": 64, "experts_per_token": 4, "moe_d_ff": 4096}
SHARED = {**MIXTURE, "n_shared_experts": 2}
HALF = {**MIXTURE, "n_dense_layers": 40}
EP = {"tp": 1, "dp": 64, "ep": 8, "zero_stage": 1}
CAUSAL = "causal_attention_no_input_embedding"
NEAR = (
    *("gemma-3-12b", "gemma-4-31b", "gpt-oss-120b", "mistral-7b", "llama-4-maverick"),
    *("gemma-2-9b", "olmo-3-7b", "step-3.5-flash"),
)


def sized(model_id: str, tokens: int = SEQUENCE) -> Transformer:
    return transformer(sizes_of(shape(model_id), tokens))


def windowed(share: float, window: float, **sizes: Any) -> dict[str, Any]:
    return {**LLAMA, "near_windowed": share, "near_window": window, **sizes}


def test_feed_forward_weights_are_routed_beside_experts_or_dense() -> None:
    """For every mixture on file, and nothing is left of any part."""
    for model_id in model_ids():
        one = shape(model_id)
        if one.parts is None or not one.size("d_model") or one.model.kind != "moe":
            continue
        found = sized(model_id)
        visited = found.experts_per_token / found.experts
        routed = found.ffn_weights - found.dense_weights - found.beside_weights
        experts = found.expert_parameters / found.layers * visited
        assert routed == pytest.approx(experts, rel=0.02), model_id
        assert min(found.dense_weights, found.beside_weights) >= 0


def test_layers_of_deepseek_v3_by_hand() -> None:
    found = sized("deepseek-v3")
    assert found.routing == pytest.approx(58 / 61)
    assert found.dense_weights * 61 == pytest.approx(3 * 3 * 7168 * 18432)
    assert found.beside_weights * 61 == pytest.approx(58 * 3 * 7168 * 2048)
    assert found.dense_width == 18432


def test_every_other_layer_of_llama_4_maverick_is_dense() -> None:
    found = sized("llama-4-maverick")
    assert found.routing == 0.5
    assert found.dense_weights == pytest.approx(0.5 * 3 * 5120 * 16384)
    assert (found.chunked, found.chunk, found.windowed) == (0.75, 8192, 0)


def test_layers_without_experts_send_route_and_wait_for_nothing() -> None:
    whole, half = (parts(layout(model=one, **EP)) for one in (MIXTURE, HALF))
    assert half.expert_parallel[0] == pytest.approx(whole.expert_parallel[0] / 2)
    assert half.experts[0] == pytest.approx(whole.experts[0] / 2)
    busy = {**FITTED, "expert_launch": 10.0, "expert_kernels": 1e-9}
    waits = [parts(layout(model=one, **EP), busy).launches[0] for one in (MIXTURE, HALF)]
    assert waits[1] == pytest.approx(waits[0] / 2, rel=1e-3)


def test_a_mixture_whose_layers_are_all_dense_takes_as_long_as_a_dense_model() -> None:
    none = {**MIXTURE, "n_dense_layers": 80, "moe_d_ff": LLAMA["d_ff"]}
    degrees = {"tp": 8, "dp": 8, "zero_stage": 1}
    dense, empty = (parts(layout(model=one, **degrees)) for one in (LLAMA, none))
    for name, seconds in dense._asdict().items():
        assert getattr(empty, name)[0] == pytest.approx(seconds[0]), name


def test_dense_layers_multiply_at_the_rate_of_their_own_width() -> None:
    run = layout(model=HALF, **EP)
    narrow = run._replace(shape=run.shape._replace(dense_width=512.0))
    assert parts(narrow).products[0] > parts(run).products[0]
    assert parts(narrow).experts[0] == parts(run).experts[0]


def test_shared_experts_multiply_all_tokens_and_are_sent_none() -> None:
    """Not the few that an expert gets, whatever their width."""
    plain, shared = (parts(layout(model=one, **EP)) for one in (MIXTURE, SHARED))
    assert shared.experts[0] == pytest.approx(plain.experts[0])
    assert shared.expert_parallel[0] == plain.expert_parallel[0]
    assert shared.products[0] > plain.products[0]


def test_a_mixture_without_shared_or_dense_layers_has_experts_alone() -> None:
    found = transformer(MIXTURE)
    assert (found.routing, found.dense_weights) == (1, 0)
    assert found.beside_weights == pytest.approx(0, abs=1e-6 * found.ffn_weights)


@pytest.mark.parametrize("model_id", NEAR)
@pytest.mark.parametrize("tokens", [512, 8192])
def test_a_trained_token_scores_what_the_calculator_says(model_id: str, tokens: int) -> None:
    answer = calculate("training-flops", model=model_id, tokens=tokens, seq=tokens).outputs
    counted = shape(model_id).parts
    assert counted is not None
    known = sized(model_id, tokens)
    weights = float(answer["flop"]) / tokens
    multiplied = 6 * (known.layer_weights + known.embedding)
    for convention, name in ((USUAL, "flop_full"), (CAUSAL, "flop_causal")):
        found = flop_per_token(known, convention) - multiplied
        # A token sees itself as well, which half a square of them leaves out.
        assert found == pytest.approx(float(answer[name]) / tokens - weights, rel=4e-3), name


def test_a_window_as_long_as_the_sequence_is_full_attention() -> None:
    full, wide = (parts(layout(model=one)) for one in (LLAMA, windowed(0.5, SEQUENCE)))
    chunks = parts(layout(model={**LLAMA, "near_chunked": 0.75, "near_chunk": SEQUENCE}))
    assert wide.attention[0] == pytest.approx(full.attention[0])
    assert chunks.attention[0] == pytest.approx(full.attention[0])


def test_windows_cost_their_tokens_and_those_of_a_tile() -> None:
    """A tile of queries is multiplied with all keys that one of them sees."""
    full, near = (parts(layout(model=one)).attention[0] for one in (LLAMA, windowed(1.0, 1024)))
    seen = (1024 + TILE) / SEQUENCE
    assert near / full == pytest.approx(2 * seen * (1 - seen / 2))
    mixed = parts(layout(model=windowed(0.5, 1024))).attention[0]
    assert mixed == pytest.approx((near + full) / 2)


def test_chunks_are_short_sequences() -> None:
    full = parts(layout()).attention[0]
    model = {**LLAMA, "near_chunked": 1.0, "near_chunk": SEQUENCE // 4}
    assert parts(layout(model=model)).attention[0] == pytest.approx(full / 4)


def test_scores_through_memory_are_made_before_they_are_masked() -> None:
    old = {"run": {"attention": "standard"}}
    assert parts(layout(model=windowed(1.0, 1024), **old)) == parts(layout(**old))


def test_heads_may_be_narrower_in_a_window() -> None:
    narrow = windowed(1.0, 1024, kind_window_head_dim=64)
    ratio = (
        parts(layout(model=narrow)).attention[0]
        / (parts(layout(model=windowed(1.0, 1024))).attention[0])
    )
    assert ratio == pytest.approx(64 / 128)


@pytest.mark.parametrize(
    ("name", "sizes", "found"),
    [
        ("GPT-OSS-120B", {"n_layers": 36}, {"windowed": 0.5, "window": 128}),
        ("GPT-OSS-120B", {"n_layers": 12}, {"windowed": 0, "window": 1}),
        ("DeepSeek-V3", {"n_layers": 61, "n_experts": 256}, {"routing": 58 / 61}),
        ("DeepSeek-V3", {"n_layers": 61, "n_experts": 8}, {"routing": 1}),
        ("mine", {"n_layers": 61, "n_experts": 256}, {"routing": 1}),
    ],
)
def test_a_row_that_names_a_model_has_its_layers(
    name: str, sizes: dict[str, Any], found: dict[str, float]
) -> None:
    """Unless it is cut to fewer layers or experts; what the row says itself counts before."""
    named = row(model={**MIXTURE, "name": name, **sizes})
    named = named._replace(measured={"tokens_per_s_per_chip": 1.0})
    known = training.read(named, RunSource(year=2025)).inputs.shape
    assert {field: getattr(known, field) for field in found} == pytest.approx(found)
    said = named._replace(model={**named.model, "n_dense_layers": 1, "near_windowed": 0.25})
    known = training.read(said, RunSource(year=2025)).inputs.shape
    assert known.windowed == 0.25
    if "n_experts" in sizes:
        assert known.routing == pytest.approx(60 / 61)
