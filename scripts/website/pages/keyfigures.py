"""The card of a product: each key figure as one large number, with a line on what it means.

The sentences are templates at the head, for an editor to read in one place.
"""

from __future__ import annotations

import math
import statistics
import string
from collections.abc import Iterator
from typing import NamedTuple

from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim
from flopbook.data.library import reference
from flopbook.hardware.choice import choose
from flopbook.hardware.five_figures import five_figures
from flopbook.hardware.picked import Picked
from flopbook.quantities.units import format_quantity, percent, two_digits
from scripts.website.markup import Html, attribute
from scripts.website.pages.explorer import ExplorerRow, anchor
from scripts.website.pages.meaning import ridge_words
from scripts.website.pages.priced import PRICES_PLACE, newest_prices
from scripts.website.pages.products import rows_by_id
from scripts.website.pages.quantities import (
    ANNOUNCED,
    HALVED,
    SPARSITIES,
    Cells,
    missing,
    peak_id,
    value_of,
)
from scripts.website.pages.reached import best_by_source, runs_of_chip, sides
from scripts.website.pages.values import anchor_of, shown_value

_PEAK = "{dtype}, {sparsity}, on the matrix engine."
_VECTOR_PEAK = "{dtype}, {sparsity}, on the vector engine: no matrix rate is recorded."
_SPARSE = "With {sparsity} sparsity: {value}."
_ONLY_SPARSE = "Only with {sparsity} sparsity: {value} in {dtype}."
_NEXT_FORMATS = "Narrower formats: {list}."
_MEMORY = "{type}holds {params} in 16 bits, weights alone."
_BANDWIDTH = "Reads the whole memory in {time}."
_RIDGE = "Needs {ridge} FLOP per byte to stay busy in {dtype}."
_LINK = "{name}one way{domain}."
_DOMAIN = ", in a domain of {count:,.0f} chips"
_BOTH_WAYS = "Printed as {value}, both ways added."
_UNDIRECTED = "No one-way rate; {value} is printed without a direction."
_POWER = "{kind}{efficiency} per watt at the {dtype} peak."
_POWER_ALONE = "{kind}power."
_DATE = "{event} {date}."
_MEASURED = "Of the dense {dtype} peak: {value} in a matrix product of {shape}."
_BEST_MEASURED = "Of the dense {dtype} peak: {value}, {shape}."
_OVER_PEAK = "Over 100 %: the card runs above the boost clock of its printed peak."
_MEASURERS = "All measurements: {low:.0f} to {high:.0f} %."
_PRICES = "On demand: the middle of {count} list prices, {low} to {high}."
_TWO_PRICES = "On demand: the lower of two list prices; the other is {high}."
_ONE_PRICE = "On demand, by the list price on file."
_MEASURED_ALIKE = 0.01
_TOTAL = "Of all its chips together."
_LOOKED_AT = "Looked at: {source}."
# Who stands behind a figure that its vendor does not print.
_ESTIMATED = "Estimated by {source}, not printed by the vendor."
_REPORTED = "Reported by {source}."
_SAID_BY = "According to {source}."
# The peak on the card: the first of these that the product has.
_LEADING = (
    *(("bf16", "tensor", sparsity) for sparsity in ("dense", "unstated")),
    *(("fp16", "tensor", sparsity) for sparsity in ("dense", "unstated")),
    *(("fp8", "tensor", sparsity) for sparsity in ("dense", "unstated")),
    *(("int8", "tensor", sparsity) for sparsity in ("dense", "unstated")),
    *((dtype, "vector", "dense") for dtype in ("bf16", "fp16", "fp32")),
    # Block formats and four bits: all that is printed of some chips that only serve.
    *(
        (dtype, "tensor", sparsity)
        for dtype in ("mxfp8", "mxint8", "bfp8", "nvfp4", "fp4", "mxfp4", "mxint4")
        for sparsity in ("dense", "unstated")
    ),
)
_NARROWER = ("fp8", "mxfp8", "int8", "mxint8", "fp4", "nvfp4", "mxfp4", "int4", "mxint4")


class Peak(NamedTuple):
    """The peak that leads the card, with its conditions."""

    dtype: str
    engine: str
    sparsity: str
    picked: Picked


