"""The address guard: which addresses our programs may call, on every hop of every redirect.

Links come from contributors, and the check may run where private services can be reached. So a link
is asked for only if its scheme is http or https, it carries no credentials, its port is the usual
one, and EVERY address that its host resolves to is on the public internet. The guard also opens the
connection, to the very addresses it has checked: a name that resolves to something else a moment
later (DNS rebinding) gains nothing.
"""

from __future__ import annotations

import contextlib
import ipaddress
import re
import socket
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

Resolver = Callable[[str], Iterable[str]]
STANDARD_PORTS = {"http": 80, "https": 443}
# Global unicast, and what of it is set apart. The list is our own, after the registries of
# special-purpose addresses at IANA (RFC 6890), because that of the standard library differs from
# one version to the next. Of IPv6 only one eighth is handed out at all, so mapped addresses
# (::ffff:0:0/96), gateways to IPv4 (64:ff9b::/96) and site-local ones (fec0::/10) are outside.
_UNICAST = tuple(map(ipaddress.ip_network, ("0.0.0.0/0", "2000::/3")))
_SET_APART = tuple(
    map(
        ipaddress.ip_network,
        (
            *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
            *("172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24"),
            *("192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24"),
            *("198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3"),
            # In no registry, yet never on the internet: the host under each machine of Azure, where
            # GitHub runs our workflows (learn.microsoft.com, "What is IP address 168.63.129.16?").
            "168.63.129.16/32",
            "2001::/23",  # for protocols: Teredo, ORCHID, benchmarks
            "2001:db8::/32",  # for documentation
            "2002::/16",  # 6to4: a way to write an IPv4 address
            "2620:4f:8000::/48",  # AS112: answers for private addresses
            "3fff::/20",  # for documentation, too: RFC 9637
        ),
    )
)
# Names that mean something in a private network alone: RFC 6761, RFC 6762 (and its Appendix G, what
# people use there), RFC 8375.
_PRIVATE_NAMES = frozenset(
    ("localhost", "local", "internal", "intranet", "private", "corp", "home", "lan", "home.arpa")
)
# Clients disagree on what these mean, and the host that was checked must be the one that is called.
_UNSAFE = re.compile(r"[\x00-\x20\x7f\\]")
_MOST_ADDRESSES_TRIED = 4
_LONGEST_LOOKUP_S = 15.0


class Refused(Exception):
    """The guard does not let us call this address; the text says why."""


class Unresolved(Exception):
    """The name of the host has no address."""


def system_resolver(host: str) -> list[str]:
    """The addresses the system gives for a host; spellings such as `0x7f.2` are resolved too."""
    resolved: list[str] = []

    def look_up() -> None:
        with contextlib.suppress(OSError, UnicodeError):
            answers = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
            resolved.extend(str(answer[4][0]) for answer in answers)

    # The system waits as long as its own settings say, and cannot be stopped.
    thread = threading.Thread(target=look_up, daemon=True)
    thread.start()
    thread.join(_LONGEST_LOOKUP_S)
    return list(resolved)


def why_not_public(address: str) -> str | None:
    """Why an IP address must not be called, or None if it is on the public internet."""
    ip = ipaddress.ip_address(address)
    is_scoped = isinstance(ip, ipaddress.IPv6Address) and ip.scope_id is not None
    is_unicast = any(ip in network for network in _UNICAST)
    if is_unicast and not is_scoped and not any(ip in network for network in _SET_APART):
        return None
    return f"{address} is not an address on the public internet"


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

    def check_name(self, host: str, port: int) -> None:
        """What can be said of a name that only a proxy resolves; raises Refused.

        A name of the internet ends in a word after a dot. Whether it leads into a private network
        all the same, the proxy alone can know.
        """
        if port not in STANDARD_PORTS.values():
            raise Refused(f"port {port} is not 80 or 443")
        *labels, last = host.lower().rstrip(".").split(".")
        last_two = f"{labels[-1]}.{last}" if labels else last
        if not labels or not last[:1].isalpha() or _PRIVATE_NAMES & {last, last_two}:
            raise Refused(f"{host} is a name of a private network")

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
        """A connection to one of the checked addresses of the host, tried in order.

        `timeout` bounds all tries together.
        """
        error: OSError = OSError("no address")
        begun = time.monotonic()
        for address in self.addresses(host, port)[:_MOST_ADDRESSES_TRIED]:
            left = None if timeout is None else timeout - (time.monotonic() - begun)
            if left is not None and left <= 0:
                break
            try:
                connection = socket.create_connection((address, port), left)
                connection.settimeout(timeout)
                return connection
            except OSError as failed:
                error = failed
        raise error
