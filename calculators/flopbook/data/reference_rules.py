"""The rules that references keep: each by itself, and all of them together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from flopbook.data.claims import TIERS
from flopbook.data.schema import hidden_character, is_date
from flopbook.errors import Problem, shorten

if TYPE_CHECKING:
    from flopbook.data.references import Reference

TYPES = frozenset(
    (
        "article",
        "inproceedings",
        "book",
        "incollection",
        "phdthesis",
        "mastersthesis",
        "techreport",
        "misc",
        "online",
        "unpublished",
    )
)

# What a reader calls a work. The field `type` says it; without one the type of the entry does.
SOURCE = "source"  # a page that only gives values: the sites of products, model cards, data sheets
KINDS = (
    "paper",
    "thesis",
    "book",
    "white paper",
    "blog",
    "documentation",
    "filing",
    "video",
    "talk",
    "code",
    "notes",
    SOURCE,
)
_KIND_OF_TYPE = {
    "article": "paper",
    "inproceedings": "paper",
    "incollection": "paper",
    "book": "book",
    "phdthesis": "thesis",
    "mastersthesis": "thesis",
    "techreport": "white paper",
    "unpublished": "notes",
}
# On these topics a web page without `type` is a source of values; on any other it has to say what
# it is.
_OF_VALUES = re.compile(r"accelerators(-.*)?|models|benchmarks")


def kind_of(entry_type: str, registered: bool) -> str:
    """What an entry without the field `type` is; `registered` says that it has a DOI or an arXiv
    id.
    """
    return _KIND_OF_TYPE.get(entry_type) or (
        "paper" if registered and entry_type == "misc" else SOURCE
    )


def problem_at(item: Reference, rule: str, found: str, expected: str, mend: str) -> Problem:
    """A problem at the first line of an entry."""
    return Problem(item.file, item.line, 1, rule, found, expected, mend)


_KEY = re.compile(r"[a-z][a-z0-9-]*[0-9]{4}[a-z0-9]+")
_LINK = re.compile(r"https?://[^\s<>\"'`\\{}]+")
_MARKUP = re.compile(r"<[A-Za-z/!?]|\{\{|\{%")


def rules_of(item: Reference) -> Iterator[Problem]:
    """The rules that one reference must keep by itself."""
    if not _KEY.fullmatch(item.key):
        yield problem_at(
            item, "key", f"'{shorten(item.key)}'", "authorYEARword in lower case", "rename the key"
        )
    if item.type not in TYPES:
        yield problem_at(
            item, "type", f"@{item.type}", f"one of {', '.join(sorted(TYPES))}", "choose a type"
        )
    for name in ("title", "people", "year", "annote", "topics"):
        if not getattr(item, name):
            field = {"people": "author", "topics": "keywords"}.get(name, name)
            yield problem_at(
                item, "missing", f"no {field} in {item.key}", f"a {field}", "fill it in"
            )
    if item.people and item.people[-1].family.lower() in ("others", "et al.", "al."):
        yield problem_at(item, "author", "'and others'", "all authors", "list every author")
    words = len(item.annote.split())
    if words > 60:
        yield problem_at(
            item, "annote", f"{words} words in {item.key}", "at most 60", "shorten the note"
        )
    yield from _kind_rules(item)
    yield from _origin_rules(item)
    yield from _text_rules(item)


def _kind_rules(item: Reference) -> Iterator[Problem]:
    """A kind that we know; and no work that is taken for a source because nobody said what it is."""
    if item.kind not in KINDS:
        said = (
            f"type '{shorten(item.kind)}' in {item.key}",
            f"one of {', '.join(KINDS)}",
            "choose what it is",
        )
        yield problem_at(item, "kind", *said)
    elif item.kind == SOURCE and item.bibtex and not re.search(r"\btype\s*=", item.bibtex):
        for topic in item.topics:
            if not _OF_VALUES.fullmatch(topic):
                found = f"no type in {item.key}, a web page on '{shorten(topic)}'"
                yield problem_at(
                    item, "kind", found, f"one of {', '.join(KINDS)}", "say what it is"
                )
                break


def _origin_rules(item: Reference) -> Iterator[Problem]:
    """Where it can be read, who says it, and when it was read."""
    if not item.link and item.type != "unpublished":
        yield problem_at(
            item,
            "missing",
            f"no doi, eprint or url in {item.key}",
            "one of them",
            "add where it can be read",
        )
    for name in ("url", "code"):
        value = getattr(item, name)
        if value and not _LINK.fullmatch(value):
            yield problem_at(
                item,
                "link",
                f"{name} '{shorten(value)}'",
                "an http or https address",
                "mend the address",
            )
    if item.tier and item.tier not in TIERS:
        yield problem_at(
            item,
            "tier",
            f"'{shorten(item.tier)}'",
            f"one of {', '.join(TIERS)}",
            "choose who says it",
        )
    if item.urldate and not is_date(item.urldate):
        yield problem_at(
            item,
            "date",
            f"urldate '{shorten(item.urldate)}'",
            "YYYY-MM-DD",
            "write the date of reading",
        )


_IDS = {
    "doi": re.compile(r"10\.\d{4,9}/[^\s<>\"'`\\{}]+"),
    "eprint": re.compile(r"[a-z.-]+(\.[A-Z]{2})?/\d{7}(v\d+)?|\d{4}\.\d{4,5}(v\d+)?"),
}


def _text_rules(item: Reference) -> Iterator[Problem]:
    """No markup, nothing hidden, identifiers in their form, and an entry that starts its line."""
    if not item.bibtex:
        yield problem_at(
            item,
            "layout",
            f"{item.key} inside a line",
            "'@type{key,' at the start of a line",
            "start a new line",
        )
    texts = {name: getattr(item, name) for name in ("title", "note", "annote", "venue")}
    texts["author"] = ", ".join(person.full for person in item.people)
    for name, text in texts.items():
        if match := _MARKUP.search(text):
            yield problem_at(
                item,
                "markup",
                f"'{shorten(text[match.start() :], 30)}' in {name}",
                "plain text",
                "remove it",
            )
    if hidden := hidden_character(item.bibtex):
        yield problem_at(
            item,
            "control-character",
            f"{hidden} in {item.key}",
            "printable text",
            "retype the line",
        )
    for name, form in _IDS.items():
        value = getattr(item, name)
        if value and not form.fullmatch(value):
            yield problem_at(
                item,
                "link",
                f"{name} '{shorten(value)}'",
                f"a plain {name} without address",
                "write only the identifier",
            )


def duplicates(items: Iterable[Reference]) -> Iterator[Problem]:
    """The same work twice, by DOI, by arXiv id without version, or by normalised title."""
    seen: dict[tuple[str, str], Reference] = {}
    for item in items:
        names = {
            "DOI": item.doi.lower(),
            "arXiv id": re.sub(r"v\d+$", "", item.eprint),
            "title": re.sub(r"[^a-z0-9]+", "", item.title.lower()),
        }
        for kind, value in names.items():
            if not value:
                continue
            other = seen.setdefault((kind, value), item)
            if other is not item:
                yield problem_at(
                    item,
                    "duplicate",
                    f"{kind} '{shorten(value)}'",
                    "each work once",
                    f"it is {other.key} too",
                )
