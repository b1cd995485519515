"""What a page says of itself to those who share it and to programs: picture, records, feeds.

The records are those of schema.org. Pictures are made for chips, chapters, calculators and
comparisons; every other page has that of the site.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from flopbook.checks.rules.pageheads import read_head, split_page
from flopbook.data.library import find_id, glossary, load_entry, load_model
from flopbook.evaluation.calculator import calculate
from flopbook.export.changes_feed import FILE as CHANGES
from flopbook.formulas import get_formula
from flopbook.quantities.units import format_quantity
from scripts.website.build.cards import CardNumber, SharingCard, card_file, picture
from scripts.website.build.handbook import chapters
from scripts.website.markup import Html, plain, script_json
from scripts.website.pages import pairs
from scripts.website.pages.accelerators import entry_page
from scripts.website.pages.explorer import START
from scripts.website.pages.feeds import feed_file
from scripts.website.pages.keyfigures import figures
from scripts.website.pages.products import rows_by_id
from scripts.website.pages.quantities import peak_id, value_of

ROOT = Path(__file__).resolve().parents[3]
KEPT = ROOT / "build" / "cards"  # pictures of earlier builds
HOME = "index.md"
SITE_CARD = card_file(HOME)
LICENCE = "https://creativecommons.org/licenses/by/4.0/"
_DATA_PAGES = ("data.md", "models.md", "accelerators/index.md", "reached.md", "claims.md")
_PRODUCT_PAGE = re.compile(r"accelerators/[^/]+/(?!index\.md)[^/]+\.md")
# What the data page offers, by the type that machines know.
_FORMS = {
    "api/v1/flopbook.sqlite": "application/vnd.sqlite3",
    "api/v1/accelerators.json": "application/json",
    "api/v1/models.json": "application/json",
    "api/v1/references.json": "application/json",
    "api/v1/claims.json": "application/json",
}
_RAMPS = {"fb-flop": "flop", "fb-byte": "byte"}
# What is asked like a calculator, though no formula is behind the page.
_ASKED_PAGES = ("planner.md", "serve.md", "check.md")
_FEED_PAGES = (HOME, "data.md", "errata.md", "references/index.md")


class PageHead(NamedTuple):
    """What is put into the head of a page: the picture, a record as JSON, feeds with titles."""

    card: str
    record: Html
    feeds: tuple[tuple[str, str], ...]


def head_of(page: str, title: str, description: str, kept: Path) -> PageHead:
    """The head of a page of the content tree, which lies in the folder `kept`."""
    own = card_file(page)
    card = own if (kept / own).is_file() else SITE_CARD
    record = _record(page, title, description)
    feeds = [(path, name) for path, name in _feeds(page) if (kept / path).is_file()]
    written = script_json(json.dumps(record, ensure_ascii=False)) if record else Html()
    return PageHead(card, written, tuple(feeds))


def _feeds(page: str) -> Iterator[tuple[str, str]]:
    if page in _FEED_PAGES:
        yield feed_file(), "flopbook: works"
        yield f"api/v1/{CHANGES}", "flopbook: changes of the data"


# Records.


def _record(page: str, title: str, description: str) -> dict[str, Any]:
    """The record of a page; empty for one that is only a way to others."""
    if page in _DATA_PAGES or _PRODUCT_PAGE.fullmatch(page):
        return _dataset(page, title, description)
    if page == "glossary.md":
        return _terms(title, description)
    if page.startswith(("handbook/", "calculators/")):
        record = {"@type": "TechArticle", "headline": title, "description": description}
        return _of_schema(record)
    return {}


def _dataset(page: str, title: str, description: str) -> dict[str, Any]:
    record: dict[str, Any] = {
        "@type": "Dataset",
        "name": f"flopbook: {title}",
        "description": description if len(description) >= 50 else f"{title}. {description}",
        "isAccessibleForFree": True,
        "creator": {"@type": "Organization", "name": "The flopbook contributors"},
    }
    if page == "data.md":
        record["distribution"] = [
            {"@type": "DataDownload", "contentUrl": f"../{path}", "encodingFormat": kind}
            for path, kind in _FORMS.items()
        ]
    return _of_schema(record)


def _terms(title: str, description: str) -> dict[str, Any]:
    """The glossary as a set of terms, each with its anchor."""
    terms = [
        {
            "@type": "DefinedTerm",
            "@id": f"#{term.id}",
            "name": term.term,
            "description": term.meaning,
        }
        for term in glossary()
    ]
    record = {
        "@type": "DefinedTermSet",
        "name": title,
        "description": description,
        "hasDefinedTerm": terms,
    }
    return _of_schema(record)


def _of_schema(record: dict[str, Any]) -> dict[str, Any]:
    return {"@context": "https://schema.org", **record, "license": LICENCE}


# Pictures.


def card_files(texts: Mapping[str, str], kept: Path | None = KEPT) -> dict[str, bytes]:
    """Content path -> PNG: the picture of the site, and of every page that has one of its own."""
    cards = dict(_cards(texts))
    return {card_file(page): picture(card, kept) for page, card in cards.items()}


def _cards(texts: Mapping[str, str]) -> Iterator[tuple[str, SharingCard]]:
    numbers = dict(enumerate((chapter.page for chapter in chapters()), 1))
    numbered = {page: f"Chapter {number}" for number, page in numbers.items()}
    products = {entry_page(name): name for name in rows_by_id()}
    compared = {pair.page: pair for pair in pairs.all_pairs()}
    for page, text in texts.items():
        if page == HOME:
            yield page, _card("Parallelism and hardware", text, ())
        elif page in numbered:
            yield page, _card(numbered[page], text, ())
        elif page in products:
            yield page, _card("Chip", text, _of_chip(products[page]), _without_name(page, products))
        elif page in compared:
            yield page, _card("Comparison", text, _of_pair(compared[page]))
        elif page.startswith("calculators/") and page != "calculators/index.md":
            yield page, _card("Calculator", text, _of_calculator(page))
        elif page in _ASKED_PAGES:
            yield page, _card("Calculator", text, ())


def _card(kind: str, text: str, numbers: tuple[CardNumber, ...], words: str = "") -> SharingCard:
    head = _head(text)
    return SharingCard(kind, head.get("title", ""), words or head.get("description", ""), numbers)


def _head(text: str) -> dict[str, str]:
    """Title and description of a page, as its front matter has them."""
    return {key: plain(str(value)) for key, value in head_and_body(text)[0].items()}


def head_and_body(text: str) -> tuple[dict[str, Any], str]:
    """What the head of a page says, and the page below it. Raises DataError."""
    head, body = split_page(text)
    node = read_head(head, "a page")
    return (node.plain() if node else {}), body


def _without_name(page: str, products: Mapping[str, str]) -> str:
    """What a product is, without its name, which is the title."""
    return load_entry(products[page]).summary


def _of_chip(name: str) -> tuple[CardNumber, ...]:
    """The key figures that are numbers, with a name short enough to stand below them."""
    found = (
        CardNumber(figure.label, figure.words, _RAMPS.get(figure.kind, "ink"))
        for figure in figures(rows_by_id()[name])
        if figure.words[:1].isdigit() and figure.label != "Year"
    )
    short = {"Memory bandwidth": "Bandwidth", "Link to other chips": "Link, one way"}
    return tuple(one._replace(label=short.get(one.label, one.label)) for one in found)


def _of_pair(pair: pairs.Pair) -> tuple[CardNumber, ...]:
    """Dense bf16 and bandwidth of both."""
    shown = ((peak_id(*START), "flop"), ("memory_bandwidth", "byte"))
    units = {peak_id(*START): "FLOP/s", "memory_bandwidth": "byte/s"}
    numbers: list[CardNumber] = []
    for quantity, ramp in shown:
        values = [value_of(row.cells, quantity) for row in pair]
        highest = max((value for value in values if value is not None), default=0.0)
        numbers += [
            CardNumber(short, format_quantity(value, units[quantity]), ramp, value / highest)
            for value, short in zip(values, pair.shorts, strict=True)
            if value is not None
        ]
    return tuple(numbers)


def _of_calculator(page: str) -> tuple[CardNumber, ...]:
    """The first number of its first example."""
    formula = get_formula(Path(page).stem)
    options = {name.replace("-", "_"): value for name, value in formula.examples[0].items()}
    result = calculate(formula.id, **options)
    for name, output in formula.outputs.items():
        value = result[name]
        if isinstance(value, float) and not output.choices:
            words = format_quantity(value, output.unit)
            meaning = re.split("[,:;]", output.meaning)[0]
            label = f"{meaning}: {_asked(formula.examples[0])}"
            ramp = "byte" if output.unit.startswith("byte") else "flop"
            shown = textwrap.shorten(label, 78, placeholder=" ...")
            return (CardNumber(shown, words, ramp),)
    return ()


def _asked(example: Mapping[str, str]) -> str:
    """What an example asks for, in words: "Llama 3 70B, 64 x NVIDIA H100 SXM5 80GB, zero 3"."""
    names: dict[str, Callable[[str], str]] = {
        "model": lambda name: load_model(name).name,
        "chip": lambda name: load_entry(find_id(name)).name,
    }
    said = [find(example[key]) for key, find in names.items() if key in example]
    if "chip" in example and "chips" in example:
        said[-1] = f"{int(example['chips']):,} × {said[-1]}"
    rest = [
        key for key in example if key not in names and not (key == "chips" and "chip" in example)
    ]
    return ", ".join([*said, *(f"{key.replace('-', ' ')} {example[key]}" for key in rest)])
