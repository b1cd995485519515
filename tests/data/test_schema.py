"""The schema checker: the same verdict as a second library, and messages that say how to mend."""

from __future__ import annotations

import copy
import datetime
import json
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flopbook.data.contributed_text import text_problems
from flopbook.data.folders import schema_paths
from flopbook.data.schema import check, load_schema
from flopbook.data.schema_words import is_date
from flopbook.data.yaml_text import Node, parse_yaml
from flopbook.errors import DataError, Problem
from tests.support.samples import (
    CONDITIONS,
    LEDGER,
    MODEL,
    SOURCE,
    TOPICS,
    VENDOR,
    assert_clean,
    claim,
    entry_text,
    place,
)

SCHEMAS = {
    "entry": schema_paths()["accelerator"],
    "vendor": schema_paths()["vendor"],
    "model": schema_paths()["model"],
    "topics": schema_paths()["topics"],
    "claims": schema_paths()["claims"],
}
FACT = (
    f"{{field: founded, value: 1993, source: {SOURCE}, as_of: 2026-11-21, quote: founded in 1993}}"
)
VALID = {
    "entry": [
        entry_text(
            *(claim(field) for field in fields),
            parts={"acme/two": 2},
            aliases="[a-1]",
            variant_of="acme/x",
        )
        for fields in (list(CONDITIONS)[i : i + 3] for i in range(0, len(CONDITIONS), 3))
    ],
    "vendor": [VENDOR, f"{VENDOR}country: Nowhere\nfacts: [{FACT}]\nmedia: [{SOURCE}]\n"],
    "model": [MODEL, f"{MODEL}aliases: [tiny]\nfamily: Tiny\nnotes: Small.\n"],
    "topics": [
        TOPICS,
        TOPICS.replace(
            "}", f", start_here: [{SOURCE}], children: [{{id: b, title: B, intro: C.}}]}}"
        ),
    ],
    "claims": [
        LEDGER,
        LEDGER.replace("verdict: holds", "verdict: rounding, tolerance: 0.01"),
        LEDGER.replace(
            "verdict: holds", "verdict: does-not-hold, corrected: {value: 5, unit: token}"
        ),
        LEDGER.replace("verdict: holds", "verdict: depends, assumption: One counts so."),
        LEDGER.replace("verdict: holds", f"verdict: quoted, evidence: [{SOURCE}]"),
        LEDGER.replace(
            "verdict: holds", "verdict: typo, corrected: {text: five}, reproduces: 2 + 2"
        ),
    ],
}
POOL: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2.5,
    8.0,
    1e31,
    float("inf"),
    "",
    "x",
    "X y",
    "x" * 1300,
    "2026-02-30",
    "2026-11-21",
    "2026",
    "2:4",
    "not published",
    "80",
    "TFLOP/s",
    "GB",
    "peak",
    "power",
    "process",
    "derived",
    "package",
    "moe",
    "quoted",
    "typo",
    "torus",
    "javascript:alert(1)",
    "https://a.example/b",
    "ftp://a.example/",
    "acme/one",
    "a2020b",
    [],
    [1],
    ["x", "x"],
    {},
    {"a": 1},
    "experts",
    "param",
]
FORMATS = jsonschema.FormatChecker(formats=["date"])


@FORMATS.checks("uri")
def _web_address(value: object) -> bool:
    """An independent reading of what our `uri` means: http or https and a host, no spaces, quotes
    or brackets.
    """
    if not isinstance(value, str):
        return True
    parts = urlsplit(value)
    return (
        parts.scheme in ("http", "https")
        and bool(parts.netloc)
        and not set(value) & set(" <>\"'`\\")
    )


