"""The parts of the book, read from the built site: preface, chapters, what follows them."""

from __future__ import annotations

from collections import Counter
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
class BookPart:
    """One part: anchor, folder of its page, number (0 if it is no chapter), title and text."""

    slug: str
    page: str
    title: str
    body: Tag
    number: int = 0
    # key of a work -> the words that cite it here
    cited: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its title, after its number where it has one."""
        return f"{self.number} {self.title}" if self.number else self.title

    def sections(self) -> list[tuple[str, str]]:
        """Anchor and title of each section."""
        return [(str(head["id"]), words(head)) for head in self.body.select("h2[id]")]

    def listed_sections(self) -> list[tuple[str, str]]:
        """The sections that the contents list: those of chapters."""
        return self.sections() if self.number else []


def words(element: Tag) -> str:
    """The text of an element on one line."""
    return " ".join(element.get_text().split())


def parsed(html: str) -> BeautifulSoup:
    """HTML as a tree; what is written from it is well-formed XML too."""
    return BeautifulSoup(html, "html.parser")


def read(site: Path, chapters: Iterable[str]) -> list[BookPart]:
    """The parts of the book; `chapters` are the folders of their pages in order.

    Raises BookError for a missing one.
    """
    preface = _part(site, FRONT, "about")
    preface.title = "About this book"
    _retitle(preface)
    book = [preface]
    book += [_part(site, page, _slug(page), number) for number, page in enumerate(chapters, 1)]
    book += [_part(site, page, _slug(page)) for page in BACK if _file(site, page).is_file()]
    slugs = Counter(part.slug for part in book)
    if repeated := sorted(slug for slug, count in slugs.items() if count > 1):
        raise BookError(f"two parts of the book are called {', '.join(repeated)}")
    return book


def _file(site: Path, page: str) -> Path:
    return site / page / "index.html"


def _slug(page: str) -> str:
    return page.strip("/").rpartition("/")[2]


def _part(site: Path, page: str, slug: str, number: int = 0) -> BookPart:
    path = _file(site, page)
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
    # Without the page around it, which would be held as long as its article is.
    return BookPart(slug, page, words(head), body.extract(), number)


def _retitle(part: BookPart) -> None:
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
