"""The links at the foot of a page lead to its neighbours in the menu, within a tab."""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.base import load_config
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import get_navigation

from scripts.website.build.pagehook import keep_in_tabs

_MENU = [
    {"Home": "index.md"},
    {"Learn": ["learn.md", {"Chapter": "chapter.md"}, {"Practicals": ["first.md", "last.md"]}]},
    {"Chips": ["chips.md", {"Models": "models.md"}]},
]
_PAGES = ("index", "learn", "chapter", "first", "last", "chips", "models")


def test_the_pages_before_and_after_are_of_the_same_tab(tmp_path: Path) -> None:
    config = load_config(docs_dir=str(tmp_path), nav=_MENU)
    files = Files([File(f"{name}.md", str(tmp_path), str(tmp_path), True) for name in _PAGES])
    nav = keep_in_tabs(get_navigation(files, config))
    around = {
        page.file.name: tuple(
            neighbour and neighbour.file.name for neighbour in (page.previous_page, page.next_page)
        )
        for page in nav.pages
    }
    assert around == {
        "index": (None, None),
        "learn": (None, "chapter"),
        "chapter": ("learn", "first"),
        "first": ("chapter", "last"),
        "last": ("first", None),
        "chips": (None, "models"),
        "models": ("chips", None),
    }
