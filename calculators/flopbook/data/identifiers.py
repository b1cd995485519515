"""What an address, a DOI or an arXiv id names: one text for each work, however it was written.

`https://arxiv.org/pdf/2205.14135v2.pdf`, `arXiv:2205.14135` and the DOI that arXiv gives are the
same work, and so are a DOI and its page at a publisher whose addresses hold it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from flopbook.data.references import Reference


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
        """The same for every way to write it: no version, no capitals in a DOI, no scheme, `www.`
        or part of a page.
        """
        if self.kind == "arxiv":
            return "arxiv", re.sub(r"v\d+$", "", self.value).lower()
        if self.kind == "doi":
            return "doi", self.value.lower()
        parts = urlsplit(self.value)
        host = (parts.hostname or "").removeprefix("www.")
        path = unquote(parts.path).rstrip("/.")
        path = (
            path.removesuffix(".git").lower() if host == "github.com" else path
        )  # its names have no case
        return "url", f"{host}{path}{f'?{parts.query}' if parts.query else ''}"


_ARXIV = r"(?:[a-z-]+(?:\.[A-Z]{2})?/\d{7}|\d{4}\.\d{4,5})(?:v\d+)?"
_ARXIV_ID = re.compile(rf"(?:arxiv:\s*)?({_ARXIV})", re.IGNORECASE)
_ARXIV_PAGE = re.compile(
    rf"(?:www\.|export\.|browse\.)?(?:arxiv\.org/(?:abs|pdf|html|format)|huggingface\.co/papers|alphaxiv\.org/abs|"
    rf"ar5iv\.(?:labs\.arxiv\.)?org/(?:abs|html))/({_ARXIV})(?:\.pdf)?/*",
    re.IGNORECASE,
)
_DOI = r"10\.\d{4,9}/[^\s<>\"'`\\{}]+"
_DOI_ID = re.compile(rf"(?:doi:\s*)?({_DOI})", re.IGNORECASE)
_DOI_PAGE = re.compile(
    rf"(?:(?:dx\.|www\.)?doi\.org|doi\.acm\.org|(?:[\w-]+\.)*(?:acm\.org|springer\.com|wiley\.com|tandfonline\.com|"
    rf"sagepub\.com|techrxiv\.org|science\.org|iop\.org|aps\.org|annualreviews\.org)"
    rf"/(?:doi|article|chapter|book)(?:/(?:abs|pdf|full|epdf|fullHtml|book))?)/({_DOI}?)(?:\.pdf)?/*",
    re.IGNORECASE,
)
_ARXIV_DOI = re.compile(rf"10\.48550/arxiv\.({_ARXIV})", re.IGNORECASE)


def identify(text: str) -> Identifier | None:
    """What a text names, or None for one that is neither an arXiv id, a DOI nor an http address."""
    text = text.strip()
    if found := _ARXIV_ID.fullmatch(text):
        return Identifier("arxiv", found[1])
    if found := _DOI_ID.fullmatch(text):
        return _doi(found[1])
    try:
        parts = urlsplit(text)
        place = f"{parts.hostname or ''}{unquote(parts.path)}"
    except ValueError:
        return None
    if (
        parts.scheme.lower() not in ("http", "https")
        or not parts.hostname
        or re.search(r"\s", text)
    ):
        return None
    if found := _ARXIV_PAGE.fullmatch(place):
        return Identifier("arxiv", found[1])
    if found := _DOI_PAGE.fullmatch(place):
        return _doi(found[1])
    return Identifier("url", text)


def _doi(text: str) -> Identifier:
    text = text.rstrip(".,;/")
    found = _ARXIV_DOI.fullmatch(text)
    return Identifier("arxiv", found[1]) if found else Identifier("doi", text)


def identifiers(item: Reference, *, code: bool = True) -> tuple[Identifier, ...]:
    """Everything that names a reference: arXiv id, DOI, address and, with `code`, its repository."""
    texts = (item.eprint, item.doi, item.url, item.code if code else "")
    return tuple(found for text in texts if text and (found := identify(text)))
