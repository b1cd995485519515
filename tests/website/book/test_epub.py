"""The ePub: what its files say, the same bytes each time, and its check finds each fault."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from xml.etree import ElementTree

import pytest

from scripts.website.book.checks import problems
from scripts.website.book.cover import cover
from scripts.website.book.document import Facts
from scripts.website.book.epub import epub, identifier
from tests.support.binding import KNOWN, bound

OPF = "{http://www.idpf.org/2007/opf}"
DC = "{http://purl.org/dc/elements/1.1/}"
XHTML = "{http://www.w3.org/1999/xhtml}"


def made(site: Path, known: Facts = KNOWN) -> bytes:
    return epub(known, bound(site, known.site_url))


def unpacked(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def packed(files: Mapping[str, bytes], how: int = zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content, how if name == "mimetype" else zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def test_a_book_of_the_small_site_has_no_problems(small: Path) -> None:
    assert problems(made(small)) == []
    assert problems(made(small, KNOWN._replace(site_url="https://books.example/"))) == []


def test_the_same_input_gives_the_same_bytes(small: Path) -> None:
    assert made(small) == made(small)


def test_no_file_has_a_time_and_the_type_comes_first_as_it_is(small: Path) -> None:
    content = made(small)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = archive.infolist()
    assert {entry.date_time for entry in entries} == {(1980, 1, 1, 0, 0, 0)}
    assert (entries[0].filename, entries[0].compress_type) == ("mimetype", zipfile.ZIP_STORED)
    assert (
        content[30:58] == b"mimetypeapplication/epub+zip"
    )  # where programs look that do not unpack
    names = [entry.filename for entry in entries[2:]]
    assert names == sorted(names)


def test_the_package_says_what_the_book_is(small: Path) -> None:
    known = KNOWN._replace(site_url="https://books.example/?a&b")
    package = ElementTree.fromstring(unpacked(made(small, known))["EPUB/package.opf"])
    said = {
        name: package.findtext(f".//{DC}{name}")
        for name in ("title", "creator", "language", "date", "rights", "source")
    }
    assert said == {
        "title": known.title,
        "creator": known.author,
        "language": "en-GB",
        "date": "2026-11-21",
        "rights": known.rights,
        "source": known.site_url,
    }
    properties = [
        (one.get("property"), one.text) for one in package.iter(f"{OPF}meta") if one.get("property")
    ]
    assert ("dcterms:modified", "2026-11-21T00:00:00Z") in properties
    assert ("schema:accessibilityFeature", "MathML") in properties


def test_its_name_stays_from_version_to_version_and_differs_from_book_to_book() -> None:
    assert identifier(KNOWN) == identifier(KNOWN._replace(version="9.9.9", rights="x"))
    assert identifier(KNOWN) != identifier(KNOWN._replace(title="another: book"))
    assert identifier(KNOWN).startswith("urn:uuid:")


def test_chapters_are_read_in_their_order_and_say_what_they_hold(small: Path) -> None:
    package = ElementTree.fromstring(unpacked(made(small))["EPUB/package.opf"])
    spine = [one.get("idref") for one in package.iter(f"{OPF}itemref")]
    assert spine == ["title", "nav", "about", "one", "two", "glossary", "bibliography"]
    held = {one.get("id"): one.get("properties") for one in package.iter(f"{OPF}item")}
    assert held["one"] == "mathml svg"
    assert held["two"] is None
    assert held["nav"] == "nav"
    assert held["cover"] == "cover-image"


def test_both_lists_of_contents_name_the_same_parts(small: Path) -> None:
    files = unpacked(made(small))
    nav = ElementTree.fromstring(files["EPUB/nav.xhtml"])
    first = [
        (link.get("href"), link.text)
        for link in nav.findall(f".//{XHTML}nav[@id='toc']/{XHTML}ol/{XHTML}li/{XHTML}a")
    ]
    ncx = ElementTree.fromstring(files["EPUB/toc.ncx"])
    space = "{http://www.daisy.org/z3986/2005/ncx/}"
    second = [
        (point.find(f"{space}content").get("src"), point.findtext(f".//{space}text"))  # type: ignore[union-attr]
        for point in ncx.iter(f"{space}navPoint")
    ]
    assert first == second
    assert first[2] == ("two.xhtml", '2 Two & "three"')
    sections = [
        link.get("href") for link in nav.iter(f"{XHTML}a") if "#" in (link.get("href") or "")
    ]
    assert "one.xhtml#one-answers" in sections


def test_links_between_parts_name_the_file(small: Path) -> None:
    text = unpacked(made(small))["EPUB/one.xhtml"].decode()
    for href in (
        "two.xhtml",
        "two.xhtml#two-ends",
        "#one-exercises",
        "bibliography.xhtml#work-zeta2020last",
    ):
        assert f'href="{href}"' in text


def test_formulas_and_pictures_are_in_the_chapter_with_colours(small: Path) -> None:
    chapter = ElementTree.fromstring(unpacked(made(small))["EPUB/one.xhtml"])
    assert chapter.find(".//{http://www.w3.org/1998/Math/MathML}math") is not None
    picture = chapter.find(".//{http://www.w3.org/2000/svg}svg")
    assert picture is not None
    assert picture.get("viewBox") == "0 0 640 200"
    assert [one.get("fill") for one in picture.iter("{http://www.w3.org/2000/svg}rect")] == [
        "#1d5fa8",
        "none",
    ]


def test_the_cover_is_a_picture_of_its_size_and_always_the_same() -> None:
    content = cover(KNOWN)
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", content[16:24]) == (1200, 1800)
    assert content == cover(KNOWN)
    assert b"Software" not in content


def _without(name: str) -> Callable[[dict[str, bytes]], dict[str, bytes]]:
    return lambda files: {key: value for key, value in files.items() if key != name}


def _changed(name: str, old: str, new: str) -> Callable[[dict[str, bytes]], dict[str, bytes]]:
    def change(files: dict[str, bytes]) -> dict[str, bytes]:
        assert old.encode() in files[name]
        return files | {name: files[name].replace(old.encode(), new.encode(), 1)}

    return change


ONE = "EPUB/one.xhtml"
FAULTS = {
    "broken-xml": (_changed(ONE, "</section>", "</p>"), "EPUB/one.xhtml: mismatched tag"),
    "lost-anchor": (
        _changed(ONE, "two.xhtml#two-ends", "two.xhtml#gone"),
        "no element with this id in EPUB/two.xhtml",
    ),
    "lost-file": (_changed(ONE, "two.xhtml#two-ends", "three.xhtml"), "three.xhtml: no such file"),
    "own-anchor": (
        _changed(ONE, "#one-exercises", "#gone"),
        "#gone: no element with this id in EPUB/one.xhtml",
    ),
    "other-host": (
        _changed(ONE, "book.css", "https://x.example/book.css"),
        "loaded from elsewhere",
    ),
    "twice": (
        _changed(ONE, 'id="one-exercise-2"', 'id="one-exercise-1"'),
        "the id one-exercise-1 stands twice",
    ),
    "not-listed": (
        lambda files: files | {"EPUB/more.css": b""},
        "manifest: EPUB/more.css is not listed",
    ),
    "not-there": (_without("EPUB/cover.png"), "manifest: EPUB/cover.png is not there"),
    "listed-twice": (
        _changed(
            "EPUB/package.opf", '<item id="cover"', '<item id="c" href="book.css"/><item id="cover"'
        ),
        "manifest: EPUB/book.css stands twice",
    ),
    "no-package": (_without("EPUB/package.opf"), "package.opf: missing"),
    "spine": (
        _changed("EPUB/package.opf", '<itemref idref="two"/>', '<itemref idref="x"/>'),
        "spine: x is not in",
    ),
    "left-out": (
        _changed("EPUB/package.opf", '<itemref idref="two"/>', ""),
        "spine: two is left out",
    ),
    "contents": (_changed("EPUB/toc.ncx", "two.xhtml", "gone.xhtml"), "gone.xhtml: no such file"),
    "type": (_changed("mimetype", "epub", "zip"), "mimetype: expected application/epub+zip"),
    "space": (
        _changed(ONE, ' xmlns="http://www.w3.org/1998/Math/MathML"', ""),
        "one.xhtml: math in the namespace",
    ),
    "order": (lambda files: dict(sorted(files.items())), "mimetype: expected as the first file"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_the_check_finds_each_fault(small: Path, name: str) -> None:
    spoil, said = FAULTS[name]
    assert any(said in problem for problem in problems(packed(spoil(unpacked(made(small))))))


def test_the_check_finds_a_type_that_is_compressed(small: Path) -> None:
    files = unpacked(made(small))
    assert problems(packed(files)) == []
    assert problems(packed(files, zipfile.ZIP_DEFLATED)) == [
        "mimetype: expected as the first file, not compressed"
    ]
