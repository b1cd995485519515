"""The only reader of BibTeX: key -> Reference; renders citation, BibTeX and CSL-JSON.

Plain files are read as they are, pybtex works out all others, pylatexenc decodes accents. Both are
imported only when a whole bibliography is asked for.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from flopbook.data.bibtex_plain import plain_entries
from flopbook.data.bibtex_scan import headings, line_at
from flopbook.data.cache import digest
from flopbook.data.files import MAX_BIB_BYTES, TooLarge, read_bytes, read_text
from flopbook.data.reference import Person, Reference
from flopbook.data.reference_rules import duplicates, kind_of, problem_at, rules_of
from flopbook.data.shelf import Shelf
from flopbook.errors import DataError, Problem, reason_of, shorten, show_path

# What a file may hold of that which takes long to read: entries, names of authors, LaTeX. At 30
# microseconds each this is 5 s; our largest file has a fiftieth of it.
_MOST_MARKS = 150_000
_MARKS = "@\\${"
_AND = re.compile(r"\sand\s")
SPLIT = "split the file"
# The code that decides what a file is read into.
_MAKER_NAMES = (
    *("bibtex_plain.py", "bibtex_scan.py", "bibtex_strings.py", "bibtex_text.py"),
    *("reference.py", "references.py"),
)
_UNFORESEEN = (
    *(RecursionError, MemoryError, OverflowError),
    *(ValueError, KeyError, IndexError, TypeError, AttributeError),
)
# What `@string` and `#` may add to a file: doubling a text a few dozen times fills any memory.
_MOST_EXPANDED = 100_000
# What a reference is kept with; the file is left out, for it is shown relative to where one stands.
_FIELDS = tuple(field.name for field in fields(Reference) if field.name != "file")
_PEOPLE = _FIELDS.index("people")
_LATEX = re.compile(r"[\\$~]|--|``|''")
# The same, and what is taken away where there is no LaTeX.
_MARKED = re.compile(r"[\\$~{}]|--|``|''")
# Ours have a twentieth of this at most. The rules refuse such a text: it need not be decoded.
_LONGEST_LATEX = 20_000
# Signs that TeX takes for orders of its own, written as the signs that they are.
_ESCAPED = re.compile(r"\\([%&#_$])")
# A comment to LaTeX, a percent sign to the one who wrote it.
_PERCENT = re.compile(r"(?<!\\)%")
# Maths of a title that plain letters can say, with powers.
_SHORT_MATHS = re.compile(r"(?<!\\)\$([\w^(),. +-]+)\$")
_POWER = re.compile(r"\^(\d+)")
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
# Where a work was published, the first that an entry has.
_VENUES = ("journal", "booktitle", "school", "institution", "publisher", "howpublished")
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]


def read_references(folder: Path) -> dict[str, Reference]:
    """All references, sorted by key. Raises DataError with every problem of every file."""
    problems: list[Problem] = []
    by_key: dict[str, Reference] = {}
    shelf = Shelf("references", *map(Path(__file__).with_name, _MAKER_NAMES))
    for path in sorted(folder.glob("*.bib")):
        try:
            entries = _kept(path, shelf)
        except DataError as error:
            problems += error.problems
            continue
        for entry in entries:
            problems += rules_of(entry)
            if entry.key in by_key:
                problems.append(_twice(entry, by_key[entry.key]))
            by_key[entry.key] = entry
    shelf.close()
    problems += duplicates(by_key.values())
    if problems:
        raise DataError(problems)
    return dict(sorted(by_key.items()))


def _twice(entry: Reference, first: Reference) -> Problem:
    mend = f"it is in {first.file} too"
    return problem_at(entry, "duplicate", f"key '{entry.key}'", "each key once", mend)


def _kept(path: Path, shelf: Shelf) -> list[Reference]:
    """The references of a file: as an earlier run read the same bytes, else read now."""
    try:
        key = digest(read_bytes(path, MAX_BIB_BYTES))
    except OSError:  # what is wrong with the file is said by its reader
        return list(read_bib(path))
    rows = shelf.get(key)
    if rows is not None:
        return [_from_row(row, show_path(path)) for row in rows]
    entries = list(read_bib(path))
    shelf.put(key, [_row(entry) for entry in entries])
    return entries


def _row(entry: Reference) -> list[Any]:
    """A reference as JSON holds it."""
    row = [getattr(entry, name) for name in _FIELDS]
    row[_PEOPLE] = [[person.family, person.given, person.organisation] for person in entry.people]
    return row


def _from_row(row: list[Any], file: str) -> Reference:
    record = dict(zip(_FIELDS, row, strict=True))
    record["people"] = tuple(Person(*names) for names in row[_PEOPLE])
    record["topics"] = tuple(record["topics"])
    return Reference(**record, file=file)


def read_bib(path: Path) -> Iterator[Reference]:
    """Read one BibTeX file. Raises DataError when it does not parse."""
    file = show_path(path)
    text = _text_of(path, file)
    places = dict(_places(text))
    sources = ((key, source) for key, (_, source) in places.items())
    entries = plain_entries(text, sources)
    if entries is None:
        entries = _entries_of(text, file).entries
    elsewhere = {} if entries.keys() <= places.keys() else dict(_braced(text))
    for key, entry in entries.items():
        line, source = places.get(key) or (elsewhere.get(key, 1), "")
        try:
            yield _reference(key, entry, source, file, line)
        except Exception:  # pylatexenc fails in many ways on LaTeX that does not parse
            observed = f"LaTeX that cannot be read in {shorten(key)}"
            raise _bib_error(file, line, "latex", observed, "plain accents") from None


def _text_of(path: Path, file: str) -> str:
    """The text of a file that does not take too long to read."""
    try:
        text = read_text(path, MAX_BIB_BYTES).removeprefix("\ufeff")
    except TooLarge as error:
        expected = f"at most {MAX_BIB_BYTES:,} bytes"
        raise _bib_error(file, 1, "size", str(error.strerror), expected, SPLIT) from None
    except (OSError, UnicodeDecodeError) as error:
        observed = shorten(reason_of(error))
        expected, mend = "a readable file in UTF-8", "put a file of its own in its place"
        raise _bib_error(file, 1, "read", observed, expected, mend) from None
    marks = sum(map(text.count, _MARKS)) + len(_AND.findall(text))
    if marks > _MOST_MARKS:
        observed = f"{marks:,} entries, names and marks of LaTeX"
        raise _bib_error(file, 1, "size", observed, f"at most {_MOST_MARKS:,}", SPLIT)
    return text


def _entries_of(text: str, file: str) -> Any:
    """What pybtex makes of a text. Raises DataError with the line that it came to."""
    # These two take longer to import than most commands take to run.
    from pybtex.database import BibliographyDataError
    from pybtex.database.input.bibtex import LowLevelParser, Parser
    from pybtex.exceptions import PybtexError

    from flopbook.data.bibtex_strings import ExpansionError, Strings

    parser = Parser()
    scanner = LowLevelParser(text, handle_error=parser.handle_error, macros=Strings(_MOST_EXPANDED))
    expected = "well-formed BibTeX"
    try:
        for kind, content in scanner:
            if kind.lower() == "preamble":
                observed, expected = (
                    "a preamble, which TeX would run",
                    "references and abbreviations",
                )
                raise _bib_error(file, scanner.lineno, "bibtex", observed, expected, "remove it")
            if kind.lower() != "string":
                parser.process_entry(kind, *content)
    except ExpansionError as error:
        observed, mend = shorten(error), "write the text out where it stands"
        expected = f"at most {_MOST_EXPANDED:,} characters"
        raise _bib_error(file, scanner.lineno, "bibtex", observed, expected, mend) from None
    except BibliographyDataError as error:  # a key that is there already
        line, mend = _line_of(text, _last_word(str(error))), "remove one of the two, or rename it"
        raise _bib_error(file, line, "bibtex", shorten(error), "each key once", mend) from None
    except PybtexError as error:
        line = getattr(error, "lineno", None) or _line_of(text, _last_word(str(error)))
        raise _bib_error(file, line, "bibtex", shorten(error), expected) from None
    # How the parser fails on text that it did not foresee.
    except _UNFORESEEN as error:
        observed = shorten(error) or type(error).__name__
        raise _bib_error(file, scanner.lineno, "bibtex", observed, expected) from None
    return parser.data


def _last_word(message: str) -> str:
    match = re.search(r"[\w:-]+$", message)
    return match[0] if match else ""


def _line_of(text: str, key: str) -> int:
    """The line of the last entry whose key starts so; 1 where there is none.

    pybtex names an entry's key in a message without a line.
    """
    # A broken entry has no heading that can be read, but its key behind a brace.
    start = text.rfind("{" + key) if key else -1
    return line_at(text, start) if start >= 0 else 1


def _braced(text: str) -> Iterator[tuple[str, int]]:
    """Each word behind a brace and its line: keys of entries that begin no line are among them."""
    line, counted = 1, 0
    for match in re.finditer(r"\{\s*([^\s,{}]+)", text):
        line, counted = line + text.count("\n", counted, match.start()), match.start()
        yield match[1], line


def _bib_error(
    file: str,
    line: int,
    rule: str,
    observed: str,
    expected: str,
    mend: str = "check braces, commas and quotes",
) -> DataError:
    return DataError([Problem(file, line, 1, rule, observed, expected, mend)])


def _places(text: str) -> Iterator[tuple[str, tuple[int, str]]]:
    """Key -> (line, entry as written); an entry ends with the last brace before the next one."""
    # Only a heading in the first column counts: diffs and the pages show entries as they stand.
    entries = [
        heading
        for heading in headings(text)
        if text[heading.start - 1 : heading.start] in ("", "\n")
    ]
    stops = [*(heading.start for heading in entries[1:]), len(text)]
    line, counted = 1, 0
    for (key, start), stop in zip(entries, stops, strict=False):  # without an entry there is a stop
        line, counted = line + text.count("\n", counted, start), start
        source = text[start:stop]
        yield key, (line, source[: source.rfind("}") + 1])


def decode(text: str) -> str:
    """LaTeX in names and titles to Unicode; maths stays as it is."""
    if len(text) > _LONGEST_LATEX:
        return text
    if not _MARKED.search(text):  # most names and titles
        return " ".join(text.split())
    # Braces that keep capitals are all that most titles have, and a percent sign some notes.
    if not _LATEX.search(_ESCAPED.sub("", text)):
        plain = _ESCAPED.sub(r"\1", text)
        return " ".join(plain.replace("{", "").replace("}", "").split())
    from pylatexenc.latexwalker import LatexWalker

    converter, context = _converter()
    nodes, _, _ = LatexWalker(_PERCENT.sub(r"\%", text), latex_context=context).get_latex_nodes()
    return " ".join(converter.nodelist_to_text(nodes).replace("\xa0", " ").split())


def _title(text: str) -> str:
    """A title, which stands in menus and on cards where no maths is set: O(n²) for $O(n^2)$."""
    spoken = decode(_SHORT_MATHS.sub(r"\1", text))
    return _POWER.sub(lambda power: power[1].translate(_RAISED), spoken)


@functools.cache
def _converter() -> tuple[Any, Any]:
    """What turns LaTeX into text, and the macros it knows: slower to build than to use."""
    import logging

    from pylatexenc.latex2text import LatexNodes2Text
    from pylatexenc.latexwalker import get_default_latex_context_db

    logging.getLogger("pylatexenc").addFilter(_refuse)
    logging.getLogger("pylatexenc.latex2text").addFilter(_refuse)
    return LatexNodes2Text(math_mode="verbatim", keep_comments=True), get_default_latex_context_db()


def _refuse(record: Any) -> bool:
    """A macro without its arguments only warns, on the terminal, and leaves nonsense behind."""
    raise ValueError(record.getMessage())


def _reference(key: str, entry: Any, source: str, file: str, line: int) -> Reference:
    def get(name: str) -> str:
        return str(entry.fields.get(name, "")).strip()

    people = entry.persons.get("author") or entry.persons.get("editor") or []
    is_registered = bool(get("eprint") or get("doi"))
    venues = [get(name) for name in _VENUES if get(name)]
    keywords = [keyword.strip() for keyword in get("keywords").split(",")]
    return Reference(
        key=key,
        type=entry.type,
        kind=get("type").lower() or kind_of(entry.type, is_registered),
        title=_title(get("title")),
        people=tuple(_person(person) for person in people),
        year=int(get("year")) if re.fullmatch(r"[0-9]{1,4}", get("year")) else None,
        month=_month(get("month")),
        venue=decode(venues[0] if venues else ""),
        doi=get("doi"),
        eprint=get("eprint"),
        url=get("url"),
        record=get("record"),
        code=get("code"),
        tier=get("tier"),
        urldate=get("urldate"),
        preprint=get("preprint"),
        note=decode(get("note")),
        nofigure=get("nofigure"),
        annote=decode(get("annote")),
        topics=tuple(keyword for keyword in keywords if keyword),
        bibtex=source,
        file=file,
        line=line,
    )


def _person(person: Any) -> Person:
    family = " ".join([*person.prelast_names, *person.last_names])
    given = " ".join([*person.first_names, *person.middle_names])
    lineage = " ".join(person.lineage_names)
    # An organisation is written in braces, so that no part of it is taken for a given name.
    is_braced = family.startswith("{") and family.endswith("}")
    return Person(decode(f"{family} {lineage}".strip()), decode(given), is_braced and not given)


def _month(text: str) -> int | None:
    if re.fullmatch(r"[0-9]{1,2}", text):
        return int(text) if 1 <= int(text) <= 12 else None
    month = text[:3].lower()
    return _MONTHS.index(month) + 1 if month in _MONTHS else None


_CSL_OF_TYPE = {
    "article": "article-journal",
    "inproceedings": "paper-conference",
    "book": "book",
    "incollection": "chapter",
    "phdthesis": "thesis",
    "mastersthesis": "thesis",
    "techreport": "report",
    "online": "webpage",
    "unpublished": "manuscript",
}
# What it is to a reader says more than the type of its BibTeX entry.
_CSL_OF_KIND = {
    "blog": "post-weblog",
    "video": "motion_picture",
    "code": "software",
    "talk": "speech",
}


def csl(item: Reference) -> dict[str, Any]:
    """A reference as CSL-JSON, with our topics and note beside it."""
    date = [number for number in (item.year, item.month) if number]
    record = {
        "id": item.key,
        "type": _CSL_OF_KIND.get(item.kind) or _CSL_OF_TYPE.get(item.type, "article"),
        "genre": item.kind,
        "title": item.title,
        "author": [_csl_name(person) for person in item.people],
        "issued": {"date-parts": [date]} if date else None,
        "container-title": item.venue,
        "DOI": item.doi,
        "URL": item.link,
        "note": item.note,
        "topics": list(item.topics),
        "annote": item.annote,
        "arxiv": item.eprint,
        "code": item.code,
        "accessed": item.urldate,
        "tier": item.tier,
    }
    return {name: value for name, value in record.items() if value}


def _csl_name(person: Person) -> dict[str, str]:
    if person.organisation:
        return {"literal": person.family}
    return {"family": person.family, "given": person.given}
