"""The parts of the book, read from the built site: preface, chapters, what follows them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from bs4 import BeautifulSoup, Tag

FRONT = "handbook/"
BACK = ("cheat-sheet/", "glossary/")  # those that are there
BIBLIOGRAPHY = "bibliography"


class BookError(RuntimeError):
    """The book cannot be made from this site; the message says why."""


@dataclass
class Part:
    """One part: anchor, folder of its page, number (0 if it is no chapter), title and text."""

    slug: str
    page: str
    title: str
    body: Tag
    number: int = 0
    cited: dict[str, str] = field(
        default_factory=dict
    )  # key of a work -> the words that cite it here

    @property
    def name(self) -> str:
        """Its title, after its number where it has one."""
        return f"{self.number} {self.title}" if self.number else self.title

    def sections(self) -> list[tuple[str, str]]:
        """Anchor and title of each section."""
        return [(str(head["id"]), words(head)) for head in self.body.select("h2[id]")]


def words(element: Tag) -> str:
    """The text of an element on one line."""
    return " ".join(element.get_text().split())


def parsed(html: str) -> BeautifulSoup:
    """HTML as a tree; what is written from it is well-formed XML too."""
    return BeautifulSoup(html, "html.parser")


def read(site: Path, chapters: Iterable[str]) -> list[Part]:
    """The parts of the book; `chapters` are the folders of their pages in order.

    Raises BookError for a missing one.
    """
    found = [_part(site, FRONT, "about")]
    found[0].title = "About this book"
    _retitle(found[0])
    found += [_part(site, page, _slug(page), number) for number, page in enumerate(chapters, 1)]
    found += [
        _part(site, page, _slug(page)) for page in BACK if (site / page / "index.html").is_file()
    ]
    slugs = [part.slug for part in found]
    if twice := {slug for slug in slugs if slugs.count(slug) > 1}:
        raise BookError(f"two parts of the book are called {', '.join(sorted(twice))}")
    return found


def _slug(page: str) -> str:
    return page.strip("/").rpartition("/")[2]


def _part(site: Path, page: str, slug: str, number: int = 0) -> Part:
    path = site / page / "index.html"
    try:
        soup = parsed(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BookError(f"{path}: {error.strerror}; run make site") from None
    body = soup.select_one("article.md-content__inner")
    head = body.select_one("h1") if body else None
    if body is None or head is None:
        raise BookError(f"{path}: found no article with a title")
    for mark in body.select("a.headerlink"):
        mark.decompose()
    return Part(slug, page, words(head), body, number)


def _retitle(part: Part) -> None:
    """Give the preface its title, without the list of chapters: the contents have it."""
    head = part.body.select_one("h1")
    if head is not None:
        head.string = part.title
    for listed in part.body.select("h2#chapters"):
        for follower in list(listed.find_next_siblings()):
            if follower.name in ("h1", "h2"):
                break
            follower.decompose()
        listed.decompose()
