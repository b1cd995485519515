"""Which number format each tensor of an answer has."""

from __future__ import annotations

from collections.abc import Mapping

from flopbook.evaluation.request import Request, flag
from flopbook.evaluation.results import DEFAULT, GIVEN, Value
from flopbook.quantities.dtypes import OPTIONS

# The tensors as a sentence names them, by the option that sets their format. The state of the
# optimizer is in fp32 whatever the format: no reader expects otherwise.
TENSORS = {
    "weight_dtype": "weights",
    "compute_dtype": "products",
    "kv_dtype": "KV cache",
    "activation_dtype": "activations",
    "grad_dtype": "gradients",
    "dispatch_dtype": "tokens sent to experts",
}

BY_RULE = "{dtype} by its rule leaves {tensors} in {kept}"


def formats_used(request: Request, values: Mapping[str, Value]) -> dict[str, Value]:
    """The formats that filled an input, by their options."""
    used: dict[str, Value] = {}
    for option, filled in OPTIONS.items():
        for name, spec in request.formula.inputs.items():
            # A number that was typed belongs to no format that we know.
            if spec.dtype in filled and values[name].origin not in (GIVEN, DEFAULT):
                origin = _origin(option, request)
                used[option] = Value(request.format_of(spec.dtype), "", origin)
    return used


def _origin(option: str, request: Request) -> str:
    """Where a format comes from: typed, the file of a model, or the rule of `dtype`."""
    if option in request.options:
        return GIVEN
    if request.model and option in request.stored_formats:
        return request.model.id
    return f"rule of {request.dtype}"


def add_format_note(request: Request, values: Mapping[str, Value]) -> None:
    """Say for which tensors the format that was asked for does not hold, by its rule."""
    if "dtype" not in request.options:
        return
    tensors_of: dict[str, list[str]] = {}
    for option, used in formats_used(request, values).items():
        by_rule = option in TENSORS and option not in request.options
        if by_rule and used.value != request.dtype:
            tensors_of.setdefault(str(used.value), []).append(option)
    for dtype, options in tensors_of.items():
        tensors = ", ".join(TENSORS[option] for option in options)
        flags = ", ".join(flag(option) for option in options)
        sentence = BY_RULE.format(dtype=request.dtype, tensors=tensors, kept=dtype)
        request.notes.append(f"{sentence} ({flags})")