class CardFigure(NamedTuple):
    """A key figure: label, value in words or why there is none, its claim's anchor, sentences."""

    label: str
    words: str
    anchor: str
    sentences: tuple[str, ...]
    kind: str = ""


def cards(entry: Entry) -> Html:
    """The key figures as a list of cards."""
    row = rows_by_id()[entry.id]
    items = Html("\n").join(_card(figure) for figure in figures(row))
    return Html('<div class="fb-cards fb-figures">\n{}\n</div>\n').format(items)


def _card(figure: CardFigure) -> Html:
    sentences = [Html.escape(sentence) for sentence in figure.sentences]
    if figure.anchor:
        sentences.append(
            Html('<a href="#{}">source<span class="fb-hidden"> of {}</span></a>').format(
                attribute(figure.anchor), figure.label
            )
        )
    return Html(
        '<div class="fb-card"><div class="fb-fine">{}</div>{}<div class="fb-fine">{}</div></div>'
    ).format(figure.label, _number(figure), Html(" ").join(sentences))


def _number(figure: CardFigure) -> Html:
    """The value with its unit in small; words in place of a value stay small altogether."""
    number, _, unit = figure.words.partition(" ")
    if not number[:1].isdigit():
        return Html('<div class="fb-number"><span class="fb-unit">{}</span></div>').format(
            figure.words
        )
    kind = f"fb-number {figure.kind}".strip()
    if not unit:
        return Html('<div class="{}">{}</div>').format(kind, number)
    return Html('<div class="{}">{} <span class="fb-unit">{}</span></div>').format(
        kind, number, unit
    )


def figures(row: ExplorerRow) -> Iterator[CardFigure]:
    """Peak, memory, bandwidth, link, power, year, what was measured of the peak, and the rent."""
    peak = leading_peak(row.cells)
    yield _peak(row, peak)
    yield _memory(row)
    yield _bandwidth(row, peak)
    yield _link(row)
    yield _power(row, peak)
    yield _year(row)
    yield from _measured(row, peak)
    yield from _rent(row)


def leading_peak(cells: Cells) -> Peak | None:
    """bf16 on the matrix engine, else the nearest that the product has."""
    for dtype, engine, sparsity in _LEADING:
        cell = cells.get(peak_id(dtype, engine, sparsity))
        if isinstance(cell, Picked) and not _is_sparse(
            cell, cells.get(peak_id(dtype, engine, "2:4"))
        ):
            return Peak(dtype, engine, sparsity, cell)
    return None


def _is_sparse(cell: Picked, sparse: Picked | str | None) -> bool:
    """Whether a rate without a word on sparsity is the one that another source calls sparse."""
    return isinstance(sparse, Picked) and math.isclose(cell.value, sparse.value, rel_tol=0.01)


def _absent(row: ExplorerRow, name: str, label: str) -> CardFigure:
    """No value: whether it is not published or not there, and which source was looked at."""
    claim = five_figures(row.entry).get(name.partition(":")[0])
    if claim is None or claim.published:
        return CardFigure(label, missing(row.cells, name), "", ())
    sentence = _SAID_BY if claim.absent else _LOOKED_AT
    source = reference(claim.source).short
    return CardFigure(label, claim.words, _anchor(row, claim), (sentence.format(source=source),))


def _place(row: ExplorerRow, cell: Picked) -> str:
    place = row.places.get(id(cell.claim))
    return "" if place is None else anchor(cell, place)


def _peak(row: ExplorerRow, peak: Peak | None) -> CardFigure:
    if peak is None:
        figure = _absent(row, peak_id("bf16", "tensor", "dense"), "Peak")
        return figure._replace(sentences=(*_only_sparse(row.cells), *figure.sentences))
    template = _VECTOR_PEAK if peak.engine == "vector" else _PEAK
    sentences = [template.format(dtype=peak.dtype, sparsity=SPARSITIES[peak.sparsity])]
    for sparsity in ("2:4", "4:1"):
        sparse = row.cells.get(peak_id(peak.dtype, peak.engine, sparsity))
        if isinstance(sparse, Picked):
            words = shown_value(sparse.claim)
            sentences.append(_SPARSE.format(sparsity=sparsity, value=words))
    if narrower := list(_narrower(row.cells, peak)):
        sentences.append(_NEXT_FORMATS.format(list=", ".join(narrower)))
    words = format_quantity(peak.picked.value, peak.picked.unit)
    sentences += _behind(peak.picked)
    return CardFigure("Peak", words, _place(row, peak.picked), _told(row, sentences), "fb-flop")


