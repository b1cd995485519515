"""Which equations the cheat sheet shows, in which special case, and what their letters mean."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import NamedTuple

from flopbook.faces.special_cases import Given

_OPEN = math.inf  # a limit that is not given


class Shown(NamedTuple):
    """Equations of one calculator: outputs and steps by name, each with its words.

    `given` fixes inputs, so that a long formula shrinks to the case that people use; steps in
    `inline` are written out instead of named.
    """

    calculator: str
    names: dict[str, str]
    given: Given = MappingProxyType({})
    inline: tuple[str, ...] = ()


# Special cases, and the steps that are written out in them.
_DENSE: Given = {"experts": 1, "experts_per_token": 1}
# The plain decoder block: gated, rotary, RMS norm, untied, no biases.
_PLAIN: Given = {
    **_DENSE,
    "biases": "none",
    "ffn_kind": "gated",
    "kv_lora_rank": 0,
    "q_lora_rank": 0,
    **{"o_lora_rank": 0, "o_groups": 1, "key_is_value": "no"},
    **{"compressed_layers": 0, "index_compression": 1, "compression": 1},
    "positions": "rotary",
    "tied_embeddings": "no",
    "norm": "rms",
    "qk_norm": "none",
}
# Two links for each axis: a ring sends both ways at once.
_ONE_DOMAIN: Given = {"chips_per_node": _OPEN, "scaleout_bandwidth": _OPEN, "side_x": _OPEN}
_IDEAL: Given = {**_ONE_DOMAIN, "startup": 0, "level_overlap": "yes", "reduction": "chips"}
_RING: Given = {
    **_IDEAL,
    "topology": "torus",
    "axes": 1,
    "wrap": "yes",
    "ring_side": 1,
    "links_per_axis": 2,
}
# All chips within one scale-up domain.
_SWITCH: Given = {**_IDEAL, "topology": "switch"}
# A limit on the whole of one network.
_NETWORK: Given = {
    **{"topology": "torus", "wrap": "yes", "chips": _OPEN, "chips_per_node": _OPEN},
    **{"side_x": _OPEN, "side_y": _OPEN, "ring_side": 1},
}
_WHOLE: Given = {**_NETWORK, **_DENSE, "params": _OPEN, "active_params": _OPEN}
# What the shape of a slice comes to then.
_SLICE = (
    *("inside", "known", "dims", "root", "even", "twos", "fitting", "first", "rest", "half"),
    *("square", "pair", "halving", "second", "third", "whole_x", "whole_y", "whole_z", "cube"),
    *(
        "ring_x",
        "ring_y",
        "ring_z",
        "ways_x",
        "ways_y",
        "ways_z",
        "on_slice",
        "on_whole",
        "on_torus",
    ),
    *("peers", "lanes"),
)
# Steps of the collectives that vanish or shrink to a factor in these cases.
_WIRES = (
    *_SLICE,
    *("share", "gathered", "twice", "hops_x", "hops_y", "hops_z", "next_x", "next_y", "next_z"),
    *("crowd_x", "crowd_y", "crowd_z", "longest", "crowd", "hops", "to_next", "domains"),
    *("passed", "lacking", "direct", "on_axes", "at_port", "on_pairs", "chips_add"),
    *("switch_adds", "on_link", "across", "out", "on_axis", "one_hop", "along", "steps"),
    *("bytes_per_link", "within", "beyond"),
)
# Attention with grouped heads on one chip: no compressed cache, no window.
_CACHE: Given = {
    "kv_lora_rank": 0,
    "tied_embeddings": "yes",
    "vocab": 0,
    "qk_rope_head_dim": 0,
    "tp": 1,
    **dict.fromkeys(("window", "full_layers"), _OPEN),
    **dict.fromkeys(
        ("window_layers", "chunk_layers", "sparse_layers", "state_layers", "shared_kv_layers"), 0
    ),
    **dict.fromkeys(("shared_window_layers", "window_kv_heads", "window_head_dim"), 0),
    **dict.fromkeys(("v_head_dim", "index_heads", "index_head_dim", "state_values"), 0),
    **{"compressed_layers": 0, "side_window": 0, "index_layers": _OPEN, "key_is_value": "no"},
    **{"index_compression": 1, "compression": 1},
}
# One chip, which decoding, prefill and serving find from their layout.
_ONE_CHIP: Given = {"tp": 1, "dp": 1, "ep": 1, "chips": 1}
# Steps between heads and bytes, which the equations of inference write out.
_HEADS = (
    *(
        "beside",
        "open_layers",
        "windowed",
        "full",
        "head_size",
        "keys",
        "both",
        "grouped",
        "latent",
    ),
    *("window_keys", "window_both", "kv_width", "window_width", "cut_heads", "window_cut_heads"),
    *("in_window", "in_chunk", "selected", "owners", "window_owners", "whole", "kept_full"),
    *("kept_window", "kept_index", "kept_state", "full_on_chip", "on_chip", "kept"),
    *("kept_on_chip", "kept_state_on_chip", "growing", "met", "read_full", "read_window"),
    *("read_on_chip", "moved_state_on_chip", "absorbed", "score_width", "window_scores"),
    *(
        "scored",
        "scored_pairs",
        "token_work",
        "last_chunk",
        "whole_chunks",
        "full_pairs",
        "widened",
        "pair_width",
    ),
    *("window_pair", "score_work", "products"),
    *("shared", "groups", "replicas", "filled", "degree", "table", "lookup", "visits"),
    *("sequence_bytes", "sequence_states", "sequence_on_chip", "step_tokens", "chip_read"),
    *("untouched", "unvisited"),
    *("all_routed", "routed", "score_seconds", "chip_rate", "moved", "weights_of_chip", "room"),
    *("left_of_chip", "output", "chip_flops", "prompt_met", "step"),
    *("prompt_arithmetic", "prompt_products", "prompt_seconds"),
)
# What a letter counts or belongs to, where the term of the glossary alone would leave that open.
MEANS = {
    "reliability.chip_mtbf": "time between failures of a chip",
    "layers": "layers",
    "heads": "attention heads",
    "kv_heads": "key-value heads",
    "chips": "chips",
    "params": "parameters",
    "power": "power of a chip",
    "overhead": "power of its hosts",
    "microbatches": "micro-batches",
    "stages": "stages",
    "virtual": "chunks of each stage",
    "axes": "torus axes",
    "tensor_axes": "axes for tensor parallelism, the others for FSDP",
    "max-params.bytes_per_param": "bytes for a parameter",
    "prefill.peak": "peak of all chips that share the model",
    "prefill.bandwidth": "their memory bandwidth",
    "serving.memory": "their memory",
    "prefill.bytes_per_param": "width of a weight",
    "kv-cache.bytes_per_kv": "width of a cached value",
    "kv-cache.batch": "sequences at once",
    "draft_tokens": "drafted tokens",
    "draft_time": "time of one, in passes",
}

# In the order of the page; within a section the letters of an earlier equation keep their words.
SECTIONS: dict[str, tuple[Shown, ...]] = {
    "Rooflines": (
        Shown("ridge-point", {"flop_per_byte": "ridge point"}),
        Shown(
            "arithmetic-intensity",
            {
                "flop": "work of a matrix product",
                "bytes": "its bytes",
                "intensity": "intensity",
                "attainable_flop_per_s": "attainable rate",
            },
            {"op": "gemm", "bytes_per_activation": _OPEN, "bytes_per_result": _OPEN},
            ("product", "product_bytes"),
        ),
        Shown(
            "min-batch",
            {"tokens": "minimum batch", "tokens_exact": "with activations"},
            {"bytes_per_activation": _OPEN},
            ("slack",),
        ),
    ),
    "Models and training": (
        Shown(
            "params",
            {
                "attention": "attention",
                "ffn": "gated feed-forward",
                "embedding": "embedding and output",
            },
            _PLAIN,
            (
                *("grouped", "dense", "queries", "keys", "inner", "per_width", "head"),
                *("out_rows", "projected", "has_values", "widened_out"),
            ),
        ),
        Shown(
            "training-flops",
            {"flop": "rule of six", "attention": "scores beside it; causal: half"},
            {"v_head_dim": 0},
            ("flop_per_token", "head_width", "square"),
        ),
        Shown(
            "training-time",
            {"seconds": "time of a run", "joules": "energy"},
            {"counts": "mfu"},
            ("work", "flop", "rate", "busy"),
        ),
        Shown("max-params", {"params": "parameters that fit"}),
    ),
    "Collectives": (
        Shown(
            "collective",
            {
                "bandwidth_seconds": "all-gather, reduce-scatter on a ring",
                "latency_seconds": "empty message; the two add up",
            },
            {**_RING, "op": "all-gather"},
            _WIRES,
        ),
        Shown(
            "collective",
            {"bandwidth_seconds": "all-reduce on a ring"},
            {**_RING, "op": "all-reduce"},
            _WIRES,
        ),
        Shown(
            "collective",
            {"bandwidth_seconds": "all-gather at a switch"},
            {**_SWITCH, "op": "all-gather"},
            _WIRES,
        ),
        Shown(
            "collective",
            {"bandwidth_seconds": "all-to-all at a switch"},
            {**_SWITCH, "op": "all-to-all"},
            _WIRES,
        ),
    ),
    "Limits of parallelism": (
        Shown(
            "fsdp-limit",
            {
                "network": "all links of a chip",
                "forward_tokens": "FSDP, data: tokens per chip, at least",
                "pod_tokens": "tokens per pod, at least",
            },
            _WHOLE,
            (*_SLICE, "unit", "once", "dilution", "of_layer", "of_model"),
        ),
        Shown(
            "tp-limit",
            {"forward_degree": "tensor: TP degree, at most; gated: half more"},
            {**_NETWORK, "ffn_kind": "plain"},
            ("matrices", "per_rate"),
        ),
        Shown(
            "mixed-limit",
            {
                "intensity": "one link",
                "domain_tokens": "both: tokens per chip, at least",
                "best": "best FSDP degree",
            },
            # At a switch, so that the number of chips stays a letter.
            {name: one for name, one in _WHOLE.items() if name != "chips"}
            | {"topology": "switch", "ffn_kind": "plain"},
            (*_SLICE, "network", "unit", "width", "asked", "dilution", "of_layer", "of_model"),
        ),
        Shown(
            "cp-limit",
            {"domain_tokens": "context, ring, causal: tokens, at least"},
            {**_NETWORK, "method": "ring", "causal": "yes"},
            ("shortest", "per_rate", "ways", "moved", "mask", "keys"),
        ),
        Shown(
            "ep-limit",
            {"least_width": "gated expert: width, at least"},
            {**_NETWORK, "ffn_kind": "gated"},
            ("matrices", "least_bytes"),
        ),
    ),
    "Pipelines": (
        Shown(
            "bubble",
            {
                "work": "useful time",
                "idle": "idle time: GPipe, 1F1B",
                "fraction": "bubble",
                "peak_microbatches": "micro-batches held, 1F1B",
            },
            {"schedule": "1f1b"},
            ("back_inputs", "back_weights"),
        ),
        Shown(
            "bubble",
            {"idle": "interleaved"},
            {"schedule": "interleaved"},
            ("back_inputs", "back_weights"),
        ),
    ),
    "Inference": (
        Shown(
            "kv-cache",
            {"bytes_per_token": "KV cache of a token", "bytes": "of all sequences"},
            {**_CACHE, "chunk": _OPEN},
            _HEADS,
        ),
        Shown(
            "prefill",
            {
                "compute_seconds": "prefill: arithmetic",
                "weight_seconds": "weights read",
                "seconds": "time to first token",
            },
            {**_CACHE, **_DENSE, **_ONE_CHIP},
            _HEADS,
        ),
        Shown(
            "decode",
            {
                "compute_seconds": "decode: arithmetic",
                "kv_seconds": "cache read",
                "seconds": "a step; attention reads the cache",
            },
            {**_CACHE, **_DENSE, **_ONE_CHIP},
            _HEADS,
        ),
        Shown(
            "serving",
            {"batch_fits": "sequences that fit"},
            {**_CACHE, **_DENSE, **_ONE_CHIP},
            _HEADS,
        ),
        Shown(
            "speculative-decoding",
            {"tokens_per_step": "tokens per pass", "speedup": "speed-up"},
            {},
            ("missed",),
        ),
    ),
}
# Stands beside reliability, whose equations come from functions and not from a calculator.
FAILURES = Shown(
    "reliability",
    {"mtbf": "time between failures", "best_interval": "best checkpoint interval"},
)
POWER = Shown("cluster-power", {"it_watts": "power of the computers", "watts": "of the site"})
