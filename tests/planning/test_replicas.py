"""Replicas in every division: the prediction where it has one, laws, and plans by brute force."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from flopbook.planning.replicas import (
    Division,
    Replica,
    held_bytes,
    prompt_seconds,
    step_seconds,
    transfer_seconds,
)
from flopbook.planning.serving import ServingLayout, plan_serving, sequence_counts
from flopbook.planning.serving_question import ServingQuestion, serving_question
from flopbook.prediction import serving, serving_load
from flopbook.prediction.fitted import fitted_kinds

P = fitted_kinds()["inference"].parameters
DENSE = {"model": "llama-3-8b", "chip": "h100-sxm", "chips": "8", "dtype": "bf16"}
MIXTURE = {**DENSE, "model": "mixtral-8x7b", "chip": "h200-sxm", "dtype": "fp8"}
LATENT = {**DENSE, "model": "deepseek-v3", "chip": "b300", "dtype": "fp4", "chips": "4"}
LIMITED = {**MIXTURE, "max_first_token": "120ms", "max_per_token": "15ms", "chips": "4"}
SHARES = {"dense": DENSE, "mixture": MIXTURE, "latent": LATENT, "limited": LIMITED}


def replica(question: ServingQuestion, division: Division) -> Replica:
    return Replica(question.base, question.kv_heads, *map(float, division))


@pytest.mark.parametrize("asked", [DENSE, MIXTURE], ids=["dense", "mixture"])
def test_tensor_parallelism_alone_is_what_is_predicted(asked: dict[str, str]) -> None:
    """Steps, first tokens and bytes of `prediction.serving`, to twelve digits."""
    question = serving_question(asked)
    for tp, batch in itertools.product((1, 2, 4, 8), (1, 7, 64, 1024)):
        one = replica(question, Division(tp=tp))
        case = question.base._replace(tp=float(tp), chips=float(tp), batch=float(batch))
        decode = serving.predict([case._replace(task=serving.DECODE)], P)[0]
        prefill = serving.predict([case._replace(task=serving.PREFILL)], P)[0]
        assert step_seconds(one, float(batch), P) == pytest.approx(decode, rel=1e-12)
        assert prompt_seconds(one, float(batch), P) == pytest.approx(prefill, rel=1e-12)
        context = case.prompt + case.answer
        held = serving_load.held_bytes(case, context)
        assert held_bytes(one, float(batch)) == pytest.approx(held, rel=1e-12)


def divisions(question: ServingQuestion) -> Iterator[Division]:
    """Every division of at most all chips, by loops over all numbers."""
    chips, served = question.chips, question.base.shape
    upto = range(1, chips + 1)
    for tp, pp, dp in itertools.product(upto, upto, upto):
        if chips % (tp * pp * dp) or question.heads % tp:
            continue
        if dp > 1 and not served.is_mixture:
            continue
        short = -served.layers % pp
        if pp > served.layers or short > min(3, 0.05 * served.layers):
            continue
        for ep in {1, tp * dp} if served.is_mixture else {1}:
            if served.experts % ep == 0:
                yield Division(tp, pp, dp, ep)


def pace(question: ServingQuestion, division: Division, n: float) -> dict[str, float]:
    """What a replica reaches with so many sequences on each rank, one number at a time."""
    one, base = replica(question, division), question.base
    step, prompts = step_seconds(one, n, P), prompt_seconds(one, n, P)
    batch = n * division.dp * division.pp
    writing = step + P["step_seconds"] + P["sequence_seconds"] * n * division.pp
    reading = prompts * (2 * division.pp - 1) / division.pp
    first = prompt_seconds(one, 1.0, P)
    return {
        "fits": held_bytes(one, n) <= question.room,
        "step": step,
        "first": first,
        "late": first + transfer_seconds(one, P),
        "rate": batch * base.answer / (reading + base.answer * writing),
        "written": batch / writing,
        "prompts": division.dp * division.pp / first,
    }


def brute_force(question: ServingQuestion) -> tuple[float, float]:
    """The most tokens a second with one pool and with two, by trying everything."""
    paces = {
        (division, n): pace(question, division, float(n))
        for division in divisions(question)
        for n in sequence_counts()
    }
    kept = {key: one for key, one in paces.items() if one["fits"]}
    quick = {key: one for key, one in kept.items() if one["step"] <= question.most_per_token}
    one_pool = max(
        (
            one["rate"] * (question.chips // division.chips)
            for (division, _), one in quick.items()
            if one["first"] <= question.most_first_token
        ),
        default=0.0,
    )
    readers = {
        division: one["prompts"]
        for (division, n), one in kept.items()
        if n == 1 and one["late"] <= question.most_first_token
    }
    two_pools = 0.0
    for ((writer, _), one), (reader, prompts) in itertools.product(quick.items(), readers.items()):
        for count in range(1, question.chips // writer.chips + 1):
            left = question.chips - count * writer.chips
            if left > 0 and left % reader.chips == 0:
                reading = left // reader.chips * prompts * question.base.answer
                two_pools = max(two_pools, min(reading, count * one["written"]))
    return one_pool, two_pools


@pytest.mark.parametrize("asked", list(SHARES.values()), ids=list(SHARES))
def test_a_plan_of_serving_equals_brute_force(asked: dict[str, str]) -> None:
    question = serving_question(asked)
    expected = brute_force(question)
    for pools, most in zip(("one", "two"), expected, strict=True):
        layouts = plan_serving(question._replace(pools=pools), 10**6).layouts
        found = layouts[0].tokens_per_s if layouts else 0.0
        assert found == pytest.approx(most, rel=1e-12), pools
        assert all(bool(layout.prefill) == (pools == "two") for layout in layouts)
    both = plan_serving(question, 1).layouts
    assert (both[0].tokens_per_s if both else 0.0) == pytest.approx(max(expected), rel=1e-12)
    assert max(expected) > 0


@pytest.mark.parametrize("asked", list(SHARES.values()), ids=list(SHARES))
def test_what_is_listed_is_what_the_replica_reaches(asked: dict[str, str]) -> None:
    question = serving_question(asked)
    for layout in plan_serving(question, 10**6).layouts:
        division = Division(*layout[:4])
        n = layout.batch / (layout.dp * layout.pp)
        there = pace(question, division, n)
        assert n == int(n) and there["fits"]
        assert layout.per_token == pytest.approx(there["step"])
        assert layout.per_token <= question.most_per_token
        assert layout.first_token <= question.most_first_token
        assert layout.low < layout.tokens_per_s < layout.high
        assert layout.tokens_per_s_per_chip * question.chips == pytest.approx(layout.tokens_per_s)
        readers = 0
        if layout.prefill is None:
            total = there["rate"] * layout.replicas
            first = there["first"]
        else:
            readers = layout.prefill.chips * layout.prefill_replicas
            reader = pace(question, layout.prefill, 1.0)
            read = layout.prefill_replicas * reader["prompts"] * question.base.answer
            total = min(read, layout.replicas * there["written"])
            first = reader["late"]
        assert layout.tokens_per_s == pytest.approx(total)
        assert layout.first_token == pytest.approx(first)
        assert division.chips * layout.replicas + readers == question.chips


def test_ranks_of_attention_hold_the_cache_that_tensor_parallelism_copies() -> None:
    """DeepSeek's latent cache has one part: eight ranks copy it, or each has its own sequences."""
    question = serving_question({**LATENT, "chips": "8"})
    empty = 0.0
    copied = replica(question, Division(tp=8))
    owned = replica(question, Division(dp=8, ep=8))
    of_copied = held_bytes(copied, 64.0) - held_bytes(copied, empty)
    of_owned = held_bytes(owned, 8.0) - held_bytes(owned, empty)
    assert of_copied == pytest.approx(8 * of_owned)
    # What is not of experts is held by each rank.
    assert held_bytes(owned, empty) > held_bytes(copied, empty)
    grouped = serving_question(DENSE)
    half, whole = (replica(grouped, Division(tp=tp)) for tp in (4, 8))
    caches = [held_bytes(one, 64.0) - held_bytes(one, empty) for one in (half, whole)]
    assert caches[0] == pytest.approx(2 * caches[1])


