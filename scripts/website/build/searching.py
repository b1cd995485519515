"""The site's search: what is in its index, and that a page does not load it before somebody
searches.

The generator puts every table and listing of the site into the index. Here each page keeps what
people look for: prose whole, an accelerator and a model by their names, a work by title, authors
and note, a calculator by what it answers.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from flopbook.data.library import load_entry, load_model, model_ids, references
from scripts.website.pages.sources import topic_page

LONGEST = 2500  # characters of a section
_LISTS = (
    "models",
    "references",
)  # pages of which only the head is kept: what they list has a document each
_PEOPLE = 8  # names of authors that are searched
# Pages of one thing, and their sections that say something in words: commands, symbols and values
# are alike on all.
_PAGES = ("accelerators", "calculators")
_TOLD = ("why", "what-it-leaves-out")
_WORKER = re.compile(r'("search":\s*")([^"]*)assets/javascripts/workers/(search\.\w+\.min\.js)"')

Document = dict[str, Any]


def write_search(site: Path) -> None:
    """Replace the index of a built site by ours, and make its pages load it on the first search.

    Raises ValueError.
    """
    path = site / "search" / "search_index.json"
    index = json.loads(path.read_text(encoding="utf-8"))
    docs = documents(index["docs"])
    (path.parent / "documents.json").write_text(
        json.dumps(docs, ensure_ascii=False, separators=(",", ":")), "utf-8"
    )
    path.write_text(json.dumps({"config": index["config"], "docs": []}), encoding="utf-8")
    for page in site.rglob("*.html"):
        text, count = _WORKER.subn(
            r'\1\2assets/flopbook/search.js?\3"', page.read_text(encoding="utf-8")
        )
        if count != 1:
            raise ValueError(f"{page}: the page does not say where its search is")
        page.write_text(text, encoding="utf-8")


def documents(found: list[Document]) -> list[Document]:
    """The documents to search: those of the generator that people look for, then models and works,
    one each.
    """
    kept = [made for one in found if (made := _document(one)) is not None]
    return [*kept, *_models(), *_works()]


def _document(one: Document) -> Document | None:
    """A document as it is searched; None for one that is left out."""
    page, _, section = one["location"].partition("#")
    kind, _, name = page.rstrip("/").partition("/")
    text = _words(one["text"])
    if section and (kind in _LISTS or (kind in _PAGES and name and section not in _TOLD)):
        return None
    if kind == "accelerators" and name.count("/") == 1:
        text = f"{_other_names(name)} {text}"
    elif kind == "calculators":
        text = f"{name} {text}"
    return {**one, "text": text[:LONGEST], "boost": _boost(kind, name)}


def _boost(kind: str, name: str) -> float:
    """How much more a document counts: a chapter before a page that lists, a vendor before its
    chips.
    """
    if kind == "accelerators" and name and "/" not in name:
        return 4
    return {"handbook": 2, "notebooks": 0.7, "contributing": 0.4, "claims": 0.5, "errata": 0.5}.get(
        kind, 1
    )


def _words(text: str) -> str:
    """The words of a section: no code, no marks of links."""
    text = re.sub(r"<pre>.*?</pre>", " ", text, flags=re.S)
    return html.escape(" ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split()), quote=False)


def _other_names(name: str) -> str:
    entry = load_entry(name)
    return html.escape(" ".join((entry.id, *entry.aliases, *entry.device_names)), quote=False)


def _models() -> Iterator[Document]:
    for model in map(load_model, model_ids()):
        names = " ".join((model.id, *model.aliases))
        text = f"{names} {model.developer}. {model.summary}"
        yield {**_made(f"models/#{model.id}", model.name, text), "boost": 3}


def _works() -> Iterator[Document]:
    """Each work at its place on its first topic; sources of values are on their own page."""
    for item in references().values():
        if item.is_work:
            place = topic_page(item.topics[0]).removesuffix(".md")
            people = ", ".join(person.full for person in item.people[:_PEOPLE])
            yield _made(
                f"{place}/#{item.key}", f"{item.title} ({item.short})", f"{people}. {item.annote}"
            )


def _made(location: str, title: str, text: str) -> Document:
    return {
        "location": location,
        "title": html.escape(title, quote=False),
        "text": html.escape(text, quote=False),
    }
