"""Holds a statement against the facts on file: which fact it is, what separates them, what to say.

The page has the same functions in `docs/assets/flopbook/check/judging.js`; a test holds both equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from flopbook.factcheck.amounts import amount, as_printed, exact
from flopbook.factcheck.facts import FiledFact, Subject
from flopbook.factcheck.matching import (
    LINKS,
    Look,
    Match,
    departures_of,
    is_close,
    matches,
    matches_of_others,
    printed_matches,
    rounds,
    usual_format,
)
from flopbook.factcheck.reading import StatedNumber
from flopbook.factcheck.remedies import other_level, other_type
from flopbook.factcheck.shorthand import in_words, meant
from flopbook.factcheck.words import (
    COSTS,
    DESCRIPTIONS,
    FIELDS,
    MOST_OWNERS,
    MULTIPLES,
    NEAREST_COST,
    PROBLEMS,
    QUANTITY_NAMES,
    SENTENCES,
)

MOST_ALSO = 3
MOST_EVIDENCE = 3
HALF = "2:4"  # sparsity that doubles the rate


class Judgement(NamedTuple):
    """What became of one statement.

    `verdict` is "holds", the weightiest departure (see `COSTS`), or "none" where nothing fits.
    `says` are the parts of the answer in order; `evidence` the facts behind it. `stated` is the
    number in SI units with the unit that it is short for, `value` what is on file.
    """

    holds: bool
    verdict: str
    chip: str
    says: tuple[str, ...]
    evidence: tuple[FiledFact, ...]
    stated: float
    value: float | None


def judge(statement: StatedNumber, look: Look) -> Judgement:
    """The finding on one statement; `look` gives what is on file of an id.

    Raises Unreadable for a number whose unit is cut short and may be several.
    """
    statement = meant(statement, look)
    subjects = [look(name) for name in statement.chips]
    # Facts of other chips are asked only where none of the chip itself fits: "that is the H200".
    # What somebody measured is rarely what a text means, so what is printed of these comes first.
    for search in (printed_matches, matches_of_others, matches):
        matched = [(one, search(statement, one, look)) for one in subjects]
        matched = [(one, candidates) for one, candidates in matched if candidates]
        if matched:
            # A name such as Hopper is that of several chips: the one that fits best is meant, of
            # equals the one of which most is on file.
            asked, own = min(matched, key=lambda pair: (_least(pair[1]), -len(pair[0].facts)))
            return _found(statement, asked, own, look)
    missed = _not_found(statement, max(subjects, key=lambda one: len(one.facts)))
    return missed._replace(says=(*missed.says, *_of_others_named(statement, look)))


def owners(statement: StatedNumber, ids: Iterable[str], look: Look) -> str:
    """The chips of which a number without one holds as it is, in words; empty for none."""
    ranked: list[tuple[float, str, str]] = []
    for owner in map(look, ids):
        own_matches = [match for match in matches(statement, owner, look) if match.subject is owner]
        best = min(own_matches, key=lambda match: match.cost, default=None)
        if best is not None and "error" not in best.departures:
            ranked.append((round(best.cost, 9), _described(best), owner.name))
    groups: dict[str, list[str]] = {}
    for _, quantity, chip in sorted(ranked):
        groups.setdefault(quantity, []).append(chip)
    shown = [*groups.items()][:MOST_OWNERS]
    return "; ".join(f"{quantity} of {', '.join(chips[:MOST_OWNERS])}" for quantity, chips in shown)


def of_anybody(statements: Sequence[StatedNumber], ids: Iterable[str], look: Look) -> str:
    """What is said of a text without a chip: of which chips its first number is."""
    for statement in statements[:1]:
        for reading in statement.readings or (statement,):
            if named := owners(reading, ids, look):
                return PROBLEMS["anybody"].format(value=in_words(reading), owners=named)
    return PROBLEMS["chip"]


def _least(candidates: Sequence[Match]) -> float:
    """The cost of the nearest match, to nine digits: ties are ties in a browser too."""
    return round(min(match.cost for match in candidates), 9)


# What is said.


def _found(
    statement: StatedNumber, asked: Subject, candidates: Sequence[Match], look: Look
) -> Judgement:
    best = min(candidates, key=lambda match: match.cost)
    weighty = max(best.departures, key=lambda name: COSTS[name], default="")
    says = [_main_sentence(statement, asked, best)]
    for name in best.departures:
        says += _remedy(statement, name, best, look)
    says += _shown(statement, best)
    says += [SENTENCES["custom"].format(value=exact(best.fact))] if best.is_custom else []
    says += _unsaid(best.fact)
    says += _also(statement, best, candidates)
    evidence = [match.fact for match in candidates if _same(match, best)]
    return Judgement(
        not best.departures,
        weighty or "holds",
        best.subject.id,
        tuple(says),
        tuple(evidence[:MOST_EVIDENCE]),
        statement.value,
        best.fact.value,
    )


def _main_sentence(statement: StatedNumber, asked: Subject, best: Match) -> str:
    stated = amount(statement, statement.value)
    filed = best.fact.value * best.share
    value = amount(statement, filed)
    key = _main_key(statement, best, differs=stated != value)
    description = _described(best)
    if key == "error" and best.fact.note:
        description = f"{description}; {best.fact.note}"
    chip = best.subject.name if key == "other-chip" else asked.name
    return SENTENCES[key].format(
        chip=chip,
        asked=asked.name,
        stated=stated,
        value=value,
        what=description,
        off=_off(statement.value, filed),
    )


def _off(stated: float, filed: float) -> str:
    """How far two values are from each other: 0.01 %."""
    return f"{100 * abs(stated - filed) / filed:.1g} %"


def _main_key(statement: StatedNumber, best: Match, *, differs: bool) -> str:
    """Which sentence says the finding; `differs`: the two figures are not printed alike."""
    if "other-chip" in best.departures:
        return "other-chip"
    if best.fact.error:
        return "error"
    # Binary prefixes and bits explain another figure, so nothing was rounded there.
    explains = best.is_custom or {"binary", "bits"} & set(best.departures)
    is_rounded = differs and not explains
    if not is_rounded:
        return "departs" if best.departures else "holds"
    how = "rounded" if rounds(statement, best.fact.value * best.share) else "close"
    return f"departs-{how}" if best.departures else how


def _described(match: Match) -> str:
    """What a fact is, in words: "bf16 with 2:4 sparsity", "scale-up bandwidth, both ways"."""
    fact, departures = match.fact, match.departures
    words = [_quantity(fact)]
    if fact.field in LINKS and fact.direction in ("both", "one-way"):
        words.append(DESCRIPTIONS[fact.direction])
    if fact.aggregate in ("link", "domain"):
        words.append(DESCRIPTIONS[fact.aggregate])
    if "per-node" in departures and fact.aggregate != "domain":
        words.append(DESCRIPTIONS["whole"].format(name=match.subject.name))
    if "per-chip" in departures:
        words.append(DESCRIPTIONS["part"].format(name=match.subject.name))
    words += [DESCRIPTIONS[name] for name in ("binary", "bits") if name in departures]
    if match.share > 1:
        words.append(DESCRIPTIONS["times"].format(times=f"{match.share:.0f}"))
    return ", ".join(words)


def _quantity(fact: FiledFact) -> str:
    if fact.field not in ("peak", "measured_matmul"):
        name = QUANTITY_NAMES[fact.field]
        is_named = fact.name and fact.field not in ("memory", "memory_bandwidth", "power")
        return f"{name} ({fact.name})" if is_named else name
    words = [fact.dtype]
    if fact.field == "measured_matmul":
        words.append(DESCRIPTIONS["measured"])
    elif fact.sparsity == "dense":
        words.insert(0, DESCRIPTIONS["dense"])
    elif fact.sparsity not in ("", "unstated"):
        words.append(DESCRIPTIONS["sparse"].format(pattern=fact.sparsity))
    if fact.engine == "vector":
        words.append(DESCRIPTIONS["vector"])
    return " ".join(words)


def _remedy(statement: StatedNumber, departure: str, best: Match, look: Look) -> list[str]:
    """The figure that the statement should have had, for one departure."""
    fact = best.fact
    if departure in ("binary", "bits"):
        return [SENTENCES[departure].format(value=exact(fact))]
    if departure == "both-ways":
        half = amount(statement, fact.value * best.share / 2)
        return [SENTENCES[departure].format(value=half)]
    if departure == "one-way":
        both = amount(statement, fact.value * best.share * 2)
        return [SENTENCES[departure].format(value=both)]
    if departure in ("per-node", "per-chip"):
        return other_level(statement, departure, best, look)
    if departure == "memory-type":
        return other_type(statement, best, look)
    counterpart = _counterpart(statement, departure, best)
    if counterpart is None and departure == "sparse" and fact.sparsity == HALF:
        half = amount(statement, fact.value * best.share / 2)
        return [SENTENCES["half"].format(value=half)]
    if counterpart is None:
        return []
    kind = QUANTITY_NAMES[counterpart.field]
    value = amount(statement, counterpart.value * best.share)
    way = DESCRIPTIONS.get(counterpart.direction, "")
    sentence = SENTENCES[departure].format(
        value=value, format=counterpart.dtype, way=way, kind=kind
    )
    return [sentence.rstrip()]


def _shown(statement: StatedNumber, best: Match) -> list[str]:
    """What a better source has, where the statement holds by a worse one."""
    if best.departures:
        return []
    same = [f for f in best.subject.facts if not f.error and _says_alike(f, best.fact)]
    value = same[0].value * best.share
    if is_close(statement, value) or best.is_custom:
        return []
    return [SENTENCES["shown"].format(value=as_printed(statement, value))]


def _says_alike(fact: FiledFact, other: FiledFact) -> bool:
    names = ("field", "dtype", "engine", "sparsity", "direction", "aggregate", "name", "tier")
    return all(getattr(fact, name) == getattr(other, name) for name in names)


def _counterpart(statement: StatedNumber, departure: str, best: Match) -> FiledFact | None:
    """The fact that has what the best one lacks, all else equal as far as there is one."""
    fact = best.fact
    if departure == "quantity":
        named = [f for f in best.subject.facts if f.field == statement.field and not f.error]
        return next((f for f in named if f.main), None)
    usual = statement.formats[:1] or (usual_format(statement, best.subject),)
    tests: dict[str, Callable[[FiledFact], bool]] = {
        "sparse": lambda f: f.sparsity == "dense" and f.dtype == fact.dtype,
        "dense": lambda f: f.sparsity not in ("", "dense", "unstated") and f.dtype == fact.dtype,
        "vector": lambda f: f.engine == "tensor" and f.dtype == fact.dtype,
        "format": lambda f: f.dtype in usual and f.engine == "tensor",
        "open-format": lambda f: f.dtype in usual and f.engine == "tensor",
        "per-link": lambda f: f.aggregate == "chip" and f.direction in ("one-way", "both"),
    }
    test = tests.get(departure)
    if test is None:
        return None
    alike = [f for f in best.subject.facts if f.field == fact.field and not f.error and test(f)]
    plain = [f for f in alike if f.sparsity in ("dense", "unstated", "")]
    candidates = alike if departure == "dense" else plain
    same = [f for f in candidates if f.engine == fact.engine or departure == "vector"]
    return next(iter(same or candidates), None)


def _unsaid(fact: FiledFact) -> list[str]:
    if fact.sparsity == "unstated":
        return [SENTENCES["unstated"]]
    if fact.direction == "unstated" and fact.field in LINKS:
        return [SENTENCES["undirected"]]
    return []


def _also(statement: StatedNumber, best: Match, candidates: Sequence[Match]) -> list[str]:
    """Other quantities of the same chip with this value; none where the best says all."""
    if not best.departures:
        return []
    descriptions = [_described(best)]
    for match in sorted(candidates, key=lambda match: match.cost):
        is_other = match.subject.id == best.subject.id and not match.fact.error
        description = _described(match)
        # A source that names no direction says the same with less.
        is_vague = match.fact.direction == "unstated" and match.fact.field == best.fact.field
        if (
            is_other
            and not is_vague
            and description not in descriptions
            and match.cost < COSTS["binary"]
        ):
            descriptions.append(description)
    further = descriptions[1 : MOST_ALSO + 1]
    return [SENTENCES["also"].format(what=", ".join(further))] if further else []


def _same(match: Match, best: Match) -> bool:
    """Whether two matches say the same; a known error is evidence for itself alone."""
    is_alike = match.subject.id == best.subject.id and match.fact.error == best.fact.error
    return is_alike and _described(match) == _described(best)


def _not_found(statement: StatedNumber, asked: Subject) -> Judgement:
    near = _nearest(statement, asked)
    stated = amount(statement, statement.value)
    if near is None:
        field = statement.field or FIELDS[statement.kind][0]
        sentence = SENTENCES["none-recorded"].format(
            chip=asked.name, stated=stated, kind=QUANTITY_NAMES[field]
        )
        return Judgement(False, "none", asked.id, (sentence,), (), statement.value, None)
    times, near = _multiple(statement, asked) or (1, near)
    match = Match(asked, near, (), 0.0)
    key = "none-price" if near.kind in ("price", "rent") else "none"
    says = (
        SENTENCES[key].format(chip=asked.name, stated=stated),
        SENTENCES["nearest" if times == 1 else "multiple"].format(
            times=times, value=amount(statement, near.value), what=_described(match)
        ),
    )
    return Judgement(False, "none", asked.id, says, (near,), statement.value, near.value)


def _of_others_named(statement: StatedNumber, look: Look) -> list[str]:
    """Which other chip of the text has the number as it stands: `beats an H100 with 192 GB`."""
    for other in map(look, statement.others):
        candidates = [one for one in matches(statement, other, look) if not one.departures]
        if candidates:
            best = min(candidates, key=lambda match: match.cost)
            sentence = SENTENCES["other-named"]
            return [sentence.format(chip=other.name, what=_described(best))]
    return []


def _multiple(statement: StatedNumber, asked: Subject) -> tuple[int, FiledFact] | None:
    """How many chips have the stated value together, as makers print for a pair, and the fact."""
    for times in MULTIPLES:
        for fact in asked.facts:
            is_kind = fact.kind == statement.kind and not fact.error
            if not is_kind or not is_close(statement, fact.value * times):
                continue
            if not departures_of(statement, fact, asked, is_elsewhere=False):
                return times, fact
    return None


def _nearest(statement: StatedNumber, asked: Subject) -> FiledFact | None:
    """The fact of the stated kind whose value and conditions are nearest to the statement."""
    facts = [f for f in asked.facts if f.kind == statement.kind and not f.error]
    named = [f for f in facts if f.field == statement.field]
    return min(named or facts, key=lambda f: _distance(statement, f, asked), default=None)


def _distance(statement: StatedNumber, fact: FiledFact, asked: Subject) -> float:
    departures = departures_of(statement, fact, asked, is_elsewhere=False)
    off = abs(math.log(fact.value / statement.value)) if fact.value > 0 < statement.value else 99.0
    return off + NEAREST_COST * sum(COSTS[name] for name in departures)


def verdicts(findings: Iterable[Judgement]) -> int:
    """Exit status of several findings: 0 where all hold, else 1."""
    return 0 if all(finding.holds for finding in findings) else 1