def _only_sparse(cells: Cells) -> Iterator[str]:
    """The sparse rate of a product of which no other is known: all that its vendor prints."""
    for dtype in ("bf16", "fp16", *_NARROWER):
        cell = cells.get(peak_id(dtype, "tensor", "2:4"))
        if isinstance(cell, Picked):
            value = shown_value(cell.claim)
            yield _ONLY_SPARSE.format(sparsity="2:4", value=value, dtype=dtype)
            return


def _narrower(cells: Cells, peak: Peak) -> Iterator[str]:
    """The peak of each narrower width, as dense as the one that leads: of 8 bits, then of 4."""
    width = _bits(peak.dtype)
    for dtype in _NARROWER:
        cell = cells.get(peak_id(dtype, peak.engine, peak.sparsity))
        if _bits(dtype) < width and isinstance(cell, Picked):
            width = _bits(dtype)
            yield f"{dtype} {shown_value(cell.claim)}"


def _bits(dtype: str) -> int:
    """The bits of a value, with which the name of its format ends: 8 of mxfp8."""
    return int(dtype[-2:].lstrip(string.ascii_letters))


def _behind(cell: Picked) -> tuple[str, ...]:
    """A sentence where the figure is an estimate or a report: who acts on it should know."""
    template = {"estimated": _ESTIMATED, "reported": _REPORTED}.get(cell.claim.basis)
    return (template.format(source=reference(cell.claim.source).short),) if template else ()


def _told(row: ExplorerRow, sentences: list[str]) -> tuple[str, ...]:
    """The sentences, with one more where the value is the sum of several chips."""
    if row.entry.kind in ("package", "card"):
        return tuple(sentences)
    return (*sentences, _TOTAL)


def _memory(row: ExplorerRow) -> CardFigure:
    cell = row.cells.get("memory")
    if not isinstance(cell, Picked):
        return _absent(row, "memory", "Memory")
    held = float(f"{cell.value / 2:.2g}")
    params = format_quantity(held, "param").replace("param", "parameter")
    # Of a memory whose kind no source says, what it holds is all there is to say.
    has_kind = cell.claim.type or cell.claim.tier != "unstated"
    opening = f"{cell.kind}: " if cell.kind and has_kind else ""
    sentence = _capitalized(_MEMORY.format(type=opening, params=params))
    told = _told(row, [sentence, *_behind(cell)])
    return CardFigure("Memory", cell.words, _place(row, cell), told, "fb-byte")


