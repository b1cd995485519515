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

from flopbook.architectures import compressed, counts, hybrids, mixtures
from flopbook.architectures.config import Config, Inputs, copy, copy_size, latent_attention
from flopbook.architectures.config_layers import Layers, read_layers
from flopbook.architectures.mechanisms import refuse_unread
from flopbook.architectures.nested import language_part
from flopbook.architectures.quantised import weight_format
from flopbook.architectures.shape import Shape
from flopbook.data.claims import OWN_FILE, Claim
from flopbook.data.files import TooLarge, read_bytes
from flopbook.data.models import Model
from flopbook.errors import FlopbookError, UnknownName, printable, shorten
from flopbook.formulas import params

MOST_BYTES = 4 * 2**20  # one that lists each matrix that it leaves wide has 3 MB

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
# Fields that a file may name twice only alike; some name a longest context for each use.
AGREEING = {field: keys for field, keys in KEYS.items() if field != "context"}
# What a reader of an architecture that is not read can do instead.
OPTIONS = "give the shape as options in place of the file, such as --layers, --d-model and --heads"
NEEDED = ("layers", "d_model", "heads", "vocab")
AT_LEAST_ONE = (*NEEDED, "kv_heads", "head_dim", "context")


def _experts_everywhere(config: Config, inputs: Inputs) -> None:
    """Experts in every layer, each as wide as the file says a block is."""
    inputs["expert_d_ff"] = config.need(*KEYS["d_ff"])
    del inputs["d_ff"]
    inputs["experts"] = config.need("num_local_experts", "num_experts")
    inputs["experts_per_token"] = config.need("num_experts_per_tok", "experts_per_token")


def _narrow_experts(config: Config, inputs: Inputs) -> None:
    """Narrow experts after some dense layers, mostly beside shared ones.

    A file of the same architecture that names no experts is of a dense model.
    """
    experts = config.number("n_routed_experts", "num_experts")
    if experts is None:
        return
    inputs["experts"] = experts
    inputs["expert_d_ff"] = config.need("moe_intermediate_size")
    inputs["experts_per_token"] = config.need("num_experts_per_tok")
    step = config.size("moe_layer_freq", "decoder_sparse_step") or 1
    if step > 1 or config.numbers("mlp_only_layers"):
        raise config.wrong(
            "layers with and without experts in turn are not read; give the numbers as options"
        )
    copy(config, ("n_shared_experts",), inputs, "shared_experts")
    copy(config, ("first_k_dense_replace",), inputs, "dense_layers")
    copy(config, ("shared_expert_intermediate_size",), inputs, "shared_expert_d_ff")
    if "shared_expert_d_ff" in inputs:  # a width of its own means a single one
        inputs["shared_experts"] = 1


def _llama4(config: Config, inputs: Inputs) -> None:
    """One shared expert beside the routed ones, in every layer or in every second one."""
    step = config.size("interleave_moe_layer_step") or 1
    inputs["expert_d_ff"] = config.need("intermediate_size")
    inputs["d_ff"] = config.need("intermediate_size_mlp")
    layers = config.need("num_hidden_layers")
    if step > layers:
        raise config.wrong(f"interleave_moe_layer_step is {step}, but there are {layers} layers")
    inputs["experts"] = config.need("num_local_experts")
    inputs["experts_per_token"] = config.need("num_experts_per_tok")
    inputs["shared_experts"] = 1
    listed = config.numbers("moe_layers")
    expert_layers = layers // step if listed is None else len(listed)
    if layers > expert_layers:
        inputs["dense_layers"] = layers - expert_layers


def _latent_experts(config: Config, inputs: Inputs) -> None:
    """Latent attention and narrow experts, as in DeepSeek-V2 and after."""
    _narrow_experts(config, inputs)
    latent_attention(config, inputs)


def _falcon(config: Config, inputs: Inputs) -> None:
    """One key head, or groups in the later design, which also has a second normalisation."""
    is_later = config.flag("new_decoder_architecture")
    if is_later:
        copy_size(config, ("num_kv_heads", "n_head_kv"), inputs, "kv_heads")
    elif config.flag("multi_query", True):
        inputs["kv_heads"] = 1
    has_one_norm = not is_later and config.flag("parallel_attn", True)
    inputs["norms_per_layer"] = 1 if has_one_norm else 2
    inputs["biases"] = "all" if config.flag("bias") else "none"
    inputs["positions"] = "alibi" if config.flag("alibi") else "rotary"


def _dbrx(config: Config, inputs: Inputs) -> None:
    """Sizes in two groups of their own."""
    experts = config.group("ffn_config")
    inputs["kv_heads"] = config.group("attn_config").need("kv_n_heads")
    inputs["expert_d_ff"] = experts.need("ffn_hidden_size")
    inputs["experts"] = experts.need("moe_num_experts")
    inputs["experts_per_token"] = experts.need("moe_top_k")


