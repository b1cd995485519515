"""One visit of each page for all that is asked of it.

Weight, hosts, console, policy, every width, both schemes, everyone's access.

A page costs seconds to open and seconds to scan, so nothing opens it a second time. A template is
scanned as a whole; a chapter, whose frame is that of its template, within its article.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from scripts.website.build.handbook import chapters
from scripts.website.build.weigh import BUDGET, TEMPLATES, weight
from tests.support.browsing import scan, settle

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
_PHONE_WIDTH = 390
_WATCH = """window.stopped = [];
document.addEventListener('securitypolicyviolation',
  event => window.stopped.push(`${event.violatedDirective} ${event.blockedURI}`));"""
_SETTLED = """() => (!document.querySelector('.fb-works')
    || document.querySelector('.fb-works[data-ready]'))
  && (!document.querySelector('.fb-calculator:not([data-waits])')
    || document.querySelector('.fb-answer')?.children.length)
  && [...document.querySelectorAll('.highlight > pre')].every(pre => pre.previousElementSibling)
  && [...document.images].every(image => image.complete)"""
_OUT_OF_REACH = """[...document.querySelectorAll('.fb-maths')]
  .filter(box => box.scrollWidth > box.clientWidth && box.tabIndex !== 0).length"""
_SIDEWAYS = """[...document.querySelectorAll('article table')]
  .map(table => [table, table.closest('.md-typeset__scrollwrap, .fb-scroll')])
  .filter(([table, box]) => table.checkVisibility() && box && table.offsetWidth > box.clientWidth)
  .map(([table]) => table.innerText.slice(0, 40))"""
# The first of what stands alone, of each kind: 44 px in one piece, above and below it, are its own.
_MISSED = """['.fb-trail a', '.fb-holdings a', '.fb-glossary a', '.fb-list li input']
  .map(kind => document.querySelector(kind))
  .filter(one => one?.checkVisibility())
  .filter(one => {
    one.scrollIntoView({block: 'center'});
    const box = one.getBoundingClientRect();
    const [x, middle] = [box.left + box.width / 2, box.top + box.height / 2];
    const hits = away => {
      const hit = document.elementFromPoint(x, middle + away);
      return one.contains(hit) || hit?.closest('label')?.contains(one);
    };
    const reach = step => {
      let away = 0;
      while (Math.abs(away) < 44 && hits(away + step)) away += step;
      return Math.abs(away);
    };
    return reach(1) + reach(-1) < 43;
  })
  .map(one => one.outerHTML.slice(0, 60))"""
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
        self.errors: list[str] = []
        self.warnings: list[str] = []
        self.requests: dict[str, None] = {}
        self.tab = context.new_page()
        self.tab.on("console", self._hear)
        self.tab.on("pageerror", lambda error: self.errors.append(str(error)))
        self.tab.on("request", lambda request: self.requests.setdefault(request.url))
        self.tab.add_init_script(_WATCH)
        self.tab.goto(base + page)
        self.tab.evaluate(
            "document.querySelectorAll('img[loading=lazy]').forEach(i => { i.loading = 'eager'; })"
        )

    def _hear(self, message: Any) -> None:
        if message.type == "error":
            self.errors.append(message.text)
        elif message.type == "warning":
            self.warnings.append(message.text)

    def faults(self, site: Path) -> dict[str, Any]:
        """Everything that is wrong with the page, by what was looked at; empty for a good one."""
        faults: dict[str, Any] = {}
        for scheme, width, structure, colours in self._looks():
            self.tab.emulate_media(color_scheme=scheme)
            self.tab.set_viewport_size({"width": width, "height": 900})
            self._settle()
            if self.tab.evaluate("document.documentElement.scrollWidth > innerWidth"):
                faults[f"wider than {width}"] = True
            if width == _PHONE_WIDTH:
                faults["tables to be moved sideways"] = self.tab.evaluate(_SIDEWAYS)
                faults["links that a finger misses"] = self.tab.evaluate(_MISSED)
            if structure or colours:
                part = "article" if self.page in CHAPTERS and self.page not in TEMPLATES else None
                found = scan(self.tab, structure=structure, colours=colours, part=part)
                faults[f"axe {scheme} {width}"] = found
        if self.page in CHAPTERS:
            faults["formulas out of reach of the keyboard"] = self.tab.evaluate(_OUT_OF_REACH)
            faults |= self._formulas()
        faults["stopped by the policy"] = self.tab.evaluate("window.stopped")
        faults |= self._traffic(site)
        return {name: fault for name, fault in faults.items() if fault}

    def _looks(self) -> list[tuple[str, int, bool, bool]]:
        """Scheme and width, with what is looked for: structure, colours.

        A dark page differs from a light one in colours alone, and a narrow one in all but these.
        """
        return [
            ("light", 1280, True, True),
            ("dark", 1280, False, True),
            ("light", 768, False, False),
            ("light", _PHONE_WIDTH, self.page in PHONE, False),
        ]

    def _settle(self) -> None:
        """Wait for scripts and pictures; from here, since the policy forbids the page to poll."""
        deadline = time.monotonic() + 60
        while not self.tab.evaluate(_SETTLED):
            assert time.monotonic() < deadline, "the page does not settle"
            self.tab.wait_for_timeout(50)
        settle(self.tab, 50)

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
            "console": self.errors + ([] if self.page == "404.html" else self.warnings),
            "weight": size if size > BUDGET else 0,
        }


@pytest.mark.browser
@pytest.mark.parametrize(
    "page", [page or "home" for page in dict.fromkeys((*TEMPLATES, *CHAPTERS))]
)
def test_a_page_is_light_accessible_and_fits_every_window(
    surf: Any, base: str, site: Path, page: str
) -> None:
    """No axe violation, no sideways scrolling, no other host, no error, and within its budget.

    In light, dark and on a phone; formulas are spoken; its policy is in force and stops nothing.
    """

    def faults(context: Any) -> dict[str, Any]:
        return Visit(context, base, "" if page == "home" else page).faults(site)

    assert surf(faults, bypass_csp=False) == {}
