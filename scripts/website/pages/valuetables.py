"""The tables of values on the page of an entry: those shown, and those of other sources."""

from __future__ import annotations

from collections.abc import Sequence

from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim
from flopbook.evaluation.answers import counted
from flopbook.hardware.choice import Quantity, quantity_of
from flopbook.hardware.parts import settled_totals
from flopbook.hardware.shown import chosen_claims
from flopbook.quantities.units import percent
from scripts.website.markup import Html, table
from scripts.website.pages.accelerators import KINDS, source_cell
from scripts.website.pages.rates import Placed
from scripts.website.pages.sources import cite
from scripts.website.pages.values import (
    anchor_of,
    badge,
    condition_words,
    field_order,
    field_words,
    value_cell,
)

_CHOSEN_BY = (
    "The value shown is chosen by rule: the vendor's own document first, then submissions to "
    "benchmarks, then secondary sources with a method, press and community; then the newest "
    "reading; then printed before derived. A system has the sum of its parts, unless its vendor "
    "prints another total."
)
_OTHER = "Other values"
# What stands together on the page of a product.
_GROUPS = {
    "Memory and caches": (
        *("memory", "memory_bandwidth", "sram", "cache", "sram_bandwidth"),
        *("stacks", "stack_memory", "measured_bandwidth"),
    ),
    "Links": (
        *("scaleup_bandwidth", "scaleup_links", "scaleup_axes", "scaleup_wrap", "scaleup_domain"),
        *("scaleout_bandwidth", "host_bandwidth", "bisection_bandwidth", "ports"),
        *("port_bandwidth", "chip_to_chip_bandwidth", "die_to_die_bandwidth", "fabric_bandwidth"),
    ),
    "Power and silicon": (
        *("power", "process", "form_factor", "compute_capability", "die_area", "transistors"),
        *("clock", "flop_per_clock", "cores", "dies", "devices_per_package"),
    ),
    "Dates and price": ("announced", "launched", "price"),
}
# Ratios closer to 1 than this differ by the rounding of units only.
_SAME = 1e-9


def folded_tables(placed: Sequence[Placed], page: str) -> list[Html]:
    """All values in groups that open: what they are of, conditions, source and day of reading."""
    groups: dict[str, list[Placed]] = {}
    for place, claim in placed:
        groups.setdefault(_group_of(claim.field), []).append((place, claim))
    order = [*_GROUPS, _OTHER]
    return [_folded(title, groups[title], page) for title in order if title in groups]


def _group_of(field: str) -> str:
    return next((title for title, fields in _GROUPS.items() if field in fields), _OTHER)


def _folded(title: str, placed: Sequence[Placed], page: str) -> Html:
    fields = dict.fromkeys(field_words(claim.field) for _, claim in placed)
    # "Dates and price", where only the price is known, says so already.
    names = "" if title.lower().endswith(" ".join(fields)) else ", ".join(fields)
    return Html(
        '<details class="fb-fold"><summary>{} <span class="fb-fine">{}</span></summary>\n{}\n'
        "</details>\n"
    ).format(title, names, value_table(placed, page, title))


def value_table(placed: Sequence[Placed], page: str, caption: str) -> Html:
    """Values with conditions, source and day of reading; hover shows the quotation."""
    rows = []
    for place, claim in placed:
        source = source_cell(claim.source, claim.as_of, page)
        per = KINDS.get(claim.per, claim.per)
        rows.append((*_claim_cells(claim, anchor_of(claim, place)), per, source))
    head = ("Value of", "Conditions", "#Value", "Per", "Source")
    return table(head, rows, kind="fb-values", caption=caption)


def _claim_cells(claim: Claim, anchor: str) -> tuple[str, str, Html]:
    """Field, conditions and value of a claim."""
    # The badge stands outside the tooltip's button, so that it is read with the value.
    shown = value_cell(claim, anchor) + badge(claim)
    return field_words(claim.field), condition_words(claim), shown


def other_values(entry: Entry, losers: list[Claim], page: str) -> list[Html]:
    """Values that were not chosen, each with how far it is from the one shown and why it lost."""
    if not losers:
        return []
    winners = _winners(entry)
    rows = []
    for number, claim in enumerate(sorted(losers, key=field_order)):
        difference = _difference(claim, winners.get(quantity_of(claim)))
        remark = claim.note or claim.conflicts_with
        cells = _claim_cells(claim, f"other-{anchor_of(claim, number)}")
        rows.append((*cells, difference, cite(claim.source, page), remark))
    head = ("Value of", "Conditions", "#Value", "#Against the value shown", "Source", "Remark")
    return [
        Html(
            '<details class="fb-fold"><summary>Values of other sources '
            '<span class="fb-fine">{}, each with how far it is from the value shown</span>'
            "</summary>\n<p>{}</p>\n{}\n</details>\n"
        ).format(
            counted(len(losers), "value"),
            _CHOSEN_BY,
            table(head, rows, caption="Values of other sources"),
        )
    ]


def _winners(entry: Entry) -> dict[Quantity, Claim]:
    """Conditions -> the value shown; a total goes before any other value of the whole."""
    chosen = chosen_claims(entry)
    shown = {quantity_of(claim): claim for claim in entry.claims if id(claim) in chosen}
    return shown | {quantity_of(total.of_parts): total.shown for total in settled_totals(entry)}


def _difference(claim: Claim, winner: Claim | None) -> str:
    if winner is None or not claim.si_value or not winner.si_value:
        return "none shown"
    ratio = claim.si_value / winner.si_value
    if abs(ratio - 1) < _SAME:
        return "same"
    if abs(ratio - 1) < 1:
        return percent(ratio - 1, 1, signed=True)
    return f"{ratio:.3g} times"
