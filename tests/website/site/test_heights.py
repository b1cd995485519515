"""On a phone a page is as high before its long tables are laid out as after: it does not jump."""

from __future__ import annotations

from typing import Any

import pytest

from scripts.website.build.weigh import visit
from tests.support.browsing import settle

PAGES = (
    "accelerators/nvidia/h100-sxm/",
    "accelerators/nvidia/",
    "accelerators/",
    "glossary/",
    "compare/",
    "errata/",
)
MOST_OFF = 0.05
_PHONE = {"width": 390, "height": 844}
_HEIGHT = "document.documentElement.scrollHeight"
# Lays out every row of every table that is shown.
_LAY_OUT = """for (const row of document.querySelectorAll('.fb-stacked tbody tr'))
  row.style.contentVisibility = 'visible';"""


@pytest.mark.browser
def test_rows_that_wait_are_taken_as_high_as_they_are(surf: Any, base: str) -> None:
    def heights(context: Any) -> dict[str, list[int]]:
        tab = context.new_page()
        found = {}
        for page in PAGES:
            visit(tab, base + page)
            before = tab.evaluate(_HEIGHT)
            tab.evaluate(_LAY_OUT)
            settle(tab)
            found[page] = [before, tab.evaluate(_HEIGHT)]
        return found

    for page, (before, after) in surf(heights, viewport=_PHONE).items():
        assert abs(before - after) <= MOST_OFF * after, (page, before, after)
