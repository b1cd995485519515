"""Reads a statement such as "H100 1,979 TFLOPS": which chip, which quantity, which value.

The page has the same functions in `docs/assets/flopbook/check/reading.js`; a test holds both equal.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from flopbook.errors import FlopbookError
from flopbook.factcheck import words

Span = tuple[int, int]
Names = Mapping[str, Sequence[str]]
LONGEST_NAME = 8  # words of a chip's name
_FLAGS = re.I | re.ASCII  # what letters and edges of words are, as in a browser
FINEST, COARSEST = 0.0005, 0.02  # how far a rounded figure may be from the value, at least and most
COARSEST_ROUND = 0.05  # the most where two digits or more were written: 1.4 for 1.44


class Unreadable(FlopbookError):
    """A text in which no chip or no number can be found; `reason` is a key of `PROBLEMS`.

    `statements` are numbers of a text that names no chip.
    """

    def __init__(self, reason: str, statements: Sequence[StatedNumber] = (), **said: str) -> None:
        self.reason = reason
        self.statements = tuple(statements)  # numbers of no chip
        super().__init__(words.PROBLEMS[reason].format(**said))


class StatedNumber(NamedTuple):
    """One number of a text with all that is said of it.

    `value` is in SI, `slack` how far it may be from what it rounds, and `cut` how far below the
    value whose last digits were left out. `factor` and `symbol` are
    those of the unit it is written in, `times` how many chips it is for, `binary` whether the unit
    is one such as GiB, `parts` the words beside it. An empty `field`, `formats`, `sparsity`,
    `direction` or `scope` was not said.
    """

    chips: tuple[str, ...]
    times: int
    value: float
    slack: float
    cut: float
    kind: str
    factor: float
    symbol: str
    binary: bool
    field: str
    formats: tuple[str, ...]
    sparsity: str
    direction: str
    scope: str
    vector: bool
    parts: tuple[str, ...]


class _Number(NamedTuple):
    """A number with its unit, and where it stands."""

    start: int
    end: int
    value: float
    slack: float
    cut: float
    kind: str
    factor: float
    symbol: str
    binary: bool

    @property
    def span(self) -> Span:
        """Where it stands."""
        return self.start, self.end


class _Named(NamedTuple):
    """A chip's name, where it stands, and how many of it."""

    start: int
    end: int
    chips: tuple[str, ...]
    times: int

    @property
    def span(self) -> Span:
        """Where it stands."""
        return self.start, self.end


def read(text: str, names: Names) -> list[StatedNumber]:
    """Each number of a text with its chip. `names` maps compact names to ids of chips.

    Raises Unreadable.
    """
    if not text.strip():
        raise Unreadable("empty")
    if len(text) > words.LONGEST:
        raise Unreadable("long")
    plain = re.sub(words.MONEY, r"\1\2 USD", _respelled(text), flags=_FLAGS)
    plain = re.sub(words.BETWEEN, r"\2\1 ", plain, flags=_FLAGS)
    plain = re.sub(words.TIMES, r"\1  ", plain, flags=_FLAGS)
    numbers = list(_numbers(plain))
    named, left = _chips_beside(plain, names, numbers)
    if not left:
        raise Unreadable("date" if named and _has(plain, words.DATE) else "number")
    spans = [*(mention.span for mention in named), *(mention.span for mention in numbers)]
    blank = _without(plain, spans)
    shown = left[: words.MOST_STATEMENTS]
    if not named:
        nobody = _Named(0, 0, (), 1)
        raise _without_chip(plain, names, [_statement(blank, mention, nobody) for mention in shown])
    return [_statement(blank, number, _owner(number, named)) for number in shown]


def _respelled(text: str) -> str:
    """A text with its numbers and units written the usual way."""
    for pattern, plain in words.SPELLINGS:
        text = re.sub(pattern, re.sub(r"{(.)}", r"\\g<\1>", plain), text, flags=_FLAGS)
    return text


