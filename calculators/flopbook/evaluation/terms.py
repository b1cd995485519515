"""Which calculators use a term of the glossary, and which term an input or output stands for."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.data.glossary import Term
from flopbook.data.library import glossary, per_library
from flopbook.formulas import formulas
from flopbook.formulas.declaration import Input, Output

_WORD = r"\text{"  # an input that is one of several words has its name for a symbol


def stands_for(term: Term, name: str, spec: Input | Output) -> bool:
    """Whether this input or output of a calculator is what the term means."""
    return name in term.names and (spec.symbol in term.symbol or spec.symbol.startswith(_WORD))


def quantities() -> Iterator[tuple[str, str, Input | Output]]:
    """Every input and output of every calculator: calculator, name and what is declared of it."""
    for formula in formulas().values():
        specs: list[tuple[str, Input | Output]] = [*formula.inputs.items()]
        specs += formula.outputs.items()
        for name, spec in specs:
            yield formula.id, name, spec


@per_library
def uses() -> dict[str, dict[str, tuple[str, ...]]]:
    """Term -> calculators that take or give it -> the names that it has there."""
    names_by_term: dict[str, dict[str, tuple[str, ...]]] = {term.id: {} for term in glossary()}
    for calculator, name, spec in quantities():
        for term in glossary():
            if not stands_for(term, name, spec):
                continue
            names = names_by_term[term.id].get(calculator, ())
            if name not in names:
                names_by_term[term.id][calculator] = (*names, name)
    return names_by_term


def term_of(name: str, spec: Input | Output) -> Term | None:
    """The term that an input or output stands for: one with its symbol, else one that names it."""
    terms = [term for term in glossary() if stands_for(term, name, spec)]
    # Of terms without the symbol, one that has none at all fits better than one with another.
    terms.sort(key=lambda term: (spec.symbol not in term.symbol, bool(term.symbol)))
    return terms[0] if terms else None
