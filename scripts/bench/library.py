"""Measures of the library for `bench.py`: how long links take to check, and references to read and
check.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from flopbook.contributing.guard import Guard
from flopbook.data.library import library

LINKS, ENTRIES = 1000, 2000

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
from flopbook.data import references as reader
from flopbook.checks.rules import RULES
from flopbook.checks.rules.base import Holdings
from flopbook.data.library import entry_ids, vendor_ids

root = Path(sys.argv[1])
begun = time.perf_counter()
found = reader.references()
holdings = Holdings(
    references=found,
    topics=reader.topics(),
    entry_ids=entry_ids(),
    vendor_ids=vendor_ids(),
    bibliography=library().bibliography,
)
for rule in RULES:
    if rule.NAME in ("fields", "author", "year", "address", "latex", "topic", "thin"):
        list(rule.check(holdings))
print(len(found), time.perf_counter() - begun)
"""


def link_times(runs: int) -> list[float]:
    """Seconds for a thousand links of one host on this machine, eight at a time."""
    from scripts import check_links

    server = subprocess.Popen([sys.executable, "-c", _SERVER], stdout=subprocess.PIPE, text=True)
    try:
        port = int(server.stdout.readline() if server.stdout else 0)
        guard = Guard(allow=frozenset({("127.0.0.1", port)}), resolve=lambda host: [host])
        with tempfile.TemporaryDirectory() as folder:
            text = "".join(f"http://127.0.0.1:{port}/{number}\n" for number in range(LINKS))
            (Path(folder) / "README.md").write_text(text, encoding="utf-8")
            words = ["--root", folder, "--no-cache", "--delay", "0", "--per-host", "8"]
            return [_quiet_seconds(lambda: check_links.main(words, guard)) for _ in range(runs)]
    finally:
        server.terminate()
        server.wait(timeout=15)


def _quiet_seconds(call: Callable[[], int]) -> float:
    """Seconds that a call takes whose printing nobody reads. Raises RuntimeError when it fails."""
    begun = time.perf_counter()
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
        status = call()
    if status != 0:
        raise RuntimeError(said.getvalue())
    return time.perf_counter() - begun


def reference_times(runs: int, environment: dict[str, str]) -> list[float]:
    """Seconds to read and check two thousand references in a new process, with nothing kept from
    before.
    """
    with tempfile.TemporaryDirectory() as folder:
        for number, text in enumerate(_files(ENTRIES)):
            (Path(folder) / f"{number}.bib").write_text(text, encoding="utf-8")
        command = [sys.executable, "-c", _READ, folder]
        times = []
        for _ in range(runs):
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, check=True
            )
            count, seconds = done.stdout.split()
            if int(count) != ENTRIES:
                raise RuntimeError(f"{count} references were read, expected {ENTRIES}")
            times.append(float(seconds))
        return times


def _files(count: int) -> list[str]:
    """Files of our own entries, some more than once under other keys, titles and identifiers."""
    entries = [
        match[0]
        for path in sorted(library().bibliography.glob("*.bib"))
        for match in re.finditer(
            r"^@\w+\{.*?^\}", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
        )
    ]
    made = []
    for number, entry in zip(range(count), itertools.cycle(entries), strict=False):
        entry = re.sub(r"^(@\w+\{[^,]+),", rf"\g<1>n{number},", entry)
        entry = re.sub(r"(?m)^(\s*title\s*=\s*[{\"])", rf"\g<1>{number} ", entry)
        entry = re.sub(r"(?m)^\s*(doi|eprint|archiveprefix)\s*=.*\n", "", entry)
        made.append(re.sub(r"^(@\w+\{[^,]+,)", rf"\g<1>\n  doi = {{10.1000/{number}}},", entry))
    return ["\n\n".join(made[start : start + 50]) + "\n" for start in range(0, count, 50)]