def _grouped_experts(config: Config, inputs: Inputs) -> None:
    """Narrow experts under grouped attention; a switch for normalised queries and keys."""
    _narrow_experts(config, inputs)
    inputs["qk_norm"] = "head" if config.flag("use_qk_norm") else "none"


class Architecture(NamedTuple):
    """What holds for all models of a `model_type` beyond the keys of the file."""

    words: Mapping[str, str | int] = {}
    tied: bool = False
    read_rest: Callable[[Config, Inputs], None] | None = None
    layers: Layers = Layers()
    width: int = 0  # feed-forward over model width, where the file need not say it
    vocab: int = 0  # where the file need not say it
    pairs: bool = False  # num_layers counts pairs of num_hidden_layers


# GPT-2 and the models that were built like it.
_EARLY = {"ffn": "plain", "biases": "all", "norm": "layer"}
_QWEN_NEXT = {"qk_norm": "head", "attention_gate": "yes"}


def every(period: int) -> Layers:
    """Full attention once in a period of layers with a window."""
    return Layers(period=period, needs_window=True)


ALL_WINDOWED = Layers(period=0)
LATE = Layers(late=True)
SPARSE = Layers(sparse=True)
_QWEN2 = Architecture({"biases": "qkv"}, layers=LATE)
DELTA = Layers(interval=4, state=hybrids.gated_delta)
ARCHITECTURES = {
    "gpt2": Architecture({**_EARLY, "positions": "learned"}, tied=True, width=4),
    "opt": Architecture({**_EARLY, "positions": "learned"}, tied=True),
    "bloom": Architecture({**_EARLY, "positions": "alibi"}, tied=True, width=4),
    "gpt_neox": Architecture(_EARLY),
    "gptj": Architecture({"ffn": "plain", "norm": "layer", "norms_per_layer": 1}, width=4),
    "falcon": Architecture(
        {"ffn": "plain", "norm": "layer"}, tied=True, read_rest=_falcon, width=4
    ),
    "llama": Architecture(),
    "mistral": Architecture(layers=Layers(period=0, needs_window=True)),
    "mixtral": Architecture(read_rest=_experts_everywhere, layers=ALL_WINDOWED),
    "qwen2": _QWEN2,
    "qwen2_vl": _QWEN2,
    "qwen2_vl_text": _QWEN2,
    "qwen2_5_vl": _QWEN2,
    "qwen2_5_vl_text": _QWEN2,
    "qwen2_moe": Architecture({"biases": "qkv"}, read_rest=_narrow_experts, layers=LATE),
    "qwen3": Architecture({"qk_norm": "head"}, layers=LATE),
    "qwen3_moe": Architecture({"qk_norm": "head"}, read_rest=_narrow_experts, layers=LATE),
    "qwen3_vl_text": Architecture({"qk_norm": "head"}, layers=LATE),
    "qwen3_vl_moe_text": Architecture({"qk_norm": "head"}, read_rest=_narrow_experts, layers=LATE),
    "qwen3_next": Architecture(_QWEN_NEXT, read_rest=_narrow_experts, layers=DELTA),
    "qwen3_5_text": Architecture(_QWEN_NEXT, layers=DELTA),
    "qwen3_5_moe_text": Architecture(_QWEN_NEXT, read_rest=_narrow_experts, layers=DELTA),
    "deepseek_v2": Architecture(read_rest=_latent_experts),
    "deepseek_v3": Architecture(read_rest=_latent_experts),
    "deepseek_v32": Architecture(read_rest=_latent_experts, layers=SPARSE),
    "deepseek_v4": Architecture(read_rest=compressed.deepseek_v4, layers=compressed.LAYERS),
    "glm_moe_dsa": Architecture(read_rest=_latent_experts, layers=SPARSE),
    "kimi_k2": Architecture(read_rest=_latent_experts),
    "kimi_linear": Architecture(read_rest=hybrids.kimi_linear, layers=hybrids.KIMI),
    "glm4_moe": Architecture(read_rest=_grouped_experts),
    "glm4_moe_lite": Architecture(read_rest=_latent_experts),
    "dots1": Architecture({"qk_norm": "head"}, read_rest=_narrow_experts, layers=LATE),
    "bailing_moe_v2": Architecture(read_rest=mixtures.bailing),
    "hunyuan": Architecture(tied=True, read_rest=mixtures.hunyuan),
    "hunyuan_v1_moe": Architecture(tied=True, read_rest=mixtures.hunyuan),
    "hunyuan_v1_dense": Architecture({"qk_norm": "head"}, tied=True),
    "longcat_flash": Architecture(read_rest=mixtures.longcat, pairs=True),
    "mimo": Architecture({"biases": "qkv"}, layers=LATE),
    "mimo_v2_flash": Architecture(read_rest=mixtures.mimo_flash, layers=mixtures.MIMO),
    "step3p5": Architecture({"qk_norm": "head"}, read_rest=mixtures.step, layers=mixtures.STEP),
    "step3p7": Architecture({"qk_norm": "head"}, read_rest=mixtures.step, layers=mixtures.STEP),
    "apertus": Architecture({"ffn": "plain", "qk_norm": "head"}),
    "gemma": Architecture(tied=True),
    "gemma2": Architecture({"norms_per_layer": 4}, tied=True, layers=every(2)),
    "gemma3_text": Architecture(
        {"norms_per_layer": 4, "qk_norm": "head"}, tied=True, vocab=262208, layers=every(6)
    ),
    "gemma4_text": Architecture(
        {"norms_per_layer": 4, "qk_norm": "head"},
        tied=True,
        read_rest=mixtures.gemma4,
        layers=every(6),
    ),
    "phi3": Architecture(layers=ALL_WINDOWED),
    "olmo": Architecture({"norm": "none"}),
    "olmo2": Architecture({"qk_norm": "full"}),
    "olmoe": Architecture({"qk_norm": "full"}, read_rest=_experts_everywhere),
    "olmo3": Architecture({"qk_norm": "full"}, layers=every(4)),
    "exaone4": Architecture({"qk_norm": "head"}, layers=every(4)),
    "smollm3": Architecture(tied=True, layers=LATE),
    "seed_oss": Architecture({"biases": "qkv"}),
    "ernie4_5_moe": Architecture(tied=True, read_rest=hybrids.ernie),
    "minimax_m2": Architecture({"qk_norm": "full"}, read_rest=_experts_everywhere),
    "minimax": Architecture(read_rest=_experts_everywhere, layers=hybrids.LIGHTNING),
    "minimax_text_01": Architecture(read_rest=_experts_everywhere, layers=hybrids.LIGHTNING),
    "minimax_m1": Architecture(read_rest=_experts_everywhere, layers=hybrids.LIGHTNING),
    "minimax_m3": Architecture(
        {"qk_norm": "head"}, read_rest=mixtures.minimax_m3, layers=mixtures.MINIMAX_M3
    ),
    "gpt_oss": Architecture({"biases": "all"}, read_rest=_experts_everywhere, layers=every(2)),
    "llama4_text": Architecture(read_rest=_llama4, layers=Layers(chunk_period=4)),
    "cohere": Architecture({"norms_per_layer": 1}, tied=True),
    "cohere2": Architecture({"norms_per_layer": 1}, tied=True, layers=every(4)),
    "nemotron_h": Architecture(
        {"ffn": "plain", "norms_per_layer": 1}, read_rest=hybrids.nemotron, layers=hybrids.NEMOTRON
    ),
    "granitemoehybrid": Architecture(tied=True, read_rest=hybrids.granite, layers=hybrids.MAMBA2),
    "bamba": Architecture(layers=hybrids.MAMBA2),
    "falcon_h1": Architecture(layers=hybrids.BESIDE),
    "jamba": Architecture(read_rest=hybrids.jamba, layers=hybrids.MAMBA),
    "dbrx": Architecture({"norm": "rms"}, read_rest=_dbrx),
}


