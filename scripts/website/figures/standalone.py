"""A figure as a file of its own: its colours, its title and where it is from stand in it."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import tinycss2

from flopbook.drawing.markup import escape
from scripts.website.figures.drawing import LINE, Figure, words

_CSS = Path(__file__).resolve().parents[3] / "docs" / "assets" / "flopbook" / "flopbook.css"
# What the theme of the site defines, light and dark.
_THEME = {
    "--md-default-fg-color": ("#1b1f24", "#e8e6e1"),
    "--md-default-fg-color--lightest": ("#e4e1da", "#2a303a"),
    "--md-default-bg-color": ("#ffffff", "#191d24"),
}
_CLASS = re.compile(r"\bfb-[\w-]+")
_VARIABLE = re.compile(r"--[\w-]+")
_LETTER = 7.2  # pixels of a letter of the title
_SMALL = 5.3  # of a letter of the source
_NAME = 110.0  # pixels of the name of the project beside it
_EDGE = 12.0


def standalone(drawn: Figure, source: str = "") -> str:
    """The figure as SVG with its style, on paper: its title above, source and name below."""
    body = "".join(drawn.parts)
    head = _lines(drawn.title, round((drawn.width - 2 * _EDGE) / _LETTER))
    top = _EDGE + LINE * 1.3 * len(head) + 10
    below = _lines(source, round((drawn.width - 2 * _EDGE - _NAME) / _SMALL))
    height = top + drawn.height + 26 + LINE * (len(below) - 1)
    titles = "".join(
        words(_EDGE, _EDGE + LINE * 1.3 * (number + 0.7), line, "start", "fb-head")
        for number, line in enumerate(head)
    )
    foot = words(drawn.width - _EDGE, height - 8, "flopbook, CC-BY-4.0", "end", "fb-small")
    if source:
        foot += "".join(
            words(_EDGE, height - 8 - LINE * number, line, "start", "fb-small")
            for number, line in enumerate(reversed(below))
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {drawn.width:g} {height:g}" '
        f'width="{drawn.width:g}" height="{height:g}" role="img" class="fb-svg fb-drawn">'
        f"<title>{escape(drawn.title)}</title><desc>{escape(drawn.description)}</desc>"
        f"<style>{style(body)}</style>"
        f'<rect class="fb-ground" width="{drawn.width:g}" height="{height:g}"/>'
        f'{titles}<g transform="translate(0 {top:g})">{body}</g>{foot}</svg>\n'
    )


def _lines(text: str, most: int) -> list[str]:
    """A title in lines of so many letters at most, broken at words."""
    lines = [""]
    for word in text.split():
        joined = f"{lines[-1]} {word}".strip()
        if len(joined) <= most or not lines[-1]:
            lines[-1] = joined
        else:
            lines.append(word)
    return lines


def style(body: str) -> str:
    """The rules of the site that colour these shapes, and the colours that they name."""
    names = {"fb-svg", "fb-drawn", "fb-small", *_CLASS.findall(body)}
    rules = "".join(text for classes, text in _rules() if classes <= names)
    rules += ".fb-svg text{font-family:sans-serif}.fb-svg text.fb-head{font-size:15px;"
    rules += "font-weight:700}.fb-svg .fb-drawn rect.fb-ground,.fb-svg rect.fb-ground"
    rules += "{fill:var(--md-default-bg-color);stroke:none}"
    light, dark = [], []
    for name in sorted(set(_VARIABLE.findall(rules))):
        colours = _colours().get(name)
        if colours:
            light.append(f"{name}:{colours[0]}")
            dark.append(f"{name}:{colours[1]}")
    schemes = (
        f"svg{{{';'.join(light)}}}@media (prefers-color-scheme:dark){{svg{{{';'.join(dark)}}}}}"
    )
    return schemes + rules


@functools.cache
def _rules() -> list[tuple[set[str], str]]:
    """Rules for figures in the style sheet of the site, with the classes that they name."""
    rules = []
    sheet = _CSS.read_text(encoding="utf-8")
    for node in tinycss2.parse_stylesheet(sheet, skip_comments=True, skip_whitespace=True):
        if node.type != "qualified-rule":
            continue
        selector = tinycss2.serialize(node.prelude).strip()
        body = tinycss2.serialize(node.content).strip()
        if "md-typeset" in selector or not re.search(r"fill|stroke|font-size|font-weight", body):
            continue
        for selector_part in re.split(r",\s*(?![^()]*\))", selector):
            classes = set(_CLASS.findall(re.sub(r":is\([^)]*\)", "", selector_part)))
            if selector_part.startswith(".fb-") and ":hover" not in selector_part and classes:
                rules.append((classes, f"{selector_part}{{{body}}}"))
    return rules


@functools.cache
def _colours() -> dict[str, tuple[str, str]]:
    """Custom property -> its colour in the light and in the dark scheme."""
    light: dict[str, str] = {}
    dark: dict[str, str] = {}
    sheet = _CSS.read_text(encoding="utf-8")
    for node in tinycss2.parse_stylesheet(sheet, skip_comments=True, skip_whitespace=True):
        if node.type != "qualified-rule":
            continue
        selector = tinycss2.serialize(node.prelude).strip()
        target = {":root": light, '[data-md-color-scheme="slate"]': dark}.get(selector)
        if target is None:
            continue
        for declaration in tinycss2.parse_blocks_contents(node.content):
            if declaration.type == "declaration" and declaration.name.startswith("--fb-"):
                target[declaration.name] = tinycss2.serialize(declaration.value).strip()
    own = {name: (colour, dark.get(name, colour)) for name, colour in light.items()}
    return own | _THEME
