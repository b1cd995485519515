"""What Python says about the package itself: help, signatures, types, and examples that run."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import pydoc
from pathlib import Path
from typing import Any

import pytest

import flopbook
from flopbook.formulas import CATALOGUE, formulas, get_formula
from flopbook.formulas.declaration import Formula
from tests.support.cases import every

PACKAGE = Path(flopbook.__file__).parent
FUNCTIONS = [name for name in flopbook._PUBLIC if inspect.isfunction(getattr(flopbook, name))]
WRITTEN = [
    path
    for path in sorted(PACKAGE.rglob("*.py"))
    if "\n    >>> " in path.read_text(encoding="utf-8")
]
every_formula = every("name", [name for name, f in formulas().items() if isinstance(f, Formula)])


def run(text: str, name: str, scope: dict[str, Any]) -> int:
    """Run the examples of a text; how many there were."""
    test = doctest.DocTestParser().get_doctest(text, scope, name, None, None)
    said: list[str] = []
    doctest.DocTestRunner().run(test, out=said.append)
    assert not said, "".join(said)
    return len(test.examples)


@every("name", FUNCTIONS)
def test_every_public_function_has_an_example(name: str) -> None:
    assert ">>> " in inspect.getdoc(getattr(flopbook, name))


@every("path", WRITTEN)
def test_the_examples_in_the_code_run(path: Path) -> None:
    """All of them, of public functions or not; the text of `help` is a template, run below."""
    if path.name in ("manual.py", "skeleton.py"):
        return
    module = importlib.import_module(
        f"flopbook.{'.'.join(path.relative_to(PACKAGE).with_suffix('').parts)}"
    )
    tests = [
        test for test in doctest.DocTestFinder(exclude_empty=True).find(module) if test.examples
    ]
    assert tests
    for test in tests:
        assert run(test.docstring, test.name, {**module.__dict__})


@every_formula
def test_the_example_of_a_calculator_runs(name: str) -> None:
    assert run(get_formula(name).__doc__, name, {}) == 3


def _unit_of(spec: Any) -> str:
    """What stands behind the name of an input or output: its unit, or what it is instead."""
    if spec.choices:
        return "a word"
    return "a text" if getattr(spec, "text", "") else str(spec.unit)


@every_formula
def test_help_says_what_goes_in_and_what_comes_out(name: str) -> None:
    formula = get_formula(name)
    text = pydoc.plain(pydoc.render_doc(formula))
    flat = " ".join(text.split())
    assert f"<calculator {name}: {formula.title}>" in text
    for key, spec in [*formula.inputs.items(), *formula.outputs.items()]:
        assert f" {key} ({_unit_of(spec)}" in text and " ".join(spec.meaning.split()) in flat
    for word in (
        formula.summary,
        formula.question,
        *formula.sources,
        "Derivation:",
        "Leaves out:",
        "FlopbookError",
    ):
        assert word in text
    for key, default in formula.defaults.items():
        if len(str(default)) > 50:
            assert f"{key} (a text, one by default)" in text
            continue
        assert (
            f"{key} ({formula.inputs[key].unit}, default {default})" in text
            or default in ("", float("inf"))
            or (any(f"{key} ({kind}, default {default})" in text for kind in ("a word", "a text")))
        )
    assert max(map(len, text.splitlines())) <= 120


@every_formula
def test_the_signature_is_that_of_a_call(name: str) -> None:
    formula = get_formula(name)
    found = inspect.signature(formula).parameters
    assert set(found) == set(formula.inputs)
    needed = [key for key, one in found.items() if one.default is inspect.Parameter.empty]
    assert needed == [key for key in formula.inputs if key not in formula.defaults]
    assert {one.kind for one in found.values()} == {inspect.Parameter.KEYWORD_ONLY}
    assert all(
        one.annotation is (float if formula.inputs[key].is_number else str)
        for key, one in found.items()
    )
    bound = inspect.signature(formula).bind(**dict.fromkeys(needed))
    assert list(bound.arguments) == needed


def test_the_class_of_formulas_keeps_its_own_words() -> None:
    assert (
        Formula.__doc__.startswith("A registered formula")
        and "title" in inspect.signature(Formula).parameters
    )
    assert pydoc.render_doc(Formula)


def declared() -> dict[str, tuple[str, str]]:
    """The names that `flopbook/__init__.py` declares for type checkers: module and name there."""
    block = under("TYPE_CHECKING")
    names = {
        alias.asname or alias.name: (str(node.module), alias.name)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    names["model"] = names.pop("shape")  # the block says `model = shape`
    return names


def under(test: str) -> ast.If:
    """The `if` of `flopbook/__init__.py` with this test."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    tests = {ast.unparse(node.test): node for node in tree.body if isinstance(node, ast.If)}
    return tests[test]


def test_a_type_checker_finds_the_names_that_there_are() -> None:
    """The block for type checkers names what the package offers, from the same modules."""
    expected = {name.replace("-", "_"): module for name, module in CATALOGUE.items()}
    places = {name: (f"flopbook.formulas.{module}", name) for name, module in expected.items()}
    for name, place in flopbook._PUBLIC.items():
        module, _, name_there = place.partition(":")
        places[name] = (module, name_there or name)
    missing = [
        f"    from {module} import {name} as {name}"
        for name, (module, _) in places.items()
        if name not in declared()
    ]
    assert not missing, "add to `if TYPE_CHECKING` in flopbook/__init__.py:\n" + "\n".join(missing)
    assert declared() == places
    assert (PACKAGE / "py.typed").is_file()


def test_an_unknown_name_is_an_error_for_a_type_checker_too() -> None:
    """A `__getattr__` that a checker sees makes `flopbook.nonsense` valid, and types nothing."""
    hidden = under("not TYPE_CHECKING").body
    assert [node.name for node in hidden if isinstance(node, ast.FunctionDef)] == ["__getattr__"]
    source = (PACKAGE / "__init__.py").read_text(encoding="utf-8")
    assert source.count("def __getattr__") == 1
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = flopbook.nonsense


def test_an_answer_shows_itself() -> None:
    shown = repr(flopbook.calculate("min-batch", peak=1e15, bandwidth=4e12))
    assert shown == "<min-batch: tokens 250.0, tokens_exact None, flop_per_byte 250.0>"
    words = repr(
        flopbook.calculate("arithmetic-intensity", m=1, n=1, k=1, peak=1e15, bandwidth=1e12)
    )
    assert "bound memory" in words
