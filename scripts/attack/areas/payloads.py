"""Scripts in every text field of every kind of data file, with the filters of input switched off.

Nothing of them runs in a browser that is told to ignore the policy of the pages, and nothing of
them is markup in any file of the site, in the book or in the ePub.
"""

from __future__ import annotations

import html
import json
import random
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from scripts.attack.campaign import Attempt, Campaign
from scripts.attack.checkout import build, environment, small_checkout
from scripts.attack.hostile import SCRIPTS
from scripts.attack.poison import poison, without_filters
from scripts.ensure_browser import ensure_browser
from scripts.website.build.notebooks import read
from scripts.website.build.policy import page_problems
from scripts.website.build.recordings import place, recording
from scripts.website.build.weigh import LAUNCH, served, visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAME = "payloads"
BROWSER = True  # the area needs one
_ROUNDS = 4
_TABS = 8  # pages that are open at once
# How many pages of one template are opened: nothing but their data differs, and each page of a
# person's text is as small as the next.
_ALIKE = {"accelerators/*/*": 3, "contributing/*": 1, "compare/*": 1, "references/works-*": 1}
_LINKS = 16  # links that somebody else wrote, for each round of a whole campaign
# Pages whose forms, filters and views stand in their address.
_STATEFUL = (
    *("accelerators/", "check/", "planner/", "serve/", "reached/", "references/works/"),
    *("handbook/", "calculators/min-batch/", "calculators/memory/", "calculators/decode/"),
    *("404.html", ""),
)
_NAMES = (
    *("chip", "model", "dtype", "tokens", "batch", "seq", "chips", "mfu", "sweep", "text", "q"),
    *("h", "view", "compare", "vendor", "kind", "sort", "find", "topic", "x", "columns", "price"),
    *("base", "__proto__", "constructor", "toString", "stack", "tp", "open", "all"),
)
_VALUES = (
    *SCRIPTS,
    *("javascript:attacked()", "//127.0.0.2/", "__proto__", "1e999", "-1", "NaN", "9" * 400, "a,b"),
    *("h100-sxm", "llama-3-8b", "bf16", "1:1e18:lin:999999", "(a+)+$", "%E0%A4%A", "[" * 300, ""),
    *("scatter", "\u202e", "=cmd()", "A[I, J_X] * B[J_X, K] -> C[I, K]", "x" * 5000),
)
_KEPT = ("flopbook.reading", "__palette", "/.__palette", "/.__outdated")  # in the browser
# A tag that a payload would begin, or a link that it would lead somewhere with.
_TAG = (
    r"<\\?/?\\?(?:script|img|svg|iframe|title|math|textarea)\b[^<>]{0,40}attacked"
    r"|<script>attacked"
)
_HTML = re.compile(_TAG, re.IGNORECASE)
_MARKDOWN = re.compile(rf"{_TAG}|(?<!\\)\]\(javascript:", re.IGNORECASE)
_TORCH_HEAD = "# ---\n# jupyter:\n#   flopbook:\n#     extra: torch\n# ---\n\n"
_CODE = re.compile(r"^(```+|~~~+).*?^\1|(?<!`)(`+)(?!`)[^\n]+?(?<!`)\2(?!`)", re.DOTALL | re.M)
_COUNT_CALLS = "window.hits = 0; window.attacked = () => { window.hits += 1; };"
_OPEN_ALL = "document.querySelectorAll('details').forEach(one => { one.open = true; })"
_TOUCH_ALL = """document.querySelectorAll('.md-content *').forEach(one => {
  for (const kind of ['mouseover', 'focus', 'error', 'load']) one.dispatchEvent(new Event(kind));
})"""


def attack(campaign: Campaign) -> Iterator[Attempt]:
    """Poisoned checkouts, each built and read by every reader of the site."""
    for number in range(campaign.count(_ROUNDS)):
        folder = small_checkout(campaign.folder / str(number))
        without_filters(folder)
        print_scripts(folder / "calculators" / "notebooks")
        fields = poison(folder, SCRIPTS, campaign.rng)
        built = build(folder)
        output = (built.stdout + built.stderr)[-1000:]
        yield Attempt(f"build with {fields} payloads", output if built.returncode else "")
        if built.returncode == 0:
            yield from _files(folder / "site")
            yield from _pages(
                folder / "site", [_link(campaign.rng) for _ in range(campaign.count(_LINKS))]
            )
            yield from _book(folder)


