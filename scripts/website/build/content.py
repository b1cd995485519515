"""Writes the content tree: prose with its numbers, generated pages, data files, assets.

Everything is computed before a file is written, and only files that changed are written, so that a
live preview rebuilds what an edit touched.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from flopbook.checks.rules.symbols import symbol_problems
from flopbook.data.files import read_text, write_made
from flopbook.data.library import load_entries
from flopbook.errors import FlopbookError, Problem
from flopbook.formulas import get_formula
from scripts.website import figures
from scripts.website.build import handbook, heads, twins
from scripts.website.build.beside import halved
from scripts.website.build.generated import DOCS, GeneratedPart, finished, from_data
from scripts.website.markup import Html, trusted
from scripts.website.pages import (
    chapter,
    explorer_data,
    feeds,
    forms,
    home,
    number_check,
    planner_data,
    practicals,
    symbols,
    taught,
    works,
)
from scripts.website.pages.exercise_inputs import unprinted_inputs
from scripts.website.pages.prose import ProseError, render, things_of


class ProsePart(NamedTuple):
    """Some pages of prose: content path and Markdown of each, and the files of their pictures.

    `problems` has what is wrong with the pages.
    """

    pages: dict[str, str]
    files: dict[str, str]
    problems: list[Problem]


def generate(
    notebooks: dict[str, str],
    part: GeneratedPart | None = None,
    *,
    preview: bool = False,
    is_alone: bool = True,
) -> dict[str, bytes]:
    """Content path -> bytes of every file of the content tree.

    `part` is what the data alone decides, where it was made beforehand. A preview leaves the files
    of the export out: they take longer than all pages, and nobody reads them while editing. Half of
    the prose is made on the second core, unless this is to work alone. Raises FlopbookError with
    all problems of the prose.
    """
    load_entries()
    part = part or from_data(notebooks, preview=preview)
    prose = _prose_part(notebooks, is_alone=is_alone)
    texts = _together([*prose.pages.items(), *part.pages], [*prose.problems, *part.problems])
    texts |= (
        explorer_data.files()
        | works.files()
        | feeds.files()
        | number_check.files()
        | planner_data.files()
        | figures.figure_sources()
        | figures.figure_files(text for _, text in part.pages)
        | prose.files
    )
    texts |= {f"notebooks/{name}.ipynb": notebook for name, notebook in notebooks.items()}
    tree = {name: text.encode() for name, text in texts.items()} | part.files
    tree |= heads.card_files(texts)
    return tree | {twins.INDEX: twins.listing(tree).encode()}


def _prose_part(notebooks: Mapping[str, str], *, is_alone: bool) -> ProsePart:
    """All prose, by path, and then the practicals; each of two processes makes half of it."""
    order = handbook.chapters()
    recorded = {name: practicals.practical_of(name, text) for name, text in notebooks.items()}
    largest_first = sorted(_prose_files(), key=lambda path: -path.stat().st_size)
    make = functools.partial(_share, order, recorded)
    halves = halved(largest_first, make, is_alone=is_alone)
    pages = {path: text for half in halves for path, text in half.pages.items()}
    listed = (practicals.PAGE, practicals.practicals_page(list(recorded.values()), order))
    closing, faults = finished([listed])
    return ProsePart(
        dict(sorted(pages.items())) | dict(closing),
        halves[0].files | halves[1].files,
        [*sorted(halves[0].problems + halves[1].problems), *faults],
    )


def _share(
    order: list[chapter.Chapter],
    known: Mapping[str, practicals.Practical],
    paths: Sequence[Path],
) -> ProsePart:
    """Some pages of prose, as they are in the content tree."""
    problems: list[Problem] = []
    pages, faults = finished(_prose(problems, order, known, paths))
    files = figures.figure_files(text for _, text in pages)
    return ProsePart(dict(pages), files, [*problems, *faults])


def _together(pages: Iterable[tuple[str, str]], problems: list[Problem]) -> dict[str, str]:
    """Content path -> Markdown of all pages.

    Raises FlopbookError with all problems, and for an address that two pages would have.
    """
    texts: dict[str, str] = {}
    pages_at: dict[str, str] = {}
    for path, text in pages:
        address = path.removesuffix(".md").removesuffix("/index")
        if other := pages_at.get(address):
            found = f"the address of {other}"
            hint = "give the product, vendor, topic or page another name"
            problems.append(Problem(path, 1, 1, "address", found, "an address of its own", hint))
        pages_at[address] = path
        texts[path] = text
    if problems:
        raise FlopbookError("\n".join(map(str, problems)))
    return texts


def _prose_files() -> list[Path]:
    return sorted(DOCS.rglob("*.md"))


def _prose(
    problems: list[Problem],
    order: list[chapter.Chapter],
    known: Mapping[str, practicals.Practical],
    paths: Sequence[Path] | None = None,
) -> Iterator[tuple[str, str]]:
    """Pages of docs/, rendered; chapters with what is before and after their text.

    Problems are added to those given. Without `paths` all pages are made, by path.
    """
    numbers = {item.page: number for number, item in enumerate(order, 1)}
    for path in _prose_files() if paths is None else paths:
        page = path.relative_to(DOCS).as_posix()
        source = read_text(path)
        names = {
            "form": _form,
            "chapters": functools.partial(_chapters, order, source, page),
            "home": home.part,
        }
        problems += practicals.name_problems(source, f"docs/{page}", known)
        try:
            text = render(source, page, f"docs/{page}", names)
        except ProseError as error:
            problems.append(error.problem)
            continue
        if page in numbers:
            problems += symbol_problems(source, f"docs/{page}")
            problems += unprinted_inputs(source, text, f"docs/{page}", things_of(page))
            text = symbols.with_symbols(text, source)
            text = _framed(text, order, numbers[page], known)
        yield page, text


def _framed(
    text: str,
    order: list[chapter.Chapter],
    number: int,
    known: Mapping[str, practicals.Practical],
) -> str:
    """A chapter with its head, its statements and its practicals."""
    item = order[number - 1]
    closing = practicals.closing(item, known)
    appendix = taught.statements_box(text, item.page)
    return chapter.framed(text, item, number, len(order), closing, appendix)


def _chapters(order: list[chapter.Chapter], source: str, page: str) -> Html:
    parts = chapter.parts_of(source, page)
    return trusted(chapter.listing(order, parts, page))


def _form(name: str) -> Html:
    return forms.form_markup(get_formula(name), waits=True)


def write(tree: dict[str, bytes], folder: Path, *, keep: str = "") -> int:
    """Make a folder hold exactly this tree; returns how many files changed.

    Unchanged files keep their times. Files whose name begins with `keep` stay as they are when the
    tree has none of that name.
    """
    changed = 0
    for name, content in tree.items():
        path = folder / name
        if path.is_file() and path.read_bytes() == content:
            continue
        write_made(path, content)
        changed += 1
    return changed + _remove_others(tree, folder, keep)


def _remove_others(tree: dict[str, bytes], folder: Path, keep: str) -> int:
    """Remove files that the tree does not have, and folders that are empty then."""
    removed = 0
    # In reverse order the files of a folder come before the folder.
    for path in sorted(folder.rglob("*"), reverse=True):
        name = path.relative_to(folder).as_posix()
        is_kept = name in tree or (keep and name.startswith(keep))
        if path.is_file() and not is_kept:
            path.unlink()
            removed += 1
        elif path.is_dir() and not any(path.iterdir()):
            path.rmdir()
    return removed
