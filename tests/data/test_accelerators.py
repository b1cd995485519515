"""Accelerators: a value without unit, source, date or conditions cannot be loaded."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flopbook.data import accelerators as entries
from flopbook.data import library as library_
from flopbook.data.entry_reader import read_entry
from flopbook.data.records import TEXT_FIELDS
from flopbook.errors import DataError, Problem
from tests.support.samples import (
    CONDITIONS,
    SOURCE,
    World,
    assert_clean,
    claim,
    entry_text,
    flow,
    place,
    write,
)

NUMERIC = sorted(set(CONDITIONS) - set(TEXT_FIELDS))


COMMON = ("field", "value", "per", "basis", "source", "as_of")


def problems_of(
    path: str, load: Any = library_.load_entry, name: str = "acme/one"
) -> list[Problem]:
    """The problems that reading a file raises; each one clean and of this file."""
    with pytest.raises(DataError) as caught:
        load(name)
    assert_clean(caught.value)
    assert {p.file for p in caught.value.problems} == {path}
    return list(caught.value.problems)


def broken(world: World, *claims: Any, **head: Any) -> Problem:
    """The only problem of an entry made of these claims."""
    (problem,) = problems_of(world.entry("one", *claims, **head))
    return problem


@pytest.mark.parametrize("field", CONDITIONS)
def test_each_kind_of_claim_can_be_read(world: World, field: str) -> None:
    world.entry("one", claim(field))
    (read,) = library_.load_entry("acme/one").claims
    expected = {
        **CONDITIONS[field],
        "field": field,
        "source": SOURCE,
        "as_of": datetime.date(2026, 11, 21),
    }
    assert {key: getattr(read, key) for key in expected} == expected
    assert read.line == 8 and read.file == "accelerators/acme/one.yaml"


@pytest.mark.parametrize(
    ("field", "key"),
    [
        (field, key)
        for field in CONDITIONS
        for key in (*COMMON, *(k for k in CONDITIONS[field] if k != "value"))
    ],
)
def test_no_claim_without_unit_source_date_or_conditions(
    world: World, field: str, key: str
) -> None:
    """ "A value cannot be built without unit, source, date read, and the conditions that make it
    true".
    """
    problem = broken(world, claim(), claim(field, drop=(key,)))
    assert (problem.line, problem.column, problem.rule) == (9, 5, "missing")
    assert problem.found.startswith(f"no '{key}'") and problem.expected == f"a '{key}'"
    assert "README" not in problem.mend


@pytest.mark.parametrize("field", CONDITIONS)
def test_no_claim_without_quote_or_locator(world: World, field: str) -> None:
    problem = broken(world, claim(field, drop=("locator",)))
    assert (
        problem.rule == "form"
        and problem.expected == "a 'quote' or a 'locator'"
        and problem.line == 8
    )
    assert f"no 'quote' and no 'locator' in this {field}" in problem.found
    world.entry("one", claim(field, drop=("locator",), quote="It is so."))
    assert library_.load_entry("acme/one").claims[0].quote == "It is so."


@pytest.mark.parametrize("field", NUMERIC)
@pytest.mark.parametrize(
    ("value", "found"),
    [
        (-1, "'-1'"),
        (0, "'0'"),
        (-0.0, "'-0.0'"),
        ("80", "the text '80'"),
        ("many", "'many'"),
        ("1e999", "'inf'"),
    ],
)
def test_amounts_are_finite_numbers_above_zero(
    world: World, field: str, value: Any, found: str
) -> None:
    text = flow(claim(field, value="VALUE")).replace(
        '"VALUE"', "1e999" if value == "1e999" else _yaml(value)
    )
    problem = broken(world, text)
    assert (problem.rule, problem.found) == ("form", found)
    assert problem.expected == "a number above zero or not published or none"
    assert (problem.line, problem.column) == (
        8,
        place(f"  - {text}", "value: ")[1] + len("value: "),
    )


def _yaml(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


@pytest.mark.parametrize("field", NUMERIC)
def test_not_published_is_a_value(world: World, field: str) -> None:
    world.entry("one", claim(field, value="not published"))
    read = library_.load_entry("acme/one").claims[0]
    assert read.value is None and not read.published and read.si_value is None
    assert not read.absent and read.words == "not published"


@pytest.mark.parametrize("field", NUMERIC)
def test_none_says_that_the_product_has_no_such_thing(world: World, field: str) -> None:
    """A card without links has none; that is not the same as links that nobody prints."""
    world.entry("one", claim(field, value="none"))
    read = library_.load_entry("acme/one").claims[0]
    assert read.value is None and not read.published and read.absent and read.words == "none"


def test_what_an_entry_is_excused_from_and_when_it_is_stale(world: World) -> None:
    excused = (
        flow(claim(value=7)).removesuffix("}")
        + ', exceptions: {range: "It is a wafer, not a die."}}'
    )
    world.entry(
        "one",
        excused,
        exceptions='{community: "Only one site says it."}',
        stale_after='{days: 30, reason: "The page changes monthly."}',
    )
    read = library_.load_entry("acme/one")
    assert read.exceptions == {"community": "Only one site says it."}
    assert read.claims[0].exceptions == {"range": "It is a wafer, not a die."}
    assert read.stale_after == entries.Staleness(30, "The page changes monthly.")
    world.entry("one", excused.replace("range", "rage"))
    assert problems_of("accelerators/acme/one.yaml")[0].rule == "unknown"


@pytest.mark.parametrize("field", [f for f in CONDITIONS if "unit" in CONDITIONS[f]])
@pytest.mark.parametrize("unit", ["bananas", "TFLOPS", "kiB", "1", "", 5])
def test_a_unit_must_be_one_of_the_field(world: World, field: str, unit: Any) -> None:
    problems = problems_of(world.entry("one", claim(field, unit=unit)))
    line = entry_text(claim(field, unit=unit)).splitlines()[7]
    column = place(line, "unit: ")[1] + len("unit: ")
    assert {(p.line, p.column) for p in problems} == {(8, column)}
    assert {p.rule for p in problems} <= {"enum", "type", "minLength"}


@pytest.mark.parametrize(
    ("field", "unit"),
    [
        ("memory", "GB/s"),
        ("memory_bandwidth", "GB"),
        ("peak", "TFLOP"),
        ("power", "V"),
        ("clock", "W"),
        ("scaleup_bandwidth", "TFLOP/s"),
        ("die_area", "mm"),
        ("price", "EUR"),
        ("transistors", "param"),
    ],
)
def test_units_that_do_not_fit_the_field(world: World, field: str, unit: str) -> None:
    problem = broken(world, claim(field, unit=unit))
    assert (
        problem.rule == "enum"
        and problem.found == f"'{unit}'"
        and "exactly as the source prints it" in problem.mend
    )


@pytest.mark.parametrize(
    ("changes", "rule", "says"),
    [
        ({"source": "Not A Key"}, "pattern", "give the BibTeX key of the source"),
        ({"as_of": "2026-13-40"}, "format", "found '2026-13-40', expected a date as YYYY-MM-DD"),
        (
            {"as_of": "2026-02-30"},
            "format",
            "write the date on which the source was read as YYYY-MM-DD",
        ),
        ({"as_of": "yesterday"}, "format", "expected a date"),
        ({"as_of": 2026}, "type", "expected text"),
        ({"as_of": datetime.date(1026, 1, 1)}, "date", "mend the year"),
        ({"as_of": "1026-01-01"}, "date", "mend the year"),
        ({"sparsity": "sparse"}, "enum", "a sparse peak is not a dense one"),
        ({"sparsity": 124}, "enum", "found '124', expected one of dense, 2:4"),
        ({"dtype": "half"}, "enum", "name the number format"),
        ({"engine": "cuda"}, "enum", "say which engine"),
        ({"basis": "guessed"}, "enum", "say how the value is known"),
        ({"at_power_w": 0}, "exclusiveMinimum", "found '0', expected more than 0"),
        ({"known_error": "yes"}, "type", "expected a boolean"),
        ({"known_error": True}, "missing", "no 'note'"),
        ({"note": None}, "type", "found nothing, expected text"),
        ({"note": ""}, "minLength", "at least 1 characters"),
        ({"note": "x" * 601}, "maxLength", "at most 600 characters"),
    ],
)
def test_bad_values_of_a_peak(world: World, changes: dict[str, Any], rule: str, says: str) -> None:
    problem = broken(world, claim(), claim(**changes))
    assert problem.rule == rule and says in str(problem) and problem.line == 9


def test_a_derived_claim_says_how_and_from_what(world: World) -> None:
    problems = problems_of(world.entry("one", claim(basis="derived")))
    assert [p.expected for p in problems] == ["a 'derived_from'", "a 'formula'"]
    assert "such as 900 GB/s / 2" in problems[1].mend


@pytest.mark.parametrize("field", ["scaleup_bandwidth", "scaleout_bandwidth", "host_bandwidth"])
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("direction", "bidirectional"),
        ("aggregate", "total"),
        ("direction", ""),
        ("direction", None),
    ],
)
def test_a_link_says_which_way_and_how_many(world: World, field: str, key: str, value: Any) -> None:
    problem = broken(world, claim(field, **{key: value}))
    assert problem.rule == "enum" and key in ("direction", "aggregate") and "say" in problem.mend


def test_unquoted_yaml_1_1_traps_stay_what_was_written(world: World) -> None:
    """Under YAML 1.1 `2:4` would be 124 and `no` a boolean."""
    text = (
        flow(claim(sparsity="2:4", name="no", value=1e15))
        .replace('"2:4"', "2:4")
        .replace('"no"', "no")
    )
    world.entry("one", text.replace("1000000000000000.0", "1e15"))
    read = library_.load_entry("acme/one").claims[0]
    assert (read.sparsity, read.name, read.value) == ("2:4", "no", 1e15)


@pytest.mark.parametrize("quote", ["", '"'])
def test_dates_are_dates_whether_quoted_or_not(world: World, quote: str) -> None:
    """A quoted date is text in YAML; the claim's date must not hang on it, nor a text become a
    date.
    """
    day = f"{quote}2026-11-21{quote}"
    text = flow(claim(quote="QUOTE")).replace("2026-11-21", day).replace('"QUOTE"', "2024-03-18")
    world.entry(
        "one",
        text,
        family="2020-01-01",
        status=f"[{{state: shipping, as_of: {day}, source: {SOURCE}}}]",
    )
    read = library_.load_entry("acme/one")
    assert read.claims[0].as_of == read.status[0].as_of == datetime.date(2026, 11, 21)
    assert read.claims[0].quote == "2024-03-18" and read.family == "2020-01-01"


@pytest.mark.parametrize(
    ("written", "value"),
    [("2022", "2022"), ("2022-03", "2022-03"), ("2022-03-22", "2022-03-22"), ('"2022"', "2022")],
)
@pytest.mark.parametrize("field", ["announced", "launched"])
def test_a_product_date_may_be_a_year_a_month_or_a_day(
    world: World, field: str, written: str, value: str
) -> None:
    world.entry("one", flow(claim(field, value="V")).replace('"V"', written))
    assert library_.load_entry("acme/one").claims[0].value == value


@pytest.mark.parametrize("value", ["2026-13", "22 March", "2026-13-40", 22, 2022.5, "soon", 99999])
def test_an_impossible_product_date(world: World, value: Any) -> None:
    assert "write a date as YYYY, YYYY-MM or YYYY-MM-DD" in str(
        broken(world, claim("announced", value=value))
    )


@pytest.mark.parametrize(
    ("head", "rule", "says"),
    [
        (
            {"id": "acme/two"},
            "path",
            "found id 'acme/two', expected 'acme/one'; make it equal the file's path",
        ),
        ({"vendor": "other"}, "path", "found vendor 'other', expected 'acme'"),
        ({"id": "Acme/One"}, "path", "expected 'acme/one'"),
        ({"id": '"acme/one\\n"'}, "path", "found id 'acme/one'"),
        ({"id": None}, "missing", "no 'id'"),
        ({"status": None}, "missing", "no 'status'"),
        ({"status": "[]"}, "minItems", "a list of 0"),
        ({"status": "[{state: sold, as_of: 2026-11-21, source: a2020b}]"}, "enum", "found 'sold'"),
        ({"status": "[{state: shipping, source: a2020b}]"}, "missing", "no 'as_of'"),
        ({"kind": "chip"}, "enum", "say which level it is"),
        ({"aliases": "[one, one]"}, "uniqueItems", "each of them once"),
        ({"aliases": "[Big Name]"}, "pattern", "lower case with hyphens"),
        ({"name": "'<b>One</b>'"}, "markup", "found '<b>One</b>'"),
        ({"summary": "'[x](javascript:alert(1))'"}, "markup", "'javascript:"),
        ({"website": "https://acme.example/"}, "unknown", "found 'website'"),
        ({"nmae": "x"}, "unknown", "expected 'name'"),
        ({"contains": "[{ref: acme/two, count: 0}]"}, "minimum", "found '0', expected at least 1"),
        ({"contains": "[{ref: acme/two, count: -8}]"}, "minimum", "found '-8'"),
        ({"contains": "[{ref: acme/two, count: 1.5}]"}, "type", "a whole number"),
        (
            {"contains": "[{ref: acme/two, count: 1e999}]"},
            "maximum",
            "found 'inf', expected at most 1000000",
        ),
        ({"contains": "[{ref: two, count: 1}]"}, "pattern", "the id of the part"),
    ],
)
def test_bad_heads(world: World, head: dict[str, Any], rule: str, says: str) -> None:
    problems = problems_of(world.entry("one", **head))
    problem = next(p for p in problems if p.rule == rule)
    assert says in str(problem)
    if rule not in ("missing",):
        key = next(iter(head))
        assert problem.line == place(entry_text(**head), f"{key}:")[0]


def test_all_problems_of_a_file_come_at_once(world: World) -> None:
    """A wrong id does not hide a missing unit, nor the other way round."""
    path = world.entry(
        "one", claim(drop=("unit",)), claim("memory", value=-1), id="acme/two", kind="chip"
    )
    assert [(p.line, p.rule) for p in problems_of(path)] == [
        (1, "path"),
        (2, "enum"),
        (8, "missing"),
        (9, "form"),
    ]


@pytest.mark.parametrize(
    "text", ["- a list\n", "just text\n", "3\n", "claims: 3\n", "claims: {a: b}\n", "claims:\n"]
)
def test_other_shapes_are_refused(world: World, text: str) -> None:
    problems_of(world.write("accelerators/acme/one.yaml", text))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=80)
@given(
    st.binary(max_size=60) | st.integers(0, 400).map(lambda n: entry_text().encode()[:n]),
    st.integers(0, 255),
)
def test_garbage_in_a_file_gives_only_data_errors(world: World, data: bytes, byte: int) -> None:
    """Random bytes, files cut short, files with a byte put in."""
    for text in (data, data[: len(data) // 2] + bytes([byte]) + data[len(data) // 2 :]):
        world.write("accelerators/acme/one.yaml", text)
        try:
            library_.load_entry("acme/one")
        except DataError as error:
            assert_clean(error)


def test_reading_leaves_the_file_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "acme" / "one.yaml", entry_text())
    before = path.read_bytes(), sorted(tmp_path.rglob("*"))
    read_entry(tmp_path / "acme" / "one.yaml", "acme/one")
    assert (path.read_bytes(), sorted(tmp_path.rglob("*"))) == before
