"""What browser tests share: contexts that are used again, and a scan of a part of the elements."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.browsing import scan

pytestmark = pytest.mark.browser
_WRITE = """() => {
  localStorage.setItem('mine', 'x');
  document.cookie = 'mine=x';
  addEventListener('pagehide', () => localStorage.setItem('mine', 'late'));
}"""
_READ = "() => [localStorage.getItem('mine'), document.cookie]"
_MAY_READ = "() => navigator.permissions.query({name: 'clipboard-read'}).then(one => one.state)"


def _leave(context: Any, base: str) -> str:
    context.grant_permissions(["clipboard-read"])
    context.route("**/*.css", lambda route: route.abort())
    tab = context.new_page()
    tab.goto(base + "404.html")
    tab.evaluate(_WRITE)
    context.new_page().goto(base + "404.html")
    return str(tab.evaluate(_MAY_READ))


def _found(context: Any, base: str) -> dict[str, Any]:
    answers: list[int] = []
    pages = len([page for page in context.pages if page.url != "about:blank"])
    tab = context.new_page()
    tab.on("response", lambda one: answers.append(one.status) if ".css" in one.url else None)
    tab.goto(base + "404.html")
    return {
        "written": tab.evaluate(_READ),
        "may": tab.evaluate(_MAY_READ),
        "styles": set(answers),
        "pages": pages,
    }


def test_a_test_finds_nothing_of_the_one_before(surf: Any, base: str) -> None:
    """Storage, cookies, permissions, routes and pages are as in a context of its own."""
    assert surf(_leave, base) == "granted"
    again = surf(_found, base)
    assert again == surf(_found, base, alone=True)
    assert again == {"written": [None, ""], "may": "prompt", "styles": {200}, "pages": 0}


_PALE = {
    "one cell of each row": "td:nth-child(4) { color: #ccc !important; }",
    "one row": "tbody tr:nth-child(7) th { background: #111 !important; }",
    "one word": "tbody tr:nth-child(9) td:nth-child(3) { opacity: 0.3; }",
}


@pytest.mark.parametrize("style", _PALE.values(), ids=_PALE)
def test_a_pale_word_among_many_is_found(surf: Any, base: str, style: str) -> None:
    """Colours are looked for on one element of each look; whatever differs has its own."""

    def found(context: Any) -> list[list[str]]:
        tab = context.new_page()
        tab.goto(base + "models/")
        before = scan(tab, structure=False)
        tab.add_style_tag(content=style)
        return [before, scan(tab, structure=False)]

    before, after = surf(found)
    assert before == [] and [one.partition(":")[0] for one in after] == ["color-contrast"]


def test_what_is_wrong_is_found_again_and_with_all_rules(surf: Any, base: str) -> None:
    """Only what has enough contrast is not looked at twice; one run or two find the same."""

    def found(context: Any) -> list[list[str]]:
        tab = context.new_page()
        tab.goto(base + "handbook/roofline/")
        tab.add_style_tag(content="article p { color: #999 !important; }")
        return [
            scan(tab, structure=structure, part="article") for structure in (False, False, True)
        ]

    first, again, whole = surf(found)
    assert first and first == again == whole
    assert {one.partition(":")[0] for one in first} == {"color-contrast"}