def node_of(value: Any) -> Node:
    """A document as the YAML reader would give it; text that is a date becomes one, as unquoted
    YAML does.
    """
    if isinstance(value, dict):
        marks = dict.fromkeys(value, (1, 1))
        return Node({key: node_of(inner) for key, inner in value.items()}, 1, 1, marks)
    if isinstance(value, list):
        return Node([node_of(inner) for inner in value], 1, 1)
    return Node(
        datetime.date.fromisoformat(value) if isinstance(value, str) and is_date(value) else value,
        1,
        1,
    )


def plain(text: str) -> Any:
    """A sample as JSON carries it."""
    return json.loads(json.dumps(parse_yaml(text, "f.yaml").plain(), default=str))


def _keys_of(branch: Any) -> Iterable[Any]:
    """Where the values of a mapping or a list stand; a scalar has none."""
    if isinstance(branch, dict):
        return list(branch)
    return range(len(branch)) if isinstance(branch, list) else ()


def mutate(document: Any, random: Random) -> Any:
    """Break (or not) one random place of a document."""
    document = copy.deepcopy(document)
    places: list[tuple[Any, Any]] = []
    todo = [document]
    for part in todo:
        keys = _keys_of(part)
        places += [(part, key) for key in keys]
        todo += [part[key] for key in keys]
    owner, key = random.choice(places)
    action = random.choice(["replace", "replace", "delete", "add", "repeat", "negate", "borrow"])
    if action == "delete":
        del owner[key]
    elif action == "add" and isinstance(owner, dict):
        owner[random.choice(["sorce", "note", "unit", "tier", "known_error", "x"])] = random.choice(
            POOL
        )
    elif action == "repeat" and isinstance(owner[key], list):
        owner[key] = owner[key] * 2
    elif action == "negate" and isinstance(owner[key], (int, float)):
        owner[key] = -owner[key]
    elif action == "borrow":
        other, other_key = random.choice(places)
        owner[key] = copy.deepcopy(other[other_key]) if other is not owner else random.choice(POOL)
    else:
        owner[key] = random.choice(POOL)
    return document


def problems_of(text: str, kind: str = "entry") -> list[Problem]:
    """All problems of a text under a schema, each of them a clean line."""
    node = parse_yaml(text, "f.yaml")
    found = [*check(node, load_schema(SCHEMAS[kind]), "f.yaml"), *text_problems(node, "f.yaml")]
    if found:
        assert_clean(DataError(found))
    return sorted(found)


@pytest.mark.parametrize("kind", SCHEMAS)
def test_the_samples_are_valid_under_both(kind: str) -> None:
    schema = load_schema(SCHEMAS[kind])
    jsonschema.Draft202012Validator.check_schema(schema)
    library = jsonschema.Draft202012Validator(schema, format_checker=FORMATS)
    for text in VALID[kind]:
        assert problems_of(text, kind) == [] and library.is_valid(plain(text))


@pytest.mark.parametrize("kind", SCHEMAS)
@settings(max_examples=150)
@given(data=st.data())
def test_the_verdict_is_that_of_the_jsonschema_library(kind: str, data: st.DataObject) -> None:
    """One to three mutations of a valid document: both libraries agree on valid or not.

    The checker must not lose an error of `jsonschema_rs` on its way to a message, nor a value on
    its way from YAML to JSON.
    """
    schema = load_schema(SCHEMAS[kind])
    random = data.draw(st.randoms(use_true_random=False))
    document = plain(data.draw(st.sampled_from(VALID[kind])))
    for _ in range(data.draw(st.integers(1, 3))):
        document = mutate(document, random) if document else document
    library = jsonschema.Draft202012Validator(schema, format_checker=FORMATS)
    assert (check(node_of(document), schema, "f.yaml") == []) == library.is_valid(document), (
        document
    )


@pytest.mark.parametrize("kind", SCHEMAS)
def test_a_schema_uses_nothing_that_is_not_enforced(kind: str) -> None:
    """Every $ref stands alone and resolves: the checker looks at nothing beside it."""
    schema = load_schema(SCHEMAS[kind])
    todo: list[Any] = [schema]
    for part in todo:
        if isinstance(part, dict):
            if "$ref" in part:
                assert (
                    list(part) == ["$ref"]
                    and part["$ref"].removeprefix("#/$defs/") in schema["$defs"]
                )
            todo += part.values()
        elif isinstance(part, list):
            todo += part


