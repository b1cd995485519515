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
from scripts.website.pages.planned import terminal
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
    assert counted("torchtitan", "switch") == 1
    assert "refuses to start unless you set `pipeline_parallel_first_stage_less_layers`" in CHAPTER
    assert counted("MaxText", "switch") == 2 and "MaxText: `remat_policy: full`" in CHAPTER
    assert "only with `shard_optimizer_over_data`" in CHAPTER


def test_torchtitan_gets_the_replicas_as_the_planner_writes_them() -> None:
    """16 shards, since copies would keep a whole optimizer each; with stages that is ZeRO-2."""
    line = (
        "flopbook plan --model llama-3-70b --chip h100-sxm --chips 512 --batch-tokens 4Mi "
        "--seq 8192 --tp 4 --pp 8 --virtual 10 --zero 1 --stack megatron-core --top 1 "
        "--flags torchtitan"
    )
    assert line in CHAPTER
    printed = terminal(line, since="pytorch/torchtitan")
    assert "data_parallel_replicate_degree 1 " in printed
    assert f"data_parallel_shard_degree {BATCH.replicas} " in printed
    column = [row.cells[FRAMEWORKS.index("torchtitan")].text for row in rows()]
    assert f"shard {BATCH.replicas}" in column and "ZeRO-2" in column
    assert "these are the flags of ZeRO-2" in printed


def test_the_title_counts_the_cells() -> None:
    title = figure().title
    assert f"{counted('Megatron-LM', 'given')} numbers" in title
    assert f"{counted('torchtitan', 'given')} numbers and 1 switch in torchtitan" in title


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_every_cell_of_a_framework_is_drawn(framework: str) -> None:
    drawn = figure()
    assert drawn.narrow is not None
    column = [row.cells[FRAMEWORKS.index(framework)].text for row in rows()]
    for parts in (drawn.parts, drawn.narrow.parts):
        text = "".join(parts)
        assert all(f">{words}<" in text for words in column)
