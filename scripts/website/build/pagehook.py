"""What MkDocs asks us while it builds (a hook, see mkdocs.yml): the navigation, notebook pages and
table headers.

mkdocs-jupyter writes half a megabyte of style, a copy of every cell as hidden text and scripts into
each page. The cells are taken out of that and written as the theme writes code, so that its colours
and our copy buttons work on them.
"""

from __future__ import annotations

import base64
import html
import re
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup, Tag

from scripts.website.build.handbook import chapters
from scripts.website.build.nav import filled
from scripts.website.markup import link
from scripts.website.pages import practicals
from scripts.website.pages.sources import html_link

_HEAVY = re.compile(r"<(style|script)\b[^>]*>.*?</\1>|<!--.*?-->", re.DOTALL)
_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
_BOX = re.compile(r'viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"')
_MATHS_HEAD = re.compile(
    r'<th((?: (?:scope|style|class)="[^"]*")*)>\s*<math\b([^>]*?alttext="([^"]*)")'
)
_DATA = "data:image/svg+xml;base64,"


def on_config(config: Any) -> Any:
    """MkDocs calls this with its configuration: the calculators are put into the navigation."""
    config["nav"] = filled(config["nav"])
    return config


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """MkDocs calls this with the HTML of each page's content."""
    if page.file.src_uri.endswith(".ipynb"):
        folder = Path(page.file.abs_dest_path).parent
        content, summary = notebook_html(content, folder, page.file.src_uri)
        page.meta.setdefault("description", summary)
    return name_maths_heads(content)


def name_maths_heads(content: str) -> str:
    """Say a table header that begins with a formula in words too: not every screen reader finds
    text inside MathML.
    """
    words = '<span class="fb-hidden">{}</span><math aria-hidden="true"'
    return _MATHS_HEAD.sub(lambda m: f"<th{m[1]}>{words.format(m[3])}{m[2]}", content)


def notebook_html(content: str, folder: Path, source: str) -> tuple[str, str]:
    """The cells of a notebook page as plain HTML, and its first sentence; pictures are written into
    `folder`.

    `source` is the path of the notebook in the content.
    """
    soup = BeautifulSoup(_HEAVY.sub("", content), "html.parser")
    parts: list[str] = []
    for cell in soup.select(".jp-MarkdownCell, .jp-CodeCell > .jp-CodeCell"):
        if "jp-MarkdownCell" in cell["class"]:
            parts.append(_text_cell(cell))
            continue
        parts += [_code(block) for block in cell.select('[class*="hl-python"] pre')]
        for output in cell.select(".jp-OutputArea-output"):
            parts.append(_output(output, folder, len([p for p in parts if "<figure" in p]) + 1))
    executed = soup.select_one(".jp-OutputArea-output") is not None
    text = "\n".join(parts)
    first = soup.select_one(".jp-RenderedMarkdown p")
    return text.replace("</h1>", f"</h1>\n{_note(source, executed)}", 1), _sentence(
        first.get_text() if first else ""
    )


def _note(source: str, executed: bool) -> str:
    """What a reader can do with the page, and the chapters that it belongs to."""
    file, name, page = Path(source).name, Path(source).stem, str(Path(source).with_suffix(".md"))
    homes = [
        link(one.title, html_link(page, one.page)) for one in chapters() if name in one.practicals
    ]
    belongs = f" It belongs to {' and '.join(homes)}." if homes else ""
    others = link("All practicals", html_link(page, practicals.PAGE))
    done = " that was executed when the site was built" if executed else ""
    return (
        f'<p class="fb-note">This page is a notebook{done}: '
        f'<a href="{html.escape(file)}" download>download {html.escape(file)}</a>.{belongs} {others}.</p>'
    )


def _sentence(text: str, limit: int = 155) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 3].rsplit(" ", 1)[0] + "..."


def _text_cell(cell: Tag) -> str:
    rendered = cell.select_one(".jp-RenderedMarkdown")
    assert rendered is not None
    for anchor in rendered.select("a.anchor-link"):
        if anchor.parent is not None and anchor.parent.name == "h1":
            anchor.decompose()
            continue
        anchor["class"], anchor["title"] = ["headerlink"], "Permanent link to this section"
        anchor.string = "#"
    return rendered.decode_contents(formatter="html5").strip()


def _code(block: Tag) -> str:
    code = block.decode_contents(formatter="html5").strip()
    return f'<div class="language-python highlight"><pre><code>{code}</code></pre></div>'


def _output(output: Tag, folder: Path, number: int) -> str:
    picture = output.find("img")
    if isinstance(picture, Tag):
        return _figure(picture, folder, number)
    printed = output.find("pre")
    if isinstance(printed, Tag):
        return f'<pre class="fb-output" tabindex="0">{printed.decode_contents(formatter="html5").rstrip()}</pre>'
    shown = output.decode_contents(formatter="html5")
    return f'<div class="fb-scroll" tabindex="0" role="region" aria-label="Output">{shown}</div>'


def _figure(picture: Tag, folder: Path, number: int) -> str:
    """A picture beside the page, not inside it: it compresses better and waits until it is looked
    at.
    """
    address, title, size = str(picture.get("src", "")), str(picture.get("alt", "")), ""
    if address.startswith(_DATA):
        svg = base64.b64decode(address.removeprefix(_DATA)).decode()
        found, box = _TITLE.search(svg), _BOX.search(svg)
        title = html.unescape(found[1]).strip() if found else ""
        size = f' width="{float(box[1]):.0f}" height="{float(box[2]):.0f}"' if box else ""
        address = f"figure-{number}.svg"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / address).write_text(svg, encoding="utf-8")
    alt = html.escape(title, quote=True)
    return f'<figure class="fb-plot"><img src="{html.escape(address)}" alt="{alt}"{size} loading="lazy"></figure>'
