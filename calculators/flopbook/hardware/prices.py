"""Which list price of a chip is used when a provider is named."""

from __future__ import annotations

from collections.abc import Sequence

from flopbook.data.prices import ON_DEMAND, Price, prices
from flopbook.errors import FlopbookError, shorten
from flopbook.hardware.chip import Chip
from flopbook.hardware.picked import Picked
from flopbook.quantities.units import to_si

LOWEST = "lowest"
FORM = f"PROVIDER or PROVIDER:REGION, such as aws or aws:us-east-1, or {LOWEST}"


def pick_price(chip: Chip, asked: str) -> Picked:
    """The list price of a chip in USD/s at a provider, `aws` or `aws:us-east-1`, or the `lowest`.

    On demand before reserved, then the newest, then the cheapest. The note has the day and the
    offer. Raises FlopbookError where none is on record, with those that are.
    """
    if asked.strip().lower() == LOWEST and (lowest := lowest_price(chip)):
        return lowest
    provider, _, region = asked.strip().lower().partition(":")
    of_chip = [price for price in prices() if price.chip == chip.id]
    fitting = [
        price
        for price in of_chip
        if price.provider == provider and (not region or price.region in (region, "any"))
    ]
    if not fitting:
        raise FlopbookError(_none_on_record(chip.id, asked, of_chip))
    price = min(fitting, key=_rank)
    return Picked(to_si(price.per_chip, price.unit), "USD/s", price.claim, (_note(price),))


def lowest_price(chip: Chip) -> Picked | None:
    """The price of the provider who asks least for a chip; None where none is on record."""
    providers = sorted({price.provider for price in prices() if price.chip == chip.id})
    found = [pick_price(chip, provider) for provider in providers]
    return min(found, key=lambda one: float(one.value), default=None)


def _rank(price: Price) -> tuple[bool, int, float]:
    return (price.terms != ON_DEMAND, -price.date.toordinal(), price.per_chip)


def _note(price: Price) -> str:
    chips = "" if price.chips == 1 else f" for {price.chips:g} chips"
    place = {"any": "", "unstated": ", region not stated"}.get(price.region, f" in {price.region}")
    return (
        f"price is the {price.terms} list price of {price.provider} {price.offer}{place} on "
        f"{price.date}: {price.value:g} USD/h{chips}, with their share of the host"
    )


def _none_on_record(chip_id: str, asked: str, of_chip: Sequence[Price]) -> str:
    offers = sorted({f"{price.provider}:{price.region}" for price in of_chip})
    if not offers:
        return f"--price-from: no list price of {chip_id} is on record; give --price"
    return (
        f"--price-from: no list price of {chip_id} from '{shorten(asked)}' is on record "
        f"({FORM}); there is one from {', '.join(offers)}"
    )
