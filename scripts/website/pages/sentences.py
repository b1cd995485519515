"""Every sentence that the site writes by itself, on one page, for an editor to read.

The sentences are read from the source: text between quotes in the modules that write pages, notes
and messages, with `{}` where a value is put in. What forms say lies in `form_words.yaml` and is
listed too.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from flopbook.data.files import read_text
from scripts.website.markup import Html, Markdown, code_span, front_matter, page_text

PAGE = "contributing/sentences.md"
_ROOT = Path(__file__).resolve().parents[3]
# Rooms whose text readers meet on pages.
ROOMS = (
    "scripts/website/pages",
    "scripts/website/figures",
    "calculators/flopbook/evaluation",
    "calculators/flopbook/hardware",
    "calculators/flopbook/formulas",
    "calculators/flopbook/prediction",
    "calculators/flopbook/planning",
)
WORDS = "scripts/website/pages/form_words.yaml"
_FEWEST_WORDS = 4
_TAG = re.compile(r"<[a-z/!][^>]*(?:>|$)")  # or the beginning of one
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_PLACE = re.compile(r"\{[^}]*\}")
_WORD = re.compile(r"[A-Za-z]{2,}|\{[^}]*\}")
_CODE = re.compile(
    r"[\\^]|\(\?|==|\b(?:SELECT|import|def|font|stroke|fill)\b|[#.][\w-]+\s*\{|;\s*\}"
)


class Sentence(NamedTuple):
    """A template with the line on which it begins."""

    file: str
    line: int
    text: str


@functools.cache
def sentences() -> tuple[Sentence, ...]:
    """All templates in the order of files and lines."""
    return tuple(sentence for room in ROOMS for sentence in _of_room(_ROOT / room))


def _of_room(room: Path) -> Iterator[Sentence]:
    for path in sorted(room.rglob("*.py")):
        file = path.relative_to(_ROOT).as_posix()
        tree = ast.parse(read_text(path))
        skipped = _documentation(tree)
        for node in ast.walk(tree):
            text = "" if id(node) in skipped else _template(node)
            if not text:  # nearly every node
                continue
            shown = " ".join(_TAG.sub(" ", _LINK.sub(r"\1", text)).split())
            if is_sentence(shown):
                yield Sentence(file, getattr(node, "lineno", 1), shown)


def _documentation(tree: ast.AST) -> set[int]:
    """Docstrings and the pieces of f-strings, which count as a whole."""
    skipped = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(id(node.value))
        if isinstance(node, ast.JoinedStr):
            skipped.update(id(piece) for piece in ast.walk(node) if piece is not node)
    return skipped


def _template(node: ast.AST) -> str:
    """The text of a constant or an f-string, with `{}` for each value; empty for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        # a doubled brace of a format is one in the sentence
        return node.value.replace("{{", "{").replace("}}", "}")
    if isinstance(node, ast.JoinedStr):
        pieces = (
            _template(piece) if isinstance(piece, ast.Constant) else "{}" for piece in node.values
        )
        return "".join(pieces)
    return ""


def is_sentence(text: str) -> bool:
    """Whether a text is read by people: several words, and no program of any sort."""
    is_program = "{{" in text or _CODE.search(text) is not None or text.startswith("fb-")
    has_words = re.search(r"[A-Za-z]{2,}", _PLACE.sub("", text)) is not None
    return (
        has_words and len(_WORD.findall(text)) >= _FEWEST_WORDS and " " in text and not is_program
    )


def sentences_page() -> str:
    """All of them by file."""
    templates = sentences()
    blocks: list[Html] = [
        front_matter(
            "Sentences",
            "Every sentence template from which pages, notes and messages are made.",
        ),
        Markdown("# Sentences\n"),
        Markdown(
            "Pages are made from data, and so are their sentences. Here are the {} templates in "
            "one place, for an editor to read through, file by file from the first line to the "
            "last; {{}} marks where a value is put in. What the forms of the calculators say lies "
            "in one file of its own, {}, and what scripts say while a reader types is on [a page "
            "of its own](script-sentences.md).\n"
        ).format(f"{len(templates):,}", code_span(WORDS)),
    ]
    return page_text([*blocks, *by_file(templates)]) + "\n"


def by_file(templates: Sequence[Sentence]) -> Iterator[Html]:
    """Sentences as lists, one for each file in its order of lines, below the name of the file.

    Folders have headings: one for each file would fill the page with addresses.
    """
    files = dict.fromkeys(template.file for template in templates)
    for folder in dict.fromkeys(file.rpartition("/")[0] for file in files):
        yield Markdown("## {}\n").format(folder)
        for file in files:
            parent, _, name = file.rpartition("/")
            if parent == folder:
                yield Markdown("**{}**\n").format(name)
                yield from _listed(template for template in templates if template.file == file)


def _listed(templates: Iterable[Sentence]) -> Iterator[Html]:
    for template in sorted(templates, key=lambda template: template.line):
        yield Markdown("- {}").format(template.text)
    yield Html()
