"""Pages of web services, one at a time: patient with a busy service, bounded in size.

Every request goes through the address guard. No proxy is used: behind one the guard could not
choose the address.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from flopbook.contributing.exchange import (
    BUSY_STATUSES,
    Reply,
    RequestFailure,
    follow,
    retry_after_seconds,
)
from flopbook.contributing.guard import Guard
from flopbook.errors import FlopbookError, shorten

if TYPE_CHECKING:  # requests takes longer to load than any command takes to parse its options
    import requests

    from flopbook.contributing.transport import Transport

MOST_BYTES = 8_000_000  # the largest feed of arXiv that we ask for has about 1 MB
MOST_REDIRECTS = 6
LONGEST_WAIT_S = 60.0
FIRST_WAIT_S = 2.0  # before the second try; doubles
USER_AGENT = "flopbook/1.0 (keeps a bibliography; one request at a time)"
_HEADERS = {
    "User-Agent": USER_AGENT,
    "Accept-Encoding": "identity",  # bodies are not decompressed: see transport
    "Connection": "close",
}


class FetchedPage(NamedTuple):
    """A page: the address that answered after all redirects, the status, and the body."""

    url: str
    status: int
    body: bytes


class FetchError(FlopbookError):
    """No usable answer. `kind` is offline, refused, missing, busy, server or broken.

    `passing`: another try may get one, after `wait_s` seconds where the service says so.
    """

    def __init__(
        self, kind: str, text: str, *, passing: bool = False, wait_s: float | None = None
    ) -> None:
        super().__init__(text)
        self.kind = kind
        self.passing = passing
        self.wait_s = wait_s


class Fetcher:
    """Asks for pages, one at a time, through a guard, `pause_s` apart at one host.

    A request takes `timeout_s` at most, connection, headers and body together.
    """

    def __init__(
        self,
        guard: Guard | None = None,
        timeout_s: float = 30.0,
        pause_s: float = 0.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._guard = guard or Guard()
        self._timeout_s = timeout_s
        self._pause_s = pause_s
        self._sleep = sleep
        self._asked_hosts: set[str] = set()
        self._transport: Transport | None = None

    def get(self, url: str, accept: str = "*/*", tries: int = 3) -> FetchedPage:
        """The page at a URL. Raises FetchError when there is none after some patience."""
        for attempt in range(tries - 1):
            try:
                return self._try(url, accept)
            except FetchError as failure:
                if not failure.passing:
                    raise
                backoff_s = FIRST_WAIT_S * 2**attempt
                self._sleep(backoff_s if failure.wait_s is None else failure.wait_s)
        return self._try(url, accept)

    def _try(self, url: str, accept: str) -> FetchedPage:
        """One try, over all redirects. Raises FetchError."""
        session = self._open().session()
        session.headers["Accept"] = accept
        hop_url = url

        def ask(next_url: str) -> Reply:
            nonlocal hop_url
            hop_url = next_url
            return self._ask(session, next_url)

        try:
            *_, reply = follow(url, ask, MOST_REDIRECTS)
        except RequestFailure as failure:
            raise _request_error(failure, hop_url) from None
        finally:
            session.close()
        if 200 <= reply.status < 300:
            return FetchedPage(hop_url, reply.status, reply.body)
        raise _status_error(reply, hop_url)

    def _open(self) -> Transport:
        from flopbook.contributing.transport import Transport

        if self._transport is None:
            self._transport = Transport(self._guard, _HEADERS)
        return self._transport

    def _ask(self, session: requests.Session, url: str) -> Reply:
        """One request, after a pause where its host has been asked before."""
        transport = self._open()
        request = transport.prepare(session, "GET", url)
        if request.host in self._asked_hosts and self._pause_s:
            self._sleep(self._pause_s)
        self._asked_hosts.add(request.host)
        return transport.send(session, request, self._timeout_s, MOST_BYTES)


def _status_error(reply: Reply, url: str) -> FetchError:
    """What a status that is no success means for whoever asked."""
    status = f"(status {reply.status})"
    if reply.status in BUSY_STATUSES:
        wait_s = retry_after_seconds(reply.retry_after, time.time())
        request = "" if wait_s is None else f" and asks to wait {wait_s:.0f} s"
        text = f"{_host(url)} is busy {status}{request}; try again later"
        return FetchError("busy", text, passing=(wait_s or 0) <= LONGEST_WAIT_S, wait_s=wait_s)
    if reply.status >= 500:
        text = f"{_host(url)} fails {status}; try again later"
        return FetchError("server", text, passing=True)
    return FetchError("missing", f"{shorten(url)} answers with status {reply.status}")


def _request_error(failure: RequestFailure, url: str) -> FetchError:
    """A request without a reply, in the words of whoever asked for the page."""
    if failure.kind == "refused":
        return FetchError("refused", f"{shorten(url)} is not called: {failure}")
    if failure.kind in ("large", "redirects"):
        return FetchError("missing", shorten(failure, 200))
    if failure.kind in ("dns", "connect", "timeout"):
        return FetchError("offline", f"no connection to {_host(url)}: {failure}")
    if failure.kind == "tls":
        return FetchError("broken", f"no connection to {_host(url)}: {failure}", passing=True)
    return FetchError("broken", f"{_host(url)} gave no whole answer: {failure}", passing=True)


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or shorten(url)
    except ValueError:
        return shorten(url)
