"""Every page of the site is there as Markdown too, and links in these pages lead somewhere."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from flopbook.data.library import references
from scripts.website.build.twins import INDEX

LINK = re.compile(r"\]\(([^()\s]+)\)")
FENCE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.DOTALL | re.MULTILINE)


def pages(site: Path) -> dict[str, str]:
    """Site path -> text of every page as Markdown."""
    found = {path.relative_to(site).as_posix(): path for path in site.rglob("index.md")}
    return {name: path.read_text(encoding="utf-8") for name, path in found.items()}


def test_every_page_has_a_twin_that_it_names(site: Path) -> None:
    for path in site.rglob("*.html"):
        if path.name == "404.html":
            continue
        twin = path.with_name("index.md")
        assert twin.is_file() and twin.stat().st_size > 100, path
        head = path.read_text(encoding="utf-8").partition("</head>")[0]
        named = re.findall(
            r'<link rel="alternate describedby" type="text/markdown" href="([^"]+)"', head
        )
        folder = path.parent.relative_to(site).as_posix()
        assert [posixpath.normpath(posixpath.join(folder, href)) for href in named] == [
            posixpath.normpath(posixpath.join(folder, "index.md"))
        ], path


def test_twins_are_plain_and_not_large(site: Path) -> None:
    """A heading first, no tags outside code, below 330 kB, and lighter than its page.

    The list of all works has as many bytes as works, so its limit is that of one.
    """
    works = 240 * len(references())
    for name, text in pages(site).items():
        bare = FENCE.sub("", text)
        assert bare.startswith("# "), name
        assert not re.search(r"</?[a-z][a-z0-9]*[\s>]|\{\{|&#?\w+;", bare), (
            name,
            re.search(r"<[a-z/]\S*", bare),
        )
        most = works if name == "references/works/index.md" else 330_000
        assert len(text.encode()) < most, name
        assert len(text.encode()) < (site / name).with_name("index.html").stat().st_size, name


def test_links_between_twins_resolve(site: Path) -> None:
    wrong = []
    for name, text in [*pages(site).items(), (INDEX, (site / INDEX).read_text(encoding="utf-8"))]:
        for href in LINK.findall(FENCE.sub("", text)):
            if re.match(r"https?:|#", href):
                continue
            target = site / posixpath.normpath(
                posixpath.join(posixpath.dirname(name), href.partition("#")[0])
            )
            if not target.is_file():
                wrong.append((name, href))
    assert not wrong, wrong[:10]


def test_the_list_for_programs_names_every_page_once(site: Path) -> None:
    text = (site / INDEX).read_text(encoding="utf-8")
    listed = re.findall(r"^- \[[^\]]+\]\(([^)]+)\)", text, re.MULTILINE)
    assert sorted(listed) == sorted(pages(site)) and len(text) < 250_000


def test_values_keep_their_sources_and_formulas_their_latex(site: Path) -> None:
    chip = (site / "accelerators/nvidia/h100-sxm/index.md").read_text(encoding="utf-8")
    assert "989.4 TFLOP/s (printed: NVIDIA 2022" in chip and "# NVIDIA H100 SXM5 80GB" in chip
    assert "\\frac{\\pi}{\\beta}" in (site / "calculators/min-batch/index.md").read_text(
        encoding="utf-8"
    )


def test_feeds_are_named_where_there_are_some(site: Path) -> None:
    for page, feed in (
        ("references", "feeds/works.atom"),
        ("references/roofline", "../feeds/roofline.atom"),
    ):
        head = (site / page / "index.html").read_text(encoding="utf-8").partition("</head>")[0]
        assert f'<link rel="alternate feed" type="application/atom+xml" href="{feed}"' in head
        assert (site / page / feed).resolve().is_file()
