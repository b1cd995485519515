"""The page of all accelerators: a table and pictures that are complete without a script.

The data of the script is in `explorer_data`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from flopbook.data.accelerators import Entry
from flopbook.data.library import entry_ids, load_entry, per_library, vendor, vendor_ids
from flopbook.drawing.markup import slug
from flopbook.hardware.picked import Picked
from scripts.website.markup import (
    Html,
    Markdown,
    attribute,
    front_matter,
    link,
    page_text,
    relative,
    tag,
)
from scripts.website.pages.accelerators import INDEX, KINDS, entry_page
from scripts.website.pages.quantities import (
    NOT_RECORDED,
    PEAK,
    QUANTITIES,
    RATIOS,
    SPARSITIES,
    UNITS_OF_COLUMNS,
    Cells,
    Quantity,
    cells,
    missing,
    peak_id,
    shown_claims,
    value_of,
)
from scripts.website.pages.sources import html_link, stylesheet
from scripts.website.pages.trends import SHAPES, Product, section

DATA, REST = "explorer.json", "explorer-values.json"
TRENDS = "accelerators/trends.md"
SCRIPTS = "assets/flopbook/explorer/"
COLOURS = len(SHAPES) - 1  # the last shape is for all other vendors
# Marks that a reader must see in the table too, not only beside a comparison.
LOUD = ("estimated", "reported")
START = ("bf16", "tensor", "dense")
COLUMNS = ("memory", "memory_bandwidth", "scaleup_bandwidth", "power")
PLAIN_PEAKS = (
    ("bf16", "tensor", "2:4"),
    ("bf16", "tensor", "unstated"),
    ("fp8", "tensor", "dense"),
)
# What the explorer opens with: states in which a chip can be had, and years since it came.
_ON_OFFER = ("shipping", "cloud-only", "sampling")
_RECENT_YEARS = 6
# The columns of class fb-static are for readers without a script, which offers them anew.
_STATIC = " fb-static"
_NONE = Html('<span class="fb-none">-</span>')
_QUANTITIES = {quantity.id: quantity for quantity in (*QUANTITIES, *RATIOS)}
# All peaks are shown alike, whatever their format; the head of the column says which it is.
_PEAK = Quantity(PEAK, "", "FLOP/s")


class ExplorerRow(NamedTuple):
    """An entry with its cells and with the place of each claim on its page."""

    entry: Entry
    cells: Cells
    places: dict[int, int]


@per_library  # figures and pages of every sort ask for all accelerators
def items() -> tuple[ExplorerRow, ...]:
    """All entries, chips first, then what is built of them; by id within a kind."""
    order = [*KINDS]
    rows = [_explorer_row(load_entry(name)) for name in entry_ids()]
    return tuple(sorted(rows, key=lambda row: (order.index(row.entry.kind), row.entry.id)))


def _explorer_row(entry: Entry) -> ExplorerRow:
    shown = shown_claims(entry)
    places = {id(claim): place for place, claim in enumerate(shown)}
    return ExplorerRow(entry, cells(entry, shown), places)


def groups(rows: Sequence[ExplorerRow]) -> dict[str, int]:
    """Vendor -> number of its colour.

    Those with the most chips have one of their own, all others share the last.
    """
    counts = Counter(row.entry.vendor for row in rows if row.entry.kind == "package")
    ranked = sorted(counts, key=lambda name: (-counts[name], name))
    return {name: min(rank, COLOURS) for rank, name in enumerate(ranked)}


def legend_names(colours: dict[str, int]) -> dict[int, str]:
    """Number of a colour -> whose it is."""
    names = {colour: vendor(name).name for name, colour in colours.items() if colour < COLOURS}
    if COLOURS in colours.values():
        names[COLOURS] = "other vendors"
    return names


def state_of(entry: Entry) -> str:
    """The status by the newest reading."""
    if not entry.status:
        return ""
    return max(entry.status, key=lambda status: status.as_of).state


def newest_first(rows: Iterable[ExplorerRow]) -> list[ExplorerRow]:
    """Chips before what is built of them, and in each kind the newest first, undated ones last.

    Of a year come first those whose peak rate is on file: they can be compared.
    """
    order = [*KINDS]

    def place(row: ExplorerRow) -> tuple[int, int, bool, float, str]:
        has_peak = isinstance(row.cells.get(peak_id(*START)), Picked)
        year = _year(row)
        return order.index(row.entry.kind), -int(year), not has_peak, -year, row.entry.id

    return sorted(rows, key=place)


def _year(row: ExplorerRow) -> float:
    return value_of(row.cells, "date") or 0.0


@per_library
def _newest() -> float:
    return max(map(_year, items()), default=0.0)


def is_current(row: ExplorerRow) -> bool:
    """Whether it is a chip of today's data centres: on offer, recent, and with HBM or a link."""
    if row.entry.kind != "package" or state_of(row.entry) not in _ON_OFFER:
        return False
    memory, link_rate = row.cells.get("memory"), row.cells.get("scaleup_bandwidth")
    has_hbm = isinstance(memory, Picked) and memory.kind.startswith("HBM")
    is_recent = _year(row) > _newest() - _RECENT_YEARS
    return is_recent and (has_hbm or isinstance(link_rate, Picked))


