"""Ask for one link: HEAD first, GET where that fails, redirects by hand, patient retries.

Only the status line and the headers are read. A body is never read, whatever its size: the
connection is closed instead.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from http import HTTPStatus

import requests

from flopbook.contributing.exchange import (
    BUSY_STATUSES,
    Reply,
    RequestFailure,
    follow,
    retry_after_seconds,
)
from flopbook.contributing.guard import Guard
from flopbook.contributing.transport import Transport
from flopbook.errors import shorten
from scripts.linkcheck.results import Result
from scripts.linkcheck.schedule import Clock, HostLimiter

# Many vendors' sites answer 403 to a client that does not look like a browser at all.
HEADERS = {
    "User-Agent": "Mozilla/5.0 (compatible; flopbook-linkcheck/1.0)",
    "Accept": "text/html,application/xhtml+xml,application/pdf,*/*;q=0.8",
    "Accept-Language": "en",
}
_PERMANENT = frozenset((301, 308))
_LONGEST_DETAIL, _LONGEST_SHOWN = 300, 200  # characters of a message, and of an address in one
_VISITS_BEFORE_LOOP = 3  # some sites send a client round once to set a cookie


@dataclass(frozen=True)
class Policy:
    """How patient the check is."""

    timeout_s: float = 20.0  # for a whole request
    link_s: float = 120.0  # for all requests of a link together, redirects and retries too
    retries: int = 2
    redirects: int = 10
    backoff_s: float = 2.0  # before the first retry; doubles
    longest_wait_s: float = 60.0  # a host that asks for more is left alone for this run


@dataclass(frozen=True)
class _Attempt:
    result: Result
    host: str = ""
    retry_after_s: float | None = None


class _Spent:
    """Time that the requests of one link take; pauses and the turns of its hosts do not count."""

    def __init__(self, clock: Clock, most_s: float) -> None:
        self._clock, self._most_s, self._seconds = clock, most_s, 0.0

    def __enter__(self) -> None:
        if self._seconds > self._most_s:
            raise RequestFailure("timeout", f"no end after {self._most_s:g} s of requests")
        self._begun = self._clock.monotonic()

    def __exit__(self, *error: object) -> None:
        self._seconds += self._clock.monotonic() - self._begun


class Prober:
    """Checks links one at a time; safe to use from several threads."""

    def __init__(
        self, transport: Transport, limiter: HostLimiter, policy: Policy, clock: Clock
    ) -> None:
        self._transport = transport
        self._limiter = limiter
        self._policy = policy
        self._clock = clock

    def probe(self, url: str) -> Result:
        """The result for one URL, after retries."""
        spent = _Spent(self._clock, self._policy.link_s)
        attempt = self._follow(url, "HEAD", spent)
        for count in range(self._policy.retries):
            if not self._may_retry(attempt, count):
                break
            if attempt.retry_after_s is not None:
                self._limiter.pause(attempt.host, attempt.retry_after_s)
            else:
                self._clock.sleep(self._policy.backoff_s * 2**count)
            # A host that stumbles over HEAD gets the request that browsers send.
            attempt = self._follow(url, "GET", spent)
        return attempt.result

    def _may_retry(self, attempt: _Attempt, count: int) -> bool:
        if attempt.retry_after_s is not None:
            return attempt.retry_after_s <= self._policy.longest_wait_s
        if attempt.result.kind == "timeout":
            return count == 0  # each one costs a full timeout
        return attempt.result.kind in ("server", "rate-limited", "connect", "broken")

    def _follow(self, url: str, method: str, spent: _Spent) -> _Attempt:
        """Ask, and follow redirects; each hop passes the guard and waits its turn at its host."""
        visits: Counter[str] = Counter()
        hop_url, permanent = url, True
        session = self._transport.session()

        def ask(next_url: str) -> Reply:
            nonlocal hop_url, method
            hop_url = next_url
            visits[next_url] += 1
            if visits[next_url] == _VISITS_BEFORE_LOOP:
                message = f"the redirects go in a circle through {next_url}"
                raise RequestFailure("redirects", message)
            reply, method = self._ask_either(session, method, next_url, spent)
            return reply

        try:
            for reply in follow(url, ask, self._policy.redirects):
                if reply.location is not None:
                    permanent = permanent and reply.status in _PERMANENT
            return self._judge(url, reply, moved=permanent and hop_url != url)
        except RequestFailure as failure:
            detail = shorten(failure.detail, _LONGEST_DETAIL)
            if hop_url != url and failure.kind != "redirects":
                detail = f"redirected to {shorten(hop_url, _LONGEST_SHOWN)}: {detail}"
            return _Attempt(Result(url, failure.kind, None, detail, hop_url))
        finally:
            session.close()

    def _ask_either(
        self, session: requests.Session, method: str, url: str, spent: _Spent
    ) -> tuple[Reply, str]:
        """The reply, and the method that got it: a HEAD that fails is asked again as GET."""
        if method == "HEAD":
            try:
                reply = self._ask(session, "HEAD", url, spent)
                if reply.status < 400 or reply.status in BUSY_STATUSES:
                    return reply, "HEAD"
            except RequestFailure as failure:
                if failure.kind != "broken":
                    raise
        return self._ask(session, "GET", url, spent), "GET"

    def _ask(self, session: requests.Session, method: str, url: str, spent: _Spent) -> Reply:
        request = self._transport.prepare(session, method, url)
        with self._limiter.turn(request.host), spent:
            return self._transport.send(session, request, self._policy.timeout_s)

    def _judge(self, url: str, reply: Reply, *, moved: bool) -> _Attempt:
        wait_s = None
        if reply.status in BUSY_STATUSES:
            wait_s = retry_after_seconds(reply.retry_after, self._clock.time())
        kind, detail = _meaning(reply.status)
        if wait_s is not None and wait_s > self._policy.longest_wait_s:
            kind, detail = "rate-limited", f"{detail}; the host asks to wait {wait_s:.0f} s"
        if reply.url != url and kind != "ok":
            detail += f" at {shorten(reply.url, _LONGEST_SHOWN)}"
        result = Result(url, kind, reply.status, detail, reply.url, moved=moved and kind == "ok")
        return _Attempt(result, reply.host, wait_s)


def link_transport(guard: Guard, proxies: dict[str, str] | None = None) -> Transport:
    """The guarded client as the link checker uses it."""
    return Transport(guard, HEADERS, proxies)


def _meaning(status: int) -> tuple[str, str]:
    """The kind of result that a status means, and its words."""
    try:
        phrase = f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        phrase = str(status)
    if 200 <= status < 300:
        return "ok", phrase
    if status == 429:
        return "rate-limited", phrase
    if status >= 500:
        return "server", phrase
    return "http", phrase
