"""Small pieces of Markdown and HTML; the only place where data becomes markup, and so where it is
escaped.
"""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Iterable, Sequence

# Characters that mean something to HTML or to Markdown; in one pass, so that no entity is escaped
# twice.
_SPECIAL = re.compile(r"[&<>\"'\\`*_{}\[\]()#+!|~$^=]")
_NAMED = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}


def escape(text: object) -> str:
    """Text for HTML, content or attribute, in which Markdown finds nothing to do either."""
    return _SPECIAL.sub(lambda m: _NAMED.get(m[0]) or f"&#{ord(m[0])};", str(text))


def inline(text: object) -> str:
    """Text for a Markdown paragraph: nothing in it is markup."""
    return escape(" ".join(str(text).split()))


def slug(text: str) -> str:
    """A heading's or claim's anchor: lower case, hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def relative(page: str, target: str) -> str:
    """A link from one content page to another, both as paths like
    `accelerators/nvidia/h100-sxm.md`.
    """
    path, mark, anchor = target.partition("#")
    here = posixpath.dirname(page) or "."
    return posixpath.relpath(path, here) + mark + anchor if path else mark + anchor


def link(text: str, href: str, kind: str = "") -> str:
    """An HTML link; anything but http, https and relative addresses is shown as text only."""
    if re.match(r"[a-z][a-z0-9+.-]*:", href, re.IGNORECASE) and not href.startswith(
        ("http://", "https://")
    ):
        return escape(text)
    extra = f' class="{kind}"' if kind else ""
    return f'<a href="{html.escape(href, quote=True)}"{extra}>{escape(text)}</a>'


def front_matter(title: str, description: str, *, wide: bool = False, feed: str = "") -> str:
    """The head of a page: title and a description for search engines and link previews.

    A `wide` page gives the width of both side columns to its tables; `feed` is the content path of
    its Atom feed.
    """
    quote = lambda text: '"' + " ".join(text.split()).replace("\\", "").replace('"', "'") + '"'  # noqa: E731
    hide = "hide:\n  - navigation\n  - toc\n" if wide else ""
    more = hide + (f"feed: {feed}\n" if feed else "")
    return f"---\ntitle: {quote(title)}\ndescription: {quote(shorten(description))}\n{more}---\n"


def html_text(record: str) -> str:
    """JSON for a script element: nothing in it ends the element, and no reader of Markdown finds
    maths in it.
    """
    return re.sub(r"[<>&$]", lambda m: f"\\u{ord(m[0]):04x}", record)


def plain(markup: str) -> str:
    """The text of markup, on one line; a formula is its LaTeX without dollars."""
    text = html.unescape(re.sub(r"<[^>]*>", "", markup))
    return " ".join(re.sub(r"\$([^\s$](?:[^$\n]*[^\s$])?)\$(?![\w$])", r"\1", text).split())


def shorten(text: str, limit: int = 155) -> str:
    """At most `limit` characters, cut at a word."""
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 3].rsplit(" ", 1)[0] + "..."


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, kind: str = "", caption: str = ""
) -> str:
    """An HTML table from cells that are markup already; it scrolls by itself on a narrow screen.

    A head cell that starts with `#` is a number column (right aligned).
    """
    numeric = [cell.startswith("#") for cell in head]
    classes = f' class="{kind or "fb-table"}"'
    label = escape(caption or "Table")
    lines = [
        f'<div class="fb-scroll" tabindex="0" role="region" aria-label="{label}">',
        f"<table{classes}>",
    ]
    if caption:
        lines.append(f"<caption>{escape(caption)}</caption>")
    cells = [
        f'<th scope="col"{_number(n)}>{cell.lstrip("#")}</th>'
        for cell, n in zip(head, numeric, strict=True)
    ]
    lines.append(f"<thead><tr>{''.join(cells)}</tr></thead>\n<tbody>")
    for row in rows:
        first, *rest = row
        body = "".join(_cell(cell, n) for cell, n in zip(rest, numeric[1:], strict=True))
        lines.append(f'<tr><th scope="row">{first}</th>{body}</tr>')
    lines += ["</tbody>", "</table>", "</div>"]
    return "\n".join(lines)


def _number(numeric: bool) -> str:
    return ' class="fb-n"' if numeric else ""


def _cell(cell: str, numeric: bool) -> str:
    """A cell; `sort:VALUE|` before the markup gives the value to sort by."""
    sort = ""
    if cell.startswith("sort:"):
        value, _, cell = cell.removeprefix("sort:").partition("|")
        sort = f' data-sort="{html.escape(value)}"'
    return f"<td{_number(numeric)}{sort}>{cell}</td>"


def tooltip(shown: str, hidden: str, anchor: str, label: str = "") -> str:
    """A value whose source appears on hover, on keyboard focus and on touch.

    `shown` is plain text, `hidden` is plain text; `anchor` must be unique on the page.
    """
    extra = f' aria-label="{escape(label)}"' if label else ""
    return (
        f'<span class="fb-tip"><button type="button" class="fb-value" aria-describedby="{anchor}"{extra}>'
        f'{escape(shown)}</button><span role="tooltip" class="fb-source" id="{anchor}">{escape(hidden)}</span></span>'
    )
