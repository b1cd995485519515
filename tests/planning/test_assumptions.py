"""What nobody asked for of a prediction: a search is no slower, and each size is that of a step."""

from __future__ import annotations

import pytest

from flopbook.formulas.omissions import TENTH
from flopbook.planning.assumptions import (
    fastest_layout,
    layout_options,
    seconds_of,
    with_each_stack,
    with_half_the_network,
    with_larger_steps,
)
from flopbook.prediction.asking import predict
from flopbook.prediction.networks import CARDS, GIGABIT

# Experts on all ranks: the layout of a rule gathers all of them on every chip.
MIXTURE = {"model": "qwen-3-30b-a3b", "chip": "h100-sxm", "chips": "64", "batch_tokens": "4Mi"}
DENSE = {"model": "llama-3-8b", "chip": "h100-sxm", "chips": "16", "batch": "16", "seq": "8192"}


@pytest.mark.parametrize("asked", [MIXTURE, DENSE, {**DENSE, "zero": "3", "tp": "2"}])
def test_the_options_of_the_fastest_layout_give_its_time(asked: dict[str, str]) -> None:
    found = predict(asked)
    layout = fastest_layout(asked, found.run)
    assert layout is not None and layout.seconds <= found.seconds
    options = layout_options(layout, asked)
    assert not set(options) & set(asked)
    assert predict({**asked, **options}).seconds == pytest.approx(layout.seconds)


def test_a_rule_may_be_several_times_slower_than_a_search() -> None:
    found = predict(MIXTURE)
    layout = fastest_layout(MIXTURE, found.run)
    assert layout is not None and layout.seconds < found.seconds / 2


def test_a_stack_is_predicted_as_if_it_were_named() -> None:
    run = predict(DENSE).run
    found = with_each_stack(DENSE, run)
    assert [each.seconds for each in found] == sorted(each.seconds for each in found)
    by_name = {each.stack: each.seconds for each in found}
    laid = {name: f"{getattr(run, name):.0f}" for name in ("tp", "zero", "micro_batch")}
    named = {**DENSE, **laid, "recompute": run.recompute, "stack": "torchtitan"}
    assert by_name["torchtitan"] == pytest.approx(predict(named).seconds)


def test_half_the_network_is_the_card_of_half_the_rate() -> None:
    asked = {**MIXTURE, "network": "ndr"}
    run = predict(asked).run
    assert run.machine.card_bandwidth == CARDS["ndr"] * GIGABIT
    slow = predict({**asked, "network": "ndr200"}).seconds
    assert with_half_the_network(run) == pytest.approx(slow / predict(asked).seconds - 1)


def test_larger_steps_take_less_time_for_a_token() -> None:
    run = predict(DENSE).run
    share = with_larger_steps(DENSE, run)
    assert -TENTH < share < 0
    assert seconds_of(run) == pytest.approx(predict(DENSE).seconds)
