"""What must hold of an ePub: well-formed files, a complete manifest, links that lead somewhere."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Iterator
from urllib.parse import unquote
from xml.etree import ElementTree

from scripts.website.book.epub import FOLDER, MIMETYPE

_OPF = "{http://www.idpf.org/2007/opf}"
_SPACES = {"math": "http://www.w3.org/1998/Math/MathML", "svg": "http://www.w3.org/2000/svg"}
_LOADS = ("img", "image", "link", "script", "iframe", "audio", "video", "source", "object", "use")


def problems(content: bytes) -> list[str]:
    """Everything that is wrong with an ePub, one line each."""
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        first = packed.infolist()[0]
        files = {name: packed.read(name) for name in packed.namelist()}
    found = []
    if first.filename != "mimetype" or first.compress_type != zipfile.ZIP_STORED or first.extra:
        found.append("mimetype: expected as the first file, not compressed")
    if files.get("mimetype") != MIMETYPE.encode():
        found.append(f"mimetype: expected {MIMETYPE}")
    trees: dict[str, ElementTree.Element] = {}
    for name in sorted(files):
        if name.endswith((".xhtml", ".opf", ".ncx", ".xml")):
            try:
                trees[name] = ElementTree.fromstring(files[name])
            except ElementTree.ParseError as error:
                found.append(f"{name}: {error}")
    return [*found, *_spaces(trees), *_manifest(trees, set(files)), *_links(trees, set(files))]


def _spaces(trees: dict[str, ElementTree.Element]) -> Iterator[str]:
    """In XML a name alone is unknown: formulas and pictures say their namespace."""
    for name, tree in trees.items():
        for element in tree.iter():
            space, _, kind = element.tag.lstrip("{").rpartition("}")
            if space != _SPACES.get(kind, space):
                yield f"{name}: {kind} in the namespace {space}"


def _manifest(trees: dict[str, ElementTree.Element], files: set[str]) -> Iterator[str]:
    """The manifest lists every file once, and the spine every page."""
    package = trees.get(f"{FOLDER}/package.opf")
    if package is None:
        yield "package.opf: missing"
        return
    items = {item.get("id"): item.get("href", "") for item in package.iter(f"{_OPF}item")}
    listed = [f"{FOLDER}/{href}" for href in items.values()]
    wanted = {name for name in files if name.startswith(f"{FOLDER}/") and not name.endswith(".opf")}
    yield from (f"manifest: {name} is not listed" for name in sorted(wanted - set(listed)))
    yield from (f"manifest: {name} is not there" for name in sorted(set(listed) - files))
    yield from (
        f"manifest: {name} stands twice" for name in sorted(set(listed)) if listed.count(name) > 1
    )
    spine = [item.get("idref") for item in package.iter(f"{_OPF}itemref")]
    yield from (f"spine: {name} is not in the manifest" for name in spine if name not in items)
    pages = {name for name, href in items.items() if href.endswith(".xhtml")}
    yield from (f"spine: {name} is left out" for name in sorted(pages - set(spine), key=str))


def _links(trees: dict[str, ElementTree.Element], files: set[str]) -> Iterator[str]:
    """Links lead to a file of the book and an id in it; nothing is loaded from elsewhere."""
    ids = {
        name: [one.get("id") for one in tree.iter() if one.get("id")]
        for name, tree in trees.items()
    }
    for name, tree in trees.items():
        yield from (
            f"{name}: the id {one} stands twice"
            for one in set(ids[name])
            if ids[name].count(one) > 1
        )
        if not name.endswith((".xhtml", ".ncx")):
            continue
        for element in tree.iter():
            for attribute in ("href", "src", "{http://www.w3.org/1999/xlink}href"):
                if fault := _fault(element, element.get(attribute), name, ids, files):
                    yield f"{name}: {element.get(attribute)}: {fault}"


def _fault(
    element: ElementTree.Element,
    href: str | None,
    page: str,
    ids: dict[str, list[str | None]],
    files: set[str],
) -> str:
    if href is None:
        return ""
    if re.match(r"[a-z][a-z0-9+.-]*:|//", href, re.IGNORECASE):
        return "loaded from elsewhere" if element.tag.rpartition("}")[2] in _LOADS else ""
    path, _, anchor = href.partition("#")
    target = (
        posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(path))) if path else page
    )
    if target not in files:
        return "no such file"
    return (
        f"no element with this id in {target}"
        if anchor and unquote(anchor) not in ids.get(target, [])
        else ""
    )
