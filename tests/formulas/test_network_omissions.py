"""What the limits of parallelism and the collectives leave out, sized by hand."""

from __future__ import annotations

import random
import statistics
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook import calculate, collective
from flopbook.data.link_kinds import read_link_kinds
from flopbook.formulas.network_omissions import (
    MEASURED_SHARE,
    array_of_each_chip,
    attention_of_a_layer,
    cards_below_their_rate,
    causal_mask_of_a_ring,
    exchange_on_a_ring,
    fsdp_alone,
    fullest_chip,
    links_without_a_sweep,
    narrower_dispatch,
    overlap_of_axes,
    own_columns,
    own_share,
    own_shares,
    reduced_in_fp32,
    rest_of_the_layer,
    shared_trips,
    summed_in_fp32,
    sums_in_the_network,
)
from flopbook.formulas.omissions import Omission
from flopbook.quantities.ops import inf

ACCELERATORS = Path(__file__).parents[2] / "accelerators"


def share(omission: Omission, **values: Any) -> float:
    return float(omission.value(values))


@given(st.sampled_from(["all-to-all", "permute", "all-gather", "all-reduce"]), st.integers(2, 512))
def test_an_array_of_each_chip_takes_as_many_times_as_long(op: str, chips: int) -> None:
    """Held against the same collective with the bytes of all: exact where latency is nothing."""
    asked = {
        "op": op,
        "chips": chips,
        "link_bandwidth": 450e9,
        "topology": "switch",
        "latency": 1e-12,
    }
    one, each = (collective(**asked, bytes=size) for size in (1e9, 1e9 * chips))
    said = share(array_of_each_chip, op=op, chips=chips, **one)
    if op in ("all-to-all", "permute"):
        assert 1 + said == pytest.approx(each["seconds"] / one["seconds"])
    else:
        assert said == 0


@given(st.integers(1, 10_000), st.integers(1, 64))
def test_an_own_share_is_one_of_the_peers(chips: int, node: int) -> None:
    """The exact factor is (X - 1)/X, over chips in a domain and over domains beyond it."""
    peers = chips / node if chips > node else chips
    exact = 1 + share(own_share, chips=chips, chips_per_node=node)
    assert exact == pytest.approx((peers - 1) / peers, abs=1e-12)


def test_the_percents_of_the_docstrings() -> None:
    """12.5 percent on 8 chips; at TP 8 a limit 14 percent higher."""
    assert share(own_share, chips=8, chips_per_node=8) == -0.125
    assert round(share(own_columns, max_tp_degree=8), 2) == 0.14
    assert share(own_columns, max_tp_degree=1) == 1
    assert share(own_share, chips=inf, chips_per_node=8) == 0


def test_both_kinds_of_traffic_have_their_factor() -> None:
    assert share(own_shares, x_opt=4, y_opt=8) == pytest.approx(3 / 4 * 7 / 8 - 1)
    assert share(own_shares, x_opt=1.2, y_opt=8) == pytest.approx(1 / 2 * 7 / 8 - 1)
    assert share(own_shares, x_opt=8, y_opt=1.2) == pytest.approx(7 / 8 * 1 / 2 - 1)


