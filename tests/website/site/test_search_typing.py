"""The search answers while its texts are read, which takes seconds of a worker of their own."""

from __future__ import annotations

from typing import Any

import pytest

_TEXTS = "**/search/documents.json"
_SEEN = """() => {
  window.seen = [];
  const [meta, list] = document.querySelector('.md-search-result').children;
  const note = () => window.seen.push([list.querySelector('a')?.pathname ?? '', meta.textContent]);
  new MutationObserver(note).observe(list, {childList: true});
}"""


def _fivefold(route: Any) -> None:
    """Texts that take five times as long to read: a busy machine must not win the race."""
    route.fulfill(json=5 * route.fetch().json())


@pytest.mark.browser
def test_who_types_on_while_the_texts_are_read_is_answered(surf: Any, base: str) -> None:
    """To read the texts takes seconds, in which only the first letters were answered."""

    def typed(context: Any) -> list[Any]:
        context.set_default_timeout(60_000)
        tab = context.new_page()
        tab.route(_TEXTS, _fivefold)
        tab.goto(base)
        tab.evaluate(_SEEN)
        with tab.expect_response(_TEXTS):
            tab.focus(".md-search__input")  # asks for the texts, before the first letter
            tab.keyboard.type("mfu")
        tab.fill(".md-search__input", "ring attention")
        tab.wait_for_selector(".md-search-result__meta:has-text('matching documents')")
        return tab.evaluate("window.seen")

    assert ["/handbook/context-parallelism/", "Searching ..."] in surf(typed)
