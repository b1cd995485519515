"""The links inside a built site."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.linkcheck.internal import BROKEN, OTHER_HOST, LinkProblem, check_built_site

PAGE = "<!doctype html>\n<title>t</title>\n"


def site(root: Path, **pages: str) -> Path:
    """A site; `handbook__index_html` is the file handbook/index.html."""
    defaults = {
        "index_html": PAGE,
        "a__index_html": PAGE + '<h2 id="part">x</h2><a name="old"></a>',
        "a__b_png": "",
    }
    for name, text in (defaults | pages).items():
        stem, _, suffix = name.replace("__", "/").rpartition("_")
        path = root / f"{stem}.{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def problems(root: Path, body: str, base: str = "/") -> list[tuple[str, str]]:
    """Link and class of what is wrong with a page at /c/index.html."""
    return [
        (problem.link, problem.kind)
        for problem in check_built_site(site(root, c__index_html=PAGE + body), base)
    ]


@pytest.mark.parametrize(
    "link",
    [
        "../a/",
        "../a",
        "../a/index.html",
        "../a/#part",
        "../a/?x=1#part",
        "/a/",
        "/",
        "..",
        ".",
        "",
        "#",
        "#top",
        "../a/#old",
        "../a/b.png",
        "/a/b%2Epng",
        "../a/#%70art",
        "#chip=h100&dtype=bf16",
        "../a/#:~:text=x",
        "https://other.test/",
        "//other.test/",
        "mailto:a@b.test",
        "tel:+1",
        "javascript:void(0)",
        " ../a/ ",
    ],
)
def test_good_links(tmp_path: Path, link: str) -> None:
    assert problems(tmp_path, f'<a href="{link}">x</a>') == []


@pytest.mark.parametrize(
    "link",
    [
        "../b/",
        "a/",
        "/a/none.html",
        "../a/#none",
        "#none",
        "../../a/",
        "../../../c/",
        "../a/b.png/",
        "/a/b",
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "data:text/html,x",
        "file:///etc/hostname",
        "vbscript:x",
    ],
)
def test_broken_links(tmp_path: Path, link: str) -> None:
    assert problems(tmp_path, f'<a href="{link}">x</a>') == [(link, BROKEN)]


def test_a_problem_says_where_and_what(tmp_path: Path) -> None:
    broken_links = check_built_site(
        site(tmp_path, c__index_html=PAGE + '\n<p>x\n<a\nhref="#none">x</a>')
    )
    assert broken_links == [
        LinkProblem(
            "c/index.html", 5, "#none", "no element with the id none in c/index.html", BROKEN
        )
    ]
    assert str(broken_links[0]).startswith("c/index.html:5: broken: #none: ")


@pytest.mark.parametrize(
    "markup",
    [
        '<img src="{}">',
        "<img src={}>",
        "<IMG SRC='{}'>",
        '<script src="{}"></script>',
        '<iframe src="{}"></iframe>',
        '<link rel="stylesheet" href="{}">',
        '<link href="{}" rel="shortcut icon">',
        '<link rel=preload href="{}">',
        '<video poster="{}"></video>',
        '<source src="{}">',
        '<object data="{}"></object>',
        '<embed src="{}">',
        '<svg><use xlink:href="{}"/></svg>',
        '<svg><image href="{}"/></svg>',
        '<p style="background: url({})">',
        "<style>@import '{}';</style>",
        '<style>@font-face {{ src: url("{}") }}</style>',
        '<meta http-equiv="refresh" content="0; url={}">',
        '<img srcset="../a/b.png 1x, {} 2x">',
        '<link rel="preload" imagesrcset="{} 1x">',
        '<body background="{}">',
    ],
)
def test_what_a_page_requests(tmp_path: Path, markup: str) -> None:
    """From another host: a problem of its own kind. From the site: the file must be there."""
    for link in ("https://other.test/x", "http://other.test/x", "//other.test/x"):
        (problem,) = problems(tmp_path, markup.format(link))
        assert problem[1] == OTHER_HOST
    assert problems(tmp_path, markup.format("../a/none.png")) == [("../a/none.png", BROKEN)]
    assert problems(tmp_path, markup.format("../a/b.png")) == []


@pytest.mark.parametrize(
    "rel", ["preconnect", "dns-prefetch", "prefetch", "modulepreload", "manifest", "icon"]
)
def test_link_relations_that_make_requests(tmp_path: Path, rel: str) -> None:
    assert problems(tmp_path, f'<link rel="{rel}" href="https://other.test/">') == [
        ("https://other.test/", OTHER_HOST)
    ]


@pytest.mark.parametrize("rel", ["canonical", "alternate", "license", "author", "me"])
def test_link_relations_that_make_none(tmp_path: Path, rel: str) -> None:
    assert problems(tmp_path, f'<link rel="{rel}" href="https://other.test/">') == []


def test_pictures_may_be_written_out_in_place(tmp_path: Path) -> None:
    assert problems(tmp_path, '<img src="data:image/png;base64,AAAA">') == []


def test_what_is_no_markup(tmp_path: Path) -> None:
    body = """<!-- <a href="none/"> --><script>x = '<a href="none/">'</script>
    <textarea><a href="none/"></textarea> <style>/* url(none.png) */
    a { background: url("data:image/svg+xml;utf8,<svg><a href='none/'/></svg>") }</style>
    <p title='<a href="none/">' data-src="none/">&lt;a href="none/"&gt;</p>
    <svg fill="url(#none)"></svg>"""
    assert problems(tmp_path, body) == []


def test_character_references(tmp_path: Path) -> None:
    assert (
        problems(
            tmp_path,
            '<a href="../a/?x=1&amp;y=2&#35;part">x</a><h1 id="r&amp;d">x</h1><a href="#r&d">x</a>',
        )
        == []
    )


def test_srcset_with_commas(tmp_path: Path) -> None:
    body = '<img srcset="data:image/png;base64,AA 1x,../a/b.png 2x, ../a/none.png">'
    assert problems(tmp_path, body) == [("../a/none.png", BROKEN)]


def test_base_path(tmp_path: Path) -> None:
    """A site that is served under /flopbook/: links by path must begin with it."""
    for base in ("/flopbook/", "/flopbook", "https://pages.test/flopbook/"):
        assert (
            problems(tmp_path, '<a href="/flopbook/a/#part">x</a><a href="../a/">y</a>', base) == []
        )
        assert problems(tmp_path, '<a href="/a/">x</a><a href="../../a/">y</a>', base) == [
            ("../../a/", BROKEN),
            ("/a/", BROKEN),
        ]


def test_links_to_the_site_s_own_address_are_inside_links(tmp_path: Path) -> None:
    body = '<a href="https://pages.test/flopbook/none/">x</a><img src="https://pages.test/flopbook/a/b.png">'
    assert problems(tmp_path, body, "https://pages.test/flopbook/") == [
        ("https://pages.test/flopbook/none/", BROKEN)
    ]


def test_base_element(tmp_path: Path) -> None:
    assert problems(tmp_path, '<base href="/a/"><a href="b.png">x</a><a href="../c/">y</a>') == []
    assert problems(tmp_path, '<base href="../a/"><a href="none.png">x</a>') == [
        ("none.png", BROKEN)
    ]


def test_404_is_shown_at_any_address(tmp_path: Path) -> None:
    site(tmp_path)
    page = tmp_path / "404.html"
    page.write_text('<a href="/a/">x</a><a href="#me">y</a><p id="me">')
    assert check_built_site(tmp_path) == []
    page.write_text('<a href="a/">x</a>')
    assert [(problem.page, problem.link) for problem in check_built_site(tmp_path)] == [
        ("404.html", "a/")
    ]


def test_style_sheets(tmp_path: Path) -> None:
    style = "@import 'more.css';\na { background: url(../a/b.png?v=1#x) }\n"
    style += "b { src: url('https://other.test/f.woff2') }\n"
    broken_links = check_built_site(site(tmp_path, c__main_css=style))
    assert [
        (problem.page, problem.line, problem.link, problem.kind) for problem in broken_links
    ] == [
        ("c/main.css", 1, "more.css", BROKEN),
        ("c/main.css", 3, "https://other.test/f.woff2", OTHER_HOST),
    ]


def test_pictures_with_links(tmp_path: Path) -> None:
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg">'
        '<path id="m"/><use href="#m"/><a xlink:href="none/"/></svg>'
    )
    broken_links = check_built_site(
        site(
            tmp_path,
            c__plot_svg=svg,
            c__index_html='<a href="plot.svg#m"></a><a href="plot.svg#n"></a>',
        )
    )
    assert [(problem.page, problem.link) for problem in broken_links] == [
        ("c/index.html", "plot.svg#n"),
        ("c/plot.svg", "none/"),
    ]


def test_a_folder_without_a_page(tmp_path: Path) -> None:
    site(tmp_path, d__x_png="", c__index_html='<a href="../d/">x</a>')
    assert [problem.what for problem in check_built_site(tmp_path)] == [
        "the folder has no index.html"
    ]


@settings(deadline=None)
@given(st.text(alphabet="<>\"'=/ \n!-&#;:.,()[]{}ahrefsidctyl"))
def test_any_page_can_be_read(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    root = tmp_path_factory.mktemp("site")
    (root / "index.html").write_text(f"<style>{text}</style><a href='{text}'>{text}")
    (root / "main.css").write_text(text)
    check_built_site(root)


@pytest.mark.parametrize(
    "start", ['<a href="', "<a " * 3, "<a b=", "<!--", "<style>", "url(", "<script ", "<a '\""]
)
def test_hostile_pages_take_linear_time(tmp_path: Path, start: str) -> None:
    """A pattern that backs up would need minutes here, not the blink that this takes."""
    (tmp_path / "index.html").write_text(start * 100_000)
    check_built_site(tmp_path)
