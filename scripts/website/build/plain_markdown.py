"""A content page as plain Markdown: its pieces of HTML become Markdown, its links lead to twins.

The content tree is Markdown for a site generator: prose is Markdown already and must keep its
lines, only what stands in tags is turned. That is why no converter from HTML does it: to such a
program the prose is running text, whose line breaks are white space, so that headings, lists and
tables of the page run into each other.
"""

from __future__ import annotations

import functools
import html
import posixpath
import re
import textwrap
from collections.abc import Container, Iterable, Iterator

from bs4 import BeautifulSoup, Tag
from bs4.element import PageElement, PreformattedString

from scripts.website.markup import code_block, code_span

_FENCE = re.compile(r"^(`{3,}+|~{3,}+).*?^\1[ \t]*$", re.DOTALL | re.MULTILINE)
# A box of the site generator: its heading, then lines that are indented or blank.
_BOX = re.compile(
    r'^(?:!!!|\?{3}\+?) \w+(?: "(?P<title>[^"\n]*)")?[ \t]*\n(?P<inside>(?:(?: {4}.*|[ \t]*)\n)+)',
    re.MULTILINE,
)
_CODE = re.compile(r"(?<!`)(`+)(?!`)[^\n]+?(?<!`)\1(?!`)")
# Left out in any case, and most of the elements of a page: it need not become part of a tree.
_PICTURE = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
# Of a formula only its LaTeX is asked, which its tag has.
_INSIDE_MATHS = re.compile(r"(<math\b[^<>]*>).*?(?=</math>)", re.DOTALL)
_CODE_MARK = re.compile(r"\x00(\d+)\x00")
_LINK = re.compile(r"(?<!\\)\]\(([^()\s]+)\)")
# `{ .fb-wide }`, which tells the generator the class of what stands before it
_ATTRIBUTE_LIST = re.compile(r"\{:?[ \t]*[.#][\w .#=-]*\}")
_GAPS = re.compile(r"\n[ \t]*(?:\n[ \t]*){2,}")
_GAP_BETWEEN_ITEMS = re.compile(r"\n\s*\n(?=- )")
_OUTSIDE = re.compile(r"[a-z][a-z0-9+.-]*:|//|#|$", re.IGNORECASE)
_ADDRESS = re.compile(r"(?P<path>[^?#]*)(?:\?[^#]*)?(?:#(?P<anchor>.*))?", re.DOTALL)

# Characters as pages write those of data: readers of Markdown act on none of them.
_ENTITY = re.compile(r"&(#\d+|lt|gt|amp|quot);")
_KEPT_ENTITY = re.compile(r"\x01(#\d+|lt|gt|amp|quot);")
# Also at the end of a piece of text, which the next piece may go on with.
_TAG_BEGINS = re.compile(r"<(?=[A-Za-z/!?\\]|\Z)")
_BRACKET = re.compile(r"[\[\]`]")
# What would end the address of a link, or begin something else in it; of a table, its cell.
_NO_ADDRESS = re.compile(r"[\x00-\x20\x7f<>()\[\]\"`\\{}|]")
# What most readers of Markdown, who know no formulas, would act on inside of one.
_LINK_GOES_ON = re.compile(r"\](?=[(\[:])")

_LEFT_OUT = ("script", "style", "form", "svg", "button")
_SECTIONS = ("p", "div", "section", "article", "details", "summary", "fieldset")
# A page of runs has two thousand rows: 700 kB of Markdown that nobody reads as text.
_MOST_ROWS = 500
_FLOATS = ("figure", "figcaption", "table", "caption", "thead", "tbody")
_BLOCKS = (*_SECTIONS, *_FLOATS, "ul", "ol", "dl", "pre")
# Links that help who points at them, and would only stand in the way of plain text.
_SITE_ONLY = (["fb-perma"], ["fb-term"])


def twin_path(page: str) -> str:
    """Where the twin of a content page stands in the site."""
    stem = re.sub(r"\.(md|ipynb)$", "", page)
    return "index.md" if stem == "index" else f"{stem.removesuffix('/index')}/index.md"


def escaped(text: str) -> str:
    """Text on one line in which Markdown finds no tag, no link and no code."""
    return _TAG_BEGINS.sub("&lt;", _BRACKET.sub(r"\\\g<0>", _words(text)))


