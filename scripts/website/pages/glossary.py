"""The glossary as a page, symbols first, and as the texts that chapters show when a term is pointed
at.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator

from flopbook.data.glossary import Term
from flopbook.data.library import glossary
from flopbook.drawing.markup import escape, front_matter, inline, link, table
from flopbook.evaluation.answers import counted
from flopbook.evaluation.terms import uses
from scripts.website.pages.calculators import calculator_page
from scripts.website.pages.sources import html_link
from scripts.website.pages.terms import PAGE

TIPS = "assets/flopbook/glossary.json"
_GREEK = "alpha beta gamma delta eta kappa ell pi rho tau phi"


def glossary_page() -> str:
    """Symbols as a table, then all terms by letter, each with its own anchor."""
    terms = sorted(glossary(), key=lambda term: (_letter(term), term.term.lower()))
    groups = [(letter, list(group)) for letter, group in itertools.groupby(terms, key=_letter)]
    jumps = " ".join(link(letter, f"#{letter.lower()}") for letter, _ in groups)
    return "\n".join(
        [
            front_matter(
                "Glossary",
                "Every term and symbol of the handbook and the calculators, with its unit.",
            ),
            "# Glossary\n",
            f"{counted(len(terms), 'term')} and the symbols that stand for them. One letter has to serve for several "
            "things, here as in the literature: the table says for which, and how others write them. What a term is "
            "used for in calculators follows from their inputs and outputs.\n",
            f'<nav class="fb-glossary" aria-label="Letters"><a href="#symbols">Symbols</a> {jumps}</nav>\n',
            "## Symbols\n",
            _symbols(),
            *itertools.chain.from_iterable(_group(letter, group) for letter, group in groups),
        ]
    )


def tips() -> str:
    """JSON: term -> its name, and what it means in plain text."""
    found = {term.id: [term.term, _meaning(term)] for term in glossary()}
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"))


def _meaning(term: Term) -> str:
    unit = "" if term.unit == "1" or not term.symbol else f" Unit: {term.unit}."
    return f"{term.meaning}{unit}"


def _letter(term: Term) -> str:
    first = term.term[0].upper()
    return first if first.isalpha() else "0-9"


def _group(letter: str, terms: Iterable[Term]) -> Iterator[str]:
    yield f"\n## {letter} {{#{letter.lower()}}}\n"
    yield from map(_entry, terms)


def _entry(term: Term) -> str:
    """One term: name, symbols, unit and meaning; where it is introduced, what uses it, and what is
    near it.
    """
    facts = [f"${symbol}$" for symbol in term.symbol] + (
        [] if term.unit == "1" else [escape(term.unit)]
    )
    facts += [f"also {inline(', '.join(term.also))}"] if term.also else []
    more = [link("introduced here", html_link(PAGE, term.chapter))]
    calculators = [link(name, html_link(PAGE, calculator_page(name))) for name in uses()[term.id]]
    others = [link(_name(other), f"#{other}") for other in term.see_also]
    for words, links in (("used by", calculators), ("see also", others)):
        more += [f"{words} {', '.join(links)}"] if links else []
    note = f" {inline(term.elsewhere)}" if term.elsewhere and not term.symbol else ""
    head = f" <small>{' · '.join(facts)}</small>" if facts else ""
    return (
        f'<div class="fb-entry"><h3 id="{term.id}">{inline(term.term)}</h3>{head}<p>{inline(term.meaning)}{note}</p>'
        f'<p class="fb-note">{" · ".join(more)}</p></div>\n'
    )


def _name(term_id: str) -> str:
    return next(term.term for term in glossary() if term.id == term_id)


def _symbols() -> str:
    """Every symbol with all that it stands for."""
    owners: dict[str, list[Term]] = {}
    for term in glossary():
        for symbol in term.symbol:
            owners.setdefault(symbol, []).append(term)
    rows = []
    for symbol in sorted(owners, key=_order):
        terms = owners[symbol]
        units = dict.fromkeys(term.unit for term in terms if term.unit != "1")
        means = ", ".join(link(term.term, f"#{term.id}") for term in terms)
        said = [term.elsewhere for term in terms if term.elsewhere and term.symbol[0] == symbol]
        rows.append((f"${symbol}$", means, escape(", ".join(units)), inline(" ".join(said))))
    return table(("Symbol", "Stands for", "Unit", "Elsewhere"), rows, caption="Symbols")


def _order(symbol: str) -> tuple[bool, str, bool, str]:
    """Latin letters before Greek ones, capitals before small ones, each before what has an index."""
    bare = re.sub(r"\\(?:text|hat|bar|mathrm)\b|[{}\\]", "", symbol)
    base = next((name for name in _GREEK.split() if bare.startswith(name)), bare[:1])
    return len(base) > 1, base.lower(), base.islower(), bare
