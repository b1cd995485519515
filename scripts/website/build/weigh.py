"""What a page weighs over the wire: every file that a browser asks for to show it, gzipped, the
search index aside.
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import http.server
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

LAUNCH = (
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-gpu",
)
# One page of each kind: what holds for these holds for their siblings. Of calculators those whose
# forms differ most.
TEMPLATES = (
    "",
    "handbook/",
    "handbook/roofline/",
    "accelerators/",
    "accelerators/nvidia/",
    "accelerators/nvidia/h100-sxm/",
    "accelerators/nvidia/gb200-nvl72/",
    "calculators/",
    "calculators/min-batch/",
    "calculators/memory/",
    "calculators/collective/",
    "calculators/bubble/",
    "calculators/decode/",
    "calculators/sharded-matmul/",
    "notebooks/",
    "notebooks/min-batch/",
    "notebooks/transformer/",
    "references/",
    "references/roofline/",
    "references/works/",
    "references/new/",
    "errata/",
    "claims/",
    "pitfalls/",
    "conventions/",
    "data/",
    "models/",
    "contributing/",
    "glossary/",
    "cheat-sheet/",
    "404.html",
)
BUDGET = 150_000
# The explorer brings the values of all entries; all works are a line each.
BUDGETS = {"accelerators/": 250_000, "references/works/": 200_000}
_TEXT = (".html", ".css", ".js", ".json", ".svg", ".bib", ".csv", ".ipynb", ".xml", ".txt")
NOT_COUNTED = ("search/documents.json",)


@functools.lru_cache(maxsize=256)
def _packed(path: Path, _changed: int) -> bytes:
    """A file as it is sent, packed once: tests ask for the same few files hundreds of times."""
    return gzip.compress(path.read_bytes(), 6)


class _Handler(http.server.SimpleHTTPRequestHandler):
    """Serves a folder as a web server does: text is compressed, a folder's address ends in a slash."""

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""

    def do_GET(self) -> None:
        """Send a file, gzipped where that is usual; the 404 page where there is none."""
        path = Path(self.translate_path(self.path))
        if path.is_dir() and not self.path.partition("?")[0].endswith("/"):
            self.send_response(301)
            self.send_header("Location", self.path + "/")
            self.end_headers()
            return
        path = path / "index.html" if path.is_dir() else path
        status = 200 if path.is_file() else 404
        path = path if status == 200 else Path(self.directory) / "404.html"
        packed = path.suffix in _TEXT
        body = _packed(path, path.stat().st_mtime_ns) if packed else path.read_bytes()
        self.send_response(status)
        self.send_header("Content-Type", self.guess_type(str(path)))
        if packed:
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # the browser has left the page
            self.wfile.write(body)


@contextmanager
def served(site: Path) -> Iterator[str]:
    """Serve a built site with compression at a free port of the loopback address; gives its base
    address.
    """
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(_Handler, directory=str(site))
    )
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def loaded(context: Any, base: str, page: str) -> list[str]:
    """Addresses of everything that a browser asks for when it loads a page and scrolls to its end."""
    asked: list[str] = []
    tab = context.new_page()
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(base + page, wait_until="networkidle")
    tab.evaluate(
        "document.querySelectorAll('img[loading=lazy]').forEach(image => { image.loading = 'eager'; })"
    )
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
        path = site / name
        path = path / "index.html" if path.is_dir() else path
        if name in NOT_COUNTED or not path.is_file():
            continue
        body = path.read_bytes()
        total += len(gzip.compress(body, 6)) if path.suffix in _TEXT else len(body)
    return total


def weigh_site(site: Path, pages: Iterable[str], executable: str | None = None) -> dict[str, int]:
    """Page -> bytes over the wire, each page with an empty cache."""
    from playwright.sync_api import sync_playwright

    found: dict[str, int] = {}
    with sync_playwright() as playwright, served(site) as base:
        browser = playwright.chromium.launch(
            executable_path=executable or browser_path(), args=list(LAUNCH)
        )
        for page in pages:
            context = browser.new_context()
            found[page] = weight(site, base, loaded(context, base, page))
            context.close()
        browser.close()
    return found


def browser_path() -> str | None:
    """The browser that scripts.ensure_browser finds; None lets Playwright take its own."""
    from scripts.ensure_browser import find_browser

    found = find_browser()
    return str(found) if found else None
