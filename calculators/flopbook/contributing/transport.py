"""Requests over HTTP that cannot get past the address guard, made with the requests library.

The guard opens every connection, and redirects are left to the caller, so each hop is checked like
the first. Only a command that asks the web imports this module: requests takes a while to load.

Proxies: through a proxy the connection goes to the proxy, which resolves names itself, so the guard
cannot pin the address. A proxy in the environment is therefore ignored unless the caller passes it.
Then an address is checked by its form and port, and by what its name resolves to from here; a name
that does not resolve here is left to the proxy unless it is one of a private network. A public name
that leads the proxy to another address than it gives here is not found out: that is for the rules
of the proxy. Schemes without a proxy are called through the guard as ever.
"""

from __future__ import annotations

import os
import socket
import urllib.request
from collections.abc import Mapping
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse, parse_headers
from typing import Any, ClassVar, NamedTuple, cast

import requests
from requests import exceptions as failures
from requests.adapters import HTTPAdapter
from requests.utils import select_proxy
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    NewConnectionError,
    ReadTimeoutError,
)
from urllib3.util import Timeout

from flopbook.contributing.deadline import Deadline, current
from flopbook.contributing.exchange import REDIRECT_STATUSES, Reply, RequestFailure
from flopbook.contributing.guard import Guard, Refused, Unresolved

# Replies of status 1xx that precede the answer: a server may say "wait" a few times, not for ever.
MOST_INTERIM = 10
# All headers of one answer together. Cookies among them go out again with each redirect, so without
# a limit a few of them would hold hundreds of megabytes.
MOST_HEADER_CHARACTERS = 262_144
_CHUNK_BYTES = 65_536
# All that a link, a host or a network can do to us; anything else is a fault of ours and must be
# raised.
_EXPECTED = (
    Refused,
    Unresolved,
    failures.RequestException,
    HTTPError,
    HTTPException,
    OSError,
    ValueError,
)
_NO_ADDRESS = (failures.InvalidURL, failures.MissingSchema, failures.InvalidSchema, UnicodeError)
# Bundles of trusted certificates that a user may name; the first two are the ones requests knows.
_BUNDLE_VARIABLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")


class CheckedRequest(NamedTuple):
    """A request that the guard has let through: only `Transport.prepare` makes one."""

    prepared: requests.PreparedRequest
    url: str
    host: str


class Transport:
    """Makes requests through the guard; one session for each page, so cookies live no longer."""

    def __init__(
        self, guard: Guard, headers: Mapping[str, str], proxies: Mapping[str, str] | None = None
    ) -> None:
        self.guard = guard
        self.headers = dict(headers)
        self.proxies = dict(proxies or {})
        self._adapter = GuardedAdapter(guard)

    def session(self) -> requests.Session:
        """A new session; all it takes from the environment is the bundle of certificates."""
        session = _Session()
        session.trust_env = False  # no proxies behind our back, and no credentials out of ~/.netrc
        session.proxies.update(self.proxies)
        session.verify = _certificates()
        session.headers.update(self.headers)
        session.mount("http://", self._adapter)
        session.mount("https://", self._adapter)
        return session

    def check(self, url: str) -> str:
        """The host of a URL that may be called; raises Refused or Unresolved."""
        try:
            return self.guard.check_url(url)[0]
        except Unresolved:
            if not select_proxy(url, self.proxies):
                raise
            # Behind a proxy, names often resolve only at the proxy.
            host, port = self.guard.check_form(url)
            self.guard.check_name(host, port)
            return host

    def prepare(self, session: requests.Session, method: str, url: str) -> CheckedRequest:
        """A request to an address that the guard lets through. Raises RequestFailure."""
        try:
            prepared = session.prepare_request(requests.Request(method, url))
            return CheckedRequest(prepared, str(prepared.url), self.check(str(prepared.url)))
        except _EXPECTED as error:
            raise request_failure(error) from error

    def send(
        self,
        session: requests.Session,
        request: CheckedRequest,
        timeout_s: float,
        most_bytes: int = 0,
    ) -> Reply:
        """One exchange: no redirect is followed, and no body is read unless `most_bytes` says so.

        All of it takes `timeout_s` at most. Raises RequestFailure; its kind is `large` for a body
        of more than `most_bytes`.
        """
        with Deadline(timeout_s) as deadline:
            try:
                with session.send(
                    request.prepared, stream=True, allow_redirects=False, timeout=timeout_s
                ) as response:
                    redirects = response.status_code in REDIRECT_STATUSES
                    body = _read_body(response, most_bytes) if most_bytes and not redirects else b""
            except _EXPECTED as error:
                raise _late(deadline) or request_failure(error) from error
            # A connection that was cut may look like the end of a body without a length.
            if late := _late(deadline):
                raise late
        location = response.headers.get("Location") if redirects else None
        retry_after = response.headers.get("Retry-After")
        return Reply(request.url, request.host, response.status_code, location, retry_after, body)


def _late(deadline: Deadline) -> RequestFailure | None:
    """The failure of a request whose time is over; None for any other."""
    if not deadline.expired:
        return None
    return RequestFailure("timeout", f"no whole answer in {deadline.seconds:g} s")


