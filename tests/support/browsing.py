"""One real browser for all tests that need one."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from scripts.website.build.weigh import LAUNCH
from tests.support import delays

# How many contexts a browser keeps: the usual one, and those of the last few other options.
_KEPT = 4
# What a page may leave in its context, beside what the next page needs to load fast.
_LEFT = "cookies,file_systems,indexeddb,local_storage,service_workers,cache_storage"


class _KeptContext:
    """A context that is used again and again, tidied in between."""

    def __init__(self, context: Any) -> None:
        self.context = context
        # Stays open: pages that a test opens are closed before what they wrote down is cleared.
        self._empty = context.new_page()
        self._session = context.new_cdp_session(self._empty)

    def tidy(self) -> None:
        """Leave nothing of a test: no page, route, permission or word that a page wrote down."""
        origins = set()
        for page in self.context.pages:
            if page is not self._empty:
                origins.add("/".join(page.url.split("/")[:3]))
                page.close()
        self.context.unroute_all()
        self.context.clear_permissions()
        for origin in origins:
            if origin.startswith("http"):
                wanted = {"origin": origin, "storageTypes": _LEFT}
                self._session.send("Storage.clearDataForOrigin", wanted)


class Surfer:
    """A browser in a thread of its own: Playwright's event loop must not meet other tests."""

    def __init__(self, executable: Path) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1)
        self._contexts: dict[str, _KeptContext] = {}
        self._thread.submit(self._start, executable).result()

    def _start(self, executable: Path) -> None:
        self._playwright = sync_playwright().start()
        self._browser = self._playwright.chromium.launch(
            executable_path=str(executable), args=list(LAUNCH)
        )

    def __call__(
        self, use: Callable[..., Any], *arguments: Any, alone: bool = False, **options: Any
    ) -> Any:
        """Run `use(context, *arguments)`; what it returns comes back.

        The context is as good as new. A truly new one, which `alone` asks for, costs half a second
        more of processor time: scripts and styles are read and compiled again.
        """

        def inside() -> Any:
            kept = self._make(options) if alone else self._find(options)
            kept.context.set_default_timeout(30_000)
            try:
                return use(kept.context, *arguments)
            finally:
                kept.tidy()
                if alone:
                    kept.context.close()

        return self._thread.submit(inside).result()

    def _make(self, options: dict[str, Any]) -> _KeptContext:
        # Tests wait for expressions, which the policy of a page forbids to evaluate; that
        # pages work under their policy has tests of its own.
        context = self._browser.new_context(**{"bypass_csp": True, **options})
        if late := delays.script():
            context.add_init_script(late)
        return _KeptContext(context)

    def _find(self, options: dict[str, Any]) -> _KeptContext:
        """The context with these options, made or kept; the one used longest ago makes room."""
        key = repr(sorted(options.items()))
        kept = self._contexts.pop(key, None) or self._make(options)
        self._contexts[key] = kept
        if len(self._contexts) > _KEPT:
            self._contexts.pop(next(iter(self._contexts))).context.close()
        return kept

    def close(self) -> None:
        """End the browser."""
        self._thread.submit(self._browser.close).result()
        self._thread.submit(self._playwright.stop).result()
        self._thread.shutdown()


