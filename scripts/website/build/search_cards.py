"""The cards of the search: what each page is called, what it is, and the words that find it.

They are made from the data and the sources of the pages, so that the search can be tried without a
built site. What a card does not hold is found in the full text, behind the cards.
"""

from __future__ import annotations

import functools
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from flopbook.data.files import read_text
from flopbook.data.library import (
    entry_ids,
    find_id,
    glossary,
    load_head,
    load_model,
    model_ids,
    references,
    vendor,
    vendor_ids,
)
from flopbook.data.reference import Reference
from flopbook.evaluation.request import option_names
from flopbook.formulas import formulas, get_formula
from scripts.website.build.search_names import chips, models
from scripts.website.build.search_parts import ordered_as, priced
from scripts.website.build.search_ranking import Index
from scripts.website.build.search_symptoms import symptoms
from scripts.website.build.search_text import atoms, options, stem, tokens_of
from scripts.website.markup import shorten
from scripts.website.pages.pair_names import PAIRS
from scripts.website.pages.sources import all_topics, topic_page

DOCS = Path(__file__).resolve().parents[3] / "docs"
_WORDS = Path(__file__).with_name("search_words.yaml")
_HEAD = re.compile(r"\A---\n(.*?)\n---\n", re.S)
_HEADING = re.compile(r"^#{2,3} (.+?)(?: \{#.*\})?$", re.M)
_CODE = re.compile(r"^```.*?^```", re.S | re.M)
_TERM = re.compile(r"(?<!\*)\*([a-z][\w -]{2,40})\*(?!\*)")
_OPTION = re.compile(
    r"(?<![\w-])(?:--[a-z][a-z0-9-]*[a-z0-9]|[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+)(?![\w-])"
)
_COMPUTED = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\$.*?\$", re.S)
_SPAN = re.compile(r"`[^`\n]+`")
_NOTEBOOKS = DOCS.parent / "calculators" / "notebooks"
_COMMENT = re.compile(r"^# ?", re.M)
_EXTRA = re.compile(r"^#     extra: (\w+)$", re.M)
NAME, KEYWORD, HEADING, TEXT, OPTION = 5.0, 4.0, 1.6, 1.0, 20.0
_PEOPLE = 8
_UNSHOWN = ("pages", "models", "introduced", "settings")  # words that the cards hold already
# Pages that answer a name, though they are no calculators.
_TAKERS = {"model": ("reached/",), "chip": ("reached/", "rates/"), "chips": ()}
# Pages that plan, by what they ask; they take a model and a chip as calculators do.
PLANNERS = {
    "planner/": (
        "Will it train?",
        "Does a model train on so many chips, how fast, at what cost, on which layout?",
    ),
    "serve/": (
        "Will it serve?",
        "Do so many chips serve a model, how fast, at what cost, divided in which way?",
    ),
}


class Card(NamedTuple):
    """A page or a place on one; `fields` are texts with what their words weigh.

    `text` is what a result says below its title, `options` those of programs that it tells of.
    """

    location: str
    title: str
    kind: str
    fields: tuple[tuple[str, float], ...]
    text: str = ""
    options: tuple[str, ...] = ()


@functools.cache
def words() -> dict[str, Any]:
    """The words of the search: the file, with its phrases by their stems."""
    record: dict[str, Any] = yaml.safe_load(_WORDS.read_text(encoding="utf-8"))
    record["endings"] = tuple(record["endings"])  # what `stem` keeps words by
    phrases: dict[str, list[int]] = {}
    for concept, names in enumerate(record.pop("same")):
        for name in names:
            phrases.setdefault(_stems(str(name), record["endings"]), []).append(concept)
    record["phrases"] = {key: sorted(set(expansions)) for key, expansions in phrases.items()}
    # Figures are asked for in singular and plural: transistor count.
    record["facts"] += sorted(
        {stem(fact, record["endings"]) for fact in record["facts"]} - {*record["facts"]}
    )
    record["longest"] = max(key.count(" ") + 1 for key in phrases)
    record["takes"] = {
        option: [
            *PLANNERS,
            *_TAKERS[option],
            *(f"calculators/{name}/" for name in formulas() if option in _options(name)),
        ]
        for option in ("model", "chip", "chips")
    }
    record["writers"] = [*record["universities"], *record.pop("companies")]
    record["cites"] += record.pop("universities")
    record["pairs"] = _pairs()
    record["planners"] = [*PLANNERS]
    record["firsts"] = {
        _stems(thing, record["endings"]): _work_place(references()[key])
        for key, things in record["introduced"].items()
        for thing in things
    }
    return record


