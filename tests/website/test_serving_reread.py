"""What strict readers found wrong in the chapters on serving engines and racks."""

from __future__ import annotations

import math
import random

import pytest

from flopbook.architectures.shape import shape
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from scripts.website.figures import (
    cache_transfer,
    serving_promises,
    token_degree,
)
from tests.support.rendering import text_of


@pytest.mark.parametrize(
    ("heads", "cards", "late"), [(8, 8, 0.4), (8, 1, 3.4), (64, 1, 150), (64, 8, 3.4)]
)
def test_eight_cards_hide_the_transfer_of_64_kv_heads_and_one_does_not(
    heads: int, cards: int, late: float
) -> None:
    """Each GPU of TP 8 sends its eighth: 168 MB over 50 GB/s, or eight times as much."""
    read, message = cache_transfer.times(heads, cards)
    assert message == pytest.approx(4096 * 327_680 * heads / 8 / (cards * 50e9), rel=1e-6)
    waits = 1e3 * cache_transfer.arrival(cache_transfer.sent(read, message, 8))
    assert waits == pytest.approx(late, rel=0.05)
    assert "eight cards would hide it, one would not" in text_of("serving")


def test_seventy_percent_breaks_the_first_token_and_14_servers_keep_it() -> None:
    """Both rates of the worked example, on the curve of the figure."""
    kept = {found.rate: found for found in serving_promises.curve()}
    assert 3 < kept[2.0].first < 5 and serving_promises.sold() == 1.5
    assert math.ceil(20 / 1.5) == 14
    assert "So read the headroom off the curve" in text_of("serving")


def test_a_wait_for_a_geometric_number_of_prompts_is_exponential() -> None:
    """Each finished prompt is the last with 1 - rho; one in a hundred waits ln 100 means."""
    chance, busy = random.Random(0), 0.7
    waits = []
    for _ in range(100_000):
        wait = chance.expovariate(1)
        while chance.random() < busy:
            wait += chance.expovariate(1)
        waits.append(wait)
    waits.sort()
    assert waits[99_000] * (1 - busy) == pytest.approx(math.log(100), rel=0.03)
    assert "the request itself with probability $1 - \\rho$" in text_of("serving")


def test_a_measured_pace_lies_between_a_straight_line_and_experts_read() -> None:
    """9.2 and 26.7 ms at 1 and 64 requests; 15.6 at 16, where the two ways give 13 and 17."""
    one, some, many = 9.2, 15.59, 26.72
    read = [1 - (1 - 8 / 256) ** tokens for tokens in (1, 16, 64)]
    straight = one + 15 / 63 * (many - one)
    experts = one + (read[1] - read[0]) / (read[2] - read[0]) * (many - one)
    assert (straight, experts) == pytest.approx((13.4, 16.9), abs=0.05)
    assert straight < some < experts and experts - some < some - straight
    assert "nearer to the experts" in text_of("serving")


def test_the_gain_of_tp_16_follows_from_the_time_of_an_all_reduce() -> None:
    """252 all-reduces beside 812 GB over 8 TB/s: 45, 13 and 7.8 us leave 1.4, 1.7 and 1.7 times."""
    read = 2 * shape("llama-3-405b").params / chip("nvidia/gb200-gpu").memory_bandwidth()
    gains = []
    for name, each in token_degree.sums().items():
        wider = each + 8 * 2 * 16384 / 900e9 if name == "SGLang" else each
        assert token_degree.at_degree(name, each, 16) == pytest.approx(wider)
        gains.append((read / 8 + 252 * each) / (read / 16 + 252 * wider))
        assert token_degree.token(8, each) / token_degree.token(16, wider) == pytest.approx(
            gains[-1]
        )
    assert gains == pytest.approx([1.36, 1.66, 1.75], abs=0.01)
    title = token_degree.figure().title
    assert "1.4 times as fast with slow" in title and "1.7 times with fast" in title
    assert "Switches that [add up themselves]" not in text_of("racks")
    assert "1.4 to 1.7 times as fast" in text_of("racks")


@pytest.mark.parametrize(("ranks", "share", "sent"), [(8, 0.656, 410e-6), (64, 0.947, 660e-6)])
def test_a_token_sent_once_to_each_rank_saves_a_third_on_eight_ranks(
    ranks: int, share: float, sent: float
) -> None:
    """Eight experts drawn at random lie on 5.3 of eight ranks, and on 7.6 of 64."""
    chance = random.Random(0)
    tries = [{chance.randrange(ranks) for _ in range(8)} - {0} for _ in range(100_000)]
    apart = sum(map(len, tries)) / len(tries) / (8 * (1 - 1 / ranks))
    assert apart == pytest.approx(share, abs=0.005)
    assert ranks * (1 - (1 - 1 / ranks) ** 8) / 8 == pytest.approx(share, abs=0.001)
    options = {"model": "deepseek-v3", "chip": "nvidia/gb200-gpu", "dtype": "fp8", "seq": 4096}
    step = calculate("decode", **options, tp=1, dp=ranks, ep=ranks, batch=64 * ranks)
    assert share * step["message_seconds"] == pytest.approx(sent, rel=0.02)
    assert "send a token once to each rank" in text_of("racks")


