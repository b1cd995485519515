"""The rule on the layers of a model: patterns that add up, kinds with their sizes."""

from __future__ import annotations

import pytest

from flopbook.checks import lint as checker
from tests.support.samples import MODEL, SOURCE, World


def claims(**fields: object) -> str:
    """Claims of a model under the required keys."""
    units = {"attention_pattern": "none", "window": "token", "chunk": "token", "state_kind": "none"}
    units["selected_tokens"] = "token"
    return "".join(
        f"  - {{field: {field}, value: {size!r}, unit: {units.get(field, 'count')}, "
        f"source: {SOURCE}, as_of: 2026-11-21, locator: Table 1}}\n"
        for field, size in fields.items()
    )


def found(world: World, **fields: object) -> list[str]:
    """What the rule says of a model with these claims."""
    world.write("models/tiny-1b.yaml", MODEL + claims(**fields))
    return [problem.found for problem in checker.lint() if problem.rule == "layers"]


@pytest.mark.parametrize(
    "fields",
    [
        {"layers": 6},
        {"layers": 6, "attention_pattern": "2 window, 1 full", "window": 512},
        {"layers": 7, "attention_pattern": "2 x (2 window, 1 full), 1 window", "window": 512},
        {"layers": 4, "attention_pattern": "3 chunk, 1 full", "chunk": 8192},
        {"layers": 4, "attention_pattern": "3 state, 1 full", "state_kind": "mamba2"},
        {"layers": 4, "attention_pattern": "4 state+full", "state_values": 99},
        {"layers": 4, "attention_pattern": "4 sparse", "selected_tokens": 2048},
    ],
)
def test_layers_that_add_up(world: World, fields: dict[str, object]) -> None:
    assert found(world, **fields) == []


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"layers": 62, "attention_pattern": "5 window, 1 full", "window": 1024},
            "has 6 layers, which do not add up to 62",
        ),
        (
            {"layers": 4, "attention_pattern": "5 window, 1 full", "window": 1024},
            "has 6 layers, which do not add up to 4",
        ),
        (
            {"layers": 6, "attention_pattern": "5 window, 1 full"},
            "has window layers, but there is no window",
        ),
        (
            {"layers": 4, "attention_pattern": "3 state, 1 full"},
            "has state layers, but there is no state_kind",
        ),
        (
            {"layers": 6, "window": 1024},
            "window, but attention_pattern has no window layers",
        ),
        (
            {"layers": 6, "attention_pattern": "6 full", "chunk": 1024},
            "chunk, but attention_pattern has no chunk layers",
        ),
        (
            {"layers": 6, "attention_pattern": "6 full", "shared_kv_layers": 6},
            "shared_kv_layers is 6 of 6 layers",
        ),
        ({"attention_pattern": "6 full"}, "attention_pattern of a model without layers"),
    ],
)
def test_layers_that_do_not(world: World, fields: dict[str, object], message: str) -> None:
    assert any(message in text for text in found(world, **fields))


@pytest.mark.parametrize(
    "pattern", ["5 local, 1 full", "full", "5 x full", "5 window 1 full", "-1 full"]
)
def test_unknown_mixers_are_refused_by_the_schema(world: World, pattern: str) -> None:
    world.write("models/tiny-1b.yaml", MODEL + claims(layers=6, attention_pattern=f"{pattern}"))
    problems = [str(problem) for problem in checker.lint()]
    assert any("write the layers in order, such as 5 window, 1 full" in text for text in problems)
