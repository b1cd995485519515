"""What messages say of a schema: what a keyword expects, what a value is, what it may have meant.

Every keyword that the published schemas may use is here, so that none is without its message.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from flopbook.errors import shorten


def nearest(word: object, choices: Iterable[object]) -> str:
    """The choice that is spelt most like a word; empty for no word, or nothing like it."""
    import difflib  # only a message needs it

    if not isinstance(word, str):
        return ""
    words = {choice.lower(): choice for choice in choices if isinstance(choice, str)}
    close = difflib.get_close_matches(word.lower(), words, n=1)
    return words[close[0]] if close else ""


_NUMBER = re.compile(r"[-+]?\d*\.?\d+(e[-+]?\d+)?", re.IGNORECASE)


def described_value(value: object) -> str:
    """A value as a message names it: text in quotes, the rest by its kind."""
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    # A number in quotes looks like a number in the message, too.
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return f"the text '{shorten(value)}'"
    return f"'{shorten(value)}'"


_TYPE_WORDS = {
    "object": "a mapping",
    "array": "a list",
    "string": "text",
    "integer": "a whole number",
}


def _type_words(names: str | Sequence[str]) -> str:
    if isinstance(names, str):
        names = [names]
    return " or ".join(_TYPE_WORDS.get(name, f"a {name}") for name in names)


def is_date(text: str) -> bool:
    """True for a day of the calendar written YYYY-MM-DD."""
    try:
        return len(text) == 10 and datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _is_web_address(text: str) -> bool:
    return bool(re.fullmatch(r"https?://[A-Za-z0-9.-]+(:[0-9]+)?(/[^\s<>\"'`\\]*)?", text))


# Format -> its test, and what a message calls it. Stricter than the standard's: `uri` is what a
# browser may open, never javascript: or ftp:.
FORMATS: Mapping[str, tuple[Callable[[str], bool], str]] = {
    "date": (is_date, "a date as YYYY-MM-DD"),
    "uri": (_is_web_address, "an http or https address"),
}

# Keyword -> what was expected, from its argument.
EXPECTED: Mapping[str, Callable[[Any], str]] = {
    "type": _type_words,
    "enum": lambda choices: f"one of {', '.join(map(str, choices))}",
    "const": "'{}'".format,
    "pattern": "text like {}".format,
    "format": lambda name: FORMATS[name][1],
    "minLength": "at least {} characters".format,
    "maxLength": "at most {} characters".format,
    "minimum": "at least {}".format,
    "maximum": "at most {}".format,
    "exclusiveMinimum": "more than {}".format,
    "minItems": "at least {} of them".format,
    "maxItems": "at most {} of them".format,
    "uniqueItems": lambda _: "each of them once",
    "not": lambda _: "something else",
}
# Keyword -> the name of the broken rule in a message, where the keyword says too little.
RULE_NAMES = {"not": "not-allowed"}
# Keywords that hold for no value by themselves: notes, and what leads to the rules inside.
_NOTES = ("$schema", "$id", "$defs", "$ref", "title", "description", "examples")
_STRUCTURE = (
    *("properties", "required", "additionalProperties", "items"),
    *("allOf", "anyOf", "if", "then", "else"),
)
KEYWORDS = frozenset((*_NOTES, *_STRUCTURE, *EXPECTED))
