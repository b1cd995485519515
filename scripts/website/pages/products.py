"""Products in a table of key figures, by family: on the page of a vendor and beside a chip.

On a narrow screen each row becomes a block with the name on top and its figures below.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from flopbook.data.accelerators import Entry
from flopbook.data.library import entry_ids, load_entry, per_library, vendor
from flopbook.hardware.choice import choose_date
from flopbook.hardware.picked import Picked
from flopbook.quantities.units import unit
from scripts.website.markup import Html, attribute, link, tag
from scripts.website.pages.accelerators import KINDS, entry_page
from scripts.website.pages.explorer import START, ExplorerRow, anchor, items, state_of
from scripts.website.pages.quantities import (
    COLUMN_UNITS,
    PEAK,
    QUANTITIES,
    Quantity,
    missing,
    peak_id,
)
from scripts.website.pages.sources import html_link

NO_FAMILY = "Other products"
PLANNED = ("announced", "cancelled")
_QUANTITIES = {quantity.id: quantity for quantity in QUANTITIES}


class FigureColumn(NamedTuple):
    """A key figure in a table of products: its head, the id of its quantity, its colour."""

    head: str
    id: str
    quantity: Quantity
    kind: str = ""


COLUMNS = (
    FigureColumn("bf16, dense", peak_id(*START), Quantity(PEAK, "", "FLOP/s"), "fb-flop"),
    FigureColumn("Memory", "memory", _QUANTITIES["memory"], "fb-byte"),
    FigureColumn("Bandwidth", "memory_bandwidth", _QUANTITIES["memory_bandwidth"], "fb-byte"),
    FigureColumn("Link, one way", "scaleup_bandwidth", _QUANTITIES["scaleup_bandwidth"], "fb-byte"),
    FigureColumn("Power", "power", _QUANTITIES["power"]),
    FigureColumn("Year", "date", _QUANTITIES["date"]),
)


@per_library
def rows_by_id() -> dict[str, ExplorerRow]:
    """Entry id -> its row in the explorer."""
    return {row.entry.id: row for row in items()}


@per_library
def _families() -> dict[str, dict[str, list[Entry]]]:
    """Vendor -> family -> its products: what can be had before what is planned, newest first."""
    found: dict[str, dict[str, list[Entry]]] = {}
    by_name = map(load_entry, sorted(entry_ids()))
    for entry in sorted(by_name, key=date_of, reverse=True):
        families = found.setdefault(entry.vendor, {})
        families.setdefault(entry.family or NO_FAMILY, []).append(entry)
    return {maker: _available_first(families) for maker, families in found.items()}


def _available_first(families: dict[str, list[Entry]]) -> dict[str, list[Entry]]:
    """The families in their order, those of which nothing can be had behind the others."""
    names = sorted(families, key=lambda name: all(map(is_planned, families[name])))
    return {name: families[name] for name in names}


def is_planned(entry: Entry) -> bool:
    """Whether a product is promised and cannot be had."""
    return state_of(entry) in PLANNED


def families_of(vendor_id: str) -> dict[str, list[Entry]]:
    """Family -> products of a vendor: families that can be had first, then the newest."""
    return _families().get(vendor_id, {})


def family_anchor(family: str) -> str:
    """The anchor of a family on the page of its vendor."""
    letters = "".join(mark if mark.isalnum() else " " for mark in family.lower())
    return "-".join(("family", *letters.split()))


def date_of(entry: Entry) -> str:
    """The day of launch or announcement as text that sorts; empty where neither is recorded."""
    claim = choose_date(entry.claims)
    return str(claim.value) if claim else ""


def short_name(entry: Entry) -> str:
    """A product's name without its vendor's, which stands beside it."""
    return entry.name.removeprefix(f"{vendor(entry.vendor).name} ")


def family_tables(vendor_id: str, page: str) -> Html:
    """All products of a vendor in one table with a heading row for each family."""
    families = families_of(vendor_id)
    is_parted = len(families) > 1
    bodies = [
        _family(name, members, page, is_headed=is_parted or name != NO_FAMILY)
        for name, members in families.items()
    ]
    return _framed(f"Products of {vendor(vendor_id).name}", bodies)


def _family(name: str, members: Sequence[Entry], page: str, *, is_headed: bool) -> Html:
    head = Html(
        '<tr class="fb-group" id="{}"><th scope="rowgroup" colspan="{}">{}</th></tr>\n'
    ).format(attribute(family_anchor(name)), len(COLUMNS) + 1, name)
    rows = Html("\n").join(_row(rows_by_id()[member.id], page) for member in members)
    # "Other products" are none where there are no others.
    return Html("<tbody>{}{}</tbody>").format(head if is_headed else Html(), rows)


def _framed(caption: str, bodies: Iterable[Html]) -> Html:
    heads = Html().join(
        Html('<th scope="col" class="fb-n">{}</th>').format(c.head) for c in COLUMNS
    )
    return Html(
        '<div class="fb-scroll fb-stacked" tabindex="0" role="region" aria-label="{0}">\n'
        '<table class="fb-products"><caption class="fb-hidden">{0}</caption>'
        '<thead><tr><th scope="col">Product</th>{1}</tr></thead>\n{2}\n</table>\n</div>'
    ).format(caption, heads, Html("\n").join(bodies))


def _row(row: ExplorerRow, page: str) -> Html:
    entry = row.entry
    kind = KINDS[entry.kind]
    # A name such as "TPU v4 pod" says its kind already.
    is_named_so = short_name(entry).lower().endswith(kind.lower())
    words = ", ".join(filter(None, ("" if is_named_so else kind, state_of(entry))))
    cells = Html().join(_cell(row, column, page) for column in COLUMNS)
    return Html('<tr><th scope="row">{} <span class="fb-note">{}</span></th>{}</tr>').format(
        link(short_name(entry), html_link(page, entry_page(entry.id))), words, cells
    )


def _cell(row: ExplorerRow, column: FigureColumn, page: str) -> Html:
    kind = f"fb-n {column.kind}".strip()
    return Html('<td class="{}" data-label="{}">{}</td>').format(
        kind, column.head, _value(row, column, page)
    )


def _value(row: ExplorerRow, column: FigureColumn, page: str) -> Html:
    """The value as a link to its source on the product's page, or why there is none."""
    cell = row.cells.get(column.id)
    if not isinstance(cell, Picked):
        return tag("span", missing(row.cells, column.id), "fb-none")
    target = html_link(page, entry_page(row.entry.id))
    place = row.places.get(id(cell.claim))
    href = target if place is None else Html("{}#{}").format(target, anchor(cell, place))
    words = link(column.quantity.of_cell(cell, _counted_as(row.entry.kind, cell)), href)
    # Who says the year of a chip hardly matters.
    is_estimate = cell.claim.basis == "estimated" and column.id != "date"
    return words + Html(" {}").format(tag("span", "estimated", "fb-note")) if is_estimate else words


def _counted_as(kind: str, cell: Picked) -> str:
    """The kind whose units tell a value: a computer for a desk takes 95 W, not 0.095 kW."""
    units = COLUMN_UNITS.get(cell.claim.field, COLUMN_UNITS["FLOP/s"])
    return "package" if cell.value < unit(units[1]).factor else kind
