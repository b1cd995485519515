"""Comparisons of two chips that people ask for: a verdict in numbers, a table, and where to go on.

The sentences are templates at the head, for an editor to read in one place.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from flopbook.architectures.shape import shape
from flopbook.hardware.chip import chip
from flopbook.hardware.picked import Picked
from flopbook.quantities.units import format_quantity
from scripts.website.markup import (
    Html,
    Markdown,
    Sortable,
    attribute,
    front_matter,
    link,
    page_text,
    table,
    tag,
)
from scripts.website.pages.accelerators import entry_page
from scripts.website.pages.calculators import calculator_page
from scripts.website.pages.explorer import START, ExplorerRow, anchor
from scripts.website.pages.neighbours import compare_link
from scripts.website.pages.pair_bars import BarOfCell, bars_of, printed_words
from scripts.website.pages.pair_names import PAIRS
from scripts.website.pages.pair_plans import buttons, serving_of
from scripts.website.pages.products import rows_by_id, short_name
from scripts.website.pages.quantities import PEAK, QUANTITIES, Quantity, missing, peak_id, value_of
from scripts.website.pages.sources import html_link

INDEX = "compare/index.md"
TITLE = "Comparisons"
_CAPTION = "What the second has, as a multiple of the first"
_LEADS = "{winner} has {ratio} times the {what} of {loser}: {high} against {low}."
_EQUAL = "Both have about the same {what}, {high}."
_POWER = "{winner} is specified at {low}, {loser} at {high}."
_LACKS = "The {what} of {name} is {words}."
_WORK = (
    "In {dtype}, work that waits for arithmetic, such as training and long prompts, is {peak}; "
    "work that waits for memory, such as decoding, is {band}."
)
_WORK_IN_FP8 = "In fp8, arithmetic is {peak}."
_OF_DATA_SHEETS = "These are ratios of data sheets: software and networks take their share."
_FASTER = "up to {ratio} times as fast on {winner}"
_ALIKE = "about as fast on both"
_FITS = "The 16-bit weights of Llama 3 70B take {first_count} × {first} or {other_count} × {other}."
_ARITHMETIC = "fb-of-arithmetic"
_FACTOR_SAME = 1.05  # a closer ratio would be printed as 1
_FACTOR_LARGE = 10
# From here on the ratio of one format would mislead who computes in the other.
_FACTOR_APART = 1.1
_PEAK = Quantity(PEAK, "Dense bf16 rate", "FLOP/s")
_QUANTITIES = {quantity.id: quantity for quantity in QUANTITIES}


class Headline(NamedTuple):
    """A row: what it is in a sentence and in the table, its quantity's id, and its colour."""

    words: str
    id: str
    quantity: Quantity
    kind: str = ""

    @property
    def short(self) -> str:
        """The head of a narrow column: the words without what the others say already."""
        words = self.words.replace(" rate", "").replace("memory bandwidth", "bandwidth")
        return words[:1].upper() + words[1:]


HEADLINES = (
    Headline("dense bf16 rate", peak_id(*START), _PEAK, _ARITHMETIC),
    Headline("dense fp8 rate", peak_id("fp8", "tensor", "dense"), _PEAK, _ARITHMETIC),
    Headline("memory", "memory", _QUANTITIES["memory"]),
    Headline("memory bandwidth", "memory_bandwidth", _QUANTITIES["memory_bandwidth"]),
    Headline("link rate, one way", "scaleup_bandwidth", _QUANTITIES["scaleup_bandwidth"]),
    Headline("power", "power", _QUANTITIES["power"], "fb-of-power"),
)
# The first row of two of which one has no bf16: Volta and Turing multiply in fp16 alone.
_FP16 = Headline(
    "dense fp16 rate",
    peak_id("fp16", "tensor", "dense"),
    _PEAK._replace(label="Dense fp16 rate"),
    _ARITHMETIC,
)
_BF16 = HEADLINES[0]


