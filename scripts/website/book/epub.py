"""The ePub: a zip of XHTML chapters, their list and a style sheet; same parts, same bytes."""

from __future__ import annotations

import html
import io
import uuid
import zipfile
from collections.abc import Sequence

from scripts.website.book.cover import cover
from scripts.website.book.document import Facts, markup, style, title_page
from scripts.website.book.parts import BookPart

MIMETYPE = "application/epub+zip"
FOLDER = "EPUB"
_STARTED = (1980, 1, 1, 0, 0, 0)  # the first time that a zip can state: files of a book have none
_MODE = 0o644 << 16  # of a file, where Unix keeps it in a zip
_PACKAGE = f'full-path="{FOLDER}/package.opf" media-type="application/oebps-package+xml"'
_CONTAINER = f"""<?xml version="1.0" encoding="UTF-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile {_PACKAGE}/></rootfiles>
</container>
"""
_XHTML = (
    'xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" '
    'lang="en" xml:lang="en"'
)
_STYLE = '<link rel="stylesheet" type="text/css" href="book.css"/>'
_TYPES = {
    "xhtml": "application/xhtml+xml",
    "css": "text/css",
    "png": "image/png",
    "ncx": "application/x-dtbncx+xml",
}
# Property of a file of the manifest -> what it is seen by.
_CONTENT = {"mathml": "<math", "nav": 'epub:type="toc"', "svg": "<svg"}
_ACCESS = {
    "accessMode": ("textual", "visual"),
    "accessModeSufficient": ("textual",),
    "accessibilityHazard": ("none",),
    "accessibilityFeature": (
        "MathML",
        "alternativeText",
        "structuralNavigation",
        "tableOfContents",
    ),
    "accessibilitySummary": ("Formulas are MathML; every picture says in words what it shows.",),
}


def epub(known: Facts, parts: Sequence[BookPart]) -> bytes:
    """The book as ePub 3, with the list of chapters that readers of ePub 2 know."""
    opening = f'<section class="title-page">{title_page(known)}</section>'
    files = {"title.xhtml": _xhtml(known.title, opening)}
    homes = {part.slug: part.slug for part in parts}  # anchor -> the part that it is in
    for part in parts:
        homes |= {str(element["id"]): part.slug for element in part.body.select("[id]")}
    for part in parts:
        files[f"{part.slug}.xhtml"] = _xhtml(part.name, _section(part, homes))
    files["nav.xhtml"] = _nav(parts)
    files["toc.ncx"] = _ncx(known, parts)
    files["book.css"] = style("book.css")
    files["package.opf"] = _package(known, parts, files)
    content = {name: text.encode() for name, text in files.items()}
    return _zipped(content | {"cover.png": cover(known)})


def identifier(known: Facts) -> str:
    """What every version of this book is called; the time of its change tells them apart."""
    return f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'flopbook:{known.title}')}"


