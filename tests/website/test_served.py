"""The server that shows a built site to a browser."""

from __future__ import annotations

import socket
import struct
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from scripts.website.build.weigh import SiteServer, served

# Closed with this, a connection is reset: the browser has gone, whatever was on its way.
_RESET = struct.pack("ii", 1, 0)


def _dropped(address: str, request: bytes) -> None:
    place = urlsplit(address)
    assert place.hostname and place.port
    with socket.create_connection((place.hostname, place.port)) as connection:
        connection.sendall(request)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)


def test_a_browser_that_drops_its_connections_is_no_news(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lighthouse ends its browser after each run: five tracebacks stood between two results."""
    # Closing such a server waits for its threads, so nothing can be printed after the look below.
    monkeypatch.setattr(SiteServer, "daemon_threads", False)
    (tmp_path / "large.png").write_bytes(bytes(8_000_000))
    (tmp_path / "index.html").write_text("<p>here", encoding="utf-8")
    asks = b"GET /large.png HTTP/1.1\r\nHost: here\r\n\r\n"
    with served(tmp_path) as base:
        for request in (b"", asks[:9], asks, asks + asks):
            _dropped(base, request)
        with urllib.request.urlopen(base) as answer:
            assert answer.status == 200
    assert capsys.readouterr().err == ""


def test_a_fault_of_the_server_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with SiteServer(("127.0.0.1", 0), None) as server:  # type: ignore[arg-type]
        try:
            raise ValueError("a page that cannot be packed")
        except ValueError:
            server.handle_error(b"", ("127.0.0.1", 1))
    assert "a page that cannot be packed" in capsys.readouterr().err
