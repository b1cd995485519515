"""Servers that drip, redirect and lie, and addresses that are not on the public internet.

Everything is on loopback; the host that nobody may call listens on 127.0.0.2 and counts.
"""

from __future__ import annotations

import ipaddress
import random
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from flopbook.contributing.exchange import RequestFailure
from flopbook.contributing.fetching import Fetcher, FetchError
from flopbook.contributing.guard import Guard, Refused, Unresolved, why_not_public
from flopbook.contributing.transport import Transport
from scripts.attack.campaign import Attempt, Campaign

NAME = "network"
_ADDRESSES, _ANSWERS, _REDIRECTS = 20_000, 60, 40
_TIMEOUT_S, _PATIENCE_S = 0.3, 2.0
_MOST_BYTES = 100_000
_HEAD = b"HTTP/1.1 200 OK\r\n"
# What is sent at once, and what then drips until the client hangs up.
_DRIPS = (
    *((b"", b""), (b"", b"\x16"), (b"HTTP/1.1 ", b"2"), (b"HTTP/1.1 200 ", b"O")),
    *((_HEAD + b"X: ", b"x"), (_HEAD, b"X: y\r\n"), (_HEAD + b"\r\n", b"x")),
    (_HEAD + b"Content-Length: 100000\r\n\r\n", b"x"),
    (_HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
    (_HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"0"),
    (_HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"x"),
    (b"HTTP/1.1 103 Early Hints\r\n", b"X: y\r\n"),
    (b"HTTP/1.1 100 Continue\r\n\r\n" * 50, b""),
    (_HEAD + b"X: " + b"x" * 200_000, b"x" * 1000),
    (_HEAD + b"\r\n", b"x" * 10_000),
    (_HEAD + (b"Set-Cookie: c=" + b"x" * 60_000 + b"\r\n") * 20, b"X: y\r\n"),
    (b"\x00\xff" * 100, b"\x00"),
)
# Spellings of this machine and of private ones, as clients have read them before.
_SPELLINGS = (
    *("127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "localhost"),
    *("localhost.", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]"),
    *("[fec0::1]", "[3fff::1]", "192.0.0.8", "169.254.169.254", "0", "0.0.0.0", "10.1", "[::]"),
    *("[fe80::1%25lo]", "127.0.0.1.", "１２７.0.0.1", "127。0。0。1"),
)
_FORMS = (
    *("http://{0}/", "https://{0}/", "http://{0}:80/", "http://{0}:{1}/", "http://a@{0}/"),
    *("http://example.com@{0}/", "//{0}/", "http:\\\\{0}/", "http://{0}\\@example.com/"),
    *("ftp://{0}/", "file://{0}/etc/passwd", "http://{0}#@example.com/", "http://{0}%00/"),
)


def attack(campaign: Campaign) -> Iterator[Attempt]:
    """Addresses, spellings, answers that drip, and redirects to the forbidden host."""
    for _ in range(campaign.count(_ADDRESSES)):
        address = _address(campaign.rng)
        yield Attempt(str(address), _address_fault(address))
    for _ in range(campaign.count(_ANSWERS)):
        head, piece = campaign.rng.choice(_DRIPS)
        pause_s = campaign.rng.choice((0.001, 0.01, 0.1, 0.25))
        title = f"{head[:40]!r}, then {piece[:20]!r} each {pause_s} s"
        yield Attempt(title, _drip_fault(head, piece, pause_s))
    with _forbidden() as (port, calls):
        for form in _FORMS:
            for host in _SPELLINGS:
                url = form.format(host, port)
                yield Attempt(url, _url_fault(url, calls))
        for _ in range(campaign.count(_REDIRECTS)):
            form = campaign.rng.choice(
                ("http://127.0.0.2:{0}/", "//127.0.0.2:{0}/", "http://127.2:{0}")
            )
            url = form.format(port)
            yield Attempt(f"a redirect to {url}", _redirect_fault(url, calls))


def _address(rng: random.Random) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Any address; every other is at the edge of a range that is set apart, or writes IPv4."""
    kind = rng.randrange(6)
    if kind == 0:
        return ipaddress.IPv4Address(rng.getrandbits(32))
    if kind == 1:
        return ipaddress.IPv6Address(rng.getrandbits(128))
    if kind == 2:
        return ipaddress.IPv6Address(rng.getrandbits(125) | 1 << 125)  # of global unicast
    if kind == 3:
        prefix = rng.choice((0, 0xFFFF << 32, 0x64FF9B << 96, 0x2002 << 112))
        shift = 80 if prefix >> 112 == 0x2002 else 0
        return ipaddress.IPv6Address(prefix | rng.getrandbits(32) << shift)
    network = ipaddress.ip_network(rng.choice(_APART))
    edge = rng.choice((network.network_address, network.broadcast_address))
    with suppress(ipaddress.AddressValueError, ValueError):
        return edge + rng.choice((-1, 0, 1))
    return edge


# After the registry of IANA, written down once more and in another way than the guard has it.
_APART = (
    *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
    *("192.0.0.0/24", "192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24"),
    *("203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "::/8", "100::/64", "2001::/23"),
    *("2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10"),
    *("ff00::/8", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.175.48.0/24"),
    *("100:0:0:1::/64", "64:ff9b:1::/48", "2620:4f:8000::/48", "::ffff:0:0/96"),
    "168.63.129.16/32",  # the host under a machine of Azure
)
_NETWORKS = tuple(map(ipaddress.ip_network, _APART))


def _address_fault(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    if why_not_public(str(address)) is not None:
        return ""
    is_apart = any(address in network for network in _NETWORKS)
    return "passes" if is_apart or address.is_multicast or address.is_loopback else ""


def _url_fault(url: str, calls: list[str]) -> str:
    """Nothing that leads to this machine or to a private one is called, however it is written."""
    try:
        Guard().check_url(url)
    except (Refused, Unresolved):
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "passes" if "example.com" not in url or calls else ""


def _drip_fault(head: bytes, piece: bytes, pause_s: float) -> str:
    with _serving(head, piece, pause_s) as (url, guard):
        transport = Transport(guard, {})
        session = transport.session()
        begun = time.monotonic()
        try:
            transport.send(session, transport.prepare(session, "GET", url), _TIMEOUT_S, _MOST_BYTES)
        except RequestFailure:
            pass
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        finally:
            session.close()
        seconds = time.monotonic() - begun
    return f"took {seconds:.1f} s" if seconds > _PATIENCE_S else ""


def _redirect_fault(url: str, calls: list[str]) -> str:
    head = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + url.encode() + b"\r\n\r\n"
    with _serving(head, b"", 0.0) as (start, guard):
        try:
            Fetcher(guard, 1.0, sleep=lambda _: None).get(start, tries=1)
        except FetchError as failure:
            if calls:
                return f"{len(calls)} calls"
            return "" if failure.kind == "refused" else str(failure)
    return "followed"


@contextmanager
def _serving(head: bytes, piece: bytes, pause_s: float) -> Iterator[tuple[str, Guard]]:
    """A server of one answer; the guard lets its address through."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        over = threading.Event()
        thread = threading.Thread(
            target=_answer, args=(listener, head, piece, pause_s, over), daemon=True
        )
        thread.start()
        guard = Guard(allow=frozenset({("127.0.0.1", port)}))
        yield f"http://127.0.0.1:{port}/", guard
        over.set()
    thread.join(_PATIENCE_S)


def _answer(
    listener: socket.socket, head: bytes, piece: bytes, pause_s: float, over: threading.Event
) -> None:
    with suppress(OSError):
        connection, _ = listener.accept()
        with connection:
            connection.recv(4096)
            connection.sendall(head)
            while not over.wait(pause_s or 0.01):
                connection.sendall(piece)


@contextmanager
def _forbidden() -> Iterator[tuple[int, list[str]]]:
    """The port of the host that nobody may call, and who called it."""
    calls: list[str] = []

    def listen() -> None:
        with suppress(OSError):
            while True:
                connection, caller = listener.accept()
                calls.append(str(caller))
                connection.close()

    with socket.create_server(("127.0.0.2", 0)) as listener:
        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        yield listener.getsockname()[1], calls
