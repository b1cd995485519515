"""What a strict reader of seven chapters found wrong, recomputed beside words that are right."""

from __future__ import annotations

import math
import re

import pytest

from flopbook.architectures.shape import shape
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from scripts.website.figures import experts_read, rails, two_batches
from scripts.website.pages.benched import benched
from scripts.website.pages.predicted import CHECK, FIT
from scripts.website.pages.prediction_order import APART, ordered
from tests.support.rendering import READS_THE_HANDBOOK, rendered

pytestmark = READS_THE_HANDBOOK


def _read(chapter: str) -> str:
    """A chapter with its expressions filled, without tags, in one line."""
    words = re.sub(r"<[^>]+>", "", rendered(f"handbook/{chapter}.md"))
    return " ".join(words.replace("&nbsp;", " ").split())


def test_products_of_a_micro_batch_run_in_turn() -> None:
    """8 bytes of a gradient beside 2 FLOPs: 1,181 tokens; at half of them 8 in place of 6."""
    ridge = float(calculate("min-batch", chip="nvidia/h100-sxm")["flop_per_byte"])
    assert 8 / 2 * ridge == pytest.approx(1181, abs=1)
    tokens = 2 * ridge
    times = [max(2 * tokens, read * ridge) for read in (2, 2, 8)]
    assert sum(times) / (6 * tokens) == pytest.approx(4 / 3)
    text = _read("batch")
    assert "1,181 tokens" in text and "a third longer than its arithmetic" in text
    assert "the passes together are compute-bound" not in text
    assert "four times as many" in text


def test_the_upper_end_follows_from_what_is_printed() -> None:
    """1.3 million tokens carried from 25 billion to 16 trillion with the power 0.462."""
    carried = 1.3 * (16_000 / 25) ** 0.462
    assert f"{carried:.2g}" == "26"
    assert f"{5 * (carried - 1.2 * 256 * 512 / 1e6):.2g}" == "1.3e+02"
    assert "as the power 0.462 of the tokens" in _read("batch")


def test_sum_and_backward_pass_are_equal_where_the_chapter_says() -> None:
    """The sum over 3,232 chips takes 707 ms, in which so many chips do the backward pass."""
    sent = 2 * shape("llama-3-70b").params
    took = calculate(
        "collective",
        chip="h100-sxm",
        chips=3232,
        bytes=sent,
        op="all-reduce",
        scaleout_bandwidth="50GB/s",
    )["seconds"]
    chips = 2 * sent * 4e6 / (0.5 * chip("h100-sxm").peak("bf16")) / took
    assert chips == pytest.approx(3232, abs=5)
    assert "that happens at 3,200 chips" in _read("networks")


def test_percent_of_the_cards_follows_from_the_rate_in_the_table() -> None:
    rate = round(benched("bus", "gtc-a100x32") / 1e9)
    assert f"{rate} GB/s" in _read("networks")
    assert f"A100 reaches {100 * rate / 200:.0f} percent" in _read("networks")


def test_a_message_that_changes_rails_has_an_arrow_for_every_leg() -> None:
    """Up to the rail, down to the right node, along NVLink."""
    for sheet in (rails.figure().parts, rails.figure().narrow.parts):
        assert sum(part.count("<polyline") == 2 for part in sheet) == 3  # a shaft and a head


def test_only_the_mixture_grows_with_the_square_of_the_ratio() -> None:
    """850 against 765 tokens for FSDP alone: 100/90, where the mixture has its square."""
    text = _read("mixed-parallelism")
    assert "limit of FSDP is 1.11 times ours" in text and "1.23 times" in text
    assert "limits are 1.23" not in text


def test_what_is_measured_of_exchanges_and_experts_is_told_apart() -> None:
    text = _read("expert-and-context-parallelism")
    assert "over two nodes 61 for dispatch and 33 for combine" in text
    assert "72 percent more than the mean" in text


def test_captions_say_what_titles_do_not() -> None:
    figure = experts_read.figure()
    assert "A lone token" in figure.title and "A lone token" not in figure.caption
    assert "light, D: dispatch; dark, C: combine" in two_batches.figure().caption


@pytest.mark.parametrize("use", [FIT, CHECK])
def test_pairs_farther_apart_are_fewer(use: str) -> None:
    pairs = [ordered(use, apart).pairs for apart in APART]
    assert pairs == sorted(pairs, reverse=True) and pairs[0] > 10


def test_a_share_of_pairs_is_not_sold_as_that_of_a_median_error() -> None:
    """Layouts are ordered rightly in well under nine of ten pairs, so the list is timed."""
    share = ordered(FIT, APART[0]).share
    assert 0.6 < share < 0.9
    text = _read("prediction")
    assert f"{100 * share:.0f} in a hundred of their pairs" in text
    assert "clusters left out" not in text and "Does it choose rightly?" in text


def test_one_step_is_cut_from_a_trace_of_three() -> None:
    text = rendered("handbook/profiling.md")
    assert "A file of three steps gives the sum of three" in text
    assert "Clocks differ from node to node" in text


def test_one_pool_holds_another_layout_of_the_weights() -> None:
    text = _read("reinforcement-learning")
    assert "no second copy is needed" not in text
    assert "the actor's scoring pass can go" in text
    assert math.isclose(1e12 / 50e9, 20) and "a terabyte needs 20 s" in text
