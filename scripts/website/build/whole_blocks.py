"""Blocks of HTML that Markdown need not read: they are taken out before it and put back after.

Tables and drawings are most of a page. Markdown parses each tag of theirs in Python, only to leave
all as it was: a fifth of the time of the site generator.
"""

from __future__ import annotations

import re

from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor

_BEGIN = ("<article", "<details", "<div", "<figure")
# A block that leaves one of these open goes on after a blank line.
_CLOSED = ("article", "details", "div", "figure", "ol", "p", "pre", "section", "table", "ul")
_TAG = re.compile(rf"<(/?)({'|'.join(_CLOSED)})\b")
# Headings belong into the table of contents, which Markdown makes of what it has read.
_HEADING = re.compile(r"<h[1-6]\b")
# Behind fenced code, which may show HTML, and before Markdown's own reader of HTML.
_TURN = 22


class WholeBlocks(Extension):
    """Keeps each block of HTML as it is that begins and ends between two blank lines."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Markdown calls this once."""
        md.preprocessors.register(_Keeper(md), "whole-blocks", _TURN)


def makeExtension() -> WholeBlocks:
    """Markdown asks a module that is named as an extension for this."""
    return WholeBlocks()  # type: ignore[no-untyped-call]


class _Keeper(Preprocessor):
    md: Markdown

    def run(self, lines: list[str]) -> list[str]:
        blocks = "\n".join(lines).split("\n\n")
        return "\n\n".join(map(self._kept, blocks)).split("\n")

    def _kept(self, block: str) -> str:
        if not is_whole(block):
            return block
        return self.md.htmlStash.store(block)


def is_whole(block: str) -> bool:
    """Whether a text without blank lines is HTML that nothing after it belongs to."""
    if not block.startswith(_BEGIN) or not block.endswith(">") or _HEADING.search(block):
        return False
    open_tags: list[str] = []
    for closes, tag in _TAG.findall(block):
        if not closes:
            open_tags.append(tag)
        elif not open_tags or open_tags.pop() != tag:
            return False
    return not open_tags
