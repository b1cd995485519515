"""Account for every address of the founding documents: an entry of the bibliography, or a reason
why there is none.

The rows of `seed_addresses.yaml` are addresses. One that names a work of the bibliography (as DOI,
arXiv id, address or code) needs nothing else. Another address of a work has `key`, or `same` with
the address of another row, and `why`; what is no work has `excluded` and says why.

Exit status: 0 every address is accounted for; 1 some are open or a row is wrong; 2 the file cannot
be read.
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

from flopbook.data.identifiers import identifiers, identify
from flopbook.data.library import references
from flopbook.data.references import Reference
from flopbook.errors import FlopbookError

Row = Mapping[str, Any]
Names = Mapping[tuple[str, str], str]
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


def accounts(rows: Iterable[Row], known: Mapping[str, Reference]) -> list[Account]:
    """The state of each row, in their order."""
    by_name = {
        one.name: item.key
        for code in (True, False)
        for item in known.values()
        for one in identifiers(item, code=code)
    }
    found: dict[tuple[str, str], Account] = {}
    others: list[Account] = []
    asked = list(rows)
    for row in [
        *(row for row in asked if not row.get("same")),
        *(row for row in asked if row.get("same")),
    ]:
        one = _account(row, known, by_name, found)
        named = identify(one.address)
        if named is None or named.name in found:
            says = "the same work has a row already" if named else one.says
            others.append(one._replace(state="wrong", says=says))
        else:
            found[named.name] = one
    place = {str(row.get("address")): number for number, row in enumerate(asked)}
    return sorted([*found.values(), *others], key=lambda one: place[one.address])


def _account(
    row: Row,
    known: Mapping[str, Reference],
    by_name: Names,
    found: Mapping[tuple[str, str], Account],
) -> Account:
    address, key, same, why, excluded = (
        str(row.get(name) or "") for name in ("address", "key", "same", "why", "excluded")
    )
    named, other = identify(address), identify(same)
    match = by_name.get(named.name, "") if named else ""
    target = found.get(other.name) if other else None
    faults = [
        (not named, "not an address"),
        (
            bool(row.keys() - {"address", "key", "same", "why", "excluded"}),
            "a field that nobody reads",
        ),
        (sum(map(bool, (key, same, excluded))) > 1, "more than one of key, same and excluded"),
        (bool(key and key not in known), f"no entry has the key '{key}'"),
        (bool(same and target is None), f"no other row has the address {same}"),
        (bool(match and excluded), f"excluded, but it is {match}"),
        (bool(match and key), f"a key that is not needed: the address names {match} by itself"),
        (
            bool(key or same) != bool(why),
            "a key or another address, and why it is the same work, go together",
        ),
        (
            any(text and len(text) < 10 for text in (why, excluded)),
            "a reason of a few words at least",
        ),
    ]
    fault = next((says for wrong, says in faults if wrong), "")
    if fault:
        return Account(address, "wrong", key, fault)
    if match:
        return Account(address, "found", match)
    key = target.key if target else key
    left_out = excluded or (target is not None and target.state == "excluded")
    return Account(
        address, "stated" if key else "excluded" if left_out else "open", key, why or excluded
    )


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
    return f"{len(found)} addresses: " + ", ".join(
        f"{counts[state]} {text}" for state, text in STATES.items()
    )


def main(arguments: Sequence[str] | None = None, rows: Path = ROWS) -> int:
    """Print what is open or wrong, then the sum."""
    parser = argparse.ArgumentParser(
        prog="seed_addresses", description=(__doc__ or "").split("\n\n")[0]
    )
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
                print(
                    "  ".join(
                        text for text in (f"{one.state:<8}", one.address, one.key, one.says) if text
                    )
                )
        print(summary(found))
    return 1 if any(one.state in ("open", "wrong") for one in found) else 0


if __name__ == "__main__":
    sys.exit(main())
