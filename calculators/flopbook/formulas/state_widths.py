"""What recurrent states in 16 bits would save, of the answers that count them in 32."""

from flopbook.formulas.declaration import Constant
from flopbook.formulas.layer_kinds import READ_AND_WRITTEN
from flopbook.formulas.omissions import omission
from flopbook.quantities.ops import inf, maximum, where

IN_16_BITS = Constant(2.0, "byte", "a value of a state in 16 bits")


@omission(
    "recurrent states are counted in fp32 (--bytes-per-state 4); an engine that keeps them in 16 "
    "bits, --bytes-per-state 2, holds less ({size})",
    of="bytes",
)
def states_in_16_bits(
    batch: float,
    state_layers: float,
    state_values: float,
    bytes_per_state: float,
    bytes: float,
) -> float:
    """mamba_ssm_cache_dtype of vLLM is float32 or float16, by the config of the model if open."""
    narrowed = maximum(bytes_per_state - IN_16_BITS, 0 * bytes_per_state)
    return -batch * state_layers * state_values * narrowed / bytes


@omission(
    "recurrent states are counted in fp32 (--bytes-per-state 4); an engine that keeps them in 16 "
    "bits, --bytes-per-state 2, reads and writes less ({size})",
    of="seconds",
)
def narrow_states_of_a_step(
    batch: float,
    state_layers: float,
    state_values: float,
    bytes_per_state: float,
    bandwidth: float,
    tp: float,
    dp: float,
    ep: float,
    chips: float,
    seconds: float,
) -> float:
    """Each chip moves the states of its share of the heads and sequences twice."""
    narrowed = maximum(bytes_per_state - IN_16_BITS, 0 * bytes_per_state)
    given = where(tp < inf, tp, 1) * where(dp < inf, dp, ep)
    sharing = where(chips < inf, chips, given)
    moved = READ_AND_WRITTEN * batch * state_layers * state_values * narrowed / sharing
    return -moved / bandwidth / seconds


@omission(
    "recurrent states are counted in fp32 (--bytes-per-state 4); where an engine keeps them in 16 "
    "bits, --bytes-per-state 2, more sequences fit ({size})",
    of="batch_fits",
)
def narrow_states_of_a_batch(
    batch_runs: float,
    state_layers: float,
    state_values: float,
    bytes_per_state: float,
    tp: float,
    dp: float,
    ep: float,
    chips: float,
    weight_bytes: float,
    chip_bytes: float,
) -> float:
    """The room for caches over a sequence that is smaller by what its states save."""
    narrowed = maximum(bytes_per_state - IN_16_BITS, 0 * bytes_per_state)
    given = where(tp < inf, tp, 1) * where(dp < inf, dp, ep)
    sharing = where(chips < inf, chips, given)
    saved = batch_runs * state_layers * state_values * narrowed / sharing
    held = chip_bytes - weight_bytes
    return saved / where(held > saved, held - saved, inf)
