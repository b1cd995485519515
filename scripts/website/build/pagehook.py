"""What MkDocs asks us while it builds (a hook, see mkdocs.yml): navigation, notebooks, search.

mkdocs-jupyter writes half a megabyte of style, a copy of every cell as hidden text and scripts into
each page. The cells are taken out of that and written as the theme writes code, so that its colours
and our copy buttons work on them.
"""

from __future__ import annotations

import base64
import html
import json
import re
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup, Tag
from markupsafe import Markup

from flopbook.data.files import write_made
from scripts.website.build.handbook import chapters
from scripts.website.build.heads import head_of
from scripts.website.build.nav import filled
from scripts.website.build.placing import place_of
from scripts.website.build.search_sections import sections
from scripts.website.markup import link
from scripts.website.pages import practicals
from scripts.website.pages.sources import html_link

# Taken out before the page is parsed: most of its bytes are these.
_HEAVY = re.compile(r"<(style|script)\b[^>]*>.*?</\1>|<!--.*?-->", re.DOTALL)
_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
_VIEW_BOX = re.compile(r'viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"')
_MATHS_HEAD = re.compile(
    r'<th((?: (?:scope|style|class)="[^"]*")*)>\s*<math\b([^>]*?alttext="([^"]*)")'
)
_PROSE_TABLE = re.compile(r"<table(?![^>]*\sclass=)[^>]*>.*?</table>", re.DOTALL)
_FRAMED = r'<div class="md-typeset__scrollwrap"><div class="md-typeset__table">\g<0></div></div>'
_INLINE_SVG = "data:image/svg+xml;base64,"
_DESCRIPTION = 155  # characters of a description that search engines show
# What is searched of each page, by its address: a preview makes only changed pages anew.
_documents: dict[str, list[dict[str, str]]] = {}


def on_config(config: Any) -> Any:
    """MkDocs calls this with its configuration: the calculators are put into the navigation."""
    config["nav"] = filled(config["nav"])
    return config


def on_nav(nav: Any, **_: Any) -> Any:
    """MkDocs calls this with the menu: pages lead on to others of their tab alone."""
    for page in nav.pages:
        if _tab_of(page) is not _tab_of(page.previous_page):
            page.previous_page = None
        if _tab_of(page) is not _tab_of(page.next_page):
            page.next_page = None
    return nav


def _tab_of(page: Any) -> Any:
    """The outermost section around a page; the page itself where there is none."""
    return [page, *page.ancestors][-1] if page else None


def on_env(env: Any, *, config: Any, files: Any) -> Any:
    """MkDocs calls this before it writes pages: their titles and heads become markup.

    The theme puts both into pages as they are, as titles of neighbours and in the navigation too.
    """
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
    if page.file.src_uri.endswith(".ipynb"):
        folder = Path(page.file.abs_dest_path).parent
        content, summary = notebook_html(content, folder, page.file.src_uri)
        page.meta.setdefault("description", summary)
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


def notebook_html(content: str, folder: Path, source: str) -> tuple[str, str]:
    """The cells of a notebook page as plain HTML, and its first sentence.

    `source` is the path of the notebook in the content; pictures are written into `folder`.
    """
    soup = BeautifulSoup(_HEAVY.sub("", content), "html.parser")
    is_executed = soup.select_one(".jp-OutputArea-output") is not None
    first = soup.select_one(".jp-RenderedMarkdown p")
    summary = _shortened(first.get_text()) if first else ""
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


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    if len(text) <= _DESCRIPTION:
        return text
    return text[: _DESCRIPTION - 3].rsplit(" ", 1)[0] + "..."


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
