"""The sections of a page for the search: each heading with an address, and the words below it.

The theme's plugin parses every table and drawing of every page, a fifth of the generator's time, of
which we then drop nearly all. The pages are made by us and by Markdown, so two patterns are enough.
"""

from __future__ import annotations

import html
import re
from typing import NamedTuple

_HEADING = re.compile(r'<h([1-6])\b[^>]*?\bid="([^"]*)"[^>]*>(.*?)</h\1>', re.DOTALL)
# Code is alike on many pages, and what it does is said in words beside it.
_UNREAD = re.compile(r"<(script|style|object|pre)\b.*?</\1>|<!--.*?-->", re.DOTALL)
_PERMALINK = re.compile(r'<a class="headerlink".*?</a>', re.DOTALL)
# Elements inside a word or a formula; at every other one a word ends.
_INLINE = re.compile(
    r"</?(?:a|abbr|b|code|em|i|kbd|mark|math|m[inos]|mover|mrow|mspace|mstyle|msub|msubsup|msup|mtext"
    r"|munder|munderover|semantics|small|span|strong|sub|sup)\b[^>]*>"
)
_TAG = re.compile(r"<[^>]*>")


class Section(NamedTuple):
    """A part of a page: the anchor of its heading, the heading and the words, as escaped text."""

    anchor: str
    title: str
    text: str


_NOTHING = Section("", "", "")


def sections(content: str) -> list[Section]:
    """The sections of a page's HTML in order.

    What stands before the first heading, and below one that opens the page, is the page itself:
    its anchor is empty, and so is its title where there is no heading.
    """
    readable = _UNREAD.sub(" ", content)
    found: list[Section] = []
    anchor, title, begin = "", "", 0
    for heading in _HEADING.finditer(readable):
        above = Section(anchor, title, _words(readable[begin : heading.start()]))
        if above != _NOTHING:
            found.append(above)
        anchor = heading[2] if found else ""
        title, begin = _words(_PERMALINK.sub("", heading[3])), heading.end()
    return [*found, Section(anchor, title, _words(readable[begin:]))]


def _words(markup: str) -> str:
    """The text of markup with one blank between words, escaped where text must be and no more."""
    plain = html.unescape(_TAG.sub(" ", _INLINE.sub("", markup)))
    return html.escape(" ".join(plain.split()), quote=False)
