"""The page of one accelerator: its values, their sources, what they mean, where it is used."""

from __future__ import annotations

import contextlib
import functools

from flopbook.data.accelerators import Entry
from flopbook.data.library import entry_ids, library, load_entry, vendor
from flopbook.data.repository import edit_url
from flopbook.drawing.rooflines import roofline_svg
from flopbook.errors import FlopbookError
from flopbook.hardware.chip import Chip
from flopbook.hardware.choice import choose
from flopbook.hardware.parts import packages, settled_totals
from flopbook.hardware.shown import chosen_claims
from scripts.website.markup import (
    Html,
    Markdown,
    attribute,
    code_span,
    front_matter,
    link,
    page_text,
    relative,
    trusted,
)
from scripts.website.pages.accelerators import KINDS, entry_page
from scripts.website.pages.meaning import meaning
from scripts.website.pages.quantities import shown_claims
from scripts.website.pages.reached import measured_section
from scripts.website.pages.sources import bibtex_block, cite, html_link, page_bibtex
from scripts.website.pages.valuetables import other_values, value_table


def entry_markdown(entry_id: str) -> str:
    """One entry: what it is, its chosen values, its roofline, the values of other sources."""
    entry = load_entry(entry_id)
    page = entry_page(entry_id)
    chosen = chosen_claims(entry)
    # What is not published has no value to compare; the first table says so.
    losers = [
        claim for claim in entry.claims if id(claim) not in chosen and claim.value is not None
    ]
    losers += [total.of_parts for total in settled_totals(entry) if not total.is_sum]
    blocks = [
        front_matter(entry.name, f"{entry.name}: {entry.summary}"),
        Markdown("# {}\n").format(entry.name),
        Markdown("{}\n").format(entry.summary),
        *_identity(entry, page),
    ]
    if entry.notes:
        blocks.append(Markdown("\n{}\n").format(entry.notes))
    blocks += [
        Markdown("## Values\n"),
        value_table(shown_claims(entry), page, "Values shown, with source"),
        *_roofline(entry),
        *measured_section(entry, page),
        *meaning(entry, page),
        *_systems(entry, page),
        *_history(entry, page),
        *other_values(entry, losers, page),
        *_as_data(entry, page),
    ]
    return page_text(blocks) + "\n"


def _identity(entry: Entry, page: str) -> list[Html]:
    """Id, kind, vendor and what else names the entry, as a list that ends with an empty line."""
    # The page of a vendor is the index of the folder of its entries.
    maker = Markdown("[{}](index.md)").format(vendor(entry.vendor).name)
    facts: list[tuple[str, str | Html]] = [
        ("Id", code_span(entry.id)),
        ("Kind", KINDS[entry.kind]),
        ("Vendor", maker),
    ]
    if entry.family:
        facts.append(("Family", entry.family))
    if entry.market != "data-centre":
        facts.append(("Market", entry.market))
    if entry.status:
        newest = entry.status[0]
        state = Markdown("{}, as of {} ({})").format(
            newest.state, newest.as_of, cite(newest.source, page)
        )
        facts.append(("Status", state))
    if entry.aliases:
        facts.append(("Also called", Html(", ").join(map(code_span, entry.aliases))))
    if entry.device_names:
        names = Html(", ").join(map(code_span, entry.device_names))
        facts.append(("Reported by drivers as", names))
    if entry.variant_of:
        facts.append(("Variant of", _entry_link(entry.variant_of, page)))
    if entry.contains:
        contents = (
            Markdown("{} x {}").format(component.number, _entry_link(component.ref, page))
            for component in entry.contains
        )
        facts.append(("Contains", Html(", ").join(contents)))
    return [*(Markdown("- **{}** {}").format(name, fact) for name, fact in facts), Html()]


def _entry_link(entry_id: str, page: str) -> Html:
    return Markdown("[{}]({})").format(entry_id, relative(page, entry_page(entry_id)))


def _roofline(entry: Entry) -> list[Html]:
    if not entry.computes:
        return []
    try:
        svg = roofline_svg(Chip(entry))
    except FlopbookError:  # no peak or no bandwidth
        return []
    return [Markdown("\n## Roofline\n"), trusted(svg), Html()]


def _systems(entry: Entry, page: str) -> list[Html]:
    """What is built from it, and its variants."""
    lines = [
        Markdown("- {}: {}").format(
            link(load_entry(name).name, html_link(page, entry_page(name))), words
        )
        for name, words in users(entry_ids()).get(entry.id, ())
    ]
    if not lines:
        return []
    return [Markdown("\n## Built from it\n"), *lines]


# Every entry is read once for all pages; tests ask with entries of their own.
@functools.lru_cache(maxsize=2)
def users(ids: tuple[str, ...]) -> dict[str, list[tuple[str, str]]]:
    """For each entry those that contain it, at any level, or are variants of it, with how."""
    usage: dict[str, list[tuple[str, str]]] = {}
    for name in ids:
        user = load_entry(name)
        contents = _contents(user)
        for ref, count in contents.items():
            usage.setdefault(ref, []).append((name, f"{KINDS[user.kind]} of {count:,}"))
        if user.variant_of and user.variant_of not in contents:
            usage.setdefault(user.variant_of, []).append((name, "variant"))
    return usage


def _contents(entry: Entry) -> dict[str, int]:
    """Id -> number of all that an entry is built of, its packages at any level included."""
    contents = {component.ref: component.number for component in entry.contains}
    # Where a component is broken the check of the data says so; this page shows what it can.
    with contextlib.suppress(FlopbookError):
        return packages(entry) | contents
    return contents


def _history(entry: Entry, page: str) -> list[Html]:
    """Announced, launched, and every state that was recorded, oldest first."""
    events = []
    for field in ("announced", "launched"):
        claims = (claim for claim in entry.claims if claim.field == field)
        claim = choose(claims)
        if claim is not None:
            events.append((str(claim.value), field, claim.source, claim.note))
    for status in entry.status:
        day, words = str(status.as_of), f"recorded as {status.state}"
        events.append((day, words, status.source, status.note))
    return [Markdown("\n## History\n"), *(_event(*event, page) for event in sorted(events))]


def _event(day: str, words: str, source: str, note: str, page: str) -> Html:
    line = Markdown("- {}: {} ({})").format(day, words, cite(source, page))
    if not note:
        return line
    return Markdown("{}. {}").format(line, note)


def _as_data(entry: Entry, page: str) -> list[Html]:
    """The entry as data, how to correct it, how to cite the page."""
    reading = Markdown("Read ")
    with contextlib.suppress(FlopbookError):  # the address of the repository is not known here
        url = edit_url(library().entry_path(entry.id))
        reading = Markdown("[Edit this file]({}) or read ").format(attribute(url))
    return [
        Markdown("\n## Data\n"),
        Markdown(
            "This entry as data: `flopbook show {entry} --json`, or its file {file}. "
            "{reading}[how to correct a value]({contributing}).\n"
        ).format(
            entry=attribute(entry.id),
            file=code_span(f"accelerators/{entry.id}.yaml"),
            reading=reading,
            contributing=relative(page, "contributing/index.md"),
        ),
        bibtex_block("BibTeX of this page", _bibtex(entry)),
    ]


def _bibtex(entry: Entry) -> str:
    """The page as a reference, of the newest reading of its sources."""
    read = max(claim.as_of for claim in entry.claims)
    return page_bibtex(f"{{{entry.name}}}: values with their sources", "entry", entry.id, read)
