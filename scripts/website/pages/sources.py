"""How a reference and a claim's provenance are written on pages."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from datetime import date

import flopbook
from flopbook.data.claims import Claim
from flopbook.data.library import link_status, reference, references, topics
from flopbook.data.references import Reference
from flopbook.data.topics import Topic
from flopbook.drawing.markup import escape, inline, link, relative, slug

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


def stylesheet(page: str, path: str) -> str:
    """A style sheet that only some pages load."""
    return f'<link rel="stylesheet" href="{html_link(page, path)}">'


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


def address(item: Reference, page: str) -> str:
    """The permanent address of a work, as a link from a page."""
    return html_link(page, f"{topic_page(home_topic(item))}#{item.key}")


def full_reference(item: Reference, page: str) -> str:
    """One work as a block: citation, our note, copyable BibTeX; on another page than its own it
    leads there instead.
    """
    home = page == topic_page(home_topic(item))
    people = escape(", ".join(person.full for person in item.people[:12]))
    if len(item.people) > 12:
        people += f" and {len(item.people) - 12} others"
    venue = f" {escape(item.venue)}," if item.venue else ""
    note = f"<p class='fb-note'>{escape(item.note)}</p>" if item.note else ""
    more = bibtex_block(f"BibTeX of {item.key}", item.bibtex) if home else ""
    anchor = f' id="{item.key}"' if home else ""
    return (
        f'<article class="fb-ref"{anchor}>\n'
        f'<p><a class="fb-perma" href="{address(item, page)}" aria-label="Permanent link to {item.key}">#</a> '
        f"<strong>{title_link(item)}</strong>{gone(item.link)}{_more_links(item)} {kind_badge(item)}<br>"
        f"{stop(people)}{venue} {escape(when(item))}.</p>\n"
        f"<p>{escape(item.annote)}</p>{note}\n{more}\n"
        "</article>"
    )


def gone(url: str) -> str:
    """What stands behind a link that nobody can read any more: its archived copy, or since when it
    is dead.
    """
    found = link_status(url) if url else None
    if found is None or not found.dead:
        return ""
    if found.archive:
        return f" ({link('archived copy', found.archive)})"
    return f' <span class="fb-badge">dead since {escape(found.checked)}</span>'


def stop(text: str) -> str:
    """A text with a full stop at its end, and not with two."""
    return text if text.endswith(".") else f"{text}."


def title_link(item: Reference) -> str:
    """The title, leading to the work."""
    return link(item.title, item.link) if item.link else escape(item.title)


def kind_badge(item: Reference) -> str:
    """What it is, as a mark."""
    return f'<span class="fb-badge">{item.kind}</span>'


def _more_links(item: Reference) -> str:
    """Code and arXiv, in brackets."""
    more = [link("code", item.code) + gone(item.code)] if item.code else []
    if item.eprint and "arxiv.org" not in item.link:
        more.append(link("arXiv", f"https://arxiv.org/abs/{item.eprint}"))
    return f" ({', '.join(more)})" if more else ""


def bibtex_block(title: str, text: str) -> str:
    """BibTeX that opens on a click and can be copied."""
    return (
        f"<details><summary>{escape(title)}</summary>"
        f'<pre class="fb-bibtex" tabindex="0"><code>{_code(text)}</code></pre></details>'
    )


def page_bibtex(title: str, what: str, name: str, read: date) -> str:
    """A page of ours as a reference: `what` and `name` say which; the newest reading of its sources
    is its date.
    """
    fields = {
        "author": "{The flopbook contributors}",
        "title": title,
        "howpublished": f"flopbook {flopbook.__version__}, {what} {name}",
        "year": str(read.year),
        "note": f"Sources read up to {read.isoformat()}",
    }
    inside = ",\n".join(f"  {field} = {{{value}}}" for field, value in fields.items())
    return f"@misc{{flopbook{read.year}{slug(name).replace('-', '')},\n{inside}\n}}"


def _code(text: str) -> str:
    """Text inside pre: blank lines would end the block for a Markdown reader."""
    return escape(text).replace("\n", "&#10;")


def all_topics() -> list[Topic]:
    """Every topic of the tree, parents before children."""
    return [topic for top in topics() for topic in top.walk()]


def short_line(item: Reference, page: str) -> str:
    """A reference as one line of a list on a page, leading to its permanent address."""
    return f"{link(item.title, address(item, page))}, {inline(item.authors)}, {item.year}"


def newest_first(items: Iterable[Reference]) -> list[Reference]:
    """By date, the newest first; of one month those whose month is known come before the rest of
    the year.
    """
    return sorted(
        items, key=lambda item: (-(item.year or 0), -(item.month or 0), item.title.lower())
    )
