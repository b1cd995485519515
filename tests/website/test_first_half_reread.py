"""The chapters up to pipelines, read once more: what was wrong, and what could not be solved."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.quantities.units import format_quantity
from scripts.website.figures import (
    batch_offer,
    budget_valley,
    head_shards,
    hierarchy_lanes,
    sum_chains,
    tensor_lanes,
)
from tests.support.rendering import READS_THE_HANDBOOK, rendered, text_of
from tests.website.test_exercise_answers import agrees, numbers_of

STAGES, MICRO_BATCHES, CHUNKS = 8, 32, 4
# As the chapter on pipelines prints the idle time of a stage, and the same in Python: of the
# passes forward, for the inputs and for the weights.
IDLE: dict[str, tuple[str, Callable[[float, float, float], float]]] = {
    "gpipe": ("(K-1)(F+B+W)", lambda f, b, w: 7 * (f + b + w)),
    "interleaved": ("(K-1)(F+B+W) / V", lambda f, b, w: 7 * (f + b + w) / CHUNKS),
    "zb-h1": ("(K-1)(F+B-W)", lambda f, b, w: 7 * (f + b - w)),
    "zb-h2": ("(K-1)(F+B-2W)", lambda f, b, w: 7 * (f + b - 2 * w)),
    "zb-v": ("(K-1)(B-W)", lambda _, b, w: 7 * (b - w)),
    "dualpipe": ("(K/2-1)(F+2B-W)", lambda f, b, w: 3 * (f + 2 * b - w)),
    "dualpipe-v": ("(K-1)(F+2B-W) / 2", lambda f, b, w: 7 * (f + 2 * b - w) / 2),
}


def plain(chapter: str) -> str:
    """A chapter with its expressions filled, with common spaces between number and unit."""
    return rendered(f"handbook/{chapter}.md").replace("\xa0", " ")


@READS_THE_HANDBOOK
def test_every_line_with_more_chips_than_sequences_is_said_to_cut_them() -> None:
    """A batch of a million tokens has 488 sequences of 2,048, fewer than 512 chips."""
    table = rendered("handbook/data-parallelism.md").split("Step, no overlap")[1]
    chips = [int(cell.replace(",", "")) for cell in re.findall(r"^\| ([\d,]+) \|", table, re.M)]
    assert [count for count in chips[:5] if count > 1e6 / 2048] == [512, 2048]
    assert "The last two lines are beyond another limit" in text_of("data-parallelism")


@pytest.mark.parametrize("schedule", IDLE)
def test_the_printed_idle_time_is_that_of_the_calculator(schedule: str) -> None:
    """With passes of unequal length, as far as a closed form allows them."""
    printed, idle = IDLE[schedule]
    assert f"${printed}$" in text_of("pipeline-parallelism")
    inputs = 0.010 if schedule.startswith("dualpipe") else 0.011
    answer = calculate(
        "bubble",
        schedule=schedule,
        stages=STAGES,
        microbatches=MICRO_BATCHES,
        virtual=CHUNKS if schedule == "interleaved" else 1,
        forward=0.010,
        backward_input=inputs,
        backward_weight=0.008,
    )
    waits = answer["total_seconds"] - answer["ideal_seconds"]
    assert waits == pytest.approx(idle(0.010, inputs, 0.008))


@pytest.mark.parametrize("budget", budget_valley.BUDGETS.values())
@pytest.mark.parametrize("factor", [0.1, 0.5, 1, 2, 10])
def test_the_valley_is_that_of_the_printed_law(budget: float, factor: float) -> None:
    """With the constants of the chapter's table; the tokens are what the budget leaves."""
    params = factor * budget_valley.best(budget)[0]
    tokens = budget / 6 / params
    law = 1.8172 + 482.01 / params**0.3478 + 2085.43 / tokens**0.3658
    assert budget_valley.loss(budget, factor) == pytest.approx(law, abs=1e-5)


def test_half_and_twice_the_best_size_cost_as_much_as_the_title_says() -> None:
    title = budget_valley.figure().title
    for factor, digits in ((0.5, 3), (2, 3), (1 / 8, 2)):
        assert f"{budget_valley.extra(factor):.{digits}f}" in title


def test_a_cut_layer_hides_all_but_a_piece_of_the_shorter_of_two() -> None:
    """The picture follows the pieces; the chapter has the rule, max + min / p for each pair."""
    moved = tensor_lanes.exchange()
    for pieces in (1, 2, 8, 64):
        of_rule = [
            max(matmul.seconds, moved) + min(matmul.seconds, moved) / pieces
            for matmul in tensor_lanes.matmuls()
        ]
        assert tensor_lanes.seconds(pieces) == pytest.approx(sum(of_rule))


@READS_THE_HANDBOOK
def test_the_text_and_the_picture_of_a_cut_layer_agree() -> None:
    text = plain("tensor-parallelism")
    for pieces in (1, tensor_lanes.PIECES):
        assert format_quantity(tensor_lanes.seconds(pieces), "s") in text
    assert f"{tensor_lanes.seconds(1) / tensor_lanes.seconds(8):.2f} times as fast" in text


@READS_THE_HANDBOOK
def test_a_gather_over_two_axes_is_worked_in_the_text_as_an_exercise_finds() -> None:
    """All links of a chip bring in the array less its sixteenth: half as long as in turn."""
    array, axis = 2 * 8192**2, 200e9
    in_turn = 0.75 * (array / 4 + array) / axis
    at_once = (1 - 1 / 16) * array / (2 * axis)
    assert at_once == pytest.approx(in_turn / 2)
    _, worked = plain("sharded-matrices").split("easy to get wrong")
    for seconds in (in_turn, at_once):
        assert f"{format_quantity(seconds, 's')}." in worked[:2500]


