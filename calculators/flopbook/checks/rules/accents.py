"""What is written in LaTeX decodes: no command and no brace is left in the text that pages show.

Nor does a field tell TeX to do anything: readers put our BibTeX into papers of their own, where
`\\input` would read a file of theirs, in a formula as well.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any

from flopbook.checks.rules.base import Advice, Finding, Holdings, at_reference
from flopbook.data.bibtex_text import read_entry
from flopbook.data.reference import Reference
from flopbook.errors import shorten

NAME = "latex"
ADVICE = Advice("text that decodes, such as {\\'e} or é", "mend the accent or the command")
# Formulas stay as they are written, so what is in them is no remnant.
_MATHS = re.compile(r"(?<!\\)\$.*?(?<!\\)\$|\\\(.*?\\\)")
# A command, a brace, a loose accent, a character that could not be decoded, or UTF-8 that was read
# as Latin-1: "Ã©".
_REMNANT = re.compile(
    r"\\[A-Za-z]*|[{}]|[\u0300-\u036f]|\ufffd|(?<!\w)[`^~](?=\w)|\u00c3[\u0080-\u00bf]"
)


# Commands of TeX and its packages that read, write, define, or make a document; `^^` spells others.
_COMMANDS = re.compile(
    r"\\(?:input|include|includegraphics|import|subfile|verbatiminput|lstinputlisting"
    r"|write|immediate|openin|openout|closein|closeout|read|readline|newread|newwrite|special"
    r"|csname|endcsname|expandafter|noexpand|scantokens|catcode|lccode|uccode|def|edef|gdef|xdef"
    r"|let|futurelet|newcommand|renewcommand|providecommand|DeclareMathOperator|global|long|outer"
    r"|loop|repeat|directlua|latelua|luaexec|usepackage|RequirePackage|documentclass|begin|end"
    r"|bibliography|href|hyperref|url|htmlData|htmlClass|htmlId|htmlStyle|cssId|class|style"
    r"|unicode|require|today|title|author|date|maketitle|item|footnote|part|chapter|section"
    r"|subsection|subsubsection|paragraph|subparagraph|hspace|vspace|ref|autoref|cref|Cref|eqref"
    r"|cite|citet|citep|label)(?![A-Za-z])|\^\^"
)


def check(holdings: Holdings) -> Iterator[Finding]:
    """Text that still has LaTeX, a loose accent, or a letter decoded with the wrong table."""
    for reference in holdings.references.values():
        for field, remnant in (*_remnants(reference), *_unknown_commands(reference)):
            observed = f"{shorten(ascii(remnant), 20)} in {field} of {reference.key}"
            yield at_reference(NAME, reference, observed, ADVICE)


def _remnants(reference: Reference) -> Iterator[tuple[str, str]]:
    """Field and what is left of LaTeX in its decoded text."""
    texts = {name: getattr(reference, name) for name in ("title", "venue", "note", "annote")}
    texts["author"] = ", ".join(person.full for person in reference.people)
    for field, text in texts.items():
        if match := _REMNANT.search(_without_maths(text)):
            yield field, match[0]


def _unknown_commands(reference: Reference) -> Iterator[tuple[str, str]]:
    """Field and its first command that acts, or that the decoder would drop without a word."""
    entry = read_entry(reference.bibtex)
    texts = entry.texts if entry else {}
    for field, text in texts.items():
        if "\\" not in text and "^^" not in text:  # nearly all have no command
            continue
        if match := _COMMANDS.search(text):
            yield field, match[0]
            continue
        for match in re.finditer(r"\\([A-Za-z]+|.)", _without_maths(text)):
            if _macros().get_macro_spec(match[1]) is None:
                yield field, match[0]
                break


def _without_maths(text: str) -> str:
    return _MATHS.sub("", text) if "$" in text or "\\(" in text else text


@functools.cache
def _macros() -> Any:  # pylatexenc has no types
    from pylatexenc.latex2text import get_default_latex_context_db

    return get_default_latex_context_db()
