"""Notebooks as pages: what mkdocs-jupyter makes of them, written as the theme writes code.

It writes half a megabyte of style, a copy of every cell as hidden text and scripts into each page.
The cells are taken out of that, so that the theme's colours and our copy buttons work on them.
Twenty notebooks take as long as five hundred pages of Markdown, so they are made on the second core
meanwhile.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import html
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bs4 import BeautifulSoup, Tag

from flopbook.data.files import write_made
from scripts.website.build.beside import ALONE, forked
from scripts.website.build.handbook import chapters
from scripts.website.build.plain_markdown import shortened
from scripts.website.markup import link
from scripts.website.pages import practicals
from scripts.website.pages.sources import html_link

# Taken out before the page is parsed: most of its bytes are these.
_HEAVY = re.compile(r"<(style|script)\b[^>]*>.*?</\1>|<!--.*?-->", re.DOTALL)
_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
_VIEW_BOX = re.compile(r'viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"')
_INLINE_SVG = "data:image/svg+xml;base64,"
_DESCRIPTION = 155  # characters of a description that search engines show


class NotebookPage(NamedTuple):
    """A notebook as a page: its HTML, its headings for the menu, its first sentence."""

    content: str
    toc: Any
    summary: str


class _Task(NamedTuple):
    """Pages to convert, with what the generator hands to whoever renders them."""

    pages: Sequence[Any]
    config: Any
    files: Any


# The copy of this process finds here what it is to do: a configuration cannot be sent to it.
_tasks: list[_Task] = []


@contextlib.contextmanager
def made_beside(
    pages: Sequence[Any], config: Any, files: Any
) -> Iterator[Callable[[], dict[str, NotebookPage]]]:
    """Convert pages of notebooks on the second core while the block runs; by path of the source.

    What the block gets waits for them.
    """
    _tasks.append(_Task(pages, config, files))
    try:
        with forked(os.environ.get(ALONE) == "1", _convert) as made:
            yield functools.cache(made)
    finally:
        _tasks.pop()


def _convert() -> dict[str, NotebookPage]:
    pages, config, files = _tasks[-1]
    return {page.file.src_uri: _converted(page, config, files) for page in pages}


def _converted(page: Any, config: Any, files: Any) -> NotebookPage:
    # Only the plugin: hooks of ours would ask for the page that is made here.
    config.plugins["mkdocs-jupyter"].on_pre_page(page, config=config, files=files)
    return as_page(page, page.render, config, files)


def as_page(page: Any, render: Callable[..., None], config: Any, files: Any) -> NotebookPage:
    """A notebook as a page, with the plugin's way to render it.

    Its pictures are written where the page will be.
    """
    render(config, files)
    folder = Path(page.file.abs_dest_path).parent
    content, summary = notebook_html(page.content, folder, page.file.src_uri)
    return NotebookPage(content, page.toc, summary)


def notebook_html(content: str, folder: Path, source: str) -> tuple[str, str]:
    """The cells of a notebook page as plain HTML, and its first sentence.

    `source` is the path of the notebook in the content; pictures are written into `folder`.
    """
    soup = BeautifulSoup(_HEAVY.sub("", content), "html.parser")
    is_executed = soup.select_one(".jp-OutputArea-output") is not None
    first = soup.select_one(".jp-RenderedMarkdown p")
    summary = shortened(first.get_text(), _DESCRIPTION) if first else ""
    text = "\n".join(_cells(soup, folder))
    return text.replace("</h1>", f"</h1>\n{_note(source, is_executed)}", 1), summary


def _cells(soup: BeautifulSoup, folder: Path) -> list[str]:
    blocks: list[str] = []
    figures = 0
    for cell in soup.select(".jp-MarkdownCell, .jp-CodeCell > .jp-CodeCell"):
        if "jp-MarkdownCell" in cell["class"]:
            blocks.append(_text_cell(cell))
            figures += blocks[-1].count("<figure")
            continue
        blocks += [_code(block) for block in cell.select('[class*="hl-python"] pre')]
        for output in cell.select(".jp-OutputArea-output"):
            blocks.append(_output(output, folder, figures + 1))
            figures += "<figure" in blocks[-1]
    return blocks


def _note(source: str, is_executed: bool) -> str:
    """What a reader can do with the page, and the chapters that it belongs to."""
    path = Path(source)
    page = str(path.with_suffix(".md"))
    executed = " that was executed when the site was built" if is_executed else ""
    file = html.escape(path.name)
    download = f'<a href="{file}" download>download {file}</a>'
    homes = [
        link(chapter.title, html_link(page, chapter.page))
        for chapter in chapters()
        if path.stem in chapter.practicals
    ]
    belongs = f" It belongs to {' and '.join(homes)}." if homes else ""
    overview = link("All practicals", html_link(page, practicals.PAGE))
    sentences = f"This page is a notebook{executed}: {download}.{belongs} {overview}."
    return f'<p class="fb-note">{sentences}</p>'


def _text_cell(cell: Tag) -> str:
    rendered = cell.select_one(".jp-RenderedMarkdown")
    assert rendered is not None
    for anchor in rendered.select("a.anchor-link"):
        if anchor.parent is not None and anchor.parent.name == "h1":
            anchor.decompose()
            continue
        anchor["class"] = "headerlink"
        anchor["title"] = "Permanent link to this section"
        anchor.string = "#"
    return rendered.decode_contents(formatter="html5").strip()


def _code(block: Tag) -> str:
    code = block.decode_contents(formatter="html5").strip()
    return f'<div class="language-python highlight"><pre><code>{code}</code></pre></div>'


def _output(output: Tag, folder: Path, number: int) -> str:
    """What a cell gave: a picture, printed text, or a table that scrolls."""
    picture = output.find("img")
    if isinstance(picture, Tag):
        return _figure(picture, folder, number)
    printed = output.find("pre")
    if isinstance(printed, Tag):
        text = printed.decode_contents(formatter="html5").rstrip()
        return f'<pre class="fb-output" tabindex="0">{text}</pre>'
    shown = output.decode_contents(formatter="html5")
    return f'<div class="fb-scroll" tabindex="0" role="region" aria-label="Output">{shown}</div>'


def _figure(picture: Tag, folder: Path, number: int) -> str:
    """A picture beside the page, not inside: it compresses better and waits until it is seen."""
    address, title, size = str(picture.get("src", "")), str(picture.get("alt", "")), ""
    if address.startswith(_INLINE_SVG):
        svg = base64.b64decode(address.removeprefix(_INLINE_SVG)).decode()
        title, size = _title(svg), _size(svg)
        address = f"figure-{number}.svg"
        write_made(folder / address, svg)
    alt = html.escape(title, quote=True)
    image = f'<img src="{html.escape(address)}" alt="{alt}"{size} loading="lazy">'
    return f'<figure class="fb-plot">{image}</figure>'


def _title(svg: str) -> str:
    match = _TITLE.search(svg)
    return html.unescape(match[1]).strip() if match else ""


def _size(svg: str) -> str:
    """Width and height as attributes, so that a page does not jump when the picture arrives."""
    match = _VIEW_BOX.search(svg)
    return f' width="{float(match[1]):.0f}" height="{float(match[2]):.0f}"' if match else ""