def anchor(cell: Picked, place: int) -> str:
    """Where a value stands on its entry's page."""
    claim = cell.claim
    return slug(f"{claim.field}-{claim.dtype}-{claim.sparsity}-{place}")


def peak_words(dtype: str, engine: str, sparsity: str) -> str:
    """A peak as people say it."""
    words = [dtype, SPARSITIES.get(sparsity, sparsity)]
    if engine == "vector":  # the matrix engine goes without saying
        words.insert(1, engine)
    return " ".join(words)


# The page.


def index_page() -> str:
    """The table and the pictures, complete without a script, and what the script needs."""
    rows = newest_first(items())
    blocks = [
        front_matter(
            "Accelerators",
            "Peaks, memory, bandwidth, links and power of accelerators, each value with its "
            "source.",
            wide=True,
        ),
        Markdown("# Accelerators\n"),
        Markdown(
            "{:,} products of {} vendors, {:,} values, each with its source. Dense and sparse "
            "peaks are never mixed. [All of this as JSON and CSV]({}).\n"
        ).format(
            len(rows),
            len({row.entry.vendor for row in rows}),
            sum(len(row.entry.claims) for row in rows),
            relative(INDEX, "data.md"),
        ),
        stylesheet(INDEX, f"{SCRIPTS}panel.css"),
        stylesheet(INDEX, f"{SCRIPTS}explorer.css"),
        # The script asks for its data at once: the browser fetches both together.
        Html('<link rel="preload" href="{}" as="fetch" crossorigin="anonymous">').format(DATA),
        Html('<div class="fb-explorer" data-json="{}" data-rest="{}" data-trends="{}">').format(
            DATA, REST, html_link(INDEX, TRENDS)
        ),
        Html('<div class="fb-panel"></div>'),
        Html('<section class="fb-view" data-view="table"><h2 id="all">All entries</h2>'),
        plain_table(rows),
        Html("</section>"),
        Html(
            '<section class="fb-view" data-view="trends"><h2 id="trends">Over the years</h2>'
            '<p class="fb-elsewhere">Peak, memory, bandwidth and power of all chips by year: {}.'
            "</p></section>"
        ).format(link("the pictures", html_link(INDEX, TRENDS))),
        Html("</div>"),
        Html('<script type="module" src="{}"></script>').format(
            html_link(INDEX, f"{SCRIPTS}main.js")
        ),
        Markdown("\nVendors: {}.\n").format(Html(", ").join(map(_vendor_link, vendor_ids()))),
    ]
    return page_text(blocks)


def trends_page() -> str:
    """The pictures over the years; the script of the explorer takes them from here."""
    blocks = [
        front_matter(
            "Chips over the years",
            "Peak rate, memory, bandwidth, power and silicon of accelerators by year.",
            wide=True,
        ),
        Markdown("# Chips over the years\n"),
        Markdown(
            "Chips by the date of their launch, or of their announcement where no launch is "
            "recorded. Each point leads to the page of its chip; the [table of all chips]({}) has "
            "the same pictures with filters.\n"
        ).format(relative(TRENDS, INDEX)),
        Markdown("## What a chip has, by year\n"),
        stylesheet(TRENDS, f"{SCRIPTS}explorer.css"),
        Html('<div class="fb-view fb-explorer" data-view="trends">'),
        trends(newest_first(items()), TRENDS),
        Html("</div>"),
    ]
    return page_text(blocks) + "\n"


def _vendor_link(vendor_id: str) -> Html:
    return Markdown("[{}]({}/index.md)").format(vendor(vendor_id).name, attribute(vendor_id))


def products(rows: Sequence[ExplorerRow], page: str = INDEX) -> list[Product]:
    """What pictures over the years need of chips; `page` is where they stand."""
    colours = groups(rows)
    chips = [row for row in rows if row.entry.kind == "package"]
    return [_product(row, colours[row.entry.vendor], page) for row in chips]


def _product(row: ExplorerRow, colour: int, page: str) -> Product:
    entry = row.entry
    href = html_link(page, entry_page(entry.id))
    return Product(entry.id, entry.name, href, vendor(entry.vendor).name, colour, row.cells)


