"""Long tables in the Markdown twin of a page."""

from __future__ import annotations

import pytest

from scripts.website.build.plain_markdown import as_markdown


@pytest.mark.parametrize(("rows", "more"), [(3, ""), (500, ""), (501, "1 more"), (1908, "1,408")])
def test_a_long_table_is_cut_and_says_so(rows: int, more: str) -> None:
    """The table of measured runs alone was 690 kB of Markdown."""
    cells = "".join(f"<tr><td>{number}</td></tr>" for number in range(rows))
    page = f"# A page\n\n<table><tr><th>Run</th></tr>{cells}</table>\n"
    text = as_markdown(page, "a.md", ["a.md"])
    assert text.count("\n| ") == min(rows, 500) + 2  # the head and the line below it
    assert ("more in the data" in text) == bool(more) and more in text
