"""Links terms in the text of a page to the glossary: the first time that each of them stands there.

Works on Markdown before formulas are converted. Headings, code, formulas, links, tags, forms,
pictures, heads of tables and the lines that begin an exercise or an answer stay as they are;
without its links the text is unchanged.
"""

from __future__ import annotations

import functools
import re

from flopbook.data.glossary import Term
from flopbook.data.library import glossary
from flopbook.drawing.markup import escape
from flopbook.evaluation.terms import term_of
from flopbook.formulas.declaration import Input, Output
from scripts.website.pages.sources import html_link

PAGE = "glossary.md"
# The same words begin every link, so that they weigh next to nothing when the page is packed.
_OPEN = '<a class="fb-term" title="Glossary" href="{}#{}">'
_WHOLE = "a|button|caption|code|form|h[1-6]|math|noscript|pre|script|style|summary|svg|table"
_SKIPPED = re.compile(
    r"\A---\n.*?^---$"  # the head of the page
    r"|^(?P<fence>```+|~~~+).*?^(?P=fence)[^\n]*$|(?<!`)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)"
    r"|<!--.*?-->|\$\$.+?\$\$|(?<![\\$\w])\$[^\s$](?:[^$\n]*[^\s$])?\$(?![\w$])"
    rf"|<(?P<tag>{_WHOLE})\b.*?</(?P=tag)>"
    r'|<(?P<own>div|span|strong|p) [^>]*(?:class="fb-(?:calculator|badge|exercise|note)|role="tooltip").*?</(?P=own)>'
    r"|<[a-zA-Z/!][^>]*>"
    r"|^#{1,6} [^\n]*$|^ *(?:\?{3}\+?|!{3}) [^\n]*$|^\|[^\n]*\n(?=\|[ :|-]+$)"  # headings, boxes, heads of tables
    r"|!?\[[^\]\n]*(?:\n[^\]\n]+)?\]\([^)]*\)|^\[[^\]\n]+\]: [^\n]*$|\{:?[ \t]*[.#][^}\n]*\}|https?://[^\s)]+",
    re.DOTALL | re.MULTILINE,
)


def linked(text: str, page: str) -> str:
    """A page of Markdown with the first mention of each term as a link; `page` is its content path."""
    seen: set[str] = set()
    home = html_link(page, PAGE)

    def one(match: re.Match[str]) -> str:
        term = _by_name()[_key(match[0])]
        if term.id in seen:
            return match[0]
        seen.add(term.id)
        return f"{_OPEN.format(home, term.id)}{match[0]}</a>"

    parts, at = [], 0
    for skip in _SKIPPED.finditer(text):
        parts += [_pattern().sub(one, text[at : skip.start()]), skip[0]]
        at = skip.end()
    return "".join([*parts, _pattern().sub(one, text[at:])])


def term_link(name: str, spec: Input | Output, page: str) -> str:
    """The name of an input or output as code, linked to what it means where the glossary has it."""
    term = term_of(name, spec)
    code = f"<code>{escape(name)}</code>"
    return f"{_OPEN.format(html_link(page, PAGE), term.id)}{code}</a>" if term else code


@functools.cache
def _by_name() -> dict[str, Term]:
    """Term by every spelling that is marked."""
    found: dict[str, Term] = {}
    for term in glossary():
        for name in term.mark:
            for written in {name, _capital(name)}:
                found |= {_key(form): term for form in (written, *_plurals(written))}
    return found


@functools.cache
def _pattern() -> re.Pattern[str]:
    """All spellings, the longest first, as whole words; a line may end between two words."""
    spelled = sorted(_by_name(), key=len, reverse=True)
    words = "|".join(re.escape(name).replace(r"\ ", r"(?:[ ]|\n[ ]*)") for name in spelled)
    return re.compile(rf"(?<![\w$/.&#;\\-])(?:{words})(?![\w/$-]|\.\w)")


def _capital(name: str) -> str:
    """A name as it begins a sentence; one with capitals of its own stays."""
    return name[0].upper() + name[1:] if name == name.lower() else name


def _plurals(name: str) -> tuple[str, ...]:
    """The plurals that need no mention."""
    return (f"{name[:-1]}ies",) if re.search("[^aeiou]y$", name) else (f"{name}s", f"{name}es")


def _key(text: str) -> str:
    return " ".join(text.split())
