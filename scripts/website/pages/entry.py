"""The page of one accelerator: what it is, its values and their sources, what they mean, where it
is used.
"""

from __future__ import annotations

import contextlib
import functools

from flopbook.data.accelerators import Entry
from flopbook.data.library import entry_ids, library, load_entry, vendor
from flopbook.data.repository import edit_url
from flopbook.drawing.markup import escape, front_matter, inline, link, relative
from flopbook.drawing.rooflines import roofline_svg
from flopbook.errors import FlopbookError
from flopbook.hardware.chip import Chip
from flopbook.hardware.choice import choose
from flopbook.hardware.parts import packages
from flopbook.hardware.shown import chosen_claims
from scripts.website.pages.accelerators import KINDS, entry_page
from scripts.website.pages.meaning import meaning
from scripts.website.pages.quantities import shown_claims
from scripts.website.pages.sources import bibtex_block, cite, html_link, page_bibtex
from scripts.website.pages.valuetables import other_values, value_table


def entry_markdown(entry_id: str) -> str:
    """One entry: what it is, its chosen values, its roofline, the values of other sources."""
    entry = load_entry(entry_id)
    page = entry_page(entry_id)
    chosen = chosen_claims(entry)
    others = [c for c in entry.claims if id(c) not in chosen and c.value is not None]
    lines = [
        front_matter(entry.name, f"{entry.name}: {entry.summary}"),
        f"# {inline(entry.name)}\n",
        f"{inline(entry.summary)}\n",
        _facts_line(entry, page),
        *([f"\n{inline(entry.notes)}\n"] if entry.notes else []),
        "## Values\n",
        value_table(shown_claims(entry), page, "Values shown, with source"),
        *_picture(entry),
        *meaning(entry, page),
        *_systems(entry, page),
        *_history(entry, page),
        *other_values(entry, others, page),
        *_data(entry, page),
    ]
    return "\n".join(lines) + "\n"


def _facts_line(entry: Entry, page: str) -> str:
    maker = f"[{inline(vendor(entry.vendor).name)}](index.md)"
    items = [f"**Id** `{entry.id}`", f"**Kind** {KINDS[entry.kind]}", f"**Vendor** {maker}"]
    if entry.family:
        items.append(f"**Family** {inline(entry.family)}")
    if entry.status:
        now = entry.status[0]
        items.append(
            f"**Status** {inline(now.state)}, as of {now.as_of} ({cite(now.source, page)})"
        )
    if entry.aliases:
        items.append("**Also called** " + ", ".join(f"`{alias}`" for alias in entry.aliases))
    if entry.device_names:
        items.append(
            "**Reported by drivers as** " + ", ".join(f"`{name}`" for name in entry.device_names)
        )
    if entry.variant_of:
        items.append(
            f"**Variant of** [{inline(entry.variant_of)}]({relative(page, entry_page(entry.variant_of))})"
        )
    if entry.contains:
        parts = (
            f"{p.count} x [{inline(p.ref)}]({relative(page, entry_page(p.ref))})"
            for p in entry.contains
        )
        items.append("**Contains** " + ", ".join(parts))
    return "\n".join(f"- {item}" for item in items) + "\n"


def _picture(entry: Entry) -> list[str]:
    if not entry.computes:
        return []
    try:
        picture = roofline_svg(Chip(entry))
    except FlopbookError:
        return []
    return ["\n## Roofline\n", picture, ""]


def _systems(entry: Entry, page: str) -> list[str]:
    """What is built from it, and its variants."""
    lines = []
    for name, words in users(entry_ids()).get(entry.id, ()):
        lines.append(f"- {link(load_entry(name).name, html_link(page, entry_page(name)))}: {words}")
    return ["\n## Built from it\n", *lines] if lines else []


@functools.lru_cache(maxsize=2)
def users(ids: tuple[str, ...]) -> dict[str, list[tuple[str, str]]]:
    """For each entry those that contain it, at any level, or are variants of it, with how."""
    found: dict[str, list[tuple[str, str]]] = {}
    for name in ids:
        other = load_entry(name)
        inside = {part.ref: part.count for part in other.contains}
        with contextlib.suppress(
            FlopbookError
        ):  # its parts are broken, which the check of the data says
            inside = packages(other) | inside
        for ref, count in inside.items():
            found.setdefault(ref, []).append((name, f"{KINDS[other.kind]} of {count:,}"))
        if other.variant_of and other.variant_of not in inside:
            found.setdefault(other.variant_of, []).append((name, "variant"))
    return found


def _history(entry: Entry, page: str) -> list[str]:
    """Announced, launched, and every state that was recorded, oldest first."""
    events = []
    for field in ("announced", "launched"):
        claim = choose(c for c in entry.claims if c.field == field)
        if claim is not None:
            events.append((str(claim.value), field, claim.source, claim.note))
    events += [(str(s.as_of), f"recorded as {s.state}", s.source, s.note) for s in entry.status]
    lines = [
        f"- {escape(day)}: {escape(what)} ({cite(key, page)}){'. ' + inline(note) if note else ''}"
        for day, what, key, note in sorted(events)
    ]
    return ["\n## History\n", *lines]


def _data(entry: Entry, page: str) -> list[str]:
    """The entry as data, how to correct it, how to cite the page."""
    file, path = f"accelerators/{entry.id}.yaml", library().accelerators / f"{entry.id}.yaml"
    try:
        edit = f"[Edit this file]({edit_url(path)}) or read "
    except FlopbookError:  # no address of the repository is known where this is built
        edit = "Read "
    return [
        "\n## Data\n",
        f"This entry as data: `flopbook show {entry.id} --json`, or its file `{file}`. {edit}"
        f"[how to correct a value]({relative(page, 'contributing/index.md')}).\n",
        bibtex_block("BibTeX of this page", _bibtex(entry)),
    ]


def _bibtex(entry: Entry) -> str:
    """The page as a reference, of the newest reading of its sources."""
    read = max(claim.as_of for claim in entry.claims)
    return page_bibtex(f"{{{entry.name}}}: values with their sources", "entry", entry.id, read)
