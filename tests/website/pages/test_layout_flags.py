"""The picture of one layout in four frameworks agrees with the tables of its chapter."""

from __future__ import annotations

import pytest

from scripts.website.figures.layout_flags import (
    BATCH,
    CHUNKS,
    FRAMEWORKS,
    STAGES,
    TP,
    counted,
    figure,
    rows,
)
from tests.support.cases import every
from tests.support.rendering import text_of

CHAPTER = text_of("from-plan-to-flags")


def test_the_layout_is_that_of_the_chapter() -> None:
    assert TP * STAGES * BATCH.replicas == BATCH.chips
    assert BATCH.replicas * BATCH.micro_batches * BATCH.each == BATCH.sequences
    for name, value in {"tp": TP, "pp": STAGES, "dp": BATCH.replicas, "seq": BATCH.seq}.items():
        assert f"{{% set {name} = {value} %}}" in CHAPTER
    assert f"{{% set batch = {BATCH.sequences} %}}" in CHAPTER
    assert CHUNKS == 10 and "with ten chunks on each stage" in CHAPTER


@every("framework, way, words", [
    ("Megatron-LM", "derived", "Megatron-LM and DeepSpeed derive data parallelism"),
    ("DeepSpeed", "derived", "Megatron-LM and DeepSpeed derive data parallelism"),
    ("torchtitan", "given", "torchtitan and MaxText ask for all axes"),
    ("MaxText", "given", "torchtitan and MaxText ask for all axes"),
])  # fmt: skip
def test_who_derives_the_replicas(framework: str, way: str, words: str) -> None:
    row = next(row for row in rows() if row.name.endswith("replicas"))
    assert row.cells[FRAMEWORKS.index(framework)].way == way
    assert words in CHAPTER


def test_switches_are_the_defaults_that_the_chapter_warns_of() -> None:
    assert counted("Megatron-LM", "switch") == 2
    assert "both off by default in Megatron-LM" in CHAPTER
    assert counted("MaxText", "switch") == 1 and "MaxText: `remat_policy: full`" in CHAPTER


def test_the_title_counts_the_cells() -> None:
    title = figure().title
    assert f"{counted('Megatron-LM', 'given')} numbers" in title
    assert f"{counted('torchtitan', 'given')} numbers in torchtitan" in title


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_every_cell_of_a_framework_is_drawn(framework: str) -> None:
    drawn = figure()
    assert drawn.narrow is not None
    column = [row.cells[FRAMEWORKS.index(framework)].text for row in rows()]
    for parts in (drawn.parts, drawn.narrow.parts):
        text = "".join(parts)
        assert all(f">{words}<" in text for words in column)
