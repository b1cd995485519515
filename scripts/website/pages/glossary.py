"""The glossary as a page, symbols last, and as texts that chapters show for a pointed-at term."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator

from flopbook.data.glossary import Term
from flopbook.data.library import glossary
from flopbook.evaluation.answers import counted
from flopbook.evaluation.terms import uses
from scripts.website.markup import (
    Html,
    Markdown,
    attribute,
    front_matter,
    inline,
    link,
    maths,
    page_text,
    table,
)
from scripts.website.pages.calculators import calculator_page
from scripts.website.pages.sources import html_link
from scripts.website.pages.terms import PAGE

TIPS = "assets/flopbook/glossary.json"
_GREEK = ("alpha", "beta", "gamma", "delta", "eta", "kappa", "ell", "pi", "rho", "tau", "phi")
# What LaTeX adds to a letter, and an order by letter leaves aside.
_DECORATION = re.compile(r"\\(?:text|hat|bar|mathrm)\b|[{}\\]")


def glossary_page() -> str:
    """All terms by letter, each with its own anchor, then the symbols as a table."""
    terms = sorted(glossary(), key=lambda term: (_letter(term), term.term.lower()))
    groups = [(letter, list(group)) for letter, group in itertools.groupby(terms, key=_letter)]
    letters = Html(" ").join(link(letter, f"#{letter.lower()}") for letter, _ in groups)
    blocks = [
        front_matter(
            "Glossary", "Every term and symbol of the handbook and the calculators, with its unit."
        ),
        Markdown("# Glossary\n"),
        Markdown(
            "{} and the symbols that stand for them. Letters do double duty, here as in the "
            "literature; the [table of symbols](#symbols) lists what each one means and what other "
            "sources call it. Terms link to the calculators that use them.\n"
        ).format(counted(len(terms), "term")),
        Html(
            '<div class="fb-field fb-needs-script"><label for="fb-filter">Filter terms and symbols'
            '</label><input type="search" id="fb-filter" autocomplete="off">'
            '<span class="fb-hint" role="status"></span></div>\n'
        ),
        Html(
            '<nav class="fb-glossary" aria-label="Letters">{} '
            '<a href="#symbols">Symbols</a></nav>\n'
        ).format(letters),
        *itertools.chain.from_iterable(_group(letter, group) for letter, group in groups),
        Markdown("\n## Symbols\n"),
        _symbols(),
    ]
    return page_text(blocks)


def tips() -> str:
    """JSON: term -> its name, and what it means in plain text."""
    texts = {term.id: [term.term, _meaning(term)] for term in glossary()}
    return json.dumps(texts, ensure_ascii=False, separators=(",", ":"))


def _meaning(term: Term) -> str:
    if term.unit == "1" or not term.symbol:
        return term.meaning
    return f"{term.meaning} Unit: {term.unit}."


def _letter(term: Term) -> str:
    first = term.term[0].upper()
    return first if first.isalpha() else "0-9"


def _group(letter: str, terms: Iterable[Term]) -> Iterator[Html]:
    yield Markdown("\n## {} {{#{}}}\n").format(letter, attribute(letter.lower()))
    yield from map(_entry, terms)


def _entry(term: Term) -> Html:
    """One term: name, symbols, unit, meaning; its chapter, what uses it, what is near."""
    return Html(
        '<div class="fb-entry"><h3 id="{id}">{name}</h3>{facts}<p>{meaning}{note}</p>'
        '<p class="fb-note">{links}</p></div>\n'
    ).format(
        id=attribute(term.id),
        name=inline(term.term),
        facts=_facts(term),
        meaning=inline(term.meaning),
        note=_note(term),
        links=_links(term),
    )


def _facts(term: Term) -> Html:
    """Symbols, unit and other names in small print; nothing where a term has none of them."""
    facts: list[str] = [maths(symbol) for symbol in term.symbol]
    if term.unit != "1":
        facts.append(term.unit)
    if term.also:
        facts.append(f"also {', '.join(term.also)}")
    if not facts:
        return Html()
    return Html(" <small>{}</small>").format(Html(" · ").join(facts))


def _note(term: Term) -> Html:
    """How others write it, where the table of symbols does not say so already."""
    if not term.elsewhere or term.symbol:
        return Html()
    return Markdown(" {}").format(term.elsewhere)


def _links(term: Term) -> Html:
    links = [link("introduced here", html_link(PAGE, term.chapter))]
    calculators = [link(name, html_link(PAGE, calculator_page(name))) for name in uses()[term.id]]
    if calculators:
        links.append(Html("used by {}").format(Html(", ").join(calculators)))
    neighbours = [link(_name(term_id), f"#{term_id}") for term_id in term.see_also]
    if neighbours:
        links.append(Html("see also {}").format(Html(", ").join(neighbours)))
    return Html(" · ").join(links)


def _name(term_id: str) -> str:
    return next(term.term for term in glossary() if term.id == term_id)


def _symbols() -> Html:
    """Every symbol with all that it stands for."""
    owners: dict[str, list[Term]] = {}
    for term in glossary():
        for symbol in term.symbol:
            owners.setdefault(symbol, []).append(term)
    rows = [_symbol_row(symbol, owners[symbol]) for symbol in sorted(owners, key=_order)]
    return table(
        ("Symbol", "Stands for", "Unit", "Elsewhere"),
        rows,
        caption="Terms by their symbol",
        kind="fb-symbols",
        stacked=True,
    )


def _symbol_row(symbol: str, terms: list[Term]) -> tuple[str, ...]:
    units = dict.fromkeys(term.unit for term in terms if term.unit != "1")
    meanings = Html(", ").join(link(term.term, f"#{term.id}") for term in terms)
    # How others write a term stands beside its first symbol only.
    elsewhere = [term.elsewhere for term in terms if term.elsewhere and term.symbol[0] == symbol]
    return maths(symbol), meanings, ", ".join(units), inline(" ".join(elsewhere))


def _order(symbol: str) -> tuple[bool, str, bool, str]:
    """Latin before Greek letters, capitals before small ones, each before its indexed forms."""
    letters = _DECORATION.sub("", symbol)
    stem = next((name for name in _GREEK if letters.startswith(name)), letters[:1])
    return len(stem) > 1, stem.lower(), stem.islower(), letters
