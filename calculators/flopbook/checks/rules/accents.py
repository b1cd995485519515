"""What is written in LaTeX decodes: no command and no brace is left in the text that pages show."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any

from flopbook.checks.rules.base import Data, Finding, at_reference
from flopbook.data.bibtex_text import read_entry
from flopbook.data.library import references
from flopbook.errors import shorten

NAME = "latex"
SAID = ("text that decodes, such as {\\'e} or é", "mend the accent or the command")
_MATHS = re.compile(r"(?<!\\)\$.*?(?<!\\)\$|\\\(.*?\\\)")
_LEFT = re.compile(
    r"\\[A-Za-z]*|[{}]|[\u0300-\u036f]|\ufffd|(?<!\w)[`^~](?=\w)|\u00c3[\u0080-\u00bf]"
)


def check(data: Data) -> Iterator[Finding]:
    """Text that still has LaTeX, a loose accent, or a letter that was decoded with the wrong table."""
    for item in references().values():
        texts = {name: getattr(item, name) for name in ("title", "venue", "note", "annote")}
        texts["author"] = ", ".join(person.full for person in item.people)
        raw = read_entry(item.bibtex)
        left = [(name, _LEFT.search(_MATHS.sub("", text))) for name, text in texts.items()]
        left += [
            (name, _unknown(text))
            for name, text in (raw.texts if raw else {}).items()
            if "\\" in text
        ]
        for name, what in left:
            if what:
                found = f"{shorten(ascii(what[0]), 20)} in {name} of {item.key}"
                yield at_reference(NAME, item, found, SAID)


def _unknown(text: str) -> re.Match[str] | None:
    """The first command that the decoder would drop without a word."""
    macros = _macros()
    commands = re.finditer(r"\\([A-Za-z]+|.)", _MATHS.sub("", text))
    return next((found for found in commands if macros.get_macro_spec(found[1]) is None), None)


@functools.cache
def _macros() -> Any:
    from pylatexenc.latex2text import get_default_latex_context_db

    return get_default_latex_context_db()
