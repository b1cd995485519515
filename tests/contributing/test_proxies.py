"""Behind a proxy: what is still held against the address policy, and what goes where."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from flopbook.contributing.exchange import RequestFailure
from flopbook.contributing.guard import Guard, Refused
from flopbook.contributing.transport import Transport
from tests.support.linkserver import LinkServer
from tests.support.services import ForbiddenListener

_PRIVATE = (
    "http://jenkins/",
    "http://metadata.google.internal/computeMetadata/v1/",
    "http://printer.local/",
    "https://wiki.corp./",
    "https://router.home.arpa/",
    "http://db.LAN/",
    "http://x.localhost/",
    "http://10.0.0.8x/",
    "http://0x7f.0x1/",
)


@pytest.fixture
def proxy(forbidden: ForbiddenListener) -> Iterator[LinkServer]:
    """A server that is asked for whole addresses, and writes down which."""
    running = LinkServer(forbidden.url)
    yield running
    running.close()


def behind(proxy: LinkServer, *schemes: str, **names: str) -> Transport:
    """A transport that has a proxy for these schemes; no name resolves here but `names`."""
    guard = proxy.guard(**names)
    return Transport(guard, {}, {scheme: proxy.url("") for scheme in schemes})


def ask(transport: Transport, url: str) -> int:
    with transport.session() as session:
        return transport.send(session, transport.prepare(session, "GET", url), 5.0).status


def test_a_scheme_without_a_proxy_is_called_through_the_guard(proxy: LinkServer) -> None:
    """The name has an address for the guard alone: whoever looks it up again finds none."""
    transport = behind(proxy, "https", only_here_com="127.0.0.1")
    assert ask(transport, f"http://only.here.com:{proxy.port}/ok") == 200
    assert proxy.inner.log == [("GET", "/ok")]


def test_a_scheme_without_a_proxy_needs_a_name_that_resolves(proxy: LinkServer) -> None:
    """It was called all the same, at whatever address a second look-up gave."""
    with pytest.raises(RequestFailure, match=r"host docs\.acme\.com does not resolve"):
        ask(behind(proxy, "https"), "http://docs.acme.com/")


def test_a_name_that_only_the_proxy_knows_is_left_to_it(proxy: LinkServer) -> None:
    ask(behind(proxy, "http"), "http://docs.acme.com/ok")
    assert proxy.inner.log == [("GET", "http://docs.acme.com/ok")]


@pytest.mark.parametrize("url", _PRIVATE)
def test_names_of_private_networks_are_not_left_to_the_proxy(proxy: LinkServer, url: str) -> None:
    with pytest.raises(RequestFailure, match="is a name of a private network") as caught:
        ask(behind(proxy, "http", "https"), url)
    assert caught.value.kind == "refused"
    assert proxy.inner.log == []


def test_the_proxy_is_asked_for_the_usual_ports_alone(proxy: LinkServer) -> None:
    with pytest.raises(RequestFailure, match="port 8080 is not 80 or 443"):
        ask(behind(proxy, "http"), "http://docs.acme.com:8080/")
    assert proxy.inner.log == []


@pytest.mark.parametrize("host", ["acme.com", "xn--bcher-kva.example.org", "a-b.co.uk."])
def test_names_of_the_internet_pass(host: str) -> None:
    Guard().check_name(host, 443)


def test_a_name_is_checked_whatever_its_case() -> None:
    with pytest.raises(Refused):
        Guard().check_name("Wiki.Internal", 443)
