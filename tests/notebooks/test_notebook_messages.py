"""What is said of a notebook that fails: one line, with nothing hidden in it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scripts.website.build.notebooks import one_line


@given(st.text())
def test_what_a_notebook_says_is_one_printable_line(text: str) -> None:
    assert one_line(text).isprintable()


def test_colours_of_an_error_are_left_out() -> None:
    assert one_line("\x1b[31mValueError\x1b[39m: a\x1b[2J") == "ValueError: a\\x1b[2J"
