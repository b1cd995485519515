"""Shows the site with live reload: an edit of a source is on the page within seconds.

Watches the sources, writes only the content files that changed, and lets MkDocs rebuild and reload
the page. Notebooks are run once at the start (they come from the cache when nothing changed); an
edit of a notebook runs that one again. MkDocs rebuilds only the pages whose content changed, which
is safe because every page is complete before it starts.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from flopbook.errors import reason_of
from scripts.website.build.generator import preview

ROOT = Path(__file__).resolve().parents[1]
WATCHED = ("accelerators", "bibliography", "calculators", "docs", "scripts/website")
SUFFIXES = (".yaml", ".bib", ".json", ".md", ".py", ".js", ".css", ".svg")
POLL_S = 0.3


def main(arguments: list[str] | None = None) -> int:
    """Serve until interrupted. Exit status 0, or 2 when the address cannot be used."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--address", default="127.0.0.1:8000", help="where to listen (default: 127.0.0.1:8000)"
    )
    options = parser.parse_args(arguments)
    if problem := cannot_listen(options.address):
        print(f"serve: {problem}; choose another with --address 127.0.0.1:PORT", file=sys.stderr)
        return 2
    # Without this a stop from outside would leave the server running.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    if refresh() != 0 and not (ROOT / "build" / "docs" / "index.md").exists():
        return 1
    server = preview(options.address)
    try:
        return watch(server)
    except KeyboardInterrupt:
        return 0
    finally:
        server.terminate()
        server.wait(timeout=10)


def cannot_listen(address: str) -> str:
    """Why an address cannot be listened on, or an empty text."""
    host, _, port = address.rpartition(":")
    try:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, int(port)))
    except (OSError, ValueError, OverflowError) as error:
        return f"cannot listen on '{address}': {reason_of(error)}"
    return ""


def watch(server: subprocess.Popen[bytes]) -> int:
    """Write the content again whenever a source changes, until the server ends."""
    before = snapshot()
    while server.poll() is None:
        time.sleep(POLL_S)
        now = snapshot()
        if now == before:
            continue
        changed = sorted({path for path, _ in now ^ before})
        names = ", ".join(os.path.relpath(path, ROOT) for path in changed[:3])
        print(f"changed: {names}", flush=True)
        before = now
        refresh()
    return 2 if server.returncode else 0


def snapshot() -> frozenset[tuple[str, int]]:
    """Path and time of change of every watched file."""
    files = set()
    for path in _watched_files():
        try:
            files.add((path, os.stat(path).st_mtime_ns))
        except OSError:  # gone between listing and looking: the next round sees it
            continue
    return frozenset(files)


def _watched_files() -> Iterator[str]:
    for folder in WATCHED:
        for base, folders, names in os.walk(ROOT / folder):
            # In place, so that the walk does not go into them.
            folders[:] = [name for name in folders if not name.startswith((".", "__pycache__"))]
            for name in names:
                if name.endswith(SUFFIXES):
                    yield os.path.join(base, name)


def refresh() -> int:
    """Check the data and write the content, in a new interpreter: code may have changed."""
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "scripts.build_site", "--content-only"], cwd=ROOT, check=False
    )
    outcome = "NOT written" if done.returncode else "written"
    print(f"content {outcome} in {time.perf_counter() - begun:.1f} s", flush=True)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
