"""Each page again as plain Markdown, `X/index.md` beside `X/index.html`, and llms.txt, which lists
them by section.

The content tree is Markdown with pieces of HTML, made for a site generator. Here the pieces become
Markdown too: tables, links, formulas, values with their sources. Forms, buttons, scripts and
pictures are left out.
"""

from __future__ import annotations

import html
import json
import posixpath
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import yaml

INDEX = "llms.txt"
_HEAD = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)
_FENCE = re.compile(r"^(```+|~~~+).*?^\1[ \t]*$", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"(?<!`)(`+)(?!`)[^\n]+?(?<!`)\1(?!`)")
_LINK = re.compile(r"(?<!\\)\]\(([^()\s]+)\)")
_GAPS = re.compile(r"\n[ \t]*(?:\n[ \t]*){2,}")
_ATTRIBUTE_LIST = re.compile(r"\{:?[ \t]*[.#][\w .#=-]*\}")
# Sections of llms.txt: the folder of a page -> its heading; what is in none of them comes first.
SECTIONS = {
    "handbook": "Handbook",
    "calculators": "Calculators",
    "notebooks": "Practicals",
    "accelerators": "Accelerators",
    "references": "References",
    "contributing": "Contributing",
}


def twin_path(page: str) -> str:
    """Where the twin of a content page stands in the site."""
    stem = re.sub(r"\.(md|ipynb)$", "", page)
    return "index.md" if stem == "index" else f"{stem.removesuffix('/index')}/index.md"


def twins(tree: dict[str, bytes]) -> dict[str, str]:
    """Site path -> text: the twin of every page of a content tree."""
    read = dict(_pages(tree))
    return {twin_path(page): as_markdown(body, page, set(read)) for page, (_, body) in read.items()}


def _pages(tree: dict[str, bytes]) -> Iterator[tuple[str, tuple[dict[str, Any], str]]]:
    """Each page with its head and its body, in the order of their paths."""
    for path in sorted(tree):
        if path.endswith((".md", ".ipynb")):
            text = tree[path].decode()
            yield path, _notebook(text) if path.endswith(".ipynb") else _parts(text)


def write(tree: dict[str, bytes], site: Path) -> None:
    """Put the twins of a content tree into a built site."""
    for name, text in twins(tree).items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _parts(text: str) -> tuple[dict[str, Any], str]:
    """The front matter of a page, and the rest."""
    match = _HEAD.match(text)
    return (yaml.safe_load(match[1]) or {}, text[match.end() :]) if match else ({}, text)


def _notebook(text: str) -> tuple[dict[str, Any], str]:
    """An executed notebook as Markdown: text, code, and what the code printed."""
    parts: list[str] = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell.get("outputs", []):
            said = output.get("text") or output.get("data", {}).get("text/plain") or []
            if "image/svg+xml" not in output.get("data", {}) and "".join(said).strip():
                parts.append(f"```text\n{''.join(said).rstrip()}\n```")
    body = "\n\n".join(parts)
    title = re.search(r"^# (.+)$", body, re.MULTILINE)
    first = re.search(r"^(?!#|```|\s*$).+(?:\n(?!#|```|\s*$).+)*", body, re.MULTILINE)
    return {
        "title": title[1] if title else "",
        "description": " ".join(first[0].split()) if first else "",
    }, body


def listing(tree: dict[str, bytes]) -> str:
    """llms.txt: one line for each page of a content tree, by section."""
    sections: dict[str, list[str]] = {"Start": [], **{title: [] for title in SECTIONS.values()}}
    for page, (head, _) in _pages(tree):
        said = f": {_short(head['description'])}" if head.get("description") else ""
        line = f"- [{head.get('title') or page}]({twin_path(page)}){said}"
        sections[SECTIONS.get(page.partition("/")[0], "Start")].append(line)
    lines = [
        "# flopbook\n",
        "> The reference on parallelism and hardware for large language models that computes itself: every number has "
        "a source, every formula runs.\n",
        "Each page is here as Markdown. The data behind them: [accelerators](api/v1/accelerators.json), "
        "[models](api/v1/models.json), [references](api/v1/references.json), [claims](api/v1/claims.json), "
        "[calculators](api/v1/calculators.json), and everything as [SQLite](api/v1/flopbook.sqlite).\n",
    ]
    for title, listed in sections.items():
        lines += [f"## {title}\n", *listed, ""] if listed else []
    return "\n".join(lines)


