"""Products to look at beside one: those of its family, and those that perform like it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from flopbook.hardware.picked import Picked
from scripts.website.markup import Html, Markdown, attribute, link, tag
from scripts.website.pages.accelerators import INDEX, entry_page
from scripts.website.pages.explorer import ExplorerRow, items, state_of
from scripts.website.pages.products import COLUMNS, FigureColumn, rows_by_id
from scripts.website.pages.quantities import peak_id, value_of
from scripts.website.pages.sources import html_link

MOST = 4  # of a kind
# How alike two products are: all of these within some factor, and none of them missing.
_ALIKE_BY = tuple(column.id for column in COLUMNS[:3])
_FAR = 3.0  # from this factor on products are not alike
_SHOWN = tuple(column for column in COLUMNS if column.id != "date")
# For chips that multiply in fp16 and not in bf16.
_FP16 = COLUMNS[0]._replace(head="fp16, dense", id=peak_id("fp16", "tensor", "dense"))
_GONE = ("cancelled", "discontinued", "internal-only")
_FAMILY, _ALIKE = "Same family", "Similar performance"
_CAPTION = "Multiples of {}"


def neighbours(entry_id: str, page: str) -> list[Html]:
    """A table of ratios, or nothing for a product that resembles no other."""
    row = rows_by_id()[entry_id]
    family, alike = family_of(row), similar(row)
    if not family and not alike:
        return []
    columns = columns_of(row, (*family, *alike))
    bodies = [
        _body(title, rows, row, columns, page)
        for title, rows in ((_FAMILY, family), (_ALIKE, alike))
        if rows
    ]
    heads = (Html('<th scope="col" class="fb-n">{}</th>').format(c.head) for c in columns)
    caption = _CAPTION.format(row.entry.name)
    return [
        Markdown("\n## Close relatives\n"),
        Html(
            '<div class="fb-scroll fb-stacked" tabindex="0" role="region" aria-label="{0}">\n'
            '<table class="fb-products"><caption>{0}; each name opens the comparison.</caption>'
            '<thead><tr><th scope="col">Product</th>{1}</tr></thead>\n{2}\n</table>\n</div>\n'
        ).format(caption, Html().join(heads), Html("\n").join(bodies)),
    ]


def columns_of(base: ExplorerRow, others: Sequence[ExplorerRow]) -> list[FigureColumn]:
    """The figures in which the product can be compared with any of the others."""
    has_bf16 = isinstance(base.cells.get(_SHOWN[0].id), Picked)
    columns = _SHOWN if has_bf16 else (_FP16, *_SHOWN[1:])
    return [column for column in columns if any(ratio(one, base, column.id) for one in others)]


def family_of(row: ExplorerRow) -> list[ExplorerRow]:
    """Products of its family and kind, the most alike first."""
    entry = row.entry
    members = [
        other
        for other in items()
        if other.entry.id != entry.id
        and entry.family
        and (other.entry.vendor, other.entry.family) == (entry.vendor, entry.family)
        and other.entry.kind == entry.kind
    ]
    return sorted(members, key=lambda other: distance(row, other))[:MOST]


def similar(row: ExplorerRow) -> list[ExplorerRow]:
    """Products of its kind from other families that one can still get, the most alike first."""
    entry = row.entry
    candidates = [
        other
        for other in items()
        if other.entry.kind == entry.kind
        and (other.entry.vendor, other.entry.family) != (entry.vendor, entry.family)
        and state_of(other.entry) not in _GONE
        and distance(row, other) < math.log(_FAR)
    ]
    return sorted(candidates, key=lambda other: distance(row, other))[:MOST]


def distance(one: ExplorerRow, other: ExplorerRow) -> float:
    """The logarithm of the largest factor between them in peak, memory and bandwidth."""
    pairs = [(value_of(one.cells, name), value_of(other.cells, name)) for name in _ALIKE_BY]
    if not all(a and b for a, b in pairs):
        return math.inf
    return max(abs(math.log(a / b)) for a, b in pairs if a and b)


def compare_link(page: str, ids: Iterable[str]) -> Html:
    """The address of the comparison of some products."""
    return Html("{}?view=compare&amp;compare={}").format(
        html_link(page, INDEX), attribute(",".join(ids))
    )


def _body(
    title: str,
    rows: Sequence[ExplorerRow],
    base: ExplorerRow,
    columns: Sequence[FigureColumn],
    page: str,
) -> Html:
    head = Html('<tr class="fb-group"><th scope="rowgroup" colspan="{}">{}</th></tr>').format(
        len(columns) + 1, title
    )
    lines = Html("\n").join(_row(row, base, columns, page) for row in rows)
    return Html("<tbody>{}\n{}</tbody>").format(head, lines)


def _row(row: ExplorerRow, base: ExplorerRow, columns: Sequence[FigureColumn], page: str) -> Html:
    cells = Html().join(
        Html('<td class="{}" data-label="{}">{}</td>').format(
            f"fb-n {column.kind}".strip(), column.head, _ratio_words(ratio(row, base, column.id))
        )
        for column in columns
    )
    name = link(row.entry.name, compare_link(page, (base.entry.id, row.entry.id)))
    page_link = link("page", html_link(page, entry_page(row.entry.id)))
    return Html('<tr><th scope="row">{} <span class="fb-note">{}</span></th>{}</tr>').format(
        name, page_link, cells
    )


def ratio(row: ExplorerRow, base: ExplorerRow, name: str) -> float | None:
    """How many times the figure of the base a product has; None where one of them lacks it."""
    own, first = value_of(row.cells, name), value_of(base.cells, name)
    return own / first if own is not None and first else None


def _ratio_words(times: float | None) -> Html:
    if times is None:
        return tag("span", "-", "fb-none")
    return Html.escape(f"{float(f'{times:.2g}'):,.10g}×")
