"""Links terms in the text of a page to the glossary: the first time that each of them stands there.

Works on Markdown before formulas are converted. Headings, code, formulas, links, tags, forms,
pictures, heads of tables and the lines that begin an exercise or an answer stay as they are;
without its links the text is unchanged.
"""

from __future__ import annotations

import functools
import re

from flopbook.checks.rules.elements import FENCED
from flopbook.data.glossary import Term
from flopbook.data.library import glossary
from flopbook.evaluation.terms import term_of
from flopbook.formulas.declaration import Input, Output
from scripts.website.markup import Html, attribute, tag, trusted
from scripts.website.pages.sources import html_link

PAGE = "glossary.md"
# The same words begin every link, so that they weigh next to nothing when the page is packed.
_LINK = Html('<a class="fb-term" title="Glossary" href="{}#{}">{}</a>')
_CLOSED_TAGS = "a|button|caption|code|form|h[1-6]|math|noscript|pre|script|style|summary|svg|table"
_OWN_CLASSES = r'(?:class="fb-(?:calculator|badge|exercise|note)|role="tooltip")'
# Where no term is linked. The order matters: the first alternative that fits takes the text.
_SKIPPED = re.compile(
    "|".join(
        (
            r"\A---\n.*?^---$",  # the head of the page
            FENCED,
            r"(?<!`)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)",
            r"<!--.*?-->",
            r"\$\$.+?\$\$",
            r"(?<![\\$\w])\$[^\s$](?:[^$\n]*[^\s$])?\$(?![\w$])",
            rf"<(?P<tag>{_CLOSED_TAGS})\b.*?</(?P=tag)>",
            rf"<(?P<own>div|span|strong|p) [^>]*{_OWN_CLASSES}.*?</(?P=own)>",
            r"<[a-zA-Z/!][^>]*>",
            r"^#{1,6} [^\n]*$",  # headings
            r"^ *(?:\?{3}\+?|!{3}) [^\n]*$",  # titles of boxes
            r"^\|[^\n]*\n(?=\|[ :|-]+$)",  # heads of tables
            r"!?\[[^\]\n]*(?:\n[^\]\n]+)?\]\([^)]*\)",  # links and images
            r"^\[[^\]\n]+\]: [^\n]*$",  # addresses of links
            r"\{:?[ \t]*[.#][^}\n]*\}",  # attributes
            r"https?://[^\s)]+",
        )
    ),
    re.DOTALL | re.MULTILINE,
)


def linked(text: str, page: str) -> str:
    """Markdown with the first mention of each term as a link; `page` is its content path."""
    linked_ids: set[str] = set()
    home = html_link(page, PAGE)

    def first_mention(match: re.Match[str]) -> str:
        term = _by_name()[_key(match[0])]
        if term.id in linked_ids:
            return match[0]
        linked_ids.add(term.id)
        return str(_LINK.format(home, attribute(term.id), trusted(match[0])))

    pieces, start = [], 0
    for skipped in _SKIPPED.finditer(text):
        pieces += [_pattern().sub(first_mention, text[start : skipped.start()]), skipped[0]]
        start = skipped.end()
    return "".join([*pieces, _pattern().sub(first_mention, text[start:])])


def term_link(name: str, spec: Input | Output, page: str) -> Html:
    """The name of an input or output as code, linked to what it means where the glossary has it."""
    term = term_of(name, spec)
    code = tag("code", name)
    if term is None:
        return code
    return _LINK.format(html_link(page, PAGE), attribute(term.id), code)


@functools.cache
def _by_name() -> dict[str, Term]:
    """Term by every spelling that is marked."""
    by_name: dict[str, Term] = {}
    for term in glossary():
        spellings = {spelling for name in term.mark for spelling in (name, _capital(name))}
        for spelling in spellings:
            by_name |= {_key(form): term for form in (spelling, *_plurals(spelling))}
    return by_name


@functools.cache
def _pattern() -> re.Pattern[str]:
    """All spellings, the longest first, as whole words; a line may end between two words."""
    spelled = sorted(_by_name(), key=len, reverse=True)
    words = "|".join(re.escape(name).replace(r"\ ", r"(?:[ ]|\n[ ]*)") for name in spelled)
    return re.compile(rf"(?<![\w$/.&#;\\-])(?:{words})(?![\w/$-]|\.\w)")


def _capital(name: str) -> str:
    """A name as it begins a sentence; one with capitals of its own stays."""
    if name != name.lower():
        return name
    return name[0].upper() + name[1:]


def _plurals(name: str) -> tuple[str, ...]:
    """The plurals that need no mention."""
    if re.search("[^aeiou]y$", name):
        return (f"{name[:-1]}ies",)
    return f"{name}s", f"{name}es"


def _key(text: str) -> str:
    return " ".join(text.split())
