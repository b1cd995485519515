"""One visit of each page for all that is asked of it.

Weight, hosts, console, every width, both schemes, everyone's access.

A page costs seconds to open and seconds to scan, so nothing opens it a second time. A template is
scanned as a whole; a chapter, whose frame is that of its template, within its article.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scripts.website.build.handbook import chapters
from scripts.website.build.weigh import BUDGET, BUDGETS, TEMPLATES, weight

CHAPTERS = [one.page.removesuffix(".md") + "/" for one in chapters()]
# Pages whose narrow layout differs from the wide one in more than the width.
PHONE = (
    "",
    "accelerators/",
    "accelerators/nvidia/",
    "accelerators/nvidia/h100-sxm/",
    "compare/h100-sxm-vs-mi300x/",
    "calculators/min-batch/",
    "notebooks/fsdp-limit/",
    "notebooks/",
    "notebooks/llama-3/",
    "handbook/roofline/",
    "references/",
    "references/works/",
    *CHAPTERS,
)
# A dark page differs from a light one in its colours alone, and a narrow one in all but these.
_COLOUR_RULES = ["color-contrast", "link-in-text-block"]
_ONLY_COLOURS = {"runOnly": {"type": "rule", "values": _COLOUR_RULES}}
_NO_COLOURS = {"rules": {name: {"enabled": False} for name in _COLOUR_RULES}}
_SETTLED = """() => (!document.querySelector('.fb-works')
    || document.querySelector('.fb-works[data-ready]'))
  && (!document.querySelector('.fb-calculator')
    || document.querySelector('.fb-answer')?.children.length)
  && [...document.querySelectorAll('.highlight > pre')].every(pre => pre.previousElementSibling)
  && [...document.images].every(image => image.complete)"""
_TWO_FRAMES = """() => new Promise(
  done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))))"""
_OUT_OF_REACH = """[...document.querySelectorAll('.fb-maths')]
  .filter(box => box.scrollWidth > box.clientWidth && box.tabIndex !== 0).length"""
_SHOWN_FORMULAS = """[...document.querySelectorAll('math')]
  .filter(math => math.checkVisibility() && !math.ariaHidden).length"""
_MATHS_ROLES = {
    "MathMLMath",
    "MathMLRow",
    "MathMLFraction",
    "MathMLSub",
    "MathMLSup",
    "MathMLTable",
}


class Visit:
    """A page in a tab, with what it asked for and what it said meanwhile."""

    def __init__(self, context: Any, base: str, page: str) -> None:
        context.set_default_timeout(60_000)
        self.context, self.base, self.page = context, base, page
        self.messages: list[str] = []
        self.requests: dict[str, None] = {}
        self.tab = context.new_page()
        self.tab.on("console", self._hear)
        self.tab.on("pageerror", lambda error: self.messages.append(str(error)))
        self.tab.on("request", lambda request: self.requests.setdefault(request.url))
        self.tab.goto(base + page)
        self.tab.evaluate(
            "document.querySelectorAll('img[loading=lazy]').forEach(i => { i.loading = 'eager'; })"
        )

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.messages.append(message.text)

    def faults(self, site: Path) -> dict[str, Any]:
        """Everything that is wrong with the page, by what was looked at; empty for a good one."""
        faults: dict[str, Any] = {}
        for scheme, width, options in self._looks():
            self.tab.emulate_media(color_scheme=scheme)
            self.tab.set_viewport_size({"width": width, "height": 900})
            self.tab.wait_for_function(_SETTLED)
            self.tab.evaluate(_TWO_FRAMES)
            if self.tab.evaluate("document.documentElement.scrollWidth > innerWidth"):
                faults[f"wider than {width}"] = True
            if options is not None:
                faults[f"axe {scheme} {width}"] = self._scan(options)
        if self.page in CHAPTERS:
            faults["formulas out of reach of the keyboard"] = self.tab.evaluate(_OUT_OF_REACH)
            faults |= self._formulas()
        faults |= self._traffic(site)
        return {name: fault for name, fault in faults.items() if fault}

    def _looks(self) -> list[tuple[str, int, dict[str, Any] | None]]:
        on_a_phone = _NO_COLOURS if self.page in PHONE else None
        return [
            ("light", 1280, {}),
            ("dark", 1280, _ONLY_COLOURS),
            ("light", 768, None),
            ("light", 390, on_a_phone),
        ]

    def _scan(self, options: dict[str, Any]) -> list[str]:
        from axe_playwright_python.sync_playwright import Axe

        part = "article" if self.page in CHAPTERS and self.page not in TEMPLATES else None
        settings = {"resultTypes": ["violations"], **options}
        violations = Axe().run(self.tab, context=part, options=settings).response["violations"]
        return [f"{found['id']}: {found['nodes'][0]['html'][:160]}" for found in violations]

    def _formulas(self) -> dict[str, Any]:
        """Formulas that a screen reader does not meet, and text of theirs that it meets bare."""
        self.tab.evaluate(
            "document.querySelectorAll('article details').forEach(one => { one.open = true; })"
        )
        shown = self.tab.evaluate(_SHOWN_FORMULAS)
        session = self.context.new_cdp_session(self.tab)
        nodes = session.send("Accessibility.getFullAXTree")["nodes"]
        roles = {node["nodeId"]: node["role"]["value"] for node in nodes}
        in_tree = list(roles.values()).count("MathMLMath")
        bare = [
            node["name"]["value"]
            for node in nodes
            if node["role"]["value"] == "StaticText"
            and roles.get(node.get("parentId", "")) in _MATHS_ROLES
        ]
        return {
            "formulas in the tree": "" if in_tree == shown > 0 else f"{in_tree} of {shown}",
            "bare text in formulas": bare,
        }

    def _traffic(self, site: Path) -> dict[str, Any]:
        urls = [url for url in self.requests if not url.startswith("data:")]
        own = [url for url in urls if url.startswith(self.base)]
        size = weight(site, self.base, own)
        return {
            "other hosts": [url for url in urls if url not in own],
            "console": [] if self.page == "404.html" else self.messages,
            "weight": size if size > BUDGETS.get(self.page, BUDGET) else 0,
        }


@pytest.mark.browser
@pytest.mark.parametrize(
    "page", [page or "home" for page in dict.fromkeys((*TEMPLATES, *CHAPTERS))]
)
def test_a_page_is_light_accessible_and_fits_every_window(
    surf: Any, base: str, site: Path, page: str
) -> None:
    """No axe violation, no sideways scrolling, no other host, no error, and within its budget.

    In light, dark and on a phone; formulas are spoken.
    """

    def faults(context: Any) -> dict[str, Any]:
        return Visit(context, base, "" if page == "home" else page).faults(site)

    assert surf(faults) == {}
