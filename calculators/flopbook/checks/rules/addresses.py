"""Addresses are clean: what a work is, not how somebody came to it, and a DOI or arXiv id in its
own field.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import SplitResult, parse_qsl, urlsplit

from flopbook.checks.rules.base import Data, Finding, at_reference
from flopbook.data.library import references
from flopbook.errors import shorten

NAME = "address"
SHORTENERS = frozenset(
    (
        "bit.ly",
        "buff.ly",
        "cutt.ly",
        "dlvr.it",
        "goo.gl",
        "is.gd",
        "lnkd.in",
        "ow.ly",
        "rb.gy",
        "rebrand.ly",
        "t.co",
        "t.ly",
        "tiny.cc",
        "tinyurl.com",
        "trib.al",
    )
)
_TRACKING = re.compile(
    r"utm_\w+|fbclid|gclid|dclid|msclkid|yclid|igshid|mc_[ce]id|_hs\w+|mkt_tok|xtor|ref_src|ref_url|share_id|spm",
    re.IGNORECASE,
)
_SESSION = re.compile(r"jsessionid|phpsessid|session_?id|sid|aspsessionid\w*", re.IGNORECASE)
_OWN_FIELD = (
    (re.compile(r"(?:www\.|export\.)?arxiv\.org/(?:abs|pdf|html)/.+"), "the id in eprint"),
    (re.compile(r"(?:dx\.|www\.)?doi\.org/10\..+"), "the DOI in doi"),
)


def check(data: Data) -> Iterator[Finding]:
    """Addresses with something in them that has no business there."""
    for item in references().values():
        for name in ("url", "code"):
            for found, expected in faults(getattr(item, name)):
                said = (expected, "mend the address")
                yield at_reference(NAME, item, f"{found} in {name} of {item.key}", said)
        if item.doi.lower().startswith("10.48550/arxiv."):
            said = ("the id in eprint", "give the arXiv id instead")
            yield at_reference(
                NAME, item, f"doi '{shorten(item.doi)}', which arXiv gives to every paper", said
            )


def faults(address: str) -> Iterator[tuple[str, str]]:
    """What is wrong with an address, and what should stand there."""
    try:
        parts = urlsplit(address)
        host = (parts.hostname or "").lower()
    except ValueError:  # the form is for another rule to judge
        return
    for name in _parameters(parts):
        if _TRACKING.fullmatch(name):
            yield f"'{shorten(name, 30)}'", "no parameters that track readers"
        elif _SESSION.fullmatch(name):
            yield f"'{shorten(name, 30)}'", "no session of a single reader"
    if "@" in parts.netloc:
        yield "a user name", "an address that anybody may open"
    if host.removeprefix("www.") in SHORTENERS:
        yield f"'{host}'", "the address that the short one leads to"
    for pattern, expected in _OWN_FIELD:
        if pattern.fullmatch(host + parts.path):
            yield f"'{shorten(address)}'", expected


def _parameters(parts: SplitResult) -> Iterator[str]:
    """Names in the query, in the fragment, and behind a semicolon in the path."""
    for text in (parts.query, parts.fragment):
        yield from (name for name, _ in parse_qsl(text.replace(";", "&"), keep_blank_values=True))
    yield from (found[1] for found in re.finditer(r";(\w+)=", parts.path))
