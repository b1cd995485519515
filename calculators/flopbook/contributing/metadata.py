"""What services say of a work: the feed of arXiv, the record of a DOI, the head of a web page.

Sources: arXiv API User's Manual (the feed, its extension elements, and errors as an entry),
Crossref's and DataCite's content negotiation (`application/vnd.citationstyles.csl+json`).
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from flopbook.contributing.fetching import Fetcher, FetchError
from flopbook.data.identifiers import Identifier, identify
from flopbook.data.reference import Person
from flopbook.errors import shorten

if TYPE_CHECKING:  # the parser is loaded when a feed has come
    from xml.etree.ElementTree import Element

ARXIV = "https://export.arxiv.org/api/query"
DOI = "https://doi.org/"
MOST_ENTRIES = 1000  # of a feed; nobody asks for as many
_LONGEST_TEXT = 10_000  # of a field, in characters; abstracts have up to 2,000
_LONGEST_PAGE = 1_000_000
_MOST_PEOPLE = 5000
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


def look_up(identifier: Identifier, fetcher: Fetcher) -> Work:
    """The work that an identifier names.

    Raises FetchError; its kind is missing where there is no such work.
    """
    if identifier.kind == "arxiv":
        query = urlencode({"id_list": identifier.value, "max_results": 1})
        works = from_atom(fetcher.get(f"{ARXIV}?{query}", "application/atom+xml").body)
        if not works:
            raise FetchError("missing", f"arXiv has no paper {identifier.value}")
        return works[0]._replace(eprint=identifier.name[1])
    if identifier.kind == "doi":
        address = DOI + quote(identifier.value, safe="/()._-:;")
        return from_csl(fetcher.get(address, CSL).body)._replace(doi=identifier.value)
    answer = fetcher.get(identifier.address, "text/html,application/xhtml+xml")
    return from_page(answer.body.decode("utf-8", "replace"), identifier.address)


_MOST_ELEMENTS = 100 * MOST_ENTRIES  # an entry of arXiv has some twenty, and two for each author
_DEEPEST_ELEMENT = 20
_LONGEST_NAME = 200  # of an element, with its namespace, which each one of the tree repeats
_ATOM = "{http://www.w3.org/2005/Atom}"
_EXTENSION = "{http://arxiv.org/schemas/atom}"


def from_atom(body: bytes) -> list[Work]:
    """The works of a feed of the arXiv API.

    Raises FetchError for what is no whole feed, and for an error entry.
    """
    from xml.etree import ElementTree

    no_feed = FetchError("broken", "arXiv answers with something that is no feed")
    # In UTF-8, as arXiv writes: in another encoding what is looked for would be spelled otherwise.
    text = body.decode("utf-8", "replace")
    # A feed needs neither; with them a few lines can expand to gigabytes.
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise no_feed
    try:
        parser = ElementTree.XMLParser(target=_plain_tree())
        feed = ElementTree.fromstring(text, parser)
    except (ElementTree.ParseError, ValueError, LookupError):
        if b"Rate exceeded" in body:  # a line of plain text
            raise FetchError("busy", "arXiv asks for patience; try again later") from None
        raise FetchError("broken", "arXiv gives no whole feed; try again later") from None
    if feed.tag != f"{_ATOM}feed":
        raise no_feed
    return [_arxiv_work(entry) for entry in feed.findall(f"{_ATOM}entry")[:MOST_ENTRIES]]


def _plain_tree() -> Any:
    """A builder that raises ValueError before a feed of a few megabytes fills the memory."""
    from xml.etree import ElementTree

    class PlainTree(ElementTree.TreeBuilder):
        count = depth = 0

        def start(self, tag: str, attributes: Any, /) -> Element:
            self.count += 1
            self.depth += 1
            longest = max(map(len, (tag, *attributes)))
            if self.count > _MOST_ELEMENTS or self.depth > _DEEPEST_ELEMENT:
                raise ValueError("more elements than a feed has")
            if longest > _LONGEST_NAME:
                raise ValueError("a name longer than any of a feed")
            return super().start(tag, attributes)

        def end(self, tag: str, /) -> Element:
            self.depth -= 1
            return super().end(tag)

    return PlainTree()


def _arxiv_work(entry: Element) -> Work:
    """The work of one entry. Raises FetchError for an error, which arXiv writes as an entry too."""
    address, title = _child(entry, "id"), _child(entry, "title")
    summary, published = _child(entry, "summary"), _child(entry, "published")
    if "/api/errors" in address or "/abs/" not in address:
        reason = shorten(summary or title or "nothing", 100)
        raise FetchError("missing", f"arXiv says: {reason}")
    eprint = _value_of_kind(f"arXiv:{address.partition('/abs/')[2]}", "arxiv")
    if not eprint:
        raise FetchError("broken", "arXiv names a work by what is no identifier of its own")
    authors = entry.findall(f"{_ATOM}author/{_ATOM}name")[:_MOST_PEOPLE]
    names = [_line(name.text or "") for name in authors]
    category = entry.find(f"{_EXTENSION}primary_category")
    year, month = _year_and_month(published, r"(\d{4})-(\d{2})")
    return Work(
        title=title,
        people=tuple(person(name) for name in names if name),
        year=year,
        month=month,
        doi=_value_of_kind(_child(entry, "doi", _EXTENSION), "doi"),
        eprint=re.sub(r"v\d+$", "", eprint),
        summary=summary,
        category="" if category is None else category.get("term", ""),
        published=published[:10],
    )


def _child(entry: Element, name: str, namespace: str = _ATOM) -> str:
    """The text of a child element on one line, empty where there is none."""
    return _line(entry.findtext(namespace + name) or "")


def _year_and_month(date: str, form: str) -> tuple[int | None, int | None]:
    """Year and month of a date that begins in a form with two groups; None for what is missing."""
    match = re.match(form, date)
    if match is None:
        return None, None
    return int(match[1]), _month(match[2])


def _month(text: str | None) -> int | None:
    if text is None or not 1 <= int(text) <= 12:
        return None
    return int(text)


def _value_of_kind(text: str, kind: str) -> str:
    """The identifier that a text is, if it is one of this kind."""
    identifier = identify(text)
    return identifier.value if identifier and identifier.kind == kind else ""


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


_FIRST_YEAR, _LAST_YEAR = 1000, 9999
_OWN_CONTAINERS = ("publisher", "school", "institution")  # what publishes the work itself
_CSL_FIELDS = {"volume": "volume", "issue": "number", "page": "pages"}  # CSL name -> BibTeX name


def from_csl(body: bytes) -> Work:
    """The work of a CSL-JSON record. Raises FetchError for what is none."""
    try:
        record = json.loads(body)
        return _csl_work(record.get("message", record))  # Crossref's own service wraps it
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise FetchError(
            "broken", "the DOI leads to a record that cannot be read; try again later"
        ) from None


def _csl_work(record: dict[str, Any]) -> Work:
    year, month = _csl_date(record.get("issued"))
    people = [_csl_person(author) for author in (record.get("author") or [])[:_MOST_PEOPLE]]
    kind, field = _TYPES.get(str(record.get("type", "")), ("misc", "howpublished"))
    container = "publisher" if field in _OWN_CONTAINERS else "container-title"
    venue = _text(record.get(container))
    details = [(name, _text(record.get(csl_name))) for csl_name, name in _CSL_FIELDS.items()]
    return Work(
        title=_text(record["title"]),
        people=tuple(author for author in people if author),
        year=year,
        month=month,
        type=kind,
        venue=(field, venue) if venue else ("", ""),
        more=tuple((name, text) for name, text in details if text),
        doi=_value_of_kind(_text(record.get("DOI")), "doi"),
    )


def _csl_date(issued: Any) -> tuple[int | None, int | None]:
    """Year and month of a date such as {"date-parts": [[2024, 3]]}; None for what is not given."""
    date_parts = (issued or {}).get("date-parts") or [[]]
    numbers = [int(number) for number in date_parts[0][:2] if number]
    if not numbers or not _FIRST_YEAR <= numbers[0] <= _LAST_YEAR:
        return None, None
    month = _month(str(numbers[1])) if len(numbers) > 1 else None
    return numbers[0], month


def _text(field: Any) -> str:
    """A field of a record, or the first text of a list, without tags and line breaks."""
    if isinstance(field, list) and field:
        field = field[0]
    if not isinstance(field, (str, int)):
        return ""
    # No tag has another in it: without that, each `<` would be followed to the end of the text.
    return _line(re.sub(r"</?[A-Za-z][^<>]*>", "", str(field)))


def _csl_person(author: dict[str, Any]) -> Person | None:
    family, given = _text(author.get("family")), _text(author.get("given"))
    if family and given:
        return Person(family, given)
    name = family or _text(author.get("literal")) or _text(author.get("name")) or given
    return Person(name, "", True) if name else None


class _Head(HTMLParser):
    """Collects the title and the meta fields of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.meta: dict[str, list[str]] = {}
        self._title: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag == "title" and not self._title
        attributes = dict(attrs)
        name = attributes.get("name") or attributes.get("property")
        content = attributes.get("content")
        if tag == "meta" and name and content:
            self.meta.setdefault(name.lower(), []).append(_line(content))

    def handle_data(self, data: str) -> None:
        if self._inside:
            self._title.append(data)

    def handle_endtag(self, tag: str) -> None:
        self._inside = False

    @property
    def title(self) -> str:
        """The text of the first title that has one, on one line."""
        return _line("".join(self._title))

    def first(self, *names: str) -> str:
        """The first value of the first of these meta fields that the page has."""
        return next((self.meta[name][0] for name in names if name in self.meta), "")


