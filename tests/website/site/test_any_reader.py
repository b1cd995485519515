"""Every template stays readable however a reader's browser is set.

Without storage, scripts and fonts of our own, at 200 %, with letters twice as large, from right to
left, on paper, in forced colours, without motion, and with words that are longer than the window:
one visit a page, and one without scripts.
"""

from __future__ import annotations

from typing import Any

import pytest

from scripts.website.build.reviewed import TEMPLATES
from scripts.website.build.weigh import visit
from tests.support.browsing import settle

pytestmark = pytest.mark.browser
_NO_STORAGE = """for (const name of ['localStorage', 'sessionStorage', 'indexedDB'])
  Object.defineProperty(window, name, {get() { throw new DOMException('denied'); }});"""
_BEYOND = "document.documentElement.scrollWidth - innerWidth"
# A word such as a key or an address, wherever people write one.
_LONG_WORDS = """() => {
  const places = ['h1', 'h2', 'p', 'li', 'td', 'summary', 'figcaption', 'label', 'a.fb-act'];
  for (const place of places)
    document.querySelector(`article ${place}`)?.append('Donaudampfschifffahrts'.repeat(14));
}"""
# Numbers with their units, which would else be read from right to left as well.
_TURNED = """() => [...document.querySelectorAll(
    '.fb-number, .fb-large, .fb-n, .fb-value, .fb-plan-number strong, svg')]
  .filter(one => one.checkVisibility() && getComputedStyle(one).direction !== 'ltr').length"""
# Words in our language among those of another, which a translator leaves: stops stay at the end.
_UNTURNED = """() => [...document.querySelectorAll('.md-typeset :is(p, h1, h2, h3, h4, caption, '
    + 'summary, td:not(.fb-n)), .fb-hint, .fb-capacity span')]
  .filter(one => one.checkVisibility() && !one.closest('.fb-large, .fb-value, svg')
    && getComputedStyle(one).unicodeBidi !== 'plaintext').length"""
_COLOURLESS = """() => [...document.querySelectorAll('.fb-length, .fb-part')]
  .filter(one => getComputedStyle(one).forcedColorAdjust !== 'none').length"""
# A family that every browser has must end each list: a reader may block or lack all others.
_FAMILYLESS = """() => {
  const generic = /(?:^|,) *(?:sans-serif|serif|monospace|system-ui|math|-apple-system)$/;
  const every = [...document.querySelectorAll('body, body *')];
  const families = new Set(every.map((one) => getComputedStyle(one).fontFamily));
  return [...families].filter((one) => !generic.test(one));
}"""
_LEAST_TEXT = 400  # letters


class Reader:
    """A page in a tab whose settings change, and what is wrong with it under each."""

    def __init__(self, context: Any, address: str) -> None:
        context.set_default_timeout(60_000)
        self.faults: dict[str, Any] = {}
        self.errors: list[str] = []
        self.tab = context.new_page()
        self.tab.on("pageerror", lambda error: self.errors.append(str(error)))
        self.tab.on("request", self._refuse_fonts)
        self.tab.add_init_script(_NO_STORAGE)
        visit(self.tab, address)

    def _refuse_fonts(self, request: Any) -> None:
        """Where fonts are blocked nothing changes: a page asks for none."""
        if request.resource_type == "font":
            self.faults["font"] = request.url

    def look(self, setting: str) -> None:
        """Note whether the page is wider than the window, or its heading cannot be seen."""
        settle(self.tab)
        beyond = self.tab.evaluate(_BEYOND)
        if beyond > 0:
            self.faults[f"{setting}: wider by"] = beyond
        if not self.tab.locator("article h1").is_visible():
            self.faults[f"{setting}: heading"] = "not seen"

    def ask(self, setting: str, script: str) -> None:
        """Note what a script counts, if anything."""
        if count := self.tab.evaluate(script):
            self.faults[setting] = count


def _read(context: Any, address: str) -> dict[str, Any]:
    reader = Reader(context, address)
    tab = reader.tab
    reader.look("no storage")
    reader.ask("fonts that may be missing", _FAMILYLESS)
    tab.evaluate("document.documentElement.style.fontSize = '250%'")  # the theme has 125 %
    reader.look("letters twice as large")
    tab.evaluate("document.documentElement.style.fontSize = ''")
    tab.set_viewport_size({"width": 640, "height": 450})
    reader.look("200 %")
    tab.evaluate("document.documentElement.dir = 'rtl'")  # as a translator does
    tab.wait_for_function("document.body.dir === 'rtl'")
    reader.look("right to left")
    reader.ask("values turned", _TURNED)
    reader.ask("sentences turned", _UNTURNED)
    tab.evaluate("document.documentElement.removeAttribute('dir')")
    tab.wait_for_function("document.body.dir === 'ltr'")
    tab.emulate_media(media="print")
    reader.look("print")
    tab.emulate_media(media="screen", forced_colors="active", reduced_motion="reduce")
    reader.look("forced colours")
    reader.ask("bars without colour", _COLOURLESS)
    tab.evaluate(_LONG_WORDS)
    reader.look("long words")
    return reader.faults | ({"errors": reader.errors} if reader.errors else {})


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_page_is_readable_under_any_setting(surf: Any, base: str, template: str) -> None:
    assert surf(_read, base + TEMPLATES[template]) == {}


def test_pages_have_their_text_without_scripts(surf: Any, base: str) -> None:
    def read(context: Any) -> dict[str, int]:
        tab = context.new_page()
        letters = {}
        for name, page in TEMPLATES.items():
            tab.goto(base + page)
            letters[name] = len(tab.inner_text("article"))
        return letters

    letters = surf(read, java_script_enabled=False)
    assert {name: count for name, count in letters.items() if count < _LEAST_TEXT} == {}
