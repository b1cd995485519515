"""Writes the content tree: prose with its numbers, generated pages, data files, assets.

Everything is computed before a file is written, and only files that changed are written, so that a
live preview rebuilds what an edit touched.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from pathlib import Path

from flopbook.data.library import entry_ids, load_entries, vendor_ids
from flopbook.errors import FlopbookError, Problem
from flopbook.export import tables
from flopbook.faces.javascript import module
from flopbook.formulas import formulas, get_formula, printed
from scripts.website import figures
from scripts.website.build import handbook, twins
from scripts.website.build.maths import MathsError, replace_maths
from scripts.website.pages import (
    accelerators,
    calculators,
    chapter,
    cheatsheet,
    data,
    entry,
    errata,
    explorer,
    explorer_data,
    feeds,
    form_values,
    forms,
    glossary,
    pitfalls,
    practicals,
    references,
    taught,
    terms,
    works,
)
from scripts.website.pages.prose import ProseError, render

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
API = "api/v1/"
EXPLAINED = ("handbook/", "calculators/")  # pages whose terms are linked to the glossary


def generate(notebooks: dict[str, str], *, preview: bool = False) -> dict[str, bytes]:
    """Content path -> bytes of every file of the content tree. Raises FlopbookError with all
    problems of the prose.

    A preview leaves the files of the export out: they take longer than all pages, and nobody reads
    them while editing.
    """
    load_entries()  # all of them are needed: at once is faster than one by one
    tree: dict[str, bytes] = {}
    problems: list[Problem] = []
    for path, text in _pages(problems, notebooks):
        try:
            text = terms.linked(text, path) if path.startswith(EXPLAINED) else text
            tree[path] = replace_maths(text).encode()
        except MathsError as error:
            problems.append(
                Problem(path, 1, 1, "maths", str(error), "LaTeX that converts", "mend the formula")
            )
    if problems:
        raise FlopbookError("\n".join(str(problem) for problem in problems))
    if not preview:
        tree |= {f"{API}{name}": content for name, content in tables.published()[0].items()}
    made = explorer_data.files() | works.files() | feeds.files()
    tree |= {name: text.encode() for name, text in made.items()}
    tree |= {name: text.encode() for name, text in figures.figure_sources().items()}
    tree |= {f"notebooks/{name}.ipynb": text.encode() for name, text in notebooks.items()}
    tree |= dict(_assets())
    return tree | {twins.INDEX: twins.listing(tree).encode()}


def _pages(problems: list[Problem], notebooks: dict[str, str]) -> Iterator[tuple[str, str]]:
    order = handbook.chapters()
    known = {name: practicals.practical_of(name, text) for name, text in notebooks.items()}
    for path in sorted(DOCS.rglob("*.md")):
        page = path.relative_to(DOCS).as_posix()
        names = {"form": _form, "chapters": functools.partial(chapter.listing, order, page)}
        source = path.read_text(encoding="utf-8")
        problems += practicals.name_problems(source, f"docs/{page}", known)
        try:
            text = render(source, page, f"docs/{page}", names)
        except ProseError as error:
            problems.append(error.problem)
            continue
        number = next((n for n, one in enumerate(order, 1) if one.page == page), 0)
        yield page, _framed(text, order, number, known) if number else text
    yield practicals.PAGE, practicals.practicals_page(list(known.values()), order)
    yield accelerators.INDEX, explorer.index_page()
    for name in vendor_ids():
        yield f"accelerators/{name}/index.md", accelerators.vendor_page(name)
    for name in entry_ids():
        yield accelerators.entry_page(name), entry.entry_markdown(name)
    yield calculators.INDEX, calculators.index_page()
    for name in formulas():
        yield (
            calculators.calculator_page(name),
            calculators.calculator_markdown(name, name in notebooks),
        )
    yield from references.pages().items()
    yield errata.PAGE, errata.errata_page()
    yield errata.HELD, errata.claims_page()
    yield pitfalls.PAGE, pitfalls.pitfalls_page()
    yield data.PAGE, data.data_page()
    yield data.MODELS, data.models_page()
    yield terms.PAGE, glossary.glossary_page()
    yield cheatsheet.PAGE, cheatsheet.sheet_page()


def _framed(
    text: str, order: list[chapter.Chapter], number: int, known: dict[str, practicals.Practical]
) -> str:
    one = order[number - 1]
    said = taught.with_statements(text, one.page)
    return chapter.framed(said, one, number, len(order), practicals.closing(one, known))


def _form(name: str) -> str:
    return forms.form_markup(get_formula(name))


def _assets() -> Iterator[tuple[str, bytes]]:
    for path in sorted((DOCS / "assets").rglob("*")):
        if path.is_file():
            yield path.relative_to(DOCS).as_posix(), path.read_bytes()
    for formula in printed().values():
        yield f"assets/flopbook/formulas/{formula.id}.js", module([formula]).encode()
    yield glossary.TIPS, glossary.tips().encode()
    record = {**form_values.picker_record(), **form_values.units_record()}
    parts = {"chips": record.pop("chips"), "models": record.pop("models"), "data": record}
    for name, part in parts.items():  # a page asks only for what its form takes
        yield (
            f"assets/flopbook/{name}.json",
            json.dumps(part, ensure_ascii=False, separators=(",", ":")).encode(),
        )


def write(tree: dict[str, bytes], folder: Path, *, keep: str = "") -> int:
    """Make a folder hold exactly this tree; unchanged files keep their times. Returns how many
    files changed.

    Files whose name begins with `keep` stay as they are when the tree has none of that name.
    """
    changed = 0
    for name, content in tree.items():
        path = folder / name
        if path.is_file() and path.read_bytes() == content:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        changed += 1
    for path in sorted(folder.rglob("*"), reverse=True):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name not in tree and not (keep and name.startswith(keep)):
            path.unlink()
            changed += 1
        elif path.is_dir() and not any(path.iterdir()):
            path.rmdir()
    return changed
