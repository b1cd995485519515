"""The picture of one layer that serves: its times are those of the chapter's formulas."""

from __future__ import annotations

import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.quantities.units import percent
from scripts.website.figures.decode_layer import (
    CHIP,
    CHIPS,
    CONTEXT,
    MODEL,
    PANELS,
    bars,
    busy,
    figure,
    parts,
    reduction,
)
from tests.support.cases import every

LAYERS = 80
ASKED = {"model": MODEL, "chip": CHIP, "tp": CHIPS, "seq": CONTEXT}


@every("users", (1, 64))
def test_all_layers_together_are_a_step_without_the_head(users: int) -> None:
    step = calculate("decode", batch=users, **ASKED)
    worked = LAYERS * sum(part.seconds for part in parts(users, users))
    head = 2 * 8192 * 128256 / CHIPS / 3.35e12
    assert worked + head == pytest.approx(step["seconds"], rel=0.01)


def test_all_layers_together_are_a_prompt() -> None:
    read = calculate("prefill", **ASKED)
    worked = LAYERS * sum(part.seconds for part in parts(CONTEXT, 1))
    assert worked == pytest.approx(read["seconds"], rel=0.01)
    assert 2 * LAYERS * reduction(CONTEXT) == pytest.approx(read["message_seconds"])


def test_a_message_of_one_token_is_latency() -> None:
    timed = calculate("collective", chip=CHIP, chips=CHIPS, bytes=2 * 8192, op="all-reduce")
    assert reduction(1) == pytest.approx(float(timed["seconds"]))
    assert timed["latency_seconds"] > 0.9 * timed["seconds"]


@every("text, tokens, users", PANELS)
def test_lanes_take_turns_only_at_messages(text: str, tokens: int, users: int) -> None:
    found = bars(tokens, users)
    assert busy(found, 2) + max(busy(found, 0), busy(found, 1)) == pytest.approx(1), text


def test_more_users_lengthen_attention_and_not_the_block_after_it() -> None:
    (alone, block), (crowd, same) = parts(1, 1), parts(64, 64)
    assert crowd.seconds > 5 * alone.seconds
    assert same.seconds == pytest.approx(block.seconds)


def test_the_title_says_how_busy_the_tensor_cores_are() -> None:
    title = figure().title
    assert f"{percent(busy(bars(CONTEXT, 1), 0))} while it reads" in title
    assert f"{percent(busy(bars(1, 1), 0), 1)} while it writes" in title