def compact(name: str) -> str:
    """A name without case, blanks and marks: "TPU v5p" is tpuv5p."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _numbers(text: str) -> Iterator[_Number]:
    for match in re.finditer(words.NUMBER, text, _FLAGS):
        number = _number(match)
        if number is not None:
            yield number


def _number(match: re.Match[str]) -> _Number | None:
    integer, decimals, power, prefix, binary, spelling = (group or "" for group in match.groups())
    unit = _unit(spelling)
    if unit is None:
        return None
    kind, size, symbol = unit
    thousands = words.PREFIXES[prefix.lower()]
    factor = thousands * size
    if binary:
        factor = 1024.0 ** (len(f"{thousands:.0f}") // 3) * size
    unit_factor = size if kind == "price" else factor  # no kilodollars
    integer = integer.replace(",", "")
    digits = float(integer + decimals)
    scale = factor * 10.0 ** int(power[1:] or "0")
    slack, cut = (bound * scale for bound in _slack(integer, decimals, digits))
    shown = _symbol(prefix.lower(), symbol, binary)
    start, end = match.span()
    return _Number(start, end, digits * scale, slack, cut, kind, unit_factor, shown, bool(binary))


def _symbol(prefix: str, symbol: str, binary: str) -> str:
    """The unit as answers write it: TFLOP/s, GiB, billion transistors."""
    if symbol == "transistors":
        return f"{words.SIZES[prefix]}{symbol}"
    if symbol == "USD":
        return symbol
    return f"{words.LETTERS[prefix]}{'i' if binary else ''}{symbol}"


def _slack(whole: str, decimals: str, digits: float) -> tuple[float, float]:
    """How far a number may be from what it rounds, and below what it was cut off from.

    Half of the last place that is written, and the whole of it, within what people round to.
    """
    zeros = len(whole) - len(whole.rstrip("0"))
    place = 10.0 ** -(len(decimals) - 1) if decimals else 10.0**zeros
    written = (whole + decimals).replace(".", "").strip("0")
    coarsest = COARSEST if len(written) < 2 else COARSEST_ROUND
    slack = min(max(place / 2, FINEST * digits), coarsest * digits)
    return slack, max(slack, min(place, COARSEST * digits))


def _unit(spelling: str) -> tuple[str, float, str] | None:
    """What a spelling measures; a lone b is a bit where it is small and a byte where not."""
    if spelling[:1] in "bB" and not re.match(r"by|bi", spelling, _FLAGS):
        spelling = ("bit" if spelling[0] == "b" else "byte") + spelling[1:]
    for pattern, kind, size, symbol in words.UNITS:
        if re.fullmatch(pattern, spelling, _FLAGS):
            return kind, size, symbol or spelling
    return None


def _chips_beside(
    text: str, names: Names, numbers: Sequence[_Number]
) -> tuple[list[_Named], list[_Number]]:
    """The chips and the numbers outside of their names.

    A name such as A100 80GB has a number inside only where another follows in the same clause.
    """
    ends = [number for number, after in itertools.pairwise(numbers) if _cut(text, number, after)]
    ends += numbers[-1:]  # the last number of each clause is no part of a name
    taken = [number.span for number in ends]
    chips = _named(text, names, taken) or _named(text, _makers(names), taken)
    name_spans = [chip.span for chip in chips]
    return chips, [number for number in numbers if not _meets(number.span, name_spans)]


def _makers(names: Names) -> Names:
    """Names of makers, which stand for their chips where no chip is named."""
    by = words.BY
    return {name.removeprefix(by): ids for name, ids in names.items() if name.startswith(by)}


def _without_chip(text: str, names: Names, statements: Sequence[StatedNumber]) -> Unreadable:
    """What is wrong with a text that names no chip, with the names that a slip may have meant."""
    words_read = [match.group().lower() for match in re.finditer(words.WORD, text)]
    words_read += [one + after for one, after in itertools.pairwise(words_read)]
    near: dict[tuple[str, ...], str] = {}  # of several names of a chip the shortest
    for name in sorted(names, key=lambda one: (len(one), one)):
        if len(name) >= words.SHORTEST_NEAR and any(_is_near(one, name) for one in words_read):
            near.setdefault(tuple(names[name]), name)
    if not near:
        return Unreadable("chip", statements)
    return Unreadable("near", names=" or ".join([*near.values()][: words.MOST_NEAR]))


def _is_near(said: str, name: str) -> bool:
    """Whether what was said is a name but for a slip of the finger, or the end of one."""
    if len(said) >= words.SHORTEST_NEAR and said.isdigit() and name.endswith(said):
        return True
    if abs(len(said) - len(name)) > 1 or said == name:
        return False
    letters = zip(said, name, strict=False)
    least = min(len(said), len(name))
    shared = next(
        (n for n, (letter, name_letter) in enumerate(letters) if letter != name_letter), least
    )
    left, tail = said[shared:], name[shared:]
    is_turned = left[:2] == tail[:2][::-1] and left[2:] == tail[2:]
    is_other = left[1:] == tail[1:]
    return is_turned or is_other or left[1:] == tail or left == tail[1:]


def _cut(text: str, one: _Number, after: _Number) -> bool:
    """Whether a separator stands between two numbers."""
    return _has(text[one.end : after.start], words.CLAUSE)


def _named(text: str, names: Names, taken: Sequence[Span]) -> list[_Named]:
    """Names of chips in a text, longest first, in the order in which they stand."""
    atoms = [match.span() for match in re.finditer(words.WORD, text)]
    named: list[_Named] = []
    for length in range(min(LONGEST_NAME, len(atoms)), 0, -1):
        for first in range(len(atoms) - length + 1):
            span = (atoms[first][0], atoms[first + length - 1][1])
            chips = _chips_of(text[span[0] : span[1]], names)
            if chips and not _meets(span, [*taken, *(one.span for one in named)]):
                before = text[slice(*atoms[first - 1])] if first else ""
                named.append(_Named(*span, chips, _times(before)))
    return sorted(named, key=lambda one: one.start)


def _chips_of(name: str, names: Names) -> tuple[str, ...]:
    if _has(name, words.OUTSIDE):
        return ()
    short = compact(name)
    if short in names:
        return tuple(names[short])
    return tuple(names.get(short[:-1], ())) if short.endswith("s") else ()


def _times(word: str) -> int:
    """How many, from the word before a name; 1 where that is no count."""
    if word.lower() in words.COUNTS:
        return words.COUNTS[word.lower()]
    return int(word) if re.fullmatch(r"[1-9][0-9]{0,5}", word) else 1


def _meets(span: Span, others: Iterable[Span]) -> bool:
    return any(start < span[1] and span[0] < end for start, end in others)


def _without(text: str, spans: Iterable[Span]) -> str:
    """A text with blanks where names and numbers stand: what is left are the conditions."""
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _owner(number: _Number, named: Sequence[_Named]) -> _Named:
    """The last chip before a number, else the first behind it."""
    before = [mention for mention in named if mention.start < number.start]
    return before[-1] if before else named[0]


def _statement(text: str, number: _Number, owner: _Named) -> StatedNumber:
    clause = _clause(text, number)
    return StatedNumber(
        owner.chips,
        owner.times,
        number.value,
        number.slack,
        number.cut,
        number.kind,
        number.factor,
        number.symbol,
        number.binary,
        _field(clause, number.kind),
        tuple(name for pattern, name in words.FORMATS if _has(clause, pattern)),
        _either(clause, (words.DENSE, "dense"), (words.SPARSE, "sparse")),
        _either(clause, (words.ONE, "one-way"), (words.BOTH, "both")),
        _either(
            clause, (words.PER_LINK, "link"), (words.PER_CHIP, "chip"), (words.PER_NODE, "node")
        ),
        _has(clause, words.VECTOR),
        tuple(match.group().lower() for match in re.finditer(words.WORD, clause)),
    )


def _clause(text: str, number: _Number) -> str:
    """The part of a text between separators in which a number stands."""
    starts = [0]
    ends = [len(text)]
    for match in re.finditer(words.CLAUSE, text, _FLAGS):
        if match.end() <= number.start:
            starts.append(match.end())
        elif match.start() >= number.end:
            ends.append(match.start())
    return text[max(starts) : min(ends)]


def _has(text: str, pattern: str) -> bool:
    return re.search(pattern, text, _FLAGS) is not None


def _field(clause: str, kind: str) -> str:
    """The quantity that a clause names, if a number of this kind can be one."""
    for pattern, field in words.QUANTITIES:
        if field in words.FIELDS[kind] and _has(clause, pattern):
            return field
    return ""


def _either(clause: str, *choices: tuple[str, str]) -> str:
    """The name of the first pattern that a clause has; empty for none."""
    return next((name for pattern, name in choices if _has(clause, pattern)), "")
