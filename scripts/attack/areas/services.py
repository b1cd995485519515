"""Records of services whose texts would end the field, the entry or the list of names they go to.

Whoever deposits a paper writes what arXiv, Crossref and the pages of publishers say of it. Whatever
they say, it becomes one entry of BibTeX with our fields and no others, or a message of one line.
"""

from __future__ import annotations

import html
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from pybtex.database import parse_string
from pybtex.exceptions import PybtexError

from flopbook.contributing.fetching import FetchError
from flopbook.contributing.metadata import Work, from_atom, from_csl, from_page
from flopbook.contributing.new_reference import entry_text, key_of
from scripts.attack.broken import odd_record
from scripts.attack.campaign import Attempt, Campaign
from scripts.attack.hostile import text_of

NAME = "services"
_RECORDS = 6_000
_TOPIC = "roofline"
_LONGEST_LINE = 600
_CSL: dict[str, Any] = {
    "type": "article-journal",
    "title": "A title",
    "author": [{"family": "Doe", "given": "Jane"}, {"literal": "A team"}],
    "issued": {"date-parts": [[2024, 3]]},
    "container-title": "Journal",
    **{"publisher": "P", "volume": "1", "issue": "2", "page": "1-9", "DOI": "10.1000/x"},
}
_TEXTS = ("title", "container-title", "publisher", "volume", "issue", "page", "DOI", "type")
_FEED = (
    '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:a="http://arxiv.org/schemas/atom"><entry>'
    "<id>http://arxiv.org/abs/2001.08361{}</id><title>{}</title><summary>{}</summary>"
    "<published>{}</published><author><name>{}</name></author><a:doi>{}</a:doi>"
    '<a:primary_category term="{}"/></entry></feed>'
)
_PAGE = (
    '<html><head><title>{}</title><meta name="citation_title" content="{}">'
    '<meta name="citation_author" content="{}"><meta name="citation_date" content="{}">'
    '<meta name="citation_doi" content="{}"><meta name="citation_journal_title" content="{}">'
    '<meta property="og:site_name" content="{}"></head>'
)
# What ends a field, an entry or a name, or reads as a command.
_ENDS = (
    *("}, note = {x", "}\n}\n@misc{evil, title={x}", "\\", "\\\\", "{", "}", "{}{", "}{", "#", '"'),
    *("@string{a={b}}", "% comment", "$a$ $b$", "$", "$$", "~", "a and b and", "and", "{and}"),
    *("Doe, X, Y, Z", ", and ,", "10.1000/x}", "2024-99", "9999-12", "٢٠٢٤-٠٣", "v1}", "v2, x={y"),
    *("\\input{/etc/passwd}", "\\}", "\\{", "\\% }", "{" * 99, "}" * 99 + "{" * 99, "and " * 300),
)
_FIELDS = frozenset(
    (
        *("author", "title", "year", "month", "doi", "eprint", "archiveprefix", "preprint", "url"),
        *("urldate", "keywords", "annote", "type", "journal", "booktitle", "howpublished"),
        *("school", "publisher", "institution", "volume", "number", "pages"),
    )
)
Reader = Callable[[], list[Work]]


def attack(campaign: Campaign) -> Iterator[Attempt]:
    """Records of the three kinds of service."""
    for _ in range(campaign.count(_RECORDS)):
        record, read = campaign.rng.choice((_csl, _feed, _page))(campaign.rng)
        yield Attempt(record[:2000], _fault(read))


def _text(rng: random.Random) -> str:
    return rng.choice(_ENDS) if rng.random() < 0.5 else text_of(rng)


def _filled(form: str, rng: random.Random) -> str:
    """A form with texts in its gaps, most of them escaped as its service would."""
    texts = [_text(rng) for _ in range(form.count("{}"))]
    return form.format(*(html.escape(text) if rng.random() < 0.9 else text for text in texts))


def _csl(rng: random.Random) -> tuple[str, Reader]:
    record = odd_record(_CSL, rng)
    if rng.random() < 0.7:
        names = [{"family": _text(rng), "given": _text(rng)}, {"literal": _text(rng)}]
        record = {**_CSL, "author": names, **{name: _text(rng) for name in rng.sample(_TEXTS, 3)}}
    text = json.dumps(record)
    return text, lambda: [from_csl(text.encode())]


def _feed(rng: random.Random) -> tuple[str, Reader]:
    text = _filled(_FEED, rng)
    return text, lambda: from_atom(text.encode("utf-8", "surrogatepass"))


def _page(rng: random.Random) -> tuple[str, Reader]:
    text = _filled(_PAGE, rng)
    return text, lambda: [from_page(text, "https://a.example/x")]


def _fault(read: Reader) -> str:
    try:
        return next(filter(None, map(_entry_fault, read())), "")
    except FetchError as error:
        text = str(error)
        return "" if text.isprintable() and len(text) < _LONGEST_LINE else f"says {text!r}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _entry_fault(work: Work) -> str:
    """What another reader of BibTeX makes of the entry that a person is to look at."""
    key = key_of(work, ())
    try:
        entries = parse_string(entry_text(key, work, _TOPIC), "bibtex").entries
    except PybtexError as error:
        return f"is no BibTeX: {error}"
    if list(entries) != [key]:
        return f"becomes the entries {list(entries)}"
    fields = entries[key].fields
    if strange := {name.lower() for name in fields} - _FIELDS:
        return f"brings the fields {sorted(strange)}"
    return "" if fields["keywords"] == _TOPIC else f"has the topics {fields['keywords']!r}"
