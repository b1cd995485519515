"""LaTeX in Markdown to MathML, so that the page needs no maths script.

`$$ ... $$` becomes a block, `$ ... $` inline maths; code, code blocks and attributes are left
alone.
"""

from __future__ import annotations

import functools
import hashlib
import html
import re
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert_to_element

from scripts.website.build.speech import spoken

# What must not be touched: the head of the page, fenced and inline code, HTML tags (their
# attributes may hold dollars), and prices: a number and a word, `$2 a chip`. A number and single
# letters are a formula, `$2 k D$`.
_SKIP = (
    r"(?P<skip>\A---\n.*?^---\n"
    r"|^(?P<fence>```+|~~~+).*?^(?P=fence)[^\n]*$|(?<!`)(?P<ticks>`+)(?!`)[^\n]+?(?<!`)(?P=ticks)(?!`)"
    r"|<(?P<tag>pre|code|script)\b.*?</(?P=tag)>|<[a-zA-Z/!][^>]*>|\$\d[\d,.]* (?:[a-z] )?[a-z]{2,}\b)"
)
_MATHS = re.compile(
    _SKIP
    + r"|\$\$(?P<block>.+?)\$\$|(?<![\\$\w])\$(?P<inline>[^\s$](?:[^$\n]*[^\s$])?)\$(?!(?!th\b)[\w$])",
    re.DOTALL | re.MULTILINE,
)
_SPECIAL = re.compile(r"[&<>\"*_`\\\[\]~^|#{}$]")


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
    """An element as HTML.

    Neither Markdown nor a browser may read marks inside formulas: they become entities.
    """
    attributes = "".join(f' {name}="{_entities(value)}"' for name, value in element.attrib.items())
    inner = _entities(element.text or "") + "".join(
        _written(child) + _entities(child.tail or "") for child in element
    )
    return f"<{element.tag}{attributes}>{inner}</{element.tag}>"


def _entities(text: str) -> str:
    return _SPECIAL.sub(lambda m: f"&#{ord(m[0])};", html.unescape(text))


def _inline(match: re.Match[str]) -> str:
    """A formula in a line.

    At the beginning of a line Markdown would take it for a block, so a span goes around it.
    """
    before = match.string[match.string.rfind("\n", 0, match.start()) + 1 : match.start()]
    made = mathml(match["inline"], "inline")
    return f"<span>{made}</span>" if len(before) <= 3 and not before.strip() else made


def anchor(latex: str) -> str:
    """The anchor of a formula: what stands left of its sign, and a mark of the whole of it.

    It does not depend on the formulas around it, so it holds when others are put before.
    """
    left = re.split(r"=|\\(?:approx|le|ge|propto|in)\b", latex)[0]
    words = re.findall(
        r"[A-Za-z0-9]+", re.sub(r"\\(?:text|mathrm|begin|left|right|frac)\b", " ", left)
    )[:4]
    mark = hashlib.sha256(" ".join(latex.split()).encode()).hexdigest()[:4]
    return "-".join(["eq", *(word.lower() for word in words), mark])


def replace_maths(markdown: str) -> str:
    """A page with its formulas as MathML. Raises MathsError."""
    seen: dict[str, int] = {}

    def one(match: re.Match[str]) -> str:
        if match["block"] is not None:
            name = anchor(match["block"])
            seen[name] = seen.get(name, 0) + 1
            name += f"-{seen[name]}" if seen[name] > 1 else ""
            return f'<div class="fb-maths" id="{name}">{mathml(match["block"], "block")}</div>'
        return _inline(match) if match["inline"] is not None else match[0]

    return _MATHS.sub(one, markdown)
