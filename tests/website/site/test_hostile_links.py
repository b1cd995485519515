"""Links made to harm: a page shows what it can of them, runs nothing, and asks nobody else."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from scripts.website.build.weigh import visit

pytestmark = pytest.mark.browser

PAGES = {
    "accelerators/": ("view", "find", "vendor", "from", "dtype", "columns", "sort", "compare", "x"),
    "planner/": ("model", "chip", "chips", "other", "stack", "dtype", "seq", "batch-tokens"),
    "serve/": ("model", "chip", "chips", "in", "out"),
    "reached/": ("find", "model", "chip", "kind", "format", "from", "to"),
    "references/": ("find", "topic", "year", "kind"),
    "check/": ("text",),
    "calculators/min-batch/": ("chip", "dtype", "d-model", "sparsity", "peak"),
    "calculators/memory/": ("model", "tp", "pp", "zero", "recompute"),
}
VALUES = (
    *("<img src=x onerror=attacked()>", "\"' onfocus=attacked() autofocus x='"),
    *("__proto__", "constructor", "\x00\x1b[31m\u202e\u2066" + "9" * 5000),
)
OTHERS = "__proto__[polluted]=1&constructor.prototype.polluted=1&hasOwnProperty=1&x=%E0%A4%A&y=%"
HOOK = "window.attacked = () => { window.wasAttacked = true }"
HARM = """() => [
  window.wasAttacked && 'a script ran',
  'polluted' in {} && 'a prototype changed',
  document.querySelector('img[src="x"], a[href^="javascript"]') && 'an element of the link',
].filter(Boolean)"""


@pytest.mark.parametrize("page", PAGES)
def test_a_page_takes_no_harm_from_its_address(surf: Any, base: str, page: str) -> None:
    queries = [OTHERS, *("&".join(f"{key}={quote(one)}" for key in PAGES[page]) for one in VALUES)]

    def use(context: Any) -> list[str]:
        tab, harm = context.new_page(), list[str]()
        tab.add_init_script(HOOK)
        tab.on("pageerror", lambda error: harm.append(str(error)))
        tab.on("request", lambda request: harm.extend(_elsewhere(request.url, base)))
        for query in queries:
            tab.goto("about:blank")
            visit(tab, f"{base}{page}?{query}#{quote(VALUES[0])}")
            harm += [f"{query[:80]}: {found}" for found in tab.evaluate(HARM)]
        return harm

    assert surf(use) == []


def _elsewhere(address: str, base: str) -> list[str]:
    return [] if address.startswith((base, "data:", "blob:", "about:")) else [address]
