"""How a reference and a claim's provenance are written on pages."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from datetime import date

import flopbook
from flopbook.data.bibtex_text import BibEntry, print_entry, read_entry
from flopbook.data.claims import Claim
from flopbook.data.library import link_status, reference, references, topics
from flopbook.data.reference import Reference
from flopbook.data.topics import Topic
from flopbook.drawing.markup import slug
from scripts.website.markup import Html, Markdown, attribute, inline, link, permalink, relative, tag

MONTHS = [
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
]
# Papers of large collaborations name hundreds of people; BibTeX has them all.
MOST_NAMES = 12


def home_topic(work: Reference) -> str:
    """The topic on whose page a reference has its permanent address."""
    return work.topics[0]


def topic_page(topic_id: str) -> str:
    """The content path of a topic."""
    return f"references/{topic_id}.md"


def all_topics() -> list[Topic]:
    """Every topic of the tree, parents before children."""
    return [topic for top in topics() for topic in top.walk()]


# Addresses in HTML, which no site generator rewrites as it does links in Markdown.


# The same links are asked for on many pages.
@functools.lru_cache(maxsize=100_000)
def html_link(page: str, target: str) -> Html:
    """A link for raw HTML: the address of the built page, which sits in a folder of its own."""
    path, mark, anchor = target.partition("#")
    return attribute(_as_folder(relative(_folder(page), _folder(path))) + mark + anchor)


def _folder(path: str) -> str:
    """`a/b.md` is served as `a/b/`, `a/index.md` as `a/`: where a page's relative links start."""
    if not path.endswith(".md"):
        return path
    stem = path.removesuffix(".md")
    if stem.endswith("index"):
        return stem.removesuffix("index") + "page"
    return f"{stem}/page"


def _as_folder(path: str) -> str:
    return str(path).removesuffix("page") or "./"


def stylesheet(page: str, path: str) -> Html:
    """A style sheet that only some pages load."""
    return Html('<link rel="stylesheet" href="{}">').format(html_link(page, path))


def address(work: Reference, page: str) -> Html:
    """The permanent address of a work, as a link from a page."""
    return html_link(page, f"{topic_page(home_topic(work))}#{work.key}")


# References.


def cite(key: str, page: str) -> Html:
    """A citation in running text: author and year, linked to the reference."""
    work = reference(key)
    return link(work.short, address(work, page), "fb-cite")


def citations(keys: Iterable[str], page: str) -> Html:
    """Several citations in running text."""
    return Html(", ").join(cite(key, page) for key in keys)


def listed(keys: Iterable[str], page: str) -> Iterator[Html]:
    """Works as bullets of a list, by title: six of one author in a year are told apart by it.

    Nothing stands beside them, so they have room for a finger.
    """
    for work in map(reference, keys):
        words = f"{work.title} ({work.short})"
        yield Markdown('- <span class="fb-alone">{}</span>').format(
            link(words, address(work, page), "fb-cite")
        )


def provenance(claim: Claim) -> str:
    """Where a value comes from, in one line of plain text."""
    source = references().get(claim.source)
    title = f"{source.short}, {source.title}" if source else claim.source
    # What nobody prints has a source too: the one that was looked at.
    opening = claim.basis if claim.published or claim.absent else "looked at"
    steps = [f"{opening}: {title}"]
    if claim.quote:
        steps.append(f'"{claim.quote}"')
    if claim.locator:
        steps.append(claim.locator)
    if claim.formula:
        steps.append(f"{claim.formula} ({claim.derived_from})")
    steps.append(f"read {claim.as_of.isoformat()}")
    if claim.note:
        steps.append(claim.note)
    return "; ".join(steps).replace("`", "")  # sources in Markdown mark code, plain text does not


def when(work: Reference) -> str:
    """Month and year, as far as known."""
    if work.month:
        return f"{MONTHS[work.month - 1]} {work.year}"
    return str(work.year or "no date")


def full_reference(work: Reference, page: str) -> Html:
    """One work as a block: citation, our note, BibTeX to copy.

    On another page than its own it leads there instead.
    """
    is_home = page == topic_page(home_topic(work))
    home_id = Html(' id="{}"').format(attribute(work.key)) if is_home else Html()
    return Html(
        '<article class="fb-ref"{home_id}>\n'
        "<p>{permalink} <strong>{title}</strong>{archive}{copies} {badge}<br>"
        "{people}{venue} {date}{sought}.</p>\n"
        "<p>{annotation}</p>{note}\n{bibtex}\n"
        "</article>"
    ).format(
        home_id=home_id,
        permalink=permalink(work.key, address(work, page)),
        title=title_link(work),
        archive=gone(work.link),
        copies=_copies(work),
        badge=kind_badge(work),
        people=stop(_people(work)),
        venue=_where(work),
        date=when(work),
        sought=_sought(work),
        annotation=work.annote,
        note=_note(work.note),
        bibtex=bibtex_block(f"BibTeX of {work.key}", work.bibtex) if is_home else "",
    )