def print_scripts(notebooks: Path) -> None:
    """Let a notebook that is run, and one that is recorded, print every script as text."""
    text = "\n".join((*SCRIPTS, "```", *SCRIPTS[:1]))
    cell = f"\n# %%\nprint({text!r})\n"
    source = (notebooks / "practical.py").read_text(encoding="utf-8") + cell
    (notebooks / "practical.py").write_text(source, encoding="utf-8")
    recorded = notebooks / "torch-practical.py"
    recorded.write_text(_TORCH_HEAD + source, encoding="utf-8")
    notebook = read(recorded)
    for code in notebook.cells[1:]:
        output = {"output_type": "stream", "name": "stdout", "text": text}
        code.outputs = [output, {"output_type": "display_data", "data": {"text/plain": text}}]
        code.outputs[1]["metadata"] = {}
    made = dict.fromkeys(("date", "machine", "software"), SCRIPTS[0])
    place(recorded).write_text(recording(notebook, made), encoding="utf-8")


def _files(site: Path) -> Iterator[Attempt]:
    """What a reader of each kind of file would take for markup."""
    for path in sorted(site.rglob("*")):
        if path.is_file() and path.suffix in _READERS:
            name = path.relative_to(site).as_posix()
            yield Attempt(name, _READERS[path.suffix](path, name, site))


def _page(path: Path, name: str, site: Path) -> str:
    return next(page_problems(path.read_text(encoding="utf-8"), name, site), "")


def _xml(path: Path, _name: str, _site: Path) -> str:
    return _xml_text(path.read_text(encoding="utf-8"))


def _xml_text(text: str) -> str:
    try:
        tree = ET.fromstring(text)
    except ET.ParseError as error:
        return str(error)
    for element in tree.iter():
        name = element.tag.rpartition("}")[2].lower()
        handlers = [key for key in list(element.attrib) if key.rpartition("}")[2].startswith("on")]
        if name in ("script", "iframe", "foreignobject") or handlers:
            return f"an element {name} {handlers}"
        if name in ("content", "summary") and element.get("type") in ("html", "xhtml"):
            return _alive(html.unescape(element.text or ""), _HTML)
    return ""


def _markdown(path: Path, _name: str, _site: Path) -> str:
    return _alive(_CODE.sub("", path.read_text(encoding="utf-8")), _MARKDOWN)


def _search(path: Path, _name: str, _site: Path) -> str:
    """The search shows titles and texts of its documents as HTML; other records are data."""
    documents = json.loads(path.read_text(encoding="utf-8"))
    if path.name != "documents.json":
        return ""
    shown = (document[key] for document in documents for key in ("title", "text"))
    return next(filter(None, (_alive(text, _HTML) for text in shown)), "")


def _alive(text: str, pattern: re.Pattern[str]) -> str:
    match = pattern.search(text)
    return f"unescaped: {text[max(0, match.start() - 20) : match.end() + 20]!r}" if match else ""


_READERS = {
    ".html": _page,
    ".svg": _xml,
    ".xml": _xml,
    ".md": _markdown,
    ".txt": _markdown,
    ".json": _search,
}


def _book(folder: Path) -> Iterator[Attempt]:
    """The handbook on paper and in a reader."""
    command = [sys.executable, "-m", "scripts.build_book"]
    process = subprocess.run(
        command,
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        check=False,
    )
    yield Attempt("the book", process.stderr[-1000:] if process.returncode else "")
    for path in sorted((folder / "build" / "book").glob("*.epub")):
        with zipfile.ZipFile(path) as epub:
            for name in epub.namelist():
                if name.endswith((".xhtml", ".opf", ".ncx", ".svg")):
                    yield Attempt(f"{path.name}: {name}", _xml_text(epub.read(name).decode()))
    for path in sorted((folder / "build" / "book").glob("*.pdf")):
        yield Attempt(path.name, _pdf(path))


def _pdf(path: Path) -> str:
    """Scripts and addresses of links, which are the only active parts of a printed page."""
    import pypdf

    reader = pypdf.PdfReader(path)
    root: Any = reader.trailer["/Root"]
    if "/OpenAction" in root or "/AA" in root or "/JavaScript" in root.get("/Names", {}):
        return "a script of the document"
    for page in reader.pages:
        for note in page.get("/Annots", []):
            action = note.get_object().get("/A", {})
            address = str(action.get("/URI", ""))
            if "/JS" in action or (address and not address.startswith(("http", "mailto:"))):
                return f"an action {action}"
    return ""


