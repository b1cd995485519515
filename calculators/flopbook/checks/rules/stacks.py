"""The memory of a chip is the number of its stacks x the capacity of one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from flopbook.checks.rules.base import (
    Advice,
    Finding,
    Holdings,
    agree,
    amount,
    at_claim,
    counted,
    printed,
)
from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim

NAME = "stacks"
TOLERANCE = 0.03  # sources round both capacities
ADVICE = Advice("stacks x capacity of one", "mend one of the three, or say why under 'exceptions'")


def check(holdings: Holdings) -> Iterator[Finding]:
    """Memories that the stacks contradict."""
    for entry in holdings.entries.values():
        for stack in entry.claims:
            if stack.field == "stack_memory" and counted(stack):
                yield from _of_stack(entry, stack)


def _of_stack(entry: Entry, stack: Claim) -> Iterator[Finding]:
    claims = [claim for claim in entry.claims if counted(claim) and claim.per == stack.per]
    counts = [claim for claim in claims if claim.field == "stacks"]
    memories = [c for c in claims if c.field == "memory" and c.tier == stack.tier]
    if not counts or not memories:
        return
    # One recorded capacity must agree: parts are sold with less than all of their memory.
    agrees = False
    for count, memory in itertools.product(counts, memories):
        agrees |= agree(amount(memory), amount(count) * amount(stack), TOLERANCE)
    if not agrees:
        observed = f"{counts[0].value:g} x {printed(stack)}, memory {printed(memories[0])}"
        yield at_claim(NAME, entry, stack, observed, ADVICE)
