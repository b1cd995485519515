"""The rule of `--dtype` as a table: the format of each tensor, and the bytes of a weight."""

from __future__ import annotations

from flopbook.quantities.dtypes import RULES, WIDTHS
from scripts.website.markup import Html, trusted

# Columns as engineers name them, by the tensor of the rule.
HEADS = {
    "weight": "Weights, serving",
    "trained": "Weights, training",
    "compute": "Products",
    "kv": "KV cache",
    "activation": "Activations",
    "grad": "Gradients",
    "optimizer": "Optimizer",
    "dispatch": "Tokens to experts",
}


def format_rules() -> Html:
    """A Markdown table with a row for each format that `--dtype` takes."""
    head = ("`--dtype`", *HEADS.values(), "Bytes a value")
    rows = [
        (f"`{name}`", *(getattr(rule, tensor) for tensor in HEADS), f"{WIDTHS[name]:g}")
        for name, rule in RULES.items()
    ]
    lines = [head, tuple("---" for _ in head), *rows]
    return trusted("\n".join(f"| {' | '.join(cells)} |" for cells in lines))
