"""What services say of a work: the feed of the arXiv API, the CSL-JSON of a DOI, and the head of a
web page.

Sources: arXiv API User's Manual (the feed, its extension elements, and errors as an entry),
Crossref's and DataCite's content negotiation (`application/vnd.citationstyles.csl+json`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from flopbook.contributing.fetching import Fetcher, FetchError
from flopbook.data.identifiers import Identifier, identify
from flopbook.data.references import Person
from flopbook.errors import shorten

ARXIV = "https://export.arxiv.org/api/query"
DOI = "https://doi.org/"
CSL = "application/vnd.citationstyles.csl+json"


class Work(NamedTuple):
    """A work as a service describes it; what it does not say is empty.

    `venue` is a BibTeX field and its text.
    """

    title: str = ""
    people: tuple[Person, ...] = ()
    year: int | None = None
    month: int | None = None
    type: str = "misc"
    venue: tuple[str, str] = ("", "")
    more: tuple[tuple[str, str], ...] = ()
    doi: str = ""
    eprint: str = ""
    url: str = ""
    summary: str = ""
    category: str = ""
    published: str = ""


def look_up(what: Identifier, fetcher: Fetcher) -> Work:
    """The work that an identifier names.

    Raises FetchError; its kind is missing where there is no such work.
    """
    if what.kind == "arxiv":
        query = urlencode({"id_list": what.value, "max_results": 1})
        found = from_atom(fetcher.get(f"{ARXIV}?{query}", "application/atom+xml").body)
        if not found:
            raise FetchError("missing", f"arXiv has no paper {what.value}")
        return found[0]._replace(eprint=what.name[1])
    if what.kind == "doi":
        return from_csl(fetcher.get(DOI + quote(what.value, safe="/()._-:;"), CSL).body)._replace(
            doi=what.value
        )
    answer = fetcher.get(what.address, "text/html,application/xhtml+xml")
    return from_page(answer.body.decode("utf-8", "replace"), what.address)


_ATOM = "{http://www.w3.org/2005/Atom}"
_EXTENSION = "{http://arxiv.org/schemas/atom}"


def from_atom(data: bytes) -> list[Work]:
    """The works of a feed of the arXiv API.

    Raises FetchError for what is no whole feed, and for an error entry.
    """
    from xml.etree import ElementTree

    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise FetchError("broken", "arXiv answers with something that is no feed")
    try:
        feed = ElementTree.fromstring(data)
    except (ElementTree.ParseError, ValueError, LookupError):
        kind, text = (
            ("busy", "asks for patience")
            if b"Rate exceeded" in data
            else ("broken", "gives no whole feed")
        )
        raise FetchError(kind, f"arXiv {text}; try again later") from None
    if feed.tag != f"{_ATOM}feed":
        raise FetchError("broken", "arXiv answers with something that is no feed")
    return [_arxiv_work(entry) for entry in feed.findall(f"{_ATOM}entry")]


def _arxiv_work(entry: Any) -> Work:
    say = lambda name, space=_ATOM: _line(entry.findtext(space + name) or "")  # noqa: E731
    address = say("id")
    if "/api/errors" in address or "/abs/" not in address:
        raise FetchError(
            "missing", f"arXiv says: {shorten(say('summary') or say('title') or 'nothing', 100)}"
        )
    published = say("published")
    day = re.match(r"(\d{4})-(\d{2})", published)
    names = [_line(name.text or "") for name in entry.iterfind(f"{_ATOM}author/{_ATOM}name")]
    category = entry.find(f"{_EXTENSION}primary_category")
    return Work(
        title=say("title"),
        people=tuple(person(name) for name in names if name),
        year=int(day[1]) if day else None,
        month=int(day[2]) if day else None,
        doi=doi.value if (doi := identify(say("doi", _EXTENSION))) and doi.kind == "doi" else "",
        eprint=re.sub(r"v\d+$", "", address.partition("/abs/")[2]),
        summary=say("summary"),
        category=category.get("term", "") if category is not None else "",
        published=published[:10],
    )


# CSL types, and those that Crossref gives instead -> BibTeX type and the field of the container.
_TYPES = {
    "article-journal": ("article", "journal"),
    "journal-article": ("article", "journal"),
    "paper-conference": ("inproceedings", "booktitle"),
    "proceedings-article": ("inproceedings", "booktitle"),
    "chapter": ("incollection", "booktitle"),
    "book-chapter": ("incollection", "booktitle"),
    "book": ("book", "publisher"),
    "monograph": ("book", "publisher"),
    "edited-book": ("book", "publisher"),
    "thesis": ("phdthesis", "school"),
    "dissertation": ("phdthesis", "school"),
    "report": ("techreport", "institution"),
    "webpage": ("online", "howpublished"),
}


def from_csl(data: bytes) -> Work:
    """The work of a CSL-JSON record. Raises FetchError for what is none."""
    try:
        record = json.loads(data)
        record = record.get("message", record)  # Crossref's own service wraps it
        title = _text(record["title"])
        parts = (record.get("issued") or {}).get("date-parts") or [[]]
        date = [int(part) for part in parts[0] if part]
        people = tuple(found for one in record.get("author") or () if (found := _csl_person(one)))
        kind, field = _TYPES.get(str(record.get("type", "")), ("misc", "howpublished"))
        own = "publisher" if field in ("publisher", "school", "institution") else "container-title"
        more = [(name, _text(record.get(name))) for name in ("volume", "issue", "page")]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise FetchError(
            "broken", "the DOI leads to a record that cannot be read; try again later"
        ) from None
    venue = _text(record.get(own))
    return Work(
        title=title,
        people=people,
        year=date[0] if date else None,
        month=date[1] if len(date) > 1 and 1 <= date[1] <= 12 else None,
        type=kind,
        venue=(field, venue) if venue else ("", ""),
        more=tuple((_CSL_FIELDS.get(name, name), value) for name, value in more if value),
        doi=_text(record.get("DOI")),
    )


_CSL_FIELDS = {"issue": "number", "page": "pages"}


def _text(value: Any) -> str:
    """A text, or the first of a list of them, without tags and line breaks."""
    value = value[0] if isinstance(value, list) and value else value
    return (
        _line(re.sub(r"</?[A-Za-z][^>]*>", "", str(value))) if isinstance(value, (str, int)) else ""
    )


def _csl_person(one: dict[str, Any]) -> Person | None:
    family, given = _text(one.get("family")), _text(one.get("given"))
    if family and given:
        return Person(family, given)
    whole = family or _text(one.get("literal")) or _text(one.get("name")) or given
    return Person(whole, "", True) if whole else None


class _Head(HTMLParser):
    """Collects the title and the meta fields of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.meta: dict[str, list[str]] = {}
        self.title = ""
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag == "title" and not self.title
        found = dict(attrs)
        name, content = found.get("name") or found.get("property"), found.get("content")
        if tag == "meta" and name and content:
            self.meta.setdefault(name.lower(), []).append(_line(content))

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.title += data

    def handle_endtag(self, tag: str) -> None:
        self._inside = False


