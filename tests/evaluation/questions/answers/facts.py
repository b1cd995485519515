"""Published facts for the answers: values of chips, shapes of models as their files print them."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

import flopbook

MODELS = Path(__file__).parents[4] / "calculators" / "models"


@dataclass(frozen=True)
class Chip:
    """What a data sheet says of one chip, SI."""

    id: str

    def peak(self, dtype: str = "bf16", sparsity: str = "dense") -> float:
        """Peak rate of dense matrix products (FLOP/s)."""
        return float(flopbook.chip(self.id).peak(dtype, sparsity))

    @property
    def bandwidth(self) -> float:
        """Bandwidth of the memory (byte/s)."""
        return float(flopbook.chip(self.id).memory_bandwidth())

    @property
    def memory(self) -> float:
        """Size of the memory (byte)."""
        return float(flopbook.chip(self.id).memory())


@dataclass(frozen=True)
class State:
    """The recurrent mixer of a layer, by the words of its paper."""

    kind: str
    heads: int
    width: int
    key_heads: int
    key_width: int
    taps: int
    rank: int


@dataclass(frozen=True)
class Shape:
    """A transformer, by the words of its config file."""

    layers: int
    d_model: int
    heads: int
    vocab: int
    d_ff: int = 0
    kv_heads: int = 0
    head_dim: int = 0
    gated: bool = True
    tied: bool = False
    learned_positions: int = 0
    relative: bool = False
    biases: str = "none"
    norm: str = "rms"
    norms_per_layer: int = 2
    qk_norm: str = "none"
    experts: int = 1
    experts_per_token: int = 1
    expert_d_ff: int = 0
    expert_d_model: int = 0
    shared_experts: int = 0
    shared_d_ff: int = 0
    dense_layers: int = 0
    blocks: int = 0
    q_rank: int = 0
    kv_rank: int = 0
    nope: int = 0
    rope: int = 0
    v_dim: int = 0
    window: int = 0
    window_kv: int = 0
    window_width: int = 0
    chunk: int = 0
    selected: int = 0
    index_heads: int = 0
    index_width: int = 0
    index_per: int = 1
    per: int = 1
    beside: int = 0
    one_vector: bool = False
    out_rank: int = 0
    out_groups: int = 1
    gate: bool = False
    state: State | None = None
    pattern: tuple[str, ...] = field(default=())

    @property
    def width(self) -> int:
        """Width of a head."""
        return self.head_dim or self.d_model // self.heads

    @property
    def kv(self) -> int:
        """Heads of keys and values."""
        return self.kv_heads or self.heads

    def keys_of(self, kind: str) -> tuple[int, int, int]:
        """KV heads of a layer, and the widths of a key and of a value."""
        value = self.v_dim or self.width
        if kind != "window":
            return self.kv, self.width, value
        width = self.window_width or self.width
        return self.window_kv or self.kv, width, self.window_width or value

    def kinds(self) -> tuple[str, ...]:
        """What each layer is, from the first to the last."""
        return self.pattern or ("full",) * self.layers


@functools.cache
def claims(name: str) -> dict[str, Any]:
    """What a model file prints, by field; the first of several that is not a known error."""
    document = yaml.safe_load((MODELS / f"{name}.yaml").read_text("utf-8"))
    found: dict[str, Any] = {}
    for claim in document["claims"]:
        if not claim.get("known_error"):
            found.setdefault(claim["field"], claim["value"])
    return found


def spelled(pattern: str, layers: int) -> tuple[str, ...]:
    """The layers of `5 window, 1 full` or `2 x (1 full, 3 window), 1 full`, repeated to the end."""
    kinds: list[str] = []
    rest = pattern.strip()
    while rest:
        times = 1
        head, bracket, _ = rest.partition("(")
        if bracket and head.strip().endswith("x") and "," not in head:
            times = int(head.strip()[:-1])
            inner, _, rest = rest[len(head) + 1 :].partition(")")
            rest = rest.lstrip(", ")
        else:
            inner, _, rest = rest.partition(",")
            rest = rest.strip()
        group: list[str] = []
        for run in inner.split(","):
            count, kind = run.split()
            group += [kind] * int(count)
        kinds += group * times
    repeated = kinds * (layers // len(kinds) + 1)
    return tuple(repeated[:layers])


def mixer(said: dict[str, Any]) -> State | None:
    """The recurrent mixer of a model file, if it has one; heads of keys are those of values."""
    if "state_kind" not in said:
        return None
    heads, width = int(said["state_heads"]), int(said["state_head_dim"])
    key_heads, key_width = (said.get("state_key_heads", heads), said.get("state_key_dim", width))
    taps, rank = (int(said.get(key, 0)) for key in ("state_conv", "state_rank"))
    return State(str(said["state_kind"]), heads, width, int(key_heads), int(key_width), taps, rank)


def shape(name: str, **changes: Any) -> Shape:
    """The shape that a model file prints, with some numbers changed."""
    said = claims(name)

    def number(key: str, absent: int = 0) -> int:
        value = said.get(key, absent)
        return value if isinstance(value, int) else int(float(value))

    learned = said.get("positions") == "learned"
    given: dict[str, Any] = {
        "layers": number("layers"),
        "d_model": number("d_model"),
        "heads": number("heads"),
        "vocab": number("vocab"),
        "d_ff": number("d_ff"),
        "kv_heads": number("kv_heads"),
        "head_dim": number("head_dim"),
        "gated": said.get("ffn", "gated") == "gated",
        "tied": said.get("tied_embeddings") in (True, "yes"),
        "learned_positions": number("context") if learned else 0,
        "relative": said.get("positions") == "relative",
        "biases": said.get("biases", "none"),
        "norm": said.get("norm", "rms"),
        "norms_per_layer": number("norms_per_layer", 2),
        "qk_norm": said.get("qk_norm", "none"),
        "experts": number("experts", 1),
        "experts_per_token": number("experts_per_token", 1),
        "expert_d_ff": number("expert_d_ff"),
        "expert_d_model": number("expert_d_model"),
        "shared_experts": number("shared_experts"),
        "shared_d_ff": number("shared_expert_d_ff"),
        "dense_layers": number("dense_layers"),
        "blocks": number("ffn_layers"),
        "q_rank": number("q_lora_rank"),
        "kv_rank": number("kv_lora_rank"),
        "nope": number("qk_nope_head_dim"),
        "rope": number("qk_rope_head_dim"),
        "v_dim": number("v_head_dim"),
        "window": number("window"),
        "window_kv": number("window_kv_heads"),
        "window_width": number("window_head_dim"),
        "chunk": number("chunk"),
        "selected": number("selected_tokens"),
        "index_heads": number("index_heads"),
        "index_width": number("index_head_dim"),
        "index_per": number("index_compression", 1),
        "per": number("compression", 1),
        "beside": number("side_window"),
        "one_vector": said.get("key_is_value") in (True, "yes"),
        "out_rank": number("o_lora_rank"),
        "out_groups": number("o_groups", 1),
        "gate": said.get("attention_gate") in (True, "yes"),
    }
    given["state"] = mixer(said)
    if "attention_pattern" in said:
        given["pattern"] = spelled(str(said["attention_pattern"]), given["layers"])
    return Shape(**{**given, **changes})
