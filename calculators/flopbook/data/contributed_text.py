"""Rules for every text that people contribute, whatever its schema: no markup, nothing hidden."""

from __future__ import annotations

import re
from collections.abc import Iterator

from flopbook.data.schema_words import is_date
from flopbook.data.yaml_text import Node
from flopbook.errors import Problem, shorten

MAX_QUOTE_WORDS = 25  # a quotation stays short; longer evidence is a locator
# Patterns of texts are compiled when the first text is suspicious: most commands meet none.
_MARKUP = r"(?i:<[a-z/!?\\]|\{[{%#]|&#|(?:javascript|vbscript):|data:(?:text|image))"
# No markup is without one of these: most texts are never searched.
_MARKS = ("<", "{", "&#", "script:", "data:")
_PROSE = ("intro",)  # texts with expressions over the data, which pages fill in
# Control and formatting characters, less tab and newline: C0 and C1, zero-width space, marks and
# overrides of the reading direction, separators of lines, byte order mark, annotation anchors.
_HIDDEN = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)


def text_problems(node: Node, file: str) -> Iterator[Problem]:
    """Rules for contributed text: no markup, nothing hidden, short quotes, sane dates."""
    for key, child in _scalars(node):
        text = child.value
        if isinstance(text, str) and (key == "quote" or _may_hold_markup(text)):
            yield from _text_rules(key, text, child, file)
        if key == "as_of" and is_date(day := str(text)) and day < "2000":
            expected = "the date of reading"
            yield Problem(file, child.line, child.column, "date", day, expected, "mend the year")


def _scalars(node: Node) -> list[tuple[str, Node]]:
    """All values of a document that hold no others, with their key; those of a list have none."""
    found: list[tuple[str, Node]] = []

    def walk(key: str, node: Node) -> None:
        value = node.value
        if isinstance(value, dict):
            for name, child in value.items():
                walk(name, child)
        elif isinstance(value, list):
            for child in value:
                walk("", child)
        else:
            found.append((key, node))

    walk("", node)
    return found


def _may_hold_markup(text: str) -> bool:
    """Whether a text has anything that the rules look for; nearly all have none of it."""
    is_plain = text.isascii() and text.isprintable()
    return not is_plain or "<" in text or "{" in text or ":" in text or "&#" in text


def _text_rules(key: str, text: str, node: Node, file: str) -> Iterator[Problem]:
    place = (file, node.line, node.column)
    if markup := _markup_in(key, text):
        yield Problem(*place, "markup", f"'{markup}'", "plain text", "remove the markup")
    if hidden := hidden_character(text):
        yield Problem(*place, "control-character", hidden, "printable text", "retype the line")
    words = len(text.split())
    if key == "quote" and words > MAX_QUOTE_WORDS:
        expected = f"at most {MAX_QUOTE_WORDS}"
        advice = "shorten the quote or use a locator"
        yield Problem(*place, "quote-length", f"{words} words", expected, advice)


def _markup_in(key: str, text: str) -> str:
    """The first markup of a text and what follows it; empty where there is none."""
    lower = text.lower()
    if not any(mark in lower for mark in _MARKS):
        return ""
    if key in _PROSE:
        text = text.replace("{{", "")
    match = re.search(_MARKUP, text)
    if match is None:
        return ""
    return shorten(text[match.start() :], 30)


def hidden_character(text: str) -> str:
    """The first character that drives a terminal or turns the reading direction, by number."""
    if text.isascii() and text.isprintable():
        return ""
    match = re.search(_HIDDEN, text)
    if match is None:
        return ""
    return f"the hidden character U+{ord(match[0]):04X}"