def as_markdown(text: str, page: str, pages: Iterable[str]) -> str:
    """A page of the content tree as plain Markdown, its links leading to twins of other pages."""
    code: list[str] = []

    def set_aside(match: re.Match[str]) -> str:
        code.append(match[0])
        return f"\x00{len(code) - 1}\x00"

    def quote(box: re.Match[str]) -> str:
        inside = textwrap.dedent(box["inside"]).strip("\n")
        code.append(_quoted(as_markdown(f"**{box['title'] or 'Note'}**\n\n{inside}", page, pages)))
        return f"\x00{len(code) - 1}\x00\n\n"

    links = _Links(page, pages)
    text = _BOX.sub(quote, _FENCE.sub(set_aside, _plain_of(text) + "\n"))
    text = _CODE.sub(set_aside, text)
    text = _ENTITY.sub("\x01\\1;", _PICTURE.sub("", _INSIDE_MATHS.sub(r"\1", text)))
    text = _LINK.sub(lambda match: f"]({links.from_source(match[1])})", text)
    # Before anything is escaped: what stands on its two sides then comes together.
    text = _Writer(links).inside(_parsed(_ATTRIBUTE_LIST.sub("", text)))
    text = _CODE_MARK.sub(lambda match: code[int(match[1])], text)
    return _GAPS.sub("\n\n", text).strip() + "\n"


def _quoted(text: str) -> str:
    """Lines as a quotation: what is indented by four would be code to other readers."""
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _parsed(text: str) -> BeautifulSoup:
    """A page as a tree; blank lines between two tags stay, for in prose they part paragraphs."""
    return BeautifulSoup(
        text, "html.parser", preserve_whitespace_tags={BeautifulSoup.ROOT_TAG_NAME}
    )


def _plain_of(text: str) -> str:
    """A page without the marks that are used here to set things aside."""
    return text.replace("\x00", "").replace("\x01", "")


def _decoded(text: str) -> str:
    """The characters themselves, for code and addresses."""
    return html.unescape(_KEPT_ENTITY.sub(r"&\1;", text))


def _guarded(text: str) -> str:
    """The characters themselves, but for those that would begin a tag, a link or code."""
    text = _KEPT_ENTITY.sub(lambda kept: _BRACKET.sub(r"\\\g<0>", _decoded(kept[0])), text)
    return _TAG_BEGINS.sub("&lt;", text)


@functools.lru_cache(maxsize=1)  # all pages of a site ask for the same
def _by_folder(pages: frozenset[str]) -> dict[str, str]:
    """The folder of each twin -> its page."""
    return {posixpath.dirname(twin_path(page)): page for page in pages}


def _address(href: str) -> str:
    """The same address for a reader of Markdown, who finds its end and nothing else in it."""
    return _NO_ADDRESS.sub(lambda mark: f"%{ord(mark[0]):02X}", href)


class _Links:
    """Addresses as they stand in a page, made into addresses in its twin."""

    def __init__(self, page: str, pages: Iterable[str]) -> None:
        self._source_folder = posixpath.dirname(page)
        self._twin = twin_path(page)
        self._twin_folder = posixpath.dirname(self._twin)
        self._pages = frozenset(pages)
        self._by_folder = _by_folder(self._pages)

    def from_source(self, href: str) -> str:
        """A link of Markdown, relative to the file that it stands in."""
        return self._to(href, self._source_folder)

    def from_site(self, href: str) -> str:
        """A link of HTML, relative to the folder in which the built page stands."""
        return self._to(href, self._twin_folder)

    def _to(self, href: str, folder: str) -> str:
        if _OUTSIDE.match(href):
            return href
        address = _ADDRESS.match(href)
        assert address is not None  # the pattern takes every text
        target = self._target(address["path"], folder)
        fragment = f"#{address['anchor']}" if address["anchor"] else ""
        if fragment and target == self._twin:
            return fragment
        return posixpath.relpath(target, self._twin_folder or ".") + fragment

    def _target(self, path: str, folder: str) -> str:
        """The site path of what a link leads to: the twin of a page, or the file itself."""
        if not path:
            return self._twin
        target = posixpath.normpath(posixpath.join(folder, path))
        if target in self._pages:
            return twin_path(target)
        page = self._by_folder.get("" if target == "." else target)
        return twin_path(page) if page else target


