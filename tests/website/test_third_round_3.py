"""What a reader of the third round found wrong, each recomputed beside words that are right."""

from __future__ import annotations

import re

import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.quantities.number_formats import number_format
from scripts.website.figures import (
    domain_pace,
    layout_spread,
    loop_times,
    measured_pairs,
    narrow_sums,
    overlap_measured,
)
from tests.support.rendering import READS_THE_HANDBOOK, rendered, text_of


def _plain(chapter: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", rendered(f"handbook/{chapter}.md")))


def test_a_sum_in_fp32_misses_a_thousand_as_well() -> None:
    """Rounded after each of 10,000 additions, 0.1 makes 999.9029."""
    end = narrow_sums.sums(number_format("fp32"))[-1]
    assert end == pytest.approx(999.9029, abs=1e-4)
    assert "0.1 makes 999.9 in fp32, 256 in fp16, 32 in bf16" in narrow_sums.figure().title


def test_the_caches_stand_in_the_picture_of_loops() -> None:
    """Each size measured lies in the memory that the table names."""
    sizes = [size for size, _ in loop_times.CACHES]
    first, second, third, memory = (size for size, _ in loop_times.times("eight"))
    assert first < sizes[0] < second < sizes[1] < third < sizes[2] < memory
    drawn = "".join(loop_times.figure().parts)
    assert all(name in drawn for _, name in loop_times.CACHES)


def test_the_type_of_an_array_is_named_as_jax_prints_it() -> None:
    """`f32[8@X,4@Y]` is the spelling of a jaxpr."""
    text = text_of("sharded-matrices")
    assert "`float32[8@X,4@Y]`, which `jax.typeof` shows" in text and "`f32[8@X" not in text


@pytest.mark.parametrize("op", ["all-gather", "all-reduce", "all-to-all"])
@pytest.mark.parametrize("topology", ["ring", "switch"])
def test_the_table_of_collectives_is_the_calculator(op: str, topology: str) -> None:
    ranks, size, hop = 16, 1e6, 1e-6
    device = "google/tpu-v5p" if topology == "ring" else "nvidia/gb200-gpu"
    rate = chip(device).scaleup_bandwidth() / (3 if topology == "ring" else 1)
    options = {"chip": device, "chips": ranks, "bytes": size, "op": op, "topology": topology}
    if topology == "ring":
        options["axes"] = 1
    found = calculate("collective", startup=0, ramp=0, efficiency=1, **options)
    lacking = 1 - 1 / ranks
    spread = 1 / 4 if topology == "ring" else lacking / ranks
    share = {"all-gather": lacking, "all-reduce": 2 * lacking, "all-to-all": spread}[op]
    hops = (2 if op == "all-reduce" else 1) * (ranks / 2 if topology == "ring" else 1)
    assert found["seconds"] == pytest.approx(share * size / rate + hops * hop, rel=1e-3)
    assert r"$\frac{V}{4w} + \frac{N}{2} \tau$" in text_of("sharded-matrices")


@READS_THE_HANDBOOK
def test_a_limit_of_fsdp_has_one_rounding() -> None:
    """What a student divides by is printed as the calculator has it: 765, 2,474 and 2,199."""
    assert "gets by with 765" in _plain("fsdp")
    _, found, body = text_of("fsdp").partition("On a first reading")
    assert found
    assert not re.search(r'(limit|torus)\["\w+"\] \| about', body)


def test_the_last_group_is_gathered_twice_in_a_row() -> None:
    assert "keeps the final norm and the head gathered by default" in text_of("fsdp")


@READS_THE_HANDBOOK
def test_the_order_of_layouts_is_no_surer_than_a_prediction() -> None:
    printed = _plain("choosing-a-configuration")
    assert "How sure is the order?" in printed and "in place 1" in printed


def test_the_layouts_within_a_tenth_are_marked() -> None:
    spread = layout_spread.layout_spread()
    drawn = "".join(layout_spread.figure().parts)
    assert f"{spread.near} within a tenth" in drawn


def test_four_stages_leave_a_quarter_of_what_is_printed() -> None:
    states = 6 * float(calculate("params", model="llama-3-70b")["total"]) / 4
    assert states == pytest.approx(105.8e9, rel=1e-3)
    assert states / 4 == pytest.approx(26.5e9, rel=2e-3)
    assert '(6 * whole70 / 4) | unit("byte") | about' not in text_of("choosing-a-configuration")


@READS_THE_HANDBOOK
def test_a_v5e_has_gibibytes_as_the_other_tpus() -> None:
    """JAX counts 17.2e9 bytes; sixteen then hold 24 sequences, and as much as eight v6e in all."""
    run = {"model": "llama-3-70b", "seq": 8192}
    small = calculate("serving", chip="google/tpu-v5e", tp=16, memory=16 * 2**30, **run)
    large = calculate("serving", chip="google/tpu-v6e", tp=8, **run)
    assert small["batch_fits"] == 24
    assert small["tokens_per_s"] == pytest.approx(1174, abs=1)
    assert chip("google/tpu-v6e").memory() * 8 == 16 * 16 * 2**30
    assert large["batch_fits"] == pytest.approx(2 * small["batch_fits"], abs=2)
    row = next(line for line in _plain("inference").split("|") if "8.8 GB of" in line)
    assert row.strip() == "8.8 GB of 17 GB"


@READS_THE_HANDBOOK
def test_the_batch_at_which_caches_take_as_long_is_that_of_the_figure() -> None:
    """A step does not read the embedding table, so it is 51 and not 52.6."""
    printed = _plain("inference")
    assert "or a batch of 51 at" in printed and "just over 50" not in printed


def test_the_weights_of_the_last_layer_are_in_the_step_in_turn() -> None:
    """2.128 + 2.044 s and 7.8 ms for a layer on its way up make 7,840 tokens per second."""
    params = float(calculate("params", model="llama-3-8b")["total"])
    forward = 2 * params * 8192 / chip("h100-sxm").peak("bf16")
    update = float(
        calculate("offload", model="llama-3-8b", chip="h100-sxm", dp=1)["update_seconds"]
    )
    last = 2 * params / 32 / 64e9
    assert 4 * 8192 / (16 * forward + update + last) == pytest.approx(7840, abs=10)
    assert "with the weights of the last layer" in text_of("overlap-and-offloading")


def test_each_kind_of_parallelism_names_what_its_messages_run_beside() -> None:
    text = text_of("overlap-and-offloading")
    for message in ("updated weights, under", "activations of [pipeline]", "keys and values, in a"):
        assert f"| {message}" in text
    assert "*programmatic dependent launch*" in text
    assert "a scale for each row" in overlap_measured.figure().caption


def test_a_rack_does_not_gain_by_the_exchange_that_crosses_nodes_alone() -> None:
    """Nemotron's crosses nodes and gains least of three mixtures; Qwen's fits and gains most."""
    racks = measured_pairs.KINDS["racks"]
    gains = {pair.name.partition(",")[0]: pair.ratio for pair in racks.pairs}
    assert gains["Nemotron 3 Super"] < racks.peaks() < gains["DeepSeek-V3"]
    assert max(gains, key=gains.__getitem__) == "Qwen3-235B-A22B"
    assert "no longer fits a node" not in racks.caption
    assert "though its exchange crosses nodes" in racks.caption


def test_pace_and_rate_draw_together_at_full_load() -> None:
    gains = [domain_pace.gain(place) for place in range(len(domain_pace.LOADS))]
    assert gains == sorted(gains, reverse=True)
    assert gains[0] == pytest.approx(2.05, abs=0.01) and gains[-1] < 1.2
    assert 'figure("domain-pace")' in text_of("racks")


def test_a_rack_has_to_be_switched_on() -> None:
    text = text_of("racks")
    assert "`NCCL_MNNVL_ENABLE` must not be 0" in text and "`topology/block`" in text
