"""The tables of values on the page of an entry: those shown, and those of other sources."""

from __future__ import annotations

from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim
from flopbook.drawing.markup import escape, table
from flopbook.hardware.choice import quantity_of
from flopbook.hardware.parts import totals
from flopbook.hardware.shown import chosen_claims
from scripts.website.pages.accelerators import KINDS
from scripts.website.pages.sources import cite
from scripts.website.pages.values import (
    anchor_of,
    badge,
    condition_words,
    field_order,
    field_words,
    value_cell,
)


def value_table(claims: list[Claim], page: str, caption: str) -> str:
    """Values with conditions, source and the day on which the source was read; hover tells the
    quotation.
    """
    rows = []
    for number, claim in enumerate(sorted(claims, key=field_order)):
        rows.append(
            (
                escape(field_words(claim.field)),
                escape(condition_words(claim)),
                value_cell(claim, anchor_of(claim, number)) + badge(claim),
                escape(KINDS.get(claim.per, claim.per)),
                f'{cite(claim.source, page)} <span class="fb-read">read {claim.as_of}</span>',
            )
        )
    return table(
        ("Value of", "Conditions", "#Value", "Per", "Source"),
        rows,
        kind="fb-values",
        caption=caption,
    )


def other_values(entry: Entry, others: list[Claim], page: str) -> list[str]:
    """Values that were not chosen, each with how far it is from the one shown and why it lost."""
    if not others:
        return []
    best = {
        quantity_of(c): c for c in [*entry.claims, *totals(entry)] if id(c) in chosen_claims(entry)
    }
    best |= {quantity_of(c): c for c in totals(entry)}
    rows = []
    for number, claim in enumerate(sorted(others, key=field_order)):
        winner = best.get(quantity_of(claim))
        rows.append(
            (
                escape(field_words(claim.field)),
                escape(condition_words(claim)),
                value_cell(claim, f"other-{anchor_of(claim, number)}") + badge(claim),
                escape(_difference(claim, winner)),
                cite(claim.source, page),
                escape(claim.note or claim.conflicts_with),
            )
        )
    return [
        "\n## Values of other sources\n",
        "The value shown above is chosen by rule: the vendor's own document first, then submissions to benchmarks, "
        "then secondary sources with a method, press and community; then the newest reading; "
        "then printed before derived.\n",
        table(
            ("Value of", "Conditions", "#Value", "#Against the value shown", "Source", "Remark"),
            rows,
            caption="Values of other sources",
        ),
    ]


def _difference(claim: Claim, winner: Claim | None) -> str:
    if winner is None or not claim.si_value or not winner.si_value:
        return "none shown"
    ratio = claim.si_value / winner.si_value
    return (
        "same"
        if abs(ratio - 1) < 1e-9
        else f"{ratio - 1:+.1%}"
        if abs(ratio - 1) < 1
        else f"{ratio:.3g} times"
    )
