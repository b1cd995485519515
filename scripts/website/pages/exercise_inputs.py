"""What an exercise starts from is printed: in the chapter above it, or in a question up to it.

A reader with paper and Python must not have to guess the bandwidth of a chip or the layers of a
model. An answer that reads a value of a chip or model which is printed nowhere above it stops the
build. What a calculator inside an answer reads is not looked at here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from html import unescape
from typing import Any, NamedTuple

from jinja2 import nodes

from flopbook.errors import FlopbookError, Problem
from scripts.website.pages.prose_limits import ProseEnvironment

# Two digits of running text are too few to start from, four are enough.
TOLERANCE = 0.004
_PREFIXES = tuple(10.0 ** (3 * power) for power in range(-5, 8))
_QUESTION = re.compile(r"\{\{-?\s*exercise\(")
_RENDERED_QUESTION = re.compile(r'<strong class="fb-exercise"')
# An answer that opens, with all of its indented lines
_FOLDED = re.compile(r"^\?\?\? [^\n]*(?:\n(?: {4}[^\n]*|[ \t]*(?=\n)))*", re.M)
_PROJECT = "\n### Project"
_UNSEEN = re.compile(r"<svg.*?</svg>|</?[a-z][^>]*>", re.S)
_NUMBER = re.compile(r"\d[\d,]*\.?\d*(?:e\d+)?")


Makers = Mapping[str, Callable[[str], Any]]


class Read(NamedTuple):
    """A value of a chip or model that an expression reads: as written, in SI units, its line."""

    words: str
    number: float
    line: int


def unprinted_inputs(source: str, rendered: str, file: str, makers: Makers) -> Iterator[Problem]:
    """Values that answers of a chapter start from and no reader sees, with file and line.

    `makers` are what its expressions call `chip` and `model`.
    """
    source = source.partition(_PROJECT)[0]
    starts = [source.count("\n", 0, match.start()) + 1 for match in _QUESTION.finditer(source)]
    if not starts:
        return
    opening, *shown = _RENDERED_QUESTION.split(rendered.partition(_PROJECT)[0])
    printed = printed_numbers(opening)
    folded = _folded_lines(source)
    reads = [read for read in _Readings(source, makers) if read.line >= starts[0]]
    # A question that computes with a value gives it in the form that it prints.
    asked = sorted((read for read in reads if read.line not in folded), key=lambda read: -read.line)
    given = {read.words: read.line for read in asked}
    for first, after, exercise in zip(starts, [*starts[1:], math.inf], shown, strict=True):
        printed += printed_numbers(_FOLDED.sub("", exercise))
        used = {read.words: read for read in reads if first <= read.line < after}
        for read in used.values():
            is_given = given.get(read.words, math.inf) < after
            if not is_given and not is_printed(read.number, printed):
                yield _problem(read, file)


def _folded_lines(source: str) -> set[int]:
    """The lines of answers that open, and of settings, which print nothing."""
    lines: set[int] = set()
    for match in _FOLDED.finditer(source):
        first = source.count("\n", 0, match.start()) + 1
        lines |= set(range(first, first + match[0].count("\n") + 1))
    settings = (n for n, line in enumerate(source.split("\n"), 1) if line.startswith("{% set"))
    return lines | set(settings)


def printed_numbers(text: str) -> list[float]:
    """All numbers that a rendered text shows outside its drawings."""
    return [
        float(number.replace(",", "").rstrip("."))
        for number in _NUMBER.findall(_UNSEEN.sub("", text))
    ]


def is_printed(number: float, printed: list[float], tolerance: float = TOLERANCE) -> bool:
    """Whether a number is among those printed, with or without a prefix of its unit."""
    wanted = [abs(number) * prefix for prefix in _PREFIXES]
    return any(math.isclose(one, shown, rel_tol=tolerance) for shown in printed for one in wanted)


class _Readings:
    """What the expressions of a page read of chips and models, under names of the page too."""

    def __init__(self, source: str, makers: Makers) -> None:
        self._makers = makers
        self._tree = ProseEnvironment(None).parse(source)
        self._calls = {id(call.node): call for call in self._tree.find_all(nodes.Call)}
        self._owners: dict[str, Any] = {}
        self._values: dict[str, Read] = {}
        for assigned in self._tree.find_all(nodes.Assign):
            if isinstance(assigned.target, nodes.Name):
                self._keep(assigned.target.name, assigned.node)

    def __iter__(self) -> Iterator[Read]:
        for field in self._tree.find_all(nodes.Getattr):
            if read := self._read(field):
                yield read
        for used in self._tree.find_all(nodes.Name):
            if used.ctx == "load" and used.name in self._values:
                yield self._values[used.name]._replace(line=used.lineno)

    def _keep(self, name: str, node: nodes.Node) -> None:
        """Remember what a name of the page stands for: a chip, a model or a value of one."""
        owner = self._owner(node)
        if owner is not None:
            self._owners[name] = owner
        if read := self._read(node):
            self._values[name] = read

    def _owner(self, node: nodes.Node) -> Any:
        """The chip or model that an expression makes or names; None for any other."""
        if isinstance(node, nodes.Name):
            return self._owners.get(node.name)
        if not isinstance(node, nodes.Call) or not isinstance(node.node, nodes.Name):
            return None
        maker, name = self._makers.get(node.node.name), node.args[0] if node.args else None
        return maker(name.value) if maker and isinstance(name, nodes.Const) else None

    def _read(self, node: nodes.Node) -> Read | None:
        """The number of a chip or model that an expression is, called or not."""
        field = node.node if isinstance(node, nodes.Call) else node
        if not isinstance(field, nodes.Getattr):
            return None
        owner, call = self._owner(field.node), self._calls.get(id(field))
        try:
            read = getattr(owner, field.attr)
            if call is not None:
                named = {option.key: option.value.as_const() for option in call.kwargs}
                read = read(*(argument.as_const() for argument in call.args), **named)
            words = f"{field.attr} of {unescape(_UNSEEN.sub('', str(owner)))}"
            return Read(words, float(read), field.lineno)
        except (AttributeError, TypeError, ValueError, FlopbookError, nodes.Impossible):
            return None  # a word, or what only a rendered page knows


def _problem(read: Read, file: str) -> Problem:
    return Problem(
        file,
        read.line,
        1,
        "exercise",
        f"the answer starts from {read.words}, {read.number:g}, which is printed nowhere above",
        "every input of an answer in its question or in the chapter above it",
        "print the value in the question",
    )
