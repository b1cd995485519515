"""The ePub: a zip of XHTML chapters, their list and a style sheet; same parts, same bytes."""

from __future__ import annotations

import html
import io
import uuid
import zipfile
from collections.abc import Sequence

from scripts.website.book.cover import cover
from scripts.website.book.document import Facts, markup, style, title_page
from scripts.website.book.parts import Part

MIMETYPE = "application/epub+zip"
FOLDER = "EPUB"
_STARTED = (1980, 1, 1, 0, 0, 0)  # the first time that a zip can state: files of a book have none
_CONTAINER = f"""<?xml version="1.0" encoding="UTF-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="{FOLDER}/package.opf" media-type="application/oebps-package+xml"/></rootfiles>
</container>
"""
_TYPES = {
    "xhtml": "application/xhtml+xml",
    "css": "text/css",
    "png": "image/png",
    "ncx": "application/x-dtbncx+xml",
}
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


def epub(known: Facts, parts: Sequence[Part]) -> bytes:
    """The book as ePub 3, with the list of chapters that readers of ePub 2 know."""
    files = {
        "title.xhtml": _xhtml(
            known.title, f'<section class="title-page">{title_page(known)}</section>'
        )
    }
    homes = {str(one["id"]): part.slug for part in parts for one in part.body.select("[id]")}
    homes |= {part.slug: part.slug for part in parts}
    for part in parts:
        files[f"{part.slug}.xhtml"] = _xhtml(part.name, _section(part, homes))
    files["nav.xhtml"] = _nav(parts)
    files["toc.ncx"] = _ncx(known, parts)
    files["book.css"] = style("book.css")
    files["package.opf"] = _package(known, parts, files)
    return _zipped(
        {name: text.encode() for name, text in files.items()} | {"cover.png": cover(known)}
    )


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


def _add(packed: zipfile.ZipFile, name: str, content: bytes, how: int) -> None:
    entry = zipfile.ZipInfo(name, _STARTED)
    entry.compress_type, entry.create_system, entry.external_attr = how, 3, 0o644 << 16
    packed.writestr(entry, content, compresslevel=9)


def _xhtml(title: str, body: str) -> str:
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" lang="en" xml:lang="en">
<head><title>{html.escape(title)}</title><link rel="stylesheet" type="text/css" href="book.css"/></head>
<body>
{body}
</body>
</html>
"""


def _section(part: Part, homes: dict[str, str]) -> str:
    """A part as the body of its file: a link to another part names its file."""
    for link in part.body.select('a[href^="#"]'):
        anchor = str(link["href"])[1:]
        home = homes[anchor]
        if home != part.slug:
            link["href"] = f"{home}.xhtml" + ("" if anchor == home else f"#{anchor}")
    kind = (
        "chapter"
        if part.number
        else "bibliography"
        if part.slug == "bibliography"
        else "backmatter"
    )
    kind = "preface" if part.slug == "about" else kind
    return f'<section epub:type="{kind}" id="{part.slug}">\n{markup(part.body)}\n</section>'


def _nav(parts: Sequence[Part]) -> str:
    lines = []
    for part in parts:
        inner = "".join(
            f'<li><a href="{part.slug}.xhtml#{anchor}">{html.escape(title)}</a></li>'
            for anchor, title in (part.sections() if part.number else [])
        )
        link = f'<a href="{part.slug}.xhtml">{html.escape(part.name)}</a>'
        lines.append(f"<li>{link}{f'<ol>{inner}</ol>' if inner else ''}</li>")
    first = next((part for part in parts if part.number), parts[0])
    marks = [("titlepage", "title.xhtml", "Title page"), ("toc", "nav.xhtml", "Contents")]
    marks += [("bodymatter", f"{first.slug}.xhtml", "First chapter")]
    marked = "".join(
        f'<li><a epub:type="{kind}" href="{file}">{name}</a></li>' for kind, file, name in marks
    )
    return _xhtml(
        "Contents",
        f'<nav epub:type="toc" id="toc"><h1>Contents</h1><ol>{"".join(lines)}</ol></nav>\n'
        f'<nav epub:type="landmarks" id="landmarks" hidden="hidden"><h2>Landmarks</h2><ol>{marked}</ol></nav>',
    )


def _ncx(known: Facts, parts: Sequence[Part]) -> str:
    points = "".join(
        f'<navPoint id="n{n}" playOrder="{n}"><navLabel><text>{html.escape(part.name)}</text></navLabel>'
        f'<content src="{part.slug}.xhtml"/></navPoint>\n'
        for n, part in enumerate(parts, 1)
    )
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1" xml:lang="en">
<head><meta name="dtb:uid" content="{identifier(known)}"/><meta name="dtb:depth" content="1"/>
<meta name="dtb:totalPageCount" content="0"/><meta name="dtb:maxPageNumber" content="0"/></head>
<docTitle><text>{html.escape(known.title)}</text></docTitle>
<navMap>
{points}</navMap></ncx>
"""


def _package(known: Facts, parts: Sequence[Part], files: dict[str, str]) -> str:
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
    has = [
        kind
        for kind, mark in (("mathml", "<math"), ("nav", 'epub:type="toc"'), ("svg", "<svg"))
        if mark in text
    ]
    properties = f' properties="{" ".join(has)}"' if has else ""
    stem, _, suffix = name.partition(".")
    identity = stem if suffix in ("xhtml", "ncx") else f"{stem}-{suffix}"
    return f'<item id="{identity}" href="{name}" media-type="{_TYPES[suffix]}"{properties}/>'
