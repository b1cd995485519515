"""Pictures with their colours written into them: readers of ePubs know no style sheet of ours."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from typing import NamedTuple

import tinycss2
from bs4 import Tag

from scripts.website.book.parts import BookError

# What the theme of the site defines, for paper.
THEME = {
    "--md-default-fg-color": "#1c2128",
    "--md-default-fg-color--light": "#4b5563",
    "--md-default-fg-color--lighter": "#9aa5b5",
    "--md-default-fg-color--lightest": "#dfe3e8",
    "--md-default-bg-color": "#ffffff",
}
PAINT = frozenset(
    (
        "fill",
        "stroke",
        "stroke-width",
        "stroke-dasharray",
        "font-size",
        "font-weight",
        "opacity",
        "fill-opacity",
        "stroke-opacity",
        "stroke-linecap",
        "stroke-linejoin",
        "fill-rule",
        "paint-order",
        "font-style",
        "letter-spacing",
        "text-anchor",
        "visibility",
    )
)
_WORDED = ("svg", "g", "text", "tspan")  # a shape may not have a font
_OF_WORDS = ("font", "letter", "text", "paint-order")
_COMMA = re.compile(r",\s*(?![^()]*\))")  # between selectors, not inside brackets
_STATE = re.compile(r":(hover|focus|target|before|after)|data-md")
_VARIABLE = re.compile(r"var\(\s*(--[\w-]+)\s*\)")


class Rule(NamedTuple):
    """A selector with its weight, and what it says about paint."""

    weight: tuple[int, int]
    selector: str
    paint: dict[str, str]


def rules(sheet: str) -> list[Rule]:
    """The rules of a style sheet that paint, the weakest first, in colours of the light scheme."""
    found: list[Rule] = []
    variables = dict(THEME)
    read: list[tuple[str, dict[str, str]]] = []
    for node in tinycss2.parse_stylesheet(sheet, skip_comments=True, skip_whitespace=True):
        if node.type != "qualified-rule":
            continue
        said = {
            one.name: tinycss2.serialize(one.value).strip()
            for one in tinycss2.parse_blocks_contents(node.content)
            if one.type == "declaration"
        }
        selector = tinycss2.serialize(node.prelude).strip()
        if ":root" in selector:
            variables |= {name: value for name, value in said.items() if name.startswith("--")}
        read.append((selector, {name: value for name, value in said.items() if name in PAINT}))
    for selectors, paint in read:
        values = {name: _value(value, variables) for name, value in paint.items()}
        for selector in _COMMA.split(selectors) if values else ():
            if not _STATE.search(selector):
                found.append(Rule(_weight(selector), selector, values))
    return sorted(found, key=lambda rule: rule.weight)


def _value(text: str, variables: dict[str, str]) -> str:
    for _ in range(8):
        if not (match := _VARIABLE.search(text)):
            return text
        if match[1] not in variables:
            raise BookError(f"the style sheet uses {match[1]}, which it does not define")
        text = text.replace(match[0], variables[match[1]])
    raise BookError(f"the style sheet defines a variable by itself: {text}")


def _weight(selector: str) -> tuple[int, int]:
    """How specific a selector is: classes, attributes and pseudo-classes, then elements.

    Ours have no ids.
    """
    plain = re.sub(r":(?:is|not)\(([^,()]*)[^()]*\)", r"\1", selector)
    return len(re.findall(r"[.\[:]", plain)), len(re.findall(r"(?<![\w.#-])[a-z]", plain))


def paint(body: Tag, found: Sequence[Rule]) -> None:
    """Write what the rules say into every picture below an element; classes are gone then."""
    if not body.select_one("svg"):
        return
    said: dict[int, dict[str, str]] = {}
    for rule in found:
        for element in body.select(rule.selector):
            if element.name == "svg" or element.find_parent("svg"):
                said.setdefault(id(element), {}).update(rule.paint)
    for picture in body.select("svg"):
        for element in [picture, *picture.find_all(True)]:
            element.attrs.pop("class", None)
            for name, value in said.get(id(element), {}).items():
                if element.name in _WORDED or not name.startswith(_OF_WORDS):
                    element[name] = value
        for element in picture.select("[paint-order]"):
            _halo(element)


def _halo(element: Tag) -> None:
    """Words with a rim below them as two elements.

    A program that does not know `paint-order` would paint the rim above.
    """
    order = str(element.attrs.pop("paint-order"))
    if order.startswith("stroke"):
        rim = copy.copy(element)
        rim.attrs.pop("id", None)
        rim["aria-hidden"] = "true"
        element.insert_before(rim)
        for name in [name for name in element.attrs if name.startswith("stroke")]:
            del element[name]