# The first are Highwire Press tags, which Google Scholar reads; the last ones any page may have.
_DATES = (
    "citation_publication_date",
    "citation_date",
    "citation_online_date",
    "article:published_time",
    "date",
)


def from_page(page: str, address: str) -> Work:
    """What a page says of itself in its head, and nothing beyond it."""
    head = _Head()
    # The parser of the standard library fails on some declarations; what it read before stays.
    with contextlib.suppress(AssertionError):
        head.feed(page[:_LONGEST_PAGE])
    year, month = _year_and_month(head.first(*_DATES), r"(\d{4})(?:[-/](\d{1,2}))?")
    kind, venue = _page_venue(head)
    authors = head.meta.get("citation_author") or head.meta.get("author") or []
    eprint = identify(head.first("citation_arxiv_id"))
    return Work(
        title=head.first("citation_title", "og:title") or head.title,
        people=tuple(person(name) for name in _single_names(authors)),
        year=year,
        month=month,
        type=kind,
        venue=venue if venue[1] else ("", ""),
        doi=_value_of_kind(head.first("citation_doi"), "doi"),
        eprint=eprint.name[1] if eprint and eprint.kind == "arxiv" else "",
        url=address,
    )


def _page_venue(head: _Head) -> tuple[str, tuple[str, str]]:
    """The BibTeX type of a page, and the field and text of where it appeared."""
    if journal := head.first("citation_journal_title"):
        return "article", ("journal", journal)
    if meeting := head.first("citation_conference_title", "citation_inbook_title"):
        return "inproceedings", ("booktitle", meeting)
    return "online", ("howpublished", head.first("og:site_name"))


