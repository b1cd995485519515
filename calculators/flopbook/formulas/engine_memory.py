"""Memory that an engine keeps beside weights and cache, which answers of inference leave out."""

from flopbook.formulas.declaration import Constant
from flopbook.formulas.omissions import omission
from flopbook.quantities.ops import inf, minimum, where

# gpu_memory_utilization of vLLM is 0.92 unless given (vllm2026cache).
ENGINE_RESERVE = Constant(0.08, "1", "share of the memory that vLLM leaves free")


@omission(
    "all memory is taken for weights and cache: vLLM leaves 8 % for activations and graphs, "
    "--memory-share 0.92 ({size})",
    of="batch_fits",
)
def memory_of_the_engine(
    memory: float, memory_share: float, weight_bytes: float, batch_fits: float
) -> float:
    """What it takes from the room of the cache; no share of the memory but all is the default."""
    room = memory * memory_share - weight_bytes
    kept = where(memory_share < 1, 0, ENGINE_RESERVE * memory)
    return where(batch_fits > 0, -minimum(kept / where(room > 0, room, memory), 1), 0)


@omission(
    "it fits, but vLLM leaves 8 % of the memory for activations and graphs, --memory-share 0.92, "
    "and then nothing is free ({size})",
    of="free",
)
def memory_of_the_runtime(memory: float, memory_share: float, free: float) -> float:
    """All that is free, where less is left than an engine keeps for itself."""
    kept = ENGINE_RESERVE * where(memory < inf, memory, 0)
    is_short = where(free > 0, where(free < kept, 1, 0), 0)
    return where(memory_share < 1, 0, -is_short)
