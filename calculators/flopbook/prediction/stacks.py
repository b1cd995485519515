"""The software that ran: which stack the words of a run name."""

from __future__ import annotations

from flopbook.errors import UnknownName

# Stack -> words that name it in a row's software, strategy or source. The first that fits counts:
# Megatron-Core runs inside NeMo, and BLOOM's Megatron inside DeepSpeed.
WORDS = {
    "nemo": ("nemo", "bridge"),
    "torchtitan": ("titan",),
    "torchtune": ("torchtune",),
    "fsdp2": ("llm-foundry", "composer", "fms", "kempner", "fsdp2"),
    "maxtext": ("maxtext", "tpu-recipes", "tpurecipes"),
    "deepspeed": ("bigscience", "vtrain", "deepspeed"),
    "nanotron": ("nanotron",),
    "megatron-core": ("megatron", "narayanan", "korthikanti", "megascale", "primus", "mlperf"),
}
OTHER = "other"
# What serves models and does not train them.
SERVING_STACKS = ("vllm", "sglang", "tensorrt-llm", "gpt-fast")
STACKS = (*WORDS, OTHER)
# Engines and the words that name them; a row that names none has that of its publication.
ENGINES = {
    "tensorrt-llm": ("tensorrt-llm", "trt-llm", "trtllm"),
    "vllm": ("vllm",),
    "sglang": ("sglang", "sgl-"),
    "llama.cpp": ("llama.cpp", "llamacpp", "ggml"),
    "deepspeed": ("deepspeed",),
    "accelerate": ("accelerate", "transformers", "eager"),
    "fastertransformer": ("fastertransformer", "kipply"),
    "gpt-fast": ("gpt-fast", "gptfast"),
    "litgpt": ("litgpt",),
    "neuronx": ("neuron",),
    "optimum-habana": ("gaudi", "habana"),
}


def stack_named(text: str) -> str:
    """The stack that a text names, `other` where it names none that we know."""
    words = text.lower()
    for stack, names in WORDS.items():
        if any(name in words for name in names):
            return stack
    return OTHER


def named(option: str) -> str:
    """The name in `--stack NAME[@VERSION]`."""
    return option.partition("@")[0].strip().lower()


def chosen_stack(option: str) -> str:
    """The stack of `--stack NAME[@VERSION]`. Raises UnknownName with the nearest names."""
    name = named(option)
    if name in STACKS:
        return name
    stack = stack_named(name)
    if stack == OTHER:
        raise UnknownName("stack", name, STACKS)
    return stack


def engine_named(text: str) -> str:
    """The engine that a text names; empty where it names none that we know."""
    return next((name for name, words in ENGINES.items() if any(map(text.__contains__, words))), "")
