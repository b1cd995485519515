"""Terms of the glossary are told apart, stand in order, and what they point to is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from flopbook.checks.rules.base import Advice, Finding, Holdings
from flopbook.checks.rules.typed import page_text, typed_numbers
from flopbook.data.glossary import FILE, Term
from flopbook.errors import Problem, show_path
from flopbook.evaluation.terms import quantities, stands_for
from flopbook.formulas import CATALOGUE
from flopbook.quantities.units import UnitError, unit

NAME = "glossary"
# From the second level on: a page is linked without the anchor of its title.
_HEADING = re.compile(r"^#{2,6} +(.+?) *$", re.M)
# Fenced code, in which a comment looks like a heading.
CODE = re.compile(r"^(`{3,}+|~{3,}+).*?^\1", re.S | re.M)
ORDER = Advice("the order of the ids, each once", "move or rename it")
ONE_TERM = Advice("a name for one term", "take it from one")
OTHER_TERM = Advice("the id of another term", "mend 'see_also'")
MARKED = Advice("'term' or one of 'also'", "mend 'mark'")
WORDS = Advice("words, which stay true", "leave the number to the chapter")
SYMBOL = Advice("an input or output with one of the symbols", "mend 'names' or 'symbol'")
UNIT = Advice("a unit that units.py knows", "mend 'unit'")
# A finding before it has its place: what was found, and the advice.
Fault = tuple[str, Advice]


def check(holdings: Holdings) -> Iterator[Finding]:
    """What is there twice, out of order, unknown, or typed where a chapter computes it."""
    file = show_path(holdings.bibliography / FILE)
    for term, (observed, advice) in _all_faults(holdings):
        yield Finding(Problem(file, term.line, 1, NAME, observed, *advice))


def _all_faults(holdings: Holdings) -> Iterator[tuple[Term, Fault]]:
    ids = {term.id for term in holdings.terms}
    first: dict[str, str] = {}  # name -> id of the first term that has it
    previous = ""
    for term in holdings.terms:
        faults = (
            *_order(term, previous),
            *_names(term, first),
            *_see_also(term, ids),
            *_marks(term),
            *_uses(term),
            *_place(term, holdings.docs),
        )
        yield from ((term, fault) for fault in faults)
        previous = term.id


def _order(term: Term, previous: str) -> Iterator[Fault]:
    if term.id <= previous:
        yield f"'{term.id}' after '{previous}'", ORDER


def _names(term: Term, first: dict[str, str]) -> Iterator[Fault]:
    for name in dict.fromkeys(name.lower() for name in (term.term, *term.also)):
        owner = first.setdefault(name, term.id)
        if owner != term.id:
            yield f"'{name}', as '{owner}' has it", ONE_TERM


def _see_also(term: Term, ids: set[str]) -> Iterator[Fault]:
    for reference in term.see_also:
        if reference == term.id or reference not in ids:
            yield f"'{reference}' to see also", OTHER_TERM


def _marks(term: Term) -> Iterator[Fault]:
    for name in term.mark:
        if name not in (term.term, *term.also):
            yield f"'{name}' to mark", MARKED
    for _, words in typed_numbers(f"{term.meaning} {term.elsewhere}"):
        yield f"the typed number '{words}'", WORDS


def _uses(term: Term) -> Iterator[Fault]:
    """Names and units that no calculator and no table of units knows."""
    units = _units_by_name(term)
    for name, used in units.items():
        if not used:
            yield f"'{name}'", SYMBOL
    calculators_units = set().union(*units.values())
    if calculators_units and term.unit not in calculators_units:
        expected = f"that of the calculators, {' or '.join(sorted(calculators_units))}"
        yield f"the unit {term.unit}", Advice(expected, "mend 'unit'")
    try:
        unit(term.unit)
    except UnitError as error:
        yield str(error), UNIT


def _units_by_name(term: Term) -> dict[str, set[str]]:
    """The units that calculators give to each of the names that a term stands for."""
    units: dict[str, set[str]] = {name: set() for name in term.names}
    if not units:
        return units
    for _, name, quantity in quantities():
        if stands_for(term, name, quantity):
            units[name].add(quantity.unit)
    return units


def _place(term: Term, docs: Path) -> Iterator[Fault]:
    """Pages and sections that do not exist; an installed package has no chapters to look into."""
    page, _, anchor = term.chapter.partition("#")
    if page.startswith("calculators/"):
        calculator = page.removeprefix("calculators/").removesuffix(".md")
        if calculator not in CATALOGUE:
            yield f"'{page}'", Advice("the page of a calculator", "mend 'chapter'")
    elif anchor and docs.is_dir() and anchor not in anchors(docs / page):
        is_page = (docs / page).is_file()
        expected = "a heading of that page" if is_page else "a page of docs/"
        yield f"'{term.chapter}'", Advice(expected, "mend 'chapter'")


def anchors(path: Path) -> set[str]:
    """The anchors of the headings of a page of prose, as the site generator makes them.

    None if there is no page.
    """
    text = page_text(path)
    return {_slug(title) for title in _HEADING.findall(CODE.sub("", text))}


def _slug(title: str) -> str:
    letters = re.sub(r"[^\w\s-]", "", title).strip().lower()
    return re.sub(r"[-\s]+", "-", letters)
