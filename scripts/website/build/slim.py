"""Takes out of the built site what no reader needs: unused rules, indentation and comments.

Style sheets are read by tinycss2. A rule is dropped only when each of its selectors names a class
or an attribute's value that no page and no script has; a custom property only when nothing reads
it.
Pages are read by patterns: five hundred pages as trees would take longer than the site generator,
and all of them come from one writer, which quotes attributes with `"`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import tinycss2
from tinycss2.ast import Node

from flopbook.data.files import write_made
from scripts.website.build.beside import each

_CLASSES = re.compile(r'\bclass="([^"]*)"')
_COLOURS = re.compile(r'\b(data-md-color-[\w-]+)="([^"]*)"')
_WORD = re.compile(r"[\w-]+")
_PROPERTY_READ = re.compile(r"var\(\s*(--[\w-]+)")

# Comments of our own style sheets, which are not minified and name only what we use.
_CSS_COMMENT = re.compile(r"/\*.*?\*/\s*", re.S)
# Behind the end of a piece of code; one with a quote may be a part of a text, and stays.
_COMMENT_BEHIND = re.compile(r"(?<=[;,{}()\[\]]) +// [^\"'`\n]*$", re.M)
_BLOCK_COMMENT = re.compile(r"^\s*/\*\*.*?\*/\s*$", re.S | re.M)
# Elements whose lines and spaces count; the groups are the element and its name.
_VERBATIM = re.compile(r"(<(pre|textarea|script|style)\b.*?</\2>)", re.S)
_LINE_BREAK = re.compile(r"\s*\n\s*")
# What the highlighter says of blanks, which have no colour.
_BLANK = re.compile(r'<span class="w">(\s*)</span>')
# The page as Markdown has the LaTeX of its formulas in the same order, for what copies it.
_LATEX = re.compile(r'(<math\b[^>]*?) data-latex="[^"]*"')
# HTML knows the namespace of <math> by itself.
_NAMESPACE = re.compile(r' xmlns="http://www.w3.org/1998/Math/MathML"')
# A bracket at either end of its group stretches without being told.
_BRACKET = re.compile(
    r'<mo stretchy="true" fence="true" form="(?:prefix|postfix)">([(){⌊⌋⌈⌉])</mo>'
)
# Our style sheet sets every column of a table of cases to the left.
_COLUMN = re.compile(r'<mtd columnalign="left">')
_FORM_RECORD = re.compile(r' data-spec="([^"]*)"')
_ENTITY = re.compile(r"&#(\d{2,3});")
_HARMLESS = frozenset("_\\{}*[]()!#+-.~|$:=^/")
_LINE_END = "&#10;"  # kept from Markdown, which would end an element there
# At-rules whose content is rules again; what others hold (@keyframes, @font-face) is kept whole.
_GROUPING = ("media", "supports", "layer", "container")

Texts = Mapping[Path, str]


def slim(site: Path, *, is_alone: bool = True) -> None:
    """Make pages, styles and scripts of a built site smaller; what they show and do is the same.

    Half of the pages is made on the second core, unless this is to work alone.
    """
    assets = site / "assets"
    own_assets = assets / "flopbook"
    for path in assets.glob("javascripts/bundle.*"):
        path.unlink()  # docs/assets/flopbook/shell.js takes its place
    pages = _texts(site.rglob("*.html"))
    scripts = _texts(assets.rglob("*.js"))
    styles = _texts(assets.rglob("*.css"))
    for path, css in _slim_styles(styles, own_assets, pages, scripts).items():
        write_made(path, css)
    each([*pages], _slim_file, is_alone=is_alone)
    for path, script in scripts.items():
        if own_assets in path.parents:
            write_made(path, slim_script(script))
    for path in sorted(assets.rglob("*.map")):
        path.unlink()


def _slim_file(path: Path) -> None:
    write_made(path, slim_page(path.read_text(encoding="utf-8")))


def _slim_styles(styles: Texts, own_assets: Path, pages: Texts, scripts: Texts) -> dict[Path, str]:
    """Ours without comments, and those of the theme without what nothing uses."""
    smaller = {
        path: _CSS_COMMENT.sub("", css) if own_assets in path.parents else css
        for path, css in styles.items()
    }
    outside_sheets = used_words(pages.values(), scripts.values())
    # Twice, for properties that only rules read which the first time has taken out.
    for _ in range(2):
        words = outside_sheets | used_words(smaller.values(), ())
        for path in styles:
            if own_assets not in path.parents:
                smaller[path] = slim_style(smaller[path], words)
    return smaller


def _texts(paths: Iterable[Path]) -> dict[Path, str]:
    return {path: path.read_text(encoding="utf-8") for path in sorted(paths)}


def used_words(pages: Iterable[str], scripts: Iterable[str]) -> set[str]:
    """Classes and colour schemes of pages, properties that are read, and what scripts may set.

    The theme and we name classes with a hyphen, but for its `js`; so of a script only such words
    count.
    """
    words: set[str] = set()
    for text in pages:
        words.update(*(names.split() for names in set(_CLASSES.findall(text))))
        words.update(f"{name}={scheme}" for name, scheme in set(_COLOURS.findall(text)))
        words.update(_PROPERTY_READ.findall(text))
    for text in scripts:
        words.update(word for word in _WORD.findall(text) if "-" in word or word == "js")
    return words


def slim_style(css: str, words: set[str]) -> str:
    """A style sheet without rules that name what is not among the words, and without comments.

    Custom properties that nobody reads go too. Raises ValueError for a sheet with an open brace.
    """
    _refuse_open_braces(css)
    tokens = tinycss2.parse_component_value_list(css, skip_comments=True)
    return "".join(_slim_rules(tokens, words))


def _refuse_open_braces(css: str) -> None:
    """Raise ValueError where a brace is left open: the parser would close it silently.

    One closing brace more than there are is an error of the sheet only if all others are closed.
    """
    last = tinycss2.parse_component_value_list(f"{css}}}")[-1]
    if last.type != "error":
        raise ValueError(f"a style sheet in which a brace is left open: {css[-80:]}")


def _slim_rules(tokens: Iterable[Node], words: set[str]) -> Iterator[str]:
    """The rules that are used, as text, each with the selectors that are."""
    for rule in tinycss2.parse_rule_list(tokens, skip_whitespace=True):
        if rule.type == "error":
            raise ValueError(f"a style sheet that does not parse: {rule.message}")
        if rule.type == "at-rule" and rule.content is None:
            yield rule.serialize()
            continue
        prelude, body = _slim_rule(rule, words)
        if prelude.strip() and body.strip():
            yield f"{prelude}{{{body}}}"


def _slim_rule(rule: Node, words: set[str]) -> tuple[str, str]:
    """What stands before and between the braces of a rule; either is empty if nothing is left."""
    if rule.type == "qualified-rule":
        return _used_selectors(rule.prelude, words), _read_declarations(rule.content, words)
    prelude = f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}"
    if rule.lower_at_keyword in _GROUPING:
        return prelude, "".join(_slim_rules(rule.content, words))
    return prelude, tinycss2.serialize(rule.content)


def _used_selectors(prelude: list[Node], words: set[str]) -> str:
    """The selectors of a list that may match an element of a page."""
    selectors = _split(prelude, ",")
    return ",".join(
        tinycss2.serialize(selector) for selector in selectors if _names(selector) <= words
    )


def _names(selector: list[Node]) -> set[str]:
    """Classes and colour schemes that a selector asks for.

    What stands inside `:not()`, `:is()` and the like is inside a function token and not looked at:
    such a selector may match without it.
    """
    names: set[str] = set()
    for before, token in zip([None, *selector], selector, strict=False):
        if token.type == "ident" and before is not None and before == ".":
            names.add(token.value)
        if token.type == "[] block":
            names |= _colour_scheme(token.content)
    return names


def _colour_scheme(attribute: list[Node]) -> set[str]:
    """`name=value` of an attribute selector for the theme's colours, else nothing."""
    text = tinycss2.serialize(attribute)
    name, equals, scheme = text.partition("=")
    is_colour = name.startswith("data-md-color-") and equals and _WORD.fullmatch(scheme)
    return {text} if is_colour else set()