def read_config(source: Path | Mapping[str, Any]) -> Model:
    """The model that a config.json or its content describes, its parameters counted.

    Raises FlopbookError.
    """
    config = _load(source) if isinstance(source, Path) else _config(dict(source), "config")
    fields: dict[str, Any] = dict(shape_of(config))
    stored = weight_format(config)
    if stored:
        fields["weight_dtype"] = stored
    kind = "moe" if "experts" in fields else "dense"
    shape = Shape(_model(config, kind, fields))
    try:
        counted = params(**counts.sizes(shape))
    except FlopbookError as error:
        raise config.wrong(str(error)) from None
    fields["params"] = counted["total"]
    if kind == "moe":
        fields["active_params"] = counted["active"]
    return _model(config, kind, fields)


def _model(config: Config, kind: str, fields: Mapping[str, Any]) -> Model:
    claims = tuple(_claim(field, value, config.file) for field, value in fields.items())
    summary = f"a model of the architecture {config.raw.get('model_type')}"
    return Model(config.file, kind, config.file, "", summary, claims)


def _claim(field: str, value: Any, file: str) -> Claim:
    """A claim that the file prints, or that follows from what it prints."""
    unit, basis = "count", "printed"
    if isinstance(value, str):
        unit = "none"
    elif field.endswith("params"):
        unit, basis = "param", "derived"
    return Claim(
        field, value, f"{OWN_FILE}{file}", datetime.date.today(), unit, basis=basis, locator=file
    )


