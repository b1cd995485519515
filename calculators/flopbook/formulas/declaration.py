"""The @formula decorator and the registry: one plain function, from which every face follows.

A formula is a function in a small subset of Python (assignments, arithmetic, comparisons, the names
in `ops`, if-expressions, tables by word) that returns a dict of named outputs in SI units. Its
parameters carry unit, symbol and meaning as `Annotated[float, Input(...)]`; module constants that
have a unit are `Constant`s.

What needs loops is ordinary Python: a formula that brings its own `working`, the steps in words. It
has every face but those that are printed from a syntax tree, and its inputs may be free text.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, get_args

from flopbook.errors import FlopbookError, UnknownName
from flopbook.formulas.description import Constant, Description, Group, Input, Output
from flopbook.formulas.input_bounds import check_input
from flopbook.quantities.choices import choice
from flopbook.quantities.dtypes import OPTIONS

# All that a module of formulas needs, in one import.
__all__ = (
    "Constant",
    "Formula",
    "Group",
    "Input",
    "Output",
    "Step",
    "StepWord",
    "formula",
    "part",
    "registered",
)

# What calculate() takes and a formula does not.
LOOKED_UP = ("chip", "model", "config", "dtype", "sparsity", *OPTIONS)


class Step(float):
    """Marks a parameter of a part that an earlier part computes."""


class StepWord(str):
    """The same for a word, such as a schedule."""


def part(function: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """Marks a part of a long formula: the same subset, its inputs annotated alike."""
    return function


class _ManualEntry:
    """Documentation of a formula that `manual` makes when it is read; the class has its own."""

    def __init__(self, entry: str, of_class: str | None) -> None:
        self.entry, self.of_class = entry, of_class

    def __get__(self, formula: Formula | None, kind: type) -> Any:
        if formula is None:
            return self.of_class
        # Only help() and editors read it, and `manual` imports inspect, which commands wait for.
        from flopbook.formulas import manual

        return getattr(manual, self.entry)(formula)


class Formula(Description):
    """A registered formula: callable on floats and arrays, with everything its faces need.

    One with a `working`, a function of the same inputs that gives its steps as lines of text, is
    ordinary Python and computes one case at a time.
    """

    __slots__ = ()
    # help() and editors read both from the object.
    __doc__ = _ManualEntry("document", __doc__)
    __signature__ = _ManualEntry("signature", None)

    def __repr__(self) -> str:
        return f"<calculator {self.id}: {self.title}>"

    def __hash__(self) -> int:
        return id(self)  # faces are cached by formula, and its mappings have no hash

    def __eq__(self, other: object) -> bool:
        return self is other

    def __call__(self, **values: Any) -> dict[str, Any]:
        """Compute all outputs from SI values (floats or arrays).

        Raises FlopbookError for values out of range.
        """
        self._refuse_unknown(values)
        given = {**self.defaults, **values}
        given |= {
            name: choice(given[name], spec.choices)
            for name, spec in self.inputs.items()
            if spec.choices and name in given
        }
        missing = [name for name in self.inputs if name not in given]
        if missing:
            raise FlopbookError(f"{self.id} needs {', '.join(missing)}")
        for name, value in given.items():
            # A default may be a limit, such as infinity, which nobody may type.
            is_default = name in self.defaults and value is self.defaults[name]
            check_input(name, self.inputs[name], value, is_default)
            if not self.printed and hasattr(value, "shape"):
                raise FlopbookError(f"{name} is an array; {self.id} takes one case at a time")
        for rule in self.rules:
            rule.check(given)
        return self.compute(given)

    def _refuse_unknown(self, values: Mapping[str, Any]) -> None:
        """Raise FlopbookError for a name that is no input; a chip or a model is for calculate()."""
        unknown = next((name for name in values if name not in self.inputs), None)
        if unknown is None:
            return
        looks_up = any(spec.chip or spec.model or spec.dtype for spec in self.inputs.values())
        if unknown in LOOKED_UP and looks_up:
            raise FlopbookError(
                f"{self.id} takes numbers in SI units; to have them looked up: "
                f'calculate("{self.id}", {unknown}=...)'
            )
        raise UnknownName(f"input of {self.id}", unknown, self.inputs)

    def compute(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The outputs of values that were checked: each part in turn, then the function itself."""
        steps = dict(given)
        for piece in self.parts:
            steps |= _computed(piece, steps)
        return _computed(self.function, steps)


