"""Links of the site made into links of the book, or to the site for what the book lacks."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from bs4 import Tag

from scripts.website.book.parts import BIBLIOGRAPHY, BookError, Part, parsed

_ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
_REFERS = ("aria-labelledby", "aria-describedby", "headers", "for")
_URL = re.compile(r"url\(#([^)]+)\)")


def connect(parts: Sequence[Part], site: Path, site_url: str) -> list[Part]:
    """Rewrite all links and ids of the parts in place; the parts with the bibliography after them.

    A link to another page of the site leads to it at `site_url`; where no address is known its
    words stay as text.
    """
    works = _Works(site)
    numbers = {part.page: part.number for part in parts if part.number}
    pages = {
        part.page: (part.slug, {str(one["id"]) for one in part.body.select("[id]")})
        for part in parts
    }

    def inside(target: str, anchor: str) -> str | None:
        """The anchor in the book of a page of the site, None when the book does not have it."""
        if target in pages:
            slug, ids = pages[target]
            return (
                f"{slug}-{anchor}" if anchor in ids else slug
            )  # what it led to may be left out of the book
        return work_anchor(anchor) if anchor and works.entry(target, anchor) is not None else None

    for part in parts:
        for link in part.body.select("a"):
            _cite(part, link, works)
            _introduced(link, part.page, numbers)
            _link(link, part.page, inside, site_url)
        _ids(part)
    return [*parts, works.part(parts, site_url)]


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
    elif found := inside(target, anchor):
        link["href"] = f"#{found}"
    elif site_url:
        link["href"] = f"{site_url.rstrip('/')}/{target}" + (f"#{anchor}" if anchor else "")
    else:
        link.unwrap()


def _introduced(link: Tag, page: str, numbers: dict[str, int]) -> None:
    """The glossary says "introduced here", which means nothing on paper."""
    if link.get_text() == "introduced here":
        number = numbers.get(resolved(str(link.get("href", "")), page)[0])
        link.string = f"introduced in chapter {number}" if number else "introduced on the site"


def _cite(part: Part, link: Tag, works: _Works) -> None:
    target, key = resolved(str(link.get("href", "")), part.page)
    if key and works.entry(target, key) is not None:
        said = " ".join(link.get_text().split()) if "fb-cite" in (link.get("class") or []) else ""
        part.cited[key] = part.cited.get(key) or said


def _ids(part: Part) -> None:
    """Every id gets the name of its part before it: two chapters have the same headings."""
    for element in part.body.find_all(True):
        if element.get("id"):
            element["id"] = f"{part.slug}-{element['id']}"
        for name in _REFERS:
            if element.get(name):
                element[name] = " ".join(f"{part.slug}-{one}" for one in str(element[name]).split())
        for name, value in element.attrs.items():
            if isinstance(value, str) and "url(#" in value:
                element[name] = _URL.sub(lambda match: f"url(#{part.slug}-{match[1]})", value)


def dangling(parts: Sequence[Part]) -> list[str]:
    """Links inside the book that lead nowhere, and ids that stand twice."""
    known = Counter(part.slug for part in parts)
    known.update(str(element["id"]) for part in parts for element in part.body.select("[id]"))
    links = (str(link["href"]) for part in parts for link in part.body.select('a[href^="#"]'))
    lost = [f"no element with the id {href[1:]}" for href in links if href[1:] not in known]
    return sorted(
        {*lost, *(f"the id {name} stands twice" for name, count in known.items() if count > 1)}
    )


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
            self._pages[page] = {str(one["id"]): one for one in soup.select("article.fb-ref[id]")}
        return self._pages[page].get(key)

    def part(self, parts: Sequence[Part], site_url: str) -> Part:
        """The bibliography: every cited work by its key, which begins with an author's name."""
        found = {
            key: (page, one) for page, listed in self._pages.items() for key, one in listed.items()
        }
        body = parsed(f'<article><h1 id="{BIBLIOGRAPHY}-title">Bibliography</h1></article>').article
        if body is None:
            raise BookError("no bibliography")
        for key in sorted({key for part in parts for key in part.cited}):
            page, shown = found[key]
            for extra in shown.select("details, a.fb-perma, .fb-badge"):
                extra.decompose()
            for link in shown.select("a"):
                _link(link, page, lambda *_: None, site_url)
            shown.name, shown.attrs = "div", {"class": ["work"], "id": work_anchor(key)}
            if label := next((part.cited[key] for part in parts if part.cited.get(key)), ""):
                shown.insert(0, parsed(f'<p class="label">{label}</p>'))
            shown.append(parsed(f'<p class="cited">{_cited(key, parts)}</p>'))
            body.append(shown.extract())
        return Part(BIBLIOGRAPHY, "", "Bibliography", body)


def _cited(key: str, parts: Sequence[Part]) -> str:
    links = [
        f'<a href="#{part.slug}">{part.number or part.title}</a>'
        for part in parts
        if key in part.cited
    ]
    numbered = sum(1 for part in parts if key in part.cited and part.number)
    word = "chapters " if numbered > 1 else "chapter " if numbered else ""
    return f"Cited in {word}{', '.join(links)}."
