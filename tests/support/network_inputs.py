"""Inputs of the network calculators, for tests that every face of them must pass."""

from __future__ import annotations

from tests.support.network_draws import (
    Inputs,
    boundary_collective,
    boundary_cp,
    boundary_dp,
    boundary_ep,
    boundary_mixed,
    boundary_tp,
    random_collective,
    random_cp,
    random_dp,
    random_ep,
    random_fsdp,
    random_mixed,
    random_tp,
)

RANDOM = {
    "collective": random_collective,
    "dp-limit": random_dp,
    "fsdp-limit": random_fsdp,
    "tp-limit": random_tp,
    "mixed-limit": random_mixed,
    "cp-limit": random_cp,
    "ep-limit": random_ep,
}
BOUNDARY = {
    "collective": boundary_collective,
    "dp-limit": boundary_dp,
    "tp-limit": boundary_tp,
    "mixed-limit": boundary_mixed,
    "cp-limit": boundary_cp,
    "ep-limit": boundary_ep,
}
V5P = {"peak": 4.59e14, "link_bandwidth": 90e9, "links_per_axis": 2.0, "bytes_per_param": 2.0}
MIXTURE = {"experts": 256.0, "experts_per_token": 8.0}
# One call of each with every input given, whose working is checked step by step.
WORKED: dict[str, Inputs] = {
    "collective": {
        "bytes": 1e9,
        "chips": 512.0,
        "link_bandwidth": 9e10,
        "op": "all-reduce",
        "topology": "torus",
        "axes": 3.0,
        "links_per_axis": 2.0,
        "wrap": "yes",
        "side_x": 4.0,
        "side_y": 8.0,
        "latency": 1e-6,
        "chips_per_node": 8.0,
        "scaleout_bandwidth": 5e10,
    },
    "dp-limit": {**V5P, "axes": 3.0, "batch_tokens": 16e6, **MIXTURE, "scaleout_bandwidth": 6.25e9},
    "fsdp-limit": {
        **V5P,
        "axes": 3.0,
        "batch_tokens": 16e6,
        **MIXTURE,
        "scaleout_bandwidth": 6.25e9,
        "regather": "no",
    },
    "tp-limit": {**V5P, "axes": 3.0, "d_ff": 28672.0, "ffn_kind": "gated", "regather": "yes"},
    "mixed-limit": {
        **V5P,
        "axes": 3.0,
        "tensor_axes": 1.0,
        "batch_tokens": 48000.0,
        "chips": 64.0,
        "d_ff": 32768.0,
        "ffn_kind": "gated",
        **MIXTURE,
    },
    "cp-limit": {
        **V5P,
        "axes": 3.0,
        "heads": 64.0,
        "kv_heads": 8.0,
        "method": "ulysses",
        "causal": "yes",
        "seq": 131072.0,
    },
    "ep-limit": {
        **V5P,
        "axes": 3.0,
        **MIXTURE,
        "memory_bandwidth": 2.765e12,
        "expert_d_ff": 2048.0,
        "ffn_kind": "gated",
        "chips": 64.0,
        "d_model": 7168.0,
        "layers": 58.0,
    },
}
LINKS = ["--link-bandwidth", "90GB/s", "--scaleout-bandwidth", "50Gbit/s"]
COMMANDS = {
    "collective": [
        "--chip",
        "google/tpu-v5p",
        "--chips",
        "64",
        "--bytes",
        "1GB",
        "--op",
        "all-gather",
    ],
    "dp-limit": [
        "--chip",
        "google/tpu-v5p",
        "--batch-tokens",
        "16M",
        "--scaleout-bandwidth",
        "50Gbit/s",
    ],
    "fsdp-limit": ["--chip", "google/tpu-v5p", "--axes", "3", "--batch-tokens", "16M", *LINKS],
    "tp-limit": ["--chip", "google/tpu-v5p", "--axes", "1", "--d-ff", "28672"],
    "mixed-limit": [
        "--chip",
        "google/tpu-v5p",
        "--d-ff",
        "32768",
        "--chips",
        "64",
        "--batch-tokens",
        "48000",
    ],
}
COMMANDS |= {
    "cp-limit": ["--chip", "google/tpu-v5p", "--heads", "64", "--seq", "131072"],
    "ep-limit": ["--chip", "nvidia/h100-sxm", "--model", "deepseek-v3", "--layers", "58"],
}
LIMIT = {"tokens_per_chip": "token", "max_chips": "chip"}
OUTPUTS = {
    "collective": {"seconds": "s", "bytes_per_link": "byte", "bus_bandwidth": "byte/s"},
    "dp-limit": LIMIT,
    "tp-limit": {"max_ways": "chip"},
    "mixed-limit": LIMIT | {"x_opt": "1"},
    "cp-limit": LIMIT,
    "ep-limit": LIMIT,
}
# Nearly every step of these counts chips and tokens, and units see nothing of that: simulated
# networks and a search do.
COUNTED = ("collective", "mixed-limit")
# Products and quotients of pure counts in the others: no unit can tell times from over.
BLIND = {
    "0 / tokens_per_chip",
    "tokens_per_chip * 2 * 3",
    "tokens_per_chip / 2",
    "forward_tokens * (1 + sent) * 3",
    "forward_tokens * sent * 2",
    "forward_tokens / (1 + sent)",
    "forward_tokens / sent",
    "FLOP_PER_WEIGHT * matrices / d_ff",
    "FLOP_PER_WEIGHT / matrices",
    "forward_ways * 4 * sent",
    "forward_ways * 6 * (2 + sent)",
    "forward_ways / 4",
    "forward_ways / 6",
    "FLOP_PER_WEIGHT * network / heads",
    "forward_tokens * 2 * 5",
    "forward_tokens * 4 * 5",
    "forward_tokens * 4 * 7",
    "forward_tokens * 6 * 7",
    "forward_tokens / 2",
    "forward_tokens / 4",
    "forward_tokens / 6",
    "mask * bytes_per_param * peak / moved",
    "seq * forward_tokens",
    "shortest * ways",
    "4 * bytes_per_param * experts_per_token * d_model / layers",
    "4 * bytes_per_param * experts_per_token / d_model",
    "4 * bytes_per_param / experts_per_token",
    "4 * slack * axes",
    "4 / slack",
    "busy * experts * (experts_per_token * spread)",
    "busy / experts",
    "bytes_per_param * peak / 2",
    "expert_d_ff * least_width",
    "experts_per_token / spread",
    "side * side / side",
    "side / side",
}

