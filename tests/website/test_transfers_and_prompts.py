"""Conditions under which prompts wait for weights and transfers hide, and captions on both."""

from __future__ import annotations

import re

import pytest

from flopbook.architectures.shape import shape
from flopbook.data.prices import prices
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.quantities.units import parse_quantity
from scripts.website.figures import domain_decode, rollout_measured, serving_promises
from tests.support.rendering import READS_THE_HANDBOOK, rendered, text_of

H100 = chip("h100-sxm")
CHAPTERS = (
    "inference",
    "serving",
    "racks",
    "reinforcement-learning",
    "kernels",
    "overlap-and-offloading",
    "profiling",
    "reliability-and-energy",
    "landscape",
)


def by_the_chapter(tokens: float) -> float:
    """Time of a prompt of Llama 3 70B on eight H100 in bf16, by the formula in print."""
    llama, pi, beta = shape("llama-3-70b"), 8 * H100.peak("bf16"), 8 * H100.memory_bandwidth()
    pairs = 2 * tokens**2 * llama.heads * llama.head_dim * llama.layers
    return max(2 * llama.params / beta, 2 * llama.params * tokens / pi) + pairs / pi


@pytest.mark.parametrize("tokens", [1, 100, 295, 1000, 8192, 131_072])
def test_a_short_prompt_waits_for_the_weights(tokens: int) -> None:
    """100 tokens take the 5.2 ms of a read, not the 1.7 ms of their arithmetic."""
    found = calculate("prefill", model="llama-3-70b", chip="h100-sxm", tp=8, seq=tokens)
    assert by_the_chapter(tokens) == pytest.approx(found["seconds"], rel=0.04)
    told = text_of("inference").split("T_\\text{prefill} =")[1].split("$$")[0]
    assert told.strip().startswith("\\max") and "\\beta" in told


@READS_THE_HANDBOOK
def test_one_user_of_eight_chips_gets_what_a_tuned_engine_reaches() -> None:
    """79 tokens a second, where weights and all-reduces at the printed rates come to 140."""
    found = calculate("decode", model="llama-3-70b", chip="h100-sxm", tp=8, batch=1, seq=8192)
    told = re.sub(r"<[^>]+>", "", rendered("handbook/inference.md"))
    rate = re.search(r"have to be launched, we expect (\d+)\stoken/s", told)
    assert rate and float(rate[1]) == pytest.approx(1 / found["likely_seconds"], rel=0.02)


def test_the_round_price_of_the_examples_is_below_every_list_price() -> None:
    asked = [price.value / price.chips for price in prices() if price.chip == "nvidia/h100-sxm"]
    assert len(asked) > 9 and 2 < min(asked) < 5
    assert "a round number below every [list price on file]" in text_of("inference")


def table(page: str, heading: str) -> list[list[str]]:
    """The rows of the first table of a page with such a heading, as they are shown."""
    below = rendered(page).split(heading)[1].split("\n\n")[0]
    rows = [re.sub(r"<[^>]+>", "", line) for line in below.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[1:]]


@READS_THE_HANDBOOK
def test_a_transfer_hides_from_its_bytes_over_operations_on() -> None:
    """x bytes for each parameter hide where x / rate is y B / pi at most, whatever the model."""
    update = calculate("offload", model="llama-3-8b", chip="h100-sxm", dp=1)["update_seconds"]
    paths = {"the link": 64e9, "its memory": 28 * shape("llama-3-8b").params / update}
    paths["the drives"] = 28e9
    rows = table("handbook/overlap-and-offloading.md", "| Tokens from which it hides |")
    assert len(rows) == 6
    for name, moved, over, done, tokens in rows:
        x, y, path = float(moved), float(done), paths[over.split(",")[0]]
        least = parse_quantity(tokens.replace(",", ""), "token")
        assert x / path == pytest.approx(y * least / H100.peak("bf16"), rel=1e-3), name


@READS_THE_HANDBOOK
def test_the_mean_wait_follows_from_the_prompt_in_print() -> None:
    told = re.sub(r"<[^>]+>", "", rendered("handbook/serving.md"))
    found = re.search(r"of (\S+)\sms and 70 percent utilisation the mean is (\S+)\sms", told)
    assert found and float(found[1]) / 0.3 == pytest.approx(float(found[2]), rel=0.002)


@READS_THE_HANDBOOK
def test_a_request_costs_its_expected_time_beside_its_bound() -> None:
    """Eight GPUs at 2 USD an hour: the time of a row is its price over 16/3.6 USD a second."""
    rows = table("handbook/serving.md", "| Part | Bound |")
    for part, *cells in rows:
        for time, price in zip(cells[::2], cells[1::2], strict=True):
            seconds = parse_quantity(time, "s")
            assert parse_quantity(price, "USD") == pytest.approx(seconds * 16 / 3.6, abs=6e-3), part


def test_the_slowest_of_a_hundred_come_from_many_requests() -> None:
    """1,500 of them gave 2.6 s at two a second, where thirty thousand make four."""
    many = serving_promises.simulated(2.0, 30_000).first
    shown = next(kept for kept in serving_promises.curve() if kept.rate == 2.0).first
    few = serving_promises.simulated(2.0, 1500).first
    assert few < 3 < shown and abs(shown / many - 1) < 0.3 < abs(few / many - 1)
    assert text_of("serving").count("more than three seconds") == 2


@READS_THE_HANDBOOK
def test_a_server_of_short_iterations_is_full_before_its_table_says() -> None:
    """2.5 requests a second within 30 ms; the 3 of the table make a token of 42 ms."""
    told = re.sub(r"<[^>]+>", "", rendered("handbook/serving.md"))
    found = re.search(r"server is full at (\S+) requests per second and not at the (\S+) of", told)
    assert found and float(found[1]) == round(serving_promises.full(), 1) < float(found[2])


def test_the_larger_update_took_twice_as_long_on_a_quarter_of_the_gpus() -> None:
    """113 s against 114 on half of the GPUs, 207 against 86 on a quarter: no words for both."""
    told = rollout_measured.figure().caption
    assert "hardly slower" not in told and "short of work" not in told
    assert "takes 0.99 times" in told and "2.4 times on a quarter" in told


def test_ranks_are_named_where_the_curves_have_points() -> None:
    assert domain_decode.figure().plots[0].across.ticks == domain_decode.RANKS


def test_four_nodes_are_the_most_that_experts_lie_on() -> None:
    """Eight experts on four nodes that are filled by chance reach 3.6 of them, 3.1 others."""
    met = 4 * (1 - (3 / 4) ** 8)
    assert met * 7 / 8 < 4 * 7 / 8 == 3.5
    assert 'that leaves {{ 3.5 | unit("1") }} others at most' in text_of("racks")


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_exercises_go_from_easy_to_hard(chapter: str) -> None:
    levels = re.findall(r'\{\{ exercise\("(\w+)"\)', text_of(chapter))
    assert len(levels) > 9 and levels == sorted(levels, key=["easy", "medium", "hard"].index)