def _single_names(authors: list[str]) -> Iterator[str]:
    """Each author; one meta field may hold several, joined by semicolons or by `and`."""
    for text in authors:
        for name in re.split(r";|\band\b|&", text):
            if name.strip():
                yield name.strip()


# Words of a family name in lower case: Ludwig van Beethoven is filed under "van Beethoven".
_PARTICLE = re.compile(
    "van|von|der|den|de|del|della|di|da|dos|la|le|du|ter|ten|zu|bin|al|el", re.IGNORECASE
)
_SUFFIXES = frozenset(("jr", "jr.", "sr", "sr.", "ii", "iii", "iv"))
# A name with one of these words is that of an organisation.
_GROUP = re.compile(
    r"\b(?:team|collaboration|group|labs?|inc|corporation|consortium|ai|research|community|et al)"
    r"\b",
    re.IGNORECASE,
)


def person(name: str) -> Person:
    """A name as a service prints it, as family name and given names.

    One word, or the name of a group, is an organisation.
    """
    name = _line(name)
    family, given = (half.strip() for half in name.partition(",")[::2])
    if family and given:
        return Person(family, given)
    words = name.replace(",", " ").split()
    if len(words) < 2 or _GROUP.search(name):
        return Person(name, "", True)
    family_start = len(words) - 1
    if words[family_start].lower() in _SUFFIXES and family_start > 1:
        family_start -= 1
    while family_start > 1 and _PARTICLE.fullmatch(words[family_start - 1]):
        family_start -= 1
    return Person(" ".join(words[family_start:]), " ".join(words[:family_start]))


def _line(text: str) -> str:
    """A text on one line, without control characters, cut off where no field is as long."""
    printable = (letter if letter.isprintable() else " " for letter in text[:_LONGEST_TEXT])
    return " ".join("".join(printable).split())


def host_of(address: str) -> str:
    """The host of an address without `www.`; empty for what is none."""
    try:
        return (urlsplit(address).hostname or "").removeprefix("www.")
    except ValueError:
        return ""
