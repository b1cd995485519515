"""The published schema, the records that it fills and the rules that can be excused agree.

All three name the fields of a claim and the exceptions.
"""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import Advice, Finding, Holdings, at_file
from flopbook.data.claims import CLAIM_FIELDS
from flopbook.errors import show_path

NAME = "schema"
ADVICE = Advice("the same names in schema and code", "add or remove them")
# The rules that a claim or an entry may be an exception from.
EXCUSABLE = (
    *("total", "sparsity", "clock", "links", "two-way", "stacks"),
    *("range", "binary", "inferred", "community", "dates", "intensity"),
)


def check(holdings: Holdings) -> Iterator[Finding]:
    """Names that schema.json has and the code has not, or the other way round."""
    definitions = holdings.entry_schema.get("$defs", {})
    names = {"claim": CLAIM_FIELDS, "exceptions": EXCUSABLE}
    labels = {"claim": "a claim", "exceptions": "exceptions"}
    for definition, enforced in names.items():
        published = definitions.get(definition, {}).get("properties", {})
        unmatched = published.keys() ^ set(enforced)
        if unmatched:
            observed = f"{labels[definition]}: {', '.join(sorted(unmatched))} on one side only"
            yield at_file(NAME, show_path(holdings.accelerators / "schema.json"), observed, ADVICE)
