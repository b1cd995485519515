#!/usr/bin/env python3
"""Account for every address of the founding documents: an entry of the bibliography, or a reason why there is none.

The rows of `seed_addresses.yaml` are addresses. One that names a work of the bibliography (as DOI, arXiv id, address
or code) needs nothing else. Another address of a work has `key` and `why`; what is no work has `excluded` and says why.

Exit status: 0 every address is accounted for; 1 some are open or a row is wrong; 2 the file cannot be read.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from flopbook.identifiers import identifiers, identify
from flopbook.problems import FlopbookError
from flopbook.references import Reference, references

ROWS = Path(__file__).with_name("seed_addresses.yaml")
STATES = {
    "found": "name a work of the bibliography",
    "stated": "are stated to be another address of one",
    "excluded": "are excluded for a reason",
    "open": "are open",
    "wrong": "have a row that is wrong",
}


class Account(NamedTuple):
    """An address, its state, the key that it leads to, and what is said of it."""

    address: str
    state: str
    key: str = ""
    says: str = ""


def accounts(rows: Iterable[Mapping[str, Any]], known: Mapping[str, Reference]) -> list[Account]:
    """The state of each row, in their order."""
    by_name = {one.name: item.key for item in known.values() for one in identifiers(item)}
    seen: set[tuple[str, str]] = set()
    found = []
    for row in rows:
        one = _account(row, known, by_name)
        named = identify(one.address)
        if named and named.name in seen:
            one = one._replace(state="wrong", says="the same work has a row already")
        seen |= {named.name} if named else set()
        found.append(one)
    return found


def _account(row: Mapping[str, Any], known: Mapping[str, Reference], by_name: Mapping[tuple[str, str], str]) -> Account:
    address, key, why, excluded = (str(row.get(name) or "") for name in ("address", "key", "why", "excluded"))
    named = identify(address)
    match = by_name.get(named.name, "") if named else ""
    faults = [
        (not named, "not an address"),
        (bool(row.keys() - {"address", "key", "why", "excluded"}), "a field that nobody reads"),
        (bool(key and excluded), "both a key and a reason to exclude it"),
        (bool(key and key not in known), f"no entry has the key '{key}'"),
        (bool(match and excluded), f"excluded, but it is {match}"),
        (bool(match and key), f"a key that is not needed: the address names {match} by itself"),
        (bool(key) != bool(why), "a key and why it is the same work go together"),
        (any(text and len(text) < 10 for text in (why, excluded)), "a reason of a few words at least"),
    ]
    fault = next((says for wrong, says in faults if wrong), "")
    if fault:
        return Account(address, "wrong", key, fault)
    state = "found" if match else "stated" if key else "excluded" if excluded else "open"
    return Account(address, state, match or key, why or excluded)


def read_rows(path: Path = ROWS) -> list[dict[str, Any]]:
    """The rows of the file. Raises FlopbookError when it is no list of rows."""
    try:
        rows = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise FlopbookError(f"{path.name} cannot be read: {' '.join(str(error).split())}") from None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise FlopbookError(f"{path.name} is no list of rows with an address each")
    return rows


def summary(found: Sequence[Account]) -> str:
    """How many addresses are in each state, in one line."""
    counts = Counter(one.state for one in found)
    return f"{len(found)} addresses: " + ", ".join(f"{counts[state]} {text}" for state, text in STATES.items())


def main(arguments: Sequence[str] | None = None, rows: Path = ROWS) -> int:
    """Print what is open or wrong, then the sum."""
    parser = argparse.ArgumentParser(prog="seed_addresses", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--all", action="store_true", help="print every address with its state")
    parser.add_argument("--json", action="store_true", help="print all as JSON")
    options = parser.parse_args(arguments)
    try:
        found = accounts(read_rows(rows), references())
    except FlopbookError as error:
        print(f"seed_addresses: {error}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps([one._asdict() for one in found], indent=1))
    else:
        for one in found:
            if options.all or one.state in ("open", "wrong"):
                print("  ".join(text for text in (f"{one.state:<8}", one.address, one.key, one.says) if text))
        print(summary(found))
    return 1 if any(one.state in ("open", "wrong") for one in found) else 0


if __name__ == "__main__":
    sys.exit(main())
