"""The address guard: which addresses our programs may call, on every hop of every redirect.

Links come from contributors, and the check may run where private services can be reached. So a link
is asked for only if its scheme is http or https, it carries no credentials, its port is the usual
one, and EVERY address that its host resolves to is on the public internet. The guard also opens the
connection, to the very addresses it has checked: a name that resolves to something else a moment
later (DNS rebinding) gains nothing.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

Resolver = Callable[[str], Iterable[str]]
STANDARD_PORTS = {"http": 80, "https": 443}
# IPv6 addresses whose last 32 bits are an IPv4 address that a gateway calls: RFC 6052.
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# Clients disagree on what these mean, and the host that was checked must be the one that is called.
_UNSAFE = re.compile(r"[\x00-\x20\x7f\\]")
_MOST_ADDRESSES_TRIED = 4  # each may cost a whole timeout


class Refused(Exception):
    """The guard does not let us call this address; the text says why."""


class Unresolved(Exception):
    """The name of the host has no address."""


def system_resolver(host: str) -> list[str]:
    """The addresses the system gives for a host; spellings such as `0x7f.2` are resolved too."""
    return [str(info[4][0]) for info in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]


def why_not_public(address: str) -> str | None:
    """Why an IP address must not be called, or None if it is on the public internet."""
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv6Address):
        inner = _embedded_ipv4(ip)
        if inner is not None:
            reason = why_not_public(str(inner))
            return f"{address} leads to {reason}" if reason else None
    # Multicast counts as global in the standard library, and so do some reserved ranges.
    if ip.is_global and not ip.is_multicast and not ip.is_reserved:
        return None
    return f"{address} is not an address on the public internet"


def _embedded_ipv4(ip: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that an IPv6 one is a way to write or to reach (mapped, 6to4, NAT64)."""
    if ip in _NAT64:
        return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour


@dataclass
class Guard:
    """Decides, resolves and connects. `allow`: (address, port) pairs that are let through."""

    allow: frozenset[tuple[str, int]] = frozenset()
    resolve: Resolver = system_resolver
    _resolved: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def check_url(self, url: str) -> tuple[str, int]:
        """Host and port of a URL that may be called; raises Refused or Unresolved."""
        host, port = self.check_form(url)
        self.addresses(host, port)
        return host, port

    def check_form(self, url: str) -> tuple[str, int]:
        """The part of the check that needs no name resolution."""
        if _UNSAFE.search(url):
            raise Refused("the address has a space, a control character or a backslash in it")
        try:
            address = urlsplit(url)
            host, port = address.hostname, address.port
        except ValueError as error:
            raise Refused(f"not a valid address ({error})") from None
        if address.scheme not in STANDARD_PORTS:
            scheme = address.scheme or "missing"
            raise Refused(f"the scheme is {scheme!r}, and only http and https are called")
        if "@" in address.netloc:
            raise Refused("the address carries a user name or password")
        if not host:
            raise Refused("the address names no host")
        if port is None:
            port = STANDARD_PORTS[address.scheme]
        return host, port

    def addresses(self, host: str, port: int) -> tuple[str, ...]:
        """All addresses of the host; raises Refused if a single one of them is forbidden."""
        addresses = self._lookup(host.rstrip("."))
        for address in addresses:
            if (address, port) in self.allow:
                continue
            reason = why_not_public(address)
            if reason:
                raise Refused(f"host {host}: {reason}")
            if port not in STANDARD_PORTS.values():
                raise Refused(f"port {port} is not 80 or 443")
        return addresses

    def _lookup(self, host: str) -> tuple[str, ...]:
        """The addresses of a host, resolved once per run.

        A name that is resolved again for the connection could lead to an address that nobody
        checked (DNS rebinding).
        """
        with self._lock:
            if host in self._resolved:
                return self._first_answer(host)
        try:
            addresses = tuple(dict.fromkeys(self.resolve(host)))
        except (OSError, UnicodeError):  # UnicodeError: a label too long for the name system
            addresses = ()
        with self._lock:
            self._resolved.setdefault(host, addresses)  # another thread may have been faster
            return self._first_answer(host)

    def _first_answer(self, host: str) -> tuple[str, ...]:
        if not self._resolved[host]:
            raise Unresolved(f"host {host} does not resolve")
        return self._resolved[host]

    def connect(self, host: str, port: int, timeout: float | None) -> socket.socket:
        """A connection to one of the checked addresses of the host, tried in order."""
        error: OSError = OSError("no address")
        for address in self.addresses(host, port)[:_MOST_ADDRESSES_TRIED]:
            try:
                return socket.create_connection((address, port), timeout)
            except OSError as failed:
                error = failed
        raise error
