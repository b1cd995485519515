"""Reads a statement such as "H100 1,979 TFLOPS": which chip, which quantity, which value.

The page has the same functions in `docs/assets/flopbook/check/reading.js`; a test holds both equal.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from flopbook.errors import FlopbookError
from flopbook.factcheck import words
from flopbook.factcheck.memories import memories_in
from flopbook.factcheck.numbers import FLAGS, Span, WrittenNumber, has_letter, meets, numbers_of

Names = Mapping[str, Sequence[str]]
_PARTS = ";"  # ends a clause
LONGEST_NAME = 8  # words of a chip's name


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
    value whose last digits were left out; `place` is what its last written digit is worth.
    `factor` and `symbol` are those of the unit it is written in, `times` how many chips it is for,
    `binary` whether the unit is one such as GiB, `parts` the words beside it. An empty `field`,
    `formats`, `sparsity`, `direction` or `scope` was not said. `readings` are what a number whose
    unit is cut short may be, likeliest first; the number itself has the first of them.
    """

    chips: tuple[str, ...]
    times: int
    value: float
    slack: float
    cut: float
    place: float
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
    is_named: bool  # whether the words beside it name what a number of its kind is
    readings: tuple[StatedNumber, ...] = ()
    others: tuple[str, ...] = ()  # further chips that the text names
    memories: tuple[str, ...] = ()  # types of memory, with no other number or chip in between


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
    plain = re.sub(words.MONEY, r"\1\2 USD", _respelled(text), flags=FLAGS)
    plain = re.sub(words.BETWEEN, r"\2\1 ", plain, flags=FLAGS)
    plain = re.sub(words.TIMES, r"\1  ", plain, flags=FLAGS)
    numbers = numbers_of(plain)
    named, left = _chips_beside(plain, names, numbers)
    if not left:
        raise Unreadable("date" if named and _has(plain, words.DATE) else "number")
    spans = [*(mention.span for mention in named), *(mention.span for mention in numbers)]
    blank = _without(plain, spans)
    shown = left[: words.MOST_STATEMENTS]
    if not named:
        nobody = _Named(0, 0, (), 1)
        raise _without_chip(
            plain, names, [_statement(blank, mention, nobody, spans) for mention in shown]
        )
    stated = [_statement(blank, number, _owner(number, named), spans) for number in shown]
    every_chip = dict.fromkeys(chip for mention in named for chip in mention.chips)
    return [_with_others(one, [*every_chip]) for one in stated]


def _with_others(statement: StatedNumber, chips: Sequence[str]) -> StatedNumber:
    """A number with the chips of the text that are not its own."""
    others = tuple(chip for chip in chips if chip not in statement.chips)
    readings = tuple(reading._replace(others=others) for reading in statement.readings)
    return statement._replace(others=others, readings=readings)


def _respelled(text: str) -> str:
    """A text with its numbers and units written the usual way."""
    for pattern, plain in words.SPELLINGS:
        text = re.sub(pattern, re.sub(r"{(.)}", r"\\g<\1>", plain), text, flags=FLAGS)
    return text


