"""Inputs for the calculators of rooflines, inference and clusters: random, edges, examples.

The tests of the faces and of the command line take them from here.
"""

from __future__ import annotations

import itertools
import math
import random
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from flopbook.formulas import get_formula
from flopbook.formulas.declaration import Formula, Input
from flopbook.hardware.chip import chip
from flopbook.quantities.ops import inf
from tests.support.generated_inputs import shared_heads

Inputs = dict[str, Any]
WIDTHS = (8.0, 4.0, 2.0, 1.0, 0.75, 0.5)
# Where the bounds of an input are wider than what anybody has: a range for its unit.
RANGES = {
    "FLOP/s": (1e9, 1e18),
    "byte/s": (1e8, 1e15),
    "byte": (1e9, 1e13),
    "param": (1e6, 1e13),
    "token": (1, 1e6),
    "W": (10, 1e4),
    "s": (1, 1e8),
    "m2": (0.1, 10),
    "USD/s": (1e-5, 1e-2),
    "m3/J": (1e-12, 1e-8),
    "chip": (1, 1e5),
    "1": (1, 1e3),
    "byte/param": (0.25, 8),
}


def log_uniform(rng: random.Random, low: float, high: float) -> float:
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def random_value(rng: random.Random, spec: Input, default: Any) -> Any:
    """Any value that an input may have; sometimes the limit that its default stands for."""
    if spec.choices:
        return rng.choice(spec.choices)
    if default in (0.0, inf) and rng.random() < 0.3:
        return default
    if spec.most == 64:
        return rng.choice([*WIDTHS, rng.uniform(0.1, 9)])
    low, high = RANGES.get(spec.unit, (1, 1e4))
    value = log_uniform(rng, max(low, spec.least), max(min(high, spec.most), spec.least))
    return float(round(value)) if spec.whole else value


def drawn(rng: random.Random, formula: Formula) -> Inputs:
    """Random inputs of a formula, without regard to its rules."""
    return {
        name: random_value(rng, spec, formula.defaults.get(name))
        for name, spec in formula.inputs.items()
    }


def mended(inputs: Inputs, rng: random.Random) -> Inputs:
    """The same, so that the rules between the inputs hold."""
    if inputs.get("op") in ("dot", "gemv", "decode"):
        inputs["m"] = 1.0
    if inputs.get("op") == "dot":
        inputs["n"] = 1.0
    if inputs.get("op") == "prefill":
        inputs["n"] += inputs["m"]
    if inputs.get("op") in ("dot", "gemv", "gemm"):
        inputs |= {"heads": 1.0, "kv_heads": inf}
    if "chunk_layers" in inputs:
        inputs |= layered(inputs, rng)
    if "layers" in inputs:
        inputs = served(divided(inputs, rng))
    if "expert_layers" in inputs:
        some = float(rng.randint(1, int(inputs["layers"])))
        inputs["expert_layers"] = rng.choice([inf, some])
    return inputs | shared_heads(inputs, rng)


