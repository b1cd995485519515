"""Networks beyond the fast links, by name: what one card for each chip sends one way."""

from __future__ import annotations

from flopbook.errors import FlopbookError, UnknownName, shorten
from flopbook.quantities.parsing import is_bare
from flopbook.quantities.units import UnitError, parse_quantity

GIGABIT = 1e9 / 8
# Cards with four lanes of InfiniBand, of Ethernet by the rate in its name.
CARDS = {
    "edr": 100,
    "hdr100": 100,
    "hdr": 200,
    "ndr200": 200,
    "ndr": 400,
    "100gbe": 100,
    "200gbe": 200,
    "400gbe": 400,
}
# What is inferred where a run leaves the node and nobody names its network.
NETWORK = "network"


def card_rate(text: str) -> float:
    """Byte/s of `--network`, a name or a rate such as 400Gb/s, of each chip and one way.

    Raises UnknownName with the nearest names, or FlopbookError for a rate that is none.
    """
    name = text.strip().lower()
    if name in CARDS:
        return CARDS[name] * GIGABIT
    if not name[:1].isdigit() or name.endswith("gbe"):
        raise UnknownName(NETWORK, shorten(text), CARDS)
    try:
        rate = float(parse_quantity(text, "byte/s"))
    except UnitError as error:
        raise FlopbookError(f"--network is {error}") from None
    if is_bare(text) and rate < GIGABIT:
        raise FlopbookError(f"--network: '{text}' has no unit; write for example {text}Gb/s")
    if not 0 < rate < 1e15:
        raise FlopbookError(f"--network is {shorten(text)}, expected a rate such as 400Gb/s")
    return rate