class Pair(NamedTuple):
    """Two products, each with its row of the explorer."""

    first: ExplorerRow
    other: ExplorerRow

    @property
    def ids(self) -> tuple[str, str]:
        """The ids of both entries."""
        return self.first.entry.id, self.other.entry.id

    @property
    def page(self) -> str:
        """The content path of the comparison."""
        names = (name.partition("/")[2] for name in self.ids)
        return f"compare/{'-vs-'.join(names)}.md"

    @property
    def names(self) -> tuple[str, str]:
        """What the two are called beside each other; with the vendor where it differs."""
        entries = self.first.entry, self.other.entry
        if entries[0].vendor == entries[1].vendor:
            return self.shorts
        return _bare(entries[0].name), _bare(entries[1].name)

    @property
    def shorts(self) -> tuple[str, str]:
        """What a sentence calls the two: no vendor, nothing in brackets."""
        first, second = (_bare(short_name(row.entry)) for row in self)
        return first, second

    @property
    def title(self) -> str:
        """The name of the page."""
        return " vs ".join(self.names)


def _bare(name: str) -> str:
    return name.partition(" (")[0]


def all_pairs() -> list[Pair]:
    """The comparisons in the order of the list. Raises FlopbookError for an unknown product."""
    rows = rows_by_id()
    return [
        Pair(rows[chip(left_chip).id], rows[chip(right_chip).id]) for left_chip, right_chip in PAIRS
    ]


def pages() -> dict[str, str]:
    """Content path -> Markdown of every comparison and of their list."""
    pairs = all_pairs()
    return {INDEX: index_page(pairs)} | {pair.page: pair_page(pair) for pair in pairs}


def index_page(pairs: list[Pair]) -> str:
    """The table of comparisons: of each the ratios of the second to the first."""
    head = ("Comparison", *(f"#{headline.short}" for headline in HEADLINES))
    blocks = [
        front_matter(
            TITLE,
            "Two chips side by side: which has more of what, and what that means.",
            wide=True,
        ),
        Markdown("# {}\n").format(TITLE),
        Markdown(
            "Pairs that people ask for. A number is the second chip's figure over the first's; a "
            "name opens the verdict, the values and their sources. Any two to six of "
            "the {} products can be compared in [the explorer]({}), with prices that you type.\n"
        ).format(len(rows_by_id()), attribute("../accelerators/index.md")),
        table(head, map(_listed, pairs), kind="fb-sort", caption=_CAPTION, stacked=True),
    ]
    return page_text(blocks) + "\n"


def _listed(pair: Pair) -> list[str | Sortable]:
    """The row of a comparison: its name, and a ratio for each headline."""
    return [
        link(pair.title, html_link(INDEX, pair.page)),
        *(_listed_ratio(pair, headline) for headline in headlines_of(pair)),
    ]


def _listed_ratio(pair: Pair, headline: Headline) -> Sortable:
    """A ratio as the list shows it, with its format where that is not the one of the column."""
    ratio = ratio_of(pair, headline)
    words = ratio_words(ratio)
    if headline is _FP16:
        words += Html(" <small>fp16</small>")
    return Sortable(words, ratio or 0)


def headlines_of(pair: Pair) -> tuple[Headline, ...]:
    """The rows of a comparison: those of all, led by fp16 where bf16 does not compare the two."""
    if ratio_of(pair, _BF16) is None and ratio_of(pair, _FP16) is not None:
        return _FP16, *HEADLINES[1:]
    return HEADLINES


def ratio_of(pair: Pair, headline: Headline) -> float | None:
    """How many times the figure of the first the second has, as far as it is printed."""
    first, second = (value_of(row.cells, headline.id) for row in pair)
    return float(f"{second / first:.2g}") if first and second else None


def ratio_words(ratio: float | None) -> Html:
    """A ratio as a cell shows it."""
    if ratio is None:
        return Html('<span class="fb-none">-</span>')
    return Html.escape(f"{ratio:,.10g}×")


