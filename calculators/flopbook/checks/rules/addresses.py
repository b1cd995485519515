"""Addresses are clean: they say where a work is, not how somebody came to it.

A DOI or arXiv id has a field of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import SplitResult, parse_qsl, urlsplit

from flopbook.checks.rules.base import Advice, Finding, Holdings, at_reference
from flopbook.data.reference import Reference
from flopbook.errors import shorten

NAME = "address"
# Services that shorten addresses: what they lead to may change, and they count readers.
SHORTENERS = frozenset(
    (
        *("bit.ly", "buff.ly", "cutt.ly", "dlvr.it", "goo.gl", "is.gd", "lnkd.in", "ow.ly"),
        *("rb.gy", "rebrand.ly", "t.co", "t.ly", "tiny.cc", "tinyurl.com", "trib.al"),
    )
)
_TRACKING = re.compile(
    r"utm_\w+|fbclid|gclid|dclid|msclkid|yclid|igshid|mc_[ce]id|_hs\w+|mkt_tok|xtor"
    r"|ref_src|ref_url|share_id|spm",
    re.IGNORECASE,
)
_SESSION = re.compile(r"jsessionid|phpsessid|session_?id|sid|aspsessionid\w*", re.IGNORECASE)
# Host and path of an address that is an identifier -> where that belongs.
_OWN_FIELD = (
    (re.compile(r"(?:www\.|export\.)?arxiv\.org/(?:abs|pdf|html)/.+"), "the id in eprint"),
    (re.compile(r"(?:dx\.|www\.)?doi\.org/10\..+"), "the DOI in doi"),
)
ARXIV_DOI = Advice("the id in eprint", "give the arXiv id instead")


def check(holdings: Holdings) -> Iterator[Finding]:
    """Addresses with something in them that has no business there."""
    for reference in holdings.references.values():
        for field in ("url", "code"):
            yield from _of_address(reference, field)
        if reference.doi.lower().startswith("10.48550/arxiv."):
            observed = f"doi '{shorten(reference.doi)}', which arXiv gives to every paper"
            yield at_reference(NAME, reference, observed, ARXIV_DOI)


def _of_address(reference: Reference, field: str) -> Iterator[Finding]:
    for fault, expected in faults(getattr(reference, field)):
        observed = f"{fault} in {field} of {reference.key}"
        yield at_reference(NAME, reference, observed, Advice(expected, "mend the address"))


def faults(address: str) -> Iterator[tuple[str, str]]:
    """What is wrong with an address, and what is expected instead."""
    try:
        split = urlsplit(address)
        host = (split.hostname or "").lower()
    except ValueError:  # the form is for another rule to judge
        return
    for name in _parameters(split):
        if _TRACKING.fullmatch(name):
            yield f"'{shorten(name, 30)}'", "no parameters that track readers"
        elif _SESSION.fullmatch(name):
            yield f"'{shorten(name, 30)}'", "no session of a single reader"
    if "@" in split.netloc:
        yield "a user name", "an address that anybody may open"
    if host.removeprefix("www.") in SHORTENERS:
        yield f"'{host}'", "the address that the short one leads to"
    for pattern, expected in _OWN_FIELD:
        if pattern.fullmatch(host + split.path):
            yield f"'{shorten(address)}'", expected


def _parameters(split: SplitResult) -> Iterator[str]:
    """Names in the query, in the fragment, and behind a semicolon in the path."""
    for text in (split.query, split.fragment):
        pairs = parse_qsl(text.replace(";", "&"), keep_blank_values=True)
        yield from (name for name, _ in pairs)
    yield from re.findall(r";(\w+)=", split.path)
