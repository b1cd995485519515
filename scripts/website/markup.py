"""Markup of pages: how text from data becomes HTML and Markdown, with nothing to forget.

`Html("<td>{}</td>").format(text)` and `Html(", ").join(texts)` escape whatever is not markup yet.
Their templates are literals: pages never put an f-string into `Html` or `Markdown`.
"""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

from markupsafe import Markup

from flopbook.drawing.markup import escape
from flopbook.drawing.markup import inline as inline_escape

# A formula between dollars, as the converter of formulas reads it: no blank inside the dollars,
# no word behind them, so that prices in running text stay what they are.
_FORMULA = re.compile(r"\$([^\s$](?:[^$\n]*[^\s$])?)\$(?![\w$])")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_NAVIGABLE = ("http://", "https://")
# Where an element, a link, an address for links or a list with a handler begins.
_BEGINS = re.compile(r"<(?=[A-Za-z/!?\\])|\](?=[(\[:])|\{(?=[^{}]*\bon\w+\s*=)", re.IGNORECASE)
_BACKTICKS = re.compile(r"`+")


class Html(Markup):
    """HTML; text put into it is escaped, and Markdown finds nothing to act on in that text."""

    __slots__ = ()

    @classmethod
    def escape(cls, text: object, /) -> Self:
        """Text as markup; what is markup already stays as it is."""
        if isinstance(text, Markup):
            return cls(text)
        return cls(escape(text))

    def format(self, *args: object, **named: object) -> Self:
        """This template with texts put in, each escaped; numbers take their format and stay.

        The formatter of MarkupSafe gives the same but for the sign of an exponent, which needs no
        escape; it is many times slower, and a build fills half a million places.
        """
        texts = (self._filling(text) for text in args)
        named_texts = {name: self._filling(text) for name, text in named.items()}
        return self.__class__(str.format(self, *texts, **named_texts))

    @classmethod
    def _filling(cls, text: object) -> object:
        # No subclass of a number: what one prints may be anything.
        if type(text) in (int, float):
            return text
        return cls.escape(text)


class Markdown(Html):
    """A line or paragraph of Markdown; text put into it is also brought onto one line.

    A line break could begin a list or a code block, which no escape prevents.
    """

    __slots__ = ()

    @classmethod
    def escape(cls, text: object, /) -> Self:
        """Text as markup on one line; what is markup already stays as it is."""
        if isinstance(text, Markup):
            return cls(text)
        return cls(inline_escape(text))


def trusted(markup: str) -> Html:
    """Markup that another room has made and escaped: an SVG drawing, a rendered page of prose."""
    return Html(markup)


def inline(text: object) -> Markdown:
    """Text for a Markdown paragraph: nothing in it is markup."""
    return Markdown.escape(text)


def harmless(text: str) -> Markdown:
    """Markdown from data in which no element, link or handler begins; maths and emphasis stay."""
    return Markdown(_BEGINS.sub(lambda mark: f"&#{ord(mark[0])};", text))


def attribute(text: object) -> Html:
    """An address or id between quotes, in HTML or in a Markdown link.

    Markdown leaves these alone, and its entities would be a part of the address.
    """
    if isinstance(text, Markup):
        return Html(text)
    return Html(html.escape(str(text), quote=True))


def page_text(blocks: Iterable[Html]) -> str:
    """A page or a section as text, from its blocks; no more markup is put together after this."""
    return str(Html("\n").join(blocks))


def front_matter(
    title: str, description: str, *, wide: bool = False, toc: bool = True, feed: str = ""
) -> Html:
    """The head of a page: title and a description for search engines and link previews.

    A `wide` page gives the width of both side columns to its tables, one without `toc` that of the
    right one; `feed` is the content path of its Atom feed.
    """
    lines = [f"title: {_yaml_quoted(title)}", f"description: {_yaml_quoted(shorten(description))}"]
    if wide:
        lines += ["hide:", "  - navigation", "  - toc"]
    elif not toc:
        lines += ["hide:", "  - toc"]
    if feed:
        lines.append(f"feed: {feed}")
    return Html("\n".join(["---", *lines, "---\n"]))


def _yaml_quoted(text: str) -> str:
    """Text on one line between double quotes; YAML gives it back as it is.

    Characters that nobody sees, which YAML refuses, are left out.
    """
    line = "".join(mark for mark in " ".join(text.split()) if mark.isprintable())
    escaped = line.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def shorten(text: str, limit: int = 155) -> str:
    """At most `limit` characters, cut at a word; dots say so unless a sentence ends there."""
    text = " ".join(text.split())
    if len(text) <= limit:
        return text
    cut = text[: limit - 3].rsplit(" ", 1)[0]
    return cut if cut.endswith((".", "?", "!")) else cut.rstrip(",;:") + "..."


def plain(markup: str) -> str:
    """The text of markup, on one line; a formula is its LaTeX without dollars."""
    text = html.unescape(re.sub(r"<[^>]*>", "", str(markup)))
    return " ".join(_FORMULA.sub(r"\1", text).split())


def script_json(record: str) -> Html:
    """JSON for a script element.

    Nothing in it ends the element, and no reader of Markdown finds maths in it.
    """
    return Html(re.sub(r"[<>&$]", lambda match: f"\\u{ord(match[0]):04x}", record))


# Links.


def relative(page: str, target: str) -> Html:
    """A link from one content page to another.

    Both are paths like `accelerators/nvidia/h100-sxm.md`.
    """
    path, mark, anchor = target.partition("#")
    if not path:
        return attribute(mark + anchor)
    folder = posixpath.dirname(page) or "."
    return attribute(posixpath.relpath(path, folder) + mark + anchor)


