"""What a strict reader found wrong in the chapters on practice: each statement computed anew."""

from __future__ import annotations

import itertools
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from flopbook.data.library import load_entry
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from scripts.website.figures.exchange_degrees import between_nodes, exchanges, time
from scripts.website.measured.gpu_traces import gpu_step
from tests.support import rendering
from tests.support.rendering import rendered, text_of

pytestmark = rendering.READS_THE_HANDBOOK


def shown(chapter: str) -> str:
    """What a reader sees of a chapter, on one line."""
    return " ".join(re.sub(r"<[^>]+>", "", rendered(f"handbook/{chapter}.md")).split())


def test_the_column_of_the_landscape_adds_products_and_attention() -> None:
    """The longer of memory and arithmetic for each, added: 27 and 20 ms on H20, not 32 ms."""
    group = calculate("serving", model="llama-3-70b", chip="nvidia/h20", tp=8, seq=8192)
    h20, users = chip("nvidia/h20"), group["batch_fits"]
    caches = (group["chip_bytes"] - group["weight_bytes"]) / h20.memory_bandwidth()
    products = 2 * 69.5e9 * users / 8 / h20.peak("bf16")
    assert products > group["weight_bytes"] / h20.memory_bandwidth()
    assert group["seconds"] == pytest.approx(products + caches, rel=0.01)
    together = max(products, group["chip_bytes"] / h20.memory_bandwidth())
    assert group["seconds"] > 1.4 * together
    text = shown("landscape")
    assert "reads all weights and the cache of every user at the full bandwidth, or" not in text
    assert "the two times add up" in text
    assert "wait for arithmetic, 27 ms, and attention for memory, 20 ms" in text


def test_a_gather_multiplies_its_own_share_first() -> None:
    """The own eighth hides an eighth's way: eight products cost 80 us and expose no message."""
    h100 = chip("h100-sxm")
    gather = 7 / 8 * 2 * 4096 * 8192 / h100.scaleup_bandwidth()
    product = 4 * 4096 * 8192 * 28672 / 8 / h100.peak("bf16")

    def overlapped(parts: int) -> float:
        """The own eighth, then one part after the other, each as soon as it is there."""
        done = product / 8
        for part in range(1, parts + 1):
            done = max(done, part * gather / parts) + 7 / 8 * product / parts
        return done + 10e-6 * (parts + 1)

    assert overlapped(7) == pytest.approx(product + 80e-6)
    assert overlapped(3) == pytest.approx(product + 40e-6)
    gains = [100 * ((gather + product) / overlapped(parts) - 1) for parts in (7, 3)]
    text = shown("overlap-and-offloading")
    assert f"The gains are {gains[0]:.0f} and {gains[1]:.0f} percent" in text
    assert "has no product beside it yet, or" not in text


def test_three_gpus_are_three_times_as_fast_as_one_that_is_a_step_late() -> None:
    small = 8.03e9
    step = 4 * 4 * 2 * small * 8192 / chip("h100-sxm").peak("bf16")
    found = calculate("offload", model="llama-3-8b", chip="h100-sxm", dp=1)
    update = found["update_seconds"]
    assert update < step * 1.05
    assert 3 * (step + update) / step == pytest.approx(6, abs=0.2)
    text = shown("overlap-and-offloading")
    assert "more than three times as fast" not in text
    assert "6 times as fast as the one that updates in turn, and three times" in text


def test_the_hidden_times_of_bf16_and_fp8_are_a_fifth_apart() -> None:
    assert "nearly the same" not in shown("overlap-and-offloading").split("a hidden message")[0]


def test_the_cut_ratio_does_not_bound_the_policy() -> None:
    """Right answers end more likely than the cut of 1.2, since the wrong ones pull longer."""
    text = (rendering.DOCS / "handbook" / "reinforcement-learning.md").read_text("utf-8")
    (listing,) = (one for one in re.findall(r"```python\n(.*?)```", text, re.S) if "EPS" in one)
    names: dict[str, np.ndarray] = {}
    exec(compile(listing, "listing", "exec"), names)
    assert names["better"][:2] == pytest.approx([1.68, 1.47], abs=0.01)
    assert "(better[:2] > 1.4).all()" in listing
    said = shown("reinforcement-learning")
    assert "ends 1.7 and 1.5 times as likely" in said
    assert "once the right answer is a fifth likelier" not in said


