"""The rules of the data, one file each.

Every module has a `NAME`, and a `check` that takes the `Holdings` and yields a `Finding` for each
place that breaks the rule.
"""

from __future__ import annotations

from types import ModuleType

from flopbook.checks.rules import (
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
    placeholders,
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
    vendors,
    sources,
    parts,
    names,
    topic,
    verdict,
    taught,
    stray,
    agreement,
    needed,
    placeholders,
    community,
    dates,
    total,
    sparsity,
    clock,
    links,
    two_way,
    stacks,
    ranges,
    binary,
    inferred,
    intensity,
    bibfields,
    people,
    years,
    addresses,
    accents,
    thin,
    linkstates,
    typed,
    glossary,
)
