"""How long the data takes to check: all of it, links over the network, and many references."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from flopbook.contributing.guard import Guard
from flopbook.data.library import library
from scripts.bench.processes import COMMAND, PYTHON, printed, timed
from scripts.bench.results import Timed

LINKS, ENTRIES = 1000, 2000
_MOST_RUNS = 5  # a run takes seconds
_AT_ONCE = 8  # links of one host
_A_FILE = 50  # references

# A server of its own process, so that it does not share a core's time with what is measured.
_SERVER = """
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Page(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_HEAD(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *_): pass
class Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True
server = Server(("127.0.0.1", 0), Page)
print(server.server_address[1], flush=True)
server.serve_forever()
"""

_READ = """
import sys, time
from pathlib import Path
from flopbook.checks.rules import RULES
from flopbook.checks.rules.base import Holdings
from flopbook.data.library import entry_ids, library, topics, vendor_ids
from flopbook.data.references import read_references

root = Path(sys.argv[1])
begun = time.perf_counter()
found = read_references(root)
holdings = Holdings(
    library=library(),
    references=found,
    topics=topics(),
    entry_ids=entry_ids(),
    vendor_ids=vendor_ids(),
    bibliography=library().bibliography,
)
for rule in RULES:
    if rule.NAME in ("fields", "author", "year", "address", "latex", "topic", "thin"):
        list(rule.check(holdings))
print(len(found), time.perf_counter() - begun)
"""


def lint(runs: int) -> Iterator[Timed]:
    """All checks of all data."""
    times = timed([COMMAND, "lint"], min(runs, _MOST_RUNS), 1.0)
    yield Timed("lint of all data", times, "2 s for one file", "s")


def links(runs: int) -> Iterator[Timed]:
    """A thousand links of one host on this machine, eight at a time."""
    times = link_times(min(runs, _MOST_RUNS))
    yield Timed("1,000 links of one host, 8 at once", times, "10 s", "s")


def references(runs: int) -> Iterator[Timed]:
    """Two thousand references read and checked, with nothing kept from an earlier run."""
    times = reference_times(min(runs, _MOST_RUNS), os.environ | {"FLOPBOOK_CACHE": ""})
    yield Timed("2,000 references read and checked", times, "3 s", "s")


def link_times(runs: int) -> list[float]:
    """Seconds for a thousand links of one host on this machine, eight at a time."""
    from scripts import check_links

    server = subprocess.Popen([PYTHON, "-c", _SERVER], stdout=subprocess.PIPE, text=True)
    try:
        port = int(server.stdout.readline() if server.stdout else 0)
        # The checker refuses addresses of this machine unless it is told which.
        guard = Guard(allow=frozenset({("127.0.0.1", port)}), resolve=lambda host: [host])
        with tempfile.TemporaryDirectory() as folder:
            text = "".join(f"http://127.0.0.1:{port}/{number}\n" for number in range(LINKS))
            (Path(folder) / "README.md").write_text(text, encoding="utf-8")
            options = ["--root", folder, "--no-cache", "--delay", "0", "--per-host", str(_AT_ONCE)]
            return [_quiet_seconds(lambda: check_links.main(options, guard)) for _ in range(runs)]
    finally:
        server.terminate()
        server.wait(timeout=15)


def _quiet_seconds(call: Callable[[], int]) -> float:
    """Seconds that a call takes whose printing nobody reads. Raises RuntimeError when it fails."""
    begun = time.perf_counter()
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()):
        status = call()
    if status != 0:
        raise RuntimeError(output.getvalue())
    return time.perf_counter() - begun


def reference_times(runs: int, environment: Mapping[str, str]) -> list[float]:
    """Seconds to read and check two thousand references in a new process."""
    with tempfile.TemporaryDirectory() as folder:
        for number, text in enumerate(reference_files(ENTRIES)):
            (Path(folder) / f"{number}.bib").write_text(text, encoding="utf-8")
        return [_reference_seconds(folder, environment) for _ in range(runs)]


def _reference_seconds(folder: str, environment: Mapping[str, str]) -> float:
    count, seconds = printed(_READ, environment, folder).split()
    if int(count) != ENTRIES:
        raise RuntimeError(f"{count} references were read, expected {ENTRIES}")
    return float(seconds)


_ENTRY = re.compile(r"^@\w+\{.*?^\}", re.MULTILINE | re.DOTALL)


def reference_files(count: int) -> list[str]:
    """Files of our own entries, some more than once under other keys, titles and identifiers."""
    entries: list[str] = []
    for path in sorted(library().bibliography.glob("*.bib")):
        entries += _ENTRY.findall(path.read_text(encoding="utf-8"))
    numbered = zip(range(count), itertools.cycle(entries), strict=False)
    renamed = [_renamed(entry, number) for number, entry in numbered]
    starts = range(0, count, _A_FILE)
    return ["\n\n".join(renamed[start : start + _A_FILE]) + "\n" for start in starts]


def _renamed(entry: str, number: int) -> str:
    """An entry as another work: the rules refuse a key, a title or an identifier used twice."""
    entry = re.sub(r"^(@\w+\{[^,]+),", rf"\g<1>n{number},", entry)
    entry = re.sub(r"(?m)^(\s*title\s*=\s*[{\"])", rf"\g<1>{number} ", entry)
    entry = re.sub(r"(?m)^\s*(doi|eprint|archiveprefix)\s*=.*\n", "", entry)
    return re.sub(r"^(@\w+\{[^,]+,)", rf"\g<1>\n  doi = {{10.1000/{number}}},", entry)