def test_a_mean_over_tokens_has_a_longer_context_than_a_mean_over_answers() -> None:
    lengths = np.random.default_rng(0).gamma(4, 1 / 4, size=200_000)  # scatter: half of the mean
    context = (lengths**2).mean() / (2 * lengths.mean())
    assert context == pytest.approx(1.25 / 2, rel=0.01)
    assert "a quarter more if lengths scatter by half of their mean" in shown(
        "reinforcement-learning"
    )


def test_a_gpu_that_only_trains_did_between_1_7_and_2_times_as_much() -> None:
    text = shown("reinforcement-learning")
    assert "nearly twice as much as one" not in text
    assert "It did 1.7 to 2 times as much as one that takes turns" in text


def test_the_example_comes_before_what_was_measured_and_holds_its_own_numbers() -> None:
    """No row of verl or NVIDIA before it, and the split of the pools is worked inside."""
    text = (rendering.DOCS / "handbook" / "reinforcement-learning.md").read_text("utf-8")
    lead, rest = text.split("## Worked example")
    assert not re.search(r'stated\("(verl-sync|verl-7b|nemorl)', lead[lead.index("# Reinf") :])
    assert "In the worked example below, $" not in lead
    said = shown("reinforcement-learning")
    assert "is 33 s, $" in said and "so neither pool waits at $x$ = 0.53" in said
    generation, training = 33 + 16 / 0.53, 30 / (1 - 0.53)
    assert generation == pytest.approx(training, rel=0.02)
    assert rest.index("### One step by hand") < rest.index("### One pool, or two")


def test_the_share_of_the_sync_names_its_step() -> None:
    assert "share of the step without a tail" in shown("reinforcement-learning")


def test_two_nodes_add_more_to_the_bytes_than_many() -> None:
    """Over 16 ranks half of the copies leave: 73 us of bytes, where dispatch took 118."""
    assert all(one.ranks >= 32 for one in between_nodes())
    share = {
        kind: next(one.measured for one in exchanges(kind) if one.ranks == 16) / time(16, size)
        for kind, size in (("dispatch", 1), ("combine", 2))
    }
    assert share["dispatch"] == pytest.approx(1.61, abs=0.01)
    assert share["combine"] == pytest.approx(1.33, abs=0.01)
    text = shown("expert-and-context-parallelism")
    assert "Over 32 ranks and more that is 22 to 41 percent, over two nodes 61" in text
    assert "Between nodes that is" not in text


@pytest.mark.parametrize(("draws", "above"), [(256, 2.8), (64, 2.3)])
def test_the_largest_of_many_draws_lies_where_the_chapter_says(draws: int, above: float) -> None:
    numbers = np.random.default_rng(0).normal(size=(4000, draws))
    assert numbers.max(axis=1).mean() == pytest.approx(above, abs=0.06)
    text = shown("expert-and-context-parallelism")
    assert f" {above} such deviations above the mean" in text or f"draws {above}:" in text


def test_a_swing_within_a_second_leaves_out_the_cooling() -> None:
    swing = 16384 * (700 - 200)
    assert swing == pytest.approx(8.2e6, rel=0.005)
    text = shown("reliability-and-energy")
    assert "Then 8.2 MW leave the grid" in text and "leave the grid, with the PUE" not in text


def test_replicas_that_load_have_their_origin() -> None:
    assert "At 128 chips for a copy of the model" in shown("reliability-and-energy")


def test_the_cache_feeds_tiles_of_256_by_128_at_the_rate_that_products_reach() -> None:
    """9.3 of 10.2 TB/s: clusters leave more room, and are no necessity."""
    claims = load_entry("nvidia/h100-sxm").claims
    reached = next(
        one.si_value for one in claims if one.field == "measured_matmul" and one.dtype == "bf16"
    )
    assert reached is not None
    asked = reached * 2 * (256 + 128) / (2 * 256 * 128)
    assert asked == pytest.approx(9.3e12, rel=0.01)
    assert asked < 10.2e12 < chip("h100-sxm").peak("bf16") * 2 * 384 / (2 * 256 * 128)
    text = shown("kernels")
    assert "Even the smaller rate is more than the cache gives. " not in text
    assert "just within it" in text


