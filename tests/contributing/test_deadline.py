"""Servers that drip: every request ends in time, whichever part of the answer is slow."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from flopbook.contributing.exchange import RequestFailure
from flopbook.contributing.fetching import Fetcher, FetchError
from flopbook.contributing.guard import Guard
from flopbook.contributing.transport import Transport
from scripts.linkcheck.fetch import Policy, Prober
from scripts.linkcheck.schedule import Clock, HostLimiter, Limits


def _drip(connection: socket.socket, head: bytes, piece: bytes) -> None:
    """Send a byte or a line every few milliseconds, until the client hangs up."""
    connection.sendall(head)
    if not piece:
        connection.recv(1)  # until the client hangs up
        return
    for _ in range(2000):
        connection.sendall(piece)
        time.sleep(0.01)


_LENGTH = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"
_CHUNKS = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
_DRIPS = {
    "body": (_LENGTH, b"x"),
    "body in chunks": (_CHUNKS, b"1\r\nx\r\n"),
    "body without a length": (b"HTTP/1.1 200 OK\r\n\r\n", b"x"),
    "length of a chunk": (_CHUNKS, b"0"),
    "trailer": (_CHUNKS + b"0\r\n", b"x"),
    "status line": (b"HTTP/1.1 ", b"2"),
    "reason": (b"HTTP/1.1 200 ", b"O"),
    "header": (b"HTTP/1.1 200 OK\r\nX: ", b"x"),
    "headers": (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
    "nothing": (b"", b""),
    "interim header": (b"HTTP/1.1 103 Early Hints\r\n", b"X: y\r\n"),
}


@pytest.mark.parametrize("method", ["HEAD", "GET"])
@pytest.mark.parametrize("part", _DRIPS)
def test_a_request_that_drips_ends_in_time(part: str, method: str) -> None:
    """A server that sends a byte before each timeout held both clients for as long as it liked."""
    has_body = "HTTP/1.1 200 OK\r\n" in _DRIPS[part][0].decode() and "header" not in part
    if method == "HEAD" and has_body:
        return  # the headers are whole, and no body follows them
    with _playing(lambda connection: _drip(connection, *_DRIPS[part])) as (url, guard):
        transport = Transport(guard, {})
        session = transport.session()
        request = transport.prepare(session, method, url)
        begun = time.monotonic()
        with pytest.raises(RequestFailure, match=r"answer in (0\.3 s|time)") as failed:
            transport.send(session, request, 0.3, 1_000_000)
        assert time.monotonic() - begun < 2 and failed.value.kind == "timeout"


@pytest.mark.parametrize("client", ["fetcher", "prober"])
def test_both_clients_have_the_same_limit(client: str) -> None:
    drip = _DRIPS["headers"]
    with _playing(lambda connection: _drip(connection, *drip)) as (url, guard):
        begun = time.monotonic()
        if client == "fetcher":
            with pytest.raises(FetchError, match="no whole answer in") as caught:
                Fetcher(guard, 0.3).get(url)
            assert caught.value.kind == "offline"
        else:
            limits = Limits(1, 1, 0.0)
            policy = Policy(timeout_s=0.3, retries=0)
            prober = Prober(Transport(guard, {}), HostLimiter(limits, Clock()), policy, Clock())
            assert prober.probe(url).kind == "timeout"
        assert time.monotonic() - begun < 3


@pytest.mark.parametrize("status", [100, 102, 103])
def test_interim_replies_are_counted(status: int) -> None:
    interim = f"HTTP/1.1 {status} Wait\r\nX: y\r\n\r\n".encode()

    def answer(connection: socket.socket, times: int) -> None:
        connection.sendall(interim * times + b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    with _playing(lambda connection: answer(connection, 10)) as (url, guard):
        assert Fetcher(guard, 5.0).get(url, tries=1).body == b"ok"
    with (
        _playing(lambda connection: answer(connection, 11)) as (url, guard),
        pytest.raises(FetchError, match="more than 10 interim replies"),
    ):
        Fetcher(guard, 5.0).get(url, tries=1)


def test_a_kept_connection_has_a_limit_too() -> None:
    def answer(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        connection.recv(4096)
        _drip(connection, *_DRIPS["headers"])

    with _playing(answer) as (url, guard):
        transport = Transport(guard, {})
        session = transport.session()
        request = transport.prepare(session, "GET", url)
        assert transport.send(session, request, 5.0, 100).body == b"ok"
        with pytest.raises(RequestFailure, match=r"in 0\.3 s"):
            transport.send(session, request, 0.3, 100)


def test_a_handshake_that_never_ends_is_cut() -> None:
    with _playing(lambda connection: _drip(connection, b"", b"\x16")) as (url, guard):
        transport = Transport(guard, {})
        session = transport.session()
        request = transport.prepare(session, "GET", url.replace("http:", "https:"))
        begun = time.monotonic()
        with pytest.raises(RequestFailure) as failed:
            transport.send(session, request, 0.3, 100)
        assert failed.value.kind in ("timeout", "tls") and time.monotonic() - begun < 2


@contextmanager
def _playing(play: Callable[[socket.socket], None]) -> Iterator[tuple[str, Guard]]:
    """The address of a server that plays one part after each request, and a guard for it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_accept, args=(listener, play), daemon=True)
        thread.start()
        port = listener.getsockname()[1]
        guard = Guard(allow=frozenset({("127.0.0.1", port)}), resolve=lambda host: [host])
        yield f"http://127.0.0.1:{port}/", guard
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port), 1).close()  # the last, which ends it
        thread.join(10)
        assert not thread.is_alive(), "the connection is closed"


def _accept(listener: socket.socket, play: Callable[[socket.socket], None]) -> None:
    with suppress(OSError):
        while True:
            connection, _ = listener.accept()
            with connection, suppress(OSError):
                if not connection.recv(4096):
                    return
                play(connection)
