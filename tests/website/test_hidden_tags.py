"""What a browser sees and a careless reader of tags does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.linkcheck.internal import check_built_site
from scripts.website.build.policy import page_problems
from scripts.website.tags import attributes_of

HEAD = '<!doctype html><html><head><meta charset="utf-8">'
OURS = '<script src="../assets/app.js">'
HIDDEN = {
    "a no-break space before a value": '<img b=\xa0" onerror=attacked() c">',
    "a vertical tab before a value": '<img b=\v" onerror=attacked() c">',
    "a quotation mark within a value": '<img src=x a=b"c="d onerror=attacked() e="f">',
    "the end of a comment in a value": '<!-- <a b=" --><img src=x onerror=attacked()><!-- " -->',
    "the end of a title in a value": '<title><a b="</title><img src=x onerror=attacked()><i c="x">',
    "an end of a script with a space": f"{OURS}</script ><img src=x onerror=attacked()></script>",
    "text of a script with an address": f"{OURS}<!--<script></script><p>--></script>",
    "the address of a script in a picture": f"<svg>{OURS[:-1]} href=//127.0.0.2/x></script></svg>",
    "an end of a style with a space": "<style>@import '//127.0.0.2/x'</style >",
    "a style that does not end": "<style>@import '//127.0.0.2/x'",
    "a style of an element": '<p style="background:URL(//127.0.0.2/x)">',
    "an escape in a style": r'<p style="background:u\72l(//127.0.0.2/x)">',
    "an address that hears of clicks": '<a href="x" ping="https://127.0.0.2/">',
}


@pytest.mark.parametrize("page", HIDDEN.values(), ids=HIDDEN)
def test_what_hides_is_refused(page: str, tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "app.js").touch()
    assert list(page_problems(f"{HEAD}</head>\n{page}", "a/index.html", tmp_path))
    ours = f"{HEAD}</head>\n{OURS}</script>"
    assert not list(page_problems(ours, "a/index.html", tmp_path))


@pytest.mark.parametrize(
    "element",
    [
        '<img b=\xa0" src=//127.0.0.2/x c">',
        '<img a=b"c="d src=//127.0.0.2/x e="f">',
        '<p style="background:URL(//127.0.0.2/x)">',
        "<title>a</title ><img src=//127.0.0.2/x></title>",
    ],
)
def test_what_asks_another_host_is_found(element: str, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(HEAD + element, encoding="utf-8")
    problems = check_built_site(tmp_path)
    assert [problem.kind for problem in problems] == ["other-host"]


@pytest.mark.parametrize(
    ("inside", "attributes"),
    [
        (" a=1 b='2 3' A=4", {"a": "1", "b": "2 3"}),
        ("/a/b=c/d", {"a": "", "b": "c/d"}),
        (' a = "b" =c=d', {"a": "b", "=c": "d"}),
        (' a=\xa0"b c"', {"a": '\xa0"b', 'c"': ""}),
        (' a="&lt;"b=', {"a": "<", "b": ""}),
        (" a==b 'c'", {"a": "=b", "'c'": ""}),
    ],
)
def test_attributes_are_those_of_a_browser(inside: str, attributes: dict[str, str]) -> None:
    assert attributes_of(inside) == attributes
