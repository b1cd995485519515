"""The schema that is published, the records that it fills and the rules that can be excused name
the same things.
"""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import Data, Finding
from flopbook.data.claims import CLAIM_FIELDS
from flopbook.data.folders import schema_paths
from flopbook.data.schema import load_schema
from flopbook.errors import Problem, show_path

NAME = "schema"
EXCUSABLE = (
    "total",
    "sparsity",
    "clock",
    "links",
    "two-way",
    "stacks",
    "range",
    "binary",
    "inferred",
    "community",
    "dates",
    "intensity",
)


def check(data: Data) -> Iterator[Finding]:
    """Names that schema.json has and the code has not, or the other way round."""
    path = schema_paths()["accelerator"]
    defs = load_schema(path)["$defs"]
    pairs = (
        ("a claim", set(defs["claim"]["properties"]), set(CLAIM_FIELDS)),
        ("exceptions", set(defs["exceptions"]["properties"]), set(EXCUSABLE)),
    )
    for what, published, enforced in pairs:
        if published != enforced:
            found = f"{what}: {', '.join(sorted(published ^ enforced))} on one side only"
            said = ("the same names in schema and code", "add or remove them")
            yield Finding(Problem(show_path(path), 1, 1, NAME, found, *said))