def test_a_rack_may_cost_as_much_more_as_it_writes_more_for_each_gpu() -> None:
    """2.0 times with 64 sequences on a GPU, less than a node's price at full load."""
    options = {"model": "deepseek-v3", "chip": "nvidia/gb200-gpu", "dtype": "fp8", "seq": 4096}
    small, wide = (
        calculate("decode", **options, tp=1, dp=ranks, ep=ranks, batch=64 * ranks)
        for ranks in (8, 64)
    )
    assert wide["likely_tokens_per_s"] / small["likely_tokens_per_s"] / 8 == pytest.approx(
        2.0, abs=0.05
    )
    full = {"model": "deepseek-v3", "chip": "nvidia/gb300-gpu", "dtype": "nvfp4", "seq": 4096}
    few, all_of_it = (calculate("serving", **full, dp=ranks, ep=ranks) for ranks in (8, 64))
    assert all_of_it["likely_tokens_per_s"] / few["likely_tokens_per_s"] / 8 == pytest.approx(
        0.98, abs=0.005
    )
    assert "A rack is paid by users who pay for pace" in text_of("racks")


def test_eight_spares_outlast_a_month_and_a_rack_fails_first() -> None:
    """Each of 72 GPUs fails once in five years; nine of them in 30 is rarer than one in 100,000."""
    failed = 1 - math.exp(-30 / (5 * 365.25))
    kept = sum(
        math.comb(72, lost) * failed**lost * (1 - failed) ** (72 - lost) for lost in range(9)
    )
    assert 32 * (1 - kept) < 1e-4
    ninth = 5 * 365.25 * sum(1 / left for left in range(64, 73))
    assert ninth == pytest.approx(242, abs=1) and ninth > 200 / 32
    assert "no rack falls below 64" in text_of("racks")


def test_messages_of_nodes_are_waited_for_from_43_sequences_on() -> None:
    """Weights twice, and what each sequence adds: the two sides are equal at 42.2."""
    options = {"model": "deepseek-v3", "chip": "nvidia/gb200-gpu", "dtype": "fp8", "seq": 4096}
    step = calculate("decode", **options, tp=1, dp=64, ep=64, batch=64 * 64)
    port = chip("nvidia/gb200-gpu").scaleup_bandwidth()
    sent = step["message_seconds"] / 64 * 56 / 63 * port / 50e9
    work = (step["seconds"] - step["weight_seconds"]) / 64
    meet = 2 * step["weight_seconds"] / (sent - work)
    assert math.ceil(meet) == 43 and round(meet) == 42
    assert "on a step waits" in text_of("racks")


def test_a_time_is_called_a_bound_or_expected_before_the_first_is_used() -> None:
    """And a pause is as many expected steps as the expected prompt takes: 200 ms over 17 ms."""
    text = text_of("serving")
    assert text.index("### Two sets of times") < text.index("### Load, latency and batch")
    options = {"model": "llama-3-70b", "chip": "h100-sxm", "tp": 8}
    read = calculate("prefill", **options, seq=4096)
    step = calculate("serving", **options, seq=4352, batch=64)
    assert round(read["likely_seconds"] / step["likely_seconds"]) == 11
    assert round(read["seconds"] / step["seconds"]) == 9
    assert 'prefilled / run["likely_seconds"]' in text


def test_a_rack_shows_its_pace_at_several_loads() -> None:
    """Twice as fast with few sequences on a GPU, 1.2 times with 512; both replicas have room."""
    shown = {}
    for inside in (8, 64, 256, 512):
        options = {"model": "deepseek-v3", "chip": "nvidia/gb200-gpu", "dtype": "fp8", "tp": 1}
        steps = [
            calculate("decode", **options, dp=ranks, ep=ranks, batch=inside * ranks, seq=4096)
            for ranks in (8, 64)
        ]
        assert all(one["chip_bytes"] < chip("nvidia/gb200-gpu").memory() for one in steps)
        shown[inside] = round(steps[0]["likely_seconds"] / steps[1]["likely_seconds"], 1)
    assert shown == {8: 2.1, 64: 2.0, 256: 1.6, 512: 1.2}
    assert "for inside in [8, 64, 256, 512]" in text_of("racks")


def test_the_room_for_caches_and_its_end_follow_each_other() -> None:
    """And the example says that its times are bounds before the first of them."""
    text = text_of("inference")
    room, end, cut = (
        text.index(f"### {title}")
        for title in ("Many users: room", "Where the cache goes", "Wide groups")
    )
    assert room < end < cut
    example = text[text.index("## Worked example") :]
    assert example.index("All times are bounds") < example.index("1. **Do the weights fit?**")