def _stems(phrase: str, endings: tuple[str, ...]) -> str:
    return " ".join(stem(atom, endings) for atom in atoms(phrase))


def _options(name: str) -> tuple[str, ...]:
    return option_names(get_formula(name))


def introduced() -> dict[str, list[str]]:
    """Key of a work -> what it is known for."""
    known_for: dict[str, list[str]] = words()["introduced"]
    return known_for


def _pairs() -> dict[str, str]:
    """The page of each comparison that has one, by the ids of its chips in either order."""
    page_of: dict[str, str] = {}
    for names in PAIRS:
        first, second = (find_id(name) for name in names)
        page = "-vs-".join(entry_id.partition("/")[2] for entry_id in (first, second))
        page_of[f"{first},{second}"] = page_of[f"{second},{first}"] = f"compare/{page}/"
    return page_of


def index() -> Index:
    """The index of all cards."""
    vocabulary = words()
    cards = list(_cards(vocabulary["pages"]))
    tokens: dict[str, dict[str, float]] = {}
    for number, card in enumerate(cards):
        for text, weight in card.fields:
            joined = weight > TEXT and card.kind != "works"
            for token in sorted(
                tokens_of(text, vocabulary, joined=joined)
            ):  # the same bytes each time
                held = tokens.setdefault(token, {})
                held[str(number)] = max(held.get(str(number), 0.0), weight)
        for option in card.options:
            tokens.setdefault(option, {})[str(number)] = OPTION
    for number, card in enumerate(cards):
        for word in _spoken().get(card.location, ()):
            tokens.setdefault(f"~{word}", {})[str(number)] = TEXT
    shown = {name: value for name, value in vocabulary.items() if name not in _UNSHOWN}
    rows = [(card.location, card.title, card.kind, shorten(card.text, 120)) for card in cards]
    places = {**vocabulary["takes"], "setting": vocabulary["settings"]}
    for option in ("model", "chip", "setting"):
        locations = places[option]
        shown[f"{option}_cards"] = [n for n, row in enumerate(rows) if row[0] in locations]
    return Index(shown, rows, tokens, chips(vocabulary["stop"]), models(vocabulary["models"]))


def record() -> str:
    """The index as JSON."""
    return json.dumps(index()._asdict(), ensure_ascii=False, separators=(",", ":"))


def _cards(keywords: dict[str, list[str]]) -> Iterator[Card]:
    for card in _plain_cards():
        weight = 2 * KEYWORD if card.kind in ("chips", "handbook") else KEYWORD
        own = keywords.get(card.location, ())
        keyword_fields = tuple((text, weight) for text in own if "_" not in text)
        told = sorted({*card.options, *_options_in(" ".join(own))})
        yield card._replace(fields=(*card.fields, *keyword_fields), options=tuple(told))


def _options_in(text: str) -> set[str]:
    """The tokens of options of programs in a text."""
    return {token for name in _OPTION.findall(text) for token, _, _ in options(name)}


def _plain_cards() -> Iterator[Card]:
    yield from _prose()
    yield from _symptoms()
    yield from _made_pages()
    yield from (
        Card(location, title, "calculators", ((title, NAME), (question, 2.0)), question)
        for location, (title, question) in PLANNERS.items()
    )
    yield from map(_calculator, formulas())
    yield from _practicals()
    yield from map(_entry, entry_ids())
    yield from map(_vendor, vendor_ids())
    yield from map(_model, model_ids())
    yield from _topics()
    yield from _terms()
    yield from _works()


