"""What a work of the bibliography is: its authors, where it was published, how it is cited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# The kind of a page that only gives values: sites of products, model cards, data sheets.
SOURCE = "source"


def few(names: Sequence[str]) -> str:
    """Up to three names, or the first of more and how many others there are."""
    if len(names) > 3:
        return f"{names[0]} and {len(names) - 1} others"
    *first, last = names or ("",)
    return f"{', '.join(first)} and {last}" if first else last


@dataclass(frozen=True, slots=True)
class Person:
    """A name in parts; an organisation has only a family name."""

    family: str
    given: str = ""
    organisation: bool = False

    @property
    def full(self) -> str:
        """The name as it is read: given names, then family name."""
        return f"{self.given} {self.family}".strip()


@dataclass(frozen=True, slots=True)
class Reference:
    """One work or source: decoded text, ready for any page; `bibtex` is the entry as written.

    `type` is that of the BibTeX entry, `kind` what a reader calls it: paper, blog, video ...
    `preprint` is the day on which no venue was found, `nofigure` that on which the work, or its
    abstract where no more can be had, was read and printed no figure that matters.
    """

    key: str
    type: str
    kind: str
    title: str
    people: tuple[Person, ...]
    year: int | None
    month: int | None = None
    venue: str = ""
    doi: str = ""
    eprint: str = ""
    url: str = ""
    record: str = ""
    code: str = ""
    tier: str = ""
    urldate: str = ""
    preprint: str = ""
    note: str = ""
    nofigure: str = ""
    annote: str = ""
    topics: tuple[str, ...] = ()
    bibtex: str = ""
    file: str = ""
    line: int = 0

    @property
    def is_work(self) -> bool:
        """True for something to read; false for a page that is only the source of a value."""
        return self.kind != SOURCE

    @property
    def link(self) -> str:
        """Where to read it: the address, else the DOI, else arXiv; empty for unpublished seeds."""
        if self.url:
            return self.url
        if self.doi:
            return f"https://doi.org/{self.doi}"
        return f"https://arxiv.org/abs/{self.eprint}" if self.eprint else ""

    @property
    def place(self) -> str:
        """Its link; of a measurement of our own the file of this repository that records it."""
        return self.link or self.record

    @property
    def authors(self) -> str:
        """Up to three names as they are read, then how many more there are."""
        return few([person.full for person in self.people])

    @property
    def short(self) -> str:
        """Author and year, as in running text: `Dao et al. 2022`.

        An unpublished document goes by its title.
        """
        if self.type == "unpublished":
            return f"{self.title} {self.year or ''}".strip()
        return f"{self._who} {self.year or 'n.d.'}"

    @property
    def _who(self) -> str:
        families = [person.family for person in self.people] or [self.key]
        if len(families) > 2:
            return f"{families[0]} et al."
        return " and ".join(families)
