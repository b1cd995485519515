"""Whole numbers of the schemas have bounds, so that infinity is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from flopbook.data.folders import schema_paths
from tests.data.test_schema import FACT, problems_of
from tests.support.samples import VENDOR


def whole_numbers(rule: Any) -> Iterator[dict[str, Any]]:
    """Every rule of a schema that takes a whole number."""
    inner = rule if isinstance(rule, list) else []
    if isinstance(rule, dict):
        inner = list(rule.values())
        named = rule.get("type", "")
        if "integer" in (named if isinstance(named, list) else [named]):
            yield rule
    for child in inner:
        yield from whole_numbers(child)


@pytest.mark.parametrize("kind", schema_paths())
def test_whole_numbers_have_a_greatest_value(kind: str) -> None:
    """Infinity reaches the checker as the largest float, which is a whole number."""
    rules = list(whole_numbers(json.loads(schema_paths()[kind].read_text(encoding="utf-8"))))
    assert all(rule["minimum"] < rule["maximum"] < 1e15 for rule in rules)


@pytest.mark.parametrize("value", ["1e999", "-1e999", "1e31", "18", "3000"])
def test_a_vendor_is_founded_in_a_year(value: str) -> None:
    (problem,) = problems_of(f"{VENDOR}facts: [{FACT.replace('1993', value, 1)}]\n", "vendor")
    assert "1800" in problem.expected or "2100" in problem.expected
