"""What a formula says, in words: the text alternative of its MathML.

Screen readers that know MathML read its tree. WebKit hands them `alttext` as the formula's name, so
it holds words and no LaTeX: "B times D over F", not a backslash and "frac".
"""

from __future__ import annotations

import html
import re
import unicodedata
from xml.etree.ElementTree import Element

_MARKS = {
    "=": "equals",
    "+": "plus",
    "-": "minus",
    "−": "minus",
    "·": "times",
    "×": "times",
    "⋅": "times",
    "/": "over",
    "<": "is less than",
    ">": "is greater than",
    "≤": "is at most",
    "≥": "is at least",
    "≈": "is about",
    "≠": "is not",
    "≪": "is much less than",
    "≫": "is much greater than",
    "∝": "is proportional to",
    "∈": "in",
    "→": "to",
    "∞": "infinity",
    "…": "and so on",
    "⋯": "and so on",
    "∑": "the sum",
    "∏": "the product",
    "|": "bar",
    "(": "open bracket",
    ")": "close bracket",
    "[": "open square bracket",
    "]": "close square bracket",
    "⌈": "ceiling of",
    "⌉": "end ceiling",
    "⌊": "floor of",
    "⌋": "end floor",
    "{": "open brace",
    "}": "close brace",
    "¯": "bar",
    "^": "hat",
    "˙": "dot",
    ",": ",",
    ".": ".",
    ";": ";",
    ":": ":",
    "'": "prime",
    "′": "prime",
    "″": "double prime",
    "%": "percent",
}
_POWERS = {"2": "squared", "3": "cubed", "prime": "prime", "double prime": "double prime"}
_SCRIPTS = ("msub", "munder")
_PLAIN = ("mi", "mn", "mo", "mtext")


def spoken(formula: Element) -> str:
    """A formula in words. Fractions, roots and powers of more than one part say where they end."""
    text = _said(formula)
    for mark in ",.;:":
        text = text.replace(f" {mark}", mark)
    return re.sub(r"(?:, ?){2,}", ", ", " ".join(text.split())).strip(",; ")


def _said(part: Element) -> str:
    kind, inner = part.tag.rpartition("}")[2], list(part)
    if kind in _PLAIN:
        return _word(part.text or "")
    if kind == "mspace":
        return "," if part.get("width", "").startswith(("1", "2")) else ""
    if kind == "mfrac":
        return _fraction(*inner)
    if kind == "msqrt":
        return f"the square root of {_row(inner)}{_end(inner, 'root')}"
    if kind in _SCRIPTS and len(inner) == 2:
        return f"{_said(inner[0])} sub {_said(inner[1])}"
    if kind == "mover" and len(inner) == 2:
        return f"{_said(inner[0])} {_said(inner[1])}"
    if kind == "msup" and len(inner) == 2:
        return f"{_said(inner[0])} {_power(inner[1])}"
    if kind in ("msubsup", "munderover") and len(inner) == 3:
        between = _power(inner[2]) if kind == "msubsup" else f"to {_said(inner[2])}"
        return f"{_said(inner[0])} sub {_said(inner[1])} {between}"
    if kind == "mtr":
        return f" {_row(inner)};"
    return _row(inner)


def _row(parts: list[Element]) -> str:
    """Parts one after the other; a brace before a table opens cases, and needs no word of its own."""
    words: list[str] = []
    for part, after in zip(parts, [*parts[1:], None], strict=True):
        cases = (
            html.unescape(part.text or "") == "{"
            and after is not None
            and after.tag.rpartition("}")[2] == "mtable"
        )
        words.append("either" if cases else _said(part))
    return " ".join(words)


def _fraction(above: Element, below: Element) -> str:
    if _single(above) and _single(below):
        return f"{_said(above)} over {_said(below)}"
    return f"the fraction {_said(above)} over {_said(below)}, end fraction"


def _power(part: Element) -> str:
    text = _said(part).strip()
    return _POWERS.get(text) or f"to the power of {text}{_end([part], 'power')}"


def _end(parts: list[Element], name: str) -> str:
    return "" if len(parts) == 1 and _single(parts[0]) else f", end {name}"


def _single(part: Element) -> bool:
    """Whether nothing of it can be taken for what follows."""
    inner = list(part)
    kind = part.tag.rpartition("}")[2]
    return kind in _PLAIN or (
        kind in ("mrow", "msub") and all(map(_single, inner)) and (len(inner) < 2 or kind == "msub")
    )


def _word(text: str) -> str:
    """A letter of another alphabet by its name, a mark by its word, anything else as it is written."""
    text = " ".join(html.unescape(text).split())
    if text in _MARKS:
        return _MARKS[text]
    if len(text) == 1 and ord(text) > 0x7F:
        plain = unicodedata.normalize("NFKC", text)
        name = unicodedata.name(plain if len(plain) == 1 else text, "").lower()
        letter = name.rpartition(" letter ")[2] or name
        return f"capital {letter}" if "greek capital" in name else letter.removesuffix(" symbol")
    return text