def link(text: str, href: str, kind: str = "", title: str = "") -> Html:
    """An HTML link; anything but http, https and relative addresses is shown as text only."""
    if _SCHEME.match(href) and not href.startswith(_NAVIGABLE):
        return Html.escape(text)
    hover = Html(' title="{}"').format(title) if title else ""
    return Html('<a href="{}"{}{}>{}</a>').format(attribute(href), _class(kind), hover, text)


def permalink(anchor: str, href: str = "") -> Html:
    """The mark that gives the permanent address of a claim or a reference."""
    return Html('<a class="fb-perma" href="{}" aria-label="Permanent link to {}">#</a>').format(
        attribute(href or f"#{anchor}"), anchor
    )


# Elements.


def tag(name: str, content: object, kind: str = "") -> Html:
    """An element with at most a class: `tag("strong", text)`, `tag("span", text, "fb-badge")`."""
    return Html("<{0}{1}>{2}</{0}>").format(name, _class(kind), content)


def _class(kind: str) -> Html:
    if not kind:
        return Html()
    return Html(' class="{}"').format(kind)


def maths(latex: str) -> Html:
    """LaTeX within a line; the converter of formulas, which reads it raw, escapes what it shows."""
    return Html(f"${latex}$")


def maths_block(latex: str) -> Html:
    """LaTeX as a block of its own."""
    return Html(f"$$\n{latex}\n$$\n")


def code_span(text: str) -> Html:
    """Code within a line of Markdown, which shows its text as it is."""
    ticks = _fence(text, 1)
    return Html(f"{ticks}{' '.join(text.split())}{ticks}")


def coded(text: str) -> Html:
    """A line of text; names of programs stand between backticks, as docstrings have them."""
    pieces = re.split(r"`([^`]+)`", " ".join(text.split()))
    shown: list[Html] = []
    for number, piece in enumerate(pieces):
        if number % 2:
            shown.append(code_span(piece))
            continue
        before, after = piece[: len(piece) - len(piece.lstrip())], piece[len(piece.rstrip()) :]
        shown.append(
            Html(f"{before}{Markdown.escape(piece.strip())}{after if piece.strip() else ''}")
        )
    return Html().join(shown)


def code_block(text: str, language: str) -> Html:
    """A fenced block of code in Markdown, without a line break behind it."""
    fence = _fence(text, 3)
    return Html(f"{fence}{language}\n{text}\n{fence}")


def _fence(text: str, least: int) -> str:
    """Backticks that do not occur in a text: nothing in it closes the code."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    return "`" * max(least, longest + 1)


def tooltip(shown: str, hidden: str, anchor: str) -> Html:
    """A value whose source appears on hover, on keyboard focus and on touch.

    `anchor` must be unique on the page.
    """
    return Html(
        '<span class="fb-tip"><button type="button" class="fb-value" aria-describedby="{0}">'
        '{1}</button><span role="tooltip" class="fb-source" id="{0}">{2}</span></span>'
    ).format(attribute(anchor), shown, hidden)


class Sortable(NamedTuple):
    """A cell of a table that a script sorts by `key` instead of by what is shown."""

    content: Html
    key: float


_COLUMNS = {"#": "fb-n", "¶": "fb-text"}  # what the first mark of a head makes of its column


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[str | Sortable]],
    *,
    caption: str,
    kind: str = "fb-table",
    stacked: bool = False,
) -> Html:
    """An HTML table of texts and markup; it scrolls by itself on a narrow screen.

    A head cell that starts with `#` is a number column (right aligned). Rows of a `stacked` table
    become blocks on a narrow screen, in which each value stands below the head of its column; a
    column whose head starts with `¶` holds longer text and takes the width of the block.
    """
    kinds = [_COLUMNS.get(cell[:1], "") for cell in head]
    labels = [cell.lstrip("".join(_COLUMNS)) for cell in head]
    heads = (
        Html('<th scope="col"{}>{}</th>').format(_class(column_kind), label)
        for label, column_kind in zip(labels, kinds, strict=True)
    )
    lines = [
        Html('<div class="{}" tabindex="0" role="region" aria-label="{}">').format(
            "fb-scroll fb-stacked" if stacked else "fb-scroll", caption
        ),
        Html("<table{}>").format(_class(kind)),
        tag("caption", caption),
        Html("<thead><tr>{}</tr></thead>\n<tbody>").format(Html().join(heads)),
        *(_table_row(row, kinds, labels if stacked else ()) for row in rows),
        Html("</tbody>"),
        Html("</table>"),
        Html("</div>"),
    ]
    return Html("\n").join(lines)


def _table_row(
    row: Sequence[str | Sortable], kinds: Sequence[str], labels: Sequence[str] = ()
) -> Html:
    first, *cells = row
    named = labels[1:] if labels else [""] * len(cells)
    body = Html().join(
        _table_cell(cell, kind, label)
        for cell, kind, label in zip(cells, kinds[1:], named, strict=True)
    )
    return Html('<tr><th scope="row">{}</th>{}</tr>').format(first, body)


def _table_cell(cell: str | Sortable, kind: str, label: str = "") -> Html:
    extra = Html(' data-label="{}"').format(attribute(label)) if label else Html()
    if isinstance(cell, Sortable):
        sort = Html(' data-sort="{}"').format(attribute(cell.key))
        return Html("<td{}{}{}>{}</td>").format(_class(kind), sort, extra, cell.content)
    return Html("<td{}{}>{}</td>").format(_class(kind), extra, cell)
