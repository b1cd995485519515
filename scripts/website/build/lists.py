"""Numbered lists that go on counting where their source does."""

from __future__ import annotations

from markdown import Markdown
from markdown.extensions import Extension


class NumberedLists(Extension):  # type: ignore[misc]  # Markdown has no types
    """Keeps the first number of a list, which Python-Markdown drops unless it is told to.

    An algorithm whose second half follows a heading begins there with step 5, and the text speaks
    of step 7.
    """

    def extendMarkdown(self, md: Markdown) -> None:
        """Markdown calls this once for each page."""
        md.parser.blockprocessors["olist"].LAZY_OL = False
