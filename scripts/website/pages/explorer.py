"""The page of all accelerators: a plain table and pictures, and the data from which a script makes
the explorer.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from flopbook.data.accelerators import Entry
from flopbook.data.library import entry_ids, load_entry, references, vendor, vendor_ids
from flopbook.drawing.markup import escape, front_matter, inline, link, relative, slug
from flopbook.quantities.units import unit
from scripts.website.pages.accelerators import INDEX, KINDS, entry_page
from scripts.website.pages.calculators import units_record
from scripts.website.pages.quantities import (
    NOT_RECORDED,
    PEAK,
    QUANTITIES,
    RATIOS,
    SPARSITIES,
    Cell,
    Cells,
    Quantity,
    cells,
    missing,
    peak_id,
    shown_claims,
)
from scripts.website.pages.sources import html_link, provenance, stylesheet
from scripts.website.pages.trends import SHAPES, Product, section
from scripts.website.pages.values import condition_words

DATA = "explorer.json"
SCRIPTS = "assets/flopbook/explorer/"
COLOURS = len(SHAPES) - 1  # the last shape is for all other vendors
# Marks that a reader must see in the table too, not only beside a comparison.
LOUD = ("estimated", "reported")
ENGINES = {"tensor": "matrix engine", "vector": "vector engine"}
START = ("bf16", "tensor", "dense")


class Item(NamedTuple):
    """An entry with its cells and with the place of each claim on its page."""

    entry: Entry
    cells: Cells
    places: dict[int, int]


def items() -> list[Item]:
    """All entries, chips first, then what is built of them; by id within a kind."""
    found = []
    for name in entry_ids():
        entry = load_entry(name)
        shown = shown_claims(entry)
        found.append(
            Item(entry, cells(entry, shown), {id(claim): n for n, claim in enumerate(shown)})
        )
    order = [*KINDS]
    return sorted(found, key=lambda item: (order.index(item.entry.kind), item.entry.id))


def groups(found: Sequence[Item]) -> dict[str, int]:
    """Vendor -> number of its colour: those with the most chips have one of their own, all others
    share the last.
    """
    counts = Counter(item.entry.vendor for item in found if item.entry.kind == "package")
    ranked = sorted(counts, key=lambda name: (-counts[name], name))
    return {name: min(n, COLOURS) for n, name in enumerate(ranked)}


def state_of(entry: Entry) -> str:
    """The status by the newest reading."""
    return max(entry.status, key=lambda status: status.as_of).state if entry.status else ""


def anchor(cell: Cell, place: int) -> str:
    """Where a value stands on its entry's page."""
    claim = cell.claim
    return slug(f"{claim.field}-{claim.dtype}-{claim.sparsity}-{place}")


# The plain table.


def peak_words(dtype: str, engine: str, sparsity: str) -> str:
    """A peak as people say it."""
    return " ".join(
        [dtype, *(["vector"] if engine == "vector" else []), SPARSITIES.get(sparsity, sparsity)]
    )


COLUMNS = ("memory", "memory_bandwidth", "scaleup_bandwidth", "power")
PLAIN_PEAKS = (
    ("bf16", "tensor", "2:4"),
    ("bf16", "tensor", "unstated"),
    ("fp8", "tensor", "dense"),
)


def index_page() -> str:
    """The table and the pictures, complete without a script, and what the script needs."""
    found = items()
    claims = sum(len(item.entry.claims) for item in found)
    vendors = ", ".join(f"[{inline(vendor(name).name)}]({name}/index.md)" for name in vendor_ids())
    script = f'<script type="module" src="{html_link(INDEX, SCRIPTS + "main.js")}"></script>'
    lines = [
        front_matter(
            "Accelerators",
            "Peaks, memory, bandwidth, links and power of accelerators, each value with its source.",
            wide=True,
        ),
        "# Accelerators\n",
        f"{len(found)} entries of {len(vendor_ids())} vendors with {claims} values. Each value leads to its source. "
        "Dense, 2:4 sparse and unstated peaks are never mixed, because they are different numbers. "
        f"[All of this as JSON and CSV]({relative(INDEX, 'data.md')}).\n",
        stylesheet(INDEX, SCRIPTS + "panel.css"),
        stylesheet(INDEX, SCRIPTS + "explorer.css"),
        f'<link rel="preload" href="{DATA}" as="fetch" crossorigin="anonymous">',
        f'<div class="fb-explorer" data-json="{DATA}">',
        '<div class="fb-panel"></div>',
        '<section class="fb-view" data-view="table"><h2 id="all">All entries</h2>',
        plain_table(found),
        "</section>",
        '<section class="fb-view" data-view="trends"><h2 id="trends">Over the years</h2>',
        "<p>Chips by the date of their announcement, or of their launch where no announcement is recorded.</p>",
        trends(found),
        "</section>",
        "</div>",
        script,
        f"\nVendors: {vendors}.\n",
    ]
    return "\n".join(lines)


