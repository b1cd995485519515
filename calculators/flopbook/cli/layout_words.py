"""A layout that was predicted, in the words of a line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flopbook.evaluation.answers import counted
from flopbook.planning.layout_words import layout_words


def words_of_layout(layout: Mapping[str, Any]) -> tuple[str, str]:
    """The degrees that were predicted, and the step that they make."""
    recomputed = layout["recompute_layers"]
    layers = f" in {counted(recomputed, 'layer')} of a stage" if recomputed else ""
    away = "" if layout["offload"] == "no" else f", {layout['offload']} on the host"
    away += ", activations on the host" if layout["offload_activations"] == "yes" else ""
    step = (
        f"{counted(layout['batch'], 'sequence')} of {layout['seq']:,} tokens a step, "
        f"micro-batch {layout['micro_batch']}, recompute {layout['recompute']}{layers}{away}"
    )
    return layout_words(layout), step