def test_stages_divide_the_weights_and_lengthen_the_step() -> None:
    question = serving_question(DENSE)
    one, two = (replica(question, Division(pp=pp)) for pp in (1, 2))
    assert held_bytes(one, 0.0) == pytest.approx(2 * held_bytes(two, 0.0))
    # A token passes all stages: with as many sequences on each it takes a little longer.
    assert step_seconds(one, 16.0, P) < step_seconds(two, 16.0, P) < 1.1 * step_seconds(one, 16, P)
    assert prompt_seconds(one, 1.0, P) < prompt_seconds(two, 1.0, P)


@pytest.mark.parametrize("asked", [DENSE, MIXTURE, LATENT], ids=["dense", "mixture", "latent"])
def test_more_sequences_take_longer_and_more_memory(asked: dict[str, str]) -> None:
    question = serving_question(asked)
    sizes = np.array(sequence_counts(), dtype=float)
    for division in divisions(question):
        one = replica(question, division)
        for grows in (step_seconds(one, sizes, P), held_bytes(one, sizes)):
            assert np.all(np.diff(grows) > 0)
        rates = sizes / step_seconds(one, sizes, P)
        assert np.all(np.diff(rates) > 0), division
        assert 0 < transfer_seconds(one, P) < 1


def test_experts_beyond_the_domain_travel_over_cards() -> None:
    """The same ranks inside one domain are faster than across two."""
    inside = serving_question({**MIXTURE, "chips": "8"})
    machine = inside.base.machine._replace(domain=4.0)
    across = inside._replace(base=inside.base._replace(machine=machine))
    for division in (Division(dp=8, ep=8), Division(tp=2, dp=4, ep=8), Division(tp=8)):
        near = step_seconds(replica(inside, division), 32.0, P)
        far = step_seconds(replica(across, division), 32.0, P)
        assert near < far
    small = Division(tp=2, dp=2, ep=4)
    assert step_seconds(replica(inside, small), 32.0, P) == pytest.approx(
        step_seconds(replica(across, small), 32.0, P)
    )