def plain_table(found: Sequence[Item]) -> str:
    """Every entry as a row; the columns of class fb-static are for readers without a script, which
    offers them anew.
    """
    named = {q.id: q for q in (*QUANTITIES, *RATIOS)}
    heads = [
        *(_head(text) for text in ("Name", "Kind", "Status")),
        _head("Year", "fb-n", "date"),
        _head(f"Peak, {peak_words(*START)}", "fb-n", peak_id(*START)),
        *(_head(peak_words(*peak), "fb-n fb-static", peak_id(*peak)) for peak in PLAIN_PEAKS),
        *(_head(named[name].label, "fb-n", name) for name in ("intensity", *COLUMNS)),
    ]
    bodies = [
        f'<tbody class="{kind}">\n' + "\n".join(_row(item, named) for item in group) + "\n</tbody>"
        for kind, group in (
            ("fb-chips", [item for item in found if item.entry.kind == "package"]),
            ("fb-wholes", [item for item in found if item.entry.kind != "package"]),
        )
    ]
    return (
        '<div class="fb-scroll" tabindex="0" role="region" aria-label="All entries">\n<table class="fb-all">'
        f"<caption>Chips, then what is built of them. Totals of nodes, systems and pods follow from their parts. "
        f"A dash: {NOT_RECORDED}.</caption>\n"
        f"<thead><tr>{''.join(heads)}</tr></thead>{''.join(bodies)}</table></div>"
    )


def _head(text: str, kind: str = "", key: str = "") -> str:
    extra = (f' class="{kind}"' if kind else "") + (f' data-key="{key}"' if key else "")
    return f'<th scope="col"{extra}>{escape(text)}</th>'


def _row(item: Item, named: dict[str, Quantity]) -> str:
    entry, flop = item.entry, Quantity(PEAK, "", "FLOP/s")
    start = peak_id(*START)
    body = [
        f"<td>{KINDS[entry.kind]}</td><td>{escape(state_of(entry))}</td>",
        _cell(item, "date", named["date"]),
        _cell(item, start, flop),
        *(_cell(item, peak_id(*one), flop, " fb-static") for one in PLAIN_PEAKS),
        f'<td class="fb-n">{_intensity(item, named["intensity"])}</td>',
        *(_cell(item, name, named[name]) for name in COLUMNS),
    ]
    name = link(entry.name, html_link(INDEX, entry_page(entry.id)))
    return f'<tr data-id="{entry.id}"><th scope="row"><span class="fb-pick">{name}</span></th>{"".join(body)}</tr>'


_NONE = '<span class="fb-none">-</span>'


def _intensity(item: Item, quantity: Quantity) -> str:
    """The ratio of peak and bandwidth, with the marks of both."""
    parts = [item.cells.get(name) for name in (peak_id(*START), "memory_bandwidth")]
    top, bottom = (part if isinstance(part, Cell) else None for part in parts)
    if top is None or bottom is None or not bottom.value:
        return _NONE
    return escape(quantity.words(top.value / bottom.value)) + _badges((*top.marks, *bottom.marks))


def _badges(marks: Sequence[str]) -> str:
    return "".join(
        f' <span class="fb-badge">{mark}</span>' for mark in dict.fromkeys(marks) if mark in LOUD
    )


def _cell(item: Item, name: str, quantity: Quantity, kind: str = "") -> str:
    cell = item.cells.get(name)
    if not isinstance(cell, Cell):
        words = missing(item.cells, name)
        inner = _NONE if words == NOT_RECORDED else f'<span class="fb-none">{escape(words)}</span>'
        return f'<td class="fb-n{kind}">{inner}</td>'
    place = item.places.get(id(cell.claim))
    page = html_link(INDEX, entry_page(item.entry.id))
    href = page if place is None else f"{page}#{anchor(cell, place)}"
    return f'<td class="fb-n{kind}"><a href="{href}">{escape(quantity.words(cell.value))}</a>{_badges(cell.marks)}</td>'


def products(found: Sequence[Item]) -> list[Product]:
    """What pictures over the years need of chips."""
    own = groups(found)
    return [
        Product(
            item.entry.id,
            item.entry.name,
            html_link(INDEX, entry_page(item.entry.id)),
            vendor(item.entry.vendor).name,
            own[item.entry.vendor],
            item.cells,
        )
        for item in found
        if item.entry.kind == "package"
    ]


