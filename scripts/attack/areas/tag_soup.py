"""Tag soup that a browser takes for scripts, handlers or frames, put to the check of built pages.

The browser parses each page without running it and says what is active in it; whatever is must be
refused by the check, which has a reader of its own.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from scripts.attack.campaign import Attempt, Campaign
from scripts.ensure_browser import ensure_browser
from scripts.website.build.policy import page_problems
from scripts.website.build.weigh import LAUNCH

NAME = "tag-soup"
BROWSER = True  # the area needs one
_PAGES, _AT_ONCE = 20_000, 500
_HEAD = '<!doctype html><html><head><meta charset="utf-8"></head><body>'
# Space of HTML, and what only Python takes for space.
_SPACES = (" ", "\n", "\t", "\f", "\r", "\v", "\x1c", "\x85", "\xa0", "\u2003", "\u2028", "\ufeff")
_SIGNS = ('"', "'", "=", ">", "/", "<", "`", "&#62;", "&quot;", '=\xa0"', "='", '="', "\\", "\0")
_OPENINGS = (
    *("<a", "<p", "<img", "<svg", "<b", "<math", "<form", "<input", "<details", "<A", "<x-y"),
    *("<!--", "-->", "--!>", "<!-->", "<!", "<?", "<![CDATA[", "]]>", "</", "</p>", "</a", "<1"),
    *("<title>", "</title>", "<style>", "</style>", "</style ", "<textarea>", "</textarea>"),
    *("<noscript>", "</noscript>", "<template>", "</template>", "<xmp>", "</xmp>", "<select>"),
    *("<noembed>", "</noembed>", "<plaintext>", "<table>", "<svg><style>", "<math><mtext>"),
    *('<script src="../assets/app.js">', "</script>", "</script ", "</script/", "</SCRIPT>"),
    *('<script type="application/json">', '<script type="module" src="../assets/app.js">'),
    *("<script", "<ScRiPt>", "<script/x>", "<iframe", "<object", "<base", "<embed", "<link"),
)
_PARTS = (
    *("onclick=attacked()", " onerror=attacked() ", "/onload=attacked()", "ONFOCUS=x", "srcdoc=x"),
    *("href=javascript:attacked()", 'href="javascript:attacked()"', "src=x", "a=b", "c", "x y"),
    *("xlink:href='java\nscript:attacked()'", "formaction=javascript:x", "action=x", "type=x"),
    *("data:text/html,x", "http-equiv=refresh", "=", "{}", "href='&#x6a;avascript:x'", 'a=b"c='),
)
_ACTIVE = r"""pages => pages.map(text => {
  const page = new DOMParser().parseFromString(text, 'text/html');
  const found = [];
  const look = root => root.querySelectorAll('*').forEach(one => {
    const name = one.localName;
    if (name === 'script') {
      const kind = one.getAttribute('type');
      const elsewhere = one.hasAttribute('href') || one.hasAttribute('xlink:href');
      const ours = one.getAttribute('src') === '../assets/app.js' && !elsewhere;
      if (!ours && kind !== 'application/json') found.push('script');
    }
    if (['iframe', 'frame', 'object', 'embed', 'base', 'applet', 'foreignobject', 'set',
      'animate'].includes(name.toLowerCase())) found.push(name);
    for (const {name: key, value} of one.attributes) {
      if (/^on/i.test(key) || key === 'srcdoc') found.push(`${name} ${key}`);
      const bare = value.replace(/[\x00-\x20]/g, '');
      if (/^(javascript|vbscript):/i.test(bare)
        && ['href', 'xlink:href', 'src', 'action', 'formaction', 'data'].includes(key))
        found.push(`${name} ${key}=${bare}`);
      if (name === 'meta' && key === 'http-equiv' && value.trim().toLowerCase() === 'refresh')
        found.push('refresh');
    }
    if (one.content) look(one.content);
    if (one.shadowRoot) look(one.shadowRoot);
  });
  look(page);
  return found.join(', ');
})"""


def attack(campaign: Campaign) -> Iterator[Attempt]:
    """Pages by chance; the event loop of the browser is in a thread of its own."""
    site = campaign.folder
    (site / "assets").mkdir()
    (site / "assets" / "app.js").touch()
    count = campaign.count(_PAGES)
    pages = [_HEAD + _soup(campaign.rng) for _ in range(count)]
    # What the check refuses need not be asked of the browser.
    passing = [page for page in pages if not _refused(page, site)]
    with ThreadPoolExecutor(max_workers=1) as thread:
        active = thread.submit(_active_parts, passing).result()
    faults = dict(zip(passing, active, strict=True))
    for page in pages:
        fault = faults.get(page, "")
        yield Attempt(page.removeprefix(_HEAD), fault and f"passes with {fault}")


def _soup(rng: random.Random) -> str:
    """Some pieces of markup, most of them whole tags that something is put into."""
    pieces = [rng.choice(("", "<img ", "<img ", '<!-- <a b="', "<title><a b='", "<svg>"))]
    for _ in range(rng.randint(1, 8)):
        kind = rng.randrange(8)
        if kind < 3:
            pieces.append(rng.choice(_OPENINGS))
        elif kind < 5:
            pieces.append(rng.choice(_PARTS))
        elif kind < 7:
            pieces.append(rng.choice(_SIGNS))
        pieces.append(rng.choice((*_SPACES, " ", " ", "", "", "")))
    return "".join(pieces) + rng.choice(("", ">", '">', "'>", " >", "</script>", "</style>", "-->"))


def _refused(page: str, site: Path) -> bool:
    return next(page_problems(page, "a/index.html", site), None) is not None


def _active_parts(pages: list[str]) -> list[str]:
    """What a browser finds active in each of these pages, empty for nothing."""
    from playwright.sync_api import sync_playwright

    found: list[Any] = []
    with sync_playwright() as playwright:
        executable = str(ensure_browser())
        browser = playwright.chromium.launch(executable_path=executable, args=list(LAUNCH))
        tab = browser.new_page()
        for first in range(0, len(pages), _AT_ONCE):
            found += tab.evaluate(_ACTIVE, pages[first : first + _AT_ONCE])
        browser.close()
    return found