def from_page(page: str, address: str) -> Work:
    """What a page says of itself in its head, and nothing beyond it."""
    head = _Head()
    head.feed(page[:1_000_000])
    say = lambda *names: next((head.meta[name][0] for name in names if name in head.meta), "")  # noqa: E731
    date = re.match(r"(\d{4})(?:[-/](\d{1,2}))?", say(*_DATES))
    journal, meeting = (
        say("citation_journal_title"),
        say("citation_conference_title", "citation_inbook_title"),
    )
    kind, field, venue = "online", "howpublished", say("og:site_name")
    if journal or meeting:
        kind, field = ("article", "journal") if journal else ("inproceedings", "booktitle")
        venue = journal or meeting
    authors = head.meta.get("citation_author") or head.meta.get("author") or []
    doi, eprint = identify(say("citation_doi")), identify(say("citation_arxiv_id"))
    return Work(
        title=say("citation_title", "og:title") or _line(head.title),
        people=tuple(person(name) for name in _apart(authors)),
        year=int(date[1]) if date else None,
        month=int(date[2]) if date and date[2] and 1 <= int(date[2]) <= 12 else None,
        type=kind,
        venue=(field, venue) if venue else ("", ""),
        doi=doi.value if doi and doi.kind == "doi" else "",
        eprint=eprint.name[1] if eprint and eprint.kind == "arxiv" else "",
        url=address,
    )


_DATES = (
    "citation_publication_date",
    "citation_date",
    "citation_online_date",
    "article:published_time",
    "date",
)


def _apart(authors: list[str]) -> Iterator[str]:
    """Each author; one meta field may hold several, joined by semicolons or by `and`."""
    for text in authors:
        yield from (name for part in re.split(r";|\band\b|&", text) if (name := part.strip()))


_PARTICLES = frozenset(
    (
        "van",
        "von",
        "der",
        "den",
        "de",
        "del",
        "della",
        "di",
        "da",
        "dos",
        "la",
        "le",
        "du",
        "ter",
        "ten",
        "zu",
        "bin",
        "al",
        "el",
    )
)
_SUFFIXES = frozenset(("jr", "jr.", "sr", "sr.", "ii", "iii", "iv"))
_GROUP = re.compile(
    r"\b(?:team|collaboration|group|labs?|inc|corporation|consortium|ai|research|community|et al)\b",
    re.I,
)


def person(name: str) -> Person:
    """A name as a service prints it, in parts.

    One word, or the name of a group, is an organisation.
    """
    name = _line(name)
    family, comma, given = (part.strip() for part in name.partition(","))
    if comma and family and given:
        return Person(family, given)
    words = name.replace(",", " ").split()
    if len(words) < 2 or _GROUP.search(name):
        return Person(name, "", True)
    start = len(words) - 1
    if words[start].lower() in _SUFFIXES and start > 1:
        start -= 1
    while start > 1 and words[start - 1].lower() in _PARTICLES:
        start -= 1
    return Person(" ".join(words[start:]), " ".join(words[:start]))


def _line(text: str) -> str:
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def host_of(address: str) -> str:
    """The host of an address without `www.`; empty for what is none."""
    try:
        return (urlsplit(address).hostname or "").removeprefix("www.")
    except ValueError:
        return ""
