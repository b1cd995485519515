"""What a recurrent layer keeps of a sequence, and the parameters of its mixer, by its kind.

The state of every kind is a matrix for each head, between keys and values, and the inputs that the
convolution before it still needs, as engines lay them out. The projections around it differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple


class Mixer(NamedTuple):
    """Sizes of a recurrent mixer, in the words of the data."""

    d_model: int
    heads: int
    head_dim: int
    key_heads: int
    key_dim: int
    conv: int = 0
    rank: int = 0

    @property
    def keys(self) -> int:
        """Width of all keys; groups of Mamba-2 are its key heads."""
        return self.key_heads * self.key_dim

    @property
    def values(self) -> int:
        """Width of all values: the inner width of state-space models."""
        return self.heads * self.head_dim


class State(NamedTuple):
    """Numbers kept for a sequence, and parameters, of one layer."""

    values: int
    params: int


def _kept(mixer: Mixer, channels: int) -> int:
    """A matrix for each head, and the last inputs of the convolution."""
    matrices = mixer.heads * mixer.head_dim * mixer.key_dim
    return matrices + max(mixer.conv - 1, 0) * channels


def _mamba(mixer: Mixer) -> State:
    """Mamba: a state for each channel; steps and both projections follow from the input."""
    inner = mixer.values
    steps = inner * (mixer.rank + 2 * mixer.key_dim) + inner * (mixer.rank + 1)
    around = 3 * mixer.d_model * inner + inner * (mixer.conv + 1)
    # Decay and skip, and the normalisations of step and projections.
    small = inner * (mixer.key_dim + 1) + mixer.rank + 2 * mixer.key_dim
    return State(_kept(mixer, inner), around + steps + small)


def _mamba2(mixer: Mixer) -> State:
    """Mamba-2: one projection for gate, values, both groups of keys and steps; gated norm."""
    inner, channels = mixer.values, mixer.values + 2 * mixer.keys
    projected = mixer.d_model * (inner + channels + mixer.heads)
    small = channels * (mixer.conv + 1) + 3 * mixer.heads + inner
    return State(_kept(mixer, channels), projected + small + inner * mixer.d_model)


def _gated_delta(mixer: Mixer) -> State:
    """Gated delta net: queries, keys, values and gate; decay and step for each head."""
    channels = 2 * mixer.keys + mixer.values
    projected = mixer.d_model * (channels + mixer.values + 2 * mixer.heads)
    small = channels * mixer.conv + 2 * mixer.heads + mixer.head_dim
    return State(_kept(mixer, channels), projected + small + mixer.values * mixer.d_model)


def _kda(mixer: Mixer) -> State:
    """Kimi delta attention: decay for each channel and gate, both through a narrow matrix."""
    channels = 2 * mixer.keys + mixer.values
    narrow = mixer.d_model * 2 * mixer.head_dim + mixer.head_dim * (mixer.keys + mixer.values)
    projected = mixer.d_model * (channels + mixer.heads) + narrow
    small = channels * mixer.conv + mixer.heads + mixer.keys + mixer.head_dim
    return State(_kept(mixer, channels), projected + small + mixer.values * mixer.d_model)


def _lightning(mixer: Mixer) -> State:
    """Lightning attention: queries, keys, values, a gate and a normalised output."""
    projected = mixer.d_model * (2 * mixer.keys + 2 * mixer.values)
    return State(_kept(mixer, 0), projected + mixer.values + mixer.values * mixer.d_model)


KINDS: Mapping[str, Callable[[Mixer], State]] = {
    "mamba": _mamba,
    "mamba2": _mamba2,
    "gated-delta": _gated_delta,
    "kda": _kda,
    "lightning": _lightning,
}


def state_of(kind: str, mixer: Mixer) -> State:
    """The state of a recurrent layer of a kind.

    >>> state_of("lightning", Mixer(6144, 64, 128, 64, 128)).values
    1048576
    """
    return KINDS[kind](mixer)
