"""One guarded way to ask a web service: the address guard opens every connection, redirects are
followed by hand.

It asks for a page at a time, reads a bounded amount, and is patient with a service that asks for
it. The standard library is enough, so an installed package can do it too. No proxy is used: behind
one the guard could not choose the address.
"""

from __future__ import annotations

import http.client
import ssl
import time
from collections.abc import Callable
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

from flopbook.contributing.guard import Guard, Refused, Unresolved
from flopbook.errors import FlopbookError, shorten

MOST_BYTES = 8_000_000
MOST_REDIRECTS = 6
LONGEST_WAIT_S = 60.0
_REDIRECTS = {301, 302, 303, 307, 308}
_BUSY = {429, 503}
USER_AGENT = "flopbook/1.0 (keeps a bibliography; one request at a time)"


class Answer(NamedTuple):
    """What a service said: the address that answered in the end, the status, and the body."""

    url: str
    status: int
    body: bytes


class FetchError(FlopbookError):
    """No usable answer. `kind` is offline, refused, missing, busy, server or broken."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class _Reply(NamedTuple):
    status: int
    location: str
    retry_after: str
    body: bytes


class Fetcher:
    """Asks for pages, one at a time, through a guard.

    `pause_s` lies between two requests to one host.
    """

    def __init__(
        self,
        guard: Guard | None = None,
        timeout_s: float = 20.0,
        pause_s: float = 0.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._guard = guard or Guard()
        self._timeout_s = timeout_s
        self._pause_s = pause_s
        self._sleep = sleep
        self._asked: set[str] = set()

    def get(self, url: str, accept: str = "*/*", tries: int = 3) -> Answer:
        """The page at a URL. Raises FetchError when there is none after some patience."""
        wait = 2.0
        for left in reversed(range(tries)):
            try:
                reply, where = self._follow(url, accept)
            except FetchError as error:
                if left == 0 or error.kind != "broken":
                    raise
                self._sleep(wait)
            else:
                if 200 <= reply.status < 300:
                    return Answer(where, reply.status, reply.body)
                asked = (
                    retry_after_seconds(reply.retry_after, time.time())
                    if reply.status in _BUSY
                    else None
                )
                again = reply.status in _BUSY or reply.status >= 500
                if left == 0 or not again or (asked is not None and asked > LONGEST_WAIT_S):
                    raise _error(reply.status, where, asked)
                self._sleep(asked if asked is not None else wait)
            wait *= 2
        raise AssertionError("the last try returns or raises")

    def _follow(self, url: str, accept: str) -> tuple[_Reply, str]:
        for _ in range(MOST_REDIRECTS + 1):
            reply = self._ask(url, accept)
            if reply.status not in _REDIRECTS or not reply.location:
                return reply, url
            try:
                url = urljoin(url, reply.location)
            except ValueError:
                raise FetchError(
                    "broken", f"{_host(url)} redirects to something that is no address"
                ) from None
        raise FetchError(
            "missing", f"more than {MOST_REDIRECTS} redirects, the last to {shorten(url)}"
        )

    def _ask(self, url: str, accept: str) -> _Reply:
        url = url.partition("#")[0]
        connection = None
        try:
            host, port = self._guard.check_url(url)
            if host in self._asked and self._pause_s:
                self._sleep(self._pause_s)
            self._asked.add(host)
            connection = self._connection(url, host, port)
            parts = urlsplit(url)
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            headers = {
                "User-Agent": USER_AGENT,
                "Accept": accept,
                "Accept-Encoding": "identity",
                "Connection": "close",
            }
            connection.request("GET", target, headers=headers)
            response = connection.getresponse()
            location, wait = (
                response.getheader(name, "") or "" for name in ("Location", "Retry-After")
            )
            body = b"" if response.status in _REDIRECTS else _body(response)
        except Refused as error:
            raise FetchError("refused", f"{shorten(url)} is not called: {error}") from None
        except (Unresolved, TimeoutError, ConnectionRefusedError) as error:
            raise FetchError("offline", f"no connection to {_host(url)}: {error}") from None
        except OSError as error:
            kind = "broken" if isinstance(error, (ConnectionError, ssl.SSLError)) else "offline"
            raise FetchError(kind, f"no connection to {_host(url)}: {error}") from None
        except (http.client.HTTPException, ValueError) as error:
            raise FetchError(
                "broken", f"{_host(url)} gave no whole answer: {type(error).__name__}"
            ) from None
        finally:
            if connection is not None:
                connection.close()
        return _Reply(response.status, location, wait, body)

    def _connection(self, url: str, host: str, port: int) -> http.client.HTTPConnection:
        """A connection whose socket the guard has opened, to an address that it has checked."""
        connection = http.client.HTTPConnection(host, port, timeout=self._timeout_s)
        connection.sock = self._guard.connect(host, port, self._timeout_s)
        if urlsplit(url).scheme == "https":
            context = ssl.create_default_context()
            connection.default_port = (
                http.client.HTTPS_PORT
            )  # so that the Host header leaves it out
            try:
                connection.sock = context.wrap_socket(connection.sock, server_hostname=host)
            except BaseException:
                connection.close()
                raise
        return connection


def _body(response: http.client.HTTPResponse) -> bytes:
    """The whole body.

    Raises HTTPException for one that is cut off, FetchError for one that is too large.
    """
    body = response.read(MOST_BYTES + 1)
    if len(body) > MOST_BYTES:
        raise FetchError("missing", f"the answer has more than {MOST_BYTES:,} bytes")
    if response.length:  # a read with a limit does not say so by itself
        raise http.client.IncompleteRead(body, response.length)
    return body


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or shorten(url)
    except ValueError:
        return shorten(url)


def _error(status: int, url: str, asked: float | None) -> FetchError:
    """What a status that is no success means for whoever asked."""
    if status in _BUSY:
        wait = f" and asks to wait {asked:.0f} s" if asked is not None else ""
        return FetchError("busy", f"{_host(url)} is busy (status {status}){wait}; try again later")
    if status >= 500:
        return FetchError("server", f"{_host(url)} fails (status {status}); try again later")
    return FetchError("missing", f"{shorten(url)} answers with status {status}")


def retry_after_seconds(value: str | None, now: float) -> float | None:
    """Seconds that a Retry-After header asks for, as a number or as a date; None if unusable."""
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:12])
    try:
        date = parsedate_to_datetime(text)
        return max(0.0, date.replace(tzinfo=date.tzinfo or UTC).timestamp() - now)
    except (ValueError, OverflowError, TypeError):
        return None