def _capitalized(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _bandwidth(row: ExplorerRow, peak: Peak | None) -> CardFigure:
    cell = row.cells.get("memory_bandwidth")
    if not isinstance(cell, Picked):
        return _absent(row, "memory_bandwidth", "Memory bandwidth")
    sentences = []
    memory = value_of(row.cells, "memory")
    if memory is not None:
        sentences.append(_BANDWIDTH.format(time=two_digits(memory / cell.value, "s")))
    if peak is not None:
        ridge = ridge_words(peak.picked.value / cell.value)
        sentences.append(_RIDGE.format(ridge=ridge, dtype=peak.dtype))
    sentences += _behind(cell)
    words = format_quantity(cell.value, "byte/s")
    return CardFigure("Memory bandwidth", words, _place(row, cell), tuple(sentences), "fb-byte")


def _link(row: ExplorerRow) -> CardFigure:
    cell = row.cells.get("scaleup_bandwidth")
    if not isinstance(cell, Picked):
        figure = _absent(row, "scaleup_bandwidth", "Link to other chips")
        return figure._replace(sentences=(*_undirected(row), *figure.sentences))
    domain = value_of(row.cells, "scaleup_domain")
    where = _DOMAIN.format(count=domain) if domain else ""
    name = f"{cell.kind}, " if cell.kind else ""
    sentences = [_capitalized(_LINK.format(name=name, domain=where))]
    if HALVED in cell.notes:
        both = format_quantity(2 * cell.value, "byte/s")
        sentences.append(_BOTH_WAYS.format(value=both))
    words = format_quantity(cell.value, "byte/s")
    sentence = _told(row, [*sentences, *_behind(cell)])
    return CardFigure("Link to other chips", words, _place(row, cell), sentence, "fb-byte")


def _undirected(row: ExplorerRow) -> Iterator[str]:
    """A rate of all links of the chip that may be of one way or of both: not to be compared."""
    claim = choose(
        claim
        for claim in row.entry.claims
        if (claim.field, claim.direction, claim.aggregate)
        == ("scaleup_bandwidth", "unstated", "chip")
    )
    if claim is not None and claim.si_value:
        yield _UNDIRECTED.format(value=shown_value(claim))


def _power(row: ExplorerRow, peak: Peak | None) -> CardFigure:
    cell = row.cells.get("power")
    if not isinstance(cell, Picked):
        return _absent(row, "power", "Power")
    kind = f"{cell.kind} " if cell.kind else ""
    sentence = _capitalized(_POWER_ALONE.format(kind=kind or "maximum "))
    if peak is not None:
        rate = two_digits(peak.picked.value / cell.value, peak.picked.unit)
        opening = f"{_capitalized(kind.strip())}: " if kind else ""
        sentence = _POWER.format(kind=opening, efficiency=rate, dtype=peak.dtype)
    words = format_quantity(cell.value, "W")
    return CardFigure("Power", words, _place(row, cell), (sentence, *_behind(cell)))


def _year(row: ExplorerRow) -> CardFigure:
    cell = row.cells.get("date")
    if not isinstance(cell, Picked):
        return _absent(row, "date", "Year")
    event = "Announced" if ANNOUNCED in cell.notes else "Launched"
    sentence = _DATE.format(event=event, date=cell.kind)
    return CardFigure("Year", f"{int(cell.value)}", _place(row, cell), (sentence,))


def _measured(row: ExplorerRow, peak: Peak | None) -> Iterator[CardFigure]:
    """The share of its peak that a matrix product was measured at, where somebody measured it."""
    if peak is None or row.entry.kind not in ("package", "card"):
        return
    claims = [
        claim
        for claim in row.entry.claims
        if claim.field == "measured_matmul" and claim.dtype == peak.dtype
    ]
    claim = choose(claims)
    if claim is None or not claim.si_value:
        return
    share = claim.si_value / peak.picked.value
    # A sweep has no one shape, and says so in words.
    template = _MEASURED if "x" in claim.shape and claim.shape[0].isdigit() else _BEST_MEASURED
    sentence = template.format(
        dtype=peak.dtype,
        value=format_quantity(claim.si_value, peak.picked.unit),
        shape=sides(claim.shape),
    )
    over = (_OVER_PEAK,) if share > 1 else ()
    said = (sentence, *over, *_measurers(row.entry.id, peak.dtype, share))
    yield CardFigure("Measured", percent(share), _anchor(row, claim), said, "fb-flop")


def _measurers(chip: str, dtype: str, shown: float) -> Iterator[str]:
    """The range of what sources measured at best, which the page lists, with the share shown."""
    runs = [
        run
        for run in runs_of_chip(chip)
        if run.row.kind == "matmul_peak" and run.format == dtype and run.rate.share
    ]
    shares = [shown, *(run.rate.share or shown for run in best_by_source(runs))]
    if max(shares) - min(shares) > _MEASURED_ALIKE:
        yield _MEASURERS.format(low=100 * min(shares), high=100 * max(shares))


def _rent(row: ExplorerRow) -> Iterator[CardFigure]:
    """What clouds ask for an hour of it on demand: the middle one of their list prices."""
    asked = [
        price.per_chip
        for price in newest_prices()
        if price.chip == row.entry.id and price.terms == "on-demand"
    ]
    if not asked:
        return
    low, high = (f"{price:,.2f}" for price in (min(asked), max(asked)))
    template = _TWO_PRICES if len(asked) == 2 else _PRICES
    sentence = _ONE_PRICE if low == high else template.format(count=len(asked), low=low, high=high)
    words = f"{statistics.median_low(asked):,.2f} USD/h"
    yield CardFigure("Rent", words, PRICES_PLACE, (sentence,))


def _anchor(row: ExplorerRow, claim: Claim) -> str:
    place = row.places.get(id(claim))
    return "" if place is None else anchor_of(claim, place)
