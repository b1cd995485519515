"""How long the site takes: a build without changes, the notebooks, an edit under `make serve`."""

from __future__ import annotations

import re
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator

from scripts.bench.processes import PYTHON, ROOT, timed
from scripts.bench.results import Counted, Result, Timed

ADDRESS = "127.0.0.1:8765"
_EDITED = ROOT / "accelerators" / "nvidia" / "h100-sxm.yaml"
_SUMMARY = re.compile(r"(?m)^summary: .*(\n  .*)*")
_SETTLE_S = 2  # between two edits, so that the rebuild of the one before is over


def rebuild(_: int) -> Iterator[Timed]:
    """The site again without changes, the notebooks from the cache."""
    with tempfile.TemporaryDirectory() as folder:
        command = [PYTHON, "-m", "scripts.build_site", "--site", f"{folder}/site"]
        timed(command, 1)
        yield Timed("site again without changes", timed(command, 3, 1.0), "30 s", "s")


def notebooks(_: int) -> Iterator[Counted]:
    """Each notebook executed once with a kernel of its own, nothing kept: start to last cell.

    One whose extra is not installed is left out.
    """
    from scripts.website.build import extras
    from scripts.website.build.notebooks import execute, sources

    seconds: list[float] = []
    for path in sources():
        extra = extras.find(extras.extra_of(path))
        name = f"notebook {path.stem}"
        if extra.python is None:
            yield Counted(name, f"left out: run `make {extra.name}` first")
            continue
        begun = time.perf_counter()
        execute(path, extra.python)
        seconds.append(time.perf_counter() - begun)
        yield Counted(name, f"       {seconds[-1]:8.1f} s  budget 60 s")
    total = f"       {sum(seconds):8.1f} s"
    yield Counted(f"all {len(seconds)} notebooks, one after the other", total)


def edit_to_screen(_: int) -> Iterator[Result]:
    """One YAML value edited under serve, until the page shows it; the file is put back."""
    original = _EDITED.read_text(encoding="utf-8")
    server = subprocess.Popen(
        [PYTHON, "-m", "scripts.serve", "--address", ADDRESS],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        times = [_edit(original, word) for word in _once_served(("first", "second", "third"))]
        yield Timed("one YAML value edited, until it is shown", times, "5 s", "s")
    finally:
        _EDITED.write_text(original, encoding="utf-8")
        server.terminate()
        server.wait(timeout=15)


def _url() -> str:
    return f"http://{ADDRESS}/accelerators/nvidia/h100-sxm/"


def _once_served(words: tuple[str, ...]) -> Iterator[str]:
    """The words one by one, the first when the server shows the page."""
    wait_for(_url(), "H100", 120)
    for word in words:
        time.sleep(_SETTLE_S)
        yield word


def _edit(original: str, word: str) -> float:
    """Seconds from writing a new summary until the page has it."""
    sentence = f"Edited for the {word} time"
    begun = time.perf_counter()
    _EDITED.write_text(_SUMMARY.sub(f"summary: {sentence}.", original), encoding="utf-8")
    wait_for(_url(), sentence, 60)
    return time.perf_counter() - begun


def wait_for(url: str, text: str, limit_s: float) -> None:
    """Ask for a page until it holds a text. Raises TimeoutError."""
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        if text in _page(url):
            return
        time.sleep(0.1)
    raise TimeoutError(f"{url} did not show '{text}' within {limit_s} s")


def _page(url: str) -> str:
    """A page as text, empty while nobody serves it."""
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            body: bytes = answer.read()
    except OSError:
        return ""
    return body.decode()
