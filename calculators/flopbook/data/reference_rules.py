"""The rules that references keep: each by itself, and all of them together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from flopbook.data.claims import TIERS
from flopbook.data.contributed_text import disguised_word, hidden_character
from flopbook.data.reference import SOURCE, Reference
from flopbook.data.schema_words import is_date
from flopbook.errors import Problem, shorten

TYPES = frozenset(
    (
        *("article", "inproceedings", "book", "incollection", "phdthesis", "mastersthesis"),
        *("techreport", "misc", "online", "unpublished"),
    )
)

# What a reader calls a work. The field `type` says it; without one the type of the entry does.
KINDS = (
    *("paper", "thesis", "book", "white paper", "blog", "documentation"),
    *("filing", "video", "talk", "code", "notes", SOURCE),
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
MOST_WORDS = 60  # of an annotation


def kind_of(entry_type: str, registered: bool) -> str:
    """What an entry without the field `type` is.

    `registered` says that it has a DOI or an arXiv id.
    """
    if registered and entry_type == "misc":
        return "paper"
    return _KIND_OF_TYPE.get(entry_type, SOURCE)


def problem_at(reference: Reference, rule: str, observed: str, expected: str, mend: str) -> Problem:
    """A problem at the first line of an entry."""
    return Problem(reference.file, reference.line, 1, rule, observed, expected, mend)


_KEY = re.compile(r"[a-z][a-z0-9-]*[0-9]{4}[a-z0-9]+")
# A host, with a port at most, then anything that needs no quoting. Brackets would be an address of
# IPv6, which no publication has.
_LINK = re.compile(r"https?://[^\s<>\"'`\\{}/?#\[\]]+[^\s<>\"'`\\{}]*")
_PORT = re.compile(r"https?://[^/?#]*:(\d*)(?:[/?#]|$)")
# Names of the public internet (RFC 1035): the last label of a name has a letter in it, while
# addresses are written in digits, or in hexadecimal ones.
_LABEL = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_HOST = re.compile(rf"(?:{_LABEL}\.)+(?=[A-Za-z0-9-]*[A-Za-z]){_LABEL}")
_LONGEST_HOST = 253
_NUMBERS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}")
_HEX = re.compile(r"0x[0-9a-f]*", re.IGNORECASE)
_HIGHEST_PORT = 65_535
# Far beyond every work that we have; a page shows each of them whole.
_LONGEST = {
    **{"key": 60, "title": 500, "url": 1000, "code": 1000, "venue": 500, "note": 1000},
    "annote": 1000,
}
_MOST_PEOPLE = 5000
_LONGEST_NAME = 120
_MARKUP_WRITTEN = re.compile(r"<[A-Za-z/!?\\]|&#")
# Of an entry as it is written, braces mean nothing, and addresses have rules of their own.
_MARKUP = re.compile(
    rf"{_MARKUP_WRITTEN.pattern}|\{{\{{|\{{%|(?i:(?:java|vb)script:)|data:(?:text|image)"
)
_TYPE_FIELD = re.compile(r"\btype\s*=")
_ABBREVIATED = ("others", "et al.", "al.")  # how BibTeX and people end a list of authors early
# Attribute of a reference -> the field that people write.
_REQUIRED = {
    "title": "title",
    "people": "author",
    "year": "year",
    "annote": "annote",
    "topics": "keywords",
}


def rules_of(reference: Reference) -> Iterator[Problem]:
    """The rules that one reference must keep by itself."""
    if too_long := list(_length_rules(reference)):
        yield from too_long  # other messages would say the text once more
        return
    yield from _form_rules(reference)
    yield from _content_rules(reference)
    yield from _kind_rules(reference)
    yield from _origin_rules(reference)
    yield from _text_rules(reference)
    yield from _identifier_rules(reference)


def _length_rules(reference: Reference) -> Iterator[Problem]:
    """Nothing that would fill a page by itself."""
    for name, most in _LONGEST.items():
        length = len(getattr(reference, name))
        if length > most:
            observed = f"{name} of {length:,} characters in {shorten(reference.key)}"
            yield problem_at(reference, "length", observed, f"at most {most:,}", "shorten it")
    longest = max((len(person.full) for person in reference.people), default=0)
    if longest > _LONGEST_NAME:
        observed = f"a name of {longest:,} characters in {shorten(reference.key)}"
        yield problem_at(
            reference, "length", observed, f"at most {_LONGEST_NAME:,}", "shorten the name"
        )
    people = len(reference.people)
    if people > _MOST_PEOPLE:
        observed = f"{people:,} authors in {shorten(reference.key)}"
        yield problem_at(
            reference, "length", observed, f"at most {_MOST_PEOPLE:,}", "mend the field"
        )


def _form_rules(reference: Reference) -> Iterator[Problem]:
    """A key in our form, a type that BibTeX has, and an entry that starts its line."""
    if not _KEY.fullmatch(reference.key):
        observed, expected = f"'{shorten(reference.key)}'", "authorYEARword in lower case"
        yield problem_at(reference, "key", observed, expected, "rename the key")
    if reference.type not in TYPES:
        expected = f"one of {', '.join(sorted(TYPES))}"
        yield problem_at(reference, "type", f"@{reference.type}", expected, "choose a type")
    if not reference.bibtex:
        observed, expected = f"{reference.key} inside a line", "'@type{key,' at the start of a line"
        yield problem_at(reference, "layout", observed, expected, "start a new line")


def _content_rules(reference: Reference) -> Iterator[Problem]:
    """Nothing missing, every author, and a note that is short."""
    for attribute, field in _REQUIRED.items():
        if not getattr(reference, attribute):
            observed = f"no {field} in {reference.key}"
            yield problem_at(reference, "missing", observed, f"the field {field}", "fill it in")
    if reference.people and reference.people[-1].family.lower() in _ABBREVIATED:
        yield problem_at(reference, "author", "'and others'", "all authors", "list every author")
    words = len(reference.annote.split())
    if words > MOST_WORDS:
        observed, expected = f"{words} words in {reference.key}", f"at most {MOST_WORDS}"
        yield problem_at(reference, "annote", observed, expected, "shorten the note")


def _kind_rules(reference: Reference) -> Iterator[Problem]:
    """A kind that we know; no work is a source only because nobody said what it is."""
    expected = f"one of {', '.join(KINDS)}"
    if reference.kind not in KINDS:
        observed = f"type '{shorten(reference.kind)}' in {reference.key}"
        yield problem_at(reference, "kind", observed, expected, "choose what it is")
        return
    says_so = not reference.bibtex or _TYPE_FIELD.search(reference.bibtex)
    if reference.kind != SOURCE or says_so:
        return
    topic = next((name for name in reference.topics if not _OF_VALUES.fullmatch(name)), "")
    if topic:
        observed = f"no type in {reference.key}, a web page on '{shorten(topic)}'"
        yield problem_at(reference, "kind", observed, expected, "say what it is")


def _origin_rules(reference: Reference) -> Iterator[Problem]:
    """Where it can be read, who says it, and when it was read."""
    if not reference.place and reference.type != "unpublished":
        observed, mend = f"no doi, eprint or url in {reference.key}", "add where it can be read"
        yield problem_at(reference, "missing", observed, "one of them", mend)
    for name in ("url", "code"):
        address = getattr(reference, name)
        if address and not is_link(address):
            observed, expected = f"{name} '{shorten(address)}'", "an http or https address"
            yield problem_at(reference, "link", observed, expected, "mend the address")
        elif address and not has_public_host(address):
            observed, expected = f"{name} '{shorten(address)}'", "a host of the public internet"
            yield problem_at(reference, "link", observed, expected, "mend the address")
    if reference.tier and reference.tier not in TIERS:
        observed, expected = f"'{shorten(reference.tier)}'", f"one of {', '.join(TIERS)}"
        yield problem_at(reference, "tier", observed, expected, "choose who says it")
    if reference.urldate and not is_date(reference.urldate):
        observed = f"urldate '{shorten(reference.urldate)}'"
        yield problem_at(reference, "date", observed, "YYYY-MM-DD", "write the date of reading")


def is_link(address: str) -> bool:
    """Whether a text is an address that a page can link: http or https, a host, a port that is.

    In ASCII, as browsers send it: a letter of another script makes a host that looks like one that
    readers know.
    """
    if not _LINK.fullmatch(address) or not address.isascii():
        return False
    port = _PORT.match(address)
    return port is None or (bool(port[1]) and int(port[1][:6]) <= _HIGHEST_PORT)


def _host(address: str) -> str:
    """The host of a link, without the user that another rule refuses, and without its port."""
    authority = re.split("[/?#]", address.partition("://")[2], maxsplit=1)[0]
    return authority.rpartition("@")[2].partition(":")[0]


def has_public_host(link: str) -> bool:
    """Whether the host of a link is a name that resolvers can ask for, or a public address."""
    host = _host(link)
    if _HOST.fullmatch(host):
        return len(host) <= _LONGEST_HOST and not _HEX.fullmatch(host.rpartition(".")[2])
    if not _NUMBERS.fullmatch(host):
        return False
    import ipaddress  # one work in thousands has a number for a host

    try:
        return ipaddress.IPv4Address(host).is_global
    except ValueError:
        return False


def _text_rules(reference: Reference) -> Iterator[Problem]:
    """No markup, and nothing hidden."""
    texts = {name: getattr(reference, name) for name in ("title", "note", "annote", "venue")}
    texts["author"] = ", ".join(person.full for person in reference.people)
    found = [(name, text, _MARKUP.search(text)) for name, text in texts.items()]
    if not any(match for _, _, match in found):  # in a field that is a text on no page
        found = [(reference.key, reference.bibtex, _MARKUP_WRITTEN.search(reference.bibtex))]
    for name, text, match in found:
        if match:
            observed = f"'{shorten(text[match.start() :], 30)}' in {shorten(name)}"
            yield problem_at(reference, "markup", observed, "plain text", "remove it")
    if hidden := hidden_character(reference.bibtex):
        observed, expected = f"{hidden} in {reference.key}", "printable text"
        yield problem_at(reference, "control-character", observed, expected, "retype the line")
    if disguised := disguised_word(" ".join(texts.values())):
        observed, expected = f"{disguised} in {reference.key}", "letters of one script"
        yield problem_at(reference, "letters", observed, expected, "retype the word")


# Both forms of arXiv ids: hep-th/9901001 and 2401.01234, with or without a version.
_IDENTIFIERS = {
    "doi": re.compile(r"10\.\d{4,9}/[^\s<>\"'`\\{}]+"),
    "eprint": re.compile(r"[a-z.-]+(\.[A-Z]{2})?/\d{7}(v\d+)?|\d{4}\.\d{4,5}(v\d+)?"),
}


def _identifier_rules(reference: Reference) -> Iterator[Problem]:
    """Identifiers in their form, without an address before them."""
    for name, form in _IDENTIFIERS.items():
        identifier = getattr(reference, name)
        if identifier and not form.fullmatch(identifier):
            observed, expected = (
                f"{name} '{shorten(identifier)}'",
                f"a plain {name} without address",
            )
            yield problem_at(reference, "link", observed, expected, "write only the identifier")


def duplicates(references: Iterable[Reference]) -> Iterator[Problem]:
    """The same work twice, by DOI, by arXiv id without version, or by normalised title."""
    first: dict[tuple[str, str], Reference] = {}
    for reference in references:
        for kind, name in _names(reference).items():
            if not name:
                continue
            earlier = first.setdefault((kind, name), reference)
            if earlier is not reference:
                observed, mend = f"{kind} '{shorten(name)}'", f"it is {earlier.key} too"
                yield problem_at(reference, "duplicate", observed, "each work once", mend)


def _names(reference: Reference) -> dict[str, str]:
    """What tells a work from every other; empty where it has no such name."""
    return {
        "DOI": reference.doi.lower(),
        "arXiv id": re.sub(r"v\d+$", "", reference.eprint),
        "title": re.sub(r"[^a-z0-9]+", "", reference.title.lower()),
    }