def _prose() -> Iterator[Card]:
    for path in sorted(DOCS.rglob("*.md")):
        page = path.relative_to(DOCS).as_posix()
        source = read_text(path)
        head = _HEAD.match(source)
        meta = yaml.safe_load(head[1]) if head else {}
        if page == "index.md" or not meta.get("title"):
            continue
        text = _CODE.sub("", source)
        headings = " . ".join(_HEADING.findall(text))
        terms = " . ".join(_TERM.findall(text))
        fields: tuple[tuple[str, float], ...]
        fields = ((meta["title"], NAME), (str(meta.get("description", "")), TEXT))
        kind = "handbook" if page.startswith("handbook/") else "pages"
        fields = (*fields, (headings, HEADING), (terms, TEXT))
        told = tuple(_options_in(" ".join(_SPAN.findall(text))))
        yield Card(_location(page), meta["title"], kind, fields, meta.get("description", ""), told)


def _symptoms() -> Iterator[Card]:
    """What goes wrong with a run, by what one sees and what it may come of."""
    for path in sorted((DOCS / "handbook").glob("*.md")):
        page = _location(path.relative_to(DOCS).as_posix())
        for seen, causes, anchor in symptoms(read_text(path)):
            fields = ((seen, KEYWORD), (causes, HEADING))
            yield Card(f"{page}#{anchor}", seen, "symptoms", fields, causes)


@functools.cache
def _spoken() -> dict[str, list[str]]:
    """Place of a chapter -> stems of words that it speaks of, and few other chapters do."""
    endings, stops = words()["endings"], set(words()["stop"])
    spoken: dict[str, set[str]] = {}
    for path in sorted((DOCS / "handbook").glob("*.md")):
        text = _COMPUTED.sub(" ", _CODE.sub("", read_text(path)))
        plain = (atom for atom in atoms(text) if atom.isalpha() and len(atom) > 2)
        place = _location(path.relative_to(DOCS).as_posix())
        spoken[place] = {stem(atom, endings) for atom in plain if atom not in stops}
    chapters = Counter(word for held in spoken.values() for word in held)
    few = {word for word, held in chapters.items() if held <= len(spoken) / 3}
    return {place: sorted(few & held) for place, held in spoken.items()}


def _location(page: str) -> str:
    return page.removesuffix("index.md").replace(".md", "/")


def _made_pages() -> Iterator[Card]:
    """Pages without a source of their own in docs/."""
    titles = {
        "about/": "How this is kept",
        "check/": "Check a number",
        "compare/": "Comparisons",
        "pitfalls/": "What goes wrong in practice",
        "errata/": "Errata",
        "claims/": "Claims that hold",
        "data/": "Data and API",
        "models/": "Models",
        "glossary/": "Glossary",
        "cheat-sheet/": "Cheat sheet",
        "accelerators/": "All chips",
        "accelerators/trends/": "Chips over the years",
        "calculators/": "Calculators",
        "references/works/": "All works",
        "references/new/": "What is new",
        "references/sources/": "Sources of values",
        "notebooks/": "Practicals",
    }
    for location, title in titles.items():
        yield Card(location, title, "pages", ((title, NAME),))
    title, place = "What clouds charge by the hour", "data/#what-clouds-charge-by-the-hour"
    rents = "price by the hour . rental prices of gpus and tpus . cost per gpu-hour . list prices"
    yield Card(place, title, "pages", ((title, NAME), (rents, KEYWORD)))