def pair_page(pair: Pair) -> str:
    """One comparison: verdict, table, and the same in the explorer and the calculators."""
    verdict, differences = list(meaning_of(pair)), list(sentences(pair))
    first, second = pair.names
    links = [
        link("Compare with prices", compare_link(pair.page, pair.ids), "fb-act fb-main"),
        *buttons(pair.page, pair.ids),
        *(_calculator(pair, row) for row in pair),
    ]
    blocks = [
        front_matter(pair.title, " ".join(differences[:2]), toc=False),
        Markdown("# {}\n").format(pair.title),
        Html('<p class="fb-lead">{}</p>\n').format(" ".join(verdict or differences[:2])),
        table_of(pair, (first, second)),
        Markdown("\n{}\n").format(" ".join(serving_of(pair.ids, pair.shorts))),
        Html('<p class="fb-acts">{}</p>\n').format(Html(" ").join(links)),
    ]
    return page_text(blocks) + "\n"


def _calculator(pair: Pair, row: ExplorerRow) -> Html:
    address = Html("{}?chip={}").format(
        html_link(pair.page, calculator_page("memory")), attribute(row.entry.id)
    )
    return link(f"Will a model fit on {short_name(row.entry)}?", address, "fb-act")


# The verdict.


def sentences(pair: Pair) -> Iterator[str]:
    """What the two differ in, figure by figure."""
    headlines = [headline for headline in headlines_of(pair) if headline.id != "power"]
    yield from (_difference(pair, headline) for headline in headlines if _is_said(pair, headline))
    yield from _power(pair)


def meaning_of(pair: Pair) -> Iterator[str]:
    """What the differences mean for work of either sort, and for a model that everyone knows."""
    yield from _work(pair)
    yield from _weights(pair)


def _is_said(pair: Pair, headline: Headline) -> bool:
    # Most chips have no fp8 rate, and a link is missing from many: silence says that well enough.
    is_optional = "fp8" in headline.id or headline.id == "scaleup_bandwidth"
    values = [value_of(row.cells, headline.id) for row in pair]
    return None not in values or not is_optional


def _difference(pair: Pair, headline: Headline) -> str:
    values = [value_of(row.cells, headline.id) for row in pair]
    for row, amount, name in zip(pair, values, pair.shorts, strict=True):
        if amount is None:
            words = missing(row.cells, headline.id)
            return _LACKS.format(what=headline.words, name=name, words=words)
    first, second = (amount or 0.0 for amount in values)
    high, low = max(first, second), min(first, second)
    winner = int(second > first)
    printed = printed_words(headline.quantity, [row.cells.get(headline.id) for row in pair])
    if high < _FACTOR_SAME * low:
        return _EQUAL.format(what=headline.words, high=printed[winner])
    return _LEADS.format(
        winner=pair.shorts[winner],
        loser=pair.shorts[1 - winner],
        what=headline.words,
        ratio=_ratio(high / low),
        high=printed[winner],
        low=printed[1 - winner],
    )


def _ratio(factor: float) -> str:
    """A factor with two digits: 1.3, 24."""
    return f"{factor:.0f}" if factor >= _FACTOR_LARGE else f"{factor:.2g}"


def _power(pair: Pair) -> Iterator[str]:
    first, second = (value_of(row.cells, "power") for row in pair)
    if first is None or second is None or first == second:
        return
    winner = int(second < first)
    yield _POWER.format(
        winner=pair.shorts[winner],
        loser=pair.shorts[1 - winner],
        low=format_quantity(min(first, second), "W"),
        high=format_quantity(max(first, second), "W"),
    )


def _work(pair: Pair) -> Iterator[str]:
    """What the ratios mean for work of either sort, and in fp8 where that differs."""
    headline, narrow, *_ = headlines_of(pair)
    peaks, narrow_peaks, bands = (
        [value_of(row.cells, name) for row in pair]
        for name in (headline.id, narrow.id, "memory_bandwidth")
    )
    if None in peaks or None in bands:
        return
    dtype = headline.id.split(":")[1]
    yield _WORK.format(dtype=dtype, peak=_faster(pair, *peaks), band=_faster(pair, *bands))
    wide, fp8 = ratio_of(pair, headline), ratio_of(pair, narrow)
    if wide and fp8 and not 1 / _FACTOR_APART < fp8 / wide < _FACTOR_APART:
        yield _WORK_IN_FP8.format(peak=_faster(pair, *narrow_peaks))
    yield _OF_DATA_SHEETS


