"""The server of a chip: how many chips one has, and what it draws with hosts and network cards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim
from flopbook.data.library import entry_ids, load_entry, load_head, per_library
from flopbook.hardware.chip import Chip
from flopbook.hardware.choice import choose_power
from flopbook.hardware.parts import packages
from flopbook.hardware.picked import Picked
from flopbook.quantities.units import format_quantity, percent

# A node comes first: its power has the least beside that of its chips.
KINDS = ("node", "system", "pod")
# What servers, racks and pods of eight chips and more draw over their chips, least and most: a test
# holds it against all that are recorded.
SERVER_FACTORS = (1.1, 2.1)
TOLD = 0.1  # of a power by which another report differs


class Server(NamedTuple):
    """A node, system or pod of one kind of chip, sold by the maker of the chip."""

    entry: Entry
    chip_id: str
    chips: int


def pick_server_power(chip: Chip) -> Picked:
    """Power of a chip with its share of the server, in watts; of the chip alone without one.

    The notes say which of the two it is. Raises Missing where not even that of the chip is known.
    """
    chip.require_package()
    server_power = _server_power(chip.id)
    if server_power is None:
        return _alone(chip)
    server, claim = server_power
    assert claim.si_value is not None  # as `_server_power` asks
    total = format_quantity(claim.si_value, "W")
    note = f"power is a share of {server.entry.id}: {total} for {server.chips} chips"
    if server.chip_id != chip.id:
        note += f" ({server.chip_id}, which draws as much as {chip.id})"
    note += _other_report(server, claim)
    return Picked(claim.si_value / server.chips, "W", claim, (note,))


def _other_report(server: Server, chosen: Claim) -> str:
    """The power of another report that differs by more than a tenth, the furthest; else empty."""
    shares = {
        claim.si_value / chosen.si_value - 1: claim.si_value
        for claim in load_entry(server.entry.id).claims
        if claim.field == "power" and claim.si_value and chosen.si_value and not claim.known_error
    }
    furthest = max(shares, key=abs, default=0.0)
    if abs(furthest) <= TOLD:
        return ""
    other = format_quantity(shares[furthest], "W")
    return f"; another report has {other} ({percent(furthest, signed=True)})"


def _alone(chip: Chip) -> Picked:
    picked = chip.pick_power()
    least, most = SERVER_FACTORS
    note = (
        f"power is that of {chip.id} alone: no power of a server is on record; hosts and network "
        f"make it {least:g} to {most:g} times as much in others"
    )
    return picked._replace(notes=(*picked.notes, note))


def pick_node_size(chip: Chip) -> Picked | None:
    """Number of chips in a node of this chip; None where no node of it is recorded."""
    server = next(
        (candidate for candidate in servers_of(chip.id) if candidate.entry.kind == "node"), None
    )
    if server is None:
        return None
    # A count of parts has no claim of its own: the first of the node stands for its sources.
    return Picked(float(server.chips), "chip", load_entry(server.entry.id).claims[0])


@per_library
def _server_power(chip_id: str) -> tuple[Server, Claim] | None:
    """The server whose power stands for that of a chip, with the claim."""
    for server in servers_of(chip_id):
        claim = choose_power(load_entry(server.entry.id).claims)
        own = choose_power(load_entry(chip_id).claims)
        if claim is None or claim.si_value is None:
            continue
        # A measured draw below the rating of the chips is of another load.
        if own is None or own.si_value is None or claim.si_value >= own.si_value * server.chips:
            return server, claim
    return None


@per_library
def servers_of(chip_id: str) -> tuple[Server, ...]:
    """The servers of a chip, nodes first and small ones first; then those of chips as powerful.

    H200 and H100 have the same power and the same server; one may be recorded with its power.
    """
    chip = load_head(chip_id)
    servers = [server for server in _servers(chip.vendor) if _is_like(server.chip_id, chip)]
    order = {kind: place for place, kind in enumerate(KINDS)}
    return tuple(
        sorted(
            servers,
            key=lambda one: (one.chip_id != chip_id, order[one.entry.kind], one.chips),
        )
    )


def _servers(vendor: str) -> Iterator[Server]:
    for entry_id in entry_ids():
        if not entry_id.startswith(f"{vendor}/"):
            continue
        head = load_head(entry_id)
        if head.kind in KINDS and head.contains:
            parts = list(packages(head, load_head).items())
            if len(parts) == 1:
                yield Server(head, *parts[0])


def _is_like(other_id: str, chip: Entry) -> bool:
    """Whether a chip is this one, or of its family and of the same printed power."""
    if other_id == chip.id:
        return True
    other_chip = load_head(other_id)
    if other_chip.family != chip.family:
        return False
    powers = [choose_power(load_entry(each).claims) for each in (other_id, chip.id)]
    watts = [power.si_value for power in powers if power is not None]
    return len(watts) == 2 and watts[0] == watts[1]
