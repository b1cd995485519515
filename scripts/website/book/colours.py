"""Pictures with their colours written into them: readers of ePubs know no style sheet of ours."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from typing import NamedTuple

import tinycss2
from bs4 import Tag
from tinycss2.ast import Node

from scripts.website.book.parts import BookError

# What the theme of the site defines, for paper.
THEME = {
    "--md-default-fg-color": "#1c2128",
    "--md-default-fg-color--light": "#4b5563",
    "--md-default-fg-color--lighter": "#9aa5b5",
    "--md-default-fg-color--lightest": "#dfe3e8",
    "--md-default-bg-color": "#ffffff",
}
# Properties of a picture that have an attribute of the same name.
_FILLS = ("fill", "fill-opacity", "fill-rule", "opacity", "paint-order", "visibility")
_STROKES = ("width", "dasharray", "opacity", "linecap", "linejoin")
_FONTS = ("font-size", "font-weight", "font-style", "letter-spacing", "text-anchor")
PAINT = frozenset((*_FILLS, "stroke", *(f"stroke-{name}" for name in _STROKES), *_FONTS))
_WORDED = ("svg", "g", "text", "tspan")  # a shape may not have a font
_OF_WORDS = ("font", "letter", "text", "paint-order")
_COMMA = re.compile(r",\s*(?![^()]*\))")  # between selectors, not inside brackets
_STATE = re.compile(r":(hover|focus|target|before|after)|data-md")
_COMBINATOR = re.compile(r"[\s>+~]+(?![^()\[\]]*[)\]])")  # between elements, not inside brackets
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\]]*\]")  # what is asked in them is not always a class
_CLASS, _TAG = re.compile(r"\.[\w-]+"), re.compile(r"[a-z][\w-]*")
_DEEPEST = 8  # variables inside of variables; more is a circle
_VARIABLE = re.compile(r"var\(\s*(--[\w-]+)\s*\)")


class PaintRule(NamedTuple):
    """A selector with its weight, and what it says about paint."""

    weight: tuple[int, int]
    selector: str
    paint: dict[str, str]


def rules(sheet: str) -> list[PaintRule]:
    """The rules of a style sheet that paint, the weakest first, in colours of the light scheme."""
    variables = dict(THEME)
    declared: list[tuple[str, dict[str, str]]] = []
    for node in tinycss2.parse_stylesheet(sheet, skip_comments=True, skip_whitespace=True):
        if node.type != "qualified-rule":
            continue
        selectors = tinycss2.serialize(node.prelude).strip()
        declarations = _declarations(node.content)
        if ":root" in selectors:
            variables |= {
                name: text for name, text in declarations.items() if name.startswith("--")
            }
        declared.append((selectors, declarations))
    painting: list[PaintRule] = []
    for selectors, declarations in declared:
        values = {
            name: _resolved(text, variables) for name, text in declarations.items() if name in PAINT
        }
        for selector in _COMMA.split(selectors):
            if values and not _STATE.search(selector):
                painting.append(PaintRule(_weight(selector), selector, values))
    return sorted(painting, key=lambda rule: rule.weight)


def _declarations(content: list[Node]) -> dict[str, str]:
    """Property -> its text."""
    return {
        node.name: tinycss2.serialize(node.value).strip()
        for node in tinycss2.parse_blocks_contents(content)
        if node.type == "declaration"
    }


def _resolved(text: str, variables: dict[str, str]) -> str:
    """A text with its variables, and theirs, written out."""
    for _ in range(_DEEPEST):
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


def paint(body: Tag, painting: Sequence[PaintRule]) -> None:
    """Write what the rules say into every picture below an element; classes are gone then."""
    if not body.select_one("svg"):
        return
    values: dict[int, dict[str, str]] = {}  # by the identity of an element: equal ones are many
    pictures = body.find_all("svg")
    by_mark = _by_mark(
        [part for picture in pictures for part in (picture, *picture.find_all(True))]
    )
    for rule in painting:
        for element in by_mark.get(_last_mark(rule.selector), ()):
            if element.css.match(rule.selector):
                values.setdefault(id(element), {}).update(rule.paint)
    for picture in pictures:
        for element in [picture, *picture.find_all(True)]:
            element.attrs.pop("class", None)
            _set(element, values.get(id(element), {}))
        for element in picture.select("[paint-order]"):
            _halo(element)


def _by_mark(elements: Sequence[Tag]) -> dict[str, list[Tag]]:
    """Elements by what a selector may ask of them: a class as `.name`, a tag as `name`, or ``.

    A chapter has thousands of elements and the sheet hundreds of rules; few of them meet.
    """
    marked: dict[str, list[Tag]] = {}
    for element in elements:
        classes = {f".{name}" for name in element.get_attribute_list("class") if name}
        for mark in ("", element.name, *classes):
            marked.setdefault(mark, []).append(element)
    return marked


def _last_mark(selector: str) -> str:
    """A class or a tag that every element of a selector has; `` where none is sure."""
    last = _COMBINATOR.split(selector)[-1]
    if match := _CLASS.search(_BRACKETS.sub("", last)):
        return match[0]
    return match[0] if (match := _TAG.match(last)) else ""


def _set(element: Tag, values: dict[str, str]) -> None:
    is_worded = element.name in _WORDED
    for name, text in values.items():
        if is_worded or not name.startswith(_OF_WORDS):
            element[name] = text


def _halo(element: Tag) -> None:
    """Words with a rim below them as two elements.

    A program that does not know `paint-order` would paint the rim above.
    """
    order = str(element.attrs.pop("paint-order"))
    if not order.startswith("stroke"):
        return
    rim = copy.copy(element)
    rim.attrs.pop("id", None)
    rim["aria-hidden"] = "true"
    element.insert_before(rim)
    for name in [name for name in element.attrs if name.startswith("stroke")]:
        del element[name]