class _Link(NamedTuple):
    """An address of the site that somebody sends, and what the browser has kept of the site."""

    address: str
    kept: dict[str, str]


def _link(rng: random.Random) -> _Link:
    pairs = [(rng.choice(_NAMES), rng.choice(_VALUES)) for _ in range(rng.choice((1, 2, 3, 30)))]
    end = rng.choice(("", f"#{quote(rng.choice(_VALUES))}", f"#q={quote(rng.choice(_VALUES))}"))
    query = "&".join(f"{name}={quote(text, safe='')}" for name, text in pairs)
    last = {name: rng.choice(_VALUES) for name in ("chapter", "title", "anchor", "heading")}
    color = {"scheme": rng.choice(SCRIPTS), "primary": "x' onload=attacked()", "accent": "y"}
    records = ({"read": [rng.choice(_VALUES)], "last": last}, {"index": 9, "color": color}, [1])
    kept = {name: json.dumps(rng.choice(records)) for name in rng.sample(_KEPT, 2)}
    return _Link(f"{rng.choice(_STATEFUL)}?{query}{end}", kept)


def _pages(site: Path, links: list[_Link]) -> Iterator[Attempt]:
    """Every page in a browser that counts what ran; its event loop is in a thread of its own."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        yield from thread.submit(_browsed, site, links).result()


def _browsed(site: Path, links: list[_Link]) -> list[Attempt]:
    from playwright.sync_api import sync_playwright

    attempts = []
    with served(site) as base, sync_playwright() as playwright:
        executable = str(ensure_browser())
        browser = playwright.chromium.launch(executable_path=executable, args=list(LAUNCH))
        context = browser.new_context(bypass_csp=True)
        context.add_init_script(_COUNT_CALLS)
        tabs = [context.new_page() for _ in range(_TABS)]
        pages = _opened(site)
        for first in range(0, len(pages), _TABS):
            # A page is quiet half a second after its last request: all tabs wait at once.
            opened = list(zip(pages[first : first + _TABS], tabs, strict=False))
            for page, tab in opened:
                tab.goto(base + page.removesuffix("index.html"))
            attempts += [_touched(page, tab) for page, tab in opened]
        attempts += [_followed(link, base, browser) for link in links]
        browser.close()
    return attempts


def _opened(site: Path) -> list[str]:
    """The pages that are opened: of those that are alike some."""
    pages = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    left_out: set[str] = set()
    for form, count in _ALIKE.items():
        alike = [page for page in pages if fnmatch(page.removesuffix("/index.html"), form)]
        left_out.update(alike[count:])
    return [page for page in pages if page not in left_out]


def _touched(page: str, tab: Page) -> Attempt:
    """Open what is folded and touch every element of a page that has loaded."""
    tab.wait_for_load_state("networkidle")
    return Attempt(f"{page} in a browser", _ran(tab))


def _ran(tab: Page) -> str:
    tab.evaluate(_OPEN_ALL)
    tab.evaluate(_TOUCH_ALL)
    hits = tab.evaluate("window.hits")
    return f"{hits} scripts ran" if hits else ""


def _followed(link: _Link, base: str, browser: Browser) -> Attempt:
    """Follow a link; nothing runs, nothing fails, and no other host is asked."""
    faults: list[str] = []
    context = browser.new_context(bypass_csp=True)
    keep = "for (const [name, text] of Object.entries({})) localStorage.setItem(name, text);"
    context.add_init_script(_COUNT_CALLS + keep.replace("{}", json.dumps(link.kept)))
    tab = context.new_page()
    tab.on("pageerror", lambda error: faults.append(f"an error: {error}"))
    tab.on("request", lambda request: _note(request.url, base, faults))
    visit(tab, base + link.address)
    fault = _ran(tab) or next(iter(faults), "")
    context.close()
    return Attempt(f"{link.address[:500]} with {link.kept}", fault)


def _note(address: str, base: str, faults: list[str]) -> None:
    if not address.startswith((base, "data:", "blob:")):
        faults.append(f"a request to {address[:80]}")
