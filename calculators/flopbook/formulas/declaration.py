"""The @formula decorator and the registry: one plain function, from which every face follows.

A formula is a function in a small subset of Python (assignments, arithmetic, comparisons, the names
in `ops`, if-expressions, tables by word) that returns a dict of named outputs in SI units. Its
parameters carry unit, symbol and meaning as `Annotated[float, Input(...)]`; module constants that
have a unit are `Constant`s.

What needs loops is ordinary Python: a formula that brings its own `working`, the steps in words. It
has every face but those that are printed from a syntax tree, and its inputs may be free text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, get_args

from flopbook.errors import FlopbookError, UnknownName, shorten
from flopbook.formulas.conditions import Rule
from flopbook.quantities.choices import choice

# Bounds on every size that has no narrower ones of its own: beyond them a number is a slip of the
# keyboard, not a quantity. No formula can overflow or divide by zero between them.
ABSURD = 1e40
ABSURDLY_SMALL = 1e-40
LONGEST_TEXT = 2000
# What calculate() takes and a formula does not.
LOOKED_UP = ("chip", "model", "config", "dtype", "sparsity")


class Constant(float):
    """A number in a formula that has a unit, such as 2 FLOP for one multiply and add."""

    unit: str
    meaning: str

    def __new__(cls, value: float, unit: str, meaning: str) -> Constant:
        self = super().__new__(cls, value)
        self.unit, self.meaning = unit, meaning
        return self


class Input(NamedTuple):
    """A parameter of a formula: SI unit, symbol, what it is, and where its value may come from.

    `chip`, `model` and `dtype` name the value that a chip, a model or a number format supplies;
    `choices` makes it a word, one of these; `text` makes it free text, and is the word that stands
    for it in the help. `least` and `most` bound what is plausible and `whole` asks for a whole
    number. `none` lets zero stand for "there are none", below any least value. `group` is the name
    under which a long form folds it away with others.
    """

    unit: str
    symbol: str
    meaning: str
    chip: str = ""
    model: str = ""
    dtype: str = ""
    choices: tuple[str, ...] = ()
    least: float = 0.0
    whole: bool = False
    most: float = ABSURD
    none: bool = False
    text: str = ""
    group: str = ""

    @property
    def is_number(self) -> bool:
        """Whether it is a quantity, and neither one of several words nor free text."""
        return not (self.choices or self.text)


class Group(str):
    """Names the group of an input in a long form.

    `Annotated[float, Input(...), Group("Mixture of experts")]` folds it away with others of the
    same name.
    """


class Step(float):
    """Marks a parameter of a part that an earlier part computes."""


class StepWord(str):
    """The same for a word, such as a schedule."""


def part(function: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """Marks a part of a long formula: the same subset, its inputs annotated alike."""
    return function


class Output(NamedTuple):
    """A result of a formula: SI unit, symbol and what it is.

    `needs` names inputs without which it is left open, because their default is a limit.
    `choices` makes it a word, one of these, where the question is which of several things limits.
    In ordinary Python a result may also be a tuple of numbers or of texts.
    """

    unit: str
    symbol: str
    meaning: str
    needs: tuple[str, ...] = ()
    absent: str = ""  # what an infinite value means, for people
    choices: tuple[str, ...] = ()
    table: str = ""  # of a tuple: the table in which it is a column


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


class _Declared(NamedTuple):
    """What the decorator was given, and what it read from the function."""

    id: str
    title: str
    question: str
    function: Callable[..., dict[str, Any]]
    inputs: Mapping[str, Input]
    outputs: Mapping[str, Output]
    defaults: Mapping[str, Any]
    sources: tuple[str, ...]
    symbols: Mapping[str, str] = MappingProxyType({})
    examples: tuple[Mapping[str, str], ...] = ()
    rules: tuple[Rule, ...] = ()
    parts: tuple[Callable[..., dict[str, Any]], ...] = ()
    working: Callable[..., list[str]] | None = None


class Formula(_Declared):
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
            if name in given
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
            steps |= piece(**{name: steps[name] for name in _parameters(piece)[0]})
        return self.function(**{name: steps[name] for name in _parameters(self.function)[0]})

    @property
    def printed(self) -> bool:
        """Whether LaTeX, JavaScript, units and steps can be printed from it, and arrays put in."""
        return self.working is None

    @property
    def summary(self) -> str:
        """First line of the docstring."""
        return " ".join((self.function.__doc__ or "").strip().partition("\n\n")[0].split())

    def section(self, heading: str) -> str:
        """The text of a section of the docstring (`Derivation`, `Leaves out`), paragraphs kept."""
        import inspect  # takes long to import, and only pages and `--explain` need it

        text = inspect.getdoc(self.function) or ""
        _, found, body = text.partition(f"\n{heading}:")
        if not found:
            return ""
        lines: list[str] = []
        for line in body.splitlines():
            is_heading = bool(line) and not line[0].isspace() and line.rstrip().endswith(":")
            if is_heading and lines:
                break
            lines.append(line.strip())
        return "\n".join(lines).strip()


def check_input(name: str, spec: Input, value: Any, is_default: bool = False) -> None:
    """Raise FlopbookError unless a value (float, array or text) fits its input."""
    if spec.choices:
        if not isinstance(value, str) or value not in spec.choices:
            raise UnknownName(name.replace("_", "-"), str(value), spec.choices)
        return
    if spec.text:
        return _check_text(name, value)
    if is_default:
        return
    try:
        low, high = _range(value)
    except (TypeError, ValueError, OverflowError):
        raise FlopbookError(
            f"{name} is '{shorten(value)}', expected a number{_in(spec.unit)}"
        ) from None
    if math.isnan(low) or math.isnan(high):
        raise FlopbookError(f"{name} is not a number")
    _check_low(name, spec, low)
    if high > spec.most:
        bound = f"at most {spec.most:g}{_in(spec.unit)}"
        raise FlopbookError(
            f"{name} is {high:.15g}, which is not a plausible size; expected {bound}"
        )
    if spec.whole and not _all_whole(value):
        raise FlopbookError(f"{name} is {low!r}, expected a whole number{_in(spec.unit)}")


def _range(value: Any) -> tuple[float, float]:
    """The least and the largest of an array, or a number twice."""
    0.0 + value  # a text or a list is no number, even where float() would take it
    if hasattr(value, "min"):
        return float(value.min()), float(value.max())
    return float(value), float(value)


def _check_text(name: str, value: Any) -> None:
    """Raise FlopbookError unless a value is a text of plausible length; the formula reads it."""
    if not isinstance(value, str):
        raise FlopbookError(f"{name} is '{shorten(value)}', expected a text")
    if len(value) > LONGEST_TEXT:
        raise FlopbookError(
            f"{name} has {len(value):,} characters, at most {LONGEST_TEXT:,} are read"
        )


def _check_low(name: str, spec: Input, low: float) -> None:
    """Raise FlopbookError for a value below its bound; zero may stand for none of them."""
    if spec.none and low == 0:
        return
    if low < spec.least or (spec.least == 0 and low <= 0):
        bound = f"at least {spec.least:g}" if spec.least else "more than 0"
        raise FlopbookError(f"{name} is {low:.15g}, expected {bound}{_in(spec.unit)}")
    if low < ABSURDLY_SMALL:
        raise FlopbookError(
            f"{name} is {low:g}, which is not a plausible size; "
            f"expected at least {ABSURDLY_SMALL:g}"
        )


def _all_whole(value: Any) -> bool:
    """True when a float, or every element of an array, is a whole number."""
    if hasattr(value, "min"):
        return bool((value.round() == value).all())
    return float(value).is_integer()


def _in(unit: str) -> str:
    """The unit as a message adds it; a pure number has none."""
    return "" if unit == "1" else f" (unit {unit})"


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


def _parameters(function: Callable[..., Any]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Names and defaults of a function's parameters.

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
