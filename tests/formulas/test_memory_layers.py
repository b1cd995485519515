"""Training memory of layers of several kinds: windows, states, blocks alone, experts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook import calculate
from flopbook.data.library import model_ids
from flopbook.errors import FlopbookError
from flopbook.formulas import memory

KINDS_OF_LAYERS: dict[str, Any] = {
    "params": 1e9,
    "layers": 8,
    "d_model": 64,
    "heads": 4,
    "vocab": 16,
    "d_ff": 256,
    "seq": 512,
    "attention": "scores",
    "recompute": "none",
}


def activations(**more: Any) -> float:
    """Activations of the layers, in bytes."""
    return float(memory(**{**KINDS_OF_LAYERS, **more})["activations"])


@given(st.integers(1, 12), st.sampled_from([1, 2, 4]))
def test_layers_recomputed_one_by_one_lie_between_all_and_none(layers: int, pp: int) -> None:
    """Each keeps its input alone, the others everything; more of them than there are is all."""
    every, no = activations(recompute="full", pp=pp), activations(pp=pp)
    share = min(layers / (8 / pp), 1)
    found = activations(recompute="full", recompute_layers=layers, pp=pp)
    assert found == pytest.approx(share * every + (1 - share) * no)
    assert (
        memory(**{**KINDS_OF_LAYERS, "recompute": "full", "recompute_layers": layers})["working"]
        > 0
    )


def test_only_full_recomputation_counts_layers() -> None:
    for word in ("none", "selective", "selective-op"):
        with pytest.raises(FlopbookError, match="--recompute-layers counts layers"):
            activations(recompute=word, recompute_layers=2)


def test_scores_are_as_long_as_a_layer_sees() -> None:
    """Windows, chunks and selections shorten the rows; one as long as the sequence does not."""
    rows = 4 * 512 * 512 * 2  # heads, queries and keys of a layer, in 16 bits
    full = activations()
    for window in (1, 100, 511):
        saved = full - activations(window=window, window_layers=6)
        assert saved == pytest.approx(6 * rows * (1 - window / 512))
    assert activations(window=512) == full
    assert full - activations(chunk=64, chunk_layers=8) == pytest.approx(8 * rows * 7 / 8)
    assert full - activations(sparse_layers=4, selected_tokens=128) == pytest.approx(3 * rows)


def test_flash_attention_forgets_windows() -> None:
    flash = {"attention": "flash"}
    assert activations(**flash, window=7) == activations(**flash)


def test_a_recurrent_mixer_keeps_its_rows() -> None:
    """In place of queries, keys, values and a result, the widths of its own matrices."""
    flash = {"attention": "flash"}
    width = 300
    saved = activations(**flash) - activations(
        **flash, state_layers=6, state_layer_params=width * 64
    )
    of_attention = 4 * 64 * 2 + 4 * 4  # four widths in 16 bits, a statistic of each head
    assert saved == pytest.approx(6 * 512 * (of_attention - width * 2))


def test_layers_of_one_block_keep_one_input() -> None:
    """Eight layers that are four of attention and four of feed-forward make four whole ones."""
    alone = activations(attention_layers=4, full_layers=4, ffn_layers=4, norms_per_layer=1)
    whole = activations(layers=4)
    assert alone == pytest.approx(whole)


@given(st.sampled_from(model_ids()))
def test_every_model_has_experts_within_its_parameters(name: str) -> None:
    """What expert parallelism divides is what the shape counts: with it, no device holds more."""
    shape = {"model": name, "seq": 128}
    whole = calculate("memory", **shape)
    assert whole["weights"] == pytest.approx(2 * calculate("params", model=name)["total"])
    experts = int(whole.inputs["experts"].value)
    if experts > 1:
        split = calculate("memory", **shape, ep=experts, dp=experts)
        routed = (whole["weights"] - split["weights"]) / (1 - 1 / experts)
        unmet = calculate("params", model=name)
        visited = whole.inputs["experts_per_token"].value
        met = 2 * (unmet["total"] - unmet["active"]) * experts / (experts - visited)
        assert routed == pytest.approx(met, rel=2e-3)


@pytest.mark.parametrize("zero", [0, 1, 2, 3])
def test_gradients_of_experts_are_cut_by_what_holds_them(zero: int) -> None:
    """Mixtral 8x7B, eight replicas that spread the experts over all: 2 bytes a gradient.

    Each chip has an eighth of the experts whatever ZeRO does; from stage 2 on it keeps an eighth
    of all others too, while the experts have no further replica to divide them over.
    """
    out = calculate("memory", model="mixtral-8x7b", seq=4096, dp=8, ep=8, zero=zero)
    experts = 32 * 8 * 3 * 4096 * 14336
    others = calculate("params", model="mixtral-8x7b")["total"] - experts
    assert out["gradients"] == 2 * (experts / 8 + others / (8 if zero >= 2 else 1))


def test_latent_attention_keeps_queries_values_and_its_result_by_operation() -> None:
    """DeepSeek-V3 again: every second product keeps its output, each head 192 and twice 128."""
    run = {"seq": 4096, "attention": "flash", "dropout": "no", "pp": 1}
    out = calculate("memory", model="deepseek-v3", recompute="selective-op", **run)["activations"]
    inner = (3 * 18432 + 58 * 9 * 2048) / 61
    kept = 7168 + 128 * (128 + 64 + 2 * 128) + inner + 7168
    assert out == pytest.approx(61 * 4096 * (2 * kept + 4 * 128))
