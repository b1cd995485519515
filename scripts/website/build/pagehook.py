"""What MkDocs asks us while it builds (a hook, see mkdocs.yml): navigation, notebooks, search."""

from __future__ import annotations

import contextlib
import functools
import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from markupsafe import Markup

from flopbook.data.files import write_made
from scripts.website.build.collecting import collect_rarely
from scripts.website.build.heads import head_of
from scripts.website.build.nav import filled
from scripts.website.build.notebook_pages import NotebookPage, as_page, made_beside
from scripts.website.build.placing import place_of
from scripts.website.build.search_sections import sections

_MATHS_HEAD = re.compile(
    r'<th((?: (?:scope|style|class)="[^"]*")*)>\s*<math\b([^>]*?alttext="([^"]*)")'
)
_PROSE_TABLE = re.compile(r"<table(?![^>]*\sclass=)[^>]*>.*?</table>", re.DOTALL)
_FRAMED = r'<div class="md-typeset__scrollwrap"><div class="md-typeset__table">\g<0></div></div>'
_NOTEBOOK = ".ipynb"
# What is searched of each page, by its address: a preview makes only changed pages anew.
_documents: dict[str, list[dict[str, str]]] = {}
# Of a build: its notebooks, made beside; a preview makes those that changed when it comes to them.
_beside = contextlib.ExitStack()
_notebooks: list[Callable[[], dict[str, NotebookPage]]] = []
_commands: list[str] = []


def on_startup(*, command: str, **_: Any) -> None:
    """MkDocs calls this once, with what it is to do."""
    _commands.append(command)
    if command == "build":
        collect_rarely()


def on_config(config: Any) -> Any:
    """MkDocs calls this with its configuration: the calculators are put into the navigation."""
    config["nav"] = filled(config["nav"])
    return config


def on_nav(nav: Any, *, config: Any, files: Any) -> Any:
    """MkDocs calls this with the menu, before it reads any page."""
    if _commands == ["build"]:
        pages = [page for page in nav.pages if page.file.src_uri.endswith(_NOTEBOOK)]
        _notebooks.append(_beside.enter_context(made_beside(pages, config, files)))
    return keep_in_tabs(nav)


def keep_in_tabs(nav: Any) -> Any:
    """A menu in which pages lead on to others of their tab alone."""
    for page in nav.pages:
        if _tab_of(page) is not _tab_of(page.previous_page):
            page.previous_page = None
        if _tab_of(page) is not _tab_of(page.next_page):
            page.next_page = None
    return nav


def _tab_of(page: Any) -> Any:
    """The outermost section around a page; the page itself where there is none."""
    return [page, *page.ancestors][-1] if page else None


def on_pre_page(page: Any, **_: Any) -> Any:
    """MkDocs calls this before it reads a page; one of a notebook has got its way to render it."""
    if page.file.src_uri.endswith(_NOTEBOOK):
        page.render = functools.partial(_show_notebook, page, page.render)
    return page


def _show_notebook(page: Any, render: Callable[..., None], config: Any, files: Any) -> None:
    """Let a page be what was made beside, or make it now."""
    if _notebooks:
        shown = _notebooks[0]()[page.file.src_uri]
    else:
        shown = as_page(page, render, config, files)
    page.content, page.toc = shown.content, shown.toc
    page.meta.setdefault("description", shown.summary)


def on_build_error(**_: Any) -> None:
    """MkDocs calls this where it gives up."""
    _beside.close()


def on_env(env: Any, *, config: Any, files: Any) -> Any:
    """MkDocs calls this before it writes pages: their titles and heads become markup.

    The theme puts both into pages as they are, as titles of neighbours and in the navigation too.
    """
    _beside.close()
    for file in files.documentation_pages():
        page = file.page
        page.title = _escaped(_title_of(page))
        page.meta = {name: _escaped(value) for name, value in page.meta.items()}
        if place := place_of(file.src_uri):
            page.meta |= place._asdict()
        about = str(page.meta.get("description") or config["site_description"])
        # The navigation has a shorter name for some pages, and calls the first one Home.
        title = str(page.meta.get("title") or page.title)
        texts = (html.unescape(title), html.unescape(about))
        page.meta |= head_of(file.src_uri, *texts, Path(config["docs_dir"]))._asdict()
    return env


def _title_of(page: Any) -> str:
    """The title of a page as text: that of the navigation, of the head, or of a heading."""
    title = str(page.title)
    # A title that MkDocs found in a heading is markup already.
    return title if title == page.meta.get("title") else html.unescape(title)


def _escaped(value: Any) -> Any:
    """A text as markup; lists and switches as they are."""
    return Markup(html.escape(value, quote=True)) if isinstance(value, str) else value


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """MkDocs calls this with the HTML of each page's content."""
    # The theme's plugin writes the settings of the search, and leaves the words to us.
    page.meta["search"] = {"exclude": True}
    _documents[page.url] = _searched(content, page)
    return frame_tables(name_maths_heads(content))


def _searched(content: str, page: Any) -> list[dict[str, str]]:
    return [
        {
            "location": f"{page.url}#{section.anchor}" if section.anchor else page.url,
            "title": section.title or str(page.title),
            "text": section.text,
        }
        for section in sections(content)
    ]


def on_post_build(*, config: Any) -> None:
    """MkDocs calls this with all pages written: what is searched is put into the theme's index."""
    path = Path(config["site_dir"]) / "search" / "search_index.json"
    index = json.loads(path.read_text(encoding="utf-8"))
    index["docs"] = [document for page in _documents.values() for document in page]
    write_made(path, json.dumps(index))


def frame_tables(content: str) -> str:
    """Put a frame that scrolls around each table of prose, which has no class."""
    return _PROSE_TABLE.sub(_FRAMED, content)


def name_maths_heads(content: str) -> str:
    """Say a table head that begins with a formula in words too.

    Not every screen reader finds text inside MathML.
    """

    def with_words(match: re.Match[str]) -> str:
        attributes, formula, words = match.groups()
        hidden = f'<span class="fb-hidden">{words}</span>'
        return f'<th{attributes}>{hidden}<math aria-hidden="true"{formula}'

    return _MATHS_HEAD.sub(with_words, content)
