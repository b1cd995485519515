"""The space of layouts: every division once, and a rule leaves out what breaks it and no more."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.formulas.training_layouts import LAYOUT_RULES
from flopbook.planning import exclusions
from flopbook.planning.exclusions import (
    BATCH_RULES,
    CHUNK_RULES,
    DEGREE_RULES,
    MODEL_RULES,
    REASONS,
    Sieve,
)
from flopbook.planning.memory import bytes_of, memory_inputs
from flopbook.planning.question import Question, question_of
from flopbook.planning.space import Cells, Sharding, cells_of, space_of
from flopbook.prediction.chunks import is_even
from flopbook.prediction.layout_memory import software_options

ASKED = {
    "model": "llama-3-8b",
    "chip": "h100-sxm",
    "chips": "24",
    "batch_tokens": "96Ki",
    "seq": "4096",
    "stack": "megatron-core",
}
MIXED = {**ASKED, "model": "mixtral-8x7b", "chips": "16", "batch_tokens": "64Ki"}
LATENT = {**ASKED, "model": "deepseek-v3", "chips": "32", "batch_tokens": "128Ki"}
asked_models = pytest.mark.parametrize("asked", [ASKED, MIXED, LATENT], ids=["a", "b", "c"])


def cells(asked: dict[str, str]) -> tuple[Question, list[Cells], Counter[str]]:
    question = question_of(asked)
    sieve = Sieve(memory_inputs(question))
    found = list(cells_of(question, space_of(question), sieve))
    return question, found, sieve.counts


def listed(found: list[Cells]) -> list[tuple[Any, ...]]:
    """Each cell as schedule and numbers."""
    names = ("tp", "pp", "cp", "ep", "dp", "virtual", "micro_batch", "microbatches")
    rows: list[tuple[Any, ...]] = []
    for piece in found:
        columns = [piece.numbers[name].tolist() for name in names]
        rows += [(piece.schedule, *row) for row in zip(*columns, strict=True)]
    return rows


@asked_models
def test_degrees_multiply_to_the_chips_and_batches_to_the_batch(asked: dict[str, str]) -> None:
    question, found, _ = cells(asked)
    rows = listed(found)
    assert rows and len(set(rows)) == len(rows)
    for schedule, tp, pp, cp, ep, dp, virtual, micro_batch, count in rows:
        assert tp * pp * cp * dp == question.chips
        assert micro_batch * count * dp == question.batch
        assert (schedule == "interleaved") == (virtual > 1)
        assert pp > 1 or virtual == 1
        assert question.run.shape.experts % ep == 0
        assert (dp * cp) % ep == 0


@asked_models
def test_cells_and_what_is_left_out_make_the_space(asked: dict[str, str]) -> None:
    question, found, counts = cells(asked)
    space = space_of(question)
    kept = sum(map(len, found)) * space.variants
    assert kept + sum(counts.values()) == space.size


@given(st.integers(1, 360))
def test_every_way_to_write_a_number_is_there_once(chips: int) -> None:
    space = space_of(question_of({**ASKED, "chips": str(chips)}))
    degrees = [space.degrees[name].astype(int).tolist() for name in ("tp", "pp", "cp", "dp")]
    ways = list(zip(*degrees, strict=True))
    assert all(math.prod(way) == chips for way in ways)
    assert len(set(ways)) == len(ways)
    # A prime to the power of k is shared out among four in (k + 1)(k + 2)(k + 3)/6 ways.
    expected, left, prime = 1, chips, 2
    while left > 1:
        power = 0
        while left % prime == 0:
            left, power = left // prime, power + 1
        expected *= (power + 1) * (power + 2) * (power + 3) // 6
        prime += 1
    assert len(ways) == expected


@asked_models
def test_the_memory_calculator_takes_every_cell(asked: dict[str, str]) -> None:
    """The rules of the search are those of `memory`: nothing is kept that it refuses."""
    question, found, _ = cells(asked)
    options = software_options(question.model, question.run)
    inputs = memory_inputs(question)
    rows = listed(found)
    picked = np.random.default_rng(15).choice(len(rows), size=min(12, len(rows)), replace=False)
    for place in picked:
        schedule, *numbers = rows[place]
        names = ("tp", "pp", "cp", "ep", "dp", "virtual", "micro_batch", "microbatches")
        layout = dict(zip(names, numbers, strict=True))
        answer = calculate("memory", **options, **layout, schedule=schedule, zero=1.0)
        held = bytes_of(inputs, {**layout, "zero": 1.0}, schedule=schedule, recompute="selective")
        assert float(held) == pytest.approx(answer.outputs["total"], rel=1e-12)


@settings(max_examples=40)
@given(st.data())
def test_what_the_rules_leave_out_the_memory_calculator_refuses(data: st.DataObject) -> None:
    """Any degrees at all: kept if and only if `memory` answers, the rules of our own aside."""
    question = question_of(MIXED)
    numbers = {
        name: data.draw(st.sampled_from([1, 2, 3, 4, 6, 8, 16, 48, 64]), name)
        for name in ("tp", "pp", "cp", "ep", "dp")
    }
    numbers |= {"microbatches": data.draw(st.integers(1, 64)), "micro_batch": 1}
    schedule = data.draw(st.sampled_from(["1f1b", "interleaved", "dualpipe", "dualpipe-v"]))
    numbers["virtual"] = data.draw(st.sampled_from([1, 2])) if schedule == "interleaved" else 1
    sieve = Sieve(memory_inputs(question))
    rows = {name: np.array([float(number)]) for name, number in numbers.items()}
    kept = sieve.obey(rows, (*DEGREE_RULES, *CHUNK_RULES, *BATCH_RULES), 1, schedule=schedule)
    options = software_options(question.model, question.run)
    try:
        calculate("memory", **options, **numbers, schedule=schedule)
    except FlopbookError:
        assert not len(kept["tp"]) and sum(sieve.counts.values()) == 1
    else:
        assert len(kept["tp"]) == 1 and not sieve.counts


def test_every_rule_of_a_layout_has_its_place_and_its_words() -> None:
    rules = (*DEGREE_RULES, *CHUNK_RULES, *BATCH_RULES, *MODEL_RULES)
    assert sorted(rule.name for rule in rules) == sorted(rule.name for rule in LAYOUT_RULES)
    of_layouts = {rule.name for rule in rules} - {rule.name for rule in MODEL_RULES}
    assert of_layouts <= set(REASONS)
    assert len(set(REASONS.values())) == len(REASONS)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"chips": "48"}, "heads do not divide"),
        ({"model": "llama-3-70b", "chips": "48"}, "heads do not divide"),
        ({"chips": "64", "batch_tokens": "256Ki"}, "more stages than layers"),
        ({"chips": "64", "seq": "16", "batch_tokens": "1024"}, "sequence does not divide"),
        ({"batch_tokens": "8Ki"}, "batch does not divide"),
        ({}, "layers do not divide"),
        ({}, "schedule without a pipeline"),
        ({"chips": "32"}, "micro-batches do not divide by stages"),
        ({"model": "mixtral-8x7b", "chips": "8"}, "replicas do not divide into experts"),
        ({"model": "mixtral-8x7b", "chips": "9", "ep": "3"}, "experts do not divide"),
        ({"schedule": "dualpipe", "chips": "27"}, "stages do not pair"),
        ({"schedule": "dualpipe", "chips": "16", "batch_tokens": "32Ki"}, "fewer micro-batches"),
    ],
)
def test_each_reason_is_met(change: dict[str, str], reason: str) -> None:
    _, _, counts = cells({**ASKED, **change})
    assert any(name.startswith(reason) and count > 0 for name, count in counts.items()), counts


@pytest.mark.parametrize(
    ("layers", "chunks", "expected"),
    [
        (126, 16, True),  # Llama 3 405B
        (61, 16, True),  # DeepSeek-V3
        (105, 35, True),  # Megatron 530B
        (128, 64, True),
        (96, 96, True),
        (40, 6, True),  # two short of 42, just a twentieth
        (32, 3, True),
        (80, 64, False),
        (32, 5, False),
        (96, 97, False),
        (12, 5, False),
        (100, 52, False),
    ],
)
def test_stages_are_even_but_for_what_stands_in_for_layers(
    layers: int, chunks: int, expected: bool
) -> None:
    assert bool(is_even(float(layers), float(chunks))) is expected


@given(st.integers(1, 200), st.integers(1, 200))
def test_even_stages_are_short_of_few_layers(layers: int, chunks: int) -> None:
    short = -layers % chunks
    expected = chunks <= layers and short <= 3 and 20 * short <= layers
    assert bool(is_even(float(layers), float(chunks))) is expected


def test_a_sieve_counts_each_row_for_all_that_it_stands_for() -> None:
    sieve = Sieve({})
    rows = {"tp": np.array([1.0, 2.0, 4.0]), "dp": np.array([4.0, 2.0, 1.0])}
    kept = sieve.keep(rows, rows["tp"] < 4, "too wide", 10)
    assert kept["tp"].tolist() == [1, 2] and kept["dp"].tolist() == [4, 2]
    assert sieve.keep(kept, True, "never", 10) is kept
    assert sieve.keep(kept, False, "none", 3)["tp"].size == 0
    assert sieve.counts == {"too wide": 10, "none": 6}


def test_fixed_degrees_leave_one_value_on_their_axis() -> None:
    fixed = {"tp": "2", "pp": "4", "virtual": "2", "micro_batch": "1", "zero": "1"}
    question = question_of({**ASKED, **fixed, "recompute": "full"})
    space = space_of(question)
    assert set(space.degrees["tp"]) == {2} and set(space.degrees["pp"]) == {4}
    assert [chunk.virtual for chunk in space.chunks] == [2]
    assert space.micro_batches == (1,) and space.recompute == ("full",)
    assert space.zero == (Sharding(1),)
    assert space.size == len(space.degrees["tp"])


def test_a_micro_batch_that_divides_nothing_is_a_reason_not_a_mistake() -> None:
    _, found, counts = cells({**ASKED, "micro_batch": "5"})
    assert not sum(map(len, found)) and counts["batch does not divide"] > 0


def test_pieces_are_the_whole_in_order() -> None:
    _, found, _ = cells(ASKED)
    whole = found[0]
    pieces = list(whole.slices(7))
    assert [len(piece) for piece in pieces[:-1]] == [7] * (len(pieces) - 1)
    for name, column in whole.numbers.items():
        joined = np.concatenate([piece.numbers[name] for piece in pieces])
        assert joined.tolist() == column.tolist()
    assert {piece.schedule for piece in pieces} == {whole.schedule}


def test_reasons_of_our_own_are_no_reasons_of_the_calculator() -> None:
    own = (
        exclusions.NARROW,
        exclusions.UNEVEN,
        exclusions.NO_PIPELINE,
        exclusions.BATCH,
        exclusions.NO_REPLICAS,
        exclusions.NO_ROOM,
        exclusions.TOO_SLOW,
    )
    assert not set(own) & set(REASONS.values()) and len(set(own)) == len(own)
