"""Layers of several kinds: hybrids of attention and states, layers of one block, latent experts."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.architectures.shape import Shape, shape
from flopbook.data.library import model_ids
from flopbook.evaluation.calculator import calculate
from flopbook.planning.serving_question import serving_question
from flopbook.prediction.conventions import USUAL, flop_per_token
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.layouts import RunLayout
from flopbook.prediction.named_models import sizes_of
from flopbook.prediction.serving import DECODE, PREFILL, predict
from flopbook.prediction.transformers import Transformer, transformer
from tests.support.training_rows import FITTED, LLAMA, layout, parts

HYBRIDS = (
    *("nemotron-3-nano-30b-a3b", "nemotron-3-super-120b-a12b", "nemotron-3-ultra-550b-a55b"),
    *("nemotron-h-56b", "jamba-52b", "granite-4.0-h-small", "kimi-linear-48b-a3b"),
    *("qwen-3-next-80b-a3b", "falcon-h1-34b", "minimax-text-01"),
)
MIXTURE = {**LLAMA, "n_experts": 64, "experts_per_token": 4, "moe_d_ff": 4096}
SEQUENCE = 4096


def sized(model_id: str) -> Transformer:
    return transformer(sizes_of(shape(model_id), SEQUENCE))


def multiplied(one: Shape) -> float:
    """Weights that a token is multiplied with, but for vectors and routers, as `params` counts."""
    assert one.parts is not None
    return float(one.parts["compute"] - one.parts["router"] - one.parts["norms"])


@pytest.mark.parametrize("model_id", HYBRIDS)
def test_a_hybrid_multiplies_the_weights_that_params_counts(model_id: str) -> None:
    found = sized(model_id)
    assert found.layer_weights + found.embedding == pytest.approx(multiplied(shape(model_id)))


def test_every_model_on_file_multiplies_what_params_counts() -> None:
    """Biases aside, which multiply nothing."""
    for model_id in model_ids():
        one = shape(model_id)
        if one.parts is None or not one.size("d_model"):
            continue
        found = sized(model_id)
        assert found.layer_weights + found.embedding == pytest.approx(multiplied(one), 0.005)


@pytest.mark.parametrize("model_id", HYBRIDS)
def test_a_trained_token_takes_what_the_calculator_says(model_id: str) -> None:
    answer = calculate("training-flops", model=model_id, tokens=SEQUENCE, seq=SEQUENCE).outputs
    parts_ = shape(model_id).parts
    assert parts_ is not None
    small = 6 * (parts_["router"] + parts_["norms"])
    found = flop_per_token(sized(model_id), USUAL)
    assert found + small == pytest.approx(float(answer["flop_full"]) / SEQUENCE, rel=1e-6)


@pytest.mark.parametrize("model_id", HYBRIDS[:4])
def test_active_parameters_are_those_of_the_name(model_id: str) -> None:
    one, found = shape(model_id), sized(model_id)
    field = "active_params" if found.is_mixture else "params"
    # Names round down, and leave the input embedding out.
    active = one.pick_claim(field).value
    assert found.layer_weights + found.embedding == pytest.approx(active, rel=0.08)


def test_layers_of_nemotron_3_nano_by_hand() -> None:
    """Its config: 23 layers of Mamba-2, 6 of attention and 23 of experts, each a single block."""
    width, inner, keys, heads = 2688, 64 * 64, 8 * 128, 64
    channels = inner + 2 * keys
    mamba = width * (inner + channels + heads) + inner * width
    mamba += channels * (4 + 1) + 3 * heads + inner  # convolution, decay, step, skip, norm
    attention = 2 * width * (32 + 2) * 128
    routed, shared = 6 * 2 * width * 1856, 2 * width * 3712
    found = sized("nemotron-3-nano-30b-a3b")
    assert found.layer_weights == pytest.approx(23 * (mamba + routed + shared) + 6 * attention)
    assert found.layers * found.beside_weights == pytest.approx(23 * shared)
    assert found.layers * found.state_weights == pytest.approx(23 * mamba)
    assert found.expert_parameters == pytest.approx(23 * 128 * 2 * width * 1856)
    shares = found.attending, found.feeding, found.blocks
    assert shares == pytest.approx((6 / 52, 23 / 52, (6 + 23 + 23) / 104))


def split(model: dict[str, Any]) -> dict[str, Any]:
    """The same model with each layer written as two, one of attention and one feed-forward."""
    layers = model["n_layers"]
    kinds = {"kind_attention_layers": layers, "kind_ffn_layers": layers}
    return {**model, "n_layers": 2 * layers, **kinds}


CUT = [{}, {"tp": 2, "cp": 4}, {"pp": 2, "dp": 4}]


@pytest.mark.parametrize(
    ("model", "degrees"),
    [*((LLAMA, one) for one in CUT), *((MIXTURE, one) for one in (*CUT, {"ep": 8}))],
)
def test_a_layer_cut_in_two_takes_as_long(model: dict[str, Any], degrees: dict[str, Any]) -> None:
    degrees = {"zero_stage": 0, **degrees}
    whole, cut = (parts(layout(model=one, **degrees)) for one in (model, split(model)))
    for name, seconds in whole._asdict().items():
        # Collectives of replicas go layer by layer.
        if name not in ("gradients", "straggling"):
            assert getattr(cut, name)[0] == pytest.approx(seconds[0]), name


def run_of(model_id: str, **degrees: Any) -> RunLayout:
    sizes = sizes_of(shape(model_id), SEQUENCE)
    return layout(model=sizes, tp=1, dp=64, ep=8, global_batch_seqs=64, **degrees)


def test_layers_without_attention_score_nothing() -> None:
    """But each token updates and reads the states, which takes a few percent of a full layer."""
    run = run_of("nemotron-3-nano-30b-a3b")
    none = run.shape._replace(state_values=0.0, state_products=0.0)
    full = run._replace(shape=none._replace(attending=1.0))
    stateless = run._replace(shape=none)
    scores, every = parts(stateless).attention[0], parts(full).attention[0]
    assert scores == pytest.approx(every * 6 / 52)
    assert scores < parts(run).attention[0] < 0.5 * every


def test_experts_in_a_latent_space_are_sent_its_width() -> None:
    run = run_of("nemotron-3-super-120b-a12b")
    wide = run._replace(shape=run.shape._replace(expert_d_model=run.shape.d_model))
    ratio = parts(run).expert_parallel[0] / parts(wide).expert_parallel[0]
    assert run.shape.expert_d_model == 1024 and ratio == pytest.approx(1024 / 4096)


def test_blocks_beside_the_experts_wait_for_no_expert() -> None:
    """A shared block of its own width is multiplied as in a dense layer."""
    run = run_of("nemotron-3-nano-30b-a3b")
    busy = {**FITTED, "expert_cost": 2 * FITTED["expert_cost"]}
    slower, usual = parts(run, busy), parts(run)
    assert slower.experts[0] == pytest.approx(2 * usual.experts[0])
    assert slower.products[0] == pytest.approx(usual.products[0])
    alike = run._replace(shape=run.shape._replace(beside_weights=0.0))
    assert parts(alike).experts[0] > usual.experts[0]


def test_sizes_that_a_row_gives_are_layers_of_one_kind() -> None:
    found = transformer(MIXTURE)
    assert (found.attending, found.feeding, found.blocks, found.mixing) == (1, 1, 1, 1)
    assert found.beside_weights == found.state_weights == found.state_values == 0
    assert found.expert_d_model == found.d_model


@pytest.mark.parametrize("task", [DECODE, PREFILL])
@pytest.mark.parametrize("model", [LLAMA, MIXTURE], ids=["dense", "mixture"])
def test_a_served_layer_cut_in_two_takes_as_long(model: dict[str, Any], task: str) -> None:
    asked = {"model": "llama-3-70b", "chip": "h100-sxm", "chips": "8"}
    base = serving_question(asked).base._replace(task=task, batch=16.0, tp=8.0, chips=8.0)
    half = base.seen._replace(attending=0.5)
    whole = base._replace(shape=transformer(model))
    cut = base._replace(shape=transformer(split(model)), seen=half)
    known = fitted_kinds()["inference"].parameters
    first, second = predict([whole, cut], known)
    assert second == pytest.approx(first)
