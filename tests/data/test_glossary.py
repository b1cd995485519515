"""The glossary is complete: every symbol of a calculator and every term that a chapter introduces
stands in it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.checks.rules.glossary import anchors
from flopbook.data.entry_reader import field_names
from flopbook.data.folders import schema_paths
from flopbook.data.glossary import FILE, Term, read_glossary
from flopbook.data.library import glossary
from flopbook.data.schema import check, load_schema
from flopbook.data.yaml_text import parse_yaml
from flopbook.errors import DataError
from flopbook.evaluation.terms import quantities, stands_for, term_of, uses
from flopbook.formulas import formulas
from flopbook.formulas.declaration import Input
from flopbook.quantities.units import format_quantity, unit
from scripts.website.pages.accelerators import INDEX
from scripts.website.pages.calculators import calculator_markdown
from scripts.website.pages.values import field_words
from tests.support.cases import every

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = sorted((ROOT / "docs" / "handbook").glob("*.md"))
TERMS = {term.id: term for term in glossary()}
QUANTITIES = list(quantities())

# Words in italics or in bold that chapters stress, and introduce nothing by.
STRESSED = {
    "bound",
    "does",
    "effective",
    "expected",
    "fewer",
    "input",
    "is",
    "larger",
    "less",
    "lower",
    "more",
    "number",
    "oldest",
    "once",
    "its",
    "training",
    "whole",
    "writes",
    # names of parts of a formula, of a figure, of a schedule, of a trace or of a table
    "backward",
    "down",
    "forward",
    "fp",
    "int",
    "up",
    "warm-up",
    "steady state",
    "cool-down",
    "steps",
    "xla modules",
    "xla ops",
    "framework name scope",
    "source code",
    "host offload",
    # beginnings of paragraphs and of items in lists, and what others call something
    "eight bits",
    "beyond the domain",
    "decoding step",
    "edge",
    "exposed traffic",
    "generation",
    "in training",
    "inside the domain",
    "last line",
    "long caches",
    "messages",
    "scoring pass",
    "workstations and pcs",
    "network",
    "four bits",
    "keys and values",
    "fewest tokens",
    "one layer",
    "updated weights",
    "count",
    "order",
    "what it misses",
    # names of factors
    "few",
    "later",
    "spread",
}


def _prose(text: str) -> str:
    """A chapter without code, expressions and formulas."""
    pattern = r"```.*?```|\{\{.*?\}\}|\{%.*?%\}|\$\$.*?\$\$|\$[^$\n]+\$|`[^`\n]*`"
    return re.sub(pattern, " ", text, flags=re.DOTALL)


def introduced(text: str) -> list[str]:
    """What a chapter sets in italics, and in bold where that is no beginning of a paragraph and at
    most three words.
    """
    found = []
    for stars, words in re.findall(
        r"(?<![*\w])(\*{1,2})(?![*\s])([^*\n]+)(?<!\s)\1(?![*\w])", _prose(text)
    ):
        if stars == "**" and (words[-1] in ".:?" or len(words.split()) > 3):
            continue
        found.append(re.sub(r"^(?:a|an|the) ", "", words.lower().rstrip(".,")))
    return found


def _spellings() -> set[str]:
    names = {name.lower() for term in TERMS.values() for name in (term.term, *term.also)}
    return (
        names
        | {f"{name}s" for name in names}
        | {f"{name[:-1]}ies" for name in names if name.endswith("y")}
    )


@every("path", CHAPTERS)
def test_every_term_that_a_chapter_introduces_is_in_the_glossary(path: Path) -> None:
    """Add the term to bibliography/glossary.yaml; a word that is only stressed goes to STRESSED
    above.
    """
    missing = [
        word
        for word in introduced(path.read_text(encoding="utf-8"))
        if word not in _spellings() | STRESSED
    ]
    assert not missing, missing


def test_no_word_is_excused_that_no_chapter_stresses() -> None:
    every = {word for path in CHAPTERS for word in introduced(path.read_text(encoding="utf-8"))}
    assert not (STRESSED - every) and not (STRESSED & _spellings())


def test_the_rule_finds_what_is_introduced() -> None:
    """Italics and short bold words count; beginnings of paragraphs, code and formulas do not."""
    text = (
        "A *mesh* of $a * b * c$ and **the bus**, `*not*`.\n\n**Beginning.** More.\n\n"
        "**Four words are many** so."
    )
    assert introduced(text) == ["mesh", "bus"]


@every("calculator, name, spec", QUANTITIES)
def test_every_quantity_of_a_calculator_has_a_term(calculator: str, name: str, spec: Input) -> None:
    """Name and symbol of each input and output are those of a term, and the unit is one that it may
    have.
    """
    term = term_of(name, spec)
    assert term is not None, f"{calculator}: {name} with the symbol {spec.symbol}"
    assert calculator in uses()[term.id] and name in uses()[term.id][calculator]
    assert spec.symbol in term.symbol or spec.symbol.startswith(r"\text{")


@every("field", field_names())
def test_every_quantity_of_an_accelerator_has_a_term(field: str) -> None:
    """Under the words by which pages call it."""
    assert field_words(field).lower() in _spellings(), field


def test_uses_are_those_of_the_declared_inputs_and_outputs() -> None:
    """Nothing is typed: a term is used where a calculator declares one of its names with one of its
    symbols.
    """
    for term_id, term_uses in uses().items():
        for calculator, names in term_uses.items():
            formula = formulas()[calculator]
            specs = [{**formula.inputs, **formula.outputs}[name] for name in names]
            assert all(
                stands_for(TERMS[term_id], name, spec)
                for name, spec in zip(names, specs, strict=True)
            )


def test_names_alone_do_not_decide() -> None:
    """`tokens` are those of a batch or of a training run, `chips` of a run or of a ring: the symbol
    tells.
    """
    inputs, outputs = formulas()["training-flops"].inputs, formulas()["min-batch"].outputs
    assert term_of("tokens", inputs["tokens"]) == TERMS["training-tokens"]
    assert term_of("tokens", outputs["tokens"]) == TERMS["minimum-batch"]
    assert term_of("tokens", outputs["flop_per_byte"]) is None


@given(st.sampled_from(QUANTITIES))
def test_a_name_that_nobody_declares_has_no_term(quantity: tuple[str, str, Input]) -> None:
    _, name, spec = quantity
    assert term_of(f"{name}_of_nobody", spec) is None
    assert not spec.symbol.startswith(r"\text{") or term_of(
        name, spec._replace(symbol=r"\text{anything}")
    )


def test_it_is_large_and_whole() -> None:
    """No id stands twice, and no term points to itself or to one that is not there.

    A chapter that introduces no term of its own needs none here.
    """
    assert len(TERMS) >= 150 and len(TERMS) == len(glossary())
    for term in TERMS.values():
        assert term.id not in term.see_also and all(near in TERMS for near in term.see_also)
        assert unit(term.unit) and format_quantity(1.0, term.unit)
        assert term.meaning[0].isupper() or not term.meaning[0].isalpha(), term.id
        assert term.meaning.endswith(".") and not re.search(r"\$|\{\{|\s{2}", term.meaning), term.id


@every("term", TERMS.values())
def test_the_place_of_a_term_exists_and_the_page_speaks_of_it(term: Term) -> None:
    page, _, anchor = term.chapter.partition("#")
    name = page.removeprefix("calculators/").removesuffix(".md")
    if page == INDEX:
        return  # the page of all accelerators is made from the data
    assert anchor in anchors(ROOT / "docs" / page) if anchor else name in formulas()
    text = (
        calculator_markdown(name)
        if not anchor
        else (ROOT / "docs" / page).read_text(encoding="utf-8")
    ).lower()
    words = [
        word
        for name in (term.term, *term.also)
        for word in re.findall(r"[a-z0-9-]{2,}", name.lower())
    ]
    assert not words or any(word.rstrip("s")[:8] in text for word in words), (
        f"{page} does not say {term.term}"
    )


def test_symbols_with_several_meanings_say_so() -> None:
    """Letters that mean one thing here and another in papers carry a note."""
    for name in (
        "model-width",
        "training-tokens",
        "kv-head",
        "batch",
        "micro-batch",
        "parameter",
        "peak",
    ):
        assert TERMS[name].elsewhere, name
    shared = {
        symbol for term in TERMS.values() for symbol in term.symbol if len(_owners(symbol)) > 1
    }
    assert {"N", "T", "V", "K", "b"} <= shared


def _owners(symbol: str) -> list[str]:
    return [term.id for term in TERMS.values() if symbol in term.symbol]


def test_marks_default_to_all_names() -> None:
    """An empty list marks none; what is left out marks the term and all its other names."""
    assert TERMS["ridge-point"].mark == ("ridge point", "critical intensity")
    assert TERMS["layer"].mark == ()
    assert TERMS["stage"].mark == ("pipeline stage",)


VALID = """terms:
  - id: ridge-point
    term: ridge point
    unit: FLOP/byte
    meaning: Where arithmetic and memory take as long.
    chapter: handbook/roofline.md#the-ridge-point
