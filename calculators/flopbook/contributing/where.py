"""Which file, and which line of it, to edit: for anything that has a name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from flopbook.data.bibtex_scan import decoded, lines_of
from flopbook.data.claims import Claim
from flopbook.data.files import MAX_YAML_BYTES, read_or_nothing
from flopbook.data.library import (
    entry_ids,
    find_id,
    library,
    load_entry,
    model,
    model_ids,
    vendor_ids,
)
from flopbook.errors import FlopbookError, UnknownName


class Place(NamedTuple):
    """Something with a name, and where it is written; `says` tells places of one file apart."""

    kind: str
    id: str
    path: Path
    line: int = 1
    says: str = ""


def find(name: str) -> list[Place]:
    """Every place where what has this name is written. Raises UnknownName with the nearest names.

    The start of a product's or model's name stands for all that begin so.
    """
    key = name.strip()
    places = [*_chips(key), *_vendors(key), *_models(key), *_lines(key), *_calculators(key)]
    places = places or list(_beginning(key.lower()))
    if not places:
        raise UnknownName("name", name, _known_names())
    return places


def _known_names() -> list[str]:
    """What could have been meant: ids with and without their vendor, aliases, vendors, models."""
    ids = entry_ids()
    products = [_product(entry_id) for entry_id in ids]
    aliases = [alias for names in library().heads.values() for alias in names.aliases]
    return [*ids, *products, *aliases, *vendor_ids(), *model_ids()]


def _product(entry_id: str) -> str:
    """The id without its vendor."""
    return entry_id.partition("/")[2]


def fields(places: list[Place], field: str) -> list[Place]:
    """The lines of the claims of one field in these entries.

    Raises FlopbookError when there are none.
    """
    entries = [load_entry(place.id) for place in places if place.kind == "chip"]
    lines = []
    quantities: set[str] = set()
    for entry in entries:
        path = library().entry_path(entry.id)
        for claim in entry.claims:
            quantities.add(claim.field)
            if claim.field == field:
                lines.append(Place("claim", entry.id, path, claim.line, _says(claim)))
    if not lines:
        raise UnknownName("field", field, quantities)
    return lines


def _says(claim: Claim) -> str:
    """A claim in one line: its conditions, its value and its source."""
    conditions = (
        claim.dtype,
        claim.engine,
        claim.sparsity,
        claim.tier,
        claim.name,
        claim.direction,
        claim.of,
    )
    amount = claim.words or f"{claim.value:,g} {claim.unit}"
    return " ".join([*filter(None, conditions), amount, f"({claim.source})"])


def _chips(name: str) -> Iterator[Place]:
    try:
        ids = [find_id(name)]
    except FlopbookError:  # none, or a product of several vendors
        ids = [entry_id for entry_id in entry_ids() if _product(entry_id) == name.lower()]
    yield from map(_chip, ids)


def _chip(entry_id: str) -> Place:
    return Place("chip", entry_id, library().entry_path(entry_id))


def _vendors(name: str) -> Iterator[Place]:
    if name.lower() in vendor_ids():
        yield Place("vendor", name.lower(), library().accelerators / name.lower() / "vendor.yaml")


def _models(name: str) -> Iterator[Place]:
    try:
        model_id = name.lower() if name.lower() in model_ids() else model(name).id
    except FlopbookError:
        return
    yield _model(model_id)


def _model(model_id: str) -> Place:
    return Place("model", model_id, library().model_path(model_id))


def _lines(name: str) -> Iterator[Place]:
    """References and rows of the ledger, found by what they begin with."""
    if not name:
        return
    bibliography = library().bibliography
    for path in sorted(bibliography.glob("*.bib")):
        for line in lines_of(name, decoded(path)):
            yield Place("reference", name, path, line)
    # Bytes, because a file that is no UTF-8 is still to be found.
    word = name.encode("utf-8", "surrogateescape")
    row = rb"^\s*-?\s*\{?\s*id:\s*[\"']?" + re.escape(word) + rb"[\"']?\s*(?:,|$)"
    for path in sorted(bibliography.glob("claims/*.yaml")):
        text = read_or_nothing(path, MAX_YAML_BYTES)
        if word not in text:  # faster than the pattern, which looks at every line
            continue
        for match in re.finditer(row, text, re.MULTILINE):
            start = match.end() - len(match[0].lstrip())
            yield Place("ledger", name, path, text.count(b"\n", 0, start) + 1)


def _calculators(name: str) -> Iterator[Place]:
    from flopbook.formulas import CATALOGUE, get_formula

    if name in CATALOGUE:
        code = get_formula(name).function.__code__
        yield Place("calculator", name, Path(code.co_filename), code.co_firstlineno)


def _beginning(name: str) -> Iterator[Place]:
    """Chips and models that begin with a name; one letter would begin too many."""
    if len(name) < 2:
        return
    for entry_id in entry_ids():
        if entry_id.startswith(name) or _product(entry_id).startswith(name):
            yield _chip(entry_id)
    for model_id in model_ids():
        if model_id.startswith(name):
            yield _model(model_id)
