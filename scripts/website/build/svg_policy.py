"""What a drawing of the site may hold, read as browsers read it: as XML.

A browser that opens a drawing by its own address obeys no policy of a page. So a drawing is parsed
with its namespaces and whatever a document type adds: `<x:script>` is a script in it, and so is one
that an entity stands for.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

_UTF_8 = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*<(?!\?xml)|<\?xml\b(?![^>]*encoding=[\"'](?!utf-8))", re.I
)
_DECLARED = re.compile(rb"<!(?:ENTITY|ATTLIST|ELEMENT|NOTATION)|<\?(?!xml\s)", re.IGNORECASE)
_NAMESPACES = (
    "http://www.w3.org/2000/svg",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "http://creativecommons.org/ns#",
    "http://purl.org/dc/elements/1.1/",
)
_REFUSED = (
    *("script", "foreignobject", "set", "animate", "animatetransform", "animatemotion"),
    *("handler", "listener", "iframe", "embed", "object", "audio", "video", "feimage"),
)
# Another file than the drawing itself, in a style or in the value of an attribute.
_REACHING = re.compile(r"url\s*\((?!\s*[\"']?#)|@import|image-set|expression|\\", re.IGNORECASE)
_LINK = re.compile(r"(?:https?://|\.{0,2}/|#|data:image/(?:png|jpeg|webp);)", re.IGNORECASE)


def drawing_problems(content: bytes, name: str) -> Iterator[str]:
    """Each thing in an SVG file that would run, or ask for another file."""
    if b"\0" in content or not _UTF_8.match(content):
        yield f"{name}: a drawing that is not in UTF-8"
        return
    if declared := _DECLARED.search(content):
        yield f"{name}: a drawing declares {declared[0].decode()}"
        return
    try:
        tree = ET.fromstring(content)
    except (ET.ParseError, ValueError, LookupError) as error:
        yield f"{name}: a drawing that is no XML: {error}"
        return
    for element in tree.iter():
        for fault in _faults(element):
            yield f"{name}: {fault}"


def _faults(element: ET.Element) -> Iterator[str]:
    namespace, _, local = str(element.tag).rpartition("}")
    if namespace.removeprefix("{") not in _NAMESPACES:
        yield f"<{local}> is no element of a drawing"
    if local.lower() in _REFUSED:
        yield f"<{local}> may not stand in a drawing"
    if local.lower() == "style" and (reaching := _REACHING.search(element.text or "")):
        yield f"a style with {reaching[0]!r}"
    for key, value in element.attrib.items():
        yield from _attribute_faults(local, key.rpartition("}")[2].lower(), value)


def _attribute_faults(element: str, name: str, value: str) -> Iterator[str]:
    if name.startswith("on"):
        yield f"<{element}> has the handler {name}"
    if name in ("href", "src") and not _may_lead(element, value):
        yield f"<{element}> leads to {value[:40]!r}"
    elif reaching := _REACHING.search(value):
        yield f"<{element}> reads {reaching[0]!r} in {name}"


def _may_lead(element: str, address: str) -> bool:
    """Readers may follow a link anywhere on the web; what is drawn is in the drawing."""
    plain = re.sub(r"[\x00-\x20]", "", address)
    if element == "a":
        return bool(_LINK.match(plain)) or ":" not in plain
    return plain.startswith("#") or plain.lower().startswith("data:image/png;")