def trends(found: Sequence[Item]) -> str:
    """The pictures of all chips over the years."""
    return section(products(found), legend_names(groups(found)))


def legend_names(own: dict[str, int]) -> dict[int, str]:
    """Number of a colour -> whose it is."""
    named = {n: vendor(name).name for name, n in own.items() if n < COLOURS}
    return named | ({COLOURS: "other vendors"} if COLOURS in own.values() else {})


# The data of the script.


class _Index:
    """Texts that many cells share, each stored once."""

    def __init__(self, *first: Any) -> None:
        self.listed: list[Any] = [*first]

    def of(self, text: Any) -> int:
        if text not in self.listed:
            self.listed.append(text)
        return self.listed.index(text)


def explorer_record(found: Sequence[Item]) -> dict[str, Any]:
    """All cells with units, sources and words; a cell is [value, place on the entry's page, source,
    marks, kind].
    """
    marks, kinds, sources = _Index([]), _Index(""), _Index()
    entries = [_entry_record(item, (sources, marks, kinds)) for item in found]
    units, own = units_record(), groups(found)
    return {
        "start": list(START),
        "loud": list(LOUD),
        "sparsities": SPARSITIES,
        "engines": ENGINES,
        "kinds_of_entry": KINDS,
        "columns": list(COLUMNS),
        "shapes": list(SHAPES),
        "vendors": {name: [vendor(name).name, own.get(name, COLOURS)] for name in vendor_ids()},
        "legend": legend_names(own),
        "quantities": [q._asdict() for q in QUANTITIES],
        "ratios": [q._asdict() for q in RATIOS],
        "peaks": _peaks(found),
        "factors": {q.shown: unit(q.shown).factor for q in (*QUANTITIES, *RATIOS) if q.shown},
        "sources": [
            references()[key].short if key in references() else key for key in sources.listed
        ],
        "marks": marks.listed,
        "kinds": kinds.listed,
        "prefixes": units["prefixes"],
        "customary": units["customary"],
        "counts": units["counts"],
        "units": {},
        "entries": entries,
    }


def _entry_record(item: Item, shared: tuple[_Index, _Index, _Index]) -> list[Any]:
    entry = item.entry
    values = {name: _cell_record(item, cell, shared) for name, cell in item.cells.items()}
    return [
        entry.id,
        entry.name,
        entry.vendor,
        entry.kind,
        state_of(entry),
        list(entry.aliases),
        values,
    ]


def _cell_record(
    item: Item, cell: Cell | str, shared: tuple[_Index, _Index, _Index]
) -> list[Any] | str:
    if isinstance(cell, str):
        return cell
    sources, marks, kinds = shared
    place = item.places.get(id(cell.claim), -1)
    record = [
        cell.value,
        place,
        sources.of(cell.claim.source),
        marks.of(list(cell.marks)),
        kinds.of(cell.kind),
    ]
    while len(record) > 3 and record[-1] == 0:
        record.pop()
    return record


def _peaks(found: Sequence[Item]) -> list[list[str]]:
    """The peaks that some entry has, as dtype, engine, sparsity and unit; the commonest number
    formats first.
    """
    units: dict[tuple[str, str, str], str] = {}
    formats: Counter[tuple[str, str]] = Counter()
    for item in found:
        for name, cell in item.cells.items():
            if isinstance(cell, Cell) and name.startswith(f"{PEAK}:"):
                dtype, engine, sparsity = name.split(":", 3)[1:]
                units[dtype, engine, sparsity] = cell.claim.si_unit
                formats[dtype, engine] += 1
    rank = {pair: n for n, (pair, _) in enumerate(formats.most_common())}
    order = sorted(units, key=lambda p: (p[1] != "tensor", rank[p[:2]], [*SPARSITIES].index(p[2])))
    return [[*peak, units[peak]] for peak in order]


def source_records(found: Sequence[Item]) -> dict[str, Any]:
    """Vendor -> entry -> quantity -> where the value comes from; each vendor's file is loaded when
    it is asked for.
    """
    records: dict[str, Any] = {}
    for item in found:
        texts = {
            name: "; ".join(
                part for part in (condition_words(cell.claim), provenance(cell.claim)) if part
            )
            for name, cell in item.cells.items()
            if isinstance(cell, Cell)
        }
        records.setdefault(item.entry.vendor, {})[item.entry.id] = texts
    return records


def files() -> dict[str, str]:
    """Content path -> text of the data files of the page."""
    found = items()
    records: dict[str, Any] = {
        f"accelerators/{name}/sources.json": texts for name, texts in source_records(found).items()
    }
    records |= {f"accelerators/{DATA}": explorer_record(found)}
    return {name: _json(record) for name, record in records.items()}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
