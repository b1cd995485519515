"""What an address, a DOI or an arXiv id names: one text for each work, however it was written.

`https://arxiv.org/pdf/2205.14135v2.pdf`, `arXiv:2205.14135` and the DOI that arXiv gives are the
same work, and so are a DOI and its page at a publisher whose addresses hold it.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from flopbook.data.reference import Reference


class Identifier(NamedTuple):
    """What names a work: `kind` is arxiv, doi or url."""

    kind: str
    value: str

    @property
    def address(self) -> str:
        """Where a browser finds it."""
        places = {"arxiv": "https://arxiv.org/abs/", "doi": "https://doi.org/"}
        return places.get(self.kind, "") + self.value

    @property
    def name(self) -> tuple[str, str]:
        """The same for every way to write it.

        An arXiv id has no version, a DOI no capitals, an address no scheme, `www.` or fragment.
        """
        if self.kind == "arxiv":
            return "arxiv", re.sub(r"v\d+$", "", self.value).lower()
        if self.kind == "doi":
            return "doi", self.value.lower()
        return "url", _plain_address(self.value)


def _plain_address(address: str) -> str:
    parts = urlsplit(address)
    host = (parts.hostname or "").removeprefix("www.")
    path = unquote(parts.path).rstrip("/.")
    if host == "github.com":  # its names have no case
        path = path.removesuffix(".git").lower()
    return f"{host}{path}?{parts.query}" if parts.query else f"{host}{path}"


# Ids of both schemes: `archive/1234567` and `2205.14135`.
_ARXIV = r"(?:[a-z-]+(?:\.[A-Z]{2})?/\d{7}|\d{4}\.\d{4,5})(?:v\d+)?"
_ARXIV_ID = re.compile(rf"(?:arxiv:\s*)?({_ARXIV})", re.IGNORECASE)
_ARXIV_PAGE = re.compile(
    rf"(?:www\.|export\.|browse\.)?"
    rf"(?:arxiv\.org/(?:abs|pdf|html|format)|huggingface\.co/papers|alphaxiv\.org/abs|"
    rf"ar5iv\.(?:labs\.arxiv\.)?org/(?:abs|html))/({_ARXIV})(?:\.pdf)?/*",
    re.IGNORECASE,
)
_DOI = r"10\.\d{4,9}/[^\s<>\"'`\\{}]+"
_DOI_ID = re.compile(rf"(?:doi:\s*)?({_DOI})", re.IGNORECASE)
_DOI_PAGE = re.compile(
    rf"(?:(?:dx\.|www\.)?doi\.org|doi\.acm\.org|(?:[\w-]+\.)*"
    rf"(?:acm\.org|springer\.com|wiley\.com|tandfonline\.com|sagepub\.com|techrxiv\.org|"
    rf"science\.org|iop\.org|aps\.org|annualreviews\.org)"
    rf"/(?:doi|article|chapter|book)(?:/(?:abs|pdf|full|epdf|fullHtml|book))?)/({_DOI}?)(?:\.pdf)?/*",
    re.IGNORECASE,
)
_ARXIV_DOI = re.compile(rf"10\.48550/arxiv\.({_ARXIV})", re.IGNORECASE)


def identify(text: str) -> Identifier | None:
    """What a text names, or None for one that is neither an arXiv id, a DOI nor an http address."""
    text = text.strip()
    if match := _ARXIV_ID.fullmatch(text):
        return Identifier("arxiv", match[1])
    if match := _DOI_ID.fullmatch(text):
        return _doi(match[1])
    return _of_address(text)


def _of_address(text: str) -> Identifier | None:
    try:
        address = urlsplit(text)
        host, path = address.hostname, unquote(address.path)
    except ValueError:
        return None
    is_http = address.scheme.lower() in ("http", "https")
    if not is_http or not host or re.search(r"\s", text):
        return None
    if match := _ARXIV_PAGE.fullmatch(f"{host}{path}"):
        return Identifier("arxiv", match[1])
    if match := _DOI_PAGE.fullmatch(f"{host}{path}"):
        return _doi(match[1])
    return Identifier("url", text)


def _doi(text: str) -> Identifier:
    text = text.rstrip(".,;/")  # the end of a sentence, not of a DOI
    match = _ARXIV_DOI.fullmatch(text)
    return Identifier("arxiv", match[1]) if match else Identifier("doi", text)


def identifiers(item: Reference, *, code: bool = True) -> tuple[Identifier, ...]:
    """All that names a reference: arXiv id, DOI, address and, with `code`, its repository."""
    texts = [item.eprint, item.doi, item.url]
    if code:
        texts.append(item.code)
    named = (identify(text) for text in texts if text)
    return tuple(identifier for identifier in named if identifier is not None)
