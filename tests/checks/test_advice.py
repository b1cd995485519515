"""What lint and diff advise is right: one line for one mistake, and nothing that would do harm."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from flopbook.changes.difference import difference
from flopbook.changes.snapshot import snapshot
from flopbook.checks.lint import lint
from flopbook.data.schema import Schema, check, load_schema
from flopbook.data.yaml_text import parse_yaml
from flopbook.errors import DataError
from tests.support.samples import World, claim

EXCEPTION = {"total": "the vendor prints another total, see the note"}


def texts(world: World) -> list[str]:
    world.library.forget()
    return [str(problem) for problem in lint()]


def test_no_exception_is_to_be_removed_while_a_file_is_unreadable(world: World) -> None:
    """The rule may be broken by what cannot be read; removing the exception would be a mistake."""
    world.entry("box", claim(), kind="node", parts={"acme/one": 8}, exceptions=EXCEPTION)
    assert any("one that is needed" in text for text in texts(world))
    world.write("accelerators/acme/two.yaml", "id: [")
    (problem,) = texts(world)
    assert problem.startswith("accelerators/acme/two.yaml:2:1: yaml:")


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("1,000", "1000"),
        ("1,234.5", "1234.5"),
        ('"1,000"', "1000"),
        ("1_000", "1000"),
        ("1 000", "1000"),
        ("1'000", "1000"),
        ('"1,234,567"', "1234567"),
        ("12,345,678", "12345678"),
    ],
)
def test_a_number_with_marks_says_how_to_write_it(written: str, plain: str, world: World) -> None:
    path = world.accelerators / "acme" / "one.yaml"
    path.write_text(path.read_text().replace("value: 700", f"value: {written}"))
    (problem,) = texts(world)
    assert problem.startswith("accelerators/acme/one.yaml:12:") and f"write {plain}" in problem
    assert "without marks between its digits" in problem


def test_a_group_of_digits_twice_names_the_commas(world: World) -> None:
    path = world.accelerators / "acme" / "one.yaml"
    path.write_text(path.read_text().replace("value: 700", "value: 1,000,000"))
    (problem,) = texts(world)
    assert "numbers without commas between their digits" in problem


def test_a_missing_source_is_one_line_in_each_file(world: World) -> None:
    world.write("bibliography/all.bib", "")
    problems = [text for text in texts(world) if ": source: " in text]
    assert [text.partition(":")[0] for text in problems] == [
        "accelerators/acme/one.yaml",
        "bibliography/claims/acme.yaml",
        "models/tiny-1b.yaml",
    ]
    assert "found 'acme2026one' (7 times in this file), expected a key" in problems[0]


def test_cycles_are_one_line_each(world: World) -> None:
    """Also of products with values of their own, whose parts no total asks for."""
    world.entry("box", claim(), kind="node", parts={"acme/crate": 2})
    world.entry("crate", claim(), kind="node", parts={"acme/box": 2})
    world.entry("one", claim(), variant_of="acme/two")
    world.entry("two", claim(), variant_of="acme/one")
    world.entry("self", claim(), variant_of="acme/self")
    cycles = [text for text in texts(world) if ": part: " in text]
    assert len(cycles) == 3
    assert "acme/box contains itself: acme/box > acme/crate > acme/box" in cycles[0]
    assert "acme/one is a variant of itself: acme/one > acme/two > acme/one" in cycles[1]
    assert "acme/self is a variant of itself: acme/self > acme/self" in cycles[2]


def test_a_tower_of_parts_is_counted_at_once_or_refused(world: World) -> None:
    """Two of the same part at each of 40 levels are a million million chips."""
    for level in range(1, 40):
        world.entry(f"n{level}", kind="node", parts={f"acme/n{level + 1}": 2, "acme/one": 1})
    world.entry("n40", kind="node", parts={"acme/one": 1})
    (problem,) = [text for text in texts(world) if ": part: " in text and "levels" in text]
    assert "acme/n1 has parts in more than 12 levels" in problem


@pytest.mark.parametrize(
    "name",
    [
        "accelerators/acme/Two.yaml",
        "accelerators/acme/two words.yaml",
        "accelerators/acme/tw\u00f6.yaml",
        "accelerators/acme/-two.yaml",
        "accelerators/acme/two-.yaml",
        "accelerators/acme/two\n.yaml",
        "accelerators/acme/a\x1b[31m.yaml",
        "accelerators/acme/a\u202eb.yaml",
        "accelerators/acme/two.yml",
        "accelerators/Bad Vendor/vendor.yaml",
        "models/Bad Model.yaml",
    ],
)
def test_a_bad_name_of_a_file_is_one_line(name: str, world: World) -> None:
    world.write(name, "id: x\n")
    (problem,) = texts(world)
    assert ": file: found " in problem and "rename or remove it" in problem
    assert problem.isprintable() and "lower case with hyphens" in problem


def test_a_name_that_is_no_text_is_one_line(world: World) -> None:
    with open(os.fsencode(world.accelerators) + b"/acme/\xff.yaml", "w"):
        pass
    (problem,) = texts(world)
    assert problem.isprintable() and "\\udcff.yaml" in problem


BROKEN_SCHEMAS = {
    "no JSON": ('{"type": }', ":1:10: schema: found Expecting value"),
    "a list": ("[]", ":1:1: schema: found"),
    "bytes": (b"\xff", ":1:1: schema: found 'utf-8' codec"),
    "depth": ("[" * 100_000, ":1:1: schema: found"),
    "unknown keyword": ('{"multipleOf": 3}', "keywords that are not enforced: multipleOf"),
}


@pytest.mark.parametrize("kind", BROKEN_SCHEMAS)
def test_a_broken_schema_is_one_line(kind: str, tmp_path: Path) -> None:
    content, message = BROKEN_SCHEMAS[kind]
    path = tmp_path / "schema.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError) as refusal:
        load_schema(path)
    assert message in str(refusal.value) and "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    "rule", [{"type": "nonsense"}, {"$ref": "#/$defs/none"}, {"pattern": "["}, {"minLength": "x"}]
)
def test_rules_that_are_none_are_one_line(rule: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="schema: found") as refusal:
        check(parse_yaml("a: 1", "f"), Schema(json.dumps(rule)), "f")
    assert "\n" not in str(refusal.value)


def test_a_broken_entry_is_unreadable_and_not_removed(world: World) -> None:
    before = snapshot(world.library)
    world.write("accelerators/acme/one.yaml", "id: [")
    changes = difference(before, snapshot(world.library))
    kinds = [(change.id, change.how) for change in changes.written]
    assert kinds == [("acme/one", "unreadable")] and not changes.chosen
    (text,) = [line for line in changes.unread if "one.yaml" in line]
    assert text.startswith("now: acme/one: accelerators/acme/one.yaml:2:1: yaml")
    mended = difference(snapshot(world.library), before)
    assert not mended.written and mended.unread


def test_a_broken_ledger_removes_no_row(world: World) -> None:
    before = snapshot(world.library)
    world.write("bibliography/claims/acme.yaml", "rows: 3\n")
    changes = difference(before, snapshot(world.library))
    assert [(change.kind, change.how) for change in changes.written] == [("ledger", "unreadable")]
    assert not changes.ledger and changes.unread