def test_a_batch_that_is_fixed_is_that_of_the_replica() -> None:
    found = plan_serving(serving_question({**MIXTURE, "batch": "12", "pools": "one"}), 10**6)
    assert {layout.batch for layout in found.layouts} == {12}
    assert all(12 % (layout.dp * layout.pp) == 0 for layout in found.layouts)
    assert found.infeasible["sequences do not divide"] > 0
    assert found.considered >= len(found.layouts) + sum(found.infeasible.values())


@pytest.mark.parametrize(
    ("fixed", "holds"),
    [
        ({"tp": "2"}, lambda one: one.tp == 2),
        ({"pp": "2"}, lambda one: one.pp == 2),
        ({"dp": "4"}, lambda one: one.dp == 4),
        ({"ep": "8"}, lambda one: one.ep == 8 == one.tp * one.dp),
        ({"tp": "4", "dp": "2", "ep": "8"}, lambda one: one[:4] == (4, 1, 2, 8)),
    ],
)
def test_degrees_that_are_given_are_kept(fixed: dict[str, str], holds: Any) -> None:
    layouts = plan_serving(serving_question({**MIXTURE, **fixed, "pools": "one"}), 100).layouts
    assert layouts and all(holds(layout) for layout in layouts)


def test_records_have_both_pools() -> None:
    found = plan_serving(serving_question({**MIXTURE, "pools": "two", "price": "2USD/h"}), 3)
    for layout, record in zip(found.layouts, found.record()["layouts"], strict=True):
        assert isinstance(layout, ServingLayout) and layout.prefill
        assert record["prefill"] == layout.prefill._asdict()
        assert record["prefill_replicas"] == layout.prefill_replicas > 0
        assert math.isfinite(record["token_cost"]) and record["token_cost"] > 0
    alone = plan_serving(serving_question({**MIXTURE, "pools": "one"}), 1).record()["layouts"][0]
    assert alone["prefill"] is None and alone["prefill_replicas"] == 0