def _short(text: str, limit: int = 120) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 3].rsplit(" ", 1)[0] + "..."


def as_markdown(text: str, page: str, pages: set[str]) -> str:
    """A page of the content tree as plain Markdown, its links leading to the twins of other pages."""
    kept: list[str] = []

    def keep(match: re.Match[str]) -> str:
        kept.append(match[0])
        return f"\x00{len(kept) - 1}\x00"

    links = _Links(page, pages)
    text = _CODE.sub(keep, _FENCE.sub(keep, text))
    text = _LINK.sub(lambda match: f"]({links.from_source(match[1])})", text)
    reader = _Reader(links)
    reader.feed(text)
    reader.close()
    text = _ATTRIBUTE_LIST.sub("", reader.text())
    text = re.sub(r"\x00(\d+)\x00", lambda match: kept[int(match[1])], text)
    return _GAPS.sub("\n\n", text).strip() + "\n"


class _Links:
    """Addresses as they stand in a page, made into addresses in its twin."""

    def __init__(self, page: str, pages: set[str]) -> None:
        self.here = posixpath.dirname(page)
        self.own = twin_path(page)
        self.twin = posixpath.dirname(self.own)
        self.by_folder = {posixpath.dirname(twin_path(one)): one for one in pages}
        self.pages = pages

    def from_source(self, href: str) -> str:
        """A link of Markdown, relative to the file that it stands in."""
        return self._to(href, self.here)

    def from_site(self, href: str) -> str:
        """A link of HTML, relative to the folder in which the built page stands."""
        return self._to(href, self.twin)

    def _to(self, href: str, base: str) -> str:
        if re.match(r"[a-z][a-z0-9+.-]*:|//|#|$", href, re.IGNORECASE):
            return href
        path, mark, rest = re.match(r"([^?#]*)([?#]?)(.*)", href, re.DOTALL).groups()  # type: ignore[union-attr]
        target = posixpath.normpath(posixpath.join(base, path)) if path else self.twin
        page = (
            target if target in self.pages else self.by_folder.get("" if target == "." else target)
        )
        target = twin_path(page) if page else target
        anchor = rest if mark == "#" else rest.partition("#")[2]
        more = f"#{anchor}" if anchor else ""
        return (
            more
            if more and target == self.own
            else posixpath.relpath(target, self.twin or ".") + more
        )


_SKIPPED = frozenset(("script", "style", "form", "svg", "math", "button"))
_BLOCKS = frozenset(
    (
        "p",
        "div",
        "section",
        "article",
        "ul",
        "ol",
        "table",
        "details",
        "figure",
        "figcaption",
        "dl",
        "pre",
        "caption",
        "summary",
        "fieldset",
        "thead",
        "tbody",
    )
)
_VOID = frozenset(
    ("br", "img", "link", "input", "hr", "meta", "col", "path", "circle", "line", "rect")
)


# Links that help who points at them, and would only stand in the way of plain text.
_SITE_ONLY = ("fb-perma", "fb-term")
# What a class of ours means here.
_MARKED = {"fb-hidden": "hidden", "fb-badge": "badge", "fb-bibtex": "bibtex"}


