"""Mistakes that people make in their first file, and what they are told to do about each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from flopbook.checks.rules.base import Holdings
from flopbook.checks.rules.measured import check
from flopbook.data.folders import schema_paths
from flopbook.data.library import library, load_entry
from flopbook.data.references import read_bib
from flopbook.data.runs import MeasuredRun, RunFile, RunSource
from flopbook.data.schema import Schema
from flopbook.data.yaml_text import parse_yaml
from flopbook.errors import DataError
from tests.support.samples import World, claim, flow


def told(read: Callable[[], object]) -> str:
    with pytest.raises(DataError) as caught:
        read()
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "id: a\nkind:package\nname: x\n",
            "found a line without ': ' behind its name, expected well-formed YAML; "
            "write NAME: VALUE, with a space behind the colon",
        ),
        (
            "name: NVIDIA: H100\n",
            "found a second ': ' in one line, expected well-formed YAML; "
            "put a text that has a colon in it in quotes",
        ),
        (
            "claims:\n  - {a: 1\n  - {b: 2}\n",
            "found a '{' without its '}', or no comma or quote, "
            "expected well-formed YAML; look here and in the lines above",
        ),
        ("a: 1\na: 2\n", "found 'a' twice, expected each key once; remove one of the two"),
    ],
)
def test_yaml(text: str, message: str) -> None:
    """It was `found could not find expected ':'`."""
    assert told(lambda: parse_yaml(text, "x.yaml")).endswith(message)


def test_a_key_that_is_there_twice(tmp_path: Path) -> None:
    """It was `check braces, commas and quotes`."""
    file = tmp_path / "a.bib"
    work = "@misc{acme2026a, title = {A}, year = {2026}}\n"
    file.write_text(work * 2, encoding="utf-8")
    said = told(lambda: list(read_bib(file)))
    assert "expected each key once; remove one of the two, or rename it" in said


def test_sparsity_is_asked_for_in_the_words_of_a_claim() -> None:
    """It was `say why the rule does not apply`, from the exception of the same name."""
    text = schema_paths()["accelerator"].read_text(encoding="utf-8")
    described = Schema(text).described["sparsity"]["description"]
    assert described.startswith("say dense, 2:4")


@pytest.mark.parametrize(
    ("instead_of", "written", "message"),
    [
        ("value: 80,", 'value: "80",', "write 80 without quotes"),
        ("value: 80,", 'value: "1e3",', "write 1e3 without quotes"),
        ("dtype: bf16", "dtype: BF16", "(nearest: bf16); write bf16"),
        ("sparsity: dense", "sparsity: Dense", "(nearest: dense); write dense"),
    ],
)
def test_quotes_and_capitals(instead_of: str, written: str, message: str, world: World) -> None:
    """It was `a number above zero without unit`, and `name the number format`."""
    text = flow(claim("peak", value=80, dtype="bf16")).replace('"', "")
    assert instead_of in text
    world.entry("one", text.replace(instead_of, written))
    assert told(lambda: load_entry("acme/one")).endswith(message)


def test_a_model_that_cannot_be_read_is_not_missing_from_each_of_its_runs() -> None:
    """One typing error in llama-3-8b.yaml was 307 lines, 306 of which said: add the model."""
    row = MeasuredRun(
        id="a-1",
        kind="training",
        publication="acme",
        where="Table 1",
        measured={},
        model={"dims_from": "calculators/models/llama-3-8b.yaml"},
    )
    holdings = Holdings(
        library=library(),
        runs={"acme": RunFile({"acme": RunSource("acme2026a")}, (row,))},
        references={"acme2026a": None},  # type: ignore[dict-item]  # its keys are enough
        models={},
    )
    assert list(check(holdings)) == []
