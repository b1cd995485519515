"""A layout in the words of practitioners: TP 4, PP 4 with 10 chunks, DP 16 with ZeRO-1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flopbook.prediction.layouts import FSDP


def layout_words(layout: Mapping[str, Any]) -> str:
    """The degrees above one, with the chunks of a stage and what data parallelism shards."""
    words = [f"TP {layout['tp']}"] if layout["tp"] > 1 else []
    if layout["pp"] > 1:
        chunks = f" with {layout['virtual']} chunks" if layout["virtual"] > 1 else ""
        words.append(f"PP {layout['pp']}{chunks}")
    words += [f"{name.upper()} {layout[name]}" for name in ("cp", "ep") if layout[name] > 1]
    sharding = "FSDP (ZeRO-3)" if layout["zero"] == FSDP else f"ZeRO-{layout['zero']}"
    sharding += f" in {layout['hsdp']:,} groups" if layout["hsdp"] > 1 else ""
    if layout["dp"] > 1:
        words.append(f"DP {layout['dp']:,}" + (f" with {sharding}" if layout["zero"] else ""))
    elif layout["zero"]:
        words.append(sharding)
    return ", ".join(words) or "one chip"
