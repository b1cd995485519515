"""How text from data is written into SVG and into Markdown; pages have their own markup on top."""

from __future__ import annotations

import re

# Characters that mean something to HTML or to Markdown; in one pass, so that no entity is escaped
# twice.
_SPECIAL = re.compile(r"[&<>\"'\\`*_{}\[\]()#+!|~$^=]")
_NAMED = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}


def escape(text: object) -> str:
    """Text for HTML or SVG, content or attribute, in which Markdown finds nothing to do either."""
    return _SPECIAL.sub(_entity, str(text))


def _entity(match: re.Match[str]) -> str:
    return _NAMED.get(match[0]) or f"&#{ord(match[0])};"


def inline(text: object) -> str:
    """Text for a Markdown paragraph: nothing in it is markup."""
    return escape(" ".join(str(text).split()))


def slug(text: str) -> str:
    """A heading's or claim's anchor: lower case, hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
