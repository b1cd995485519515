"""A server on 127.0.0.1 that plays arXiv, doi.org, archive.org and a web page.

It fails in all the ways in which they fail.
"""

from __future__ import annotations

import json
import socket
import threading
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape

from flopbook.contributing.fetching import Fetcher
from flopbook.contributing.guard import Guard


class ForbiddenListener:
    """Listens on 127.0.0.2 and counts connections."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.2", 0))
        self._socket.settimeout(10)
        self.port = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.2:{self.port}/secret"
        self.connections = 0
        self._thread = threading.Thread(target=self._count, daemon=True)
        self._thread.start()

    def _count(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except TimeoutError:
                continue
            except OSError:
                return
            with connection:
                if connection.recv(4) == b"stop":
                    return
                self.connections += 1

    def close(self) -> None:
        """Stop; everything that connected before has been counted by then."""
        with socket.create_connection(("127.0.0.2", self.port)) as last:
            last.sendall(b"stop")
        self._thread.join(10)
        self._socket.close()


@dataclass
class Reply:
    """One answer; `cut` bytes of the body are promised and never sent."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: int = 0


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        self.close_connection = True
        path, query = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
        with self.server.lock:
            self.server.asked.append((path, {name: values[0] for name, values in query.items()}))
            self.server.accepted.append(self.headers.get("Accept", ""))
            replies = self.server.replies.get(path) or deque([Reply(404)])
            reply = replies.popleft() if len(replies) > 1 else replies[0]
        self.send_response(reply.status)
        self.send_header("Content-Length", str(len(reply.body) + reply.cut))
        self.send_header("Connection", "close")
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)

    def log_message(self, *args: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.lock = threading.Lock()
        self.replies: dict[str, deque[Reply]] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.accepted: list[str] = []

    def handle_error(self, *args: object) -> None:
        pass


class Services:
    """The running server.

    It answers each path with the replies given for it, the last one for ever.
    """

    def __init__(self) -> None:
        self.inner = _Server()
        self.port = int(self.inner.server_address[1])
        self.slept: list[float] = []
        self._thread = threading.Thread(target=self.inner.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def url(self, path: str) -> str:
        """The address of a page."""
        return f"http://127.0.0.1:{self.port}/{path}"

    def plays(self, path: str, *replies: Reply | bytes) -> str:
        """Answer a path with these; returns its address."""
        whole = [reply if isinstance(reply, Reply) else Reply(body=reply) for reply in replies]
        self.inner.replies[f"/{path}"] = deque(whole)
        return self.url(path)

    def guard(self) -> Guard:
        """A guard that lets this server through and resolves nothing else."""
        numbers = lambda host: [host] if host.replace(".", "").isdigit() else []  # noqa: E731
        return Guard(allow=frozenset({("127.0.0.1", self.port)}), resolve=numbers)

    def fetcher(self, pause_s: float = 0.0) -> Fetcher:
        """A fetcher that reaches this server and notes each pause instead of waiting."""
        return Fetcher(self.guard(), 10.0, pause_s, self.slept.append)

    @property
    def asked(self) -> list[tuple[str, dict[str, str]]]:
        """Path and query of each request so far."""
        return list(self.inner.asked)

    def close(self) -> None:
        """Stop serving."""
        self.inner.shutdown()
        self.inner.server_close()
        self._thread.join(10)


def atom(*entries: str, total: int | None = None) -> bytes:
    """A feed of the arXiv API."""
    spaces = (
        'xmlns="http://www.w3.org/2005/Atom" xmlns:arxiv="http://arxiv.org/schemas/atom" '
        'xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"'
    )
    count = len(entries) if total is None else total
    head = f"<title>a query</title><opensearch:totalResults>{count}</opensearch:totalResults>"
    feed = f'<?xml version="1.0" encoding="UTF-8"?><feed {spaces}>{head}{"".join(entries)}</feed>'
    return feed.encode()


def atom_entry(eprint: str = "2611.00001v2", **changes: Any) -> str:
    """One paper in a feed, hard-wrapped as arXiv does it."""
    values = {
        "title": "Chips that Compute\n  at 90% of Peak with BF16",
        "names": ["Jane Q. Doe", "Ludwig van Beethoven"],
        "published": "2026-11-02T10:00:00Z",
        "summary": "We build\n  a chip.",
        "doi": "",
        "category": "cs.AR",
        **changes,
    }
    names = "".join(f"<author><name>{escape(name)}</name></author>" for name in values["names"])
    doi = f"<arxiv:doi>{values['doi']}</arxiv:doi>" if values["doi"] else ""
    return (
        f"<entry><id>http://arxiv.org/abs/{eprint}</id><title>{escape(values['title'])}</title>"
        f"<published>{values['published']}</published><updated>2026-11-09T10:00:00Z</updated>"
        f"<summary>{escape(values['summary'])}</summary>{names}{doi}"
        f'<arxiv:primary_category term="{values["category"]}"/></entry>'
    )


ATOM_ERROR = (
    "<entry><id>http://arxiv.org/api/errors#incorrect_id</id><title>Error</title>"
    "<summary>incorrect id format for 1234.5</summary></entry>"
)


def csl(**changes: Any) -> bytes:
    """A CSL-JSON record as Crossref gives it."""
    record = {
        "type": "proceedings-article",
        "title": "A Work on <i>Links</i> & Chips",
        "author": [
            {"given": "Jane", "family": "Doe"},
            {"given": "Karl", "family": "Müller"},
            {"name": "Acme Team"},
        ],
        "issued": {"date-parts": [[2024, 3, 7]]},
        "container-title": "Proceedings of the Acme Conference",
        "DOI": "10.1145/1234.5678",
        "page": "1-12",
        "volume": None,
        **changes,
    }
    return json.dumps(record).encode()
