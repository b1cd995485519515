"""The one picture each of five chapters, held against the formulas and the sums that it shows."""

from __future__ import annotations

import math
import random
import re
from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from scripts.website.figures import (
    batch_units,
    block_scales,
    decode_step,
    domain_copies,
    message_parts,
    rollout_memory,
)
from scripts.website.figures.batch_units import BatchUnits

MODEL, CHIP = "llama-3-70b", "nvidia/h100-sxm"
counts = st.integers(1, 64)


@given(counts, counts, st.integers(1, 4), st.sampled_from([1, 2, 8, 32]))
def test_every_unit_of_a_batch_multiplies_to_the_same_sequences(
    replicas: int, micro_batches: int, each: int, replica_chips: int
) -> None:
    """S = d b m; MaxText's number times all chips is S as well."""
    batch = BatchUnits(replicas, micro_batches, each, 8192, replicas * replica_chips)
    assert batch.sequences == replicas * micro_batches * each
    assert isclose(batch.per_chip * batch.chips, batch.sequences)
    given_to = dict(batch.asked())
    assert f"{batch.sequences * 8192:,} tokens" in given_to["torchtitan"]
    assert given_to["MaxText"].endswith(f"{batch.per_chip:g}")


@pytest.mark.parametrize(("replicas", "micro_batches"), [(16, 32), (4, 8)])
def test_a_batch_has_a_cell_for_each_micro_batch(replicas: int, micro_batches: int) -> None:
    drawn = batch_units.figure(replicas, micro_batches)
    for parts in (drawn.parts, drawn.narrow.parts if drawn.narrow else ()):
        cells = re.findall(r'<rect class="fb-(c\d)"', "".join(parts))
        assert len(cells) == replicas * micro_batches
        assert cells.count("c0") == 1 and cells.count("c1") == micro_batches - 1


@pytest.mark.parametrize("size", [8, 16, 32, 64])
def test_a_block_scale_cuts_nothing_off_and_errs_by_half_a_step(size: int) -> None:
    """The largest gap of E2M1 is a third of its largest value, so half of it errs by a sixth."""
    numbers = block_scales.values()
    kept = block_scales.quantised(numbers, size)
    for start in range(0, len(numbers), size):
        block = range(start, start + size)
        largest = max(abs(numbers[place]) for place in block)
        for place in block:
            assert abs(kept[place] - numbers[place]) <= 2 * largest / 6 + 1e-9
            assert abs(kept[place]) <= 2 * largest


def test_smaller_blocks_lose_fewer_numbers_to_an_outlier() -> None:
    lost = [block_scales.erased(size) for size in (64, 32, 16, 8)]
    assert lost == [63, 31, 15, 7]
    assert "63 of 64" in block_scales.figure().title and "and 15" in block_scales.figure().title


def test_a_step_is_its_caches_and_the_higher_of_the_rest() -> None:
    for batch in (1.0, 50.0, 185.0, 300.0):
        step = decode_step.parts(MODEL, CHIP, 8, 8192, batch)
        higher = max(step["weight_seconds"], step["compute_seconds"])
        assert step["seconds"] == pytest.approx(higher + step["kv_seconds"], rel=0.01)


def test_the_title_of_a_step_names_the_batch_at_which_both_are_read_equally_long() -> None:
    drawn = decode_step.figure()
    batch = int(re.search(r"Up to (\d+)", drawn.title)[1])  # type: ignore[index]
    below, above = (decode_step.parts(MODEL, CHIP, 8, 8192, batch + more) for more in (-1, 1))
    assert below["weight_seconds"] > below["kv_seconds"]
    assert above["weight_seconds"] < above["kv_seconds"]
    fits = calculate("serving", model=MODEL, chip=CHIP, tp=8, seq=8192)["batch_fits"]
    assert f"{fits:,.0f} have room" in drawn.description
    assert fits < 295, "memory is full before arithmetic matters, as the caption says"


def test_as_many_copies_stay_in_a_node_as_chance_leaves_there() -> None:
    ranks, experts, node = domain_copies.RANKS, domain_copies.EXPERTS, domain_copies.NODE
    assert len(set(domain_copies.places())) == experts and 0 not in domain_copies.places()
    assert domain_copies.leaving(node) == experts * (1 - node / ranks)
    assert domain_copies.leaving(ranks) == 0
    drawn = "".join(domain_copies.figure().parts)
    colours = re.findall(r'<rect class="fb-(\w+)"[^>]*><title>', drawn)
    assert colours.count("c6") == domain_copies.leaving(node)
    assert colours.count("c1") == 2 * experts - domain_copies.leaving(node)


