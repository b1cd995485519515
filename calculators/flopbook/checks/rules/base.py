"""What every rule works on and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim
from flopbook.data.library import library
from flopbook.data.models import Model
from flopbook.data.reference_rules import problem_at
from flopbook.data.references import Reference
from flopbook.data.vendors import Vendor
from flopbook.data.yaml_text import named_children, read_yaml
from flopbook.errors import Problem, show_path


@dataclass(slots=True)
class Data:
    """Everything that could be read."""

    entries: dict[str, Entry]
    vendors: dict[str, Vendor]
    models: dict[str, Model]


class Finding(NamedTuple):
    """A broken rule, and the record whose `exceptions` may excuse it."""

    problem: Problem
    owners: tuple[Claim | Entry, ...] = ()


def at_claim(rule: str, entry: Entry, claim: Claim, found: str, said: tuple[str, str]) -> Finding:
    """A finding at a claim's line. `said` is what was expected and how to mend it."""
    return Finding(Problem(claim.file, claim.line, 1, rule, found, *said), (claim, entry))


def at_reference(rule: str, item: Reference, found: str, said: tuple[str, str]) -> Finding:
    """A finding at the first line of a reference.

    `said` is what was expected and how to mend it.
    """
    return Finding(problem_at(item, rule, found, *said))


def counted(claim: Claim) -> bool:
    """True for a number that the entry stands by: neither a recorded disagreement nor a known
    error.
    """
    return claim.si_value is not None and not claim.known_error and not claim.conflicts_with


def agree(a: float, b: float, tolerance: float) -> bool:
    """True when a lies within the relative tolerance of b."""
    return abs(a / b - 1) <= tolerance


def vendor_file(vendor_id: str) -> str:
    """The file of a vendor, as messages show it."""
    return show_path(library().accelerators / vendor_id / "vendor.yaml")


def locate(file: str, text: str) -> tuple[str, int, int]:
    """Where a text stands in a file that was read already; only a problem pays for this second
    reading.
    """
    nodes = [read_yaml(Path(file))]
    for node in nodes:
        if isinstance(node.value, str) and node.value.lower() == text.lower():
            return file, node.line, node.column
        nodes += (child for _, child in named_children(node))
    return file, 1, 1
