"""What may run on a page: our scripts and the theme's; anything else stops the build."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import pytest

from scripts.website.build.policy import (
    PolicyError,
    page_problems,
    theme_scripts,
    with_policy,
    write_policies,
)

HEAD = '<!doctype html><html><head><meta charset="utf-8">'
BLANK = r"[\w./-]*"
PALETTE = next(
    re.sub(r"\\(.)", r"\1", known.pattern.replace(BLANK, "../.."), flags=re.DOTALL)
    for known in theme_scripts()
    if "__palette" in known.pattern
)


def problems(body: str, site: Path = Path("nowhere"), page: str = "a/index.html") -> list[str]:
    return list(page_problems(f"{HEAD}</head>\n{body}", page, site))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("<script>attacked()</script>", "not the theme's"),
        ("<ScRiPt >attacked()</ScRiPt>", "not the theme's"),
        ("<script>attacked()", "<script> may not stand"),
        ("<script src='https://127.0.0.2/x.js'></script>", "a script from"),
        ("<script src=//127.0.0.2/x.js></script>", "a script from"),
        ("<script src='../../x.js'></script>", "a script from"),
        ("<script type=application/json>{}<b></script>", "ends its script element"),
        ("<svg onload=attacked()>", "handler onload"),
        ("<svg/onload=attacked()>", "handler onload"),
        ('<p title="a > b" onclick="attacked()">', "handler onclick"),
        ('<b a=c"d onclick=attacked()>x</b>"', "handler onclick"),
        ("<iframe srcdoc='x'></iframe>", "<iframe>"),
        ("<object data=x></object>", "<object>"),
        ("<base href='https://127.0.0.2/'>", "<base>"),
        ("<a href=' java\tscript:attacked()'>x</a>", "leads to"),
        ("<a href='&#106;avascript:attacked()'>x</a>", "leads to"),
        ("<form action=javascript:attacked()>", "leads to"),
        ("<a href='data:text/html,x'>x</a>", "leads to"),
        ("<meta http-equiv=refresh content='0;url=x'>", "<meta> sets refresh"),
        ("<svg><set attributeName=href to=javascript:attacked() /></svg>", "<set>"),
        ("<!--><img src=x onerror=attacked()>-->", "handler onerror"),
        ("<style></style><img src=x onerror=attacked()>", "handler onerror"),
        ("<img src='x' title='", "does not end"),
        ("<style>a{background:url(//127.0.0.2/x)}</style>", "a style with 'url('"),
        ("<style>@import '//127.0.0.2/x'</style>", "a style with '@import'"),
    ],
)
def test_what_is_not_ours_is_refused_with_its_line(body: str, words: str) -> None:
    found = problems(body)
    assert found and found[0].startswith("a/index.html:2: ") and words in "; ".join(found)


def test_ours_may_stand(tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "app.js").write_text("")
    body = (
        '<script type="module" src="../assets/app.js?1"></script>'
        '<script type="application/json">{"a": "\\u003c"}</script>'
        f"<script>{PALETTE}</script>"
        '<img src="data:image/svg+xml;base64,AAAA" alt="a > b" title="on = off">'
        '<a href="https://acme.example/?on=1">on=1</a><p>a < b; onload=x</p>'
    )
    assert problems(body, tmp_path) == []


def test_a_script_of_the_theme_may_differ_in_its_address_alone() -> None:
    assert PALETTE.count("../..") == 1
    assert problems(f"<script>{PALETTE}</script>") == []
    assert problems(f"<script>{PALETTE};attacked()</script>")
    assert problems("<script>{}</script>".format(PALETTE.replace("../..", 'x");attacked("')))


def test_the_policy_stands_before_all_else_and_knows_the_scripts_by_their_text() -> None:
    page = with_policy(f"{HEAD}<script>{PALETTE}</script><script src=a.js></script></head>")
    digest = base64.b64encode(hashlib.sha256(PALETTE.encode()).digest()).decode()
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    assert page.startswith(f'{HEAD}<meta http-equiv="Content-Security-Policy"')
    assert f"script-src 'self' 'sha256-{digest}';" in policy
    assert "style-src 'self'; " in policy
    styled = with_policy(f"{HEAD}</head><svg><style>a{{b:c}}</style></svg>")
    assert re.search(r"style-src 'self' 'sha256-[\w+/]+='; ", styled)
    assert "default-src 'none'" in policy and "unsafe-inline'; img" in policy
    assert "unsafe-eval" not in policy and "http:" not in policy and "*" not in policy


def test_a_page_that_may_not_be_published_stops_the_build(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(f"{HEAD}</head><script>attacked()</script>")
    (tmp_path / "a.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" onload="x()"/>')
    with pytest.raises(PolicyError, match=r"index.html:1: .*\na.svg:1: <svg> has the handler"):
        write_policies(tmp_path)
