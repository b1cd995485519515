"""A server on 127.0.0.1 whose pages behave as links on the web do, and what goes with it."""

from __future__ import annotations

import threading
from collections import Counter
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from flopbook.contributing.guard import Guard
from scripts.linkcheck.schedule import Clock

HUGE = 64 * 1024 * 1024


class FakeClock(Clock):
    """Time that passes only when somebody sleeps; every sleep is recorded."""

    def __init__(self) -> None:
        self.now = 1_000_000_000.0
        self.slept: list[float] = []
        self._lock = threading.Lock()

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self.slept.append(seconds)
            self.now += seconds


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_HEAD(self) -> None:
        self._serve()

    def do_GET(self) -> None:
        self._serve()

    def log_message(self, *args: object) -> None:
        pass

    def _serve(self) -> None:
        self.close_connection = True
        name = self.path.partition("?")[0].strip("/")
        with self.server.lock:
            self.server.log.append((self.command, self.path))
            self.server.headers.append(dict(self.headers))
            self.server.times[self.path] += 1
        try:
            getattr(self, f"page_{name.split('/')[0].replace('-', '_')}", self.page_missing)()
        except (BrokenPipeError, ConnectionResetError):
            self.server.hung_up.append(self.path)

    def _answer(self, status: int, body: bytes = b"hello", **headers: str) -> None:
        self.send_response(status)
        self.send_header("Connection", "close")
        self.send_header("Content-Length", str(len(body)))
        for header, value in headers.items():
            self.send_header(header.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _first_time(self) -> bool:
        return self.server.times[self.path] == 1

    def page_ok(self) -> None:
        self._answer(200)

    def page_missing(self) -> None:
        self._answer(404)

    def page_status(self) -> None:
        self._answer(int(self.path.rsplit("/", 1)[1]))

    def page_moved(self) -> None:
        self._answer(301, Location="/ok")

    def page_found(self) -> None:
        self._answer(302, Location="ok")

    def page_to_missing(self) -> None:
        self._answer(302, Location="/missing")

    def page_nowhere(self) -> None:
        self._answer(302)

    def page_loop(self) -> None:
        self._answer(302, Location="/loop")

    def page_chain(self) -> None:
        left = int(self.path.rsplit("/", 1)[1])
        self._answer(302, Location=f"/chain/{left - 1}" if left else "/ok")

    def page_cookie(self) -> None:
        if "seen=yes" in self.headers.get("Cookie", ""):
            self._answer(200)
        else:
            self._answer(302, Location=self.path, Set_Cookie="seen=yes; Path=/")

    def page_busy(self) -> None:
        first = {
            "seconds": "7",
            "date": formatdate(1_000_000_030, usegmt=True),
            "long": "99999",
            "nonsense": "soon",
        }
        wait = first[self.path.rsplit("/", 1)[1]]
        if self._first_time() or wait == "99999":
            self._answer(429, Retry_After=wait)
        else:
            self._answer(200)

    def page_flaky(self) -> None:
        self._answer(503 if self._first_time() else 200)

    def page_down(self) -> None:
        self._answer(500)

    def page_head_405(self) -> None:
        self._answer(405 if self.command == "HEAD" else 200)

    def page_head_404(self) -> None:
        self._answer(404 if self.command == "HEAD" else 200)

    def page_head_drops(self) -> None:
        if self.command != "HEAD":
            self._answer(200)

    def page_slow(self) -> None:
        self.server.released.wait(30)

    def page_forbidden(self) -> None:
        self._answer(301, Location=self.server.forbidden_url)

    def page_forbidden_later(self) -> None:
        self._answer(302, Location="/forbidden")

    def page_to(self) -> None:
        self._answer(302, Location=self.path.partition("?")[2])

    def page_huge(self) -> None:
        self._stream(200)

    def page_huge_redirect(self) -> None:
        self._stream(302)

    def _stream(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(HUGE))
        self.send_header("Location", "/ok")
        self.end_headers()
        if self.command == "HEAD":
            return
        for _ in range(HUGE // 65536):
            self.wfile.write(b"x" * 65536)
            self.server.sent += 65536

    def page_huge_get(self) -> None:
        if self.command == "HEAD":
            self._answer(405)
        else:
            self._stream(200)

    def page_huge_redirect_get(self) -> None:
        if self.command == "HEAD":
            self._answer(405)
        else:
            self._stream(302)

    def page_many_headers(self) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\n" + b"X-Filler: y\r\n" * 5000 + b"\r\n")

    def page_garbage(self) -> None:
        self.wfile.write(b"this is not HTTP\r\n\r\n")

    def page_drops(self) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, forbidden_url: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.forbidden_url = forbidden_url
        self.lock = threading.Lock()
        self.log: list[tuple[str, str]] = []
        self.headers: list[dict[str, str]] = []
        self.times: Counter[str] = Counter()
        self.hung_up: list[str] = []
        self.released = threading.Event()
        self.sent = 0

    def handle_error(self, *args: object) -> None:
        pass


class LinkServer:
    """The running server."""

    def __init__(self, forbidden_url: str) -> None:
        self.inner = _Server(forbidden_url)
        self.port = int(self.inner.server_address[1])
        self._thread = threading.Thread(target=self.inner.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def url(self, path: str) -> str:
        """The address of a page."""
        return f"http://127.0.0.1:{self.port}/{path}"

    def guard(self, **names: str) -> Guard:
        """A guard that admits this server.

        It resolves `a_test="127.0.0.1"` as the host `a.test`.
        """
        table = {name.replace("_", "."): address for name, address in names.items()}

        def resolve(host: str) -> list[str]:
            if host in table:
                return [table[host]]
            return [host] if host.replace(".", "").isdigit() else []

        return Guard(allow=frozenset({("127.0.0.1", self.port)}), resolve=resolve)

    @property
    def log(self) -> list[tuple[str, str]]:
        """Method and path of each request so far."""
        return list(self.inner.log)

    def close(self) -> None:
        """Stop serving."""
        self.inner.released.set()
        self.inner.shutdown()
        self.inner.server_close()
        self._thread.join(10)
