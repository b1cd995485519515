"""What a benchmark asks has a source that exists, read by today, and each name stands once."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from flopbook.checks.rules.base import Advice, Finding, Holdings
from flopbook.data.workloads import Workload
from flopbook.errors import Problem, shorten

NAME = "workload"
KEY = Advice("a key of the bibliography", "mend the key, or add the work")
ONCE = Advice("each name of a benchmark once", "drop one of the two")


def check(holdings: Holdings) -> Iterator[Finding]:
    """Unknown sources, days to come, and names that two benchmarks share."""
    named: set[tuple[str, str]] = set()
    for workload in holdings.workloads:
        yield from _facts(workload, holdings)
        for name in workload.benchmarks:
            if (workload.suite, name) in named:
                yield _at(workload, f"'{shorten(name)}' twice", ONCE)
            named.add((workload.suite, name))


def _facts(workload: Workload, holdings: Holdings) -> Iterator[Finding]:
    today = datetime.date.today()
    for fact in workload.facts:
        is_known = fact.source in holdings.references or "references" in holdings.unreadable
        if not is_known:
            yield _at(workload, f"source '{shorten(fact.source)}'", KEY)
        if fact.as_of > today:
            advice = Advice(f"a day up to {today}", "mend the day")
            yield _at(workload, f"as_of {fact.as_of}", advice)


def _at(workload: Workload, observed: str, advice: Advice) -> Finding:
    return Finding(Problem(workload.file, workload.line, 1, NAME, observed, *advice))
