"""Bounds that chapters on one chip and its first copies state, computed anew."""

from __future__ import annotations

import re
import statistics
from collections import Counter

from flopbook.evaluation.calculator import calculate
from scripts.website.figures import dragonfly, mfu_kinds
from scripts.website.figures.measured_matmuls import NARROW, SQUARE, flat, product, products
from scripts.website.figures.mfu_years import trained
from scripts.website.figures.reached_points import MARKS, mark_number
from tests.support.rendering import READS_THE_HANDBOOK, rendered
from tests.website.test_exercise_answers import H100, H100_BUS, agrees, numbers_of

ALL, MET = 8.03e9, 7.505e9  # parameters of Llama 3 8B, and those that a token is multiplied with
LONE_USER = {"model": "llama-3-8b", "chip": "h100-sxm", "batch": 1, "seq": 1}


def plain(chapter: str) -> str:
    """A chapter with its expressions filled, without tags, with common spaces before units."""
    text = rendered(f"handbook/{chapter}.md").replace("\xa0", " ")
    return re.sub(r"</?[a-z][^>]*>", "", text)


def numbers_in(text: str) -> list[float]:
    """All numbers of a text."""
    return [float(one.replace(",", "")) for one in re.findall(r"\d[\d,]*(?:\.\d+)?", text)]


@READS_THE_HANDBOOK
def test_a_lone_user_waits_for_the_weights_that_a_token_meets() -> None:
    """Of the table of the input a token reads one row, so it is no part of the bound."""
    bound = calculate("decode", **LONE_USER)["tokens_per_s"]
    assert agrees(bound, [H100_BUS / (2 * MET)], 1e-3)
    answer = numbers_of("roofline", "One user, one token")
    assert agrees(bound, answer, 1e-3) and not agrees(H100_BUS / (2 * ALL), answer, 1e-3)
    opening = plain("roofline").split("## A chip does two things")[1].split("\n\n")[1]
    assert agrees(bound, numbers_in(opening), 0.02)
    assert agrees(H100 / (2 * MET), numbers_in(opening), 0.02)


def test_caches_take_as_long_as_the_weights_that_a_step_reads() -> None:
    cache = 2 * 2 * 32 * 8 * 128 * 8192
    assert round(2 * MET / cache) in numbers_of("roofline", "Llama 3 8B has 32 layers")


def test_energy_of_a_token_counts_the_bytes_that_it_reads() -> None:
    shown = numbers_of("accelerators", "Llama 3 8B multiplies each token")
    read = 2 * MET * (121e-12 + 110 / 4.8e12)
    math = 0.88e-12 * 2 * MET
    assert agrees(round(read + math, 1), shown) and agrees(read / 64 + math, shown)


@READS_THE_HANDBOOK
def test_days_of_a_run_count_the_weights_that_a_token_meets() -> None:
    step = plain("batch").split("**From tokens to days.**")[1].split("\n")[0]
    assert agrees(round(6 * MET * 200e9 / (64 * 0.4 * H100) / 86400, 1), numbers_in(step), 1e-3)


@READS_THE_HANDBOOK
def test_two_chips_hold_a_first_micro_batch_and_no_second() -> None:
    """Gradients are a part of the states, and come after the peak at the loss."""
    steps = plain("transformers").split("**The peak, with full recomputation.**")[1]
    shown = numbers_in(steps.split("**Arithmetic of a sequence.**")[0])
    peak = 2 * 4096 * 32 * 8192 + 12 * 128256 * 8192 + 2 * 2 * 4096 * 8192
    peak += 2 * 2 * 128256 * 4096  # both tables, gathered
    gradients = 2 * ALL / 2
    assert 16 * ALL / 2 + peak - gradients < 80e9 < 16 * ALL / 2 + peak
    assert agrees(gradients, shown, 1e-3)


@READS_THE_HANDBOOK
def test_a_plan_adds_attention_and_leaves_out_the_table() -> None:
    """Causal attention of 8,192 tokens, less the table of the input: a fifteenth."""
    more = 6 * 32 * 4096 * 8192 / (6 * ALL) - 128256 * 4096 / ALL
    assert round(1 / more) == 15
    assert "about a fifteenth more" in plain("transformers")


@READS_THE_HANDBOOK
def test_mixtures_reach_half_of_what_dense_models_do() -> None:
    """Of 2026 more runs are of mixtures than of dense models, which reach nearly twice as much."""
    runs = [run for run in trained() if int(run.date) == 2026]
    shares: dict[tuple[bool, int], list[float]] = {}
    for run in runs:
        kind = "n_experts" in run.row.model, mark_number(run)
        shares.setdefault(kind, []).append(100 * (run.rate.share or 0))
    middle = {kind: statistics.median(values) for kind, values in shares.items()}
    mixtures = 100 * sum(kind[0] * len(values) for kind, values in shares.items()) / len(runs)
    assert mixtures > 50
    assert all(1.6 < middle[False, bits] / middle[True, bits] < 2.4 for bits in (0, 1))
    drawn = {(row.family == "mixtures", row.bits): 100 * row.middle for row in mfu_kinds.kinds()}
    assert all(abs(drawn[kind, MARKS[bits][0]] - at) < 1e-9 for (kind, bits), at in middle.items())
    told = plain("why-compute").split("Compare with runs of your own")[1].split("(The chapter")[0]
    printed = {round(middle[kind, bits]) for kind in (True, False) for bits in (0, 1)}
    assert printed | {round(mixtures)} <= set(numbers_in(told))


@READS_THE_HANDBOOK
def test_a_dragonfly_is_as_wide_and_as_narrow_as_the_chapter_says() -> None:
    """A small one is built and walked through; the one of the chapter follows the same counts."""
    joined = dragonfly.links(2, 4, 2)
    ports = Counter(node for link in joined for node in link)
    hosts = [node for node in ports if len(node) == 3]
    assert {ports[node] for node in ports if len(node) == 2} == {2 + 3 + 2}
    assert len(hosts) == 8 * 9
    assert max(len(dragonfly.longest(joined, host)) - 1 for host in hosts) == 5
    assert sum(one[0] < 4 <= other[0] for one, other in joined) == 4 * 5
    assert "at most 5 hops apart" in dragonfly.figure().title
    told = plain("networks").split("### Dragonflies")[1].split("### Ethernet")[0]
    shown = numbers_in(told)
    assert {512, 513, 512 * 513, 256 * 257, 512 * 513 / 2, 5, 6} <= set(shown)


@READS_THE_HANDBOOK
def test_measured_products_lie_under_the_roof_and_a_small_one_far_below() -> None:
    for one in products():
        assert 0 < one.rate < one.allowed, one
    small, narrow = product(SQUARE), product(NARROW)
    assert small.intensity > H100 / H100_BUS > narrow.intensity
    assert small.rate / small.allowed < 0.3 < 0.6 < min(flat())
    assert narrow.rate / narrow.allowed > max(flat()) - 0.01
    told = plain("roofline").split("On the slope they do.")[1].split("## A layer")[0]
    shown = numbers_in(told)
    assert {round(100 * small.rate / H100), round(100 * min(flat())), 64, 132} <= set(shown)
    assert agrees(2 * 1024**3 / H100, shown, 0.02) and agrees(small.seconds, shown, 0.02)
