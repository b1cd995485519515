"""Account for every address of the founding documents by an entry of the bibliography or a reason.

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
from flopbook.data.reference import Reference
from flopbook.errors import FlopbookError

Row = Mapping[str, Any]
ROWS = Path(__file__).with_name("seed_addresses.yaml")
FIELDS = ("address", "key", "same", "why", "excluded")
SHORTEST_REASON = 10  # letters
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


class Addresses:
    """What a row is judged by: the bibliography, and the rows that were accounted for before it."""

    def __init__(self, references: Mapping[str, Reference]) -> None:
        self.references = references
        self.accounts: dict[tuple[str, str], Account] = {}
        self._keys: dict[tuple[str, str], str] = {}
        # Addresses of code go first, so that a work's own address wins where two works share one.
        for code in (True, False):
            for reference in references.values():
                for identifier in identifiers(reference, code=code):
                    self._keys[identifier.name] = reference.key

    def key_of(self, address: str) -> str:
        """The key of the work that an address names by itself, empty for none."""
        identifier = identify(address)
        return self._keys.get(identifier.name, "") if identifier else ""

    def account_of(self, address: str) -> Account | None:
        """The account of another row's address."""
        identifier = identify(address)
        return self.accounts.get(identifier.name) if identifier else None


def accounts(rows: Iterable[Row], references: Mapping[str, Reference]) -> list[Account]:
    """The state of each row, in their order."""
    ordered = list(rows)
    addresses = Addresses(references)
    doubles: list[Account] = []
    # A row that points to another one is judged when all those it may point to have been.
    for row in sorted(ordered, key=lambda row: bool(row.get("same"))):
        account = _account(row, addresses)
        identifier = identify(account.address)
        if identifier is None:
            doubles.append(account._replace(state="wrong"))
        elif identifier.name in addresses.accounts:
            says = "the same work has a row already"
            doubles.append(account._replace(state="wrong", says=says))
        else:
            addresses.accounts[identifier.name] = account
    place = {str(row.get("address")): number for number, row in enumerate(ordered)}
    everything = [*addresses.accounts.values(), *doubles]
    return sorted(everything, key=lambda account: place[account.address])


def _account(row: Row, addresses: Addresses) -> Account:
    address, key, same, why, excluded = (str(row.get(name) or "") for name in FIELDS)
    if fault := _fault(row, addresses):
        return Account(address, "wrong", key, fault)
    if match := addresses.key_of(address):
        return Account(address, "found", match)
    target = addresses.account_of(same)
    if target:
        key = target.key
        excluded = excluded or (target.says if target.state == "excluded" else "")
    if key:
        return Account(address, "stated", key, why)
    return Account(address, "excluded" if excluded else "open", "", why or excluded)


def _fault(row: Row, addresses: Addresses) -> str:
    """What is wrong with a row, empty if nothing is."""
    address, key, same, why, excluded = (str(row.get(name) or "") for name in FIELDS)
    match = addresses.key_of(address)
    faults = {
        "not an address": identify(address) is None,
        "a field that nobody reads": bool(row.keys() - set(FIELDS)),
        "more than one of key, same and excluded": sum(map(bool, (key, same, excluded))) > 1,
        f"no entry has the key '{key}'": bool(key) and key not in addresses.references,
        f"no other row has the address {same}": bool(same) and not addresses.account_of(same),
        f"excluded, but it is {match}": bool(match and excluded),
        f"a key that is not needed: the address names {match} by itself": bool(match and key),
        "a key or another address, and why it is the same work, go together": (
            bool(key or same) != bool(why)
        ),
        "a reason of a few words at least": any(
            text and len(text) < SHORTEST_REASON for text in (why, excluded)
        ),
    }
    return next((text for text, applies in faults.items() if applies), "")


def read_rows(path: Path = ROWS) -> list[dict[str, Any]]:
    """The rows of the file. Raises FlopbookError when it is no list of rows."""
    try:
        rows = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise FlopbookError(f"{path.name} cannot be read: {' '.join(str(error).split())}") from None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise FlopbookError(f"{path.name} is no list of rows with an address each")
    return rows


def summary(all_accounts: Sequence[Account]) -> str:
    """How many addresses are in each state, in one line."""
    counts = Counter(account.state for account in all_accounts)
    states = ", ".join(f"{counts[state]} {text}" for state, text in STATES.items())
    return f"{len(all_accounts)} addresses: {states}"


def main(arguments: Sequence[str] | None = None, rows: Path = ROWS) -> int:
    """Print what is open or wrong, then the sum."""
    parser = argparse.ArgumentParser(
        prog="seed_addresses", description=(__doc__ or "").split("\n\n")[0]
    )
    parser.add_argument("--all", action="store_true", help="print every address with its state")
    parser.add_argument("--json", action="store_true", help="print all as JSON")
    options = parser.parse_args(arguments)
    try:
        all_accounts = accounts(read_rows(rows), references())
    except FlopbookError as error:
        print(f"seed_addresses: {error}", file=sys.stderr)
        return 2
    unsettled = [account for account in all_accounts if account.state in ("open", "wrong")]
    if options.json:
        print(json.dumps([account._asdict() for account in all_accounts], indent=1))
    else:
        for account in all_accounts if options.all else unsettled:
            columns = (f"{account.state:<8}", account.address, account.key, account.says)
            print("  ".join(filter(None, columns)))
        print(summary(all_accounts))
    return 1 if unsettled else 0


if __name__ == "__main__":
    sys.exit(main())
