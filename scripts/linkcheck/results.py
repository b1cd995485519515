"""What is known about one link after asking for it."""

from __future__ import annotations

from dataclasses import dataclass

# Every way a check can end. The names are printed, cached, and may be what an exception expects.
KINDS: dict[str, str] = {
    "ok": "the page answered with a 2xx status",
    "http": "the page answered with a 4xx status, or with a status that means nothing here",
    "server": "the page answered with a 5xx status, each time it was asked",
    "rate-limited": "the host asked to be left alone for longer than we wait",
    "timeout": "no answer in time",
    "dns": "the name of the host does not resolve",
    "connect": "the host does not take connections",
    "tls": "the certificate or the encryption of the host is not accepted",
    "broken": "the answer is not valid HTTP, or was cut off",
    "redirects": "the redirects go in a circle or are too many",
    "refused": "the address guard does not let us call this address",
    "bad-url": "not an address that can be asked for",
}


@dataclass(frozen=True)
class Result:
    """The end of one check: `kind` is a key of KINDS, `status` the last HTTP status, if any."""

    url: str
    kind: str
    status: int | None = None
    detail: str = ""
    final_url: str = ""
    # Reached, but only over permanent redirects: the link should be brought up to date.
    moved: bool = False
    cached: bool = False

    @property
    def ok(self) -> bool:
        """Whether the link works."""
        return self.kind == "ok"

    def answers_to(self, expected: str) -> bool:
        """Whether this is the failure that `expected`, a status or a kind, names."""
        return expected == self.kind or (self.status is not None and expected == str(self.status))
