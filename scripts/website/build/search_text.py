"""Texts of the search as what they are found by: words, stems, concepts, options, numbers.

`docs/assets/flopbook/search/ranking.js` has the same functions; a test holds both equal.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Words = Mapping[str, Any]
MOST_CHIPS = 2**20
_GROUPED = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")
_TIMES = re.compile(r"(?<![a-z0-9.])([0-9]+)x(?=[a-z])")
_COUNT = re.compile(r"x?([1-9][0-9]{0,6})")
_ATOM = re.compile(r"[a-z0-9]+(?:\.[0-9]+)*")
_OPTION = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)+")


@functools.lru_cache(maxsize=2**16)
def stem(word: str, endings: tuple[str, ...]) -> str:
    """A word without its ending: sharding, sharded and shards are shard."""
    if any(letter.isdigit() for letter in word):
        return word
    if len(word) > 4 and word.endswith("ies"):
        word = f"{word[:-3]}y"
    elif len(word) > 3 and word[-1] == "s" and word[-2] not in "su":
        word = word[:-1]
    for ending in endings:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    if len(word) > 4 and word[-1] == "e":
        word = word[:-1]
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return word


def atoms(text: str) -> list[str]:
    """The words of a text in small letters, cut at hyphens and marks; 8xH100 is 8 H100."""
    return _ATOM.findall(_TIMES.sub(r"\1 ", _GROUPED.sub("", text.lower())))


def options(text: str) -> list[tuple[str, int, int]]:
    """Options of programs, such as --tensor-parallel-size: their tokens, first atoms, and ends."""
    found = []
    for match in _OPTION.finditer(text.lower()):
        first = len(atoms(text[: match.start()]))
        parts = atoms(match.group())
        found.append((f"={''.join(parts)}", first, first + len(parts)))
    return found


@functools.lru_cache(maxsize=2**14)
def stems_of(text: str, endings: tuple[str, ...]) -> tuple[str, ...]:
    """The stems of the words of a short text, such as a title, which many questions meet."""
    return tuple(stem(atom, endings) for atom in atoms(text))


def concepts(stems: Sequence[str], words: Words) -> Iterator[tuple[str, int, int]]:
    """Concept, first and last word of each phrase in a text that names one."""
    longest = words["longest"]
    for first in range(len(stems)):
        for length in range(1, min(longest, len(stems) - first) + 1):
            for concept in words["phrases"].get(" ".join(stems[first : first + length]), ()):
                yield concept, first, first + length


def tokens_of(text: str, words: Words, *, joined: bool = True) -> set[str]:
    """What a text is found by: stems, concepts, and neighbours as one word (zero-3 is zero3).

    Neighbours are also one word by its stem: micro-batches are found by microbatch.
    """
    plain = atoms(text)
    stems = [stem(atom, words["endings"]) for atom in plain]
    ends = zip(plain, zip(plain[1:], stems[1:], strict=True), strict=False)
    pairs = (a + b for a, forms in ends for b in forms if joined and len(a + b) > 2)
    return {*stems, *pairs, *(f"#{concept}" for concept, _, _ in concepts(stems, words))}


def number(word: str) -> int:
    """The whole number that a word is, as in 8 or x8; 0 where it is none."""
    match = _COUNT.fullmatch(word)
    return int(match[1]) if match and int(match[1]) <= MOST_CHIPS else 0


def is_near(a: str, b: str) -> bool:
    """Whether one letter more, less or other, or two changed round, make the words equal."""
    if abs(len(a) - len(b)) > 1 or len(b) < 4:
        return False
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    rest_a, rest_b = a[start:], b[start:]
    turned = rest_a[:2] == rest_b[:2][::-1] and rest_a[2:] == rest_b[2:]
    return turned or rest_b in (rest_a[1:], "") or rest_a == rest_b[1:] or rest_a[1:] == rest_b[1:]


def named(
    parts: Sequence[str], names: Mapping[str, Sequence[str]]
) -> list[tuple[int, int, Sequence[str]]]:
    """What words name, longest names first, with their places, in the order of these."""
    taken = [False] * len(parts)
    spans: list[tuple[int, int, Sequence[str]]] = []
    for length in range(min(6, len(parts)), 0, -1):
        for first in range(len(parts) - length + 1):
            end = first + length
            joined = "".join(parts[first:end]).replace(".", "")
            is_plural = joined.endswith("s") and joined[-2:-1].isdigit()
            name = names.get(joined) or (names.get(joined[:-1]) if is_plural else None)
            if name and not any(taken[first:end]):
                taken[first:end] = [True] * length
                spans.append((first, end, name))
    return sorted(spans, key=lambda one: one[0])
