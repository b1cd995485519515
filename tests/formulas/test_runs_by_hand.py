"""Runs, pipelines, tiles and the pace of serving, on paper: round numbers for every input.

Young's interval (young1974first), bubbles of qi2024zero and qi2024pipeline, tiles as in
goto2008anatomy.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

from flopbook.formulas import failures, training_runs
from flopbook.formulas.deployment import serving
from flopbook.formulas.inference import decode
from flopbook.formulas.omissions import size_of
from flopbook.formulas.pipeline import bubble, waits_for_the_norm
from flopbook.formulas.tiled_kernels import causal_mask, tile_traffic, wide_result
from flopbook.quantities.ops import inf

near = pytest.approx


def test_time_lost_to_failures() -> None:
    """A failure every 1,000 s, saving 20 s, restarting 50 s."""
    found = failures.time_lost(chips=10, pause=20, chip_mtbf=10_000, restart=50)
    assert (found["mtbf"], found["best_interval"]) == (1000, 200)
    assert (found["saving"], found["repeating"], found["restarting"]) == (0.1, 0.1, 0.05)
    assert found["lost"] == near(0.25)
    given = failures.time_lost(chips=10, pause=20, chip_mtbf=10_000, restart=50, interval=400)
    assert (given["saving"], given["repeating"]) == (0.05, near(0.2))
    assert failures.time_lost(chips=10, pause=2000, chip_mtbf=1000, restart=50)["lost"] == 1
    none = failures.time_lost(chips=10, pause=20, chip_mtbf=0, restart=50)
    assert none["lost"] == none["repeating"] == none["restarting"] == 0
    short = failures.time_lost(chips=1, pause=0.1, chip_mtbf=0.5, restart=0, interval=0.2)
    assert short["repeating"] == near(0.2)


def test_failures_that_hit_lost_time() -> None:
    """Memoryless: an interval of y failures takes T (e^y - 1) e^(R/T), with y within a percent."""
    for period, saving, restarting in ((0.2, 0.1, 0.05), (0.5, 0.25, 0.3), (0.02, 0.01, 2)):
        lost = min(saving + period / 2 + restarting, 1)
        exact = 1 - period / (math.expm1(period * (1 + saving)) * math.exp(restarting))
        size = failures.failures_in_lost_time.function(saving, period / 2, restarting, lost)
        assert (1 + size) * lost == near(exact, rel=0.01)
    assert failures.failures_in_lost_time.function(0, 0, 0, 0) == 0
    # Beyond 1.3 failures the fraction ends at three, and an interval is never shorter than itself.
    bound = failures.failures_in_lost_time.function(0, 2, 0, 1)
    assert bound == near(-4 / max(4, 3 / (1 - 1.5 + 0.75)), abs=1e-12)
    far = failures.failures_in_lost_time.function(0, 0.005, 100, 1)
    assert far == near(-0.01 / (0.01 / (1 - 0.005 + 1e-4 / 12)) / (1 + 64 / 4096) ** 4096, rel=1e-9)


def test_failures_at_the_rate_of_research_clusters() -> None:
    more = failures.LLAMA_MTBF / failures.RESEARCH_MTBF
    lost = 0.1 * math.sqrt(more) + 0.02 * more
    size = failures.failure_rate.function
    assert size(8, failures.LLAMA_MTBF, 0.05, 0.05, 0.02, 0.88) == near((1 - lost) / 0.88 - 1)
    assert size(8, 1e9, 0.05, 0.05, 0.02, 0.88) == near(0, abs=1e-12)
    assert size(8, failures.LLAMA_MTBF, 0.05, 0.05, 0.5, 0.4) == -1
    assert size(8, failures.LLAMA_MTBF, 0.5, 0.4, 0.1, 0) == 0
    run = training_runs.failure_rate_of_runs.function
    chips = 0.02 * failures.LLAMA_MTBF / 600
    assert run(chips, failures.LLAMA_MTBF, 600, 0.88) == near(0.88 / (1 - lost) - 1)
    assert run(chips, 2 * failures.LLAMA_MTBF, 600, 0.88) == near(0, abs=1e-12)
    assert run(chips, 0, 600, 0.88) == near(0, abs=1e-12)
    assert run(chips, failures.LLAMA_MTBF, 600, 0) == 0
    # Restarts are no more than all that is lost.
    assert run(2 * chips, failures.LLAMA_MTBF, 600, 0.98) == near(0.98 / (1 - 0.02 * more) - 1)
    assert run(50 * chips, failures.LLAMA_MTBF, 600, 0.1) == near(99)


def test_what_runs_leave_out() -> None:
    size = training_runs.failures_not_counted.function
    lost = 1000 * training_runs.MEGASCALE_RESTART / training_runs.LLAMA_MTBF
    assert size(1000, 0) == near(lost / (1 - lost))
    assert size(1000, 1) == size(1000, 0.5) == 0
    assert size(1e12, 0) == near(99)
    scores = training_runs.masked_scores.function
    assert scores(10, 5, 400, "mfu") == near(1 - 300 / 400)
    assert scores(10, 5, 500, "hfu") == near(1 - 400 / 500)
    assert scores(10, 5, 300, "mfu") == scores(10, 5, 200, "mfu") == 0
    power = training_runs.power_below_the_rating.function
    assert power(1) == near(-0.24) and power(0.99) == 0
    assert training_runs.checkpoint_size(params=5)["stored"] == 5
    assert training_runs.checkpoint_size(params=5, total_params=9)["stored"] == 9


SCHEDULES = {
    # Four stages, eight micro-batches, passes of 3, 4 and 2: K - 1 = 3 waits.
    "gpipe": (3 * 9, 8),
    "1f1b": (3 * 9, 4),
    "zb-h1": (3 * 7 - 3 * 2, 4),
    "zb-h2": (3 * 7 - 6 * 2, 7),
    "zb-v": (3 * (4 - 2), 4),
}


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_bubbles(schedule: str) -> None:
    idle, held = SCHEDULES[schedule]
    passes = {"forward": 3, "backward_input": 4, "backward_weight": 2}
    found = bubble(stages=4, microbatches=8, schedule=schedule, **passes)
    assert found["ideal_seconds"] == 8 * 9
    assert found["total_seconds"] == 72 + idle
    assert found["overhead"] == near(idle / 72)
    assert found["fraction"] == near(idle / (72 + idle))
    assert found["peak_microbatches"] == held
    few = bubble(stages=4, microbatches=3, schedule="1f1b", **passes)
    assert few["peak_microbatches"] == 3


def test_folded_bubbles() -> None:
    """Forward and input passes of four, weights of two: K/2 - 1 waits of 4 + 8 - 2."""
    passes = {"forward": 4, "backward_input": 4, "backward_weight": 2}
    both = bubble(stages=4, microbatches=8, schedule="dualpipe", **passes)
    assert (both["ideal_seconds"], both["total_seconds"]) == (80, 90)
    assert both["peak_microbatches"] == 5
    half = bubble(stages=4, microbatches=8, schedule="dualpipe-v", **passes)
    assert (half["total_seconds"], half["peak_microbatches"]) == (95, 4.5)


def test_bubbles_of_chunks_and_of_equal_passes() -> None:
    """Two chunks halve the bubble and hold a pass of half a stage more; all passes take one."""
    found = bubble(stages=4, microbatches=8, schedule="interleaved", virtual=2)
    assert (found["ideal_seconds"], found["total_seconds"]) == (24, 24 + 4.5)
    assert found["peak_microbatches"] == 4 + 3 / 2
    slow = bubble(stages=4, microbatches=8, forward=5)
    assert (slow["ideal_seconds"], slow["total_seconds"]) == (120, 120 + 45)
    split = bubble(stages=4, microbatches=2, schedule="zb-h1", forward=3)
    assert split["total_seconds"] == 18 + 3 * 6 - 1 * 3
    quick = bubble(stages=2, microbatches=1, forward=0.5, backward_input=0.25, backward_weight=0.5)
    assert quick["total_seconds"] == 2.5


def test_stages_wait_for_the_norm() -> None:
    size = waits_for_the_norm.function
    for schedule in ("zb-h2", "zb-v"):
        assert size(schedule, 4, 3, 90) == near(0.1)
    for schedule in ("zb-h1", "1f1b", "dualpipe"):
        assert size(schedule, 4, 3, 90) == 0


def test_tiles_of_a_product() -> None:
    """A result of 10 x 7 in tiles of 4: three rows of tiles and two columns, five long."""
    found = tile_traffic(m=10, n=7, k=5, tile=4, depth=2, near_memory=1000)
    assert found["bytes"] == 2 * (2 * 10 * 5 + 3 * 5 * 7 + 10 * 7)
    assert found["intensity"] == 2 * 4 / (2 * 2)
    assert found["tile_bytes"] == 4 * 16 + 4 * 2 * 2 * 4
    # 4 t^2 + 16 t <= 1000 up to 13.9.
    assert found["largest_tile"] == 13
    edge = tile_traffic(m=10, n=7, k=5, tile=4, depth=2, near_memory=4 * 169 + 16 * 13)
    assert edge["largest_tile"] == 13
    assert wide_result.function(10, 7, 2, 550) == near(2 * 70 / 550)
    assert wide_result.function(10, 7, 4, 550) == wide_result.function(10, 7, 8, 550) == 0
    assert causal_mask.function(4) == near(10 / 16 - 1)
    assert causal_mask.function(1) == 0


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.184, "+18 %"),
        (0.185, "+19 %"),
        (0.994, "+99 %"),
        (-0.35, "-35 %"),
        (1, "2.0 times"),
        (2.54, "3.5 times"),
        (2.56, "3.6 times"),
        (8.96, "10.0 times"),
        (9, "10 times"),
        (11.4, "12 times"),
        (11.6, "13 times"),
        (0, "+0 %"),
    ],
)
def test_a_size_as_people_say_it(share: float, text: str) -> None:
    assert size_of(share) == text


# A model of 1,000 weights in two layers of two heads of width 5: 20 values a token and layer. A
# chip of 10,000 bytes, ten bytes and a thousand operations a second.
CHIP: dict[str, Any] = {
    **{"params": 1000, "compute_params": 1000, "layers": 2, "heads": 2, "head_dim": 5},
    **{"kv_heads": 2, "seq": 10, "bandwidth": 10, "peak": 1000, "bandwidth_share": 0.5},
    **{"layer_overhead": 0.5},
}
CACHE, WEIGHTS = 2 * 20 * 10 * 2, 2000


def served(**options: Any) -> dict[str, Any]:
    return serving(**{**CHIP, "memory": 10_000, **options})


def test_the_pace_of_serving() -> None:
    """800 bytes of cache each: ten sequences fit, and a step reads 2,000 + 8,000 bytes."""
    found = served(price=3, answer_tokens=5, first=7)
    assert (found["batch_fits"], found["batch_runs"]) == (10, 10)
    assert found["seconds"] == near((WEIGHTS + 10 * CACHE) / 10)
    assert found["likely_seconds"] == near(1000 / 0.5 + 2 * 0.5)
    assert found["tokens_per_s"] == near(10 / 1000)
    assert found["likely_tokens_per_s"] == near(10 / 2001)
    assert found["usd_per_million_tokens"] == near(3 * 1e6 / 0.01)
    assert found["likely_usd_per_million_tokens"] == near(3 * 1e6 * 2001 / 10)
    assert found["answer_seconds"] == near(7 + 4 * 1000)
    assert found["seconds_with_first"] == near(4007 / 5)
    # 2,000 bytes over 2 x 1,000 operations of a sequence, at 100 operations for a byte.
    assert found["batch_saturates"] == near(100)
    assert found["bound"] == "KV cache"


def test_what_bounds_a_step() -> None:
    assert served(batch=1)["bound"] == decode(**CHIP)["bound"] == "weights"
    slow = {**CHIP, "peak": 9}
    assert decode(**slow)["bound"] == serving(**slow, memory=1e4, batch=1)["bound"] == "arithmetic"
    long = {**CHIP, "seq": 1000}
    assert decode(**long)["bound"] == "KV cache"
    # Scores of 2 x 2 x 10 a token and layer, two operations each, over 40 values of two bytes.
    scores = {**long, "peak": 9, "compute_params": 1}
    assert decode(**scores)["bound"] == "arithmetic"
    assert serving(**scores, memory=1e6, batch=1)["bound"] == "arithmetic"
    none = served(memory=2000, price=3, answer_tokens=5, first=7, prompt_tokens=4)
    assert none["bound"] == "memory" and none["batch_runs"] == 0
    lost = ("seconds", "likely_seconds", "usd_per_million_tokens", "likely_usd_per_million_tokens")
    asked = ("answer_seconds", "seconds_with_first", "usd_per_request", "likely_usd_per_request")
    assert all(none[name] == inf for name in (*lost, *asked, "usd_per_million_prompt_tokens"))
    assert none["tokens_per_s"] == none["requests_per_s"] == 0
    one = served(memory=2800, price=3, answer_tokens=5, prompt_tokens=4)
    assert one["requests_per_s"] > 0 and one["usd_per_request"] < inf
    assert (one["batch_runs"], one["bound"]) == (1, "weights")
    assert one["seconds"] == near(280)


def test_requests_take_their_prompt_and_a_part_of_each_step() -> None:
    """A prompt of four tokens: 8,000 operations in 8 s, weights in 200; its cache in 32 s."""
    found = served(price=3, answer_tokens=5, prompt_tokens=4, prompt_share=0.5)
    prompt = 200 + 32
    taken = prompt + 4 * 1000 / 10
    likely = prompt / 0.5 + 1 + 4 * 2001 / 10
    assert found["prompt_seconds"] == near(prompt)
    assert found["requests_per_s"] == near(1 / taken)
    assert found["usd_per_request"] == near(3 * taken)
    assert found["likely_usd_per_request"] == near(3 * likely)
    assert found["usd_per_million_prompt_tokens"] == near(3 * 1e6 * prompt / 4)


def test_two_replicas_of_three_chips() -> None:
    sizes = {**CHIP, "heads": 6, "kv_heads": 6, "tp": 3, "dp": 2, "batch": 4}
    found = serving(**sizes, memory=10_000, price=3, prompt_tokens=4, answer_tokens=5)
    assert found["seconds"] == near((2000 / 3 + 2 * 2400 / 3) / 10)
    assert found["usd_per_million_tokens"] == near(18 * 1e6 * found["seconds"] / 4)
    prompt = found["prompt_seconds"]
    assert found["requests_per_s"] == near(1 / (prompt / 2 + 4 * found["seconds"] / 4))
    assert found["usd_per_million_prompt_tokens"] == near(18 * 1e6 * prompt / 2 / 4)
    assert found["batch_saturates"] == near(2000 / 3 / (2000 / 6) * 100)
    step = decode(**sizes)
    assert step["tokens_per_s"] == near(4 / step["seconds"])
    assert step["likely_tokens_per_s"] == near(4 / step["likely_seconds"])
