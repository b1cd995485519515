"""How a reference and a claim's provenance are written on pages."""

from __future__ import annotations

import functools
from datetime import date

import flopbook
from flopbook.claims import Claim
from flopbook.pages.markup import escape, inline, link, relative, slug
from flopbook.references import Reference, Topic, reference, references, topics

MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


def home_topic(item: Reference) -> str:
    """The topic on whose page a reference has its permanent address."""
    return item.topics[0]


def topic_page(topic_id: str) -> str:
    """The content path of a topic."""
    return f"references/{topic_id}.md"


def cite(key: str, page: str) -> str:
    """A citation in running text: author and year, linked to the reference."""
    item = reference(key)
    return link(item.short, html_link(page, f"{topic_page(home_topic(item))}#{key}"), "fb-cite")


@functools.lru_cache(maxsize=100_000)
def html_link(page: str, target: str) -> str:
    """A link for raw HTML: the address of the built page, which sits in a folder of its own."""
    path, mark, anchor = target.partition("#")
    return _as_folder(relative(_folder(page), _folder(path))) + mark + anchor


def _folder(path: str) -> str:
    """`a/b.md` is served as `a/b/`, `a/index.md` as `a/`: where a page's relative links start."""
    if not path.endswith(".md"):
        return path
    stem = path.removesuffix(".md")
    return stem.removesuffix("index") + "page" if stem.endswith("index") else f"{stem}/page"


def _as_folder(path: str) -> str:
    return path.removesuffix("page") or "./"


def provenance(claim: Claim) -> str:
    """Where a value comes from, in one line of plain text."""
    item = references().get(claim.source)
    who = f"{item.short}, {item.title}" if item else claim.source
    parts = [f"{claim.basis}: {who}"]
    if claim.quote:
        parts.append(f'"{claim.quote}"')
    if claim.locator:
        parts.append(claim.locator)
    if claim.formula:
        parts.append(f"{claim.formula} ({claim.derived_from})")
    parts.append(f"read {claim.as_of.isoformat()}")
    if claim.note:
        parts.append(claim.note)
    return "; ".join(parts)


def when(item: Reference) -> str:
    """Month and year, as far as known."""
    return f"{MONTHS[item.month - 1]} {item.year}" if item.month else str(item.year or "no date")


def full_reference(item: Reference) -> str:
    """One work as a block: citation, our note, copyable BibTeX, a permanent address."""
    people = escape(", ".join(person.full for person in item.people[:12]))
    if len(item.people) > 12:
        people += f" and {len(item.people) - 12} others"
    title = link(item.title, item.link) if item.link else escape(item.title)
    venue = f" {escape(item.venue)}," if item.venue else ""
    more = [link("code", item.code)] if item.code else []
    if item.eprint and "arxiv.org" not in item.link:
        more.append(link("arXiv", f"https://arxiv.org/abs/{item.eprint}"))
    tail = f" ({', '.join(more)})" if more else ""
    note = f"<p class='fb-note'>{escape(item.note)}</p>" if item.note else ""
    return (
        f'<article class="fb-ref" id="{item.key}">\n'
        f'<p><a class="fb-perma" href="#{item.key}" aria-label="Permanent link to {item.key}">#</a> '
        f"<strong>{title}</strong>{tail}<br>{people}.{venue} {escape(when(item))}.</p>\n"
        f"<p>{escape(item.annote)}</p>{note}\n"
        f"{bibtex_block(f'BibTeX of {item.key}', item.bibtex)}\n"
        "</article>"
    )


def bibtex_block(title: str, text: str) -> str:
    """BibTeX that opens on a click and can be copied."""
    return (
        f"<details><summary>{escape(title)}</summary>"
        f'<pre class="fb-bibtex" tabindex="0"><code>{_code(text)}</code></pre></details>'
    )


def page_bibtex(title: str, what: str, name: str, read: date) -> str:
    """A page of ours as a reference: `what` and `name` say which; the newest reading of its sources is its date."""
    fields = {
        "author": "{The flopbook contributors}", "title": title,
        "howpublished": f"flopbook {flopbook.__version__}, {what} {name}", "year": str(read.year),
        "note": f"Sources read up to {read.isoformat()}",
    }  # fmt: skip
    inside = ",\n".join(f"  {field} = {{{value}}}" for field, value in fields.items())
    return f"@misc{{flopbook{read.year}{slug(name).replace('-', '')},\n{inside}\n}}"


def _code(text: str) -> str:
    """Text inside pre: blank lines would end the block for a Markdown reader."""
    return escape(text).replace("\n", "&#10;")


def all_topics() -> list[Topic]:
    """Every topic of the tree, parents before children."""
    return [topic for top in topics() for topic in top.walk()]


def short_line(item: Reference) -> str:
    """A reference as one line of a Markdown list."""
    title = link(item.title, item.link) if item.link else inline(item.title)
    return f"{title}, {inline(item.authors)}, {item.year}"