"""
BROKEN = [
    ("id: ridge-point", "id: Ridge point", "pattern"),
    ("    unit: FLOP/byte\n", "", "missing"),
    ("unit: FLOP/byte", "unit: ''", "minLength"),
    ("take as long.", "<b>long</b>.", "markup"),
    ("handbook/roofline.md#the-ridge-point", "handbook/roofline.md", "pattern"),
    ("handbook/roofline.md#the-ridge-point", "../secret.md#x", "pattern"),
    ("term: ridge point", "term: [ridge point]", "type"),
    ("term: ridge point", "term: ridge point\n    colour: red", "unknown"),
    ("term: ridge point", "term: ridge point\n    also: []", "minItems"),
    ("term: ridge point", "term: ridge point\n    see_also: [a, a]", "uniqueItems"),
    ("term: ridge point", "term: ridge point\n    names: [Flop-per-byte]", "pattern"),
]


def test_the_schema_takes_a_short_entry() -> None:
    schema = load_schema(schema_paths()["glossary"])
    assert check(parse_yaml(VALID, "glossary.yaml"), schema, "glossary.yaml") == []


@pytest.mark.parametrize(
    ("old", "new", "rule"), BROKEN, ids=[f"{rule}-{n}" for n, (_, _, rule) in enumerate(BROKEN)]
)
def test_the_schema_refuses_with_place_and_rule(
    old: str, new: str, rule: str, world: object
) -> None:
    """One problem for each slip, with its line."""
    path = Path("bibliography/glossary.yaml")
    assert old in VALID
    path.write_text(VALID.replace(old, new), encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read_glossary(Path("bibliography") / FILE)
    problems = caught.value.problems
    assert {problem.rule for problem in problems} == {rule}, problems
    assert all(
        problem.file == "bibliography/glossary.yaml" and problem.line >= 2 for problem in problems
    )
