"""Each page again as plain Markdown, `X/index.md` beside `X/index.html`, and llms.txt, their list.

Tables, links, formulas and values with their sources become Markdown. Forms, buttons, scripts and
pictures are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from scripts.website.build.heads import head_and_body
from scripts.website.build.plain_markdown import as_markdown, escaped, shortened, twin_path
from scripts.website.markup import code_block

INDEX = "llms.txt"
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
# Lines that are neither empty nor a heading nor a fence, up to the first that is.
_FIRST_PARAGRAPH = re.compile(r"^(?!#|```|\s*$).+(?:\n(?!#|```|\s*$).+)*", re.MULTILINE)
# Sections of llms.txt: the folder of a page -> its heading; what is in none of them comes first.
SECTIONS = {
    "handbook": "Handbook",
    "calculators": "Calculators",
    "notebooks": "Practicals",
    "accelerators": "Accelerators",
    "compare": "Comparisons",
    "references": "References",
    "contributing": "Contributing",
}
_FIRST_SECTION = "Start"
_LONGEST_SUMMARY = 120  # characters: a line of llms.txt is for choosing a page, not for reading it
_PREAMBLE = (
    "# flopbook\n",
    "> The reference on parallelism and hardware for large language models that computes itself: "
    "every number has a source, every formula runs.\n",
    "Each page is here as Markdown. The data behind them: "
    "[accelerators](api/v1/accelerators.json), [models](api/v1/models.json), "
    "[references](api/v1/references.json), "
    "[claims](api/v1/claims.json), [calculators](api/v1/calculators.json), "
    "and everything as [SQLite](api/v1/flopbook.sqlite).\n",
)


class _Page(NamedTuple):
    """A page of the content tree: what its front matter says of it, and its Markdown."""

    title: str
    description: str
    body: str


def twins(tree: dict[str, bytes]) -> dict[str, str]:
    """Site path -> text: the twin of every page of a content tree."""
    pages = frozenset(path for path in tree if path.endswith((".md", ".ipynb")))
    return {twin_path(path): as_markdown(page.body, path, pages) for path, page in _pages(tree)}


def listing(tree: dict[str, bytes]) -> str:
    """llms.txt: one line for each page of a content tree, by section."""
    sections: dict[str, list[str]] = {_FIRST_SECTION: []}
    sections |= {title: [] for title in SECTIONS.values()}
    for path, page in _pages(tree):
        section = SECTIONS.get(path.partition("/")[0], _FIRST_SECTION)
        sections[section].append(_listed(path, page))
    lines = list(_PREAMBLE)
    for title, listed in sections.items():
        if listed:
            lines += [f"## {title}\n", *listed, ""]
    return "\n".join(lines)


def _listed(path: str, page: _Page) -> str:
    summary = f": {shortened(page.description, _LONGEST_SUMMARY)}" if page.description else ""
    return f"- [{page.title or path}]({twin_path(path)}){summary}"


def _pages(tree: dict[str, bytes]) -> Iterator[tuple[str, _Page]]:
    """Each page of a content tree with its path, in the order of the paths."""
    for path in sorted(tree):
        if path.endswith(".md"):
            yield path, _prose(tree[path].decode())
        elif path.endswith(".ipynb"):
            yield path, _notebook(json.loads(tree[path]))


def _prose(text: str) -> _Page:
    head, body = head_and_body(text)
    title, description = (escaped(str(head.get(key) or "")) for key in ("title", "description"))
    return _Page(title, description, body)


def _notebook(notebook: dict[str, Any]) -> _Page:
    """An executed notebook as Markdown: text, code, and what the code printed."""
    blocks: list[str] = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            blocks.append(source)
            continue
        blocks.append(code_block(source, "python"))
        blocks += [code_block(text, "text") for text in _printed(cell)]
    body = "\n\n".join(blocks)
    title, paragraph = _TITLE.search(body), _FIRST_PARAGRAPH.search(body)
    description = " ".join(paragraph[0].split()) if paragraph else ""
    return _Page(title[1] if title else "", description, body)


def _printed(cell: dict[str, Any]) -> Iterator[str]:
    """What a cell printed; of a picture there is only the name of its class, which says nothing."""
    for output in cell.get("outputs", []):
        shown = output.get("data", {})
        text = "".join(output.get("text") or shown.get("text/plain") or [])
        if text.strip() and "image/svg+xml" not in shown:
            yield text.rstrip()
