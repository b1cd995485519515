"""The page on planning: commands as they answer today, and published layouts beside the best."""

from __future__ import annotations

import pytest

from flopbook.errors import FlopbookError
from scripts.website.measured.published_layouts import PUBLISHED
from scripts.website.pages.planned import published_layouts, terminal


def test_a_command_is_shown_with_what_it_prints() -> None:
    block = terminal("flopbook bubble --stages 8 --microbatches 32")
    assert block.startswith("```console\n$ flopbook bubble --stages 8 --microbatches 32\nfraction")
    assert block.endswith("\n```")


@pytest.mark.parametrize(
    ("line", "said"), [("ls", "no command"), ("flopbook bubble --stages 0", "status 2")]
)
def test_a_command_that_fails_stops_the_page(line: str, said: str) -> None:
    with pytest.raises(FlopbookError, match=said):
        terminal(line)


def test_a_command_may_be_shown_from_one_of_its_lines_on() -> None:
    block = terminal("flopbook bubble --stages 8 --microbatches 32", since="overhead")
    assert "\n...\noverhead" in block and "fraction" not in block
    with pytest.raises(FlopbookError, match="begins with 'nothing'"):
        terminal("flopbook bubble --stages 8 --microbatches 32", since="nothing")


def test_every_published_layout_has_a_row() -> None:
    rows = published_layouts("planning.md")
    assert rows.count("<tr>") == len(PUBLISHED) + 1
    assert "llama-3-405b" in rows and "TP 8 PP 16 DP 128" in rows
