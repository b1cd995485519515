"""The memory of a chip is the number of its stacks x the capacity of one."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import Data, Finding, agree, at_claim, counted

NAME = "stacks"
TOLERANCE = 0.03
SAID = ("stacks x capacity of one", "mend one of the three, or say why under 'exceptions'")


def check(data: Data) -> Iterator[Finding]:
    """Memories that the stacks contradict.

    One recorded capacity must agree: parts are sold with less than all.
    """
    for entry in data.entries.values():
        claims = [c for c in entry.claims if counted(c)]
        counts = [c for c in claims if c.field == "stacks"]
        for stack in (c for c in claims if c.field == "stack_memory"):
            memories = [
                c
                for c in claims
                if c.field == "memory" and (c.tier, c.per) == (stack.tier, stack.per)
            ]
            sums = [(n.si_value or 0) * (stack.si_value or 0) for n in counts if n.per == stack.per]
            if (
                memories
                and sums
                and not any(agree(m.si_value or 0, s, TOLERANCE) for m in memories for s in sums)
            ):
                found = f"{counts[0].value:g} x {stack.value:g} {stack.unit}, memory {memories[0].value:g} "
                yield at_claim(NAME, entry, stack, found + memories[0].unit, SAID)
