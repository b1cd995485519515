"""Files that the site publishes as they are: of known kinds, and what their names say."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.checks.pictures import picture_fault
from flopbook.checks.rules import RULES, assets
from flopbook.checks.rules.assets import check
from flopbook.data.library import library
from flopbook.errors import Problem
from scripts.website.build.policy import PolicyError, write_policies

_SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">\n{}</svg>'
)


def chunk(kind: bytes, data: bytes = b"") -> bytes:
    """A part of a PNG file."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


HEADER = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
PNG = b"\x89PNG\r\n\x1a\n" + HEADER + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND")
HOSTILE = {
    "script.svg": (_SVG.format("<script>attacked()</script>").encode(), 2),
    "handler.svg": (b'<svg xmlns="http://www.w3.org/2000/svg"\nonload="attacked()"/>', 1),
    "foreign.svg": (_SVG.format("<g>\n<foreignObject/></g>").encode(), 3),
    "elsewhere.svg": (_SVG.format('<image xlink:href="https://127.0.0.2/x.png"/>').encode(), 2),
    "style.svg": (_SVG.format("<style>\n@import 'https://127.0.0.2/x'</style>").encode(), 3),
    "page.svg": (b"<!doctype html><script>attacked()</script>", 1),
    "page.png": (b"<!doctype html><script>attacked()</script>", 1),
    "both.png": (PNG + b"<script>attacked()</script>", 1),
    "cut.png": (PNG[:-4], 1),
}
STRANGERS = ("page.html", "page.xhtml", "feed.xml", "old.swf", "paper.pdf", "text.md", "name")


def problems(folder: Path, name: str, content: bytes) -> list[Problem]:
    """What lint says of one file among the assets."""
    path = folder / "docs" / "assets" / "part" / name
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    holdings: Any = SimpleNamespace(docs=folder / "docs")
    return [finding.problem for finding in check(holdings)]


@pytest.mark.parametrize("name", HOSTILE)
def test_lint_refuses_a_hostile_asset_with_its_line(name: str, tmp_path: Path) -> None:
    content, line = HOSTILE[name]
    [problem] = problems(tmp_path, name, content)
    assert problem.file.endswith(f"part/{name}") and (problem.line, problem.rule) == (line, "asset")
    assert str(problem).isprintable()


@pytest.mark.parametrize("name", HOSTILE)
def test_the_built_site_is_refused_with_it(name: str, tmp_path: Path) -> None:
    content, line = HOSTILE[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(PolicyError, match=f"^{name}:{line}: "):
        write_policies(tmp_path)


@pytest.mark.parametrize("name", STRANGERS)
def test_a_file_of_another_kind_is_refused(name: str, tmp_path: Path) -> None:
    [problem] = problems(tmp_path, name, b"")
    assert problem.rule == "asset" and "kind" in problem.found


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.png", PNG), ("a.svg", _SVG.format("<rect/>").encode()), ("a.js", b"1"), ("a.css", b"")],
)
def test_sound_files_may_stand(name: str, content: bytes, tmp_path: Path) -> None:
    assert problems(tmp_path, name, content) == []


def test_what_is_no_file_is_left_to_the_rule_of_files(tmp_path: Path) -> None:
    folder = tmp_path / "docs" / "assets"
    folder.mkdir(parents=True)
    (folder / "a.svg").symlink_to("/dev/zero")
    (folder / "b.png").mkdir()
    holdings: Any = SimpleNamespace(docs=tmp_path / "docs")
    assert list(check(holdings)) == []


@given(st.integers(0, len(PNG) - 1), st.integers(1, 255))
def test_one_byte_of_a_picture_cannot_change_unseen(place: int, change: int) -> None:
    changed = PNG[:place] + bytes([PNG[place] ^ change]) + PNG[place + 1 :]
    assert picture_fault(changed) and not picture_fault(PNG)


@given(st.binary())
def test_what_stands_before_or_behind_a_picture_is_seen(more: bytes) -> None:
    assert bool(picture_fault(PNG + more)) == bool(picture_fault(more + PNG)) == bool(more)


def test_our_assets_are_sound() -> None:
    holdings: Any = SimpleNamespace(docs=library().docs)
    assert list(check(holdings)) == [] and assets in RULES
