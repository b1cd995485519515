"""Claims as cells: label, value, conditions, source."""

from __future__ import annotations

from flopbook.data.accelerators import field_names
from flopbook.data.claims import Claim
from flopbook.drawing.markup import escape, slug, tooltip
from flopbook.quantities.units import format_quantity, plural
from scripts.website.pages.sources import provenance

_FIELD_WORDS = {
    "scaleup_bandwidth": "scale-up bandwidth",
    "scaleout_bandwidth": "scale-out bandwidth",
    "scaleup_links": "scale-up links",
    "scaleup_axes": "scale-up axes",
    "scaleup_domain": "scale-up domain",
    "sram": "SRAM",
    "sram_bandwidth": "SRAM bandwidth",
}


def field_order(claim: Claim) -> int:
    """Where a claim's field stands on a page: in the order of the schema, which begins with the
    peaks.
    """
    return field_names().index(claim.field)


def field_words(field: str) -> str:
    """A field's name as people say it."""
    return _FIELD_WORDS.get(field, field.replace("_", " "))


def shown_value(claim: Claim) -> str:
    """A claim's value with its unit as the source prints it."""
    if claim.value is None or isinstance(claim.value, str):
        return claim.words
    if claim.unit in ("param", "token"):
        return format_quantity(claim.value, claim.unit)
    value = f"{claim.value:,.10g}" if abs(claim.value) < 1e15 else f"{claim.value:.4g}"
    unit = "" if claim.unit == "count" else plural(claim.unit, claim.value)
    return f"{value} {unit}".strip()


def condition_words(claim: Claim) -> str:
    """The conditions of a claim in reading order: bf16, dense, tensor; one way, per chip."""
    words = [
        claim.dtype,
        claim.sparsity,
        "vector" if claim.engine == "vector" else "",
        claim.tier,
        claim.type,
        claim.name,
    ]
    words += [
        {"one-way": "one way", "both": "both ways", "unstated": "direction unstated"}.get(
            claim.direction, ""
        )
    ]
    words += [
        f"per {claim.aggregate}" if claim.aggregate else "",
        claim.topology,
        claim.of,
        claim.shape,
    ]
    words += [f"accumulate {claim.accumulate}" if claim.accumulate else ""]
    words += [
        f"at {claim.at_power_w:g} W" if claim.at_power_w else "",
        f"at {claim.at_clock_mhz:g} MHz" if claim.at_clock_mhz else "",
    ]
    return ", ".join(word for word in words if word)


def value_cell(claim: Claim, anchor: str) -> str:
    """A value that tells its source on hover, focus and touch."""
    return tooltip(shown_value(claim), provenance(claim), anchor)


def anchor_of(claim: Claim, number: int) -> str:
    """A claim's anchor on its page."""
    return slug(f"{claim.field}-{claim.dtype}-{claim.sparsity}-{number}")


def badge(claim: Claim) -> str:
    """What sort of value it is, where that is not simply printed by its source."""
    words = [] if claim.basis == "printed" else [claim.basis]
    if claim.sparsity == "unstated":
        words.append("sparsity unstated")
    if claim.known_error:
        words.append("known error")
    return "".join(
        f' <span class="fb-badge fb-{slug(word)}">{escape(word)}</span>' for word in words
    )
