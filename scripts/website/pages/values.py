"""Claims as cells: label, value, conditions, source."""

from __future__ import annotations

from flopbook.data.claims import Claim
from flopbook.data.entry_reader import field_names
from flopbook.drawing.markup import slug
from flopbook.quantities.units import format_quantity, plural
from scripts.website.markup import Html, tooltip
from scripts.website.pages.sources import provenance

# Fields whose name is not what people say; all others only lose their underscores.
_FIELD_WORDS = {
    "scaleup_bandwidth": "scale-up bandwidth",
    "scaleout_bandwidth": "scale-out bandwidth",
    "scaleup_links": "scale-up links",
    "scaleup_axes": "scale-up axes",
    "scaleup_wrap": "ring side",
    "scaleup_domain": "scale-up domain",
    "sram": "SRAM",
    "sram_bandwidth": "SRAM bandwidth",
    "port_bandwidth": "bandwidth of all ports",
    "chip_to_chip_bandwidth": "chip-to-chip bandwidth",
    "die_to_die_bandwidth": "bandwidth between dies",
    "fabric_bandwidth": "bandwidth of the on-chip fabric",
}
_DIRECTIONS = {"one-way": "one way", "both": "both ways", "unstated": "direction unstated"}
# What we add up ourselves has no digits of a source to keep: 42,522,624 TFLOP/s are 42.52 EFLOP/s.
_RATES = ("FLOP/s", "OP/s")
_LONG_SUM_FROM = 10_000
# From here on digits are noise, and powers of ten are read faster.
_SCIENTIFIC_FROM = 1e15


def field_order(claim: Claim) -> int:
    """Where a claim's field stands on a page: in schema order, which begins with the peaks."""
    return field_names().index(claim.field)


def field_words(field: str) -> str:
    """A field's name as people say it."""
    return _FIELD_WORDS.get(field, field.replace("_", " "))


def shown_value(claim: Claim) -> str:
    """A claim's value with its unit as the source prints it."""
    if claim.value is None or isinstance(claim.value, str):
        return claim.words
    # Nobody counts the zeros of 70000000000 params.
    if claim.unit in ("param", "token"):
        return format_quantity(claim.value, claim.unit)
    if _is_long_sum(claim):
        return format_quantity(claim.si_value or 0.0, claim.si_unit)
    digits = f"{claim.value:,.10g}"
    if abs(claim.value) >= _SCIENTIFIC_FROM:
        digits = f"{claim.value:.4g}"
    # A count is of what the field says.
    if claim.unit == "count":
        return digits
    return f"{digits} {plural(claim.unit, claim.value)}".strip()


def _is_long_sum(claim: Claim) -> bool:
    is_long = isinstance(claim.value, (int, float)) and claim.value >= _LONG_SUM_FROM
    return is_long and claim.basis == "derived" and claim.si_unit in _RATES


def condition_words(claim: Claim) -> str:
    """The conditions of a claim in reading order: bf16, dense, tensor; one way, per chip."""
    words = [claim.dtype, claim.sparsity]
    if claim.engine == "vector":  # the tensor engine goes without saying
        words.append(claim.engine)
    words += [claim.tier, claim.type, claim.name, _DIRECTIONS.get(claim.direction, "")]
    if claim.aggregate:
        words.append(f"per {claim.aggregate}")
    words += [claim.topology, claim.of, claim.shape]
    if claim.accumulate:
        words.append(f"accumulate {claim.accumulate}")
    if claim.at_power_w:
        words.append(f"at {claim.at_power_w:g} W")
    if claim.at_clock_mhz:
        words.append(f"at {claim.at_clock_mhz:g} MHz")
    if claim.point:
        words.append(claim.point)
    return ", ".join(word for word in words if word)


def value_cell(claim: Claim, anchor: str) -> Html:
    """A value that shows its source on hover, focus and touch."""
    return tooltip(shown_value(claim), provenance(claim), anchor)


def anchor_of(claim: Claim, number: int) -> str:
    """A claim's anchor on its page."""
    return slug(f"{claim.field}-{claim.dtype}-{claim.sparsity}-{number}")


def badge(claim: Claim) -> Html:
    """Marks for a value that is not simply printed by its source."""
    marks = []
    if claim.basis != "printed":
        marks.append(claim.basis)
    # Of what is not published, or not there, no sparsity can be stated.
    if claim.sparsity == "unstated" and claim.published:
        marks.append("sparsity unstated")
    if claim.known_error:
        marks.append("known error")
    return Html().join(
        Html(' <span class="fb-badge fb-{}">{}</span>').format(slug(mark), mark) for mark in marks
    )