def _people(work: Reference) -> str:
    names = ", ".join(person.full for person in work.people[:MOST_NAMES])
    if len(work.people) > MOST_NAMES:
        names += f" and {len(work.people) - MOST_NAMES} others"
    return names


def _sought(work: Reference) -> Html:
    """Of a preprint, the day on which a venue was looked for and none was found."""
    if work.venue or not work.preprint:
        return Html()
    return Html(" (no venue found by {})").format(work.preprint)


def _where(work: Reference) -> str:
    """Where it appeared, before the date."""
    if work.venue:
        return f" {work.venue},"
    return " Preprint," if work.preprint else ""


def _note(note: str) -> Html:
    if not note:
        return Html()
    return Html("<p class='fb-note'>{}</p>").format(note)


def gone(url: str) -> Html:
    """What to read in place of a dead link: its archived copy, or since when it is dead."""
    status = link_status(url) if url else None
    if status is None or not status.dead:
        return Html()
    if status.archive:
        return Html(" ({})").format(link("archived copy", status.archive))
    return Html(' <span class="fb-badge">dead since {}</span>').format(status.checked)


def stop(text: str) -> str:
    """A text with a full stop at its end, and not with two."""
    return text if text.endswith(".") else f"{text}."


def title_link(work: Reference) -> Html:
    """The title, leading to the work."""
    return leading(work.title, work)


def leading(words: str, work: Reference) -> Html:
    """Words that lead to a work; words alone where it has no address."""
    return link(words, work.link) if work.link else Html.escape(words)


def kind_badge(work: Reference) -> Html:
    """The kind of a work, such as paper or talk, as a mark."""
    return tag("span", work.kind, "fb-badge")


def _copies(work: Reference) -> Html:
    """Code, arXiv and the file of what we measured, in brackets."""
    links = []
    if work.code:
        links.append(link("code", work.code) + gone(work.code))
    if work.eprint and "arxiv.org" not in work.link:
        links.append(link("arXiv", f"https://arxiv.org/abs/{work.eprint}"))
    if work.record:
        links.append(tag("code", work.record))
    if not links:
        return Html()
    return Html(" ({})").format(Html(", ").join(links))


def short_line(work: Reference, page: str) -> Html:
    """A reference as one line of a list on a page, leading to its permanent address."""
    title = link(work.title, address(work, page))
    return Html("{}, {}, {}").format(title, inline(work.authors), work.year)


def newest_first(works: Iterable[Reference]) -> list[Reference]:
    """By date, the newest first; a work whose month is unknown comes last in its year."""
    return sorted(
        works, key=lambda work: (-(work.year or 0), -(work.month or 0), work.title.lower())
    )


# Texts that open on a click.


def whole_lines(text: str) -> Html:
    """A text of several lines for a pre: a blank line would end the block for a Markdown reader."""
    return Html("&#10;").join(text.split("\n"))


# BibTeX.


def bibtex_block(title: str, text: str) -> Html:
    """BibTeX that opens on a click and can be copied."""
    return Html(
        "<details><summary>{}</summary>"
        '<pre class="fb-bibtex" tabindex="0"><code>{}</code></pre></details>'
    ).format(title, whole_lines(text))


# What we say of a work, which a list of references would print.
_OURS = ("annote", "code", "keywords", "preprint", "record", "tier")


def cited_bibtex(work: Reference) -> str:
    """The entry of a work as others cite it, without our note, its topics and its standing."""
    entry = read_entry(work.bibtex)
    if entry is None:
        return work.bibtex
    fields = tuple(field for field in entry.fields if field.name not in _OURS)
    return print_entry(BibEntry(entry.type, entry.key, fields))


def page_bibtex(title: str, kind: str, name: str, read: date) -> str:
    """A page of ours as a reference.

    `kind` and `name` say which; the newest reading of its sources is its date.
    """
    fields = {
        "author": "{The flopbook contributors}",
        "title": title,
        "howpublished": f"flopbook {flopbook.__version__}, {kind} {name}",
        "year": str(read.year),
        "note": f"Sources read up to {read.isoformat()}",
    }
    body = ",\n".join(f"  {field} = {{{text}}}" for field, text in fields.items())
    return f"@misc{{flopbook{read.year}{slug(name).replace('-', '')},\n{body}\n}}"
