"""Prose by chance in which markup hides behind code, formulas, expressions and lists of attributes.

Whatever lint lets through is Markdown and nothing else: on the page that the site makes of it, no
element, handler or address is live that the prose has brought.
"""

from __future__ import annotations

import functools
import importlib
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from bs4 import BeautifulSoup

from flopbook.checks.rules.elements import elements
from scripts.attack.campaign import Attempt, Campaign
from scripts.website.build.maths import MathsError, replace_maths
from scripts.website.build.typesetting import typeset_page
from scripts.website.pages.prose import ProseError, render

NAME = "markup"
_PAGES = 8_000
_MOST_PIECES = 14
_CONFIG = Path(__file__).resolve().parents[3] / "mkdocs.yml"
_LIVE = (
    *("<img src=x onerror=attacked()>", "<b-attacked>", "</p><b-attacked>", "<!-- attacked -->"),
    *(
        "[x](javascript:attacked())",
        "[x](java&#115;cript:attacked())",
        "[x]: javascript:attacked()",
    ),
    *("[x](x){: onclick=attacked() }", '[x](x){: href="javascript:attacked()" }', "[x][x]"),
    *("<{{ 'b-attacked>' }}", "[x]{{ '(javascript:attacked())' }}", "<javascript:attacked()>"),
    *("![x](x){onerror=attacked()}", "[x]({{ 'javascript:attacked()' }})", "<b{# #}-attacked>"),
)
# Code to a reader of Markdown, until something before it ends it or takes its mark.
_CODE = (
    *("`<b-attacked>`", "``<b-attacked>``", "` <b-attacked> `", "`[x](javascript:attacked())`"),
    *("\n\n```\n<b-attacked>\n```\n", "\n\n~~~\n\n<b-attacked>\n\n~~~\n\n"),
    "\n\n    ```\n    <b-attacked>\n    ```\n",
)
_MARKS = (
    *("`", "``", "```", "~~~", "$", "$$", "\\", "|", "*", "_", ">", "- ", "    ", "\t", "1. ", "#"),
    *("\n", "\n\n", "\n```\n", "\n~~~\n", "\n ```\n", "\n``` a b\n", "\n~~~ a 'b'\n", "\n$$\n"),
    *("a", " ", "!!! note\n    ", '??? success "a"\n    ', "[^1]: ", "*[a]: ", "[x]: x\n"),
    *("| a |\n| - |\n| ", "$2 a", "&lt;", "<!-- book -->", "a\n: ", "[", "](", ")", "{: ", "}"),
    *("<", "]: ", "[x\ny]", "\n\n~~~\n\n", "\n\n```\n\n", "\n\n$$", '=== "a"\n\n    '),
)
# What Jinja prints, takes out, leaves as it is, or leaves out.
_TAGS = (
    *("{{ '`' }}", "{{ '~~~' }}", "{{ '\\n```\\n' }}", "{% set a = '`' %}", "{# ` #}", "{# $ #}"),
    *("{% raw %}", "{% endraw %}", "{% raw %}{{{% endraw %}", "{% raw %}}}{% endraw %}"),
    *("{{ '{#' }}", "{#\n```\n#}", "{#\n~~~\n#}", "{#\n#}", "{{ '' }}", "{{ '\\r' }}", "{{ '$' }}"),
    *("{{ '$$' }}", "{{ '`a`' }}", "{{ ['`', '<b-attacked>'] }}", "{{ '}} ` ' }}"),
    *("{% set a = '%}`' %}", "{{ {'a': {'b': '`'}} }}", "{% raw -%}\n\n{% endraw %}"),
    *("{% if 0 %}`{% endif %}", "{% if 1 %}`{% endif %}", "{% if 0 %}$${% endif %}"),
    *("{% if 0 %}a{% endif %}", "{% if 0 %}\n{% endif %}", "{% if 0 %}\n\n{% endif %}"),
    *(
        "{% if 0 %}\n\n```\n{% endif %}",
        "{% if 1 %}{% else %}`{% endif %}",
        "{% if 1 %}\n{% endif %}",
    ),
    "{%- for a in [1, 2] %}`{%- endfor %}",
)


def attack(campaign: Campaign) -> Iterator[Attempt]:
    """Pages of pieces, each with one piece that must not come alive."""
    for _ in range(campaign.count(_PAGES)):
        page = _page(campaign.rng)
        yield Attempt(page, silent_fault(page))


def _page(rng: random.Random) -> str:
    most = rng.choice((4, _MOST_PIECES))
    pieces = rng.choices((*_MARKS, *_TAGS), k=rng.randint(1, most))
    pieces.insert(rng.randint(0, len(pieces)), rng.choice(rng.choice((_LIVE, _CODE))))
    if rng.random() < 0.5:  # what closes may stand before what opens
        pieces.append(rng.choice(pieces))
    return f"# Title\n\n{''.join(pieces)}\n"


def silent_fault(page: str) -> str:
    """What is live on the page although lint is silent; nothing where either refuses it."""
    if any(True for _ in elements(page)):
        return ""
    try:
        text = typeset_page(replace_maths(render(page, "attack.md", "docs/attack.md")))
    except (ProseError, MathsError):
        return ""
    return _live(_markdown().reset().convert(text))


@functools.cache
def _markdown() -> Any:
    """Markdown as the site is set to read it."""
    listed = yaml.safe_load(_CONFIG.read_text(encoding="utf-8"))["markdown_extensions"]
    settings = dict(_named(extension) for extension in listed)
    library: Any = importlib.import_module("markdown")
    return library.Markdown(extensions=list(settings), extension_configs=settings)


def _named(extension: Any) -> tuple[str, dict[str, Any]]:
    if isinstance(extension, str):
        return extension, {}
    ((name, settings),) = extension.items()
    return name, settings


def _live(page: str) -> str:
    """The first element, handler or address of a page that comes from an attack."""
    soup = BeautifulSoup(page, "html.parser")
    if soup.find("b-attacked"):
        return "an element"
    for element in soup.find_all(True):
        for name, value in element.attrs.items():
            if name.startswith("on"):
                return f"a handler {name}"
            address = re.sub(r"[\x00-\x20]", "", str(value)).lower()
            if name in ("href", "src") and address.startswith("javascript:"):
                return f"an address {value}"
    return "a comment" if "<!-- attacked" in page else ""
