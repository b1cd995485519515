"""Figures of machines that others measured, and of what FSDP2 holds in memory."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from flopbook.errors import FlopbookError, UnknownName
from flopbook.hardware.chip import chip
from scripts.record_loops import machine
from scripts.website.figures import (
    figure_of,
    fsdp_streams,
    matmul_ladder,
    measured_all_reduce,
    measured_roofline,
)
from scripts.website.figures.threads_in_flight import by_law
from scripts.website.measured.energy import energy_of, power_of, power_parts
from scripts.website.measured.loop_timings import loop_time, made_with, recorded
from scripts.website.measured.microbenchmarks import (
    LEVELS,
    latency,
    launch_time,
    level_latency,
    level_rate,
    record,
    sweep,
)
from scripts.website.pages.benched import benched

SERIES = ("latency", "threads", "l2", "l2-h200", "near", "roofline", "launches", "graph")


@pytest.mark.parametrize("name", SERIES)
def test_a_sweep_is_ordered_and_its_chip_is_on_file(name: str) -> None:
    """The first column rises, every number is positive, and the commit is named."""
    found = sweep(name)
    assert chip(found.chip).name and found.path.endswith(".txt")
    assert all(one[0] < two[0] for one, two in pairwise(found.rows))
    assert all(number > 0 for row in found.rows for number in row)
    assert len(record()["commit"]) == 40


def test_each_level_is_slower_and_narrower_than_the_one_above() -> None:
    """Beside the SM, the cache, main memory; the last is within what the vendor prints."""
    levels = tuple(LEVELS)
    times, rates = [level_latency(one) for one in levels], [level_rate(one) for one in levels]
    assert times == sorted(times) and rates == sorted(rates, reverse=True)
    printed = chip(sweep("threads").chip).memory_bandwidth()
    assert 0.9 * printed < rates[-1] <= printed
    assert level_rate("cache") < level_rate("cache-h200") < level_rate("near")


def test_cycles_are_divided_by_the_clock() -> None:
    """34 cycles at 1,755 MHz are 19 ns."""
    assert level_latency("near") == pytest.approx(34.2 / 1.755e9, rel=0.02)


def test_few_threads_get_what_littles_law_says() -> None:
    """Up to a quarter of the printed rate the law is right within a quarter.

    Reads in order wait less than the scattered ones of the law; near the printed rate all queue.
    """
    found = sweep("threads")
    printed = chip(found.chip).memory_bandwidth()
    for threads, rate in found.pairs():
        if rate < printed / 4:
            assert rate == pytest.approx(by_law(threads), rel=0.25)
        if rate > 0.8 * printed:
            assert rate < by_law(threads)


def test_a_graph_launches_faster_than_one_by_one() -> None:
    assert 1e-6 < launch_time("graph") < launch_time("launches") < 5e-6


def test_no_measured_point_is_above_the_printed_roof() -> None:
    """And the shares in the title are those of its best points."""
    found = sweep("roofline")
    device = chip(found.chip)
    peak = device.peak("fp32", engine="vector")
    for intensity, moved, rate, _, _ in found.rows:
        assert rate <= min(peak, intensity * device.memory_bandwidth())
        assert rate == pytest.approx(intensity * moved, rel=0.01)
    assert all(0 < share < 1 for share in measured_roofline.shares())


def test_benched_numbers_know_their_unit() -> None:
    assert benched("latency", "memory").unit == "s" and benched("rate", "cache").unit == "byte/s"
    assert float(benched("launch", "graph")) == launch_time("graph")
    assert float(benched("bus", "gtc-h100x32-sharp")) == 480e9


def test_unknown_series_levels_and_kinds_are_refused() -> None:
    for call in (
        lambda: sweep("nothing"),
        lambda: level_latency("tape"),
        lambda: level_rate("tape"),
        lambda: benched("colour", "near"),
        lambda: benched("launch", "nothing"),
        lambda: benched("bus", "no-such-row"),
    ):
        with pytest.raises(UnknownName):
            call()
    with pytest.raises(FlopbookError, match="no latency between 1 and 2 bytes"):
        latency(1, 2)


def test_each_version_of_the_kernel_is_faster_than_the_one_before() -> None:
    """As its authors publish it; the last one passes the library."""
    *versions, library, _ = matmul_ladder.versions()
    shares = [version.share for version in versions]
    assert len(versions) == 7 and shares == sorted(shares)
    assert shares[0] < library.share < shares[-1] < 1
    assert "37.6 %" in figure_of("matmul-ladder").description


def test_fsdp_computes_every_layer_once_forward_and_once_back() -> None:
    ahead, state = fsdp_streams.forward()
    back = fsdp_streams.backward(state)
    layers = list(range(1, fsdp_streams.LAYERS + 1))
    assert [one.layer for one in ahead if one.row == "arithmetic"] == layers
    assert [one.layer for one in back if one.row == "arithmetic"] == layers[::-1]


@pytest.mark.parametrize("row", [*fsdp_streams.QUEUES, *fsdp_streams.BUFFERS])
def test_a_row_of_fsdp_holds_one_thing_at_a_time(row: str) -> None:
    """No queue does two things at once, and no buffer holds two layers."""
    ahead, state = fsdp_streams.forward()
    spans = [one for one in ahead + fsdp_streams.backward(state) if one.row == row]
    for one, two in pairwise(sorted(spans, key=lambda span: span.start)):
        assert one.end <= two.start + 1e-9, (one, two)


def test_a_layer_computes_only_after_its_gather() -> None:
    ahead, state = fsdp_streams.forward()
    for spans in (ahead, fsdp_streams.backward(state)):
        for layer in range(1, fsdp_streams.LAYERS + 1):
            gather = fsdp_streams.spans_of(spans, "network", layer)[0]
            work = fsdp_streams.spans_of(spans, "arithmetic", layer)[0]
            assert gather.end <= work.start


def test_the_title_counts_what_is_whole() -> None:
    """Three going forward: in use, full, being filled. Four going back, with two of gradients."""
    ahead, state = fsdp_streams.forward()
    assert fsdp_streams.whole_at_once(ahead) == 3
    assert fsdp_streams.whole_at_once(fsdp_streams.backward(state)) == 4
    assert "Up to 3 layers" in figure_of("fsdp-streams").title


def test_all_reduces_take_longer_the_larger_they_are() -> None:
    """But for noise of a tenth; small ones by latency alone, large ones by bytes."""
    found = measured_all_reduce.timed_sums()
    assert len(found) == 24 and found[0].bytes == 1024
    assert all(two.seconds > 0.9 * one.seconds for one, two in pairwise(found))
    assert found[-1].seconds / found[-2].seconds == pytest.approx(2, rel=0.02)


def test_bus_bandwidth_counts_what_a_ring_sends() -> None:
    """8.59 GB in 31.4 ms are 479 GB/s of 7/4 times the bytes, as nccl-tests defines it."""
    last = measured_all_reduce.timed_sums()[-1]
    assert last.seconds == pytest.approx(1.75 * 2**33 / 478.87e9)
    assert measured_all_reduce.sent(8) == 14


def test_the_flat_part_ends_before_half_of_the_best_rate() -> None:
    """The size that prose names is the first above half of the best."""
    found = measured_all_reduce.timed_sums()
    flat, half = (
        measured_all_reduce.flat_part(found)[-1].bytes,
        measured_all_reduce.half_size(found),
    )
    assert flat < half == float(benched("all-reduce", "half"))
    below = [one for one in found if one.bytes < half]
    assert all(2 * one.bus_rate <= found[-1].bus_rate for one in below)
    with pytest.raises(UnknownName):
        benched("all-reduce", "whole")


def test_the_recorded_loops_keep_their_order() -> None:
    """A loop is no faster from a larger memory, and eight sums beat one everywhere up to noise."""
    places = ("first", "second", "third", "memory")
    for loop in ("whole", "fractions", "eight"):
        times = [loop_time(f"{loop} {place}") for place in places]
        assert all(near <= 1.02 * far for near, far in pairwise(times)), loop
    assert all(2 * loop_time(f"eight {one}") < loop_time(f"fractions {one}") for one in places)
    assert float(benched("loop", "cycle")) == loop_time("cycle") < loop_time("whole first")


def test_a_loop_that_was_not_timed_is_told_those_that_were() -> None:
    with pytest.raises(UnknownName, match="eight memory"):
        loop_time("eight memry")


def test_the_record_says_what_it_was_measured_on() -> None:
    assert set(recorded()) == {"machine", "compiler", "flags", "date", "ns"}
    assert re.fullmatch(r"AMD EPYC, .*; gcc [\d.]+ -O1; \d+ \w+ 20\d\d", made_with())


def test_a_processor_without_a_telling_name_has_its_family() -> None:
    told = "cpu family\t: 26\nmodel\t\t: 2\nmodel name\t: AMD EPYC\n"
    assert machine(told) == "AMD EPYC, family 26, model 2"
    assert machine("nothing")


def test_three_constants_describe_the_power_of_the_roofline() -> None:
    """Each row within 7.5 W of up to 675, and at one clock, so that a constant is one."""
    found, parts = sweep("roofline"), power_parts()
    assert len({row[3] for row in found.rows}) == 1 and len(found.rows) == 22
    assert max(abs(parts.watts(row[1], row[2]) - row[4]) for row in found.rows) < 7.5


@pytest.mark.parametrize("left_out", range(22))
def test_no_single_row_makes_the_energy_of_a_byte(left_out: int) -> None:
    """Left out and then predicted, a row is met within 11 W, and the constants hardly move."""
    row, parts = sweep("roofline").rows[left_out], power_parts(left_out)
    assert parts.byte == pytest.approx(energy_of("byte"), rel=0.02)
    assert parts.operation == pytest.approx(energy_of("operation"), rel=0.03)
    assert parts.watts(row[1], row[2]) == pytest.approx(row[4], abs=11)


def test_a_byte_takes_the_energy_of_more_than_a_hundred_operations_of_a_tensor_core() -> None:
    assert 0 < power_of("fixed") < 150
    assert energy_of("byte") > 100 * chip("nvidia/h100-sxm").power() / 794.5e12


@pytest.mark.parametrize("kind", ["energy", "power"])
def test_an_unknown_part_of_the_power_is_refused(kind: str) -> None:
    with pytest.raises(UnknownName, match="word"):
        benched(kind, "word")
