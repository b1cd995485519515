"""The page of one accelerator: its values, their sources, what they mean, where it is used."""

from __future__ import annotations

import contextlib
import functools
from typing import NamedTuple

from flopbook.data.accelerators import Entry
from flopbook.data.library import entry_ids, library, load_entry, vendor
from flopbook.data.repository import edit_url
from flopbook.errors import FlopbookError
from flopbook.hardware.choice import choose
from flopbook.hardware.parts import packages, settled_totals
from flopbook.hardware.picked import Picked
from flopbook.hardware.shown import chosen_claims
from scripts.website.figures import figure_markup
from scripts.website.markup import (
    Html,
    Markdown,
    attribute,
    code_span,
    front_matter,
    link,
    page_text,
    relative,
    tag,
    trusted,
)
from scripts.website.pages import planner, planner_data, serving_planner
from scripts.website.pages.accelerators import KINDS, entry_page
from scripts.website.pages.calculators import calculator_page
from scripts.website.pages.keyfigures import cards
from scripts.website.pages.meaning import computed_in, meaning
from scripts.website.pages.neighbours import compare_link, neighbours
from scripts.website.pages.priced import price_section
from scripts.website.pages.products import rows_by_id
from scripts.website.pages.quantities import PEAK, shown_claims
from scripts.website.pages.rates import FIELDS, rate_table
from scripts.website.pages.reached import measured_section
from scripts.website.pages.sources import bibtex_block, cite, html_link, page_bibtex
from scripts.website.pages.valuetables import folded_tables, other_values


class Button(NamedTuple):
    """Words of a button, the page that takes the chip, the kind of the button, what it must know.

    `needs` are quantities of the chip without which the page could only refuse.
    """

    words: str
    target: str
    kind: str = "fb-act"
    needs: tuple[str, ...] = ()


_PLANNERS = (
    Button(planner.TITLE, planner.PAGE),
    Button(serving_planner.TITLE, serving_planner.PAGE),
)
# For chips that no plan can be asked for.
_TRAINING_TIME = Button("Training time", calculator_page("training-time"), needs=(PEAK,))
_SERVING_SPEED = Button(
    "Serving speed", calculator_page("decode"), needs=("memory", "memory_bandwidth")
)
_FIT = Button(
    "Will a model fit?", calculator_page("memory"), kind="fb-act fb-main", needs=("memory",)
)


def entry_markdown(entry_id: str) -> str:
    """One entry: its key figures, rates, roofline and relatives; all values folded below."""
    entry = load_entry(entry_id)
    page = entry_page(entry_id)
    chosen = chosen_claims(entry)
    # What is not published has no value to compare; the first table says so.
    losers = [
        claim for claim in entry.claims if id(claim) not in chosen and claim.value is not None
    ]
    losers += [total.of_parts for total in settled_totals(entry) if not total.is_sum]
    placed = list(enumerate(shown_claims(entry)))
    in_rates = FIELDS if any(claim.field == "peak" for _, claim in placed) else ()
    further = [(place, claim) for place, claim in placed if claim.field not in in_rates]
    blocks = [
        front_matter(entry.name, f"{entry.name}: {entry.summary}", toc=False),
        Markdown("# {}\n").format(entry.name),
        _tags(entry),
        Html('<p class="fb-lead">{}</p>\n').format(entry.summary),
        actions(entry, page),
        cards(entry),
    ]
    blocks += [
        _pair(_roofline(entry, page), rate_table(placed)),
        *neighbours(entry.id, page),
        *measured_section(entry, page),
        *price_section(entry, page),
        *meaning(entry, page),
        Markdown("\n## All values\n"),
        *([Markdown("{}\n").format(entry.notes)] if entry.notes else []),
        *folded_tables(further, page),
        *other_values(entry, losers, page),
        *_systems(entry, page),
        *_history(entry, page),
        *_names(entry, page),
        *_as_data(entry, page),
    ]
    return page_text(blocks) + "\n"


def _tags(entry: Entry) -> Html:
    """What kind of product it is, and how one can get it."""
    words = [KINDS[entry.kind], *([entry.family] if entry.family else [])]
    if entry.status:
        newest = entry.status[0]
        words.append(f"{newest.state} (checked {newest.as_of})")
    tags = (tag("span", word, "fb-tag") for word in words)
    return Html('<p class="fb-tags">{}</p>\n').format(Html(" ").join(tags))


def actions(entry: Entry, page: str) -> Html:
    """What a reader does next; each link carries the product along, or as many of its chips."""
    links = [link("Compare", compare_link(page, (entry.id,)), "fb-act")]
    chip, chips = _asked_of(entry)
    if chip is not None:
        links += [
            link(one.words, _with_chip(page, one, chip, chips), one.kind) for one in _buttons(chip)
        ]
    return Html('<p class="fb-acts">{}</p>\n').format(Html(" ").join(links))


def _asked_of(entry: Entry) -> tuple[Entry | None, Html]:
    """The chip that calculators are asked for, and of a system how many: what it is built of.

    None where a system has no chips, or several kinds of them.
    """
    if entry.computes:
        return entry, Html()
    counts: dict[str, int] = {}
    # Where a component is broken the check of the data says so; this page shows what it can.
    with contextlib.suppress(FlopbookError):
        counts = packages(entry)
    if len(counts) != 1:
        return None, Html()
    name, count = next(iter(counts.items()))
    return load_entry(name), Html("&amp;chips={}").format(count)


def _buttons(entry: Entry) -> list[Button]:
    """The pages that answer for this chip: its planners, or the calculators that know enough."""
    if entry.id in planner_data.chips():
        return [_FIT, *_PLANNERS]
    cells = rows_by_id()[entry.id].cells
    known = {name for name, cell in cells.items() if isinstance(cell, Picked)}
    if computed_in(entry):
        known.add(PEAK)
    return [one for one in (_FIT, _TRAINING_TIME, _SERVING_SPEED) if known.issuperset(one.needs)]


def _with_chip(page: str, button: Button, entry: Entry, chips: Html) -> Html:
    """The address with the chip and how many, and the number format where it is not the usual."""
    target = html_link(page, button.target)
    address = Html("{}?chip={}{}").format(target, attribute(entry.id), chips)
    dtype = computed_in(entry)
    if dtype in ("", "bf16") or button is _FIT:
        return address
    return Html("{}&amp;dtype={}").format(address, dtype)


def _pair(*sections: Html) -> Html:
    """Sections side by side where there is room."""
    parts = [Html("<section>\n{}\n</section>").format(part) for part in sections if part]
    if not parts:
        return Html()
    return Html('<div class="fb-pair">\n{}\n</div>\n').format(Html("\n").join(parts))


def _names(entry: Entry, page: str) -> list[Html]:
    """How the data, drivers and people call it, and what it is made of."""
    return [Markdown("\n## Names\n"), *_identity(entry, page)]


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
    if entry.die:
        source = cite(entry.die.source, page)
        facts.append(("Die", Markdown("{} ({})").format(entry.die.name, source)))
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


def _roofline(entry: Entry, page: str) -> Html:
    if not entry.computes:
        return Html()
    try:
        drawn = figure_markup("roofline", page, chip=entry.id)
    except FlopbookError:  # no peak or no bandwidth
        return Html()
    # The figure says what it finds; a heading that said so too would say it twice.
    return Html('<h2 id="roofline">Roofline</h2>\n{}').format(trusted(drawn))


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
