"""The rules of the data, one file each: every module has a NAME, and a `check` that yields what breaks it."""

from __future__ import annotations

from types import ModuleType

from flopbook.rules import (
    agreement,
    binary,
    clock,
    community,
    dates,
    inferred,
    intensity,
    links,
    names,
    needed,
    parts,
    ranges,
    sources,
    sparsity,
    stacks,
    stray,
    topic,
    total,
    two_way,
    vendors,
    verdict,
)

RULES: tuple[ModuleType, ...] = (
    vendors, sources, parts, names, topic, verdict, stray, agreement,
    needed, community, dates, total, sparsity, clock, links, two_way, stacks, ranges, binary, inferred, intensity,
)  # fmt: skip
