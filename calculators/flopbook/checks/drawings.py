"""What a drawing of the site may hold, read as browsers read it: as XML.

A browser that opens a drawing by its own address obeys no policy of a page. So a drawing is parsed
with its namespaces and whatever a document type adds: `<x:script>` is a script in it, and so is one
that an entity stands for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from xml.parsers import expat

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
    """Each thing in an SVG file that would run, or ask for another file, with its line."""
    return (f"{name}:{line}: {fault}" for line, fault in drawing_faults(content))


def drawing_faults(content: bytes) -> list[tuple[int, str]]:
    """Line and words for each thing in a drawing that would run, or ask for another file."""
    if b"\0" in content or not _UTF_8.match(content):
        return [(1, "a drawing that is not in UTF-8")]
    if declared := _DECLARED.search(content):
        line = content.count(b"\n", 0, declared.start()) + 1
        return [(line, f"a drawing declares {declared[0].decode()}")]
    return _ElementWalk().faults_of(content)


class _ElementWalk:
    """Goes through a drawing once, element by element, which takes no memory for its depth."""

    def __init__(self) -> None:
        self._parser = expat.ParserCreate(namespace_separator="}")
        self._parser.StartElementHandler = self._begin
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._read
        self._parser.SkippedEntityHandler = self._skip
        self._faults: list[tuple[int, str]] = []
        self._style: list[str] | None = None  # the text of a style that has begun

    def faults_of(self, content: bytes) -> list[tuple[int, str]]:
        """What is wrong with the whole of it."""
        try:
            self._parser.Parse(content, True)
        except (expat.ExpatError, ValueError, LookupError) as error:
            line = self._parser.CurrentLineNumber
            return [*self._faults, (line, f"a drawing that is no XML: {error}")]
        return self._faults

    def _add(self, faults: Iterable[str]) -> None:
        self._faults += ((self._parser.CurrentLineNumber, fault) for fault in faults)

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        self._add(_element_faults(tag, attributes))
        if _local(tag).lower() == "style":
            self._style = []

    def _read(self, text: str) -> None:
        if self._style is not None:
            self._style.append(text)

    def _end(self, tag: str) -> None:
        if _local(tag).lower() == "style":
            reaching = _REACHING.search("".join(self._style or ()))
            self._add([f"a style with {reaching[0]!r}"] if reaching else ())
            self._style = None

    def _skip(self, name: str, _is_parameter: int) -> None:
        self._add([f"an entity {name} that is not declared"])


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _element_faults(tag: str, attributes: dict[str, str]) -> Iterator[str]:
    local = _local(tag)
    if tag.rpartition("}")[0] not in _NAMESPACES:
        yield f"<{local}> is no element of a drawing"
    if local.lower() in _REFUSED:
        yield f"<{local}> may not stand in a drawing"
    for key, value in attributes.items():
        yield from _attribute_faults(local, _local(key).lower(), value)


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
