"""A list that goes on after a heading goes on counting."""

from __future__ import annotations

from typing import Any

import pytest
from markdown import Markdown

from scripts.website.build import pagehook
from scripts.website.build.lists import NumberedLists


def test_a_list_begins_with_the_number_of_its_source() -> None:
    """Steps of a backward pass are 5 to 9, as the text names them."""
    page = Markdown(extensions=[NumberedLists()])
    assert '<ol start="5">' in page.convert("5. Gather.\n6. Multiply.\n")
    assert "<ol>\n<li>" in page.convert("1. Gather.\n2. Multiply.\n")


def test_the_site_is_built_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pagehook, "filled", lambda nav: nav)
    config: dict[str, Any] = {"nav": [], "markdown_extensions": ["tables"]}
    kinds = [type(one) for one in pagehook.on_config(config)["markdown_extensions"]]
    assert kinds == [str, NumberedLists]