def test_a_keyword_that_is_not_enforced_is_refused(tmp_path: Path) -> None:
    """A rule that editors would see but we would not check must not slip in."""
    path = tmp_path / "s.json"
    path.write_text(
        '{"properties": {"a": {"items": {"multipleOf": 2}}}, "anyOf": [{"minProperties": 1}]}'
    )
    with pytest.raises(DataError, match=r"s\.json.*not enforced: multipleOf"):
        load_schema(path)


@given(st.dates() | st.text(max_size=12).filter(lambda t: not is_date(t)))
def test_dates_are_days_of_the_calendar(day: datetime.date | str) -> None:
    assert is_date(str(day)) == isinstance(day, datetime.date)


@pytest.mark.parametrize(
    "text", ["2026-13-40", "2026-02-30", "20261121", "2026-W01-1", "2026-1-1", "", "today"]
)
def test_impossible_dates(text: str) -> None:
    assert not is_date(text)


def one(text: str, kind: str = "entry") -> Problem:
    (problem,) = problems_of(text, kind)
    return problem


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("feild", "unknown: found 'feild', expected 'field'; rename or remove it"),
        ("sorce", "found 'sorce', expected 'source'"),
        ("at_power", "found 'at_power', expected 'at_power_w'"),
        ("zzz", "found 'zzz', expected one of accumulate, aggregate"),
    ],
)
def test_a_misspelt_key_offers_the_nearest(key: str, says: str) -> None:
    text = entry_text(claim(**{key: 1}))
    problem = one(text)
    assert says in str(problem) and (problem.line, problem.column) == place(text, f"{key}:")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"dtype": "bf61"}, "enum: found 'bf61', expected one of fp64, fp32"),
        ({"dtype": "bf61"}, "(nearest: bf16); name the number format, or unstated"),
        (
            {"unit": "TFLOPs"},
            "(nearest: TFLOP/s); use a unit of this field, exactly as the source prints it",
        ),
        ({"per": "chip"}, "found 'chip'"),
        ({"field": "memmory"}, "(nearest: memory); choose the field"),
        # Not the list of all fields, which is longer than the rest of the line.
        ({"field": "measured_matmull"}, "words (nearest: measured_matmul); choose the field"),
    ],
)
def test_a_misspelt_value_offers_the_nearest(changes: dict, says: str) -> None:
    text = entry_text({**claim(), **changes})
    problem = one(text)
    assert says in str(problem) and (problem.line, problem.column) == place(
        text, f'"{next(iter(changes.values()))}"'
    )


def test_all_the_problems_of_a_document_come_at_once() -> None:
    text = entry_text(
        claim(drop=("unit",)),
        claim("memory", drop=("tier",), value=-1),
        claim("power", source="Bad Key"),
        claim(x=1),
        id="acme/One",
        kind="chip",
        summary="<b>bold</b>",
    )
    assert [(p.line, p.rule) for p in problems_of(text)] == [
        (1, "pattern"),
        (2, "enum"),
        (5, "markup"),
        (8, "missing"),
        (9, "missing"),
        (9, "form"),
        (10, "pattern"),
        (11, "unknown"),
    ]


def test_a_list_that_no_file_has_is_one_problem() -> None:
    """Each of 20,000 empty claims lacks ten fields: the checker kept them all, in a gigabyte."""
    text = "claims:\n" + "- {field: peak}\n" * 20_000
    schema = load_schema(schema_paths()["accelerator"])
    (problem,) = check(parse_yaml(text, "one.yaml"), schema, "one.yaml")
    assert "found a list of 20,000, expected at most 2,000" in str(problem) and problem.line == 2
