"""What every rule works on and what it gives back."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim
from flopbook.data.files import MAX_YAML_BYTES, read_text
from flopbook.data.glossary import Term
from flopbook.data.library import Library
from flopbook.data.link_kinds import LinkKind
from flopbook.data.link_status import LinkStatus
from flopbook.data.models import Model
from flopbook.data.prices import Price
from flopbook.data.reference import Reference
from flopbook.data.reference_rules import problem_at
from flopbook.data.runs import RunFile
from flopbook.data.schema import Schema
from flopbook.data.sought import Searches
from flopbook.data.topics import Topic
from flopbook.data.vendors import Vendor
from flopbook.data.workloads import Workload
from flopbook.data.yaml_text import Place, named_children, parse_yaml
from flopbook.errors import DataError, Problem, show_path
from flopbook.ledger.rows import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Holdings:
    """Everything that could be read of a library, and the folders that it lies in.

    `entry_ids` and `vendor_ids` count the files, those that cannot be read too: a reference to a
    broken entry is no broken reference. `unreadable` names the fields below that are empty because
    their files cannot be read, so that no rule takes them for complete.
    """

    library: Library
    entries: Mapping[str, Entry] = field(default_factory=dict)
    vendors: Mapping[str, Vendor] = field(default_factory=dict)
    models: Mapping[str, Model] = field(default_factory=dict)
    references: Mapping[str, Reference] = field(default_factory=dict)
    runs: Mapping[str, RunFile] = field(default_factory=dict)
    prices: tuple[Price, ...] = ()
    sought: Searches = field(default_factory=Searches)
    workloads: tuple[Workload, ...] = ()
    tiers: Mapping[str, str] = field(default_factory=dict)
    topics: tuple[Topic, ...] = ()
    ledger: tuple[Row, ...] = ()
    terms: tuple[Term, ...] = ()
    link_statuses: Mapping[str, LinkStatus] = field(default_factory=dict)
    link_kinds: Mapping[str, LinkKind] = field(default_factory=dict)
    entry_ids: tuple[str, ...] = ()
    vendor_ids: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    entry_schema: Schema = field(default_factory=functools.partial(Schema, "{}"))
    unreadable: frozenset[str] = frozenset()
    accelerators: Path = Path("accelerators")
    bibliography: Path = Path("bibliography")
    docs: Path = Path("docs")

    def load_entry(self, entry_id: str) -> Entry:
        """An accelerator by id. Raises DataError for one that could not be read."""
        if entry_id not in self.entries:
            raise DataError(())  # what is wrong with its file, or with its id, is said elsewhere
        return self.entries[entry_id]

    @property
    def owners(self) -> Iterator[Entry | Model]:
        """Everything that makes claims: accelerators, then models."""
        yield from self.entries.values()
        yield from self.models.values()

    @property
    def every_topic(self) -> Iterator[Topic]:
        """The topics of all levels, each before those below it."""
        for topic in self.topics:
            yield from topic.walk()

    @property
    def topics_file(self) -> str:
        """The file of the topics, as messages show it."""
        return show_path(self.bibliography / "topics.yaml")

    def vendor_file(self, vendor_id: str) -> str:
        """The file of a vendor, as messages show it."""
        return show_path(self.accelerators / vendor_id / "vendor.yaml")


class Advice(NamedTuple):
    """The end of a message: what was expected, and how to mend it."""

    expected: str
    mend: str


class Finding(NamedTuple):
    """A broken rule, and the records whose `exceptions` may excuse it."""

    problem: Problem
    owners: tuple[Claim | Entry, ...] = ()


def at_claim(rule: str, entry: Entry, claim: Claim, observed: str, advice: Advice) -> Finding:
    """A finding at the line of a claim, which the claim or its entry may excuse."""
    return Finding(Problem(claim.file, claim.line, 1, rule, observed, *advice), (claim, entry))


def at_reference(rule: str, reference: Reference, observed: str, advice: Advice) -> Finding:
    """A finding at the first line of a reference."""
    return Finding(problem_at(reference, rule, observed, *advice))


def at_row(rule: str, row: Row, observed: str, advice: Advice) -> Finding:
    """A finding at the first line of a row of the ledger."""
    return Finding(Problem(row.file, row.file_line, 1, rule, observed, *advice))


def at_file(rule: str, file: str, observed: str, advice: Advice) -> Finding:
    """A finding that is about a file as a whole."""
    return Finding(Problem(file, 1, 1, rule, observed, *advice))


def at_text(
    rule: str, file: str, text: str, observed: str, advice: Advice, *, from_line: int = 1
) -> Finding:
    """A finding at the first place of a text in a YAML file, or the first from a line on."""
    return Finding(Problem(*locate(file, text, from_line), rule, observed, *advice))


def counted(claim: Claim) -> bool:
    """True for a number that the entry vouches for: no recorded disagreement, no known error."""
    return claim.si_value is not None and not claim.known_error and not claim.conflicts_with


def amount(claim: Claim) -> float:
    """The SI value of a claim that is `counted`."""
    return claim.si_value or 0.0


def agree(computed: float, recorded: float, tolerance: float) -> bool:
    """True when a computed value lies within the relative tolerance of the recorded one."""
    return recorded != 0 and abs(computed / recorded - 1) <= tolerance


def contradicted(
    claims: Iterable[Claim], key: Callable[[Claim], Hashable], tolerance: float
) -> Iterator[tuple[Claim, Claim]]:
    """Claims whose amount is not that of the first with the same key, each with that first."""
    first: dict[Hashable, Claim] = {}
    for claim in claims:
        earlier = first.setdefault(key(claim), claim)
        if not agree(amount(claim), amount(earlier), tolerance):
            yield claim, earlier


def printed(claim: Claim) -> str:
    """The amount of a claim as its source prints it: number and unit."""
    return f"{claim.value:g} {claim.unit}"


def locate(file: str, text: str, from_line: int = 1) -> tuple[str, int, int]:
    """File, line and column of a text in a YAML file, or of the file's start if it is not there.

    Records keep no places of their texts, so the file is read again; only a problem pays for it.
    """
    places = _places(read_text(Path(file), MAX_YAML_BYTES), file).get(text.lower(), ())
    return file, *next((place for place in places if place[0] >= from_line), (1, 1))


@functools.lru_cache(maxsize=1)  # a file may have a problem in each of its lines
def _places(content: str, file: str) -> Mapping[str, Sequence[Place]]:
    """Text of a YAML file in lower case -> its places, those near the top of the tree first."""
    places: dict[str, list[Place]] = {}
    waiting = [parse_yaml(content, file)]
    for node in waiting:
        if isinstance(node.value, str):
            places.setdefault(node.value.lower(), []).append((node.line, node.column))
        waiting += (child for _, child in named_children(node))
    return places
