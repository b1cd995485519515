"""Boxes of the site generator, such as answers, in the Markdown twin of a page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.website.build.plain_markdown import as_markdown


def twin(text: str) -> str:
    """The twin of a page that lies in a folder beside another."""
    return as_markdown(text, "a/b.md", ["a/b.md", "a/c.md"])


@pytest.mark.parametrize("mark", ["???", "???+", "!!!"])
@pytest.mark.parametrize("first", ["", "    \n"])
def test_a_box_is_a_quotation(mark: str, first: str) -> None:
    """Indented by four, other readers of Markdown take an answer for code; one that began with a
    blank line, where a variable had been set, lost its indentation besides.
    """
    box = f'{mark} success "Answer"\n{first}    One [link](c.md).\n\n    Two.\n\n'
    quoted = "> **Answer**\n>\n> One [link](../c/index.md).\n>\n> Two."
    assert twin(f"# T\n\nAsk.\n\n{box}Next.\n") == f"# T\n\nAsk.\n\n{quoted}\n\nNext.\n"


def test_lists_tables_and_code_stay_what_they_are() -> None:
    inside = ["- a", "    - b", "", "| x |", "| - |", "", "```python", "if x:", "    y", "```"]
    box = '??? info "Many"\n' + "".join(f"    {line}".rstrip() + "\n" for line in inside)
    assert twin(box) == "> **Many**\n>\n" + "".join(f"> {line}".rstrip() + "\n" for line in inside)


def test_a_box_in_a_fence_is_an_example() -> None:
    page = '```markdown\n??? success "Answer"\n    Text.\n```\n'
    assert twin(page) == page


def test_boxes_at_the_end_and_one_after_the_other_are_apart() -> None:
    page = '??? note "A"\n    One.\n\n??? note\n    Two.'
    assert twin(page) == "> **A**\n>\n> One.\n\n> **Note**\n>\n> Two.\n"


@given(st.text(alphabet=' \n\t?!"ab#`>', max_size=80))
def test_no_text_of_a_box_leaves_it(text: str) -> None:
    inside = "".join(f"    {line}\n" for line in text.splitlines())
    quoted = twin(f'??? note "A"\n{inside}\nAfter.\n')
    assert quoted.endswith("\n\nAfter.\n")
    assert all(line.startswith(">") for line in quoted.split("\n\nAfter.")[0].splitlines())