def test_the_sums_of_two_tiles_fill_the_registers() -> None:
    claims = load_entry("nvidia/h100-sxm").claims
    registers = next(one.si_value for one in claims if one.name == "register file, per SM")
    sums = 2 * 256 * 128 * 4
    assert sums == pytest.approx(registers, rel=0.01)
    assert "Two tiles of sums" in text_of("kernels")


def test_bands_number_every_tile_once_and_read_few_strips() -> None:
    """Along a row 132 programs read 133 strips, down bands of 11 rows 23."""
    text = (rendering.DOCS / "handbook" / "kernels.md").read_text("utf-8")
    listings = re.findall(r"```python\n(.*?)```", text, re.S)
    (numbering,) = (one for one in listings if one.startswith("pid, band"))
    rows, across = 30, 24  # the last band has 8 rows

    def tile(pid: int) -> tuple[int, int]:
        tl = SimpleNamespace(program_id=lambda axis: pid, cdiv=lambda a, b: -(-a // b), minimum=min)
        names: dict[str, Any] = {"tl": tl, "across": across, "m": rows * 128, "TM": 128}
        exec(compile(numbering, "listing", "exec"), names)
        return names["row"], names["column"]

    tiles = [tile(pid) for pid in range(rows * across)]
    assert sorted(tiles) == [(row, column) for row in range(rows) for column in range(across)]
    for start in (0, 132, 264):
        wave = tiles[start : start + 132]
        assert len({row for row, _ in wave}) + len({column for _, column in wave}) == 23


def test_the_short_gaps_of_a_compiled_step_lie_in_its_first_half() -> None:
    step = gpu_step("compiled")
    gaps = [after.start - before.end for before, after in itertools.pairwise(step.kernels)]
    ends = [before.end for before in step.kernels[:-1]]
    early = sum(gap for gap, end in zip(gaps, ends, strict=True) if end < step.seconds / 2)
    rest = step.seconds - step.busy - step.longest_gap
    assert rest == pytest.approx(5.0e-3, rel=0.01)
    assert early / rest == pytest.approx(0.9, abs=0.03)
    text = shown("profiling")
    assert "The other 5 ms of gaps lie mostly in the first half of the step" in text
    assert "It stands before" not in text


def test_the_sections_of_the_chapter_on_profiling_follow_each_other() -> None:
    source = text_of("profiling")
    order = ("## On a TPU", "## A compiled layer", "## One thing at", "## From symptom")
    places = [source.index(heading) for heading in order]
    assert places == sorted(places)


def test_the_second_hop_is_shorter_than_the_first() -> None:
    """Eight copies of three bytes a number at 160 GB/s beside four at 50 GB/s."""
    crossing, inside = 3 * 4 * 7168 / 50e9, 3 * 8 * 7168 / 160e9
    assert (crossing, inside) == pytest.approx((1.72e-6, 1.08e-6), rel=0.01)
    assert "1.075 µs over NVLink" in shown("expert-and-context-parallelism")


def test_a_measured_step_agrees_with_the_formula_of_its_chapter() -> None:
    """Full batch to the mean and a lone answer after it, or each part by its own time."""

    def step(batch: int, seq: int) -> float:
        asked = {"model": "llama-3-8b", "chip": "h100-sxm", "seq": seq, "batch": batch}
        return float(calculate("serving", **asked)["likely_seconds"])

    crowd, last = step(128, 530), step(1, 4096)
    joined = (step(256, 530) - crowd) / 128
    alone = crowd - 128 * joined
    formula = 4096 * alone + 1060 * 128 * joined
    assert formula == pytest.approx(1060 * crowd + 3036 * last, rel=0.1)
    assert ") agrees: $n" in shown("reinforcement-learning")
