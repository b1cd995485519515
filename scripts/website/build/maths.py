"""LaTeX in Markdown to MathML, so that the page needs no maths script.

`$$ ... $$` becomes a block, `$ ... $` inline maths; code, code blocks and attributes are left
alone.
"""

from __future__ import annotations

import functools
import hashlib
import html
import re
from collections import Counter
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert_to_element

from flopbook.checks.rules.elements import FENCED
from scripts.website.build.speech import spoken

# What must not be touched: the head of the page, fenced and inline code, HTML tags (their
# attributes may hold dollars), and prices: a number and a word, `$2 a chip`. A number and single
# letters are a formula, `$2 k D$`.
_SKIP = (
    r"(?P<skip>\A---\n.*?^---\n|"
    + FENCED
    + r"|(?<!`)(?P<ticks>`+)(?!`)[^\n]+?(?<!`)(?P=ticks)(?!`)"
    r"|<(?P<tag>pre|code|script)\b.*?</(?P=tag)>"
    r"|<[a-zA-Z/!][^>]*>"
    r"|\$\d[\d,.]* (?:[a-z] )?[a-z]{2,}\b)"
)
# What ends code or begins a paragraph ends no formula, whatever stands before: lint reads it so.
_BLOCK = r"\$\$(?P<block>(?:(?!~~~|\n[ \t]*\n)[^`])+?)\$\$"
# A dollar before a word or after one is none of a formula, but `$n$th` is.
_INLINE = r"(?<![\\$\w])\$(?P<inline>[^\s$`](?:[^$\n`]*[^\s$`])?)\$(?!(?!th\b)[\w$])"
_MATHS = re.compile(f"{_SKIP}|{_BLOCK}|{_INLINE}", re.DOTALL | re.MULTILINE)
# Marks that Markdown or a browser would read.
_SPECIAL = re.compile(r"[&<>\"*_`\\\[\]~^|#{}$]")
_RELATION = re.compile(r"=|\\(?:approx|le|ge|propto|in)\b")
_FORMATTING = re.compile(r"\\(?:text|mathrm|begin|left|right|frac)\b")
# What `\href`, `\class` and `\style` give an element: a formula leads nowhere and looks like all.
_FOREIGN = ("href", "class", "style")
_ANCHOR_WORDS, _ANCHOR_DIGITS = 4, 4
_BLOCK_INDENT = 3  # Markdown takes a tag for a block after up to so many spaces


class MathsError(ValueError):
    """LaTeX that cannot be converted."""


@functools.cache
def mathml(latex: str, display: str) -> str:
    """One formula as MathML; in words for those who hear it, and with its LaTeX for copying.

    Raises MathsError.
    """
    try:
        root = convert_to_element(latex.strip(), display=display)
    except Exception as error:  # the converter has a dozen exception classes without a common base
        raise MathsError(f"LaTeX '{latex.strip()[:60]}': {type(error).__name__} {error}") from None
    root.set("alttext", spoken(root))
    root.set("data-latex", " ".join(latex.split()))
    return _written(root)


def _written(element: Element) -> str:
    """An element as HTML, its marks as entities: neither Markdown nor a browser may read them."""
    attributes = "".join(
        f' {name}="{_entities(text)}"'
        for name, text in element.attrib.items()
        if name not in _FOREIGN
    )
    inner = _entities(element.text or "")
    for child in element:
        inner += _written(child) + _entities(child.tail or "")
    return f"<{element.tag}{attributes}>{inner}</{element.tag}>"


def _entities(text: str) -> str:
    return _SPECIAL.sub(lambda mark: f"&#{ord(mark[0])};", html.unescape(text))


def _inline(match: re.Match[str]) -> str:
    """A formula in a line.

    At the beginning of a line Markdown would take it for a block, so a span goes around it.
    """
    line_start = match.string.rfind("\n", 0, match.start()) + 1
    before = match.string[line_start : match.start()]
    formula = mathml(match["inline"], "inline")
    opens_line = len(before) <= _BLOCK_INDENT and not before.strip()
    return f"<span>{formula}</span>" if opens_line else formula


def anchor(latex: str) -> str:
    """The anchor of a formula: what stands left of its sign, and a mark of the whole of it.

    It does not depend on the formulas around it, so it holds when others are put before.
    """
    before_sign = _FORMATTING.sub(" ", _RELATION.split(latex)[0])
    words = re.findall(r"[A-Za-z0-9]+", before_sign)[:_ANCHOR_WORDS]
    digest = hashlib.sha256(" ".join(latex.split()).encode()).hexdigest()[:_ANCHOR_DIGITS]
    return "-".join(["eq", *map(str.lower, words), digest])


def replace_maths(markdown: str) -> str:
    """A page with its formulas as MathML. Raises MathsError."""
    anchors: Counter[str] = Counter()

    def replaced(match: re.Match[str]) -> str:
        if match["inline"] is not None:
            return _inline(match)
        if match["block"] is None:
            return match[0]
        name = anchor(match["block"])
        anchors[name] += 1
        if anchors[name] > 1:
            name = f"{name}-{anchors[name]}"
        return f'<div class="fb-maths" id="{name}">{mathml(match["block"], "block")}</div>'

    return _MATHS.sub(replaced, markdown)
