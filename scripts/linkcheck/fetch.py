"""Ask for one link: HEAD first, GET where that fails, redirects by hand, patient retries.

Only the status line and the headers are read. A body is never read, whatever its size: the
connection is closed instead.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPException
from urllib.parse import urljoin

import requests
from requests import exceptions as failures
from urllib3.exceptions import HTTPError

from flopbook.contributing.fetching import retry_after_seconds
from flopbook.contributing.guard import Refused, Unresolved
from scripts.linkcheck.results import Result
from scripts.linkcheck.schedule import Clock, HostLimiter
from scripts.linkcheck.transport import Transport

_REDIRECTS = {301, 302, 303, 307, 308}
_PERMANENT = {301, 308}
_BUSY = {429, 503}
# All that a link, a host or a network can do to us; anything else is a fault of ours and must be
# seen.
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
_VISITS_BEFORE_LOOP = 3  # some sites send a client round once to set a cookie


@dataclass(frozen=True)
class Policy:
    """How patient the check is."""

    timeout_s: float = 20.0  # to connect, and again for each wait for data
    retries: int = 2
    redirects: int = 10
    backoff_s: float = 2.0  # before the first retry; doubles
    longest_wait_s: float = 60.0  # a host that asks for more is left alone for this run


@dataclass(frozen=True)
class _Answer:
    url: str
    host: str
    status: int
    location: str | None
    retry_after: str | None


class _Failure(Exception):
    """No answer: the kind and the words of the result."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


@dataclass(frozen=True)
class _Attempt:
    result: Result
    host: str = ""
    retry_after_s: float | None = None


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
        attempt = self._follow(url, "HEAD")
        for count in range(self._policy.retries):
            if not self._may_retry(attempt, count):
                break
            if attempt.retry_after_s is not None:
                self._limiter.pause(attempt.host, attempt.retry_after_s)
            else:
                self._clock.sleep(self._policy.backoff_s * 2**count)
            # A host that stumbles over HEAD gets the request that browsers send.
            attempt = self._follow(url, "GET")
        return attempt.result

    def _may_retry(self, attempt: _Attempt, count: int) -> bool:
        if attempt.retry_after_s is not None:
            return attempt.retry_after_s <= self._policy.longest_wait_s
        if attempt.result.kind == "timeout":
            return count == 0  # each one costs a full timeout
        return attempt.result.kind in ("server", "rate-limited", "connect", "broken")

    def _follow(self, url: str, method: str) -> _Attempt:
        """Ask, and follow redirects; each hop passes the guard and waits its turn at its host."""
        visits: Counter[str] = Counter()
        current, permanent = url, True
        session = self._transport.session()
        try:
            for _ in range(self._policy.redirects + 1):
                visits[current] += 1
                if visits[current] == _VISITS_BEFORE_LOOP:
                    raise _Failure("redirects", f"the redirects go in a circle through {current}")
                answer, method = self._ask_either(session, method, current)
                if answer.location is None:
                    return self._judge(url, answer, moved=permanent and current != url)
                permanent = permanent and answer.status in _PERMANENT
                current = _join(answer.url, answer.location)
            limit = self._policy.redirects
            raise _Failure("redirects", f"more than {limit} redirects, the last to {current}")
        except _Failure as failure:
            where = (
                f"redirected to {current}: "
                if current != url and failure.kind != "redirects"
                else ""
            )
            return _Attempt(Result(url, failure.kind, None, where + failure.detail, current))
        finally:
            session.close()

    def _ask_either(self, session: requests.Session, method: str, url: str) -> tuple[_Answer, str]:
        """The answer, and the method that got it: a HEAD that fails is asked again as GET."""
        if method == "HEAD":
            try:
                answer = self._ask(session, "HEAD", url)
                if answer.status < 400 or answer.status in _BUSY:
                    return answer, "HEAD"
            except _Failure as failure:
                if failure.kind != "broken":
                    raise
        return self._ask(session, "GET", url), "GET"

    def _ask(self, session: requests.Session, method: str, url: str) -> _Answer:
        try:
            request = session.prepare_request(requests.Request(method, url))
            asked = str(request.url)
            host = self._transport.check(asked)
            with self._limiter.turn(host):
                patience = self._policy.timeout_s
                response = session.send(
                    request, stream=True, allow_redirects=False, timeout=patience
                )
                response.close()
        except _EXPECTED as error:
            raise _failure(error) from error
        location = response.headers.get("Location") if response.status_code in _REDIRECTS else None
        return _Answer(
            asked, host, response.status_code, location, response.headers.get("Retry-After")
        )

    def _judge(self, url: str, answer: _Answer, *, moved: bool) -> _Attempt:
        wait = (
            retry_after_seconds(answer.retry_after, self._clock.time())
            if answer.status in _BUSY
            else None
        )
        kind, detail = _meaning(answer.status)
        if wait is not None and wait > self._policy.longest_wait_s:
            kind, detail = "rate-limited", f"{detail}; the host asks to wait {wait:.0f} s"
        if answer.url != url and kind != "ok":
            detail += f" at {answer.url}"
        result = Result(url, kind, answer.status, detail, answer.url, moved=moved and kind == "ok")
        return _Attempt(result, answer.host, wait)


def _meaning(status: int) -> tuple[str, str]:
    try:
        phrase = f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        phrase = str(status)
    if 200 <= status < 300:
        return "ok", phrase
    if status == 429:
        return "rate-limited", phrase
    return ("server" if status >= 500 else "http"), phrase


def _join(base: str, location: str) -> str:
    """The target of a redirect. Header bytes arrive as Latin-1 and are UTF-8 in practice."""
    try:
        return urljoin(base, location.encode("latin-1").decode("utf-8", "replace"))
    except ValueError as error:
        raise _Failure(
            "bad-url", f"redirected to something that is no address ({error})"
        ) from error


def _failure(error: Exception) -> _Failure:
    """What an exception means for the link; the order matters, since the classes of `requests`
    overlap.
    """
    if isinstance(error, Refused):
        return _Failure("refused", str(error))
    if isinstance(error, Unresolved):
        return _Failure("dns", str(error))
    if isinstance(error, failures.Timeout):
        return _Failure("timeout", "no answer in time")
    if isinstance(error, failures.SSLError):
        return _Failure("tls", f"the secure connection failed: {_innermost(error)}")
    if isinstance(error, failures.ConnectionError):
        kind = "connect" if "NewConnectionError" in repr(error.args) else "broken"
        return _Failure(kind, _innermost(error))
    if isinstance(error, _NO_ADDRESS):
        return _Failure("bad-url", f"not an address that can be asked for: {error}")
    return _Failure("broken", f"not a valid answer: {_innermost(error)}")


def _innermost(error: BaseException) -> str:
    """The shortest honest account: the first cause, on one line, not the chain of wrappers around
    it.
    """
    while error.__cause__ is not None or error.__context__ is not None:
        error = error.__cause__ or error.__context__ or error
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
