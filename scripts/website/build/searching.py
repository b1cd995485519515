"""The site's search: what is in its index, and that a page loads it only when somebody searches.

The generator hands over the words of every section. Here each page keeps what people look for:
prose whole, an accelerator and a model by their names, a work by title, authors and note, a
calculator by what it answers.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from flopbook.data.files import write_made
from flopbook.data.library import load_entry, load_model, model_ids, references
from scripts.website.build import search_cards
from scripts.website.pages.sources import topic_page

LONGEST = 2400  # characters of a section
_PEOPLE = 8  # names of authors that are searched
# Pages of which only the head is kept: what they list has a document each, or is said elsewhere.
_LISTS = ("models/", "references/", "contributing/sentences/", "changes/")
# Pages of one thing, and their sections that say something in words: commands, symbols and values
# are alike on all.
_PAGES = ("accelerators", "calculators")
_TOLD = ("why", "what-it-leaves-out")
_WORKER = re.compile(r'("search":\s*")([^"]*)assets/javascripts/workers/(search\.\w+\.min\.js)"')
# How much more a document counts: a chapter before a page that lists, a vendor before its chips.
_BOOSTS = {"handbook": 2, "notebooks": 0.7, "contributing": 0.4, "claims": 0.5, "errata": 0.5}
_VENDOR_BOOST, _MODEL_BOOST = 4, 3

Document = dict[str, Any]


def write_search(site: Path) -> None:
    """Replace the index of a built site by ours, and make its pages load it on the first search.

    Raises ValueError for a page of the theme that does not say where its search is.
    """
    path = site / "search" / "search_index.json"
    index = json.loads(path.read_text(encoding="utf-8"))
    compact = json.dumps(documents(index["docs"]), ensure_ascii=False, separators=(",", ":"))
    write_made(path.parent / "documents.json", compact)
    write_made(path.parent / "cards.json", search_cards.record())
    write_made(path, json.dumps({"config": index["config"], "docs": []}))
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        text, count = _WORKER.subn(r'\1\2assets/flopbook/search.js?\3"', text)
        if count != 1:
            raise ValueError(f"{page}: the page does not say where its search is")
        write_made(page, text)


def documents(generated: list[Document]) -> list[Document]:
    """The documents to search: what people look for of the generator's, then models and works."""
    kept = [_searched(document) for document in generated if not _is_left_out(document)]
    return [*kept, *_models(), *_works()]


def _place(document: Document) -> tuple[str, str, str]:
    """Kind and name of the page of a document, and its section."""
    page, _, section = document["location"].partition("#")
    kind, _, name = page.rstrip("/").partition("/")
    return kind, name, section


def _is_left_out(document: Document) -> bool:
    """Sections of lists, and of pages of one thing those that say nothing in words."""
    kind, name, section = _place(document)
    if not section:
        return False
    is_listed = document["location"].startswith(_LISTS)
    return is_listed or (kind in _PAGES and bool(name) and section not in _TOLD)


def _searched(document: Document) -> Document:
    kind, name, _ = _place(document)
    text = document["text"]
    if kind == "accelerators" and name.count("/") == 1:
        text = f"{_other_names(name)} {text}"
    elif kind == "calculators":
        text = f"{name} {text}"
    return {**document, "text": text[:LONGEST], "boost": _boost(kind, name)}


def _boost(kind: str, name: str) -> float:
    if kind == "accelerators" and name and "/" not in name:
        return _VENDOR_BOOST
    return _BOOSTS.get(kind, 1)


def _other_names(name: str) -> str:
    entry = load_entry(name)
    die = entry.die.name if entry.die else ""
    names = (entry.id, *entry.aliases, *entry.device_names, die)
    return html.escape(" ".join(filter(None, names)), quote=False)


def _models() -> Iterator[Document]:
    for model in map(load_model, model_ids()):
        names = " ".join((model.id, *model.aliases))
        text = f"{names} {model.developer}. {model.summary}"
        yield {**_document(f"models/#{model.id}", model.name, text), "boost": _MODEL_BOOST}


def _works() -> Iterator[Document]:
    """Each work at its place on its first topic; sources of values are on their own page."""
    for work in references().values():
        if not work.is_work:
            continue
        page = topic_page(work.topics[0]).removesuffix(".md")
        people = ", ".join(person.full for person in work.people[:_PEOPLE])
        title = f"{work.title} ({work.short})"
        yield _document(f"{page}/#{work.key}", title, f"{people}. {work.annote}")


def _document(location: str, title: str, text: str) -> Document:
    return {
        "location": location,
        "title": html.escape(title, quote=False),
        "text": html.escape(text, quote=False),
    }