def _zipped(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as packed:
        _add(packed, "mimetype", MIMETYPE.encode(), zipfile.ZIP_STORED)
        _add(packed, "META-INF/container.xml", _CONTAINER.encode(), zipfile.ZIP_DEFLATED)
        for name in sorted(files):
            _add(packed, f"{FOLDER}/{name}", files[name], zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def _add(packed: zipfile.ZipFile, name: str, content: bytes, compression: int) -> None:
    """Add a file as if every machine were the same: Unix, one mode, one time."""
    entry = zipfile.ZipInfo(name, _STARTED)
    entry.compress_type, entry.create_system, entry.external_attr = compression, 3, _MODE
    packed.writestr(entry, content, compresslevel=9)


def _xhtml(title: str, body: str) -> str:
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html>
<html {_XHTML}>
<head><title>{html.escape(title)}</title>{_STYLE}</head>
<body>
{body}
</body>
</html>
"""


def _section(part: BookPart, homes: dict[str, str]) -> str:
    """A part as the body of its file: a link to another part names its file."""
    for link in part.body.select('a[href^="#"]'):
        anchor = str(link["href"])[1:]
        home = homes[anchor]
        if home == part.slug:
            continue
        link["href"] = f"{home}.xhtml" if anchor == home else f"{home}.xhtml#{anchor}"
    return f'<section epub:type="{_kind(part)}" id="{part.slug}">\n{markup(part.body)}\n</section>'


def _kind(part: BookPart) -> str:
    """What a part is in the words of ePub."""
    if part.number:
        return "chapter"
    return {"about": "preface", "bibliography": "bibliography"}.get(part.slug, "backmatter")


def _nav(parts: Sequence[BookPart]) -> str:
    """The list of contents that readers of ePub 3 show, and where to begin."""
    lines = "".join(map(_listed, parts))
    first = next((part for part in parts if part.number), parts[0])
    landmarks = (
        ("titlepage", "title.xhtml", "Title page"),
        ("toc", "nav.xhtml", "Contents"),
        ("bodymatter", f"{first.slug}.xhtml", "First chapter"),
    )
    marks = "".join(
        f'<li><a epub:type="{kind}" href="{file}">{name}</a></li>' for kind, file, name in landmarks
    )
    return _xhtml(
        "Contents",
        f'<nav epub:type="toc" id="toc"><h1>Contents</h1><ol>{lines}</ol></nav>\n'
        '<nav epub:type="landmarks" id="landmarks" hidden="hidden"><h2>Landmarks</h2>'
        f"<ol>{marks}</ol></nav>",
    )


def _listed(part: BookPart) -> str:
    """A part in the list of contents, a chapter with its sections."""
    file = f"{part.slug}.xhtml"
    sections = "".join(
        f'<li><a href="{file}#{anchor}">{html.escape(title)}</a></li>'
        for anchor, title in part.listed_sections()
    )
    inner = f"<ol>{sections}</ol>" if sections else ""
    return f'<li><a href="{file}">{html.escape(part.name)}</a>{inner}</li>'


def _ncx(known: Facts, parts: Sequence[BookPart]) -> str:
    """The list of contents for readers of ePub 2."""
    points = ""
    for number, part in enumerate(parts, 1):
        label = f"<navLabel><text>{html.escape(part.name)}</text></navLabel>"
        target = f'<content src="{part.slug}.xhtml"/>'
        points += f'<navPoint id="n{number}" playOrder="{number}">{label}{target}</navPoint>\n'
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1" xml:lang="en">
<head><meta name="dtb:uid" content="{identifier(known)}"/><meta name="dtb:depth" content="1"/>
<meta name="dtb:totalPageCount" content="0"/><meta name="dtb:maxPageNumber" content="0"/></head>
<docTitle><text>{html.escape(known.title)}</text></docTitle>
<navMap>
{points}</navMap></ncx>
"""


def _package(known: Facts, parts: Sequence[BookPart], files: dict[str, str]) -> str:
    items = "\n".join(_item(name, text) for name, text in sorted(files.items()))
    spine = "".join(
        f'<itemref idref="{name}"/>' for name in ("title", "nav", *(part.slug for part in parts))
    )
    access = "\n".join(
        f'<meta property="schema:{name}">{value}</meta>'
        for name, values in _ACCESS.items()
        for value in values
    )
    source = f"<dc:source>{html.escape(known.site_url)}</dc:source>\n" if known.site_url else ""
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" xml:lang="en">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="id">{identifier(known)}</dc:identifier>
<dc:title>{html.escape(known.title)}</dc:title>
<dc:language>en-GB</dc:language>
<dc:creator>{html.escape(known.author)}</dc:creator>
<dc:description>{html.escape(known.subtitle)}</dc:description>
<dc:rights>{html.escape(known.rights)}</dc:rights>
<dc:date>{known.read.isoformat()}</dc:date>
{source}<meta property="dcterms:modified">{known.read.isoformat()}T00:00:00Z</meta>
{access}
<meta name="cover" content="cover"/>
</metadata>
<manifest>
{items}
<item id="cover" href="cover.png" media-type="image/png" properties="cover-image"/>
</manifest>
<spine toc="toc">{spine}</spine>
</package>
"""


def _item(name: str, text: str) -> str:
    """A file in the manifest, with what a reader has to know before it opens it."""
    kinds = " ".join(kind for kind, mark in _CONTENT.items() if mark in text)
    properties = f' properties="{kinds}"' if kinds else ""
    stem, _, suffix = name.partition(".")
    identity = stem if suffix in ("xhtml", "ncx") else f"{stem}-{suffix}"
    return f'<item id="{identity}" href="{name}" media-type="{_TYPES[suffix]}"{properties}/>'
