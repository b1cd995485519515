"""Pages of notebooks, made on the second core or when their turn comes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scripts.website.build import pagehook
from scripts.website.build.beside import ALONE
from scripts.website.build.notebook_pages import made_beside

_CELLS = """
<div class="jp-MarkdownCell"><div class="jp-RenderedMarkdown"><h1>{0}</h1><p>Of {0}.</p></div></div>
"""


class _Plugin:
    """Stands for mkdocs-jupyter: gives each page its way to be rendered."""

    def on_pre_page(self, page: Any, config: Any, files: Any) -> Any:
        def render(_config: Any, _files: Any) -> None:
            if page.file.src_uri.endswith("broken.ipynb"):
                raise ValueError("of this notebook")
            page.content = _CELLS.format(Path(page.file.src_uri).stem)
            page.toc = [page.file.src_uri]

        page.render = render
        return page


def notebook(name: str, folder: Path) -> Any:
    """A page as MkDocs has it before it reads it."""
    source = f"notebooks/{name}.ipynb"
    file = SimpleNamespace(src_uri=source, abs_dest_path=str(folder / name / "index.html"))
    return SimpleNamespace(file=file, meta={}, read_source=lambda config: None)


@pytest.fixture
def config() -> Any:
    return SimpleNamespace(plugins={"mkdocs-jupyter": _Plugin()})


@pytest.mark.parametrize("alone", ["0", "1"])
def test_notebooks_are_made_beside(
    alone: str, config: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ALONE, alone)
    pages = [notebook(name, tmp_path) for name in ("first", "second")]
    with made_beside(pages, config, None) as made:
        shown = made()
    assert [*shown] == ["notebooks/first.ipynb", "notebooks/second.ipynb"]
    assert shown["notebooks/second.ipynb"].summary == "Of second."
    assert shown["notebooks/second.ipynb"].toc == ["notebooks/second.ipynb"]
    assert '<p class="fb-note">' in shown["notebooks/first.ipynb"].content


def test_a_notebook_that_fails_fails_where_it_is_asked_for(config: Any, tmp_path: Path) -> None:
    pages = [notebook("broken", tmp_path)]
    with made_beside(pages, config, None) as made, pytest.raises(ValueError, match="of this"):
        made()


@pytest.mark.parametrize("command", ["build", "serve"])
def test_a_build_and_a_preview_show_the_same_page(
    command: str, config: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A preview makes a notebook when its turn comes, since most of them have not changed."""
    monkeypatch.setattr(pagehook, "_commands", [])
    monkeypatch.setattr(pagehook, "_notebooks", [])
    pagehook.on_startup(command=command, dirty=False)
    page = notebook("first", tmp_path)
    page.previous_page = page.next_page = None
    page.ancestors = []
    pagehook.on_nav(SimpleNamespace(pages=[page]), config=config, files=None)
    try:
        assert bool(pagehook._notebooks) == (command == "build")
        _Plugin().on_pre_page(page, config, None)
        pagehook.on_pre_page(page)
        page.render(config, None)
    finally:
        pagehook.on_build_error()
    assert page.meta["description"] == "Of first."
    assert page.content.count("<h1>first</h1>") == 1 and page.toc == ["notebooks/first.ipynb"]
