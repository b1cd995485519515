"""Takes out of the built site what no reader needs: unused rules of the theme, white space,
comments.

It knows every class that a page or a script names. A rule is dropped only when each of its
selectors names a class or an attribute's value that no page and no script has; a property only when
nothing reads it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

_CLASSES = re.compile(r'\bclass="([^"]*)"')
_COLOURS = re.compile(r'\b(data-md-color-[\w-]+)="([^"]*)"')
_WORD = re.compile(r"[\w-]+")
_PROPERTY = re.compile(r"(?<=[{;])(--[\w-]+):[^;{}]*;?")
_OURS = re.compile(r"/\*.*?\*/\s*", re.S)
_STRING = re.compile(
    r'"(?:\\.|[^"\\])*"|' + r"'(?:\\.|[^'\\])*'|url\((?![\"'])[^)]*\)|/\*.*?\*/", re.S
)
_NAMED = re.compile(r"\.((?:[\w-]|\\.)+)|\[(data-md-color-[\w-]+=[\w-]+)")
_READ = re.compile(r"var\(\s*(--[\w-]+)")
# What must keep its lines as they are.
_KEPT = re.compile(r"(<(pre|textarea|script|style)\b.*?</\2>)", re.S)
_INLINE_LATEX = re.compile(r'(<math\b[^>]*?display="inline"[^>]*?) data-latex="[^"]*"')
_NAMESPACE = re.compile(r' xmlns="http://www.w3.org/1998/Math/MathML"')
_SPEC = re.compile(r' data-spec="([^"]*)"')
_NESTING = ("@media", "@supports", "@layer", "@container")


def slim(site: Path) -> None:
    """Make the pages, styles and scripts of a built site smaller; what they show and do stays the
    same.
    """
    assets, ours = site / "assets", site / "assets" / "flopbook"
    pages, scripts, styles = (
        _texts(paths)
        for paths in (site.rglob("*.html"), assets.rglob("*.js"), assets.rglob("*.css"))
    )
    words = used_words([*pages.values(), *styles.values()], scripts.values())
    for path, text in styles.items():
        path.write_text(
            _OURS.sub("", text) if ours in path.parents else slim_style(text, words),
            encoding="utf-8",
        )
    for path, text in pages.items():
        path.write_text(slim_page(text), encoding="utf-8")
    for path, text in scripts.items():
        if ours in path.parents:
            path.write_text(slim_script(text), encoding="utf-8")
    for path in sorted(assets.rglob("*.map")):
        path.unlink()


def _texts(paths: Iterable[Path]) -> dict[Path, str]:
    return {path: path.read_text(encoding="utf-8") for path in sorted(paths)}


def used_words(pages: Iterable[str], scripts: Iterable[str]) -> set[str]:
    """Classes and colour schemes of pages, properties that pages and styles read, and what scripts
    may set.

    The theme and we name classes with a hyphen, but for its `js`.
    """
    found: set[str] = set()
    for text in pages:
        found.update(*(value.split() for value in set(_CLASSES.findall(text))))
        found.update(f"{name}={value}" for name, value in set(_COLOURS.findall(text)))
        found.update(_READ.findall(text))
    for text in scripts:
        found.update(word for word in _WORD.findall(text) if "-" in word or word == "js")
    return found


def slim_style(css: str, words: set[str]) -> str:
    """A style sheet without the rules that name what is not among the words, and without properties
    nobody reads.
    """
    strings: list[str] = []

    def keep(match: re.Match[str]) -> str:
        if match[0].startswith("/*"):
            return ""
        strings.append(match[0])
        return f"\x00{len(strings) - 1}\x00"

    marked = _STRING.sub(keep, css)
    small = _rules(marked, lambda selector: _used(selector, words))
    small = _rules(_PROPERTY.sub(lambda m: m[0] if m[1] in words else "", small), lambda _: True)
    return re.sub("\x00(\\d+)\x00", lambda m: strings[int(m[1])], small)


def _used(selector: str, words: set[str]) -> bool:
    """Whether something may match: every class outside `:not()`, `:is()` and the like is used."""
    bare = selector
    while (
        shorter := re.sub(r":(?:not|is|where|has|matches|-webkit-any)\([^()]*\)", "", bare)
    ) != bare:
        bare = shorter
    return all((name or value).replace("\\", "") in words for name, value in _NAMED.findall(bare))


def _rules(css: str, used: Callable[[str], bool]) -> str:
    """The rules of which a selector is used, with the selectors that are; those inside of
    conditions too.
    """
    made: list[str] = []
    place = 0
    while (brace := css.find("{", place)) >= 0:
        head, end = css[place:brace], _closing(css, brace)
        body = css[brace + 1 : end]
        *before, head = head.split(";")
        made += [f"{one};" for one in before]
        place = end + 1
        if head.lstrip().startswith(_NESTING):
            body = _rules(body, used)
        elif not head.lstrip().startswith("@"):
            head = ",".join(one for one in _selectors(head) if used(one))
        if head.strip() and body.strip():
            made.append(f"{head}{{{body}}}")
    return "".join(made)


def _closing(css: str, brace: int) -> int:
    depth = 0
    for match in re.compile(r"[{}]").finditer(css, brace):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.start()
    raise ValueError(f"a style sheet in which a brace is left open: {css[brace - 60 : brace + 20]}")


def _selectors(head: str) -> Iterator[str]:
    """The selectors of a list; commas inside of parentheses part nothing."""
    depth = start = 0
    for place, mark in enumerate(head):
        depth += (mark == "(") - (mark == ")")
        if mark == "," and depth == 0:
            yield head[start:place]
            start = place + 1
    yield head[start:]


def slim_page(text: str) -> str:
    """A page without the indentation of its lines and without empty lines, but where lines count."""
    text = _INLINE_LATEX.sub(
        r"\1", _NAMESPACE.sub("", text)
    )  # only blocks have a button that copies their LaTeX
    parts = _KEPT.split(_SPEC.sub(_quoted, text))
    for place in range(0, len(parts), 3):  # between what is kept come its two groups
        parts[place] = re.sub(r"\s*\n\s*", "\n", parts[place])
    return "".join(part for place, part in enumerate(parts) if place % 3 != 2)


def _quoted(match: re.Match[str]) -> str:
    """The record of a form between single quotes, so that its own double ones need no entities."""
    record = html.unescape(match[1]).replace("&", "&amp;").replace("'", "&#39;")
    return f" data-spec='{record}'"


def slim_script(text: str) -> str:
    """A script of ours without whole lines of comment and without indentation; it has no text over
    several lines.
    """
    lines = (
        line.strip()
        for line in re.sub(r"^\s*/\*\*.*?\*/\s*$", "", text, flags=re.S | re.M).splitlines()
    )
    return "\n".join(line for line in lines if line and not line.startswith("//")) + "\n"
