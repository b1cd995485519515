"""What a page weighs over the wire: every file that a browser asks for to show it, gzipped.

The search index is not counted: it is loaded when somebody searches.
"""

from __future__ import annotations

import functools
import gzip
import http.server
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

LAUNCH = (
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-gpu",
    # All pages are ours, so one process draws them: a new one for each page takes a fifth of what
    # short visits cost.
    "--in-process-gpu",
    "--renderer-process-limit=1",
    "--disable-site-isolation-trials",
)
# One page of each kind: what holds for these holds for their siblings. Of calculators those whose
# forms differ most.
TEMPLATES = (
    "",
    "handbook/",
    "handbook/roofline/",
    "accelerators/",
    "accelerators/trends/",
    "accelerators/nvidia/",
    "accelerators/nvidia/h100-sxm/",
    "accelerators/nvidia/gb200-nvl72/",
    "compare/",
    "compare/h100-sxm-vs-mi300x/",
    "calculators/",
    "calculators/min-batch/",
    "calculators/memory/",
    "calculators/collective/",
    "calculators/bubble/",
    "calculators/decode/",
    "calculators/serving/",
    "calculators/sharded-matmul/",
    "calculators/roofline/",
    "notebooks/",
    "notebooks/min-batch/",
    "notebooks/transformer/",
    "references/",
    "references/roofline/",
    "references/works/",
    "references/works-to-2025/",
    "references/works-to-2024/",
    "references/works-to-2021/",
    "references/sources/",
    "references/new/",
    "errata/",
    "errata/slides2025scaling/",
    "claims/",
    "pitfalls/",
    "conventions/",
    "data/",
    "changes/",
    "models/",
    "reached/",
    "runs/",
    "runs-inference/",
    "rates/",
    "planner/",
    "serve/",
    "check/",
    "contributing/sentences/",
    "contributing/",
    "glossary/",
    "cheat-sheet/",
    "404.html",
)
BUDGET = 100_000  # bytes of a page
NOT_COUNTED = ("search/documents.json",)
_COMPRESSED = (".html", ".css", ".js", ".json", ".svg", ".bib", ".csv", ".ipynb", ".xml", ".txt")
_GZIP_LEVEL = 6  # what web servers use unless they are told
_POLL_S = 0.05  # how soon a server notices that it shall end
_LOAD_LAZY_IMAGES = """document.querySelectorAll('img[loading=lazy]')
    .forEach(image => { image.loading = 'eager'; })"""


@functools.lru_cache(maxsize=256)
def _packed(path: Path, _changed: int) -> bytes:
    """A file as it is sent, packed once: tests ask for the same few files hundreds of times."""
    return gzip.compress(path.read_bytes(), _GZIP_LEVEL)


class _Handler(http.server.SimpleHTTPRequestHandler):
    """Serves a folder as a web server does: compressed, over connections that are kept."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # an answer is two writes, and the second must not wait

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""

    def do_GET(self) -> None:
        """Send a file, gzipped where that is usual; the 404 page where there is none."""
        path = Path(self.translate_path(self.path))
        if path.is_dir() and not self.path.partition("?")[0].endswith("/"):
            self.send_response(301)
            self.send_header("Location", self.path + "/")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        path = _page_file(path)
        if path.is_file():
            self._send(200, path)
        else:
            self._send(404, Path(self.directory) / "404.html")

    def _send(self, status: int, path: Path) -> None:
        is_packed = path.suffix in _COMPRESSED
        body = _packed(path, path.stat().st_mtime_ns) if is_packed else path.read_bytes()
        self.send_response(status)
        self.send_header("Content-Type", self.guess_type(str(path)))
        if is_packed:
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class SiteServer(http.server.ThreadingHTTPServer):
    """Serves while a browser comes and goes."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that has left: it drops connections whenever it likes."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def _page_file(path: Path) -> Path:
    """The file of an address: of a folder its index."""
    return path / "index.html" if path.is_dir() else path


@contextmanager
def served(site: Path) -> Iterator[str]:
    """Serve a built site at a free port of the loopback address; gives its base address."""
    handler = partial(_Handler, directory=str(site))
    server = SiteServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(_POLL_S,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def visit(tab: Page, address: str) -> None:
    """Open a page and wait until its scripts have started and the network is quiet.

    Quiet alone says too little: it is as quiet while a busy machine still reads the page's text.
    """
    tab.goto(address)
    tab.wait_for_load_state("networkidle")


def loaded(context: BrowserContext, base: str, page: str) -> list[str]:
    """Addresses of everything that a browser asks for to show a page down to its end."""
    asked: list[str] = []
    tab = context.new_page()
    tab.on("request", lambda request: asked.append(request.url))
    visit(tab, base + page)
    tab.evaluate(_LOAD_LAZY_IMAGES)
    tab.wait_for_load_state("networkidle")
    tab.close()
    return list(dict.fromkeys(url for url in asked if not url.startswith("data:")))


def weight(site: Path, base: str, addresses: Iterable[str]) -> int:
    """Bytes of these files as a server sends them.

    Raises ValueError for an address on another host.
    """
    total = 0
    for url in addresses:
        if not url.startswith(base):
            raise ValueError(f"a request to another host: {url}")
        name = url.removeprefix(base).partition("?")[0].partition("#")[0]
        path = _page_file(site / name)
        if name in NOT_COUNTED or not path.is_file():
            continue
        body = path.read_bytes()
        if path.suffix in _COMPRESSED:
            body = gzip.compress(body, _GZIP_LEVEL)
        total += len(body)
    return total


def weigh_site(site: Path, pages: Iterable[str], executable: str | None = None) -> dict[str, int]:
    """Page -> bytes over the wire, each page with an empty cache."""
    from playwright.sync_api import sync_playwright  # only where a browser is asked for

    sizes: dict[str, int] = {}
    with sync_playwright() as playwright, served(site) as base:
        browser = playwright.chromium.launch(
            executable_path=executable or browser_path(), args=list(LAUNCH)
        )
        for page in pages:
            context = browser.new_context(bypass_csp=True)  # measurements wait for expressions
            sizes[page] = weight(site, base, loaded(context, base, page))
            context.close()
        browser.close()
    return sizes


def browser_path() -> str | None:
    """The browser that scripts.ensure_browser finds; None lets Playwright take its own."""
    from scripts.ensure_browser import find_browser

    browser = find_browser()
    return str(browser) if browser else None
