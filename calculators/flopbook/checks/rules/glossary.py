"""Terms of the glossary are told apart, stand in order, and what they point to is there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from flopbook.checks.rules.base import Data, Finding
from flopbook.checks.rules.typed import typed_numbers
from flopbook.data.glossary import FILE, Term
from flopbook.data.library import glossary, library
from flopbook.errors import Problem, show_path
from flopbook.evaluation.terms import quantities, stands_for
from flopbook.formulas import CATALOGUE
from flopbook.quantities.units import UnitError, unit

NAME = "glossary"
_HEADING = re.compile(r"^#{2,6} +(.+?) *$", re.M)
_CODE = re.compile(r"^(```+|~~~+).*?^\1", re.S | re.M)


def check(data: Data) -> Iterator[Finding]:
    """What is there twice, out of order, unknown, or typed where a chapter computes it."""
    terms, names, last = {term.id for term in glossary()}, dict[str, str](), ""
    for term in glossary():
        if term.id <= last:
            yield _at(
                term,
                f"'{term.id}' after '{last}'",
                "the order of the ids, each once",
                "move or rename it",
            )
        last = term.id
        for name in dict.fromkeys(one.lower() for one in (term.term, *term.also)):
            if names.setdefault(name, term.id) != term.id:
                yield _at(
                    term,
                    f"'{name}', as '{names[name]}' has it",
                    "a name for one term",
                    "take it from one",
                )
        for other in term.see_also:
            if other not in terms - {term.id}:
                yield _at(
                    term, f"'{other}' to see also", "the id of another term", "mend 'see_also'"
                )
        yield from _marks(term)
        yield from _uses(term)
        yield from _place(term)


def _at(term: Term, found: str, expected: str, mend: str) -> Finding:
    return Finding(
        Problem(show_path(library().bibliography / FILE), term.line, 1, NAME, found, expected, mend)
    )


def _marks(term: Term) -> Iterator[Finding]:
    for name in term.mark:
        if name not in (term.term, *term.also):
            yield _at(term, f"'{name}' to mark", "'term' or one of 'also'", "mend 'mark'")
    for _, words in typed_numbers(f"{term.meaning} {term.elsewhere}"):
        yield _at(
            term,
            f"the typed number '{words}'",
            "words, which stay true",
            "leave the number to the chapter",
        )


def _uses(term: Term) -> Iterator[Finding]:
    """Names and units that no calculator and no table of units knows."""
    units: dict[str, set[str]] = {name: set() for name in term.names}
    for _, name, spec in quantities():
        if stands_for(term, name, spec):
            units[name].add(spec.unit)
    for name, found in units.items():
        if not found:
            yield _at(
                term,
                f"'{name}'",
                "an input or output with one of the symbols",
                "mend 'names' or 'symbol'",
            )
    known = {name for found in units.values() for name in found}
    if known and term.unit not in known:
        expected = f"that of the calculators, {' or '.join(sorted(known))}"
        yield _at(term, f"the unit {term.unit}", expected, "mend 'unit'")
    try:
        unit(term.unit)
    except UnitError as error:
        yield _at(term, str(error), "a unit that units.py knows", "mend 'unit'")


def _place(term: Term) -> Iterator[Finding]:
    """Pages and sections that do not exist; an installed package has no chapters to look into."""
    page, _, anchor = term.chapter.partition("#")
    name = page.removeprefix("calculators/").removesuffix(".md")
    if page.startswith("calculators/"):
        if name not in CATALOGUE:
            yield _at(term, f"'{page}'", "the page of a calculator", "mend 'chapter'")
    elif anchor and library().docs.is_dir() and anchor not in anchors(page):
        near = (
            "a page of docs/" if not (library().docs / page).is_file() else "a heading of that page"
        )
        yield _at(term, f"'{term.chapter}'", near, "mend 'chapter'")


def anchors(page: str) -> set[str]:
    """The anchors of the headings of a page of prose, as the site generator makes them; none if
    there is no page.
    """
    path = library().docs / page
    text = _CODE.sub("", path.read_text(encoding="utf-8")) if path.is_file() else ""
    return {_slug(title) for title in _HEADING.findall(text)}


def _slug(title: str) -> str:
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower())
