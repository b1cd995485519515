"""What a request over HTTP comes to: a reply or a failure, and the redirects between them.

Nothing here imports requests, so a command can name these types without paying for the library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import NamedTuple
from urllib.parse import urljoin

REDIRECT_STATUSES = frozenset((301, 302, 303, 307, 308))
# Both may carry Retry-After: RFC 6585 (429) and RFC 9110 (503).
BUSY_STATUSES = frozenset((429, 503))


class Reply(NamedTuple):
    """The answer to one request: `location` is None unless it is a redirect with a target."""

    url: str
    host: str
    status: int
    location: str | None = None
    retry_after: str | None = None
    body: bytes = b""


class RequestFailure(Exception):
    """No reply.

    `kind` is refused, dns, connect, timeout, tls, broken, bad-url, large or redirects.
    """

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


def follow(url: str, ask: Callable[[str], Reply], most_redirects: int) -> Iterator[Reply]:
    """Each reply on the way from a URL to its last redirect.

    `ask` makes one request, and is where the address guard checks each hop. Raises RequestFailure.
    """
    for _ in range(most_redirects + 1):
        reply = ask(url)
        yield reply
        if reply.location is None:
            return
        url = redirect_target(reply.url, reply.location)
    raise RequestFailure("redirects", f"more than {most_redirects} redirects, the last to {url}")


def redirect_target(url: str, location: str) -> str:
    """The absolute URL of a Location header. Raises RequestFailure.

    Header bytes arrive as Latin-1, and are UTF-8 in practice.
    """
    try:
        return urljoin(url, location.encode("latin-1").decode("utf-8", "replace"))
    except ValueError as error:
        reason = f"redirected to something that is no address ({error})"
        raise RequestFailure("bad-url", reason) from error


def retry_after_seconds(header: str | None, now: float) -> float | None:
    """Seconds that a Retry-After header asks for, as a number or as a date; None if unusable."""
    text = (header or "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:12])  # a longer number would only overflow what is compared with it
    try:
        date = parsedate_to_datetime(text)
        return max(0.0, date.replace(tzinfo=date.tzinfo or UTC).timestamp() - now)
    except (ValueError, OverflowError, TypeError):
        return None
