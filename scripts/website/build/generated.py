"""What the data alone decides of the content tree: generated pages, the export, files of forms."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from flopbook.data.files import read_bytes
from flopbook.data.library import entry_ids, load_entries, vendor_ids
from flopbook.errors import Problem
from flopbook.export import tables
from flopbook.formulas import formulas, printed
from scripts.website.build.maths import MathsError, replace_maths
from scripts.website.build.typesetting import typeset_page
from scripts.website.pages import (
    about,
    accelerators,
    calculators,
    changes,
    cheatsheet,
    data,
    entry,
    errata,
    explorer,
    form_values,
    forms,
    glossary,
    number_check,
    packing,
    pairs,
    pitfalls,
    planner,
    references,
    script_sentences,
    sentences,
    serving_planner,
    terms,
    vendors,
)

DOCS = Path(__file__).resolve().parents[3] / "docs"
API = "api/v1/"
EXPLAINED = ("handbook/", "calculators/")  # pages whose terms are linked to the glossary


class GeneratedPart(NamedTuple):
    """A part of the content tree: paths with the Markdown of pages, and other files by their path.

    `problems` has what is wrong with its pages.
    """

    pages: list[tuple[str, str]]
    files: dict[str, bytes]
    problems: list[Problem]


def from_data(notebooks: Collection[str], *, preview: bool = False) -> GeneratedPart:
    """Everything that neither prose nor notebooks decide; of the notebooks only names are known.

    A preview leaves the files of the export out.
    """
    load_entries()  # all of them are needed: at once is faster than one by one
    pages, problems = finished(_pages(notebooks))
    files = dict(_assets())
    if not preview:
        files |= {f"{API}{name}": content for name, content in tables.published()[0].items()}
    return GeneratedPart(pages, files, problems)


def finished(
    pages: Iterable[tuple[str, str]],
) -> tuple[list[tuple[str, str]], list[Problem]]:
    """Pages with terms linked and formulas as MathML, and what is wrong with formulas."""
    texts: list[tuple[str, str]] = []
    problems: list[Problem] = []
    for path, text in pages:
        try:
            linked = terms.linked(text, path) if path.startswith(EXPLAINED) else text
            texts.append((path, typeset_page(replace_maths(linked))))
        except MathsError as error:
            hint = "mend the formula"
            problems.append(
                Problem(path, 1, 1, "maths", str(error), "LaTeX that converts", hint),
            )
    return texts, problems


def _pages(notebooks: Collection[str]) -> Iterator[tuple[str, str]]:
    """Content path and Markdown of every page that is generated."""
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


def _assets() -> Iterator[tuple[str, bytes]]:
    """Files as they are in docs/assets, then the programs and records that forms ask for."""
    for path in sorted((DOCS / "assets").rglob("*")):
        if path.is_symlink() or not path.is_dir():
            yield path.relative_to(DOCS).as_posix(), read_bytes(path)
    for formula in printed().values():
        yield f"assets/flopbook/formulas/{formula.id}.js", forms.script(formula).encode()
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
