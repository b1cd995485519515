"""The writer of Atom feeds; links are relative to the feed, so that it may be moved."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple
from xml.etree import ElementTree

NAMESPACE = "http://www.w3.org/2005/Atom"
# The time of a feed without items: Atom wants one.
NEVER = "1970-01-01T00:00:00+00:00"
# Characters that XML 1.0 cannot hold, whoever wrote them.
_UNHOLDABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Item(NamedTuple):
    """An entry of a feed.

    `when` is ISO 8601 with its offset; `id` never changes, whatever else does.
    """

    title: str
    id: str
    when: str
    href: str
    content: str


def atom(title: str, name: str, file: str, items: Iterable[Item]) -> str:
    """A feed of items, newest first.

    `name` is what its id ends with, `file` the name of the file itself.
    """
    listed = list(items)
    ElementTree.register_namespace("", NAMESPACE)
    feed = ElementTree.Element(f"{{{NAMESPACE}}}feed")
    _add(feed, "title", title)
    _add(feed, "id", f"urn:flopbook:{name}")
    _add(feed, "updated", max((news.when for news in listed), default=NEVER))
    _add(_add(feed, "author"), "name", "The flopbook contributors")
    _add(feed, "link", rel="self", href=file)
    for news in listed:
        entry = _add(feed, "entry")
        _add(entry, "title", news.title)
        _add(entry, "id", f"urn:flopbook:{news.id}")
        _add(entry, "updated", news.when)
        _add(entry, "link", rel="alternate", href=news.href)
        _add(entry, "content", news.content, type="text")
    ElementTree.indent(feed, " ")
    text = ElementTree.tostring(feed, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _add(
    parent: ElementTree.Element, tag: str, text: str = "", **attributes: str
) -> ElementTree.Element:
    child = ElementTree.SubElement(parent, f"{{{NAMESPACE}}}{tag}", attributes)
    child.text = _UNHOLDABLE.sub("\ufffd", text) or None
    return child
