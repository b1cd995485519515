"""Sessions of `requests` whose connections the guard opens, and whose redirects are left to us.

Proxies: through a proxy the connection goes to the proxy, which resolves names itself, so the guard
cannot pin the address. A proxy in the environment is therefore refused unless the caller asks for
it (`--allow-proxy`); then only the form of an address, and what its name resolves to from here (if
it does), are checked.
"""

from __future__ import annotations

import os
import socket
import urllib.request
from typing import Any, ClassVar

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError
from urllib3.util import Timeout

from flopbook.contributing.guard import Guard, Unresolved

# Many vendors' sites answer 403 to a client that does not look like a browser at all.
USER_AGENT = "Mozilla/5.0 (compatible; flopbook-linkcheck/1.0)"
HEADERS = {
    "User-Agent": USER_AGENT,
    "Accept": "text/html,application/xhtml+xml,application/pdf,*/*;q=0.8",
    "Accept-Language": "en",
}


class _Pinned:
    """Opens the socket through the guard; Host header, SNI and certificate check stay the URL's."""

    guard: ClassVar[Guard]
    host: str
    port: int
    timeout: Any

    def _new_conn(self) -> socket.socket:
        seconds = Timeout.resolve_default_timeout(self.timeout)
        connection: Any = self
        try:
            return self.guard.connect(self.host, self.port, seconds)
        except TimeoutError as error:
            raise ConnectTimeoutError(
                connection, f"no connection to {self.host} in time"
            ) from error
        except OSError as error:
            raise NewConnectionError(
                connection, f"no connection to {self.host}: {error}"
            ) from error


class _PinnedHTTP(_Pinned, HTTPConnection):
    pass


class _PinnedHTTPS(_Pinned, HTTPSConnection):
    pass


class GuardedAdapter(HTTPAdapter):
    """An adapter that cannot connect past the guard."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        super().__init__(max_retries=0, pool_connections=64)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """Give the pool manager pools whose connections ask the guard."""
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = {
            "http": _pool_class(HTTPConnectionPool, _PinnedHTTP, self._guard),
            "https": _pool_class(HTTPSConnectionPool, _PinnedHTTPS, self._guard),
        }


def _pool_class(pool: type, connection: type, guard: Guard) -> type:
    guarded = type(connection.__name__, (connection,), {"guard": guard})
    return type(pool.__name__, (pool,), {"ConnectionCls": guarded})


class _Session(requests.Session):
    def get_redirect_target(self, resp: requests.Response) -> None:
        """Never: `requests` would read the whole body of a redirect that it knows about."""
        return None


class Transport:
    """Makes sessions, one for each check: cookies live along its redirects and no longer."""

    def __init__(self, guard: Guard, proxies: dict[str, str] | None = None) -> None:
        self.guard = guard
        self.proxies = proxies or {}
        self._adapter = HTTPAdapter(max_retries=0) if self.proxies else GuardedAdapter(guard)

    def session(self) -> requests.Session:
        """A new session; all it takes from the environment is the bundle of certificates."""
        session = _Session()
        session.trust_env = False  # no proxies behind our back, and no credentials out of ~/.netrc
        session.proxies.update(self.proxies)
        session.verify = (
            os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE") or True
        )
        session.headers.update(HEADERS)
        session.mount("http://", self._adapter)
        session.mount("https://", self._adapter)
        return session

    def check(self, url: str) -> str:
        """The host of a URL that may be called; raises Refused or Unresolved."""
        try:
            return self.guard.check_url(url)[0]
        except Unresolved:
            if not self.proxies:
                raise
            return self.guard.check_form(url)[
                0
            ]  # behind a proxy, names often resolve only at the proxy


def environment_proxies() -> dict[str, str]:
    """The proxies that the environment asks for, by scheme."""
    return {
        scheme: url
        for scheme, url in urllib.request.getproxies().items()
        if scheme in ("http", "https", "all")
    }
