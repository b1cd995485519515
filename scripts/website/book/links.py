"""Links of the site made into links of the book, or to the site for what the book lacks."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from bs4 import Tag

from scripts.website.book.parts import BIBLIOGRAPHY, BookError, BookPart, parsed, words
from scripts.website.markup import Html, tag

_ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
_REFERS = ("aria-labelledby", "aria-describedby", "headers", "for")
_URL = re.compile(r"url\(#([^)]+)\)")


def connect(parts: Sequence[BookPart], site: Path, site_url: str) -> list[BookPart]:
    """Rewrite all links and ids of the parts in place; the parts with the bibliography after them.

    A link to another page of the site leads to it at `site_url`; where no address is known its
    words stay as text.
    """
    works = _Works(site)
    numbers = {part.page: part.number for part in parts if part.number}
    slugs = {part.page: part.slug for part in parts}
    ids = {part.page: _own_ids(part) for part in parts}

    def inside(target: str, anchor: str) -> str | None:
        """The anchor in the book of a page of the site, None when the book does not have it."""
        if target not in slugs:
            is_work = anchor and works.entry(target, anchor) is not None
            return work_anchor(anchor) if is_work else None
        # What an anchor led to may be left out of the book; its page is not.
        if anchor not in ids[target]:
            return slugs[target]
        return f"{slugs[target]}-{anchor}"

    for part in parts:
        for link in part.body.select("a"):
            _cite(part, link, works)
            _introduced(link, part.page, numbers)
            _link(link, part.page, inside, site_url)
        _ids(part)
    return [*parts, works.part(parts, site_url)]


def _own_ids(part: BookPart) -> set[str]:
    return {str(element["id"]) for element in part.body.select("[id]")}


def work_anchor(key: str) -> str:
    """Where a work stands in the book."""
    return f"work-{key}"


def resolved(href: str, page: str) -> tuple[str, str]:
    """Path in the site and anchor that a link leads to; the path of a page ends in a slash."""
    path, _, anchor = href.partition("#")
    path = path.partition("?")[0]
    if not path:
        return page, anchor
    joined = posixpath.normpath(posixpath.join("/", page, path)).strip("/")
    return f"{joined}/" if joined and path.endswith(("/", ".", "..")) else joined, anchor


def _link(link: Tag, page: str, inside: Callable[[str, str], str | None], site_url: str) -> None:
    href = str(link.get("href", ""))
    if _ABSOLUTE.match(href):
        return
    target, anchor = resolved(href, page)
    if not href:
        link.unwrap()
    elif place := inside(target, anchor):
        link["href"] = f"#{place}"
    elif site_url:
        fragment = f"#{anchor}" if anchor else ""
        link["href"] = f"{site_url.rstrip('/')}/{target}{fragment}"
    else:
        link.unwrap()


def _introduced(link: Tag, page: str, numbers: dict[str, int]) -> None:
    """The glossary says "introduced here", which means nothing on paper."""
    if link.get_text() == "introduced here":
        number = numbers.get(resolved(str(link.get("href", "")), page)[0])
        link.string = f"introduced in chapter {number}" if number else "introduced on the site"


def _cite(part: BookPart, link: Tag, works: _Works) -> None:
    target, key = resolved(str(link.get("href", "")), part.page)
    if not key or works.entry(target, key) is None:
        return
    is_citation = "fb-cite" in link.get_attribute_list("class")
    label = words(link) if is_citation else ""
    part.cited[key] = part.cited.get(key) or label


def _ids(part: BookPart) -> None:
    """Every id gets the name of its part before it: two chapters have the same headings."""
    for element in part.body.find_all(True):
        if element.get("id"):
            element["id"] = f"{part.slug}-{element['id']}"
        for name in _REFERS:
            if element.get(name):
                targets = str(element[name]).split()
                element[name] = " ".join(f"{part.slug}-{target}" for target in targets)
        for name, value in element.attrs.items():
            if isinstance(value, str) and "url(#" in value:
                element[name] = _URL.sub(lambda match: f"url(#{part.slug}-{match[1]})", value)


def dangling(parts: Sequence[BookPart]) -> list[str]:
    """Links inside the book that lead nowhere, and ids that stand twice."""
    ids = Counter(part.slug for part in parts)
    targets: set[str] = set()
    for part in parts:
        ids.update(str(element["id"]) for element in part.body.select("[id]"))
        targets.update(str(link["href"])[1:] for link in part.body.select('a[href^="#"]'))
    lost = [f"no element with the id {target}" for target in targets if target not in ids]
    repeated = [f"the id {name} stands twice" for name, count in ids.items() if count > 1]
    return sorted((*lost, *repeated))


class _Works:
    """The works that the pages of references show, read when the first of a page is asked for."""

    def __init__(self, site: Path) -> None:
        self._site = site
        self._pages: dict[str, dict[str, Tag]] = {}

    def entry(self, page: str, key: str) -> Tag | None:
        """The block of a work on a page of references, None where there is none."""
        if not page.startswith("references/"):
            return None
        if page not in self._pages:
            path = self._site / page / "index.html"
            soup = parsed(path.read_text(encoding="utf-8") if path.is_file() else "")
            blocks = soup.select("article.fb-ref[id]")
            self._pages[page] = {str(block["id"]): block.extract() for block in blocks}
        return self._pages[page].get(key)

    def part(self, parts: Sequence[BookPart], site_url: str) -> BookPart:
        """The bibliography: every cited work by its key, which begins with an author's name."""
        blocks: dict[str, tuple[str, Tag]] = {}
        for page, on_page in self._pages.items():
            blocks |= {key: (page, block) for key, block in on_page.items()}
        body = parsed(f'<article><h1 id="{BIBLIOGRAPHY}-title">Bibliography</h1></article>').article
        if body is None:
            raise BookError("no bibliography")
        for key in sorted({key for part in parts for key in part.cited}):
            page, shown = blocks[key]
            for extra in shown.select("details, a.fb-perma, .fb-badge"):
                extra.decompose()
            for link in shown.select("a"):
                _link(link, page, lambda *_: None, site_url)
            shown.name, shown.attrs = "div", {"class": "work", "id": work_anchor(key)}
            labels = [part.cited[key] for part in parts if part.cited.get(key)]
            if labels:  # the same in every chapter
                shown.insert(0, parsed(tag("p", labels[0], "label")))
            shown.append(parsed(tag("p", _cited(key, parts), "cited")))
            body.append(shown.extract())
        return BookPart(BIBLIOGRAPHY, "", "Bibliography", body)


def _cited(key: str, parts: Sequence[BookPart]) -> Html:
    """Where a work is cited: chapters by their numbers, other parts by their titles."""
    citing = [part for part in parts if key in part.cited]
    template = Html('<a href="#{}">{}</a>')
    links = [template.format(part.slug, part.number or part.title) for part in citing]
    numbered = sum(part.number > 0 for part in citing)
    label = {0: "", 1: "chapter "}.get(numbered, "chapters ")
    return Html("Cited in {}{}.").format(label, Html(", ").join(links))