# Two frames, a moment more for what waits for them, and until what is wider than its box is a stop
# of the keyboard: pages hear of widths when the browser likes. A script is given no time limit by
# the driver, and a browser that draws nothing would be waited for without end.
_FRAMES = """async pause => {
  const deadline = performance.now() + 10_000;
  await new Promise(done => {
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, pause)));
    setTimeout(done, 10_000);
  });
  const boxes = [...document.querySelectorAll('.fb-maths, .md-typeset__scrollwrap, pre > code')];
  const isHeard = box => !box.checkVisibility()
    || (box.scrollWidth > box.clientWidth) === (box.tabIndex === 0);
  while (!boxes.every(isHeard) && performance.now() < deadline)
    await new Promise(done => setTimeout(done, 20));
}"""
# A dark page differs from a light one in colours alone, and a narrow one in all but colours.
_LOOKS = (("light", 1280, True, True), ("dark", 1280, False, True), ("light", 360, True, False))
_COLOUR_RULES = ("color-contrast", "link-in-text-block")
# Looking for colours takes most of the time of a scan, and a table of a thousand cells repeats a
# few of them, as do all pages of a template. One element stands for all that have its tags,
# classes, styles and computed colours, and whose ancestors have, up to the root.
_REPRESENTATIVES = """(part, known) => {
  const shapes = new Map(), drawn = new Map(), chosen = new Map();
  const digest = text => {
    let high = 0xdeadbeef, low = 0x41c6ce57;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      high = Math.imul(high ^ code, 2654435761);
      low = Math.imul(low ^ code, 1597334677);
    }
    high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
    low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
    return (high >>> 0).toString(36) + (low >>> 0).toString(36);
  };
  const shapeOf = one => {
    if (!one) return '';
    if (drawn.has(one)) return drawn.get(one);
    const style = getComputedStyle(one);
    const own = JSON.stringify([shapeOf(one.parentElement), one.tagName, one.getAttribute('class'),
      one.getAttribute('style'), style.color, style.fill, style.backgroundColor,
      style.backgroundImage, style.opacity, style.fontSize, style.fontWeight,
      style.textDecorationLine]);
    if (!shapes.has(own)) shapes.set(own, digest(own));
    drawn.set(one, shapes.get(own));
    return shapes.get(own);
  };
  for (const one of document.querySelectorAll(`${part} *`)) {
    const speaks = one.matches('input, select, textarea')
      || [...one.childNodes].some(node => node.nodeType === 3 && node.data.trim());
    if (!speaks || !one.checkVisibility({visibilityProperty: true})) continue;
    const shape = shapeOf(one);
    if (!known.has(shape) && !chosen.has(shape)) chosen.set(shape, one);
  }
  return chosen;
}"""
_SCAN = """async ([part, structure, colours, rules, known]) => {
  const representatives = REPRESENTATIVES;
  const found = [];
  const run = async (where, options) => {
    const {violations} = await axe.run(where, {resultTypes: ['violations'], ...options});
    found.push(...violations.map(one => `${one.id}: ${one.nodes[0].html.slice(0, 160)}`));
  };
  const seen = colours ? representatives(part ?? 'body', new Set(known)) : new Map();
  for (const one of document.querySelectorAll('[data-look]')) one.removeAttribute('data-look');
  for (const one of seen.values()) {
    one.setAttribute('data-look', '');
    one.closest('a[href], [role=link]')?.setAttribute('data-look', '');
  }
  // One run for both: each reads the whole document anew.
  const isOn = {enabled: seen.size > 0};
  const all = {rules: Object.fromEntries(rules.map(name => [name, isOn]))};
  if (structure) await run(part ?? document, all);
  else if (seen.size) {
    await run({include: [...seen.values()]}, {runOnly: {type: 'rule', values: rules}});
  }
  return [found, found.some(one => rules.includes(one.split(':')[0])) ? [] : [...seen.keys()]];
}""".replace("REPRESENTATIVES", _REPRESENTATIVES)
# Colours are asked of the representatives alone, also in a run of all rules.
_MARKED = """{rules: [{id: 'color-contrast', selector: '[data-look]'},
  {id: 'link-in-text-block', selector: 'a[href][data-look], [role=link][data-look]'}]}"""
# What was looked at on earlier pages and has the contrast that it needs, with all that is above it.
_SOUND: set[str] = set()


def settle(tab: Any, pause_ms: int = 0) -> None:
    """Wait until the page is drawn as it now is."""
    tab.evaluate(_FRAMES, pause_ms)


def scan(
    tab: Any, *, structure: bool = True, colours: bool = True, part: str | None = None
) -> list[str]:
    """What axe finds on a page or in a part of it: by all rules but colours, by these, or both."""
    if not tab.evaluate("'axe' in window"):
        tab.evaluate(f"{Axe().axe_script}; axe.configure({_MARKED}); true")
    known = sorted(_SOUND) if colours else []
    found, sound = tab.evaluate(_SCAN, [part, structure, colours, list(_COLOUR_RULES), known])
    _SOUND.update(sound)
    return list(found)


def faults(tab: Any) -> dict[str, Any]:
    """What axe finds on a page, light, dark and on a phone, and where it overflows the window."""
    wrong: dict[str, Any] = {}
    for scheme, width, structure, colours in _LOOKS:
        tab.emulate_media(color_scheme=scheme)
        tab.set_viewport_size({"width": width, "height": 900})
        settle(tab, 100)
        if tab.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wrong[f"wider than {width}"] = True
        wrong[f"axe {scheme} {width}"] = scan(tab, structure=structure, colours=colours)
    return {key: value for key, value in wrong.items() if value}