def shape_of(config: Config) -> Inputs:
    """The inputs of `params` that a configuration holds. Raises FlopbookError."""
    name = config.raw.get("model_type")
    if not isinstance(name, str):
        raise config.wrong("no model_type; is it the config.json of a model?")
    if name in mixtures.UNREAD:
        raise config.wrong(f"{name} is not read, because of its {mixtures.UNREAD[name]}; {OPTIONS}")
    if config.flag("is_encoder_decoder"):
        raise config.wrong(f"models with an encoder (is_encoder_decoder) are not read; {OPTIONS}")
    if name not in ARCHITECTURES:
        raise UnknownName(f"model_type in {config.file}", name, ARCHITECTURES, OPTIONS)
    architecture = ARCHITECTURES[name]
    inputs = _sizes(config, architecture)
    is_tied = config.flag("tie_word_embeddings", architecture.tied)
    inputs["tied_embeddings"] = "yes" if is_tied else "no"
    inputs |= architecture.words
    switched_on = _biases(config)
    if "biases" not in architecture.words:
        inputs |= switched_on
    if architecture.read_rest:
        architecture.read_rest(config, inputs)
    elif "d_ff" not in inputs:
        config.need(*KEYS["d_ff"])  # raises
    inputs |= read_layers(config, architecture.layers, int(inputs["layers"]))
    refuse_unread(config, architecture.layers, inputs)
    blocks = int(inputs.get("ffn_layers", inputs["layers"]))
    dense = int(inputs.get("dense_layers", 0))
    if "experts" in inputs and dense == blocks:
        raise config.wrong(f"all {blocks} layers are dense, so none has its experts")
    return inputs


def _biases(config: Config) -> Inputs:
    """The biases that a file switches on. Raises FlopbookError."""
    in_attention, in_blocks = config.flag("attention_bias"), config.flag("mlp_bias")
    if in_blocks and not in_attention:
        raise config.wrong("mlp_bias without attention_bias is not read; take it out of the file")
    if not in_attention:
        return {}
    return {"biases": "all" if in_blocks else "qkv"}


def _sizes(config: Config, architecture: Architecture) -> Inputs:
    """The sizes that every architecture has; those that a file need not say follow from it."""
    sizes: Inputs = {}
    for field, keys in KEYS.items():
        take = copy_size if field in AT_LEAST_ONE else copy
        take(config, keys, sizes, field)
        if field in AGREEING and not (architecture.pairs and field == "layers"):
            _agree(config, keys)
    if architecture.vocab:
        sizes.setdefault("vocab", architecture.vocab)
    listed = config.raw.get("layers_block_type")
    if isinstance(listed, list) and listed:
        sizes.setdefault("layers", len(listed))
    for field in NEEDED:
        if field not in sizes:
            config.need(*KEYS[field])  # raises
    if architecture.width:
        sizes.setdefault("d_ff", architecture.width * int(sizes["d_model"]))
    return sizes


def _agree(config: Config, keys: tuple[str, ...]) -> None:
    """Names of one size that are all there say the same. Raises FlopbookError."""
    said = [(key, config.number(key)) for key in keys if config.number(key) is not None]
    for key, number in said:
        if number != said[0][1]:
            raise config.wrong(f"{said[0][0]} is {said[0][1]}, but {key} is {number}; keep one")


def _load(path: Path) -> Config:
    """The object in a file. Raises FlopbookError."""
    file = printable(shorten(path.name))
    if not path.is_file():
        shown = printable(shorten(path))
        raise FlopbookError(f"no file '{shown}'; give the config.json of a model")
    try:
        raw = json.loads(read_bytes(path, MOST_BYTES), object_pairs_hook=_group)
    except TooLarge:
        message = f"{file} is larger than 4 MiB, so it is no configuration"
        raise FlopbookError(message) from None
    # Broken JSON, text that is not UTF-8, numbers of many digits; brackets in brackets.
    except (ValueError, RecursionError, MemoryError) as error:
        raise FlopbookError(f"{file} is no JSON: {printable(shorten(error))}") from None
    if not isinstance(raw, dict):
        raise FlopbookError(f"{file} holds no object; a configuration is one")
    return _config(raw, file)


def _group(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; readers differ on which of two values under one name counts."""
    group = dict(pairs)
    if len(group) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"'{shorten(twice)}' stands there twice; keep one")
    return group


def _config(raw: dict[str, Any], file: str) -> Config:
    """A configuration, or the language part of one that has several."""
    known = {*ARCHITECTURES, *mixtures.UNREAD}
    return language_part(Config(raw, file), known, AGREEING)
