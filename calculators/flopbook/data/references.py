"""The only reader of BibTeX: key -> Reference; renders citation, BibTeX and CSL-JSON.

pybtex parses, pylatexenc decodes accents. Both are imported only when a whole bibliography is asked
for.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from flopbook.data.cache import Shelf
from flopbook.data.reference_rules import SOURCE, duplicates, kind_of, problem_at, rules_of
from flopbook.errors import DataError, Problem, shorten, show_path

MAX_BIB_BYTES = 5_000_000


def few(names: Sequence[str]) -> str:
    """Up to three names, or the first of more and how many others there are."""
    if len(names) > 3:
        return f"{names[0]} and {len(names) - 1} others"
    return (
        ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + (names[-1] if names else "")
    )


@dataclass(frozen=True, slots=True)
class Person:
    """A name in parts; an organisation has only a family name."""

    family: str
    given: str = ""
    organisation: bool = False

    @property
    def full(self) -> str:
        """The name as it is read: given names, then family name."""
        return f"{self.given} {self.family}".strip()


@dataclass(frozen=True, slots=True)
class Reference:
    """One work or source: decoded text, ready for any page; `bibtex` is the entry as written.

    `type` is that of the BibTeX entry, `kind` what a reader calls it: paper, blog, video ...
    """

    key: str
    type: str
    kind: str
    title: str
    people: tuple[Person, ...]
    year: int | None
    month: int | None = None
    venue: str = ""
    doi: str = ""
    eprint: str = ""
    url: str = ""
    code: str = ""
    tier: str = ""
    urldate: str = ""
    note: str = ""
    annote: str = ""
    topics: tuple[str, ...] = ()
    bibtex: str = ""
    file: str = ""
    line: int = 0

    @property
    def is_work(self) -> bool:
        """True for something to read; false for a page that is only the source of a value."""
        return self.kind != SOURCE

    @property
    def link(self) -> str:
        """Where to read it: the address, else the DOI, else arXiv; empty for unpublished seeds."""
        if self.url:
            return self.url
        if self.doi:
            return f"https://doi.org/{self.doi}"
        return f"https://arxiv.org/abs/{self.eprint}" if self.eprint else ""

    @property
    def authors(self) -> str:
        """Up to three names as they are read, then how many more there are."""
        return few([person.full for person in self.people])

    @property
    def short(self) -> str:
        """Author and year, as in running text: `Dao et al. 2022`; an unpublished document goes by
        its title.
        """
        if self.type == "unpublished":
            return f"{self.title} {self.year or ''}".strip()
        names = [person.family for person in self.people] or [self.key]
        who = (
            names[0]
            if len(names) == 1
            else f"{names[0]} and {names[1]}"
            if len(names) == 2
            else f"{names[0]} et al."
        )
        return f"{who} {self.year or 'n.d.'}"


_FIELDS = tuple(field.name for field in fields(Reference) if field.name != "file")
_PEOPLE = _FIELDS.index("people")


def read_references(folder: Path) -> dict[str, Reference]:
    """All references, sorted by key. Raises DataError with every problem of every file."""
    problems: list[Problem] = []
    found: dict[str, Reference] = {}
    shelf = Shelf("references", Path(__file__))
    for path in sorted(folder.glob("*.bib")):
        try:
            entries = _kept(path, shelf)
        except DataError as error:
            problems += error.problems
            continue
        for item in entries:
            problems += rules_of(item)
            if item.key in found:
                said = (
                    f"key '{item.key}'",
                    "each key once",
                    f"it is in {found[item.key].file} too",
                )
                problems.append(problem_at(item, "duplicate", *said))
            found[item.key] = item
    shelf.close()
    problems += duplicates(found.values())
    if problems:
        raise DataError(problems)
    return dict(sorted(found.items()))


def _kept(path: Path, shelf: Shelf) -> list[Reference]:
    """The references of a file: as an earlier run read the same bytes, else read now."""
    try:
        content = path.read_bytes()
    except OSError:
        return list(read_bib(path))
    rows = shelf.get(content)
    if rows is not None:
        return [_from_row(row, show_path(path)) for row in rows]
    items = list(read_bib(path))
    shelf.put(content, [_row(item) for item in items])
    return items


def _row(item: Reference) -> list[Any]:
    """A reference as JSON holds it; the file is left out, for it is shown relative to where one
    stands.
    """
    row = [getattr(item, name) for name in _FIELDS]
    row[_PEOPLE] = [[p.family, p.given, p.organisation] for p in item.people]
    return row


def _from_row(row: list[Any], file: str) -> Reference:
    values = dict(zip(_FIELDS, row, strict=True))
    people = tuple(Person(*parts) for parts in row[_PEOPLE])
    return Reference(**values | {"people": people, "topics": tuple(values["topics"]), "file": file})


def read_bib(path: Path) -> Iterator[Reference]:
    """Read one BibTeX file. Raises DataError when it does not parse."""
    from pybtex.database import BibliographyDataError
    from pybtex.database.input.bibtex import Parser
    from pybtex.exceptions import PybtexError

    file = show_path(path)
    try:
        if path.stat().st_size > MAX_BIB_BYTES:
            raise _bib_error(
                file, 1, "size", "a very large file", f"at most {MAX_BIB_BYTES:,} bytes"
            )
        text = path.read_text(encoding="utf-8-sig")
        parsed = Parser().parse_string(text)
    except (OSError, UnicodeDecodeError) as error:
        raise _bib_error(file, 1, "read", shorten(error), "a readable file in UTF-8") from None
    except (PybtexError, BibliographyDataError) as error:
        line = getattr(error, "lineno", None) or _line_of(text, re.findall(r"[\w:-]+$", str(error)))
        raise _bib_error(file, line, "bibtex", shorten(error), "well-formed BibTeX") from None
    except (RecursionError, ValueError, KeyError, IndexError) as error:
        raise _bib_error(
            file, 1, "bibtex", shorten(error) or "text that does not parse", "well-formed BibTeX"
        ) from None
    places = dict(_places(text))
    for key, item in parsed.entries.items():
        line, source = places.get(key) or (_line_of(text, [key]), "")
        try:
            yield _reference(key, item, source, file, line)
        except Exception:  # pylatexenc fails in many ways on LaTeX that does not parse
            raise _bib_error(
                file, line, "latex", f"LaTeX that cannot be read in {key}", "plain accents"
            ) from None


def _line_of(text: str, words: list[str]) -> int:
    """The line of the last entry with a key that pybtex names in a message without a line."""
    head = re.compile(r"@\w+\s*[{(]\s*" + re.escape(words[0] if words else ""))
    return max(
        (n for n, line in enumerate(text.splitlines(), 1) if words and head.search(line)), default=1
    )


def _bib_error(file: str, line: int, rule: str, found: str, expected: str) -> DataError:
    return DataError(
        [Problem(file, line, 1, rule, found, expected, "check braces, commas and quotes")]
    )


_ENTRY = re.compile(r"^@\w+\s*\{\s*([^,\s]+)\s*,", re.MULTILINE)


def _places(text: str) -> Iterator[tuple[str, tuple[int, str]]]:
    """Key -> (line, entry as written); an entry ends where the next one or a blank line after its
    brace begins.
    """
    starts = list(_ENTRY.finditer(text))
    ends = [*(match.start() for match in starts[1:]), len(text)]
    for match, end in zip(starts, ends[: len(starts)], strict=True):
        source = text[match.start() : end]
        source = source[: source.rfind("}") + 1]
        yield match[1], (text.count("\n", 0, match.start()) + 1, source)


def decode(text: str) -> str:
    """LaTeX in names and titles to Unicode; maths stays as it is."""
    if not _LATEX.search(text):  # braces that keep capitals are all that most titles have
        return " ".join(text.replace("{", "").replace("}", "").split())
    from pylatexenc.latexwalker import LatexWalker

    converter, context = _converter()
    nodes, _, _ = LatexWalker(_PERCENT.sub(r"\%", text), latex_context=context).get_latex_nodes()
    return " ".join(converter.nodelist_to_text(nodes).replace("\xa0", " ").split())


_LATEX = re.compile(r"[\\$~]|--|``|''")
_PERCENT = re.compile(r"(?<!\\)%")  # a comment to LaTeX, a percent sign to whoever wrote it


@functools.cache
def _converter() -> tuple[Any, Any]:
    """What turns LaTeX into text, and the macros it knows: making these takes longer than using
    them.
    """
    from pylatexenc.latex2text import LatexNodes2Text
    from pylatexenc.latexwalker import get_default_latex_context_db

    return LatexNodes2Text(math_mode="verbatim", keep_comments=True), get_default_latex_context_db()


def _reference(key: str, item: Any, source: str, file: str, line: int) -> Reference:
    def get(name: str) -> str:
        return str(item.fields.get(name, "")).strip()

    people = item.persons.get("author") or item.persons.get("editor") or []
    venue = next(
        (
            get(n)
            for n in ("journal", "booktitle", "school", "institution", "publisher", "howpublished")
            if get(n)
        ),
        "",
    )
    return Reference(
        key=key,
        type=item.type,
        kind=get("type").lower() or kind_of(item.type, bool(get("eprint") or get("doi"))),
        title=decode(get("title")),
        people=tuple(_person(p) for p in people),
        year=int(get("year")) if get("year").isdigit() else None,
        month=_month(get("month")),
        venue=decode(venue),
        doi=get("doi"),
        eprint=get("eprint"),
        url=get("url"),
        code=get("code"),
        tier=get("tier"),
        urldate=get("urldate"),
        note=decode(get("note")),
        annote=decode(get("annote")),
        topics=tuple(t.strip() for t in get("keywords").split(",") if t.strip()),
        bibtex=source,
        file=file,
        line=line,
    )


def _person(person: Any) -> Person:
    family = " ".join([*person.prelast_names, *person.last_names])
    given = " ".join([*person.first_names, *person.middle_names])
    lineage = " ".join(person.lineage_names)
    whole = family.startswith("{") and family.endswith("}")
    return Person(decode(f"{family} {lineage}".strip()), decode(given), whole and not given)


_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]


def _month(text: str) -> int | None:
    if text.isdigit():
        return int(text) if 1 <= int(text) <= 12 else None
    return _MONTHS.index(text[:3].lower()) + 1 if text[:3].lower() in _MONTHS else None


def csl(item: Reference) -> dict[str, Any]:
    """A reference as CSL-JSON, with our topics and note beside it."""
    types = {
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
    kinds = {"blog": "post-weblog", "video": "motion_picture", "code": "software", "talk": "speech"}
    names = [
        {"literal": p.family} if p.organisation else {"family": p.family, "given": p.given}
        for p in item.people
    ]
    date = [part for part in (item.year, item.month) if part]
    record = {
        "id": item.key,
        "type": kinds.get(item.kind) or types.get(item.type, "article"),
        "genre": item.kind,
        "title": item.title,
        "author": names,
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
