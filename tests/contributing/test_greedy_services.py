"""Answers that would fill the memory or the day of whoever asked for them."""

from __future__ import annotations

import ipaddress
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from flopbook.contributing.exchange import RequestFailure
from flopbook.contributing.fetching import FetchError
from flopbook.contributing.guard import Guard, why_not_public
from flopbook.contributing.metadata import from_atom, from_page
from flopbook.contributing.transport import MOST_HEADER_CHARACTERS, Transport

_FEED = '<feed xmlns="http://www.w3.org/2005/Atom">{}</feed>'
# https://www.iana.org/assignments/iana-ipv4-special-registry and iana-ipv6-special-registry, with
# RFC 4291 for what is no unicast; all that lies in one of these is set apart.
_REGISTRIES = (
    *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
    *("172.16.0.0/12", "192.0.0.0/24", "192.0.0.0/29", "192.0.0.8/32", "192.0.0.9/32"),
    *("192.0.0.10/32", "192.0.0.170/32", "192.0.0.171/32", "192.0.2.0/24", "192.31.196.0/24"),
    *("192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15"),
    *("198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "255.255.255.255/32", "224.0.0.0/4"),
    *("::1/128", "::/128", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64"),
    *("100:0:0:1::/64", "2001::/23", "2001::/32", "2001:1::1/128", "2001:1::2/128"),
    *("2001:1::3/128", "2001:2::/48", "2001:3::/32", "2001:4:112::/48", "2001:10::/28"),
    *("2001:20::/28", "2001:30::/28", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48"),
    *("3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8"),
)


@pytest.mark.parametrize("range_of_registry", _REGISTRIES)
def test_every_range_of_the_registries_is_refused(range_of_registry: str) -> None:
    network = ipaddress.ip_network(range_of_registry)
    middle = network.network_address + network.num_addresses // 2
    for address in (network.network_address, middle, network.broadcast_address):
        assert why_not_public(str(address))


def test_the_host_under_a_machine_of_azure_is_refused() -> None:
    """It is a public address on paper, and answers every runner that checks our links."""
    assert why_not_public("168.63.129.16")
    assert why_not_public("168.63.129.15") is None and why_not_public("168.63.129.17") is None


@pytest.mark.parametrize("count", [4, 5])
def test_headers_have_a_limit_together(count: int) -> None:
    """Ninety cookies of 65 kB went out again with each of ten redirects: 371 MB for one link."""
    header = b"Set-Cookie: c=" + b"x" * (MOST_HEADER_CHARACTERS // 4 - 100) + b"\r\n"
    with _answering(b"HTTP/1.1 200 OK\r\n" + header * count + b"\r\n") as (url, guard):
        transport = Transport(guard, {})
        session = transport.session()
        request = transport.prepare(session, "GET", url)
        if count == 4:
            assert transport.send(session, request, 5.0).status == 200
            return
        with pytest.raises(RequestFailure, match="characters of headers") as failed:
            transport.send(session, request, 5.0)
    assert failed.value.kind == "broken"


@pytest.mark.parametrize(
    "inside",
    [
        "<a>" * 21 + "</a>" * 21,
        "<a/>" * 100_001,
        f'<a xmlns="{"u" * 201}"/>',
        f'<a {"b" * 201}="c"/>',
    ],
    ids=["deep", "many", "namespace", "attribute"],
)
def test_a_feed_that_would_fill_the_memory_is_refused(inside: str) -> None:
    """Eight megabytes of open elements took 754 MB."""
    with pytest.raises(FetchError, match="no whole feed"):
        from_atom(_FEED.format(inside).encode())


def test_a_title_in_many_parts_is_read_in_one_go() -> None:
    """A megabyte of `<` took eight seconds: each one was added to a text that grew."""
    begun = time.process_time()
    assert from_page("<title>" + "<" * 999_000, "https://a.example/").title.startswith("<<<")
    assert time.process_time() - begun < 4


@contextmanager
def _answering(answer: bytes) -> Iterator[tuple[str, Guard]]:
    """A server of one answer, and a guard that lets its address through."""

    def serve() -> None:
        with suppress(OSError):
            connection, _ = listener.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        port = listener.getsockname()[1]
        yield f"http://127.0.0.1:{port}/", Guard(allow=frozenset({("127.0.0.1", port)}))
    thread.join(5)
