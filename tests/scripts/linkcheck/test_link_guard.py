"""The address guard as a pure function.

Addresses come from a fake resolver, and nothing is connected to.
"""

from __future__ import annotations

import ipaddress
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flopbook.contributing.guard import Guard, Refused, Unresolved, why_not_public

PUBLIC = "8.8.4.4"  # a name for "some public address"; only ever compared, never called


def guard_for(*addresses: str, allow: frozenset[tuple[str, int]] = frozenset()) -> Guard:
    return Guard(allow=allow, resolve=lambda host: addresses)


@pytest.mark.parametrize("address", [PUBLIC, "2606:4700:4700::1111", "2a00::1", "192.0.1.1"])
def test_public_addresses_pass(address: str) -> None:
    assert why_not_public(address) is None
    assert guard_for(address).check_url("https://some.test/page") == ("some.test", 443)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.255.255.254",
        "0.0.0.0",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "192.0.2.1",
        "198.18.0.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "fe80::1",
        "fe80::1%1",
        "fc00::1",
        "fd12:3456::1",
        "ff02::1",
        "2001:db8::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::a00:1",
        "2002:7f00:1::",
        "2002:a00:1::1",
        # Public addresses in writings that only a gateway or the system itself understands.
        f"::ffff:{PUBLIC}",
        "64:ff9b::808:404",
        "2002:808:404::1",
        # Not global in the registries, though versions of the standard library say so.
        "fec0::1",
        "3fff::1",
        "192.0.0.8",
        "192.88.99.1",
        "64:ff9b:1::1",
        "2001::1",
        "2001:10::1",
        "2001:2::1",
        "2606:4700:4700::1111%eth0",
        "5f00::1",
        "4000::1",
        "100::1",
    ],
)
def test_other_addresses_are_refused(address: str) -> None:
    assert why_not_public(address)
    with pytest.raises(Refused, match="not an address on the public internet"):
        guard_for(address).check_url("https://some.test/")


@settings(deadline=None)
@given(st.ip_addresses())
def test_nothing_passes_that_is_not_global(
    ip: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    if why_not_public(str(ip)) is None:
        assert ip.is_global and not (ip.is_multicast or ip.is_reserved or ip.is_private)


@settings(deadline=None)
@given(st.ip_addresses(v=4))
def test_no_other_way_to_write_an_ipv4_address_passes(ip: ipaddress.IPv4Address) -> None:
    number = int(ip)
    for prefix, shift in (("::ffff:0:0", 0), ("64:ff9b::", 0), ("::", 0), ("2002::", 80)):
        spelling = ipaddress.IPv6Address(int(ipaddress.ip_address(prefix)) + (number << shift))
        assert why_not_public(str(spelling))


def test_one_forbidden_address_among_several_is_enough() -> None:
    with pytest.raises(Refused):
        guard_for(PUBLIC, "127.0.0.2").check_url("https://some.test/")


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("ftp://some.test/", "scheme"),
        ("file:///etc/hostname", "scheme"),
        ("javascript:alert(1)", "scheme"),
        ("data:text/html,x", "scheme"),
        ("some.test/page", "scheme"),
        ("https://user:word@some.test/", "user name"),
        ("https://user@some.test/", "user name"),
        ("https://@some.test/", "user name"),
        ("https:///page", "no host"),
        ("https://some.test:8443/", "port 8443"),
        ("https://some.test:99999/", "valid"),
        ("https://some.test:port/", "valid"),
        ("https://[::1/", "valid"),
        ("https://some.test\\@other.test/", "backslash"),
        ("https://some.test/a b", "space"),
        ("https://some.test/\r\nHost: other.test", "control"),
    ],
)
def test_forms_that_are_refused(url: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        guard_for(PUBLIC).check_url(url)


def test_both_usual_ports_pass() -> None:
    assert guard_for(PUBLIC).check_url("http://some.test:443/") == ("some.test", 443)
    assert guard_for(PUBLIC).check_url("https://some.test:80/") == ("some.test", 80)


def test_allow_means_one_address_with_one_port() -> None:
    guard = guard_for("127.0.0.1", allow=frozenset({("127.0.0.1", 8000)}))
    assert guard.check_url("http://some.test:8000/") == ("some.test", 8000)
    with pytest.raises(Refused):
        guard.check_url("http://some.test:8001/")
    with pytest.raises(Refused):
        guard_for("127.0.0.2", allow=frozenset({("127.0.0.1", 8000)})).check_url(
            "http://some.test:8000/"
        )


def test_a_host_is_resolved_once() -> None:
    asked: list[str] = []

    def resolve(host: str) -> list[str]:
        asked.append(host)
        return [PUBLIC]

    guard = Guard(resolve=resolve)
    for _ in range(3):
        guard.check_url("https://some.test/")
    assert asked == ["some.test"]


@pytest.mark.parametrize("failure", [OSError("no network"), UnicodeError("label too long")])
def test_a_resolver_that_fails_means_unresolved(failure: Exception) -> None:
    def resolve(host: str) -> list[str]:
        raise failure

    with pytest.raises(Unresolved):
        Guard(resolve=resolve).check_url("https://some.test/")


def test_connect_asks_again_by_itself() -> None:
    """No way past the check: the function that opens connections makes it too."""
    with pytest.raises(Refused):
        guard_for("127.0.0.2").connect("some.test", 80, 1.0)


@settings(deadline=None)
@given(st.text())
def test_garbage_is_refused_and_nothing_else(text: str) -> None:
    for url in (text, f"http://{text}", f"https://some.test{text}"):
        with suppress(Refused, Unresolved):
            guard_for(PUBLIC).check_url(url)
