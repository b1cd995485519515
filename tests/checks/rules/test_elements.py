"""Prose holds no HTML: each way in is found with its line, and what only shows code is left."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import pytest

from flopbook.checks.lint import lint
from flopbook.checks.rules import stray, typed
from flopbook.checks.rules.base import Holdings
from flopbook.checks.rules.elements import check, closed_part, elements, hidden
from flopbook.checks.rules.typed import bound_numbers, typed_numbers
from flopbook.data.files import NotRead, read_text
from flopbook.data.library import library


@pytest.mark.parametrize(
    "text",
    [
        "<script>attacked()</script>",
        "a <svg onload=attacked()> b",
        "<iframe srcdoc='&lt;script&gt;attacked()&lt;/script&gt;'></iframe>",
        "<IMG src=x onerror=attacked()>",
        "<\\script>attacked()",
        "</p>",
        "<!--><script>attacked()</script>",
        "<!-- book --> <script>attacked()</script>",
        "![x](x){onerror=attacked()}",
        "[x](javascript:attacked())",
        "[x]( <JavaScript:attacked()>)",
        "[x]\n\n[x]: javascript:attacked()",
        "\\`<script>attacked()</script>`",
        "{% raw %}<script>attacked()</script>{% endraw %}",
        "$ <script>attacked()</script> $",
        "```\n```\n<script>attacked()</script>\n```\n```",
        # what Jinja takes out hides nothing, and what it prints may be the rest of a tag or a link
        "{# ` #}<b-attacked>{# ` #}",
        "{% set a = '`' %}<b-attacked>{% set a = '`' %}",
        "{#\n```\n#}\n<b-attacked>\n{#\n```\n#}",
        "{% raw %}{{{% endraw %}<b-attacked>{% raw %}}}{% endraw %}",
        "<{{ 'b-attacked>' }}",
        "[x]{{ '(javascript:attacked())' }}",
        "[x]({{ 'javascript:attacked()' }})",
        "`{{ '`' }}<b-attacked>`",
        "```\n{{ terminal('x') }}\n<b-attacked>\n```",
        "```\na\n\n{#- -#}```\n\n<b-attacked>\n\n```\na\n```",
        # fences that Markdown does not take, or ends elsewhere
        "~~~ a 'b'\n<b-attacked>\n~~~",
        "```\n<b-attacked>\n ```\n",
        "> ```\n<b-attacked>\n> ```",
        # code that begins in the line before, or with two of three marks
        "a ` b\nc ` <b-attacked> ` d",
        "```a`` <b-attacked> ``",
        # code that a branch, a text or brackets of an expression take apart
        "{% if 0 %}`{% endif %}<b-attacked>`",
        "a ` b{% if 0 %}\n\n{% endif %} ` <b-attacked> `",
        "{% if 0 %}a{% endif %}```\n\n```\n<b-attacked>\n```",
        "``{% if 1 %}`{% endif %}\n\n~~~\n<b-attacked>\n~~~",
        "{{ '' }}```\n\n```\n<b-attacked>\n```",
        "{% if 1 %}`{% endif %}{% if 0 %}${% endif %}``\n\n```\n<b-attacked>\n```",
        "`{% if 0 %}\n{% endif %}``\n\n```\n<b-attacked>\n```",
        "{{ '}} ` ' }} <b-attacked> `",
        "{% set a = '%}`' %}<b-attacked>`",
        "{{ {'a': {'b': '`'}} }} <b-attacked> `",
        "\\{#\n#}`<b-attacked>`",
        "\\{{ '`a`' }}:`<b-attacked>`",
        "a\n{% raw -%}\n\n{% endraw %}```\n<b-attacked>\n```",
        "<{% if 0 %} {% endif %}b-attacked>",
        "[x](java{% if 0 %} {% endif %}script:attacked())",
        "[x]{% if 0 %} {% endif %}(javascript:attacked())",
        "[x](x){: on{% if 0 %}\n{% endif %}click=attacked() }",
        "[x\ny]: javascript:attacked()",
        # formulas that an expression or a branch begins or ends
        "{{ '$a' }}+$<b-attacked>$",
        "${{ '' }}$ x $$<b-attacked>$$",
        "{% if 0 %}$${% endif %}<b-attacked>$$",
        # formulas to this rule alone
        "a$<b-attacked>$",
        "\\$<b-attacked>$",
        # addresses as browsers read them
        "[x](java&#115;cript:attacked())",
        "[x]( vbscript:attacked())",
        "[x](data:text/html,attacked)",
        "a\n: [x]: javascript:attacked()",
        "]([x](javascript:attacked())",
        '[x](x){: href="javascript:attacked()" }',
        '[x](x){: style="position:fixed" }',
    ],
)
def test_what_would_be_markup_is_found(text: str) -> None:
    findings = list(elements(f"# Title\n\n{text}\n"))
    assert findings and findings[0][0] >= 3


@pytest.mark.parametrize(
    "text",
    [
        "a < b and b > a, 3<5",
        "`<script>` and ``<a `b`>``",
        "```html\n<script>attacked()</script>\n```",
        "$a < b$ and $$\na < b\n$$",
        "$$ ` $$ <b> `",
        "$$\n\n~~~\n$$<b>\n\n~~~\n",
        '{{ chip("h100-sxm") }} {% if a<b %}{% endif %}{# <b> #}',
        "<!-- book -->",
        "[x](https://acme.example/javascript:)",
        "a set {n = 1}",
        '- a\n\n    ```python title="a.py"\n    a<b>\n    ```\n',
        "[x](https://acme.example) [y](../one.md#two) [z](mailto:a@acme.example)",
        "a footnote[^1]\n\n[^1]: Note: a",
        "{%- for a in b %}\n| `a` |\n{%- endfor %}",
        "[x](x){: .fb-screen }",
    ],
)
def test_what_a_page_shows_is_left(text: str) -> None:
    assert list(elements(text)) == []


def test_the_finding_names_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "one.md").write_text("# One\n\n<script>attacked()</script>\n", encoding="utf-8")
    (finding,) = list(check(Holdings(library=library(), docs=tmp_path)))[:1]
    assert f"{finding.problem}".startswith(f"{tmp_path / 'one.md'}:3:1: markup: found '<script>")


def test_our_own_prose_is_plain() -> None:
    assert [problem for problem in lint() if problem.rule == "markup"] == []


@pytest.mark.parametrize("mark", ["\u202e", "\u2066", "\u200b", "\x1b", "\ufeff", "\x00"])
def test_characters_that_hide_are_found_in_text_and_in_code(mark: str) -> None:
    """A page could show a reviewer another order of words than it publishes."""
    findings = list(hidden(f"# Title\n\nword{mark}word\n\n    code{mark}\n"))
    assert [line for line, _ in findings] == [3, 5]
    assert all(f"U+{ord(mark):04X}" in message for _, message in findings)


def test_letters_and_tabs_hide_nothing() -> None:
    assert not list(hidden("é × 10²³ – “quoted”\n\tcode 木\n"))


@pytest.mark.parametrize("piece", ["[", "{", "](", "<", "`", "{% raw %}", "\n```", " ", "$"])
def test_a_page_of_one_mark_takes_no_time(piece: str) -> None:
    """A hundred thousand brackets kept lint for eleven seconds."""
    text = "# T\n" + piece * (50_000 // len(piece))
    begun = time.process_time()
    list(elements(text))
    typed_numbers(text)
    bound_numbers(text)
    assert time.process_time() - begun < 3


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="the system has no such sockets")
def test_a_socket_among_the_prose_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket is short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("one.md")
        with pytest.raises(NotRead, match="a socket"):
            read_text(Path("one.md"))
        holdings = Holdings(library=library(), docs=tmp_path)
        assert not list(check(holdings)) and not list(typed.check(holdings))
        assert "a socket" in str(next(stray.check(holdings)).problem)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\n<b>\n", 2),
        ("{#\none\ntwo\n#}<b>\n", 4),
        ("{% set a = 1 %}\n{{ a }}\n<b>\n", 3),
        ("{{ calc(\n  'params'\n) }} <b>\n", 3),
        ("{% raw %}\n{{\n{% endraw %}\n<b>\n", 4),
        ("one\n\n{#- two\n-#}\n\n<b>\n", 6),
        ("```\ncode\n```\n\n<b>\n", 5),
        ("$$\na\n$$\n<b>\n", 4),
        ("{{ open\n<b>\n", 2),
        ("one\n\n[x](javascript:a)\n", 3),
        ("one\n~~~ a b\n", 2),
    ],
)
def test_the_line_is_that_of_the_source(text: str, line: int) -> None:
    """What Jinja takes out has lines too."""
    assert [number for number, _ in elements(text)] == [line]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("one {{ two }} three", "one {{ two }} three"),
        ("one {{ two", "one "),
        ("one {# two }} three", "one "),
        ("{% a %}{{ b }}{# c #}{{ d", "{% a %}{{ b }}{# c #}"),
        ("{ one } { two", "{ one } { two"),
        ("{{ '{#' }} one", "{{ '{#' }} one"),
        ("", ""),
    ],
)
def test_what_does_not_end_is_cut_off(text: str, kept: str) -> None:
    assert closed_part(text) == kept


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<b>one</b>", ["<b>", "</b>"]),
        ("<{{ a }}>", ["<{{ }}>"]),
        ("[x]({{ a }})", ["]({{ }}", "]({{ }}"]),
        ("[x](javascript:a)", ["](javascript:a"]),
        ("![x](x){onerror=a}", ["{onerror=a}"]),
        ("``` a b", ["``` a b"]),
        ("<" + "a" * 100, ["<" + "a" * 56 + "..."]),
    ],
)
def test_a_finding_says_what_stands_there(text: str, found: list[str]) -> None:
    assert [shown for _, shown in elements(text)] == found
