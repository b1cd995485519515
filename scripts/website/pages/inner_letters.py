"""What the letters of shown equations stand for that are neither inputs nor outputs."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable
from pathlib import Path

import yaml

from flopbook.faces.latex import symbols
from flopbook.faces.tree import steps
from flopbook.formulas.declaration import Formula
from scripts.website.markup import Html, maths

_WORDS = Path(__file__).with_suffix(".yaml")


@functools.cache
def inner_words() -> dict[str, dict[str, str]]:
    """Calculator -> name -> what it stands for: the file that editors read."""
    words: dict[str, dict[str, str]] = yaml.safe_load(_WORDS.read_text(encoding="utf-8"))
    return words


def inner_names(formula: Formula, shown: Iterable[str]) -> dict[str, list[str]]:
    """Shown equation -> names that are first met in it and have no row in the table of symbols.

    What a shown equation computes is explained by its sentence.
    """
    expression_of = dict(steps(formula).all())
    met = {*formula.inputs, *formula.outputs, *shown}
    names_of = {}
    for equation in shown:
        used = [one.id for one in ast.walk(expression_of[equation]) if isinstance(one, ast.Name)]
        new = [name for name in dict.fromkeys(used) if name in expression_of and name not in met]
        names_of[equation] = new
        met.update(new)
    return names_of


def letters_line(formula: Formula, names: Iterable[str]) -> Html:
    """The letters of these names, each with its words; empty without names."""
    symbol_of, words = symbols(formula), inner_words().get(formula.id, {})
    told = [Html("{}: {}").format(maths(symbol_of[name]), words[name]) for name in names]
    return Html('<p class="fb-fine">{}</p>\n').format(Html("; ").join(told)) if told else Html()