def test_a_score_of_random_numbers_grows_with_the_root_of_the_width() -> None:
    """Why attention divides by it: the reason that the chapter gives, tried."""
    chance = np.random.default_rng(0)
    for width in (64, 256):
        queries, keys = chance.normal(size=(2, 4000, width))
        spread = (queries * keys).sum(axis=1).std()
        assert spread == pytest.approx(width**0.5, rel=0.05)
    assert "comes to about $\\sqrt{d}$" in text_of("transformers")


@pytest.mark.parametrize("sums", [1, 2, 4, 8])
def test_a_sum_takes_one_addition_at_a_time(sums: int) -> None:
    """No addition starts before its sum is there, none in the same cycle as another."""
    drawn = sum_chains.additions(sums)
    assert len({addition.start for addition in drawn}) == sum_chains.COUNT
    for before, after in zip(drawn, drawn[sums:], strict=False):
        assert after.start >= before.end
    assert sum_chains.cycles(1) == sum_chains.COUNT * sum_chains.LATENCY
    assert sum_chains.cycles(8) == sum_chains.COUNT + sum_chains.LATENCY - 1


@READS_THE_HANDBOOK
@pytest.mark.parametrize(
    ("chapter", "opening", "values"),
    [
        ("why-compute", "At the best split", (51.3, 63.3, 3.05)),
        ("batch", "The run of the beginning", (49152 / (4096 + 4 * 19788 / 8), 1.14)),
        ("fsdp", "A step has 16", (2, 17, 48, 33, 4 * 8.03)),
    ],
)
def test_new_exercises_are_answered_by_pencil(
    chapter: str, opening: str, values: tuple[float, ...]
) -> None:
    """Shares from the exponents 0.3478 and 0.3658, tokens and passes from the chapter."""
    shown = numbers_of(chapter, opening)
    for value in values:
        assert agrees(value, shown, 0.03), value


@READS_THE_HANDBOOK
def test_a_torus_of_512_exchanges_faster_than_cards_and_one_of_6144_slower() -> None:
    """Twice the share of a chip in what crosses the middle, against a card of 50 GB/s."""
    link, card = 100e9, 50e9
    of_a_cube = 2 * (2 * 8 * 8 * link) / 256
    of_a_job = 2 * (2 * 16 * 16 * link) / 3072
    assert of_a_cube == 2 * card and of_a_job < card
    _, example = plain("accelerators").split("## Worked example")
    assert f"it may send twice that, {format_quantity(of_a_cube, 'byte/s')}" in example
    assert "takes half as long, where at 6,144 chips it took longer" in example


@READS_THE_HANDBOOK
def test_shared_bytes_ask_for_an_eighth_of_the_reuse() -> None:
    """19,788 operations for a byte over a card, 765 over the six links of a TPU v5p."""
    afar, near = 989.4e12 / 50e9, 459e12 / 600e9
    text = plain("accelerators")
    assert f"a GPU has to use it {afar / near:.0f} times as often as a TPU" in text
    assert f"an eighth of them, and {afar / 8 / near:.0f} times remain" in text


@READS_THE_HANDBOOK
def test_the_dots_of_an_offer_are_the_lines_of_its_table() -> None:
    """Three batches at two critical ones, and the best of each near the middle batch."""
    table = plain("batch").split("| Batch | Critical batch |")[1].split("\n\n")[0]
    words = re.sub(r"<[^>]*>", "", table)
    printed = [float(speed) for speed in re.findall(r"tokens \| ([\d.]+) times \|", words)]
    hides = batch_offer.hiding() * batch_offer.AFTER
    batches = (batch_offer.BATCH, hides, 8 * batch_offer.BATCH)
    drawn = [
        round(batch_offer.faster(batch, times * batch_offer.BATCH), 1)
        for times in (1, 8)
        for batch in batches
    ]
    assert drawn == printed
    for times in (1, 8):
        batch, speed = batch_offer.best(times * batch_offer.BATCH)
        assert abs(batch / hides - 1) < 0.1
        assert f"{speed:.1f}" in batch_offer.figure().title


@pytest.mark.parametrize("chunks", [1, 2, 8, 64])
def test_chunks_hide_the_node_behind_the_cards(chunks: int) -> None:
    """A lane does one thing at a time; what shows of NVLink is a chunk at either end."""
    bars = hierarchy_lanes.stages(chunks)
    for lane, each in ((0, 2 * chunks), (1, chunks)):
        of_lane = sorted(bar for bar in bars if bar.lane == lane)
        assert len(of_lane) == each
        assert all(after.start >= bar.end - 1e-12 for bar, after in pairwise(of_lane))
    shown = hierarchy_lanes.across() + 2 * hierarchy_lanes.inside() / chunks
    assert hierarchy_lanes.seconds(chunks) == pytest.approx(shown)


@pytest.mark.parametrize("degree", head_shards.DEGREES)
def test_a_rank_has_the_kv_heads_that_its_queries_read(degree: int) -> None:
    """Each query head lies on one rank; a KV head on Y / G of them where that is above one."""
    ranks = head_shards.shared(degree)
    assert [query for rank in ranks for query in rank.queries] == list(range(head_shards.QUERIES))
    for rank in ranks:
        assert rank.keys == sorted({query // 2 for query in rank.queries})
    assert head_shards.copies(degree) == max(1, degree / head_shards.KEYS)
