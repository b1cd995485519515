"""Recurrent layers: their states as engines lay them out, their mixers counted matrix by matrix."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.architectures.shape import shape
from flopbook.architectures.states import KINDS, Mixer, state_of
from flopbook.evaluation.calculator import calculate

mixers = st.builds(
    Mixer,
    d_model=st.integers(1, 64),
    heads=st.integers(1, 8),
    head_dim=st.integers(1, 16),
    key_heads=st.integers(1, 8),
    key_dim=st.integers(1, 16),
    conv=st.integers(2, 5),
    rank=st.integers(1, 8),
)


def matrices(kind: str, m: Mixer) -> tuple[dict[str, tuple[int, ...]], int]:
    """Weights of a mixer by name, and the channels of its convolution."""
    inner, keys = m.heads * m.head_dim, m.key_heads * m.key_dim
    if kind == "mamba":
        return {
            "in": (m.d_model, 2 * inner),
            "conv": (inner, m.conv),
            "conv bias": (inner,),
            "x": (inner, m.rank + 2 * m.key_dim),
            "dt": (m.rank, inner),
            "dt bias": (inner,),
            "A": (inner, m.key_dim),
            "D": (inner,),
            "norms": (m.rank + 2 * m.key_dim,),
            "out": (inner, m.d_model),
        }, inner
    if kind == "mamba2":
        channels = inner + 2 * keys
        return {
            "in": (m.d_model, 2 * inner + 2 * keys + m.heads),
            "conv": (channels, m.conv),
            "conv bias": (channels,),
            "A, D, dt bias": (3, m.heads),
            "norm": (inner,),
            "out": (inner, m.d_model),
        }, channels
    if kind == "gated-delta":
        channels = 2 * keys + inner
        return {
            "qkvz": (m.d_model, 2 * keys + 2 * inner),
            "ba": (m.d_model, 2 * m.heads),
            "conv": (channels, m.conv),
            "A, dt bias": (2, m.heads),
            "norm": (m.head_dim,),
            "out": (inner, m.d_model),
        }, channels
    if kind == "kda":
        channels = 2 * keys + inner
        return {
            "qkv": (m.d_model, channels),
            "conv": (channels, m.conv),
            "beta": (m.d_model, m.heads),
            "decay down": (m.d_model, m.head_dim),
            "decay up": (m.head_dim, keys),
            "gate down": (m.d_model, m.head_dim),
            "gate up": (m.head_dim, inner),
            "A": (m.heads,),
            "dt bias": (keys,),
            "norm": (m.head_dim,),
            "out": (inner, m.d_model),
        }, channels
    return {
        "qkv": (m.d_model, 2 * keys + inner),
        "gate": (m.d_model, inner),
        "norm": (inner,),
        "out": (inner, m.d_model),
    }, 0


def product(sizes: tuple[int, ...]) -> int:
    total = 1
    for size in sizes:
        total *= size
    return total


@pytest.mark.parametrize("kind", KINDS)
@given(mixer=mixers)
def test_a_mixer_is_the_sum_of_its_matrices(kind: str, mixer: Mixer) -> None:
    weights, channels = matrices(kind, mixer)
    state = state_of(kind, mixer)
    assert state.params == sum(map(product, weights.values()))
    heads = mixer.heads * mixer.head_dim * mixer.key_dim
    assert state.values == heads + (mixer.conv - 1) * channels


def test_lightning_attention_of_minimax() -> None:
    """456 billion parameters and 45.9 active, embeddings apart (minimax2025text01).

    Seven of eight layers keep a matrix of 128 x 128 for each of 64 heads and no cache.
    """
    model = shape("minimax-text-01")
    assert (model.state_layers, model.state_values) == (70, 64 * 128 * 128)
    out = calculate("params", model="minimax-text-01")
    assert out["total"] == pytest.approx(456e9, rel=5e-4)
    assert out["active"] - out["embedding"] == pytest.approx(45.9e9, rel=2e-3)
    cache = calculate("kv-cache", model="minimax-text-01", seq=2**20)
    assert cache["bytes"] == 10 * 2 * 8 * 128 * 2 * 2**20 + 70 * 64 * 128 * 128 * 4
    assert cache["state_bytes"] == 70 * 64 * 128 * 128 * 4


# Published totals, and how nearly the shape gives each: nearer than the mixers are large, so that
# a mixer counted wrong by half would show.
PUBLISHED = {
    "qwen-3.5-27b": ("gated-delta", 27e9, 0.004),
    "qwen-3-next-80b-a3b": ("gated-delta", 80e9, 0.005),
    "kimi-k3": ("kda", 2.8e12, 0.01),
    "nemotron-h-56b": ("mamba2", 56e9, 0.006),
    "nemotron-3-ultra-550b-a55b": ("mamba2", 550e9, 0.002),
    "granite-4.0-h-small": ("mamba2", 32.188252160e9, 0.002),
    "jamba-52b": ("mamba", 52e9, 0.009),
    "minimax-m1": ("lightning", 456e9, 0.0005),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_mixers_hold_to_published_totals(name: str) -> None:
    """Sources stand with the models; Granite's exact count is that of its configuration file."""
    kind, total, tolerance = PUBLISHED[name]
    assert shape(name).size("state_kind") == kind
    out = calculate("params", model=name)
    assert out["total"] == pytest.approx(total, rel=tolerance)
    if kind != "kda":
        assert out["states"] / out["total"] > 2 * tolerance


def test_every_kind_of_mixer_has_a_model() -> None:
    assert {kind for kind, _, _ in PUBLISHED.values()} == set(KINDS)
