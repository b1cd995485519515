"""The tables of values on the page of an entry: those shown, and those of other sources."""

from __future__ import annotations

from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim
from flopbook.hardware.choice import Quantity, quantity_of
from flopbook.hardware.parts import settled_totals
from flopbook.hardware.shown import chosen_claims
from scripts.website.markup import Html, Markdown, table
from scripts.website.pages.accelerators import KINDS, source_cell
from scripts.website.pages.sources import cite
from scripts.website.pages.values import (
    anchor_of,
    badge,
    condition_words,
    field_order,
    field_words,
    value_cell,
)

# Ratios closer to 1 than this differ by the rounding of units only.
_SAME = 1e-9


def value_table(claims: list[Claim], page: str, caption: str) -> Html:
    """Values with conditions, source and day of reading; hover shows the quotation."""
    rows = []
    for number, claim in enumerate(sorted(claims, key=field_order)):
        source = source_cell(claim.source, claim.as_of, page)
        per = KINDS.get(claim.per, claim.per)
        rows.append((*_claim_cells(claim, anchor_of(claim, number)), per, source))
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
        Markdown("\n## Values of other sources\n"),
        Markdown(
            "The value shown above is chosen by rule: the vendor's own document first, then "
            "submissions to benchmarks, then secondary sources with a method, press and community; "
            "then the newest reading; then printed before derived.\n"
        ),
        table(head, rows, caption="Values of other sources"),
    ]


def _winners(entry: Entry) -> dict[Quantity, Claim]:
    """Conditions -> the value shown; a total goes before any other value of the whole."""
    chosen = chosen_claims(entry)
    shown = {quantity_of(claim): claim for claim in entry.claims if id(claim) in chosen}
    return shown | {quantity_of(made.of_parts): made.shown for made in settled_totals(entry)}


def _difference(claim: Claim, winner: Claim | None) -> str:
    if winner is None or not claim.si_value or not winner.si_value:
        return "none shown"
    ratio = claim.si_value / winner.si_value
    if abs(ratio - 1) < _SAME:
        return "same"
    if abs(ratio - 1) < 1:
        return f"{ratio - 1:+.1%}"
    return f"{ratio:.3g} times"
