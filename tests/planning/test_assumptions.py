"""What nobody asked for of a prediction: each size is that of a step."""

from __future__ import annotations

import pytest

from flopbook.formulas.omissions import TENTH
from flopbook.planning.assumptions import (
    layout_options,
    seconds_of,
    with_each_stack,
    with_half_the_network,
    with_larger_steps,
)
from flopbook.prediction.asking import predict
from flopbook.prediction.networks import CARDS, GIGABIT

MIXTURE = {"model": "qwen-3-30b-a3b", "chip": "h100-sxm", "chips": "64", "batch_tokens": "4Mi"}
DENSE = {"model": "llama-3-8b", "chip": "h100-sxm", "chips": "16", "batch": "16", "seq": "8192"}


@pytest.mark.parametrize("asked", [{**MIXTURE, "zero": "3"}, {**MIXTURE, "dp": "64"}])
def test_the_options_of_a_faster_layout_give_its_time(asked: dict[str, str]) -> None:
    """Experts on all ranks: a rule gathers all of them on every chip."""
    found = predict(asked).faster
    assert found is not None and found.seconds < predict(asked).seconds / 2
    options = layout_options(found.run, asked)
    assert not set(options) & set(asked)
    assert predict({**asked, **options}).seconds == pytest.approx(found.seconds)


def test_a_stack_is_predicted_as_if_it_were_named() -> None:
    run = predict(DENSE).run
    found = with_each_stack(DENSE, run)
    assert [each.seconds for each in found] == sorted(each.seconds for each in found)
    by_name = {each.stack: each.seconds for each in found}
    named = {**DENSE, **layout_options(run, DENSE), "stack": "torchtitan"}
    assert by_name["torchtitan"] == pytest.approx(predict(named).seconds)


def test_half_the_network_is_the_card_of_half_the_rate() -> None:
    asked = {**MIXTURE, "network": "ndr"}
    run = predict(asked).run
    assert run.machine.card_bandwidth == CARDS["ndr"] * GIGABIT
    slow = predict({**asked, **layout_options(run, asked), "network": "ndr200"}).seconds
    assert with_half_the_network(run) == pytest.approx(slow / predict(asked).seconds - 1)


def test_larger_steps_take_less_time_for_a_token() -> None:
    run = predict(DENSE).run
    share = with_larger_steps(DENSE, run)
    assert -TENTH < share < 0
    assert seconds_of(run) == pytest.approx(predict(DENSE).seconds)
