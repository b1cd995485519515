"""The rules of the data, one file each: every module has a NAME, and a `check` that yields what breaks it."""

from __future__ import annotations

from types import ModuleType

from flopbook.rules import (
    accents,
    addresses,
    agreement,
    bibfields,
    binary,
    clock,
    community,
    dates,
    glossary,
    inferred,
    intensity,
    links,
    linkstates,
    names,
    needed,
    parts,
    people,
    ranges,
    sources,
    sparsity,
    stacks,
    stray,
    taught,
    thin,
    topic,
    total,
    two_way,
    typed,
    vendors,
    verdict,
    years,
)

RULES: tuple[ModuleType, ...] = (
    vendors, sources, parts, names, topic, verdict, taught, stray, agreement,
    needed, community, dates, total, sparsity, clock, links, two_way, stacks, ranges, binary, inferred, intensity,
    bibfields, people, years, addresses, accents, thin, linkstates, typed, glossary,
)  # fmt: skip
