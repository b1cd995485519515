"""Decoders as they are measured: the sizes of one that can be built, and the work that is timed."""

from __future__ import annotations

from typing import NamedTuple

from flopbook.architectures.shape import Shape
from flopbook.errors import FlopbookError
from flopbook.prediction.transformers import BODY, Transformer, transformer

# What a decoder of full attention and gated FFNs has: name in a row -> field of the model.
_NAMES = BODY | {"d_ff": "d_ff", "vocab_size": "vocab"}
SIZES = tuple(_NAMES.values())
WORK = ("step", "prefill", "decode")
# Training keeps weights, their gradients and two moments in fp32, and multiplies in bf16.
TRAINED_BYTES = 16
SERVED_BYTES = 2


class Decoder(NamedTuple):
    """The sizes of a decoder of full attention and gated feed-forward layers, without biases."""

    layers: int
    d_model: int
    d_ff: int
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int
    tied: bool

    @property
    def shape(self) -> Transformer:
        """Its matrices and scores, as all predictions count them."""
        sizes = {name: getattr(self, field) for name, field in _NAMES.items()}
        return transformer({**sizes, "gated_ffn": True, "tied_embeddings": self.tied})

    @property
    def params(self) -> int:
        """Weights of all matrices and of the norms: two in a layer, one at the end."""
        return int(self.shape.parameters) + (2 * self.layers + 1) * self.d_model


class DecoderWork(NamedTuple):
    """One thing to time: a training step, the pass over a prompt, or one token a sequence.

    `tokens` are those of a sequence; when decoding, those that the cache holds.
    """

    kind: str
    sequences: int
    tokens: int
    recompute: bool = False


def decoder(model: Shape, layers: int | None = None) -> Decoder:
    """The sizes of a model, cut to so many layers.

    Raises FlopbookError for one that is no decoder of full attention and gated FFNs.
    """
    odd = _oddity(model)
    if odd is not None:
        raise FlopbookError(
            f"{model.id} has {odd}; measured are dense models of full attention and gated FFNs, "
            "such as llama-3.2-1b or qwen-3-8b"
        )
    sizes = {name: int(model.size(name)) for name in SIZES}
    if layers is not None:
        if layers > sizes["layers"]:
            raise FlopbookError(f"--layers is {layers}, but {model.id} has {sizes['layers']}")
        sizes["layers"] = layers
    return Decoder(tied=model.size("tied_embeddings") == "yes", **sizes)


def _oddity(model: Shape) -> str | None:
    """What keeps a model from being built, in words; None for one that can be."""
    if model.model.kind != "dense":
        return "experts"
    if model.claim("attention_pattern") is not None:
        return "layers of several kinds"
    if model.size("ffn") != "gated":
        return "FFNs that are not gated"
    missing = [name for name in SIZES if model.size(name) is None]
    return f"no {missing[0]} on record" if missing else None