def test_equal_networks_are_no_picture_of_two_domains() -> None:
    with pytest.raises(FlopbookError, match="slower"):
        domain_copies.figure(50e9, 50e9)


@pytest.mark.parametrize(("model", "tp"), rollout_memory.ENGINES)
def test_writing_holds_states_reference_weights_and_caches(model: str, tp: int) -> None:
    """16 and 2 bytes for each parameter over all chips, 2 over an engine, and the caches."""
    writing, offloaded, training = rollout_memory.phases(model, tp)
    params = 8.03e9 if tp == 1 else 70.55e9
    token = calculate("kv-cache", model=model, seq=1)["bytes_per_token"]
    caches = rollout_memory.fullest() * 2048 * 4608 * token / 64
    assert writing.total == pytest.approx(params * (18 / 64 + 2 / tp) + caches, rel=1e-3)
    assert writing.total - offloaded.total == pytest.approx(params * 18 / 64, rel=1e-3)
    assert training.sizes[:2] == writing.sizes[:2] and training.sizes[2:4] == (0, 0)


def test_answers_that_ended_leave_half_of_all_caches() -> None:
    """Lengths drawn from the step of the chapter: what is held while all write side by side."""
    chance = random.Random(0)
    middle = math.log(4096) - 0.5**2 / 2
    lengths = [chance.lognormvariate(middle, 0.5) for _ in range(4000)]
    held = [
        sum(512 + token for length in lengths if length > token) for token in range(0, 16_384, 128)
    ]
    assert max(held) / (4000 * 4608) == pytest.approx(rollout_memory.fullest(), rel=0.03)


def test_the_large_model_fills_a_gpu_that_keeps_its_states() -> None:
    """As the caption says; the small one has half of it free."""
    small, large = (rollout_memory.phases(*engine) for engine in rollout_memory.ENGINES)
    assert small[0].total < 40e9 < large[1].total < 65e9 < 79e9 < large[0].total
    assert f"{large[0].total / 1e9:.0f} GB with 70B" in rollout_memory.figure().title


spans = st.floats(1e-5, 1e-2)


@given(spans, spans, st.floats(1e-7, 1e-4))
def test_the_best_number_of_parts_is_the_least_of_the_curve(
    product: float, message: float, cost: float
) -> None:
    """The derivative of min / p + p o is zero at the square root of min / o."""
    parts = message_parts.best(product, message, cost)
    least = message_parts.time(product, message, parts, cost)
    for other in (0.5 * parts, 0.9 * parts, 1.1 * parts, 2 * parts):
        assert message_parts.time(product, message, other, cost) >= least
    assert message_parts.best(product, message, 4 * cost) == pytest.approx(parts / 2)


@given(spans, spans)
def test_free_parts_run_from_the_sum_towards_the_longer_one(product: float, message: float) -> None:
    times = [message_parts.time(product, message, parts, 0) for parts in (1, 2, 8, 1e9)]
    assert times == sorted(times, reverse=True)
    assert times[0] == pytest.approx(product + message)
    assert times[-1] == pytest.approx(max(product, message))


def test_parts_of_nothing_are_no_picture() -> None:
    with pytest.raises(FlopbookError, match="some time"):
        message_parts.figure(0)
    drawn = message_parts.figure()
    assert "A message of 800 us and a product of 1 ms" in drawn.caption.replace("µ", "u")
    assert "1.53" not in drawn.title, "which an exercise with these times asks for"


def test_areas_of_a_step_meet_at_the_higher_of_weights_and_arithmetic() -> None:
    """The caches stand on the same edge that ends the area below them."""
    drawn = decode_step.figure()
    assert drawn.narrow is not None
    for parts in (drawn.parts, drawn.narrow.parts):
        lower, upper = re.findall(r'<polygon class="fb-c\d" points="([^"]+)"', "".join(parts))
        edge = lower.split()[len(lower.split()) // 2 :]
        assert edge[::-1] == upper.split()[: len(edge)]
    assert "the lower area is flat until arithmetic takes longer" in drawn.caption
