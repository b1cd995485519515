"""What a formula says, in words: the text alternative of its MathML.

Screen readers that know MathML read its tree. WebKit hands them `alttext` as the formula's name, so
it holds words and no LaTeX: "B times D over F", not a backslash and "frac".
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from itertools import zip_longest
from xml.etree.ElementTree import Element

_RELATIONS = {
    "=": "equals",
    "≠": "is not",
    "<": "is less than",
    ">": "is greater than",
    "≤": "is at most",
    "≥": "is at least",
    "≪": "is much less than",
    "≫": "is much greater than",
    "≈": "is about",
    "∝": "is proportional to",
    "∈": "in",
    "→": "to",
}
_OPERATORS = {
    "+": "plus",
    "-": "minus",
    "−": "minus",
    "·": "times",
    "×": "times",
    "⋅": "times",
    "/": "over",
    "∑": "the sum",
    "∏": "the product",
    "%": "percent",
}
_BRACKETS = {
    "(": "open bracket",
    ")": "close bracket",
    "[": "open square bracket",
    "]": "close square bracket",
    "{": "open brace",
    "}": "close brace",
    "⌈": "ceiling of",
    "⌉": "end ceiling",
    "⌊": "floor of",
    "⌋": "end floor",
    "|": "bar",
}
_ACCENTS = {"¯": "bar", "^": "hat", "˙": "dot", "'": "prime", "′": "prime", "″": "double prime"}
_SYMBOLS = {"∞": "infinity", "…": "and so on", "⋯": "and so on"}
_PUNCTUATION = ",.;:"
_MARKS = {
    **_RELATIONS,
    **_OPERATORS,
    **_BRACKETS,
    **_ACCENTS,
    **_SYMBOLS,
    **dict(zip(_PUNCTUATION, _PUNCTUATION, strict=True)),
}
_POWERS = {
    "2": "squared",
    "3": "cubed",
    "prime": "prime",
    "double prime": "double prime",
    "down tack": "transposed",
}
_TOKENS = ("mi", "mn", "mo", "mtext")
_LAST_ASCII = 0x7F
_PAUSES = re.compile(r"(?:, ?){2,}")


def spoken(formula: Element) -> str:
    """A formula in words. Fractions, roots and powers of several terms say where they end."""
    text = _spoken(formula)
    for mark in _PUNCTUATION:
        text = text.replace(f" {mark}", mark)
    return _PAUSES.sub(", ", " ".join(text.split())).strip(",; ")


def _kind(element: Element) -> str:
    """The name of an element without its namespace."""
    return element.tag.rpartition("}")[2]


def _spoken(element: Element) -> str:
    children = list(element)
    match _kind(element):
        case "mi" | "mn" | "mo" | "mtext":
            return _word(element.text or "")
        case "mspace":
            # a space of an em or more parts two statements
            return "," if element.get("width", "").startswith(("1", "2")) else ""
        case "mfrac":
            return _fraction(*children)
        case "msqrt":
            return f"the square root of {_row(children)}{_end(children, 'root')}"
        case "mtr":
            return f" {_row(children)};"
    return _scripted(element)


def _scripted(element: Element) -> str:
    """A base with what is written below, above and beside it; any other element as a row."""
    children = list(element)
    match _kind(element), len(children):
        case "msub" | "munder", 2:
            return f"{_spoken(children[0])} sub {_spoken(children[1])}"
        case "mover", 2:
            return f"{_spoken(children[0])} {_spoken(children[1])}"
        case "msup", 2:
            return f"{_spoken(children[0])} {_power(children[1])}"
        case "msubsup", 3:
            return _with_limits(children, _power(children[2]))
        case "munderover", 3:
            return _with_limits(children, f"to {_spoken(children[2])}")
    return _row(children)


def _with_limits(children: Sequence[Element], upper: str) -> str:
    """A base with what is written below it and, in words already, above."""
    return f"{_spoken(children[0])} sub {_spoken(children[1])} {upper}"


def _row(elements: Sequence[Element]) -> str:
    """Elements one after the other; a brace before a table opens cases and needs no word."""
    words: list[str] = []
    for element, following in zip_longest(elements, elements[1:]):
        if element is None:
            break
        is_brace = html.unescape(element.text or "") == "{"
        opens_cases = is_brace and following is not None and _kind(following) == "mtable"
        words.append("either" if opens_cases else _spoken(element))
    return " ".join(words)


def _fraction(above: Element, below: Element) -> str:
    if _is_single(above) and _is_single(below):
        return f"{_spoken(above)} over {_spoken(below)}"
    return f"the fraction {_spoken(above)} over {_spoken(below)}, end fraction"


def _power(exponent: Element) -> str:
    text = _spoken(exponent).strip()
    return _POWERS.get(text) or f"to the power of {text}{_end([exponent], 'power')}"


def _end(elements: Sequence[Element], name: str) -> str:
    """The words that end a root or a power; none after a single letter or number."""
    return "" if len(elements) == 1 and _is_single(elements[0]) else f", end {name}"


def _is_single(element: Element) -> bool:
    """Whether nothing of it can be taken for what follows."""
    kind, children = _kind(element), list(element)
    if kind in _TOKENS:
        return True
    if kind == "mrow" and len(children) > 1:
        return False
    return kind in ("mrow", "msub") and all(map(_is_single, children))


def _word(text: str) -> str:
    """A letter of another alphabet by its name, a mark by its word, anything else as written."""
    text = " ".join(html.unescape(text).split())
    if text in _MARKS:
        return _MARKS[text]
    if len(text) == 1 and ord(text) > _LAST_ASCII:
        return _letter(text)
    return text


def _letter(character: str) -> str:
    """`alpha` or `capital alpha`, from the name that Unicode has for a character."""
    # letters of mathematical alphabets have a plain form
    plain = unicodedata.normalize("NFKC", character)
    name = unicodedata.name(plain if len(plain) == 1 else character, "").lower()
    letter = name.rpartition(" letter ")[2] or name
    return f"capital {letter}" if "greek capital" in name else letter.removesuffix(" symbol")