def compact(name: str) -> str:
    """A name without case, blanks and marks: "TPU v5p" is tpuv5p."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _chips_beside(
    text: str, names: Names, numbers: Sequence[WrittenNumber]
) -> tuple[list[_Named], list[WrittenNumber]]:
    """The chips and the numbers outside of their names.

    A number whose unit is cut short is part of a name that has it, Ascend 310P or A100-40gb, unless
    no number is left then.
    """
    whole = [number for number in numbers if not number.readings]
    chips, left = _parted(text, names, numbers, whole)
    if not left:
        every_chip, every_number = _parted(text, names, numbers, numbers)
        if every_chip and every_number:
            return every_chip, every_number
    return chips, left


def _parted(
    text: str, names: Names, numbers: Sequence[WrittenNumber], kept: Sequence[WrittenNumber]
) -> tuple[list[_Named], list[WrittenNumber]]:
    """Chips and numbers where those that are kept, and last in their clause, are in no name.

    A name such as A100 80GB has a number inside only where another follows in the same clause.
    """
    ends = [number for number, after in itertools.pairwise(numbers) if _cut(text, number, after)]
    ends += numbers[-1:]
    taken = [number.span for number in ends if number in kept]
    # A name inside of a number, as TPU 8t in 4.8T, counts where there is no other.
    letters = [number.span for number in numbers if has_letter(text, number)]
    chips = (
        _named(text, names, taken, letters)
        or _named(text, names, taken)
        or _named(text, _makers(names), taken)
    )
    name_spans = [chip.span for chip in chips]
    return chips, [number for number in numbers if not meets(number.span, name_spans)]


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


def _cut(text: str, one: WrittenNumber, after: WrittenNumber) -> bool:
    """Whether a separator stands between two numbers."""
    return _has(text[one.end : after.start], words.CLAUSE)


def _named(
    text: str, names: Names, taken: Sequence[Span], around: Sequence[Span] = ()
) -> list[_Named]:
    """Names of chips in a text, longest first, in the order in which they stand.

    None meets what is taken, and none lies inside of one of the spans `around`.
    """
    atoms = [match.span() for match in re.finditer(words.WORD, text)]
    named: list[_Named] = []
    for length in range(min(LONGEST_NAME, len(atoms)), 0, -1):
        for first in range(len(atoms) - length + 1):
            span = (atoms[first][0], atoms[first + length - 1][1])
            chips = _chips_of(text[span[0] : span[1]], names)
            is_inside = any(start <= span[0] and span[1] <= end for start, end in around)
            if chips and not is_inside and not meets(span, [*taken, *(one.span for one in named)]):
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


def _without(text: str, spans: Iterable[Span], mark: str = " ") -> str:
    """A text with blanks where names and numbers stand: what is left are the conditions."""
    for start, end in spans:
        text = text[:start] + mark * (end - start) + text[end:]
    return text


def _owner(number: WrittenNumber, named: Sequence[_Named]) -> _Named:
    """The last chip before a number, else the first behind it."""
    before = [mention for mention in named if mention.start < number.start]
    return before[-1] if before else named[0]


def _statement(
    text: str, number: WrittenNumber, owner: _Named, spans: Iterable[Span]
) -> StatedNumber:
    clause = _clause(text, number)
    others = [span for span in spans if span not in (number.span, owner.span)]
    types = memories_in(_clause(_without(text, others, _PARTS), number))
    alternatives = [_stated(clause, reading, owner) for reading in number.readings]
    readings = tuple(reading._replace(memories=types) for reading in alternatives)
    return _stated(clause, number, owner)._replace(readings=readings, memories=types)


def _stated(clause: str, number: WrittenNumber, owner: _Named) -> StatedNumber:
    field = _field(clause, number.kind)
    formats = tuple(name for pattern, name in words.FORMATS if _has(clause, pattern))
    sparsity = _either(clause, (words.DENSE, "dense"), (words.SPARSE, "sparse"))
    told = field or (number.kind == "rate" and (formats or sparsity))
    return StatedNumber(
        owner.chips,
        owner.times,
        number.value,
        number.slack,
        number.cut,
        number.place,
        number.kind,
        number.factor,
        number.symbol,
        number.binary,
        field,
        formats,
        sparsity,
        _either(clause, (words.ONE, "one-way"), (words.BOTH, "both")),
        _either(
            clause, (words.PER_LINK, "link"), (words.PER_CHIP, "chip"), (words.PER_NODE, "node")
        ),
        _has(clause, words.VECTOR),
        tuple(match.group().lower() for match in re.finditer(words.WORD, clause)),
        bool(told) or _has(clause, words.SHORT_WORDS.get(number.kind, "(?!)")),
    )


def _clause(text: str, number: WrittenNumber) -> str:
    """The part of a text between separators in which a number stands."""
    starts = [0]
    ends = [len(text)]
    for match in re.finditer(words.CLAUSE, text, FLAGS):
        if match.end() <= number.start:
            starts.append(match.end())
        elif match.start() >= number.end:
            ends.append(match.start())
    return text[max(starts) : min(ends)]


def _has(text: str, pattern: str) -> bool:
    return re.search(pattern, text, FLAGS) is not None


def _field(clause: str, kind: str) -> str:
    """The quantity that a clause names, if a number of this kind can be one."""
    for pattern, field in words.QUANTITIES:
        if field in words.FIELDS[kind] and _has(clause, pattern):
            return field
    return ""


def _either(clause: str, *choices: tuple[str, str]) -> str:
    """The name of the first pattern that a clause has; empty for none."""
    return next((name for pattern, name in choices if _has(clause, pattern)), "")