@given(st.integers(1, 6), st.integers(1, 6))
def test_trips_of_a_token_counted_choice_by_choice(chips: int, visited: int) -> None:
    """The mean number of different chips among all equally likely choices of experts."""
    total = 0
    for code in range(chips**visited):
        places = {code // chips**step % chips for step in range(visited)}
        total += len(places)
    met = total / chips**visited
    trips = 1 + share(shared_trips, chips=chips, experts_per_token=visited)
    assert trips == pytest.approx(visited / met)
    assert share(shared_trips, chips=inf, experts_per_token=visited) == 0


def test_an_exchange_on_a_ring_is_longer_from_four_chips_on() -> None:
    def on(method: str, topology: str, chips: float) -> float:
        return share(exchange_on_a_ring, method=method, topology=topology, chips=chips)

    assert [on("ulysses", "torus", chips) for chips in (2, 4, 16)] == [0, 0, 3]
    assert on("ring", "torus", 64) == on("ulysses", "switch", 64) == 0
    assert on("ulysses", "torus", inf) == 0


def test_switches_that_sum_save_half_of_what_crosses() -> None:
    network = {"level_overlap": "yes"}
    values = {**network, "scaleout_bytes": 8.0, "scaleout_bandwidth": 2.0, "seconds": 10.0}
    for op, wanted in (("all-reduce", -0.2), ("reduce-scatter", -0.2), ("all-gather", 0.0)):
        assert share(sums_in_the_network, op=op, **values) == pytest.approx(wanted)
    beyond = values | {"seconds": 1.0}
    assert share(sums_in_the_network, op="all-reduce", **beyond) == -0.5
    none = {**network, "scaleout_bytes": 0.0, "scaleout_bandwidth": inf, "seconds": 0.0}
    assert share(sums_in_the_network, op="all-reduce", **none) == 0
    bus = values | {"level_overlap": "no"}
    assert share(sums_in_the_network, op="all-reduce", **bus) == 0


def test_an_answer_says_what_is_large() -> None:
    """Two nodes of H100 sum 1 GB: half of what crosses is a note; inside of one there is none."""
    both, one = (
        calculate("collective", op="all-reduce", chip="h100-sxm", chips=chips, bytes="1GB")
        for chips in (64, 8)
    )
    assert any("SHARP" in note for note in both.notes)
    assert not any("SHARP" in note for note in one.notes)
    limit = calculate("ep-limit", model="deepseek-v3", chip="h100-sxm", chips=8)
    assert any("share one of 8 chips take one trip" in note for note in limit.notes)


@pytest.mark.parametrize("scaleout", [inf, 50e9, 5e9])
def test_sums_in_fp32_are_an_answer_of_four_bytes(scaleout: float) -> None:
    """All that data parallelism sends is gradients, so four bytes for each is another answer."""
    net = {"peak": 1e15, "link_bandwidth": 450e9, "chips_per_node": 8, "topology": "switch"}
    beyond = {"scaleout_bandwidth": scaleout, "chips": 64} if scaleout < inf else {"chips": 8}
    run: dict[str, Any] = {**net, **beyond}
    narrow, wide = (calculate("dp-limit", **run, bytes_per_param=width) for width in (2, 4))
    told = narrow.omitted["sums_in_fp32"].share
    assert narrow["tokens_per_chip"] * (1 + told) == pytest.approx(wide["tokens_per_chip"])
    assert "sums_in_fp32" not in wide.omitted


def test_fsdp_reduces_in_fp32_and_gathers_in_bf16() -> None:
    """Backward 2 + 4 bytes for each weight instead of 4 in a domain, 8 instead of 4 beyond."""
    near = {"bytes_per_param": 2.0, "tokens_per_chip": 100.0, "domain_tokens": 100.0}
    assert share(reduced_in_fp32, regather="yes", **near) == 0.5
    # The forward pass, which gathers two bytes, asks for as much.
    assert share(reduced_in_fp32, regather="no", **near) == 0
    assert share(summed_in_fp32, **near) == 0.5
    far = near | {"tokens_per_chip": 120.0}
    for each, more in ((reduced_in_fp32, {"regather": "yes"}), (summed_in_fp32, {})):
        assert share(each, **more, **far) == 1
        assert share(each, **more, **(far | {"bytes_per_param": 4.0})) == 0
        assert share(each, **more, **(near | {"bytes_per_param": 4.0})) == 0
    # Where beyond is hardly the limit, the domain may become it.
    barely = near | {"tokens_per_chip": 100.1, "bytes_per_param": 3.9}
    assert share(summed_in_fp32, **barely) == pytest.approx(4 / 3.9 - 1)


def test_attention_halves_what_a_layer_computes_for_its_traffic() -> None:
    """Llama 3 70B: attention has 151 million weights, the block 705 million: degree 39 % lower."""
    assert share(attention_of_a_layer, attention_share=0) == -0.5
    assert share(attention_of_a_layer, attention_share=1) == 0
    limit = calculate("tp-limit", model="llama-3-70b", chip="tpu-v5p")
    attention = 2 * 8192 * (8192 + 1024)
    found = attention / (3 * 8192 * 28672)
    assert limit.inputs["attention_share"].value == pytest.approx(found)
    assert limit.omitted["attention_of_a_layer"].share == pytest.approx((found - 1) / 2)
    # Vaswani's shape: four matrices D x D beside two of D x 4D.
    plain = calculate("tp-limit", d_ff=4 * 4096, peak=1e15, link_bandwidth=5e11, topology="switch")
    assert plain.omitted["attention_of_a_layer"].share == -0.25


def test_the_share_of_attention_is_that_of_the_parameters() -> None:
    limit = calculate("tp-limit", model="deepseek-v3", chip="h100-sxm")
    counted = calculate("params", model="deepseek-v3")["attention"] / 61
    assert limit.inputs["attention_share"].value == pytest.approx(counted / (3 * 7168 * 18432))


def test_a_dispatch_in_fp8_takes_three_bytes_of_four() -> None:
    assert share(narrower_dispatch, bytes_per_param=2.0) == pytest.approx(1 / 3)
    assert share(narrower_dispatch, bytes_per_param=1.0) == pytest.approx(-1 / 3)
    assert share(narrower_dispatch, bytes_per_param=1.5) == 0


def test_a_causal_mask_leaves_half_of_the_arithmetic() -> None:
    plain, causal = (
        calculate("cp-limit", model="llama-3-70b", chip="h100-sxm", causal=word)
        for word in ("no", "yes")
    )
    told = plain.omitted["causal_mask_of_a_ring"].share
    assert plain["tokens_per_chip"] * (1 + told) == causal["tokens_per_chip"]
    assert share(causal_mask_of_a_ring, causal="yes", tokens_per_chip=7.0) == 0


def test_a_link_without_a_sweep_is_as_fast_as_the_middle_of_those_with_one() -> None:
    """accelerators/links.yaml has the shares; those of a chip with a sweep are in its answer."""
    known = [kind.efficiency for kind in read_link_kinds(ACCELERATORS / "links.yaml").values()]
    assert float(MEASURED_SHARE) == pytest.approx(statistics.median(known), abs=1e-3)
    ideal, given = (
        calculate(
            "collective",
            topology="switch",
            chips=8,
            bytes="1GB",
            link_bandwidth="100GB/s",
            efficiency=share,
        )
        for share in (1.0, 0.828)
    )
    told = ideal.omitted["links_without_a_sweep"].share
    assert ideal["seconds"] * (1 + told) == pytest.approx(given["seconds"], rel=1e-3)
    for chip in ("h100-sxm", "tpu-v5p"):
        found = calculate("collective", chip=chip, chips=8, bytes="64GB")
        assert "links_without_a_sweep" not in found.omitted
    assert share(links_without_a_sweep, efficiency=0.9, **SENT) == 0
    # Where the card takes longer than the links do, slower links change nothing.
    crossed = SENT | {"scaleout_bytes": 200.0}
    assert share(links_without_a_sweep, efficiency=1.0, **crossed) == 0


@pytest.mark.parametrize(
    ("chip", "reached"),
    [("rtx-5090", 0.44), ("rtx-4090", 0.44), ("l40s", 0.44), ("mi300x", 0.828), ("gaudi-2", 0.828)],
)
def test_a_bus_reaches_less_than_links_do(chip: str, reached: float) -> None:
    """Eight RTX 5090 add up at 28 of the 64 GB/s that PCIe Gen5 x16 has."""
    answer = calculate("collective", op="all-reduce", chip=chip, chips=8, bytes="64GB")
    told = answer.omitted["links_without_a_sweep"].share
    assert answer["bandwidth_seconds"] / answer["seconds"] == pytest.approx(1, rel=1e-3)
    assert 1 + told == pytest.approx(1 / reached, rel=2e-3)


@pytest.mark.parametrize("rate", ["25GB/s", "50GB/s", "60GB/s", "34GB/s", "66GB/s"])
def test_other_ports_are_no_bus(rate: str) -> None:
    asked = {"op": "all-reduce", "chips": 8, "bytes": "64GB", "topology": "switch"}
    told = calculate("collective", link_bandwidth=rate, **asked).omitted["links_without_a_sweep"]
    assert told.share == pytest.approx(1 / 0.828 - 1, rel=1e-2)


SENT = {
    "topology": "switch",
    "link_bandwidth": 10.0,
    "scaleout_bandwidth": 10.0,
    "bytes_per_link": 100.0,
    "scaleout_bytes": 0.0,
    "seconds": 10.0,
}


def test_cards_are_slower_than_their_label() -> None:
    """1 / 0.925 of what crosses, less what the domain takes anyway."""
    place = {"op": "all-to-all", "chips": 64.0, "chips_per_node": 8.0}
    values = place | {"scaleout_bytes": 92.5, "scaleout_bandwidth": 10.0, "seconds": 10.0}
    assert share(cards_below_their_rate, **values, bandwidth_seconds=9.25) == pytest.approx(0.075)
    assert share(cards_below_their_rate, **values, bandwidth_seconds=9.5) == pytest.approx(0.05)
    assert share(cards_below_their_rate, **values, bandwidth_seconds=20.0) == 0
    found = calculate("collective", chip="h100-sxm", chips=64, bytes="1GB")
    ring = (1 - 1 / 64) / (1 - 1 / 8)
    slower = ring * found["scaleout_bytes"] / 50e9 / 0.925 - found["bandwidth_seconds"]
    told = found.omitted["cards_below_their_rate"].share
    assert told == pytest.approx(slower / found["seconds"])
    none = place | {"scaleout_bytes": 0.0, "scaleout_bandwidth": inf, "seconds": 0.0}
    assert share(cards_below_their_rate, **none, bandwidth_seconds=0.0) == 0


def test_overlap_quarters_the_batch_on_axes_of_their_own() -> None:
    assert share(overlap_of_axes, axes=3, domain_tokens=500.0) == -0.75
    assert share(overlap_of_axes, axes=1, domain_tokens=500.0) == 0


def test_fsdp_alone_may_ask_for_less() -> None:
    assert share(fsdp_alone, fsdp_tokens=80.0, domain_tokens=100.0) == pytest.approx(-0.2)
    assert share(fsdp_alone, fsdp_tokens=120.0, domain_tokens=100.0) == 0
    narrow = calculate("mixed-limit", chip="tpu-v5p", d_ff=1000)
    told = narrow.omitted["fsdp_alone"].share
    assert narrow["domain_tokens"] * (1 + told) == pytest.approx(narrow["fsdp_tokens"])


def test_the_fullest_of_many_even_draws() -> None:
    """Three standard deviations, against 2,000 draws of 64 chips."""
    drawn = random.Random(13)
    visits, chips = 400, 64
    tops = []
    for _ in range(200):
        counts = Counter(drawn.choices(range(chips), k=visits * chips))
        tops.append(max(counts.values()))
    found = 1 / (1 + share(fullest_chip, chips=chips, experts_per_token=8, tokens_per_chip=50))
    assert found == pytest.approx(statistics.mean(tops) / visits, rel=0.03)
    for visited, tokens in ((1, 400), (400, 1), (16, 25)):  # only the draws of a chip count
        same = share(fullest_chip, chips=chips, experts_per_token=visited, tokens_per_chip=tokens)
        assert 1 / (1 + same) == pytest.approx(found)
    for few in (2, 3, 5):  # the spread is that of one chip's draws, however many others draw
        few_chips = share(fullest_chip, chips=few, experts_per_token=8, tokens_per_chip=50)
        assert 1 / (1 + few_chips) == found
    assert share(fullest_chip, chips=1, experts_per_token=8, tokens_per_chip=50) == 0
    assert share(fullest_chip, chips=inf, experts_per_token=8, tokens_per_chip=50) == 0


def test_the_rest_of_a_layer_hides_the_exchange_too() -> None:
    """DeepSeek-V3: 187 million of attention and 44 of the shared expert beside 8 x 44."""
    limit = calculate("ep-limit", model="deepseek-v3", chip="h100-sxm", chips=8)
    expert = 3 * 7168 * 2048
    attention = calculate("params", model="deepseek-v3")["attention"] / 61
    found = limit.omitted["rest_of_the_layer"].share
    assert found == pytest.approx((attention + expert) / (8 * expert))
    assert share(rest_of_the_layer, beside_share=0.0) == 0


def test_a_card_that_serves_both_sides_of_a_ring_takes_twice_as_long() -> None:
    """Two servers with a card of 400 Gbit/s each: half of 1 GB at 50 GB/s is 10 ms."""
    asked = {"op": "all-gather", "topology": "ring", "chips": 2, "bytes": "1GB"}
    result = calculate("collective", **asked, link_bandwidth="400Gbps")
    told = result.omitted["one_port_for_both_sides"]
    assert result["seconds"] * (1 + told.share) == pytest.approx(10e-3, rel=1e-3)
    alone = calculate("collective", **asked, link_bandwidth="400Gbps", links_per_axis=1)
    assert alone["seconds"] == pytest.approx(10e-3, rel=1e-3)
    assert "one_port_for_both_sides" not in alone.omitted
    switch = calculate("collective", op="all-gather", chip="h100-sxm", chips=8, bytes="1GB")
    assert "one_port_for_both_sides" not in switch.omitted