# What people put into the forms: values by hand, from a chip, from a model, and every word of the
# choices.
STATES: dict[str, list[dict[str, str]]] = {
    "collective": [
        {"bytes": "1GB", "chips": "8", "chip": "nvidia/h100-sxm"},
        {"bytes": "1MB", "chips": "64", "chip": "google/tpu-v5p"},
        {
            "bytes": "32MiB",
            "chips": "4",
            "link-bandwidth": "45GB/s",
            "wrap": "no",
            "op": "all-gather",
        },
        {
            "bytes": "1GB",
            "chips": "32",
            "chip": "google/tpu-v5p",
            "topology": "torus",
            "axes": "2",
            "side-x": "4",
        },
        {
            "bytes": "1GB",
            "chips": "144",
            "chip": "nvidia/gb200-gpu",
            "topology": "two-level",
            "op": "all-to-all",
        },
        {
            "bytes": "1GB",
            "chips": "16",
            "link-bandwidth": "450GB/s",
            "topology": "two-level",
            "chips-per-node": "8",
        }
        | {"scaleout-bandwidth": "400Gbit/s", "op": "permute"},
        {
            "bytes": "1GB",
            "chips": "8",
            "chip": "nvidia/h100-sxm",
            "topology": "ring",
            "op": "reduce-scatter",
        },
    ],
    "dp-limit": [
        {"chip": "google/tpu-v5p", "batch-tokens": "16M"},
        {"chip": "nvidia/gb200-gpu", "model": "mixtral-8x7b"},
        {"peak": "459TFLOP/s", "link-bandwidth": "90GB/s", "scaleout-bandwidth": "50Gbit/s"},
    ],
    "tp-limit": [
        {"chip": "google/tpu-v5p", "axes": "1", "d-ff": "28672"},
        {"chip": "nvidia/h100-sxm", "model": "llama-3-70b", "ffn-kind": "gated", "regather": "yes"},
    ],
    "mixed-limit": [
        {"chip": "google/tpu-v5p", "d-ff": "32768", "chips": "64", "batch-tokens": "48000"},
        {"chip": "nvidia/h100-sxm", "model": "llama-3-70b", "ffn-kind": "gated"},
    ],
    "cp-limit": [
        {"chip": "nvidia/h100-sxm", "model": "llama-3-70b", "seq": "131072"},
        {"chip": "google/tpu-v5p", "heads": "32"},
        {
            "chip": "nvidia/h100-sxm",
            "heads": "64",
            "kv-heads": "8",
            "method": "ulysses",
            "causal": "yes",
            "seq": "1M",
        },
    ],
    "ep-limit": [
        {"chip": "nvidia/h100-sxm", "model": "deepseek-v3", "layers": "58"},
        {
            "chip": "google/tpu-v5p",
            "expert-d-ff": "4096",
            "experts": "64",
            "experts-per-token": "4",
            "ffn-kind": "plain",
        },
    ],
}
