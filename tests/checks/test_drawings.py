"""Drawings hold no script, however it is written, and ask for no other file."""

from __future__ import annotations

from pathlib import Path

import pytest

from flopbook.checks.drawings import drawing_problems
from scripts.website.build.policy import PolicyError, write_policies

SVG = 'xmlns="http://www.w3.org/2000/svg"'
XHTML = 'xmlns:h="http://www.w3.org/1999/xhtml"'


@pytest.mark.parametrize(
    ("drawing", "fault"),
    [
        # These four ran in Chromium while the check of the tags was silent.
        ('<x:svg xmlns:x="http://www.w3.org/2000/svg"><x:script>a</x:script></x:svg>', "<script>"),
        (f"<svg {SVG} {XHTML}><h:script>attacked()</h:script></svg>", "<script>"),
        (
            f'<!DOCTYPE svg [<!ENTITY x "&#60;script>a&#60;/script>">]><svg {SVG}>&x;</svg>',
            "declares <!ENTITY",
        ),
        (
            f'<!DOCTYPE svg [<!ATTLIST svg onload CDATA "attacked()">]><svg {SVG}/>',
            "declares <!ATTLIST",
        ),
        (f'<?xml-stylesheet type="text/xsl" href="#s"?><svg {SVG}/>', "declares <?"),
        (f'<svg {SVG} xmlns:q="http://www.w3.org/2000/svg"><q:set to="x"/></svg>', "<set>"),
        (f"<svg {SVG}><foreignObject/></svg>", "<foreignObject>"),
        (f'<svg {SVG} onload="attacked()"/>', "handler onload"),
        (f'<svg {SVG}><a href="java&#10;script:attacked()">x</a></svg>', "leads to"),
        (f'<svg {SVG}><use href="https://acme.example/a.svg#a"/></svg>', "leads to"),
        (f'<svg {SVG}><image href="other.png"/></svg>', "leads to"),
        (f'<svg {SVG}><rect style="fill:url(//acme.example/a)"/></svg>', "reads 'url('"),
        (f"<svg {SVG}><style>@import 'a.css'</style></svg>", "@import"),
        (f"<svg {SVG}><p xmlns='http://www.w3.org/1999/xhtml'/></svg>", "no element of a drawing"),
        (f"<svg {SVG}>", "no XML"),
        (f'<?xml version="1.0" encoding="utf-7"?><svg {SVG}/>', "not in UTF-8"),
    ],
)
def test_what_would_run_or_reach_is_refused(drawing: str, fault: str) -> None:
    problems = list(drawing_problems(drawing.encode(), "a.svg"))
    assert problems and fault in problems[0] and problems[0].startswith("a.svg:1: ")


def test_another_encoding_hides_nothing() -> None:
    drawing = f"<svg {SVG}><script>attacked()</script></svg>"
    assert list(drawing_problems(drawing.encode("utf-16"), "a.svg"))


def test_what_drawings_are_made_of_is_let_through() -> None:
    drawing = f"""<?xml version="1.0" encoding="utf-8" standalone="no"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg {SVG} xmlns:xlink="http://www.w3.org/1999/xlink"><title>a &lt; b</title>
<a xlink:href="https://acme.example/">x</a><a href="../chips/#one">y</a>
<use xlink:href="#one" style="clip-path: url(#two); fill: red"/></svg>"""
    assert not list(drawing_problems(drawing.encode(), "a.svg"))


def test_a_file_that_browsers_open_as_a_page_is_refused(tmp_path: Path) -> None:
    """`docs/assets/a.htm` would be a page of ours without a policy."""
    for name in ("a.htm", "b.xhtml", "c.HTML", "d.svgz"):
        (tmp_path / name).write_text("<p>")
    (tmp_path / "e.html").write_bytes(b"\xff")
    with pytest.raises(PolicyError) as caught:
        write_policies(tmp_path)
    told = str(caught.value).splitlines()
    assert [line.partition(":")[0] for line in told] == [
        *("a.htm", "b.xhtml", "c.HTML", "d.svgz", "e.html"),
    ]