class _Response(HTTPResponse):
    """An answer whose interim replies are counted; http.client skips those of 100 without end.

    Its headers have a limit together; http.client has one for each line, and one for their number.
    """

    def begin(self) -> None:
        """Read status and headers."""
        super().begin()
        characters = sum(len(name) + len(text) for name, text in self.headers.items())
        if characters > MOST_HEADER_CHARACTERS:
            raise HTTPException(f"more than {MOST_HEADER_CHARACTERS:,} characters of headers")

    def _read_status(self) -> tuple[str, int, str]:
        for _ in range(MOST_INTERIM + 1):
            version, status, reason = super()._read_status()  # type: ignore[misc]  # not declared
            if not 100 <= status < 200 or status == HTTPStatus.SWITCHING_PROTOCOLS:
                return version, status, reason
            parse_headers(self.fp)
        raise HTTPException(f"more than {MOST_INTERIM} interim replies")


class _Watched:
    """A connection that the deadline of its request can cut, a kept one too."""

    response_class: Any = _Response
    sock: socket.socket | None

    def request(self, *args: Any, **kwargs: Any) -> None:
        deadline, parent = current(), cast(Any, super())
        if deadline and self.sock is not None:
            deadline.watch(self.sock)
        parent.request(*args, **kwargs)

    def _new_conn(self) -> socket.socket:
        connection: socket.socket = cast(Any, super())._new_conn()
        if deadline := current():
            deadline.watch(connection)
        return connection


class _Pinned:
    """Opens the socket through the guard; Host header, SNI and certificate check stay the URL's."""

    guard: ClassVar[Guard]
    host: str
    port: int
    timeout: Any  # urllib3 keeps a Timeout, a number, None or its own mark for "not set"

    def _new_conn(self) -> socket.socket:
        seconds = Timeout.resolve_default_timeout(self.timeout)
        connection: Any = self  # urllib3 types its errors by a class that only the subclass has
        try:
            return self.guard.connect(self.host, self.port, seconds)
        except TimeoutError as error:
            message = f"no connection to {self.host} in time"
            raise ConnectTimeoutError(connection, message) from error
        except OSError as error:
            message = f"no connection to {self.host}: {error}"
            raise NewConnectionError(connection, message) from error


class _WatchedHTTP(_Watched, HTTPConnection):
    pass


class _WatchedHTTPS(_Watched, HTTPSConnection):
    pass


class _PinnedHTTP(_Watched, _Pinned, HTTPConnection):
    pass


class _PinnedHTTPS(_Watched, _Pinned, HTTPSConnection):
    pass


class GuardedAdapter(HTTPAdapter):
    """An adapter that cannot connect past the guard, unless through a proxy that it was given.

    All its connections end with the deadline of their request.
    """

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        super().__init__(max_retries=0, pool_connections=64)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """Give the pool manager connections that ask the guard."""
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = {
            "http": _pool_class(HTTPConnectionPool, _PinnedHTTP, guard=self._guard),
            "https": _pool_class(HTTPSConnectionPool, _PinnedHTTPS, guard=self._guard),
        }

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> Any:
        """The manager of the pools of a proxy: where it lies is for whoever named it."""
        manager = super().proxy_manager_for(*args, **kwargs)
        manager.pool_classes_by_scheme = {
            "http": _pool_class(HTTPConnectionPool, _WatchedHTTP),
            "https": _pool_class(HTTPSConnectionPool, _WatchedHTTPS),
        }
        return manager


def _pool_class(pool: type, connection: type, **attributes: Any) -> type:
    ours = type(connection.__name__, (connection,), attributes)
    return type(pool.__name__, (pool,), {"ConnectionCls": ours})


class _Session(requests.Session):
    def get_redirect_target(self, resp: requests.Response) -> None:
        """Never: requests would read the whole body of a redirect that it knows about."""
        return None


def environment_proxies() -> dict[str, str]:
    """The proxies that the environment asks for, by scheme."""
    return {
        scheme: url
        for scheme, url in urllib.request.getproxies().items()
        if scheme in ("http", "https", "all")
    }


def _certificates() -> str | bool:
    """The bundle of certificates that the environment names, else True: the one of requests."""
    for variable in _BUNDLE_VARIABLES:
        if bundle := os.environ.get(variable):
            return bundle
    return True


def _read_body(response: requests.Response, most_bytes: int) -> bytes:
    """The body as it was sent, at most `most_bytes` of it.

    It is never decompressed: a small body may unpack into a huge one.
    """
    body = bytearray()
    # read1 returns what has come; read would wait for a whole chunk, however slowly it drips in.
    while chunk := response.raw.read1(_CHUNK_BYTES, decode_content=False):
        body += chunk
        if len(body) > most_bytes:
            raise RequestFailure("large", f"the answer has more than {most_bytes:,} bytes")
    return bytes(body)


def request_failure(error: Exception) -> RequestFailure:
    """What an exception means; the order matters, since the classes of requests overlap."""
    if isinstance(error, Refused):
        return RequestFailure("refused", str(error))
    if isinstance(error, Unresolved):
        return RequestFailure("dns", str(error))
    if isinstance(error, (failures.Timeout, ReadTimeoutError)):
        return RequestFailure("timeout", "no answer in time")
    if isinstance(error, failures.SSLError):
        return RequestFailure("tls", f"the secure connection failed: {_innermost(error)}")
    if isinstance(error, failures.ConnectionError):
        # requests wraps the error of urllib3 in its own, and shows its class only in the text.
        kind = "connect" if "NewConnectionError" in repr(error.args) else "broken"
        return RequestFailure(kind, _innermost(error))
    if isinstance(error, _NO_ADDRESS):
        return RequestFailure("bad-url", f"not an address that can be asked for: {error}")
    return RequestFailure("broken", f"not a valid answer: {_innermost(error)}")


def _innermost(error: BaseException) -> str:
    """The first cause, on one line, without the chain of wrappers around it."""
    while error.__cause__ is not None or error.__context__ is not None:
        error = error.__cause__ or error.__context__ or error
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
