"""HTML that Markdown need not read: the page is the same, with or without."""

from __future__ import annotations

import re

import pytest
import yaml
from markdown import markdown

from scripts.website.build.generator import CONFIG
from scripts.website.build.whole_blocks import WholeBlocks, is_whole

_TABLE = '<div class="a"><table><tr><td>1 &lt; 2</td></tr></table></div>'
_PAGES = (
    _TABLE,
    f"Words before\n\n{_TABLE}\n\nand *after*.",
    f"{_TABLE}\n{_TABLE}\n\n- one\n- two",
    f"{_TABLE}\nwith *words* on the next line",
    "<div>\n\n*open over a blank line*\n\n</div>\n\n*after*",
    "<figure><svg><path d='M0 0'/></svg></figure>\n\n## Heading\n\ntext",
    '<div><h2 id="h">A heading</h2></div>\n\ntext',
    "<details><summary>More</summary><ul><li>a</li></ul></details>",
    f"```html\n\n{_TABLE}\n\n```\n\ntext",
    f"    {_TABLE}\n\nindented code",
    f"- an item\n\n    {_TABLE}\n\n- another",
    "Not <div> a block\n\n<b>inline</b>",
    "<div><p>never closed\n\ntext",
)


@pytest.mark.parametrize("page", _PAGES)
def test_a_page_is_what_markdown_makes_of_it(page: str) -> None:
    usual = ["fenced_code", "toc", "sane_lists"]
    assert _squeezed(markdown(page, extensions=[*usual, WholeBlocks()])) == _squeezed(
        markdown(page, extensions=usual)
    )


def _squeezed(html: str) -> str:
    return re.sub(r"\s*\n\s*", "\n", html).strip()


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (_TABLE, True),
        (f"{_TABLE}\n{_TABLE}", True),
        ("<article><p>a</p></article>", True),
        ("text", False),
        ("<b>a</b>", False),
        ("<div>a", False),
        ("<div><p>a</div></p>", False),
        ("<div>a</div></div>", False),
        ("<div>a</div> text", False),
        ("<div><h3>a</h3></div>", False),
    ],
)
def test_a_block_is_whole_where_nothing_after_it_belongs_to_it(block: str, expected: bool) -> None:
    assert is_whole(block) is expected


def test_numbering_goes_on_below_a_heading_of_an_algorithm() -> None:
    """Step 5 of a backward pass was shown as step 1, and the text speaks of step 5."""
    config = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    ours = [name for name in config["markdown_extensions"] if isinstance(name, str)]
    page = markdown("1. a\n2. b\n\n**Backward**\n\n3. c", extensions=ours)
    assert '<ol start="3">' in page
