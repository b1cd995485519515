"""Reads the shape of a model from the config.json that Hugging Face models carry.

A configuration names its architecture (`model_type`); for each known one this says which words hold
that the file does not say (gated or plain, which biases) and where its experts stand. The file
comes from anywhere: it is read as JSON only, it has a size limit, and every number is checked. What
cannot be read is one line, never a guess.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from flopbook.data.claims import OWN_FILE, Claim
from flopbook.data.models import Model
from flopbook.errors import FlopbookError, UnknownName, printable, shorten
from flopbook.formulas import params

MOST_BYTES = 2**20
MOST = 10**9  # no size of a published model comes near; a larger number is a slip or an attack

# The names under which architectures write the same size; the first that is there counts.
KEYS = {
    "layers": ("num_hidden_layers", "n_layer", "num_layers", "n_layers"),
    "d_model": ("hidden_size", "n_embd", "n_embed", "d_model"),
    "heads": ("num_attention_heads", "n_head", "n_heads"),
    "vocab": ("vocab_size",),
    "d_ff": ("intermediate_size", "ffn_dim", "n_inner", "ffn_hidden_size"),
    "kv_heads": ("num_key_value_heads",),
    "head_dim": ("head_dim",),
    "context": ("max_position_embeddings", "n_positions", "n_ctx", "seq_length", "max_seq_len"),
}
NEEDED = ("layers", "d_model", "heads", "vocab")
LATENT = ("q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")

Shape = dict[str, int | str]


class Config:
    """A configuration with checked reading; every mistake names the file and the key."""

    def __init__(self, raw: Mapping[str, Any], file: str) -> None:
        self.raw, self.file = raw, file

    def wrong(self, problem: str) -> FlopbookError:
        """An error about this file."""
        return FlopbookError(printable(f"{self.file}: {problem}"))

    def number(self, *keys: str) -> int | None:
        """The first of some keys that is there: a whole number, zero and null as None."""
        for key in keys:
            value = self.raw.get(key)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST:
                raise self.wrong(
                    f"{key} is {shorten(json.dumps(value))}, expected a whole number up to {MOST:,}"
                )
            return value or None
        return None

    def need(self, *keys: str) -> int:
        """A number that must be there."""
        value = self.number(*keys)
        if value is None:
            raise self.wrong(f"no {' or '.join(keys)}, which its architecture needs")
        return value

    def flag(self, key: str, default: bool = False) -> bool:
        """True or false."""
        value = self.raw.get(key)
        if value is not None and not isinstance(value, bool):
            raise self.wrong(f"{key} is {shorten(json.dumps(value))}, expected true or false")
        return default if value is None else value

    def part(self, key: str) -> Config:
        """A group of settings inside the configuration."""
        value = self.raw.get(key)
        if not isinstance(value, dict):
            raise self.wrong(f"no group {key}, which its architecture needs")
        return Config(value, self.file)


def _every_layer(config: Config, shape: Shape) -> None:
    """Experts in every layer, each as wide as the file says a block is."""
    shape["expert_d_ff"] = config.need(*KEYS["d_ff"])
    del shape["d_ff"]
    shape["experts"] = config.need("num_local_experts", "num_experts")
    shape["experts_per_token"] = config.need("num_experts_per_tok", "experts_per_token")


def _fine_experts(config: Config, shape: Shape) -> None:
    """Narrow experts after some dense layers, mostly beside shared ones; all dense where none are
    named.
    """
    experts = config.number("n_routed_experts", "num_experts")
    if experts is None:
        return
    shape["experts"], shape["expert_d_ff"] = experts, config.need("moe_intermediate_size")
    shape["experts_per_token"] = config.need("num_experts_per_tok")
    step = config.number("moe_layer_freq", "decoder_sparse_step") or 1
    if step > 1 or config.raw.get("mlp_only_layers"):
        raise config.wrong(
            "layers with and without experts in turn are not read; give the numbers as options"
        )
    optional = {
        "shared_experts": config.number("n_shared_experts"),
        "dense_layers": config.number("first_k_dense_replace"),
        "shared_expert_d_ff": config.number("shared_expert_intermediate_size"),
    }
    shape.update({name: value for name, value in optional.items() if value})
    if "shared_expert_d_ff" in shape:
        shape["shared_experts"] = 1


def _llama4(config: Config, shape: Shape) -> None:
    """One shared expert beside the routed ones, in every layer or in every second one."""
    step = config.number("interleave_moe_layer_step") or 1
    expert, dense = config.need("intermediate_size"), config.need("intermediate_size_mlp")
    layers = config.need("num_hidden_layers")
    if step > layers:
        raise config.wrong(f"interleave_moe_layer_step is {step}, but there are {layers} layers")
    shape.update(
        experts=config.need("num_local_experts"),
        experts_per_token=config.need("num_experts_per_tok"),
    )
    shape.update(expert_d_ff=expert, d_ff=dense, shared_experts=1)
    if layers > layers // step:
        shape["dense_layers"] = layers - layers // step


def _latent_experts(config: Config, shape: Shape) -> None:
    """Latent attention and narrow experts, as in DeepSeek-V2 and after."""
    _fine_experts(config, shape)
    shape.update({key: value for key in LATENT if (value := config.number(key))})
    shape.pop("head_dim", None)  # some files repeat a part of the head here


def _falcon(config: Config, shape: Shape) -> None:
    """One key head, or groups in the later design, which also has a second normalisation."""
    later = config.flag("new_decoder_architecture")
    kv_heads = (
        config.number("num_kv_heads", "n_head_kv")
        if later
        else 1
        if config.flag("multi_query", True)
        else None
    )
    shape.update({"kv_heads": kv_heads} if kv_heads else {})
    shape["norms_per_layer"] = 2 if later or not config.flag("parallel_attn", True) else 1
    shape["biases"] = "all" if config.flag("bias") else "none"
    shape["positions"] = "alibi" if config.flag("alibi") else "rotary"


def _dbrx(config: Config, shape: Shape) -> None:
    """Sizes in two groups of their own."""
    experts = config.part("ffn_config")
    shape["kv_heads"] = config.part("attn_config").need("kv_n_heads")
    shape.update(
        expert_d_ff=experts.need("ffn_hidden_size"), experts=experts.need("moe_num_experts")
    )
    shape["experts_per_token"] = experts.need("moe_top_k")


def _grouped_experts(config: Config, shape: Shape) -> None:
    """Narrow experts under grouped attention; a switch for normalised queries and keys."""
    _fine_experts(config, shape)
    shape["qk_norm"] = "head" if config.flag("use_qk_norm") else "none"


class Architecture(NamedTuple):
    """What holds for all models of a `model_type` beyond the keys of the file."""

    words: Mapping[str, str | int] = {}
    tied: bool = False
    more: Callable[[Config, Shape], None] | None = None
    width: int = 0  # feed-forward over model width, where the file need not say it
    vocab: int = 0  # where the file need not say it


_OLD = {"ffn": "plain", "biases": "all", "norm": "layer"}
ARCHITECTURES = {
    "gpt2": Architecture({**_OLD, "positions": "learned"}, tied=True, width=4),
    "opt": Architecture({**_OLD, "positions": "learned"}, tied=True),
    "bloom": Architecture({**_OLD, "positions": "alibi"}, tied=True, width=4),
    "gpt_neox": Architecture(_OLD),
    "gptj": Architecture({"ffn": "plain", "norm": "layer", "norms_per_layer": 1}, width=4),
    "falcon": Architecture({"ffn": "plain", "norm": "layer"}, tied=True, more=_falcon, width=4),
    "llama": Architecture(),
    "mistral": Architecture(),
    "mixtral": Architecture(more=_every_layer),
    "qwen2": Architecture({"biases": "qkv"}),
    "qwen2_moe": Architecture({"biases": "qkv"}, more=_fine_experts),
    "qwen3": Architecture({"qk_norm": "head"}),
    "qwen3_moe": Architecture({"qk_norm": "head"}, more=_fine_experts),
    "deepseek_v2": Architecture(more=_latent_experts),
    "deepseek_v3": Architecture(more=_latent_experts),
    "kimi_k2": Architecture(more=_latent_experts),
    "glm4_moe": Architecture(more=_grouped_experts),
    "gemma": Architecture(tied=True),
    "gemma2": Architecture({"norms_per_layer": 4}, tied=True),
    "gemma3_text": Architecture({"norms_per_layer": 4, "qk_norm": "head"}, tied=True, vocab=262208),
    "phi3": Architecture(),
    "olmo": Architecture({"norm": "none"}),
    "olmo2": Architecture({"qk_norm": "full"}),
    "gpt_oss": Architecture({"biases": "all"}, more=_every_layer),
    "llama4_text": Architecture(more=_llama4),
    "cohere": Architecture({"norms_per_layer": 1}, tied=True),
    "dbrx": Architecture({"norm": "rms"}, more=_dbrx),
}


def read_config(source: Path | Mapping[str, Any]) -> Model:
    """The model that a config.json or its content describes, its parameters counted.

    Raises FlopbookError.
    """
    config = _load(source) if isinstance(source, Path) else _config(dict(source), "config")
    architecture = str(config.raw.get("model_type"))
    shape = shape_of(config)
    values: dict[str, Any] = dict(shape)
    try:
        counts = params(**{k: v for k, v in values.items() if k in params.inputs})
    except FlopbookError as error:
        raise config.wrong(str(error)) from None
    kind = "moe" if "experts" in shape else "dense"
    values |= {"params": counts["total"]} | (
        {"active_params": counts["active"]} if kind == "moe" else {}
    )
    claims = tuple(_claim(field, value, config.file) for field, value in values.items())
    return Model(
        config.file, kind, config.file, "", f"a model of the architecture {architecture}", claims
    )


def _claim(field: str, value: Any, file: str) -> Claim:
    unit = "none" if isinstance(value, str) else "param" if field.endswith("params") else "count"
    basis = "derived" if unit == "param" else "printed"
    return Claim(
        field, value, f"{OWN_FILE}{file}", datetime.date.today(), unit, basis=basis, locator=file
    )


def shape_of(config: Config) -> Shape:
    """The inputs of `params` that a configuration holds. Raises FlopbookError."""
    name = config.raw.get("model_type")
    if not isinstance(name, str):
        raise config.wrong("no model_type; is it the config.json of a model?")
    if name not in ARCHITECTURES:
        raise UnknownName(f"model_type in {config.file}", name, ARCHITECTURES)
    known = ARCHITECTURES[name]
    shape: Shape = {field: value for field, keys in KEYS.items() if (value := config.number(*keys))}
    if known.vocab:
        shape.setdefault("vocab", known.vocab)
    for field in NEEDED:
        if field not in shape:
            config.need(*KEYS[field])
    if known.width and "d_ff" not in shape:
        shape["d_ff"] = known.width * int(shape["d_model"])
    tied = config.flag("tie_word_embeddings", known.tied)
    shape |= {"tied_embeddings": "yes" if tied else "no", **known.words}
    if config.flag("attention_bias") and "biases" not in known.words:
        shape["biases"] = "qkv"
    if "d_ff" not in shape and known.more is None:
        config.need(*KEYS["d_ff"])
    if known.more:
        known.more(config, shape)
    return shape


def _load(path: Path) -> Config:
    """The object in a file. Raises FlopbookError."""
    file = printable(shorten(path.name))
    if not path.is_file():
        raise FlopbookError(
            f"no file '{printable(shorten(path))}'; give the config.json of a model"
        )
    with path.open("rb") as stream:
        data = stream.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise FlopbookError(f"{file} is larger than 1 MiB, so it is no configuration")
    try:
        raw = json.loads(data)
    except (
        ValueError,
        RecursionError,
    ) as error:  # broken JSON, text that is not UTF-8, numbers of many digits
        raise FlopbookError(f"{file} is no JSON: {printable(shorten(error))}") from None
    if not isinstance(raw, dict):
        raise FlopbookError(f"{file} holds no object; a configuration is one")
    return _config(raw, file)


def _config(raw: dict[str, Any], file: str) -> Config:
    """A configuration, or the language part of one that has several."""
    language = raw.get("text_config")
    if isinstance(language, dict) and str(raw.get("model_type")) not in ARCHITECTURES:
        kind = language.get("model_type", f"{raw.get('model_type')}_text")
        raw = {**raw, **language, "model_type": kind}
    return Config(raw, file)
