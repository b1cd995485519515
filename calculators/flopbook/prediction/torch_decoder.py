"""A decoder in plain PyTorch, to be timed: a training step, a prompt, or one token a sequence.

As people write it who use no framework: pre-norm blocks, rotary positions, grouped heads, fused
attention, blocks compiled on an accelerator, fused AdamW on fp32 weights with bf16 products.
Imports PyTorch, so it is imported only when a measurement asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from flopbook.prediction.decoders import Decoder, DecoderWork

ROTARY_BASE = 500_000.0


class DecoderBlock(nn.Module):  # type: ignore[misc]  # PyTorch is not there when types are checked
    """Attention and feed-forward of one layer, each behind a norm."""

    def __init__(self, sizes: Decoder) -> None:
        super().__init__()
        self.sizes = sizes
        width, head = sizes.d_model, sizes.head_dim
        self.attention_norm, self.ffn_norm = nn.RMSNorm(width), nn.RMSNorm(width)
        self.query = nn.Linear(width, sizes.heads * head, bias=False)
        self.keys = nn.Linear(width, sizes.kv_heads * head, bias=False)
        self.values = nn.Linear(width, sizes.kv_heads * head, bias=False)
        self.output = nn.Linear(sizes.heads * head, width, bias=False)
        self.gate = nn.Linear(width, sizes.d_ff, bias=False)
        self.up = nn.Linear(width, sizes.d_ff, bias=False)
        self.down = nn.Linear(sizes.d_ff, width, bias=False)

    def forward(self, x: Any, angles: Any, cache: Any = None) -> Any:
        """B x T x D in and out. A cache of keys and values takes the new ones at its end."""
        normed = self.attention_norm(x)
        query = _rotated(self._heads(self.query(normed)), angles)
        keys, values = self.keys_and_values(normed, angles)
        if cache is not None:
            cache[0][:, :, -1:], cache[1][:, :, -1:] = keys, values
            keys, values = cache
        grouped = self.sizes.kv_heads < self.sizes.heads
        mixed = functional.scaled_dot_product_attention(
            query, keys, values, is_causal=cache is None, enable_gqa=grouped
        )
        x = x + self.output(mixed.transpose(1, 2).flatten(2))
        normed = self.ffn_norm(x)
        return x + self.down(functional.silu(self.gate(normed)) * self.up(normed))

    def keys_and_values(self, normed: Any, angles: Any) -> tuple[Any, Any]:
        """What a cache holds of the tokens, B x H x T x D each."""
        keys = _rotated(self._heads(self.keys(normed)), angles)
        return keys, self._heads(self.values(normed))

    def _heads(self, x: Any) -> Any:
        """B x T x HD to B x H x T x D."""
        return x.unflatten(-1, (-1, self.sizes.head_dim)).transpose(1, 2)


class DecoderModel(nn.Module):  # type: ignore[misc]
    """Embedding, blocks, norm and head."""

    def __init__(self, sizes: Decoder, compiled: bool) -> None:
        super().__init__()
        self.embedding = nn.Embedding(sizes.vocab, sizes.d_model)
        self.blocks = nn.ModuleList(DecoderBlock(sizes) for _ in range(sizes.layers))
        self.norm = nn.RMSNorm(sizes.d_model)
        self.head = nn.Linear(sizes.d_model, sizes.vocab, bias=False)
        if sizes.tied:
            self.head.weight = self.embedding.weight
        if compiled:
            # What an earlier measurement compiled would count towards a limit of recompilations.
            torch.compiler.reset()
            for block in self.blocks:
                block.compile(dynamic=False)

    def forward(self, tokens: Any, angles: Any, caches: Any = None, recompute: bool = False) -> Any:
        """Logits of all tokens when training, else of the last one of each sequence."""
        x = self.embedding(tokens)
        for number, block in enumerate(self.blocks):
            cache = None if caches is None else caches[number]
            if recompute:
                x = checkpoint(block, x, angles, use_reentrant=False)
            else:
                x = block(x, angles, cache)
        if not self.training:
            x = x[:, -1:]
        return self.head(self.norm(x))


def decoder_call(
    sizes: Decoder, work: DecoderWork, place: str, compiled: bool
) -> Callable[[], Any]:
    """The work as a call without arguments, its model and its data ready on the device."""
    calls = {"step": _training_step, "prefill": _prefill, "decode": _decode}
    return calls[work.kind](sizes, work, place, compiled)


def _training_step(
    sizes: Decoder, work: DecoderWork, place: str, compiled: bool
) -> Callable[[], Any]:
    with torch.device(place):
        model = DecoderModel(sizes, compiled)
        tokens = torch.randint(sizes.vocab, (work.sequences, work.tokens + 1))
        angles = angles_of(sizes, torch.arange(work.tokens))
    fused = place != "cpu"
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=fused)

    def step() -> None:
        with torch.autocast(place.partition(":")[0], dtype=torch.bfloat16):
            logits = model(tokens[:, :-1], angles, recompute=work.recompute)
            loss = functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def _prefill(sizes: Decoder, work: DecoderWork, place: str, compiled: bool) -> Callable[[], Any]:
    model = _served(sizes, place, compiled)
    with torch.device(place):
        tokens = torch.randint(sizes.vocab, (work.sequences, work.tokens))
        angles = angles_of(sizes, torch.arange(work.tokens)).bfloat16()
    return _without_gradients(lambda: model(tokens, angles))


def _decode(sizes: Decoder, work: DecoderWork, place: str, compiled: bool) -> Callable[[], Any]:
    """One token of each sequence; on an accelerator as a recorded graph, as engines do."""
    model = _served(sizes, place, compiled)
    held = (work.sequences, sizes.kv_heads, work.tokens, sizes.head_dim)
    with torch.device(place):
        tokens = torch.randint(sizes.vocab, (work.sequences, 1))
        angles = angles_of(sizes, torch.tensor([work.tokens - 1])).bfloat16()
        caches = [
            (torch.randn(held).bfloat16(), torch.randn(held).bfloat16())
            for _ in range(sizes.layers)
        ]
    call = _without_gradients(lambda: model(tokens, angles, caches))
    return call if place == "cpu" else _recorded(call)


def _served(sizes: Decoder, place: str, compiled: bool) -> Any:
    with torch.device(place):
        return DecoderModel(sizes, compiled).bfloat16().eval()


def _without_gradients(act: Callable[[], Any]) -> Callable[[], Any]:
    def call() -> Any:
        with torch.no_grad():
            return act()

    return call


def _recorded(call: Callable[[], Any]) -> Callable[[], Any]:
    """A call as a graph of its kernels, which starts them without the processor."""
    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph.replay  # type: ignore[no-any-return]


def angles_of(sizes: Decoder, positions: Any) -> Any:
    """Cosines and sines of each position, 2 x T x D / 2."""
    powers = torch.arange(0, sizes.head_dim, 2) / sizes.head_dim
    turned = torch.outer(positions.float(), ROTARY_BASE**-powers)
    return torch.stack([turned.cos(), turned.sin()])


def _rotated(x: Any, angles: Any) -> Any:
    """Pairs of halves turned by the angle of their position."""
    cosine, sine = angles.to(x.dtype)
    left, right = x.chunk(2, -1)
    return torch.cat([left * cosine - right * sine, right * cosine + left * sine], -1)
