"""Rules for every text that people contribute, whatever its schema: no markup, nothing hidden."""

from __future__ import annotations

import datetime
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
# signs around numbers of other scripts, annotation anchors and what is drawn as nothing beside
# them, marks of hieroglyphs and of shorthand, beams of music.
_FORMATTING = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2"
    "\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\ufffc"
    "\U000110bd\U000110cd\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
)
# Letters and signs that are drawn as nothing, and spaces that are none of print.
_BLANK = "\u115f\u1160\u1680\u17b4\u17b5\u2800\u3164\uffa0\U00016fe4\U0001d159"
# What says how another character is drawn, or repeats a text for programs alone: variation
# selectors, tags; and what has no meaning that all readers share: private use, noncharacters.
_UNSHARED = (
    "\ufe00-\ufe0f\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff\U000e0000-\U000e0fff\U000f0000-\U0010ffff"
)
# More accents on one letter than any language has run over the lines above and below.
_ACCENTS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0e31-\u0e3a\u0e47-\u0e4e"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)
_HIDDEN = f"[{_FORMATTING}{_BLANK}{_UNSHARED}]|[{_ACCENTS}]{{4}}"
# Letters that are drawn as Latin ones: Greek and Cyrillic, Armenian, Cherokee, Lisu. They are words
# of their own, unlike those of numerals, of full width and of mathematics, which no text needs.
_ALIKE = (
    "\u0391-\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf\u03bd"
    "\u0400-\u052f\u0531-\u0587\u13a0-\u13ff\uab70-\uabbf\ua4d0-\ua4ff"
)
_STYLED = "\u2160-\u217f\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d7ff"
# From the last letter of one script to the first of the other: a text is read once, however long
# its words are.
_MIXED = f"[A-Za-z][0-9-]*+[{_ALIKE}]|[{_ALIKE}][0-9-]*+[A-Za-z]|[{_STYLED}]"
# Names of things: pages have a place for one line of text there.
_NAMES = ("name", "family", "title", "developer", "country", "term")


def text_problems(node: Node, file: str) -> Iterator[Problem]:
    """Rules for contributed text: no markup, nothing hidden, short quotes, sane dates."""
    for key, child in _texts(node):
        text = child.value
        if key == "quote" or _may_hold_markup(text) or not text.strip():
            yield from _text_rules(key, text, child, file)
        if key == "as_of" and text < "2000" and is_date(text):
            expected = "the date of reading"
            yield Problem(file, child.line, child.column, "date", text, expected, "mend the year")


def _texts(node: Node) -> list[tuple[str, Node]]:
    """All texts of a document with their key, and dates as text; those of a list have none.

    Names of values are texts too, where a schema lets people choose them: those that it knows are
    the same in each mapping and come once.
    """
    texts: list[tuple[str, Node]] = []
    names: set[str] = set()

    def walk(key: str, node: Node) -> None:
        value = node.value
        if isinstance(value, str):
            texts.append((key, node))
        elif isinstance(value, dict):
            for name, child in value.items():
                if name not in names:
                    names.add(name)
                    texts.append(("", _name_of(child, name, node)))
                walk(name, child)
        elif isinstance(value, list):
            for child in value:
                walk("", child)
        elif isinstance(value, datetime.date):
            texts.append((key, Node(value.isoformat(), node.line, node.column)))

    walk("", node)
    return texts


def _name_of(child: Node, name: str, mapping: Node) -> Node:
    """The name of a value as a text at its own place."""
    return Node(name, *(mapping.key_marks or {}).get(name, (child.line, child.column)))


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
    if disguised := disguised_word(text):
        yield Problem(*place, "letters", disguised, "letters of one script", "retype the word")
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
    if text.isascii() and text.replace("\n", "").isprintable():
        return ""
    match = re.search(_HIDDEN, text)
    if match is None:
        return ""
    return f"the hidden character U+{ord(match[0][0]):04X}"


def disguised_word(text: str) -> str:
    """The first word that mixes Latin letters with others that look like them; empty without one.

    Such a word reads as a name that it is not, and nobody finds it by typing.
    """
    if text.isascii():
        return ""
    match = re.search(_MIXED, text)
    if match is None:
        return ""
    letter = next(letter for letter in match[0] if not letter.isascii())
    return f"U+{ord(letter):04X} among the letters of '{shorten(_word_around(text, match), 30)}'"


def _word_around(text: str, match: re.Match[str]) -> str:
    before = re.search(r"\S*$", text[: match.start()])
    behind = re.match(r"\S*", text[match.end() :])
    return f"{before[0] if before else ''}{match[0]}{behind[0] if behind else ''}"
