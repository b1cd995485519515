"""Finds the facts that a statement may mean, and what separates each of them from it.

The page has the same functions in `docs/assets/flopbook/check/judging.js`; a test holds both equal.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import NamedTuple

from flopbook.factcheck import memories
from flopbook.factcheck.facts import FiledFact, Subject
from flopbook.factcheck.reading import StatedNumber
from flopbook.factcheck.words import (
    BINARY_FIELDS,
    CACHES,
    COSTS,
    FIELDS,
    FORGIVEN,
    RELATED,
    SHORTEST_PART,
    USUAL,
    VECTOR_FORMATS,
    WORD,
)

Look = Callable[[str], Subject]
LINKS = (
    "scaleup_bandwidth",
    "scaleout_bandwidth",
    "host_bandwidth",
    "chip_to_chip_bandwidth",
)


class Match(NamedTuple):
    """A fact that a statement may mean, and what separates the two."""

    subject: Subject
    fact: FiledFact
    departures: tuple[str, ...]
    cost: float
    share: float = 1.0
    is_custom: bool = False  # of powers of two, written in the decimal units that makers print


def matches(statement: StatedNumber, one: Subject, look: Look) -> list[Match]:
    """Facts with the stated value: of the chip, of systems that it is in, of chips in it."""
    around: list[tuple[Subject, tuple[str, ...]]] = [(one, ())]
    around += [(look(name), ("per-node",)) for name in one.within]
    around += [(look(name), ("per-chip",)) for name in one.parts]
    matched: list[Match] = []
    for subject, extra in around:
        for fact in subject.facts:
            matched += _match(statement, subject, fact, extra, one)
    return matched


def printed_matches(statement: StatedNumber, one: Subject, look: Look) -> list[Match]:
    """The matches without what was measured, unless the statement asks for that."""
    return [match for match in matches(statement, one, look) if "measured" not in match.departures]


def matches_of_others(statement: StatedNumber, one: Subject, look: Look) -> list[Match]:
    """Facts of other chips of the family that are what is stated, sparse or both ways at most."""
    matched: list[Match] = []
    for name in one.family:
        other_chip = look(name)
        for fact in other_chip.facts:
            matched += [
                match
                for match in _match(statement, other_chip, fact, ("other-chip",), other_chip)
                if set(match.departures) <= {"other-chip", *FORGIVEN}
            ]
    return matched


def _match(
    statement: StatedNumber,
    subject: Subject,
    fact: FiledFact,
    extra: tuple[str, ...],
    asked: Subject,
) -> list[Match]:
    """The fact as a match, if its value fits: as it is, in other units, or for several chips."""
    if fact.kind != statement.kind:
        return []
    how = _fit(statement, fact.value)
    share = 1.0
    if how is None and statement.times > 1 and not extra:
        share = float(statement.times)
        how = () if is_close(statement, fact.value * share) else None
    if how is None:
        return []
    is_custom = how == ("binary",) and fact.field in BINARY_FIELDS and not statement.binary
    how = () if is_custom else how
    departures = (*departures_of(statement, fact, asked, bool(extra)), *extra, *how)
    cost = sum(COSTS[name] for name in departures) + _tie(statement, fact, asked)
    return [Match(subject, fact, departures, cost, share, is_custom)]


def _fit(statement: StatedNumber, value: float) -> tuple[str, ...] | None:
    """How a value is the stated one: at once, with binary units, with bits; None if not at all."""
    if is_close(statement, value):
        return ()
    if statement.kind == "bytes":
        power = round(math.log(statement.factor) / math.log(1024 if statement.binary else 1000))
        ratio = (1000 / 1024) ** power if statement.binary else (1024 / 1000) ** power
        if ratio != 1 and is_close(statement, value / ratio):
            return ("binary",)
    if statement.kind == "flow":
        ratio = 8.0 if "bit" in statement.symbol else 0.125
        if is_close(statement, value / ratio):
            return ("bits",)
    return None


def is_close(statement: StatedNumber, value: float) -> bool:
    """Whether a value is the stated one, rounded, or cut off after its last digit."""
    over = value - statement.value
    is_rounded = abs(over) <= statement.slack * (1 + 1e-9)
    return is_rounded or 0 < over < statement.cut * (1 - 1e-9)


def rounds(statement: StatedNumber, value: float) -> bool:
    """Whether a number is a value to the last digit that it has, rounded or cut off."""
    over = value - statement.value
    half = statement.place / 2
    return abs(over) <= half * (1 + 1e-9) or 0 < over < statement.place * (1 - 1e-9)


def departures_of(
    statement: StatedNumber, fact: FiledFact, asked: Subject, is_elsewhere: bool
) -> tuple[str, ...]:
    """Each condition of a fact that a statement lacks or contradicts."""
    departures: list[str] = []
    if not _is_stated(statement, fact):
        departures.append("quantity")
    if fact.field.startswith("measured") and not statement.field.startswith("measured"):
        departures.append("measured")
    if fact.field == "peak":
        departures += _rate_departures(statement, fact, asked)
    if fact.field in LINKS:
        departures += _link_departures(statement, fact)
    is_node = fact.aggregate == "domain" and asked.kind in ("package", "card", "die")
    if is_node and not is_elsewhere and statement.scope != "node":
        departures.append("per-node")
    if fact.field in memories.FIELDS and not memories.is_type(statement.memories, fact.type):
        departures.append("memory-type")
    if fact.error:
        departures.append("error")
    return tuple(departures)


def _is_stated(statement: StatedNumber, fact: FiledFact) -> bool:
    """Whether a fact is of the quantity that is named; SRAM may be all the memory of a chip."""
    is_sram = statement.field == "sram" and fact.tier == "sram"
    is_cache = statement.field in CACHES and fact.field in CACHES
    return is_sram or is_cache or statement.field in ("", fact.field)


def _rate_departures(statement: StatedNumber, fact: FiledFact, asked: Subject) -> list[str]:
    departures: list[str] = []
    if not _is_format(statement, fact, asked):
        departures.append("format" if statement.formats else "open-format")
    if fact.engine == "vector" and not statement.vector and _has_matrix_rate(fact, asked):
        departures.append("vector")
    is_sparse = fact.sparsity not in ("", "dense", "unstated")
    if is_sparse and statement.sparsity != "sparse":
        departures.append("sparse")
    if fact.sparsity == "dense" and statement.sparsity == "sparse":
        departures.append("dense")
    return departures


def _has_matrix_rate(fact: FiledFact, asked: Subject) -> bool:
    """Whether a rate of the vector units is not what people mean: the matrix units have one."""
    return fact.dtype not in VECTOR_FORMATS and any(
        other.field == "peak" and other.engine != "vector" and other.dtype == fact.dtype
        for other in asked.facts
    )


def _is_format(statement: StatedNumber, fact: FiledFact, asked: Subject) -> bool:
    if statement.formats:
        accepted = {*statement.formats, *(n for f in statement.formats for n in RELATED.get(f, ()))}
        return fact.dtype in accepted
    usual = usual_format(statement, asked)
    alike = ("bf16", "fp16") if usual in ("bf16", "fp16") else (usual,)
    return fact.dtype in alike


def usual_format(statement: StatedNumber, asked: Subject) -> str:
    """What a rate without a format is taken for: int8 where it counts OP, else bf16 if there is."""
    held = {fact.dtype for fact in asked.facts if fact.field == "peak"}
    if statement.symbol.endswith("OP/s") and not statement.symbol.endswith("FLOP/s"):
        return "int8"
    return next((name for name in USUAL if name in held), USUAL[0])


def _link_departures(statement: StatedNumber, fact: FiledFact) -> list[str]:
    departures: list[str] = []
    if fact.direction == "both" and statement.direction != "both":
        departures.append("both-ways")
    if fact.direction == "one-way" and statement.direction == "both":
        departures.append("one-way")
    if fact.aggregate == "link" and statement.scope != "link":
        departures.append("per-link")
    return departures


def _tie(statement: StatedNumber, fact: FiledFact, asked: Subject) -> float:
    """Which of equally near facts is meant: the likelier quantity, the nearer value, the format."""
    distance = abs(statement.value - fact.value) / statement.value
    # Rounding alone never outweighs a reason below.
    penalty = FIELDS[fact.kind].index(fact.field) / 10 + min(distance, 0.05)
    if "unstated" in (fact.sparsity, fact.direction):
        penalty += 0.3
    if not fact.main:
        penalty += 0.4
    if fact.engine == "vector":
        penalty += 0.2
    if fact.field == "peak" and usual_format(statement, asked) not in ("", fact.dtype):
        penalty += 0.1
    # What is called as the statement says is meant before what is not.
    called = {word for word in re.findall(WORD, fact.name.lower()) if len(word) > SHORTEST_PART}
    if not called.isdisjoint(statement.parts):
        penalty -= 0.3
    # A source that names no direction says less than one that names both, if the value is the same.
    if fact.direction == "unstated" and fact.field in LINKS:
        penalty += 2.2
    return penalty
