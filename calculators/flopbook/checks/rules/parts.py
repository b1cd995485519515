"""Parts and variants name entries that exist, no entry contains itself, a system has parts.

And an entry states nothing of what contains it: a total beside the figures of one chip would be
read as its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from flopbook.checks.rules.base import Advice, Finding, Holdings, at_claim, at_text
from flopbook.data.accelerators import Entry
from flopbook.errors import DataError, FlopbookError
from flopbook.hardware.parts import packages

NAME = "part"
UNKNOWN = Advice("the id of an entry", "add that entry or mend the id")
CYCLE = Advice("parts without a cycle", "mend 'contains'")
VARIANT_CYCLE = Advice("a variant of another product", "mend 'variant_of'")
DEEP = Advice("parts in few levels", "mend 'contains'")
WHOLES = ("node", "pod", "system")  # what is made of chips, whose figures are totals
SIZES = ("die", "package", "card", "node", "system", "pod")  # each may be made of those before it
# What a chip is linked into is a property of the chip too.
OF_THE_WHOLE = ("scaleup_domain", "scaleup_axes", "scaleup_wrap", "throughput")
EMPTY = Advice("the parts of the whole", "add 'contains' with the id and the count of each chip")


def check(holdings: Holdings) -> Iterator[Finding]:
    """References to entries that are missing, cycles of parts, and wholes without parts."""
    contents: dict[str, list[str]] = {}
    originals: dict[str, list[str]] = {}
    for entry in holdings.entries.values():
        contents[entry.id] = [part.ref for part in entry.contains]
        originals[entry.id] = [entry.variant_of] if entry.variant_of else []
    contained = set(itertools.chain.from_iterable(contents.values()))
    for entry in holdings.entries.values():
        for reference in contents[entry.id] + originals[entry.id]:
            if reference not in holdings.entry_ids:
                yield at_text(NAME, entry.file, reference, f"'{reference}'", UNKNOWN)
        if entry.kind in WHOLES and not entry.contains:
            observed = f"a {entry.kind} of nothing"
            yield at_text(NAME, entry.file, f"kind: {entry.kind}", observed, EMPTY)
        yield from _of_a_whole(entry)
        if entry.id not in contained:  # said once of a tower, not of each of its levels
            yield from _too_deep(entry, holdings)
    yield from _of_cycles(contents, holdings, "contains itself", CYCLE)
    yield from _of_cycles(originals, holdings, "is a variant of itself", VARIANT_CYCLE)


def _of_a_whole(entry: Entry) -> Iterator[Finding]:
    """Claims per node or more in the entry of a chip, and the like."""
    for claim in entry.claims:
        if claim.field in OF_THE_WHOLE or claim.aggregate == "domain":
            continue
        if SIZES.index(claim.per) > SIZES.index(entry.kind):
            observed = f"{claim.field} per {claim.per} in the entry of a {entry.kind}"
            mend = f"mend 'per', or move it to the entry of the {claim.per} that contains this one"
            yield at_claim(NAME, entry, claim, observed, Advice(f"per {entry.kind}", mend))


def _too_deep(entry: Entry, holdings: Holdings) -> Iterator[Finding]:
    try:
        packages(entry, holdings.load_entry)
    except DataError:  # a part of a part that is missing or broken has its own problem
        return
    except FlopbookError as error:
        if "itself" not in str(error):  # a cycle is told once, not for each entry that leads to it
            yield at_text(NAME, entry.file, entry.contains[0].ref, str(error), DEEP)


def _of_cycles(
    links: Mapping[str, Sequence[str]], holdings: Holdings, what: str, advice: Advice
) -> Iterator[Finding]:
    """One finding for each cycle, at the first of its entries in the order of ids."""
    for cycle in cycles(links):
        way = " > ".join((*cycle, cycle[0]))
        entry = holdings.entries[cycle[0]]
        following = cycle[1 % len(cycle)]
        yield at_text(NAME, entry.file, following, f"{cycle[0]} {what}: {way}", advice)


def cycles(links: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """Cycles such that every entry on a cycle is on one of them, each from its least id on.

    Without recursion: a chain may be as long as there are files.
    """
    done: set[str] = set()
    reported: set[tuple[str, ...]] = set()
    for start in sorted(links):
        path: list[str] = []
        waiting = [(start, 0)]
        while waiting:
            name, depth = waiting.pop()
            del path[depth:]
            if name in path:
                cycle = path[path.index(name) :]
                least = cycle.index(min(cycle))
                turned = (*cycle[least:], *cycle[:least])
                if turned not in reported:
                    reported.add(turned)
                    yield turned
            elif name not in done:
                path.append(name)
                done.add(name)
                waiting += ((after, len(path)) for after in links.get(name, ()))
