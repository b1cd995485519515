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
        for name, spec in (*formula.inputs.items(), *formula.outputs.items()):
            yield formula.id, name, spec


@per_library
def uses() -> dict[str, dict[str, tuple[str, ...]]]:
    """Term -> calculators that take or give it -> the names that it has there."""
    found: dict[str, dict[str, tuple[str, ...]]] = {term.id: {} for term in glossary()}
    for calculator, name, spec in quantities():
        for term in glossary():
            if stands_for(term, name, spec):
                known = found[term.id].get(calculator, ())
                found[term.id][calculator] = (*known, *(() if name in known else (name,)))
    return found


def term_of(name: str, spec: Input | Output) -> Term | None:
    """The term that an input or output of a calculator stands for: one with its symbol, else one
    that names it.
    """
    found = [term for term in glossary() if stands_for(term, name, spec)]
    return min(
        found, key=lambda term: (spec.symbol not in term.symbol, bool(term.symbol)), default=None
    )
