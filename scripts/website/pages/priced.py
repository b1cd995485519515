"""List prices of clouds: the section of a chip's page, and the table of the Data page."""

from __future__ import annotations

from flopbook.data.accelerators import Entry
from flopbook.data.library import load_entry
from flopbook.data.prices import Price, prices
from scripts.website.markup import Html, Markdown, Sortable, code_span, link, table
from scripts.website.pages.accelerators import entry_page, source_cell
from scripts.website.pages.sources import html_link

PRICES_PLACE = "price-by-the-hour"  # where the heading below leads
_HEAD = ("Cloud", "Offer", "Region", "Terms", "#USD per chip-hour", "Price of", "Source")
CLOUDS = {
    "aws": "AWS",
    "azure": "Azure",
    "coreweave": "CoreWeave",
    "digitalocean": "DigitalOcean",
    "gcp": "Google Cloud",
    "runpod": "RunPod",
}
_REGIONS = {"any": "any", "unstated": "not stated"}


def newest_prices() -> tuple[Price, ...]:
    """The newest price of each chip, offer, region and terms, in the order of the file."""
    newest = {
        (price.chip, price.provider, price.offer, price.region, price.terms): price
        for price in sorted(prices(), key=lambda price: price.date)
    }
    kept = set(map(id, newest.values()))
    return tuple(price for price in prices() if id(price) in kept)


def price_section(entry: Entry, page: str) -> list[Html]:
    """What clouds ask for the chip, the newest day first; empty where no price is on record."""
    of_chip = [price for price in newest_prices() if price.chip == entry.id]
    if not of_chip:
        return []
    rows = [_cells(price, page) for price in sorted(of_chip, key=lambda price: -_day(price))]
    return [
        Markdown("\n## Price by the hour\n"),
        table(_HEAD, rows, caption="List prices", stacked=True),
        Markdown(
            "\nList prices for one chip with its share of the host, each as it stood on the day "
            "given; clouds change them several times a year. To calculate with one, add {}.\n"
        ).format(code_span(f"--chip {entry.id} --price-from {_best(of_chip).provider}")),
    ]


def price_table(page: str) -> Html:
    """All list prices on record, one row for each chip, offer, region and terms."""
    rows = [(_product(price.chip, page), *_cells(price, page)) for price in newest_prices()]
    head = ("Chip", *_HEAD)
    return table(head, rows, kind="fb-sort", caption="List prices of clouds", stacked=True)


def _product(chip: str, page: str) -> Html:
    return link(load_entry(chip).name, html_link(page, entry_page(chip)))


def cloud(provider: str) -> str:
    """The name of a provider as it is written: Hot Aisle is hot-aisle on file."""
    return CLOUDS.get(provider) or provider.replace("-", " ").title()


def _best(of_chip: list[Price]) -> Price:
    return max(of_chip, key=_day)


def _day(price: Price) -> int:
    return price.date.toordinal()


def _cells(price: Price, page: str) -> tuple[str | Html | Sortable, ...]:
    chips = "" if price.chips == 1 else f" ({price.chips:g} chips)"
    return (
        cloud(price.provider),
        f"{price.offer}{chips}",
        _REGIONS.get(price.region, price.region),
        price.terms,
        Sortable(Html("{}").format(f"{price.per_chip:,.2f}"), price.per_chip),
        price.date.isoformat(),
        source_cell(price.source, price.as_of, page),
    )