def layered(inputs: Inputs, rng: random.Random) -> Inputs:
    """Kinds of layers that add up, each with a size; some take all that is left."""
    left = int(inputs["layers"])
    kinds: Inputs = {"state_layers": float(rng.randint(0, left // 2))}
    left -= int(kinds["state_layers"])
    for kind in ("chunk", "sparse", "compressed", "window"):
        kinds[f"{kind}_layers"] = float(rng.choice([0, rng.randint(0, left // 2)]))
        left -= int(kinds[f"{kind}_layers"])
    kinds["full_layers"] = rng.choice([inf, float(left)])
    # Of each kind that shares, a layer is left that owns its cache.
    full = kinds["full_layers"] if kinds["full_layers"] < inf else float(left)
    shared_full = rng.randint(0, max(int(full) - 1, 0))
    shared_windows = rng.randint(0, max(int(kinds["window_layers"]) - 1, 0))
    kinds["shared_window_layers"] = float(shared_windows)
    kinds |= {"shared_kv_layers": float(shared_full + shared_windows), "state_values": 1000.0}
    if rng.random() < 0.3:
        kinds |= {"window_layers": inf, "shared_kv_layers": 0.0, "shared_window_layers": 0.0}
    limits = dict.fromkeys(("window", "chunk", "selected_tokens"), float(rng.randint(1, 9999)))
    limits |= {"side_window": float(rng.randint(0, 300)), "compression": float(rng.randint(2, 128))}
    limits |= {"index_compression": float(rng.choice([1, 4]))}
    limits |= {
        "index_layers": rng.choice([inf, float(rng.randint(0, int(kinds["sparse_layers"])))])
    }
    return {name: value for name, value in {**kinds, **limits}.items() if name in inputs}


def divided(inputs: Inputs, rng: random.Random) -> Inputs:
    """Heads that divide over the chips that share them.

    Each head of keys and values on one of them, or on several.
    """
    chips = rng.randint(1, 64)
    keys = rng.choice(
        [chips * rng.randint(1, 4), *(n for n in range(1, chips + 1) if chips % n == 0)]
    )
    heads = chips * math.ceil(keys / chips) * rng.randint(1, 4)
    return inputs | {
        "tp": float(chips),
        "heads": float(heads),
        "kv_heads": float(keys) if inputs["kv_heads"] < inf else inf,
    }


def served(inputs: Inputs) -> Inputs:
    """A shape and weights that can be: a known head width, and all weights that parts belong to."""
    if inputs["head_dim"] == inputs["d_model"] == inf:
        inputs["head_dim"] = 128.0
    if inputs.get("prompt_tokens", inf) < inf:
        inputs["seq"] += inputs["prompt_tokens"]
    if "compute_params" in inputs:
        width = 0.0 if inputs["d_model"] == inf else inputs["d_model"]
        places = 0.0 if inputs["context"] == inf else inputs["context"]
        inputs["compute_params"] += (2 * inputs["vocab"] + places) * width
        inputs["params"] += inputs["compute_params"]
    if "experts" in inputs:
        inputs["experts"] += inputs["experts_per_token"]
        inputs |= laid_out(inputs["tp"], inputs["ep"], inputs["dp"])
        if inputs["batch"] < inf:
            inputs["batch"] += inputs["dp"] if inputs["dp"] < inf else inputs["ep"]
    return inputs


def laid_out(tp: float, ep: float, dp: float) -> Inputs:
    """Replicas that expert parallelism divides, and the chips that they need, or none said."""
    if dp == inf:
        return {"chips": inf}
    replicas = ep * (1 + dp % 4)
    return {"dp": replicas, "chips": tp * replicas if dp % 2 else inf}


def generator(name: str) -> Callable[[random.Random], Inputs]:
    """A generator of inputs that a calculator accepts."""
    return lambda rng: mended(drawn(rng, get_formula(name)), rng)


def edges(name: str, **values: tuple[Any, ...]) -> Callable[[], Iterator[Inputs]]:
    """The example of a calculator with every combination of these values."""

    def made() -> Iterator[Inputs]:
        for chosen in itertools.product(*values.values()):
            defaults = get_formula(name).defaults
            yield {**defaults, **EXAMPLE[name], **dict(zip(values, chosen, strict=True))}

    return made


def around(value: float) -> tuple[float, float, float]:
    """A double and its two neighbours."""
    return math.nextafter(value, 0), value, math.nextafter(value, inf)


MODEL: Inputs = {
    "params": 70e9,
    "compute_params": 40e9,
    "layers": 80.0,
    "heads": 64.0,
    "seq": 8192.0,
    "kv_heads": 8.0,
    "head_dim": 128.0,
    "d_model": 8192.0,
    "kv_lora_rank": 0.0,
    "qk_rope_head_dim": 0.0,
    "vocab": 128256.0,
    "tied_embeddings": "no",
    "bytes_per_param": 2.0,
    "bytes_per_kv": 1.0,
    "tp": 4.0,
}
CHIP = {"peak": 989.4e12, "bandwidth": 3.35e12}
EXAMPLE: dict[str, Inputs] = {
    "ridge-point": dict(CHIP),
    "arithmetic-intensity": {
        "k": 128.0,
        "op": "decode",
        "m": 1.0,
        "n": 8192.0,
        "heads": 64.0,
        "kv_heads": 8.0,
        "bytes_per_param": 2.0,
        "bytes_per_activation": 2.0,
        "bytes_per_result": 4.0,
        **CHIP,
    },
    "kv-cache": {
        "layers": 36.0,
        "heads": 32.0,
        "seq": 32768.0,
        "batch": 3.0,
        "kv_heads": 8.0,
        "head_dim": 128.0,
        "d_model": 4096.0,
        "kv_lora_rank": 0.0,
        "qk_rope_head_dim": 0.0,
        "window": 4096.0,
        "window_layers": 27.0,
        "bytes_per_kv": 2.0,
        "tp": 4.0,
    },
    "prefill": {**MODEL, **CHIP, "batch": 2.0},
    "decode": {
        **MODEL,
        **CHIP,
        "batch": 32.0,
        "experts": 64.0,
        "experts_per_token": 6.0,
        "ep": 4.0,
    },
    "serving": {
        **MODEL,
        **CHIP,
        "batch": 32.0,
        "memory": 80e9,
        "memory_share": 0.9,
        "price": 2 / 3600,
        "prompt_tokens": 4096.0,
        "answer_tokens": 500.0,
        "first": 0.3,
    },
    "speculative-decoding": {
        "acceptance": 0.8,
        "draft_tokens": 5.0,
        "draft_time": 0.05,
        "draft_flop": 0.02,
    },
    "cluster-power": {
        "power": 700.0,
        "chips": 16384.0,
        "pue": 1.1,
        "overhead": 575.0,
        "load": 0.8,
        "seconds": 86400.0,
        "water_per_joule": 5e-10,
        "chips_per_rack": 16.0,
        "rack_area": 0.6588,
        "floor_factor": 2.5,
    },
}
RANDOM = {name: generator(name) for name in EXAMPLE}
BOUNDARY: dict[str, Callable[[], Iterator[Inputs]]] = {
    "ridge-point": edges("ridge-point", peak=(1e-40, 1.0, 1e24), bandwidth=(1e-40, 1.0, 1e18)),
    "arithmetic-intensity": edges(
        "arithmetic-intensity",
        n=(1.0, 2.0, 1e12),
        kv_heads=(1.0, 64.0, inf),
        bytes_per_param=(0.01, 64.0),
        bytes_per_result=(0.5, inf),
        bandwidth=around(989.4e12 / 8),
        peak=(989.4e12, inf),
    ),
    "kv-cache": edges(
        "kv-cache",
        seq=(1.0, 4096.0, 4097.0),
        window=(1.0, 4096.0, 1e12),
        window_layers=(0.0, 34.0, inf),
        state_layers=(0.0, 2.0),
        state_values=(1000.0,),
        chunk=(4096.0, inf),
        kv_lora_rank=(0.0, 512.0),
        head_dim=(1.0, inf),
        tp=(1.0, 8.0, 16.0),
    ),
    "prefill": edges(
        "prefill",
        seq=(1.0, 2.0, 1e6),
        vocab=(0.0, 128256.0),
        tied_embeddings=("yes", "no"),
        d_model=(8192.0, inf),
        kv_lora_rank=(0.0, 512.0),
        compute_params=(70e9,),
    ),
    "decode": edges(
        "decode",
        batch=(4.0, 64.0, 1e6),
        ep=(1.0, 4.0),
        experts=(6.0, 7.0, 1e6),
        kv_lora_rank=(0.0, 512.0),
        vocab=(0.0, 128256.0),
        tied_embeddings=("yes", "no"),
    ),
    "serving": edges(
        "serving",
        batch=(1.0, 58.0, inf),
        memory=(*around(70e9 * 2 / 4 / 0.9), 80e9),
        seq=(1.0, 8192.0),
        kv_lora_rank=(0.0, 512.0),
        price=(2 / 3600, inf),
        answer_tokens=(1.0, inf),
        prompt_tokens=(1.0, inf),
        first=(0.3, inf),
    ),
    "speculative-decoding": edges(
        "speculative-decoding",
        acceptance=(1e-9, 0.5, 1.0, math.nextafter(1.0, 0)),
        draft_tokens=(1.0, 100.0),
        draft_time=(0.0, 1.0),
    ),
    "cluster-power": edges(
        "cluster-power",
        chips=(1.0, 16.0, 17.0),
        chips_per_rack=(1.0, 16.0, inf),
        seconds=(1.0, inf),
        overhead=(0.0,),
    ),
}
# The command line of each, and some of the outputs that it must give.
COMMANDS: dict[str, list[str]] = {
    "ridge-point": shlex.split("--chip nvidia/h100-sxm --dtype fp8"),
    "arithmetic-intensity": shlex.split(
        "--op gemm --m 512 --n 8192 --k 8192 --chip nvidia/h100-sxm"
    ),
    "kv-cache": shlex.split("--model llama-3-70b --seq 8192 --tp 8"),
    "prefill": shlex.split("--model llama-3-70b --chip nvidia/h100-sxm --tp 8 --seq 8192"),
    "decode": shlex.split(
        "--model mixtral-8x7b --chip nvidia/h100-sxm --tp 2 --batch 8 --seq 8192"
    ),
    "serving": shlex.split(
        "--model llama-3-8b --chip nvidia/h100-sxm --seq 8192 "
        "--price 2USD/h --answer-tokens 500 --first 0.3s --prompt-tokens 2000"
    ),
    "speculative-decoding": shlex.split("--acceptance 0.8 --draft-tokens 5"),
    "cluster-power": shlex.split(
        "--chip nvidia/h100-sxm --chips 16384 --pue 1.1 --chips-per-rack 16 "
        "--seconds 1day --water-per-joule 1.8L/kWh"
    ),
}
OUTPUTS = {
    "ridge-point": {"flop_per_byte": "FLOP/byte"},
    "arithmetic-intensity": {"flop": "FLOP", "bytes": "byte", "intensity": "FLOP/byte"},
    "kv-cache": {"bytes": "byte"},
    "prefill": {"seconds": "s", "bound": "1"},
    "decode": {"seconds": "s", "tokens_per_s": "token/s", "bound": "1"},
    "serving": {"batch_fits": "1", "tokens_per_s": "token/s"},
    "speculative-decoding": {"speedup": "1"},
    "cluster-power": {"watts": "W", "square_metres": "m2"},
}


def state(example: Mapping[str, str]) -> dict[str, str]:
    """An example as a form has it: a picker knows a chip by its id alone."""
    return {key: chip(value).id if key == "chip" else value for key, value in example.items()}


# States of their forms: the examples, and a mixture of what is picked and what is typed.
STATES = {name: [state(example) for example in get_formula(name).examples] for name in EXAMPLE}
STATES["arithmetic-intensity"].append({"op": "dot", "k": "1e6", "dtype": "fp8"})
STATES["kv-cache"].append({"model": "deepseek-v3", "seq": "4096", "dtype": "fp8", "tp": "8"})
STATES["decode"].append(
    {"model": "llama-3-8b", "seq": "2048", "peak": "989TFLOP/s", "bandwidth": "3.35TB/s"}
)
STATES["serving"].append(
    {"model": "llama-3-70b", "chip": "nvidia/h100-sxm", "seq": "4096", "price": "2USD/h"}
)


def near(name: str, answer: Mapping[str, Any]) -> dict[str, Any]:
    """An answer as JavaScript gives it: to the last bit, but for powers.

    The two libraries round those apart.
    """
    if name not in ("decode", "speculative-decoding"):
        return dict(answer)
    return {
        key: pytest.approx(value, rel=1e-12) if isinstance(value, float) else value
        for key, value in answer.items()
    }


# Calculators over counts, of which units see little: laws and published values test them.
COUNTED = tuple(EXAMPLE)
