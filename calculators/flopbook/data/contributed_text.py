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
# Control and formatting characters, less tab and newline: C0 and C1, soft hyphen, joiners, spaces
# of no width, marks and overrides of the reading direction, separators of lines, byte order mark,
# annotation anchors, beams of music.
_FORMATTING = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\ufffb\U0001d173-\U0001d17a"
)
# Letters and signs that are drawn as nothing.
_BLANK = "\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
# What says how another character is drawn, or repeats a text for programs alone: variation
# selectors, tags; and what has no meaning that all readers share: private use, noncharacters.
_UNSHARED = (
    "\ufe00-\ufe0f\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff\U000e0000-\U000e0fff\U000f0000-\U0010ffff"
)
# More accents on one letter than any language has run over the lines above and below.
_HIDDEN = f"[{_FORMATTING}{_BLANK}{_UNSHARED}]|[\u0300-\u036f]{{4}}"
# Names of things: pages have a place for one line of text there.
_NAMES = ("name", "family", "title", "developer", "country", "term")


def text_problems(node: Node, file: str) -> Iterator[Problem]:
    """Rules for contributed text: no markup, nothing hidden, short quotes, sane dates."""
    for key, child in _scalars(node):
        text = child.value
        is_suspicious = isinstance(text, str) and (_may_hold_markup(text) or not text.strip())
        if is_suspicious or (key == "quote" and isinstance(text, str)):
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
    if key in _NAMES and not _is_one_line(text):
        expected = "one line of text"
        yield Problem(
            *place, "text", f"{key} {shorten(repr(text), 40)}", expected, "write the name"
        )
    words = len(text.split())
    if key == "quote" and words > MAX_QUOTE_WORDS:
        expected = f"at most {MAX_QUOTE_WORDS}"
        advice = "shorten the quote or use a locator"
        yield Problem(*place, "quote-length", f"{words} words", expected, advice)


def _is_one_line(text: str) -> bool:
    """Whether a text has something to read, and all of it on one line."""
    return bool(text.strip()) and len(text.splitlines()) == 1


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
    return f"the hidden character U+{ord(match[0][0]):04X}"