def _faster(pair: Pair, first: float | None, other: float | None) -> str:
    assert first is not None and other is not None
    factor = max(first, other) / min(first, other)
    if factor < _FACTOR_SAME:
        return _ALIKE
    return _FASTER.format(ratio=_ratio(factor), winner=pair.shorts[int(other > first)])


def _weights(pair: Pair) -> Iterator[str]:
    """How many of each hold the weights of a model that everyone knows."""
    needed = 2 * shape("llama-3-70b").pick("params").value
    counts = []
    for row in pair:
        memory = value_of(row.cells, "memory")
        if memory is None:
            return
        counts.append(math.ceil(needed / memory))
    first, second = pair.shorts
    yield _FITS.format(first=first, other=second, first_count=counts[0], other_count=counts[1])


# The table.


def table_of(pair: Pair, names: tuple[str, str]) -> Html:
    """The headlines of both with bars, the better one marked, and the ratio of the second."""
    rows = Html("\n").join(_row(pair, headline) for headline in headlines_of(pair))
    heads = Html().join(
        Html('<th scope="col" class="fb-n">{}</th>').format(
            link(name, html_link(pair.page, entry_page(row.entry.id)))
        )
        for name, row in zip(names, pair, strict=True)
    )
    return Html(
        '<div class="fb-scroll" tabindex="0" role="region" aria-label="{0}">\n'
        '<table class="fb-pair-table"><caption class="fb-hidden">{0}</caption><thead><tr>'
        '<th scope="col">Figure</th>{1}<th scope="col" class="fb-n">Ratio</th></tr></thead>\n'
        "<tbody>\n{2}\n</tbody></table>\n</div>"
    ).format(pair.title, heads, rows)


def _row(pair: Pair, headline: Headline) -> Html:
    bars = bars_of(headline.quantity, [row.cells.get(headline.id) for row in pair])
    cells = Html().join(
        _cell(pair, row, headline, bar) for row, bar in zip(pair, bars, strict=True)
    )
    ratio = ratio_words(ratio_of(pair, headline))
    name = headline.words[:1].upper() + headline.words[1:]
    return Html('<tr><th scope="row">{}</th>{}<td class="fb-n">{}</td></tr>').format(
        name, cells, ratio
    )


def _cell(pair: Pair, row: ExplorerRow, headline: Headline, bar: BarOfCell) -> Html:
    cell = row.cells.get(headline.id)
    if not isinstance(cell, Picked):
        words = missing(row.cells, headline.id)
        return tag("td", tag("span", words, "fb-none"), "fb-n")
    href = html_link(pair.page, entry_page(row.entry.id))
    place = row.places.get(id(cell.claim))
    if place is not None:
        href = Html("{}#{}").format(href, anchor(cell, place))
    kind = f"fb-length {headline.kind}".strip()
    below = Html(" <small>{}</small>").format(bar.same_unit) if bar.same_unit else ""
    badge = Html('<span class="fb-badge fb-best">{}</span> ').format(_best_word(headline))
    return Html(
        '<td class="fb-n">{}{}{}'
        '<span class="{}" style="--fb-share: {:.3f}" aria-hidden="true"></span></td>'
    ).format(badge if bar.is_best else "", link(bar.words, href), below, kind, bar.share)


def _best_word(headline: Headline) -> str:
    return "more" if headline.quantity.better > 0 else "less"


def siblings_of(pair: Pair) -> list[tuple[str, str]]:
    """Other comparisons of either of the two: title and content path."""
    return [
        (sibling.title, sibling.page) for sibling in all_pairs() if set(sibling.ids) & set(pair.ids)
    ]
