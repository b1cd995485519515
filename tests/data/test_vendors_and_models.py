"""Vendors and models, and the names that find them and the accelerators."""

from __future__ import annotations

import datetime

import pytest

from flopbook.data import library as library_
from flopbook.data.claims import Claim
from flopbook.errors import FlopbookError, UnknownName
from tests.data.test_accelerators import problems_of
from tests.support.samples import MODEL, SOURCE, VENDOR, World, entry_text, place


def test_names_find_entries(world: World) -> None:
    world.entry("one", aliases="[first]", device_names='["ACME ONE 80GB"]')
    for name in (
        "acme/one",
        "one",
        "ONE",
        " one ",
        "first",
        "acme/first",
        "Acme One 80GB",
        "ACME ONE 80GB",
    ):
        assert library_.entry(name).id == "acme/one"
    with pytest.raises(UnknownName, match=r"unknown chip 'onne'; nearest: .*acme/one"):
        library_.entry("onne")
    with pytest.raises(UnknownName, match="one of: acme/one, one"):
        library_.entry("zzzzzz")
    with pytest.raises(UnknownName):
        library_.entry("other/first")


@pytest.mark.parametrize(
    "name",
    ["", "/", "..", "../../etc/passwd", "acme/../acme/one", "\x00", "x" * 10_000, "\x1b[31m"],
)
def test_odd_names_are_unknown_not_errors(world: World, name: str) -> None:
    for look_up in (library_.entry, library_.vendor, library_.model):
        with pytest.raises(UnknownName) as caught:
            look_up(name)
        assert str(caught.value).isprintable() and len(str(caught.value)) < 200


def test_a_name_of_two_entries_names_both(world: World) -> None:
    world.write("accelerators/bolt/one.yaml", entry_text(id="bolt/one", vendor="bolt"))
    with pytest.raises(
        FlopbookError, match="'one' fits several entries: acme/one, bolt/one; name one of them"
    ):
        library_.entry("one")
    assert library_.entry("bolt/one").vendor == "bolt"


def test_ids_come_from_paths(world: World) -> None:
    world.entry("two")
    assert library_.entry_ids() == ("acme/one", "acme/two")
    assert library_.vendor_ids() == ("acme",) and library_.model_ids() == ("tiny-1b",)


@pytest.mark.parametrize(
    ("old", "new", "rule", "says"),
    [
        (
            "https://acme.example/",
            "javascript:alert(1)",
            "format",
            "expected an http or https address",
        ),
        ("https://acme.example/", "ftp://acme.example/", "format", "an http or https address"),
        (
            "https://acme.example/",
            "'https://acme.example/\"onmouseover=x'",
            "format",
            "an http or https address",
        ),
        ("https://acme.example/", "'https://a b.example/'", "format", "an http or https address"),
        ("website: https://acme.example/\n", "", "missing", "no 'website'"),
        ("id: acme", "id: acmee", "path", "found id 'acmee', expected 'acme'"),
        ("A maker", "A <i>maker</i>", "markup", "found '<i>maker</i>"),
        ("summary", "sumary", "unknown", "found 'sumary', expected 'summary'"),
        (
            "tests.\n",
            "tests.\nfacts: [{field: founded, value: 1, source: a2020b, as_of: 2026-11-21}]\n",
            "form",
            "quote",
        ),
    ],
)
def test_bad_vendors(world: World, old: str, new: str, rule: str, says: str) -> None:
    text = VENDOR.replace(old, new)
    problems = problems_of(
        world.write("accelerators/acme/vendor.yaml", text), library_.vendor, "acme"
    )
    problem = next(p for p in problems if p.rule == rule)
    assert says in str(problem)
    assert rule == "missing" or problem.line == place(text, new.strip())[0] + new.strip().count(
        "\n"
    )


def test_a_vendor_has_facts(world: World) -> None:
    fact = (
        f"{{field: founded, value: 1993, date: 1993-04-05, source: {SOURCE}, "
        'as_of: "2026-11-21", quote: x}'
    )
    world.write(
        "accelerators/acme/vendor.yaml",
        f"{VENDOR}country: Nowhere\nfacts: [{fact}]\nresearch: [{SOURCE}]\n",
    )
    read = library_.vendor("acme")
    (found,) = read.facts
    assert (found.value, found.date, found.as_of) == (
        "1993",
        "1993-04-05",
        datetime.date(2026, 11, 21),
    )
    assert read.research == (SOURCE,) and read.country == "Nowhere"


@pytest.mark.parametrize(
    ("old", "new", "rule", "says"),
    [
        ("1e9", "-1", "form", "a number above zero"),
        ("1e9", "1e999", "form", "found 'inf'"),
        ("1e9", "0", "form", "'0'"),
        ("unit: param", "unit: params", "enum", "'params'"),
        (", unit: param", "", "missing", "no 'unit'"),
        (f", source: {SOURCE}", "", "missing", "no 'source'"),
        (", as_of: 2026-11-21", "", "missing", "no 'as_of'"),
        (", locator: Table 1", "", "form", "a 'quote' or a 'locator'"),
        ("field: params", "field: prams", "enum", "params"),
        ("id: tiny-1b", "id: tiny", "path", "expected 'tiny-1b'"),
        ("kind: dense", "kind: sparse", "enum", "dense or moe"),
        ("Tiny 1B\n", "Tiny 1B\nsize: 3\n", "unknown", "found 'size'"),
        ("tests", "<b>tests</b>", "markup", "<b>"),
    ],
)
def test_bad_models(world: World, old: str, new: str, rule: str, says: str) -> None:
    text = MODEL.replace(old, new, 1)
    problems = problems_of(world.write("models/tiny-1b.yaml", text), library_.load_model, "tiny-1b")
    assert any(p.rule == rule and says in str(p) for p in problems)


def test_the_list_of_all_fields_is_cut(world: World) -> None:
    """A line of a thousand letters hides what is wrong."""
    text = MODEL.replace("field: params", "field: 7", 1)
    problems = problems_of(world.write("models/tiny-1b.yaml", text), library_.load_model, "tiny-1b")
    (enum,) = (str(problem) for problem in problems if problem.rule == "enum")
    assert "words of the schema, among them params, active_params" in enum and len(enum) < 600


def test_models_are_found_by_id_and_alias(world: World) -> None:
    world.write("models/tiny-1b.yaml", f"{MODEL}aliases: [tiny]\n")
    assert library_.model("tiny").id == library_.model(" Tiny-1B ").id == "tiny-1b"
    assert isinstance(library_.model("tiny").claims[0], Claim)
    with pytest.raises(UnknownName, match="unknown model 'tiny-2b'; nearest: tiny-1b"):
        library_.model("tiny-2b")
