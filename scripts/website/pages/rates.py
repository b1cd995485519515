"""The peaks of a product as one table: a row for each number format, dense beside sparse."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence

from flopbook.data.claims import Claim
from flopbook.quantities.dtypes import WIDTHS
from scripts.website.markup import Html, tag, tooltip
from scripts.website.pages.sources import provenance
from scripts.website.pages.values import anchor_of, badge, condition_words, shown_value

Placed = tuple[int, Claim]
FIELDS = ("peak", "measured_matmul")
_COLUMNS = {"dense": "Dense", "2:4": "2:4 sparse", "4:1": "4:1 sparse", "unstated": "Not stated"}
_SOURCES = "Point at a value, tap it or move to it with the keyboard: it shows its source."
_SPARSE = (
    "Training and serving run at dense rates; sparse ones count multiplications by zero that are "
    "skipped."
)
_UNSTATED = (
    "A rate that is not said to be dense may count multiplications by zero that are skipped, which "
    "usually doubles it."
)
_MEASURED = "Measured"
_USUAL_BYTES = 2
_TITLE = "Rates by number format"


def rate_table(placed: Sequence[Placed]) -> Html:
    """The table with its heading; nothing for a product without peaks."""
    peaks = [(place, claim) for place, claim in placed if claim.field == "peak"]
    if not peaks:
        return Html()
    measured = [(place, claim) for place, claim in placed if claim.field == "measured_matmul"]
    used = {claim.sparsity for _, claim in peaks}
    columns = [key for key in _COLUMNS if key in used]
    rows = Html("\n").join(
        _row(dtype, engine, columns, peaks, measured) for dtype, engine in _formats(placed)
    )
    heads = [*(_COLUMNS[key] for key in columns), *([_MEASURED] if measured else [])]
    cells = Html().join(Html('<th scope="col" class="fb-n">{}</th>').format(h) for h in heads)
    return Html(
        '<h2 id="rates">{0}</h2>\n'
        '<div class="fb-scroll fb-stacked" tabindex="0" role="region" aria-label="{0}">'
        '\n<table class="fb-rates"><caption class="fb-hidden">{0}</caption>'
        '<thead><tr><th scope="col">Format</th>{1}</tr></thead>\n<tbody>\n{2}\n</tbody></table>'
        '</div>\n<p class="fb-fine">{3}</p>'
    ).format(_TITLE, cells, rows, " ".join(_notes(used)))


def _notes(used: Collection[str]) -> list[str]:
    """Where the sources are, and what the columns that the table has mean for a reader."""
    has_sparse = "2:4" in used or "4:1" in used
    has_unstated = "unstated" in used
    return [
        _SOURCES,
        *([_SPARSE] if has_sparse else []),
        *([_UNSTATED] if has_unstated else []),
    ]


def _formats(placed: Iterable[Placed]) -> list[tuple[str, str]]:
    """Number formats and engines: matrix engines first, and of each what models run in.

    That is 16 bits, then what is narrower, then what is wider; else the order of the data.
    """
    formats = dict.fromkeys(
        (claim.dtype, claim.engine or "tensor") for _, claim in placed if claim.field in FIELDS
    )
    return sorted(formats, key=lambda pair: (pair[1] != "tensor", _use(pair[0])))


def _use(dtype: str) -> int:
    """0 for the formats of 16 bits, 1 for narrower ones, 2 for wider ones and unnamed ones."""
    width = WIDTHS.get(dtype, math.inf)
    if width == _USUAL_BYTES:
        return 0
    return 1 if width < _USUAL_BYTES else 2


def _row(
    dtype: str,
    engine: str,
    columns: Sequence[str],
    peaks: Sequence[Placed],
    measured: Sequence[Placed],
) -> Html:
    cells = [
        _cell(
            [
                (place, claim)
                for place, claim in peaks
                if (claim.dtype, claim.engine, claim.sparsity) == (dtype, engine, column)
            ],
            _COLUMNS[column],
            "fb-flop" if column == "dense" else "",
        )
        for column in columns
    ]
    if measured:
        is_matrix = engine == "tensor"
        own = [(place, claim) for place, claim in measured if claim.dtype == dtype and is_matrix]
        cells.append(_cell(own, _MEASURED))
    name = dtype if engine == "tensor" else f"{dtype}, vector"
    return Html('<tr><th scope="row">{}</th>{}</tr>').format(name, Html().join(cells))


def _cell(claims: Sequence[Placed], label: str, kind: str = "") -> Html:
    values = Html("<br>").join(_value(place, claim, len(claims) > 1) for place, claim in claims)
    return Html('<td class="{}" data-label="{}">{}</td>').format(
        f"fb-n {kind}".strip(), label, values or tag("span", "-", "fb-none")
    )


def _value(place: int, claim: Claim, is_one_of_several: bool) -> Html:
    """A value that shows its source; what tells it from others in its cell stands beside it."""
    shown = tooltip(shown_value(claim), provenance(claim), anchor_of(claim, place))
    if claim.field == "peak":  # all others are measured, which the head of the column says
        shown += badge(claim)
    if not is_one_of_several:
        return shown
    return shown + Html(' <span class="fb-note">{}</span>').format(_apart(claim))


def _apart(claim: Claim) -> str:
    """The conditions of a claim beyond format, sparsity and engine, which its place says."""
    conditions = {claim.dtype, claim.sparsity, claim.engine}
    return ", ".join(word for word in condition_words(claim).split(", ") if word not in conditions)
