"""Amounts in the first chapters of the handbook, each derived from what the chapter prints."""

from __future__ import annotations

import pytest

from flopbook.data.library import load_entry
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from scripts.website.measured.loop_timings import loop_time
from scripts.website.measured.microbenchmarks import sweep
from tests.website.test_handbook_errors import text_of


@pytest.mark.parametrize("name", ["gpt-3-175b", "llama-3-405b"])
def test_the_compute_of_the_table_is_six_times_its_factors(name: str) -> None:
    """The row that is multiplied leaves out the input table, which is only looked up."""
    multiplied = calculate("params", model=name)["compute"]
    run = calculate("training-flops", model=name)
    tokens = run["flop"] / run["flop_per_token"]
    assert run["flop"] == pytest.approx(6 * multiplied * tokens, rel=1e-6)
    assert "| of these multiplied, $N$ |" in text_of("why-compute")


def test_the_best_split_is_flat() -> None:
    """Half or twice the size at one budget: less than a hundredth of a nat."""
    floor, a, b, alpha, beta = 1.8172, 482.01, 2085.43, 0.3478, 0.3658
    budget = 1024 * 30 * 86400 * 989.4e12 * 0.4 / 6
    best = (alpha * a / (beta * b)) ** (1 / (alpha + beta)) * budget ** (beta / (alpha + beta))

    def loss(size: float) -> float:
        return floor + a / size**alpha + b / (budget / size) ** beta

    assert max(loss(best / 2), loss(best * 2)) - loss(best) == pytest.approx(0.0043, abs=1e-4)
    assert "half or twice the size at the same budget costs" in text_of("why-compute")


def test_the_fast_loop_loads_two_rows_of_eight_in_a_cycle() -> None:
    """Eight pairs are two loads; the table has about a cycle for them, so loads are a limit too."""
    cycles = 8 * loop_time("eight first") / loop_time("cycle")
    assert 0.95 < cycles < 1.15
    assert "for those it has to load twice" in text_of("computer")


def test_the_training_cost_of_the_computer_chapter_follows_from_what_it_prints() -> None:
    multiplied = calculate("params", model="llama-3-8b")["compute"]
    cost = calculate("training-flops", model="llama-3-8b")["flop"]
    assert cost == pytest.approx(6 * multiplied * 15e12, rel=1e-6)
    assert 'a token is multiplied with {{ calc("params"' in text_of("computer")


def test_a_measured_kernel_takes_more_than_twice_the_larger_printed_time() -> None:
    """The sentence on a factor of two holds at rates that are reached, not at printed ones."""
    measured = sweep("roofline")
    device = chip(measured.chip)
    printed = (device.memory_bandwidth(), device.peak("fp32", engine="vector"))
    reached = (max(row[1] for row in measured.rows), max(row[2] for row in measured.rows))

    def worst(bandwidth: float, peak: float) -> float:
        return max(min(row[0] * bandwidth, peak) / row[2] for row in measured.rows)

    assert worst(*printed) == pytest.approx(2.3, abs=0.05)
    assert worst(*reached) < 2
    assert "as long as you put in rates that the chip really reaches" in text_of("roofline")


def test_the_largest_job_on_a_torus_is_that_of_the_entry() -> None:
    """Google schedules at most 96 cubes; the pod itself is larger."""
    domains = [
        one for one in load_entry("google/tpu-v5p-pod").claims if one.field == "scaleup_domain"
    ]
    assert {one.si_value for one in domains} == {8960, 6144}
    text = text_of("accelerators")
    assert "{% set job = 6144 %}" in text and "16 by 16 by 24" in text
