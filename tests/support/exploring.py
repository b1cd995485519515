"""The explorer in a browser, for the tests of its views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

WIDE = {"width": 1280, "height": 900}
PAGE = "accelerators/"


def explore(context: Any, base: str, query: str = "") -> Any:
    """A tab with the explorer, ready for use."""
    tab = context.new_page()
    tab.goto(base + PAGE + query)
    tab.wait_for_selector(".fb-explorer[data-ready]")
    # Whoever turns to the filters gets what the other views need.
    tab.locator(".fb-panel").dispatch_event("focusin")
    tab.wait_for_selector(".fb-explorer[data-whole]", state="attached")
    return tab


def at(query: str = "", **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A test whose function gets a tab with the explorer in that state."""

    def wrap(use: Callable[..., Any]) -> Callable[..., Any]:
        def test(surf: Any, base: str) -> None:
            surf(
                lambda context: use(explore(context, base, query)), **{"viewport": WIDE, **options}
            )

        test.__name__, test.__doc__ = use.__name__, use.__doc__
        return test

    return wrap


def names(tab: Any) -> list[str]:
    """The entries that the table shows, by id, from above."""
    return tab.evaluate(
        "[...document.querySelectorAll('.fb-all tbody tr[data-id]')].map(row => row.dataset.id)"
    )


def column(tab: Any, head: str) -> dict[str, str]:
    """Entry -> text of its cell under the head that begins with these words."""
    return tab.evaluate(
        """words => {
          const heads = [...document.querySelectorAll('.fb-all thead th')];
          const n = heads.findIndex(head => head.textContent.startsWith(words));
          const rows = [...document.querySelectorAll('.fb-all tbody tr[data-id]')];
          return Object.fromEntries(
            rows.map(row => [row.dataset.id, row.cells[n].textContent.trim()]));
        }""",
        head,
    )


def count(tab: Any) -> int:
    """How many entries pass, as the page says it."""
    return int(tab.inner_text(".fb-found .fb-count").split()[0])


def query(tab: Any) -> str:
    """The state in the address, after the question mark."""
    return tab.evaluate("location.search.slice(1)")


def tick(tab: Any, facet: str, *labels: str) -> None:
    """Open a folded list, tick or clear boxes, close it with Escape."""
    box = tab.locator(".fb-facets .fb-facet").filter(
        has=tab.locator(f"summary:has-text('{facet}:')")
    )
    box.locator("summary").click()
    for label in labels:
        box.get_by_label(label, exact=True).click()
    tab.keyboard.press("Escape")
