"""Code on a slim page: the same text, without what only Markdown and the highlighter need."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup

from scripts.website.build.slim import slim_page, slim_script

_HIGHLIGHTED = (
    '<pre><span></span><code><span class="gp">$ </span>flopbook<span class="w"> </span>memory'
    '<span class="w">  </span>--seq<span class="w"> </span><span class="m">8192</span></code></pre>'
)
_ANSWER = (
    '<pre tabindex="0"><code>batch&#95;fits  185&#10;'
    "of it &lt;b&gt; &#38; &#34;c&#34;&#10;</code></pre>"
)


def _text(page: str) -> str:
    found = BeautifulSoup(page, "html.parser").find("pre")
    assert found
    return str(found.get_text())


@pytest.mark.parametrize("code", [_HIGHLIGHTED, _ANSWER])
def test_the_text_of_code_stays(code: str) -> None:
    slim = slim_page(f"<p>Run</p>\n{code}\n<p>it</p>")
    assert _text(slim) == _text(code) and len(slim) < len(code) + 20


def test_blanks_lose_their_elements_and_marks_their_entities() -> None:
    assert 'class="w"' not in slim_page(_HIGHLIGHTED) and 'class="m"' in slim_page(_HIGHLIGHTED)
    slim = slim_page(_ANSWER)
    assert "batch_fits  185\nof it" in slim and "&lt;b&gt; &#38; &#34;c&#34;" in slim


def test_a_line_end_right_behind_the_tag_stays_written_out() -> None:
    """A browser would leave it out, and the first line of the code with it."""
    assert "&#10;" in slim_page("<pre>&#10;first</pre>")


def test_scripts_and_styles_are_left_alone() -> None:
    script = '<script>const a = "&#95;<span class=\\"w\\"> </span>";</script>'
    assert slim_page(script) == script


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("const a = 1; // as a factor", "const a = 1;"),
        ("f(a, // the first", "f(a,"),
        ('const a = "(1) // 2";', 'const a = "(1) // 2";'),
        ('open("https://example.org/");', 'open("https://example.org/");'),
        ("const half = `(a) // b`;", "const half = `(a) // b`;"),
    ],
)
def test_a_comment_behind_code_goes_and_a_text_stays(line: str, kept: str) -> None:
    assert slim_script(f"// what it does\n  {line}\n") == f"{kept}\n"