class _Writer:
    """Writes a tree as Markdown; text outside tags is Markdown already."""

    def __init__(self, links: _Links) -> None:
        self._links = links

    def inside(self, element: Tag) -> str:
        """Everything in an element."""
        return "".join(self._node(node) for node in element.children)

    def _node(self, node: PageElement) -> str:
        if isinstance(node, Tag):
            return self._element(node)
        # comments and declarations are preformatted, and say nothing to a reader
        if isinstance(node, PreformattedString):
            return ""
        is_code = _nearest(node, ("pre", "code")) is not None
        return _decoded(str(node)) if is_code else _guarded(str(node))

    def _element(self, element: Tag) -> str:
        if element.name == "math":
            return _formula(element)
        classes = element.get_attribute_list("class")
        if element.name in _LEFT_OUT and "fb-value" not in classes:
            return ""
        if element.name == "table":
            return self._table(element)
        if "fb-hidden" in classes or "fb-menu" in classes:
            return ""
        if element.name == "a":
            return self._link(element)
        inner = self.inside(element)
        if element.get("role") == "tooltip":
            return f" ({_words(inner)})"
        if "fb-badge" in classes:
            return f"({_words(inner)})"
        return _inline(element, inner) or _block(element, inner)

    def _link(self, element: Tag) -> str:
        inner = self.inside(element)
        words = _words(inner)
        href = _decoded(str(element.get("href", "")))
        is_for_pointing = element.get("class") in _SITE_ONLY
        if href and words and not is_for_pointing:
            return f"[{words}]({_address(self._links.from_site(href))})"
        return "" if words == "#" else inner

    def _table(self, table: Tag) -> str:
        """A table with its caption above; short rows are filled up with empty cells."""
        rows = [row for row in self._rows(table) if row]
        if not rows:
            return ""
        columns = max(map(len, rows))
        kept = rows[: _MOST_ROWS + 1]
        lines = [f"| {' | '.join([*row, *[''] * (columns - len(row))])} |" for row in kept]
        lines.insert(1, "|" + " --- |" * columns)
        hidden = len(rows) - len(kept)
        if hidden > 0:
            lines.append(f"\n{hidden:,} more in the data that this page links to.")
        captions = [
            self._cell(caption) for caption in table.find_all("caption") if _is_of(caption, table)
        ]
        return "\n\n".join(["", *captions, "\n".join(lines), ""])

    def _rows(self, table: Tag) -> Iterator[list[str]]:
        for row in table.find_all("tr"):
            if _is_of(row, table):
                yield [self._cell(cell) for cell in row.find_all(("td", "th"), recursive=False)]

    def _cell(self, cell: Tag) -> str:
        return _words(self.inside(cell)).replace("|", "\\|")


def _is_of(element: Tag, table: Tag) -> bool:
    """Whether a row or a caption belongs to this table, not to one inside of it."""
    return _nearest(element, ("table",)) is table


def _nearest(node: PageElement, names: Container[str]) -> Tag | None:
    """The innermost element around a node that has one of these names.

    `find_parent` does the same and takes far longer, and this is asked for every piece of text.
    """
    return next((parent for parent in node.parents if parent.name in names), None)


def _formula(element: Tag) -> str:
    latex = _without_markup(_decoded(str(element.get("data-latex", ""))))
    return f"\n\n$${latex}$$\n\n" if element.get("display") == "block" else f"${latex}$"


def _without_markup(latex: str) -> str:
    """A formula that means the same, in which no tag, link or code begins.

    Spaces mean nothing in LaTeX, and a backtick has a name.
    """
    apart = _LINK_GOES_ON.sub("] ", _TAG_BEGINS.sub("< ", latex))
    return apart.replace("`", r"\lq ").rstrip()


def _inline(element: Tag, inner: str) -> str:
    """An element of running text as Markdown, empty for any other."""
    match element.name:
        case "br":
            return " " if _nearest(element, ("table",)) else "\n"
        case "img" if element.get("alt"):
            return f"[figure: {_guarded(str(element['alt']))}]"
        case "strong" | "b":
            return f"**{_words(inner)}**"
        case "code" if "\n" not in inner:
            return str(code_span(inner)) if inner.strip() else inner
    return ""


def _block(element: Tag, inner: str) -> str:
    """An element that stands by itself as Markdown; what is none is what is inside of it."""
    match element.name:
        case "h1" | "h2" | "h3" | "h4" | "h5" | "h6":
            return f"\n\n{'#' * int(element.name[1])} {_words(inner)}\n\n"
        case "pre":
            is_bibtex = "fb-bibtex" in element.get_attribute_list("class")
            return f"\n\n{code_block(inner.strip(), 'bibtex' if is_bibtex else 'text')}\n\n"
        case "li":
            return "\n- " + inner.strip().replace("\n", "\n  ")
        case "dt":
            return f"\n- {_words(inner)}"
        case "dd":
            return f": {_words(inner)}\n"
        case "ul" | "ol":
            inner = _GAP_BETWEEN_ITEMS.sub("\n", inner)
    if element.name not in _BLOCKS:
        return inner
    return f"\n\n{inner.strip()}\n\n" if inner.strip() else ""


def _words(text: str) -> str:
    return " ".join(text.split())


def shortened(text: str, most: int) -> str:
    """A text in one line of at most so many characters, cut between words."""
    text = " ".join(text.split())
    if len(text) <= most:
        return text
    return text[: most - 3].rsplit(" ", 1)[0] + "..."
