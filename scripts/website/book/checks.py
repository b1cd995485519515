"""What must hold of an ePub: well-formed files, a complete manifest, links that lead somewhere."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import unquote
from xml.etree import ElementTree

from scripts.website.book.epub import FOLDER, MIMETYPE

_OPF = "{http://www.idpf.org/2007/opf}"
_SPACES = {"math": "http://www.w3.org/1998/Math/MathML", "svg": "http://www.w3.org/2000/svg"}
_ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
_LINKED = ("href", "src", "{http://www.w3.org/1999/xlink}href")
_LOADS = ("img", "image", "link", "script", "iframe", "audio", "video", "source", "object", "use")


def problems(content: bytes) -> list[str]:
    """Everything that is wrong with an ePub, one line each."""
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        first = packed.infolist()[0]
        files = {name: packed.read(name) for name in packed.namelist()}
    faults = []
    if first.filename != "mimetype" or first.compress_type != zipfile.ZIP_STORED or first.extra:
        faults.append("mimetype: expected as the first file, not compressed")
    if files.get("mimetype") != MIMETYPE.encode():
        faults.append(f"mimetype: expected {MIMETYPE}")
    trees: dict[str, ElementTree.Element] = {}
    for name in sorted(files):
        if name.endswith((".xhtml", ".opf", ".ncx", ".xml")):
            try:
                trees[name] = ElementTree.fromstring(files[name])
            except ElementTree.ParseError as error:
                faults.append(f"{name}: {error}")
    return [*faults, *_namespaces(trees), *_manifest(trees, set(files)), *_links(trees, set(files))]


def _namespaces(trees: dict[str, ElementTree.Element]) -> Iterator[str]:
    """Elements of formulas and pictures outside their namespace: readers show bare letters."""
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
    hrefs = {element.get("id"): element.get("href", "") for element in package.iter(f"{_OPF}item")}
    yield from _listed_files(Counter(f"{FOLDER}/{href}" for href in hrefs.values()), files)
    spine = [element.get("idref") for element in package.iter(f"{_OPF}itemref")]
    yield from _listed_pages(hrefs, spine)


def _listed_files(listed: Counter[str], files: set[str]) -> Iterator[str]:
    """Files and manifest name the same, each once; the package is the manifest itself."""
    inside = {name for name in files if name.startswith(f"{FOLDER}/")}
    content = {name for name in inside if not name.endswith(".opf")}
    for name in sorted(content - set(listed)):
        yield f"manifest: {name} is not listed"
    for name in sorted(set(listed) - files):
        yield f"manifest: {name} is not there"
    for name in _repeated(listed):
        yield f"manifest: {name} stands twice"


def _listed_pages(hrefs: Mapping[str | None, str], spine: Sequence[str | None]) -> Iterator[str]:
    """A reader turns the pages of the spine: no other ones, and none is left out."""
    for name in spine:
        if name not in hrefs:
            yield f"spine: {name} is not in the manifest"
    pages = {name for name, href in hrefs.items() if href.endswith(".xhtml")}
    for name in sorted(pages - set(spine), key=str):
        yield f"spine: {name} is left out"


def _repeated(counts: Counter[str]) -> list[str]:
    return sorted(name for name, count in counts.items() if count > 1)


def _links(trees: dict[str, ElementTree.Element], files: set[str]) -> Iterator[str]:
    """Links lead to a file of the book and an id in it; nothing is loaded from elsewhere."""
    ids = {name: _ids(tree) for name, tree in trees.items()}
    for name, tree in trees.items():
        yield from (f"{name}: the id {repeated} stands twice" for repeated in _repeated(ids[name]))
        if not name.endswith((".xhtml", ".ncx")):
            continue
        for element in tree.iter():
            addresses = (element.get(name) for name in _LINKED)
            for href in (address for address in addresses if address is not None):
                if fault := _outside(element, href) or _inside(href, name, ids, files):
                    yield f"{name}: {href}: {fault}"


def _ids(tree: ElementTree.Element) -> Counter[str]:
    return Counter(name for element in tree.iter() if (name := element.get("id")))


def _outside(element: ElementTree.Element, href: str) -> str:
    """What is wrong with an address outside the book: it may be linked to, but not loaded."""
    is_loaded = element.tag.rpartition("}")[2] in _LOADS
    return "loaded from elsewhere" if is_loaded and _ABSOLUTE.match(href) else ""


def _inside(href: str, page: str, ids: dict[str, Counter[str]], files: set[str]) -> str:
    """What is wrong with a link inside the book."""
    if _ABSOLUTE.match(href):
        return ""
    target = _target(href, page)
    anchor = unquote(href.partition("#")[2])
    if target not in files:
        return "no such file"
    if anchor and anchor not in ids.get(target, {}):
        return f"no element with this id in {target}"
    return ""


def _target(href: str, page: str) -> str:
    """The file of the book that a link on a page leads to."""
    path = href.partition("#")[0]
    if not path:
        return page
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(path)))
