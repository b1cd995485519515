"""Which file, and which line of it, to edit: for a chip, vendor, model, reference, ledger row or
calculator.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

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
    """Every place where the thing of this name is written. Raises UnknownName with the nearest
    names.

    The start of a product's or model's name stands for all that begin so.
    """
    key = name.strip()
    found = [*_chips(key), *_vendors(key), *_models(key), *_lines(key), *_calculators(key)]
    found = found or list(_beginning(key.lower()))
    if not found:
        ids = entry_ids()
        aliases = [alias for names in library().heads.values() for alias in names.aliases]
        known = [
            *ids,
            *(one.partition("/")[2] for one in ids),
            *aliases,
            *vendor_ids(),
            *model_ids(),
        ]
        raise UnknownName("name", name, known)
    return found


def fields(places: list[Place], field: str) -> list[Place]:
    """The lines of the claims of one field in these entries.

    Raises FlopbookError when there are none.
    """
    chips = [load_entry(place.id) for place in places if place.kind == "chip"]
    found = [
        Place(
            "claim",
            one.id,
            library().accelerators / f"{one.id}.yaml",
            claim.line,
            _says(claim._asdict(), claim.words),
        )
        for one in chips
        for claim in one.claims
        if claim.field == field
    ]
    if not found:
        known = {claim.field for one in chips for claim in one.claims}
        raise UnknownName("field", field, known)
    return found


def _says(claim: dict[str, object], words: str) -> str:
    conditions = [
        str(claim[k])
        for k in ("dtype", "engine", "sparsity", "tier", "name", "direction", "of")
        if claim[k]
    ]
    value = claim["value"]
    return " ".join([*conditions, words or f"{value:,g} {claim['unit']}", f"({claim['source']})"])


def _chips(name: str) -> Iterator[Place]:
    try:
        ids = [find_id(name)]
    except FlopbookError:  # none, or a product of several vendors
        ids = [one for one in entry_ids() if one.partition("/")[2] == name.lower()]
    yield from (Place("chip", one, library().accelerators / f"{one}.yaml") for one in ids)


def _vendors(name: str) -> Iterator[Place]:
    if name.lower() in vendor_ids():
        yield Place("vendor", name.lower(), library().accelerators / name.lower() / "vendor.yaml")


def _models(name: str) -> Iterator[Place]:
    try:
        found = name.lower() if name.lower() in model_ids() else model(name).id
    except FlopbookError:
        return
    yield Place("model", found, library().models / f"{found}.yaml")


def _lines(name: str) -> Iterator[Place]:
    """References and rows of the ledger, found by the line that they begin with."""
    word = re.escape(name.encode("utf-8", "surrogateescape"))
    kinds = (
        ("reference", "*.bib", rb"^\s*@\w+\s*\{\s*" + word + rb"\s*,"),
        ("ledger", "claims/*.yaml", rb"^\s*-?\s*\{?\s*id:\s*[\"']?" + word + rb"[\"']?\s*(?:,|$)"),
    )
    for kind, pattern, text in kinds:
        begins = re.compile(text, re.MULTILINE)
        for path in sorted(library().bibliography.glob(pattern)) if word else ():
            data = path.read_bytes()
            for match in begins.finditer(data):
                start = match.end() - len(match[0].lstrip())
                yield Place(kind, name, path, data.count(b"\n", 0, start) + 1)


def _calculators(name: str) -> Iterator[Place]:
    from flopbook.formulas import CATALOGUE, get_formula

    if name in CATALOGUE:
        code = get_formula(name).function.__code__
        yield Place("calculator", name, Path(code.co_filename), code.co_firstlineno)


def _beginning(name: str) -> Iterator[Place]:
    for one in entry_ids() if len(name) >= 2 else ():
        if one.startswith(name) or one.partition("/")[2].startswith(name):
            yield Place("chip", one, library().accelerators / f"{one}.yaml")
    for one in model_ids() if len(name) >= 2 else ():
        if one.startswith(name):
            yield Place("model", one, library().models / f"{one}.yaml")