_REGISTRY: dict[str, Formula] = {}


def formula(
    id: str,
    *,
    title: str,
    question: str,
    outputs: Mapping[str, Output],
    sources: tuple[str, ...],
    **extra: Any,
) -> Callable[[Callable[..., dict[str, Any]]], Formula]:
    """Register a function as the formula `id` and return the callable Formula.

    A long formula may have `parts`: functions in the same subset that are computed first and in
    order. What a part returns is known to those after it, as a parameter annotated `Step`; all
    others are inputs. One that needs loops is ordinary Python and has a `working`.

    Raises TypeError when a parameter carries no `Input`, so that a formula without units cannot
    exist.
    """

    def register(function: Callable[..., dict[str, Any]]) -> Formula:
        inputs: dict[str, Input] = {}
        defaults: dict[str, Any] = {}
        for piece in (*extra.get("parts", ()), function):
            names, piece_defaults = _parameters(piece)
            annotations = _annotations(piece)
            typed = [name for name in names if annotations.get(name) not in (Step, StepWord)]
            inputs |= {name: _input_of(piece, name, annotations.get(name)) for name in typed}
            defaults |= piece_defaults
        declared = Formula(
            id, title, question, function, inputs, outputs, defaults, sources, **extra
        )
        # A module that is loaded again registers its formulas again.
        if id in _REGISTRY and _REGISTRY[id].function.__module__ != function.__module__:
            raise TypeError(f"two formulas are called {id}")
        _REGISTRY[id] = declared
        return declared

    return register


def _computed(function: Callable[..., Any], steps: Mapping[str, Any]) -> dict[str, Any]:
    """What a function returns; by position, which takes half the time of passing names."""
    positional, by_name = _ways(function)
    words = {name: steps[name] for name in by_name}
    returned: dict[str, Any] = function(*[steps[name] for name in positional], **words)
    return returned


@functools.cache
def _ways(function: Callable[..., Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The parameters that take a value by position, and those that take it by name only."""
    code = function.__code__
    end = code.co_argcount
    return code.co_varnames[:end], code.co_varnames[end : end + code.co_kwonlyargcount]


@functools.cache
def _parameters(function: Callable[..., Any]) -> tuple[tuple[str, ...], Mapping[str, Any]]:
    """Names and defaults of a function's parameters; asked for at each computation.

    Read from the code object, because `inspect` takes longer to import than a calculator runs.
    """
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    positional = function.__defaults__ or ()
    with_default = code.co_varnames[code.co_argcount - len(positional) : code.co_argcount]
    defaults = dict(zip(with_default, positional, strict=True))
    return names, defaults | (function.__kwdefaults__ or {})


def _annotations(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of a function, evaluated where its module postpones them."""
    annotations = function.__annotations__
    if not any(isinstance(annotation, str) for annotation in annotations.values()):
        return annotations
    import inspect  # only for a module with postponed annotations

    return inspect.get_annotations(function, eval_str=True)


def _input_of(function: Callable[..., Any], name: str, annotation: Any) -> Input:
    """The `Input` of a parameter, with the group that stands beside it."""
    notes = get_args(annotation)
    specs = [note for note in notes if isinstance(note, Input)]
    if len(specs) != 1:
        raise TypeError(f"{function.__name__}: parameter {name} needs Annotated[float, Input(...)]")
    group = next((note for note in notes if isinstance(note, Group)), None)
    if group is None:
        return specs[0]
    return specs[0]._replace(group=str(group))


def registered() -> dict[str, Formula]:
    """The formulas registered so far, by id, in the order of their registration."""
    return dict(_REGISTRY)
