"""The figure that a statement should have had, where that is of another level or type.

The page has the same functions in `docs/assets/flopbook/check/judging.js`; a test holds both equal.
"""

from __future__ import annotations

from flopbook.factcheck.amounts import amount
from flopbook.factcheck.facts import FiledFact
from flopbook.factcheck.matching import Look, Match, matches_of_others
from flopbook.factcheck.reading import StatedNumber
from flopbook.factcheck.words import SENTENCES


def other_level(statement: StatedNumber, departure: str, best: Match, look: Look) -> list[str]:
    """What one chip of the system has, or the system of the chip."""
    if departure == "per-node":
        ids = statement.chips if best.fact.aggregate == "domain" else best.subject.parts
    else:
        ids = statement.chips
    for name in ids:
        subject = look(name)
        for fact in subject.facts:
            if _is_alike(fact, best.fact):
                sentence = SENTENCES[departure].format(
                    part=subject.name, whole=subject.name, value=amount(statement, fact.value)
                )
                return [sentence]
    return []


def _is_alike(fact: FiledFact, other: FiledFact) -> bool:
    names = ("field", "dtype", "engine", "sparsity", "main")
    is_one = fact.aggregate in ("", "chip") and not fact.error
    return is_one and all(getattr(fact, name) == getattr(other, name) for name in names)


def other_type(statement: StatedNumber, best: Match, look: Look) -> list[str]:
    """The type of the memory, and a chip of the family that has as much of the stated one."""
    own = best.fact.type.partition(",")[0]
    stated = " or ".join(statement.memories)
    says = [SENTENCES["memory-type"].format(type=own, stated=stated)]
    others = matches_of_others(statement, best.subject, look)
    others = [one for one in others if one.fact.type and one.departures == ("other-chip",)]
    if others:
        nearest = min(others, key=lambda match: match.cost)
        says.append(SENTENCES["other-type"].format(chip=nearest.subject.name))
    return says
