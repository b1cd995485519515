"""What a formula says of itself: inputs and outputs with unit and symbol, and its texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from flopbook.formulas.conditions import Rule
from flopbook.formulas.omissions import Omission

# Bounds on every size that has no narrower ones of its own: beyond them a number is a slip of the
# keyboard, not a quantity. No formula can overflow or divide by zero between them.
ABSURD = 1e40
ABSURDLY_SMALL = 1e-40


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


# Inputs that few models have: an answer leaves out those that stand at their default.
LAYER_KINDS = Group("Layer kinds")


class Output(NamedTuple):
    """A result of a formula: SI unit, symbol and what it is.

    `needs` names inputs without which it is left open, because their default is a limit, and
    `lacking` says what that leaves out of the others, which it may name in braces.
    `choices` makes it a word, one of these, where the question is which of several things limits.
    In ordinary Python a result may also be a tuple of numbers or of texts.
    """

    unit: str
    symbol: str
    meaning: str
    needs: tuple[str, ...] = ()
    absent: str = ""  # what an infinite value means, for people
    choices: tuple[str, ...] = ()
    lacking: str = ""
    table: str = ""  # of a tuple: the table in which it is a column


class Description(NamedTuple):
    """What the decorator of a formula was given, and what it read from the function."""

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
    omissions: tuple[Omission, ...] = ()
    parts: tuple[Callable[..., dict[str, Any]], ...] = ()
    working: Callable[..., list[str]] | None = None
    asks: tuple[str, ...] = ()  # the three to five questions of its form, first in its help
    # Degrees whose product is the number of chips; --chips gives the first of them the rest.
    divides: tuple[str, ...] = ()

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
