"""Every sentence that the scripts of the site say, on one page, for an editor to read.

They are read from the scripts of docs/assets/flopbook: text between quotes, with `{}` where a value
is put in. Those of Python are on a page of their own.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path

from flopbook.data.files import read_text
from scripts.website.markup import Html, Markdown, front_matter, page_text
from scripts.website.pages.sentences import Sentence, by_file, is_sentence

PAGE = "contributing/script-sentences.md"
_ROOT = Path(__file__).resolve().parents[3]
_SCRIPTS = _ROOT / "docs" / "assets" / "flopbook"
_COMMENT = re.compile(r"^[ \t]*(?://|/?\*).*$|(?<=[;{},)])[ \t]*//.*$", re.M)
_TEXT = re.compile(r'"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\$]|\\.|\$(?!\{)|\$\{[^{}`]*\})*)`')
_VALUE = re.compile(r"\$\{[^{}]*\}")
# Selectors, classes and addresses are no sentences, however many words they have.
_PROGRAM = re.compile(
    r"^[.#:\[(}]|\bfb-|\bmd-| > |=>|[\w-]+=[\w\[{-]|^\w+\.\w+|/[\w.-]+/|--"
    r'|<\w|px\b|\bsvg\b|\+ "|\b(?:const|this\.)|\)\s*translate|^translate|^scale'
)


@functools.cache
def script_sentences() -> tuple[Sentence, ...]:
    """All of them in the order of files and lines."""
    return tuple(
        sentence for path in sorted(_SCRIPTS.rglob("*.js")) for sentence in _of_script(path)
    )


def _of_script(path: Path) -> Iterator[Sentence]:
    text = _COMMENT.sub("", read_text(path))
    for found in _TEXT.finditer(text):
        shown = " ".join(_VALUE.sub("{}", found[1] or found[2] or "").split())
        if is_sentence(shown) and not _PROGRAM.search(shown):
            line = text.count("\n", 0, found.start()) + 1
            yield Sentence(path.relative_to(_ROOT).as_posix(), line, shown)


def script_sentences_page() -> str:
    """All of them by file."""
    templates = script_sentences()
    blocks: list[Html] = [
        front_matter("Sentences of scripts", "Every sentence that the scripts of the site say."),
        Markdown("# Sentences of scripts\n"),
        Markdown(
            "What planners, the explorer and forms say while a reader types comes from scripts. "
            "Here are their {} templates, file by file; {{}} marks where a value is put in. "
            "[Sentences](sentences.md) has those from which pages are made.\n"
        ).format(f"{len(templates):,}"),
    ]
    return page_text([*blocks, *by_file(templates)]) + "\n"