def _read_declarations(content: list[Node], words: set[str]) -> str:
    """The declarations of a rule without the custom properties that nobody reads."""
    declarations = _split(content, ";", keep=True)
    return "".join(
        tinycss2.serialize(declaration)
        for declaration in declarations
        if not _is_unread_property(declaration, words)
    )


def _is_unread_property(declaration: list[Node], words: set[str]) -> bool:
    for token in declaration:
        if token.type == "ident":
            return token.value.startswith("--") and token.value not in words
        if token.type != "whitespace":
            break
    return False


def _split(tokens: list[Node], separator: str, *, keep: bool = False) -> list[list[Node]]:
    """Runs of tokens between separators; a separator inside brackets is no token of its own."""
    runs: list[list[Node]] = [[]]
    for token in tokens:
        if token != separator:
            runs[-1].append(token)
            continue
        if keep:
            runs[-1].append(token)
        runs.append([])
    return runs


def slim_page(text: str) -> str:
    """A page without indentation and empty lines, but where lines count."""
    text = _LATEX.sub(r"\1", _NAMESPACE.sub("", text))
    text = _COLUMN.sub("<mtd>", _BRACKET.sub(r"<mo>\1</mo>", text))
    pieces = _VERBATIM.split(_FORM_RECORD.sub(_single_quoted, text))
    # `split` gives text, verbatim element, name of the element, text, ...
    smaller = [_ENTITY.sub(_plain, _LINE_BREAK.sub("\n", piece)) for piece in pieces[0::3]]
    verbatim = [*map(_slim_verbatim, pieces[1::3], pieces[2::3]), ""]
    return "".join(f"{piece}{element}" for piece, element in zip(smaller, verbatim, strict=True))


def _slim_verbatim(element: str, name: str) -> str:
    """Code without what only Markdown and the highlighter need; other elements as they are."""
    if name != "pre":
        return element
    plain = _ENTITY.sub(_plain, _BLANK.sub(r"\1", element))
    tag, mark, code = plain.partition(">")
    if code.startswith(_LINE_END):  # a browser leaves out a line end right behind the tag
        return plain
    return tag + mark + code.replace(_LINE_END, "\n")


def _plain(match: re.Match[str]) -> str:
    """A character that Markdown was kept from reading; of HTML it is no part."""
    character = chr(int(match[1]))
    return character if character in _HARMLESS else match[0]


def _single_quoted(match: re.Match[str]) -> str:
    """The record of a form between single quotes, so that its own double ones need no entities."""
    record = html.unescape(match[1]).replace("&", "&amp;").replace("'", "&#39;")
    return f" data-spec='{record}'"


def slim_script(text: str) -> str:
    """A script of ours without comments and indentation; no text of it spans lines."""
    code = _COMMENT_BEHIND.sub("", _BLOCK_COMMENT.sub("", text))
    lines = map(str.strip, code.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//")) + "\n"
