"""Settings of a configuration that its architecture has no use for, though they change answers.

A file of an architecture that is read may be of a variant that is not: Llama with experts, say.
What it sets and nobody read is one line, since the answer would be that of another model.
"""

from __future__ import annotations

from typing import NamedTuple

from flopbook.architectures.config import Config, Inputs
from flopbook.architectures.config_layers import Layers


class Mechanism(NamedTuple):
    """The keys that set it above some number, and the inputs of `params` that hold it."""

    name: str
    keys: tuple[str, ...]
    held_by: tuple[str, ...]
    beyond: int = 0


EXPERTS = Mechanism(
    "experts",
    ("num_local_experts", "n_routed_experts", "num_experts", "moe_num_experts"),
    ("experts",),
    beyond=1,
)
LATENT = Mechanism("latent attention", ("kv_lora_rank",), ("kv_lora_rank",))
SPARSE = Mechanism("sparse attention", ("index_topk",), ("selected_tokens",))
WINDOWS = Mechanism("windowed layers", ("sliding_window",), ("window", "side_window"))
CHUNKS = Mechanism("chunked layers", ("attention_chunk_size",), ("chunk", "window"))
STATES = Mechanism(
    "recurrent layers",
    ("linear_num_value_heads", "ssm_state_size", "mamba_d_state", "mamba_num_heads"),
    ("state_kind",),
)


def refuse_unread(config: Config, known: Layers, inputs: Inputs) -> None:
    """Raise FlopbookError for the first mechanism that is set and was not read."""
    mechanisms = [LATENT, SPARSE]
    # Experts and windows may be there and switched off.
    if config.flag("enable_moe_block", True):
        mechanisms.append(EXPERTS)
    if not known.has_windows and config.flag("use_sliding_window", True):
        mechanisms.append(WINDOWS)
    if not known.chunk_period:
        mechanisms.append(CHUNKS)
    if known.state is None:
        mechanisms.append(STATES)
    for mechanism in mechanisms:
        if not set(mechanism.held_by) & inputs.keys():
            _refuse(config, mechanism)


def _refuse(config: Config, mechanism: Mechanism) -> None:
    for key in mechanism.keys:
        value = config.raw.get(key)
        if isinstance(value, int) and value > mechanism.beyond:
            raise config.wrong(
                f"{key} is {value}, but {config.raw['model_type']} is read without "
                f"{mechanism.name}; name another model_type or take it out"
            )
