"""What is switched off has no sizes: they may be anything and no answer changes."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.formulas import formulas, get_formula
from flopbook.quantities.ops import inf
from tests.formulas.test_least_sizes import contexts, numbers

# A mechanism that is off, and the inputs that only it reads.
OFF: tuple[tuple[dict[str, Any], tuple[str, ...]], ...] = (
    ({"kv_lora_rank": 0.0}, ("qk_nope_head_dim", "qk_rope_head_dim")),
    ({"state_layers": 0.0}, ("state_values", "state_layer_params")),
    (
        {"sparse_layers": 0.0},
        ("index_heads", "index_head_dim", "selected_tokens", "index_compression"),
    ),
    ({"sparse_layers": 0.0, "compressed_layers": 0.0}, ("side_window", "compression")),
    ({"chunk_layers": 0.0}, ("chunk",)),
    ({"window": inf}, ("window_kv_heads", "window_head_dim")),
    ({"shared_experts": 0.0}, ("shared_expert_d_ff",)),
    ({"experts": 1.0, "experts_per_token": 1.0, "dense_layers": 0.0}, ("expert_d_ff",)),
    ({"o_lora_rank": 0.0}, ("o_groups",)),
    ({"offload": "no"}, ("update_bytes",)),
    ({"offload_activations": "no"}, ("activations",)),
    ({"method": "full"}, ("rank",)),
    ({"chip_mtbf": 0.0}, ("restart",)),
)
CASES = [
    (id, number)
    for id, formula in formulas().items()
    for number, (off, sizes) in enumerate(OFF)
    if off.keys() <= formula.inputs.keys() and set(sizes) & formula.inputs.keys()
]


@pytest.mark.parametrize(("id", "number"), CASES)
def test_what_is_off_has_no_size(id: str, number: int) -> None:
    formula, (off, sizes) = get_formula(id), OFF[number]
    compared = 0
    for context in contexts(formula):
        given = {name: value for name, value in context.items() if name in formula.inputs}
        values = {**formula.defaults, **given, **off}
        base = numbers(formula, values)
        for name in set(sizes) & formula.inputs.keys():
            for size in (16.0, 4096.0):
                other = numbers(formula, {**values, name: size})
                if base is not None and other is not None:
                    assert other == pytest.approx(base, nan_ok=True), (name, size)
                    compared += 1
    assert compared
