"""Writes the content tree: prose with its numbers, generated pages, data files, assets.

Everything is computed before a file is written, and only files that changed are written, so that a
live preview rebuilds what an edit touched.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from flopbook.checks.rules.symbols import symbol_problems
from flopbook.data.files import read_bytes, read_text, write_made
from flopbook.data.library import entry_ids, load_entries, vendor_ids
from flopbook.errors import FlopbookError, Problem
from flopbook.export import tables
from flopbook.faces.javascript import module
from flopbook.formulas import formulas, get_formula, printed
from scripts.website import figures
from scripts.website.build import handbook, heads, twins
from scripts.website.build.maths import MathsError, replace_maths
from scripts.website.build.typesetting import typeset_page
from scripts.website.markup import Html, trusted
from scripts.website.pages import (
    about,
    accelerators,
    calculators,
    changes,
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
    home,
    number_check,
    packing,
    pairs,
    pitfalls,
    planner,
    planner_data,
    practicals,
    references,
    script_sentences,
    sentences,
    serving_planner,
    symbols,
    taught,
    terms,
    vendors,
    works,
)
from scripts.website.pages.exercise_inputs import unprinted_inputs
from scripts.website.pages.prose import ProseError, render, things_of

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
API = "api/v1/"
EXPLAINED = ("handbook/", "calculators/")  # pages whose terms are linked to the glossary


def generate(notebooks: dict[str, str], *, preview: bool = False) -> dict[str, bytes]:
    """Content path -> bytes of every file of the content tree.

    A preview leaves the files of the export out: they take longer than all pages, and nobody reads
    them while editing. Raises FlopbookError with all problems of the prose.
    """
    load_entries()  # all of them are needed: at once is faster than one by one
    texts = _finished_pages(notebooks)
    texts |= (
        explorer_data.files()
        | works.files()
        | feeds.files()
        | number_check.files()
        | planner_data.files()
        | figures.figure_sources()
        | figures.figure_files(texts.values())
    )
    texts |= {f"notebooks/{name}.ipynb": notebook for name, notebook in notebooks.items()}
    tree = {name: text.encode() for name, text in texts.items()} | dict(_assets())
    tree |= heads.card_files(texts)
    if not preview:
        tree |= {f"{API}{name}": content for name, content in tables.published()[0].items()}
    return tree | {twins.INDEX: twins.listing(tree).encode()}


def _finished_pages(notebooks: dict[str, str]) -> dict[str, str]:
    """Content path -> Markdown of every page, with terms linked and formulas as MathML."""
    problems: list[Problem] = []
    finished: dict[str, str] = {}
    pages_at: dict[str, str] = {}
    for path, text in _pages(problems, notebooks):
        address = path.removesuffix(".md").removesuffix("/index")
        if (other := pages_at.setdefault(address, path)) != path or path in finished:
            found = f"the address of {other}"
            hint = "give the product, vendor, topic or page another name"
            problems.append(Problem(path, 1, 1, "address", found, "an address of its own", hint))
        try:
            linked = terms.linked(text, path) if path.startswith(EXPLAINED) else text
            finished[path] = typeset_page(replace_maths(linked))
        except MathsError as error:
            hint = "mend the formula"
            problems.append(
                Problem(path, 1, 1, "maths", str(error), "LaTeX that converts", hint),
            )
    if problems:
        raise FlopbookError("\n".join(map(str, problems)))
    return finished


def _pages(problems: list[Problem], notebooks: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Content path and Markdown of every page but notebooks; problems of the prose are added."""
    order = handbook.chapters()
    recorded = {name: practicals.practical_of(name, text) for name, text in notebooks.items()}
    yield from _prose(problems, order, recorded)
    yield practicals.PAGE, practicals.practicals_page(list(recorded.values()), order)
    yield accelerators.INDEX, explorer.index_page()
    yield explorer.TRENDS, explorer.trends_page()
    for vendor in vendor_ids():
        yield f"accelerators/{vendor}/index.md", vendors.vendor_page(vendor)
    for name in entry_ids():
        yield accelerators.entry_page(name), entry.entry_markdown(name)
    yield from pairs.pages().items()
    yield calculators.INDEX, calculators.index_page()
    for name in formulas():
        page = calculators.calculator_markdown(name, name in notebooks)
        yield calculators.calculator_page(name), page
    yield from references.pages().items()
    yield from errata.errata_pages()
    yield errata.PITFALLS, pitfalls.pitfalls_page()
    yield about.PAGE, about.about_page()
    yield changes.PAGE, changes.changes_page()
    yield sentences.PAGE, sentences.sentences_page()
    yield script_sentences.PAGE, script_sentences.script_sentences_page()
    yield data.PAGE, data.data_page()
    yield data.MODELS, data.models_page()
    yield terms.PAGE, glossary.glossary_page()
    yield number_check.PAGE, number_check.page()
    yield planner.PAGE, planner.page()
    yield serving_planner.PAGE, serving_planner.page()
    yield cheatsheet.PAGE, cheatsheet.sheet_page()


def _prose(
    problems: list[Problem],
    order: list[chapter.Chapter],
    known: Mapping[str, practicals.Practical],
) -> Iterator[tuple[str, str]]:
    """The pages of docs/, rendered; chapters with what is before and after their text."""
    numbers = {item.page: number for number, item in enumerate(order, 1)}
    for path in sorted(DOCS.rglob("*.md")):
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


def _assets() -> Iterator[tuple[str, bytes]]:
    """Files as they are in docs/assets, then the programs and records that forms ask for."""
    for path in sorted((DOCS / "assets").rglob("*")):
        if path.is_symlink() or not path.is_dir():
            yield path.relative_to(DOCS).as_posix(), read_bytes(path)
    for formula in printed().values():
        yield f"assets/flopbook/formulas/{formula.id}.js", module([formula]).encode()
    yield glossary.TIPS, glossary.tips().encode()
    record = form_values.picker_record()
    for formula in formulas().values():
        if lent := form_values.lent_record(formula, record):
            first, further = packing.parted(lent, formula.examples[0])
            yield f"assets/flopbook/values/{formula.id}.json", _compact(first)
            yield f"assets/flopbook/values/{formula.id}-rest.json", _compact(further)
    common = {name: record[name] for name in form_values.COMMON}
    yield "assets/flopbook/data.json", _compact(common | form_values.units_record())


def _compact(content: object) -> bytes:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


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