def trends(rows: Sequence[ExplorerRow], page: str = INDEX) -> Html:
    """The pictures of all chips over the years."""
    return section(products(rows, page), legend_names(groups(rows)))


# The plain table.


def plain_table(rows: Sequence[ExplorerRow]) -> Html:
    """Every entry as a row: chips in one body of the table, what is built of them in another."""
    chips = [row for row in rows if row.entry.kind == "package"]
    built = [row for row in rows if row.entry.kind != "package"]
    return Html(
        '<div class="fb-scroll" tabindex="0" role="region" aria-label="All entries">\n'
        '<table class="fb-all">'
        "<caption>Chips first, then the nodes, systems and pods built from them, with totals "
        "summed from their parts. {} A dash: {}.</caption>\n"
        "<thead><tr>{}</tr></thead>{}{}</table></div>"
    ).format(
        UNITS_OF_COLUMNS,
        NOT_RECORDED,
        _heads(),
        _body("fb-chips", chips),
        _body("fb-wholes", built),
    )


def _heads() -> Html:
    heads = [
        *(_head(text) for text in ("Name", "Kind", "Status")),
        _head("Year", "fb-n", "date"),
        _head(f"Peak, {peak_words(*START)}", "fb-n", peak_id(*START)),
        *(_head(peak_words(*peak), f"fb-n{_STATIC}", peak_id(*peak)) for peak in PLAIN_PEAKS),
        *(_head(_QUANTITIES[name].label, "fb-n", name) for name in ("intensity", *COLUMNS)),
    ]
    return Html().join(heads)


def _head(text: str, kind: str = "", key: str = "") -> Html:
    attributes = Html(' class="{}"').format(kind) if kind else Html()
    if key:
        attributes += Html(' data-key="{}"').format(attribute(key))
    return Html('<th scope="col"{}>{}</th>').format(attributes, text)


def _body(kind: str, rows: Iterable[ExplorerRow]) -> Html:
    lines = Html("\n").join(map(_row, rows))
    return Html('<tbody class="{}">\n{}\n</tbody>').format(kind, lines)


def _row(row: ExplorerRow) -> Html:
    entry = row.entry
    body = [
        tag("td", KINDS[entry.kind]),
        tag("td", state_of(entry)),
        _cell(row, "date", _QUANTITIES["date"]),
        _cell(row, peak_id(*START), _PEAK),
        *(_cell(row, peak_id(*peak), _PEAK, _STATIC) for peak in PLAIN_PEAKS),
        tag("td", _intensity(row), "fb-n"),
        *(_cell(row, name, _QUANTITIES[name]) for name in COLUMNS),
    ]
    return Html(
        '<tr data-id="{}"><th scope="row"><span class="fb-pick">{}</span></th>{}</tr>'
    ).format(
        attribute(entry.id),
        link(entry.name, html_link(INDEX, entry_page(entry.id))),
        Html().join(body),
    )


def _intensity(row: ExplorerRow) -> Html:
    """The ratio of peak and bandwidth, with the marks of both."""
    peak = row.cells.get(peak_id(*START))
    bandwidth = row.cells.get("memory_bandwidth")
    if not isinstance(peak, Picked) or not isinstance(bandwidth, Picked) or not bandwidth.value:
        return _NONE
    words = _QUANTITIES["intensity"].words(peak.value / bandwidth.value)
    return Html.escape(words) + _badges((*peak.notes, *bandwidth.notes))


def _badges(marks: Iterable[str]) -> Html:
    loud = [mark for mark in dict.fromkeys(marks) if mark in LOUD]
    return Html().join(Html(" {}").format(tag("span", mark, "fb-badge")) for mark in loud)


def _cell(row: ExplorerRow, name: str, quantity: Quantity, kind: str = "") -> Html:
    cell = row.cells.get(name)
    if not isinstance(cell, Picked):
        return tag("td", _missing(row, name), f"fb-n{kind}")
    page = html_link(INDEX, entry_page(row.entry.id))
    place = row.places.get(id(cell.claim))
    href = page if place is None else Html("{}#{}").format(page, anchor(cell, place))
    words = link(quantity.of_cell(cell, row.entry.kind), href)
    # Who says the year of a chip hardly matters: a badge in each row hides those that do.
    badges = Html() if name == "date" else _badges(cell.notes)
    return tag("td", words + badges, f"fb-n{kind}")


def _missing(row: ExplorerRow, name: str) -> Html:
    words = missing(row.cells, name)
    if words == NOT_RECORDED:
        return _NONE
    return tag("span", words, "fb-none")