class _Reader(HTMLParser):
    """Writes what it reads as Markdown; text outside tags is Markdown already."""

    def __init__(self, links: _Links) -> None:
        super().__init__(convert_charrefs=False)
        self.links = links
        self.stack: list[list[str]] = [[]]
        self.open: list[tuple[str, str]] = []
        self.skipping: list[str] = []
        self.cells: list[list[tuple[str, str]]] = []

    def text(self) -> str:
        """Everything that was written."""
        return "".join(part for level in self.stack for part in level)

    def put(self, text: str) -> None:
        if not self.skipping:
            self.stack[-1].append(text)

    def handle_data(self, data: str) -> None:
        self.put(data)

    def handle_entityref(self, name: str) -> None:
        self.put(html.unescape(f"&{name};"))

    def handle_charref(self, name: str) -> None:
        self.put(html.unescape(f"&#{name};"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "math" and not self.skipping:
            latex = given.get("data-latex", "")
            self.put(f"\n\n$${latex}$$\n\n" if given.get("display") == "block" else f"${latex}$")
        value = tag == "button" and "fb-value" in given.get("class", "")
        if self.skipping or (tag in _SKIPPED and not value):
            self.skipping += [tag] if tag not in _VOID else []
            return
        if tag == "br":
            self.put("\n" if not self.cells else " ")
        elif tag == "img":
            self.put(f"[figure: {given['alt']}]" if given.get("alt") else "")
        elif tag not in _VOID:
            self.begin(tag, given)

    def begin(self, tag: str, given: dict[str, str]) -> None:
        """An element opens: what is inside is gathered, and written when it closes."""
        more = ""
        if tag == "a":
            more = "" if given.get("class", "") in _SITE_ONLY else given.get("href", "")
        elif given.get("role") == "tooltip":
            more = "source"
        else:
            more = next(
                (kind for name, kind in _MARKED.items() if name in given.get("class", "").split()),
                "",
            )
        if tag == "table":
            self.cells.append([])
        self.open.append((tag, more))
        self.stack.append([])

    def handle_endtag(self, tag: str) -> None:
        if self.skipping:
            if tag == self.skipping[-1]:
                self.skipping.pop()
            return
        if not any(tag == one for one, _ in self.open):
            return
        while self.open:
            one, more = self.open.pop()
            inner = "".join(self.stack.pop())
            self.put(self.closed(one, more, inner))
            if one == tag:
                break

    def closed(self, tag: str, more: str, inner: str) -> str:
        """An element as Markdown."""
        if tag in ("td", "th", "tr", "table", "caption") and self.cells:
            return self.tabled(tag, inner)
        words = " ".join(inner.split())
        if more == "hidden":
            return ""
        if more in ("source", "badge"):
            return f" ({words})" if more == "source" else f"({words})"
        if tag == "a":
            return (
                f"[{words}]({self.links.from_site(more)})"
                if more and words
                else ""
                if words == "#"
                else inner
            )
        if tag in ("strong", "b"):
            return f"**{words}**"
        if tag == "code":
            return f"`{inner}`" if "\n" not in inner else inner
        return self.block(tag, inner, more)

    def block(self, tag: str, inner: str, more: str) -> str:
        """An element that stands by itself."""
        words = " ".join(inner.split())
        if heading := re.fullmatch(r"h([1-6])", tag):
            return f"\n\n{'#' * int(heading[1])} {words}\n\n"
        if tag == "pre":
            return f"\n\n```{more or 'text'}\n{inner.strip()}\n```\n\n"
        if tag == "li":
            return "\n- " + inner.strip().replace("\n", "\n  ")
        if tag in ("ul", "ol"):
            inner = re.sub(r"\n\s*\n(?=- )", "\n", inner)
        if tag == "dd":
            return f": {words}\n"
        if tag == "dt":
            return f"\n- {words}"
        return (
            f"\n\n{inner.strip()}\n\n"
            if tag in _BLOCKS and inner.strip()
            else inner
            if tag not in _BLOCKS
            else ""
        )

    def tabled(self, tag: str, inner: str) -> str:
        """Cells are gathered until their table ends."""
        words = " ".join(inner.split()).replace("|", "\\|")
        if tag in ("td", "th"):
            self.cells[-1].append((tag, words))
        elif tag == "tr":
            self.cells[-1].append(("tr", ""))
        elif tag == "caption":
            self.cells[-1].insert(0, ("caption", words))
        else:
            return _table(self.cells.pop())
        return ""


def _table(cells: list[tuple[str, str]]) -> str:
    title = [words for kind, words in cells if kind == "caption"]
    rows = [row for row in _rows(cells) if row]
    if not rows:
        return ""
    width = max(len(row) for row in rows)
    lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in rows]
    table = [lines[0], "|" + " --- |" * width, *lines[1:]]
    return "\n\n".join(["", *title, "\n".join(table), ""])


def _rows(cells: list[tuple[str, str]]) -> Iterator[list[str]]:
    row: list[str] = []
    for kind, words in cells:
        if kind == "tr":
            yield row
            row = []
        elif kind != "caption":
            row.append(words)