def _practicals() -> Iterator[Card]:
    """Notebooks by what they are about and what they are run with, from their sources."""
    for path in sorted(_NOTEBOOKS.glob("*.py")):
        text = read_text(path)
        cell = _COMMENT.sub("", text[text.index("\n# # ") + 1 :].partition("\n# %%")[0])
        title, _, body = cell.removeprefix("# ").partition("\n")
        summary = " ".join(body.strip().partition("\n\n")[0].replace("`", "").split())
        extra = _EXTRA.search(text)
        made_with = {"torch": "PyTorch torch", "jax": "JAX"}.get(extra[1] if extra else "", "")
        named = f"{path.stem} notebook practical exercise jupyter {made_with}"
        fields = ((title, NAME), (named, KEYWORD), (summary, TEXT))
        yield Card(f"notebooks/{path.stem}/", title, "notebooks", fields, summary)


def _calculator(name: str) -> Card:
    formula = get_formula(name)
    meanings = " . ".join(spec.meaning for spec in formula.outputs.values())
    fields = (
        (formula.title, NAME),
        (name, NAME),
        (formula.question, 2.0),
        (formula.summary, TEXT),
        (meanings, TEXT),
        ("calculator", TEXT),
    )
    return Card(f"calculators/{name}/", formula.title, "calculators", fields, formula.question)


def _entry(entry_id: str) -> Card:
    entry = load_head(entry_id)
    names = " . ".join((entry.id, *entry.aliases, *entry.device_names))
    fields: tuple[tuple[str, float], ...]
    fields = ((entry.name, NAME), (names, NAME), (entry.family, 2.0), (entry.summary, TEXT))
    if entry.die:
        fields += ((entry.die.name, NAME),)
    # Of a part number only the whole says something: 400 is no word of MTIA 400.
    ordered = ["".join(atoms(name)) for name in ordered_as(entry_id)]
    fields += (("gpu chip accelerator specs", TEXT), (" . ".join(ordered), KEYWORD))
    if entry_id in priced():
        fields += (("price by the hour in clouds", TEXT),)
    kind = "chips" if entry.computes else "systems"
    told = tuple(f"={name}" for name in ordered)
    return Card(f"accelerators/{entry_id}/", entry.name, kind, fields, entry.summary, told)


def _vendor(vendor_id: str) -> Card:
    name = vendor(vendor_id).name
    # Who asks for the chips of a vendor asks for all of them.
    chips = "accelerators gpus tpus chips"
    weighed = ((name, 7.0), (vendor_id, 7.0), (chips, 3.0))
    return Card(f"accelerators/{vendor_id}/", name, "vendors", weighed)


def _model(model_id: str) -> Card:
    model = load_model(model_id)
    names = " . ".join((model.id, *model.aliases))
    fields = ((model.name, NAME), (names, NAME), (model.developer, TEXT), (model.summary, TEXT))
    return Card(f"models/#{model_id}", model.name, "models", fields)


def _topics() -> Iterator[Card]:
    for topic in all_topics():
        location = _location(topic_page(topic.id))
        yield Card(location, topic.title, "topics", ((topic.title, NAME), ("papers on", 3.0)))


def _terms() -> Iterator[Card]:
    for term in glossary():
        names = " . ".join((term.term, *term.also))
        fields = ((names, NAME), (term.meaning, 0.6), ("what is meaning definition", 2.0))
        yield Card(f"glossary/#{term.id}", term.term, "glossary", fields, term.meaning)


def _work_place(work: Reference) -> str:
    return f"{_location(topic_page(work.topics[0]))}#{work.key}"


def _program(work: Reference) -> str:
    """What the program of a work is called, which its title need not say."""
    is_hosted = "github.com/" in work.code
    return work.code.rstrip("/").rpartition("/")[2] if is_hosted else ""


def _works() -> Iterator[Card]:
    fields: tuple[tuple[str, float], ...]
    for work in references().values():
        if not work.is_work:
            continue
        people = " . ".join(person.full for person in work.people[:_PEOPLE])
        location = _work_place(work)
        known_for = " . ".join(introduced().get(work.key, ()))
        fields = ((work.title, 3.5), (people, 3.5), (work.short, 4.0), ("paper", 2.0))
        fields += ((known_for, NAME), (_program(work), 2.0))
        yield Card(location, f"{work.title} ({work.short})", "works", fields)
