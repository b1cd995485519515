"""What the chapter on the landscape says in words holds in the data.

So a corrected entry that makes a sentence wrong is noticed, where no expression could correct it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flopbook.architectures.shape import shape
from flopbook.data.claims import Claim
from flopbook.data.library import load_entry, vendor
from flopbook.data.vendors import Fact
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from scripts.website.figures import peak_bandwidth, power_peak, published_shares, scaleup_domains
from scripts.website.figures.scatter import MARKS, mark_of
from scripts.website.pages.explorer import items
from scripts.website.pages.families import chips, family_of, peak16
from scripts.website.pages.landscape import FITTED, trend_growth
from scripts.website.pages.landscape_prose import Landscape
from scripts.website.pages.quantities import value_of

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "handbook" / "landscape.md").read_text(
    encoding="utf-8"
)
SIX = re.search(r"set six = \[(.*?)\]", TEXT)[1].replace('"', "").split(", ")  # type: ignore[index]
H100, H200, H20 = "nvidia/h100-sxm", "nvidia/h200-sxm", "nvidia/h20"
V6, B200, MI355X = "google/tpu-v6e", "nvidia/b200", "amd/mi355x"


def said(words: str) -> None:
    """The sentence that a test speaks of is still there, over line breaks."""
    assert " ".join(words.split()) in " ".join(TEXT.split()), words


def growth(name: str, *families: str) -> float:
    return trend_growth(items(), name, families or FITTED).doubling


def answer(calculator: str, output: str, name: str, **options: object) -> float:
    return float(
        calculate(calculator, model="llama-3-70b", chip=name, tp=8, seq=8192, **options)[output]
    )


def column(calculator: str, output: str, **options: object) -> dict[str, float]:
    return {name: answer(calculator, output, name, **options) for name in SIX}


def days() -> dict[str, float]:
    given = {"model": "llama-3-70b", "tokens": "15T", "chips": 1024, "mfu": 0.4}
    return {name: float(calculate("training-time", chip=name, **given)["days"]) for name in SIX}


def test_the_memory_wall_is_low_and_doubtful() -> None:
    """Its text has to stand where the band of the ridge point has no end."""
    said("At 16 bits the memory wall is lower than its fame.")
    wall, peak = (trend_growth(items(), name, FITTED) for name in ("wall", "peak"))
    assert wall.doubling > 4 * peak.doubling
    assert wall.slow > 2 * wall.doubling, "a band that is this wide is no trend to rely on"


def test_nearly_all_ridge_points_lie_in_a_stripe() -> None:
    said("Most chips lie in one stripe, no matter who made them: a factor of ten wide")
    said("Most server chips have ridge points between a hundred and a thousand")
    ratios = [spot.y / spot.x for spot in peak_bandwidth.spots()]
    assert sum(100 <= ratio <= 1000 for ratio in ratios) > 0.85 * len(ratios)


def test_who_leaves_the_stripe_stands_where_the_text_says() -> None:
    ratios = {spot.item.entry.id: spot.y / spot.x for spot in peak_bandwidth.spots()}
    low = [family_of(name).id for name, ratio in ratios.items() if ratio < 30]
    assert low and set(low) <= {"wafer", "sram", "near"}
    assert ratios[H20] == min(r for name, r in ratios.items() if family_of(name).id == "gpu")
    assert chip(H20).memory_bandwidth() > chip(H100).memory_bandwidth()


def test_the_medians_of_the_families_are_alike() -> None:
    """The first lesson: within a fifth of each other."""
    found = Landscape("handbook/landscape.md")
    middles = [found.middle("ridge", name) for name in ("gpu", "tpu", "own", "china")]
    assert max(middles) < 1.2 * min(middles)


def test_the_peak_of_the_wafer_says_nothing_of_zeros() -> None:
    said("Its printed peak has no number format and no word on sparsity")
    peaks = [c for c in load_entry("cerebras/wse-3").claims if c.field == "peak" and c.published]
    assert peaks and all(c.sparsity == "unstated" for c in peaks)


def test_desks_come_in_two_kinds() -> None:
    mac, card = chip("apple/m3-ultra"), chip("nvidia/rtx-5090")
    assert (
        mac.memory() > 10 * card.memory() and card.memory_bandwidth() > 2 * mac.memory_bandwidth()
    )


def test_shares_that_were_reached_are_as_told() -> None:
    """Two keep below the peak, one is above it; the order of two chips in training turns."""
    found = Landscape("handbook/landscape.md")
    assert (
        found.reached("nvidia/rtx-5090") > 100 > found.reached(H100) > found.reached("amd/mi300x")
    )
    said("which turns the order in training around")
    rates = {name: chip(name).peak("bf16") for name in (MI355X, B200)}
    reached = {name: rates[name] * found.reached(name) for name in rates}
    assert rates[MI355X] > rates[B200] and reached[MI355X] < reached[B200]


def test_the_points_about_growth() -> None:
    """About two years, three to five by its band, and a factor of two off the line."""
    said("At 16 bits, peak and bandwidth double in about two years")
    said("work for a joule in three to five")
    for name in ("peak", "memory_bandwidth"):
        assert 1.5 < growth(name) < 2.5
    assert 3.2 < growth("efficiency") < 4.8
    joule = trend_growth(items(), "efficiency", FITTED)
    assert 2.5 < joule.fast < 3.5 and 4.5 < joule.slow < 5.5
    assert 1.5 < trend_growth(items(), "peak", FITTED).scatter < 2.8


def test_the_order_of_growth() -> None:
    """The ridge point is slowest, the link wall seems faster, and the bands of both overlap."""
    wall, links = trend_growth(items(), "wall", FITTED), trend_growth(items(), "links", FITTED)
    assert links.doubling < wall.doubling and links.slow > wall.fast
    assert growth("peak") < growth("memory") < growth("scaleup_bandwidth") < growth("power")


def test_all_chips_together_grow_more_slowly() -> None:
    said("take all chips, those of PCs included, and rise more slowly")
    everything = growth("peak", *{family_of(item.entry.id).id for item in chips(items())})
    assert everything > growth("peak") > growth("peak", "gpu")


def test_power_of_tpus_is_mostly_hollow() -> None:
    hollow = [
        spot.hollow for spot in power_peak.spots() if family_of(spot.item.entry.id).id == "tpu"
    ]
    assert sum(hollow) > len(hollow) / 2


def test_small_and_large_chips_lie_on_the_same_lines() -> None:
    """Half of the small cards beat the least frugal large chip per joule, and the reverse."""
    small = [s.y / s.x for s in power_peak.spots() if s.x < 100]
    large = [s.y / s.x for s in power_peak.spots() if s.x > 1000]
    assert small and large and min(large) < max(small) and min(small) < max(large)


def test_tpus_had_hundreds_from_the_start() -> None:
    spots = scaleup_domains.spots()
    tpus = [s.y for s in spots if family_of(s.item.entry.id).id == "tpu"]
    gpus = [s.y for s in spots if family_of(s.item.entry.id).id == "gpu" and s.x < 2023]
    assert min(tpus) >= 100 and max(gpus) <= 16


def test_gpus_left_the_node_in_2023() -> None:
    """DGX GH200, announced in May 2023, joined 256; chips alone would say 2025."""
    first = min(
        (s for s in scaleup_domains.spots() if s.y > 16 and s.item.entry.id.startswith("nvidia/")),
        key=lambda spot: spot.x,
    )
    assert first.item.entry.id == "nvidia/dgx-gh200" and int(first.x) == 2023
    assert "2023" in scaleup_domains.figure().title


def test_weaker_chips_are_made_up_for_by_more_of_them() -> None:
    pod, rack = chip("huawei/cloudmatrix-384"), chip("nvidia/gb200-nvl72")
    assert chip("huawei/ascend-910c").peak("bf16") < chip("nvidia/gb200-gpu").peak("bf16")
    peaks, watts = (
        [one.total("peak", "bf16") for one in (pod, rack)],
        [one.power() for one in (pod, rack)],
    )
    assert peaks[0] > peaks[1] and peaks[0] / watts[0] < peaks[1] / watts[1]


def test_sellers_print_power_and_landlords_do_not() -> None:
    rows = {row.name: row for row in published_shares.rows()}
    power = [name for name, _ in published_shares.COLUMNS].index("power")
    sellers = [rows[name].shares[power] for name in ("NVIDIA", "AMD", "Tenstorrent", "Qualcomm")]
    landlords = [rows[name].shares[power] for name in ("Google", "Amazon Web Services")]
    assert min(sellers) > max(landlords)
    last = dict(
        zip((name for name, _ in published_shares.COLUMNS), rows["all makers"].shares, strict=True)
    )
    assert (
        max(last[name] for name in ("process", "transistors", "die area"))
        < last["power"]
        < last["peak"]
    )


def test_prices_are_mostly_those_of_graphics_cards() -> None:
    priced = [
        i for i in chips(items()) if any(c.field == "price" and c.published for c in i.entry.claims)
    ]
    desks = [i for i in priced if family_of(i.entry.id).id == "desk"]
    others = [i for i in priced if family_of(i.entry.id).id in ("gpu", "tpu", "own")]
    assert len(desks) > len(priced) * 0.4 and len(others) < len(desks)


@pytest.mark.parametrize(
    ("maker", "words"), [("intel", "Habana"), ("aws", "Annapurna"), ("mythic", "capital")]
)
def test_what_happened_is_on_record(maker: str, words: str) -> None:
    events: list[Fact] = [fact for fact in vendor(maker).facts if fact.field == "event"]
    assert any(words in fact.value for fact in events)


def test_training_and_prefill_follow_the_peak() -> None:
    peak = {name: chip(name).peak("bf16") for name in SIX}
    by_peak = sorted(SIX, key=lambda name: -peak[name])
    for values in (days(), column("prefill", "seconds")):
        assert [round(values[name], 2) for name in by_peak] == sorted(
            round(value, 2) for value in values.values()
        )
        assert values[H100] == pytest.approx(values[H200], rel=0.001)


def test_decoding_for_one_follows_the_bandwidth() -> None:
    seconds = column("decode", "seconds", batch=1)
    assert sorted(SIX, key=lambda n: seconds[n]) == sorted(
        SIX, key=lambda n: -chip(n).memory_bandwidth()
    )
    assert seconds[H20] < seconds[H100] < seconds[V6] == max(seconds.values())
    said("with a seventh of its peak")
    assert chip(H100).peak("bf16") / chip(H20).peak("bf16") == pytest.approx(7, abs=0.5)
    assert chip(V6).peak("bf16") == pytest.approx(chip(H100).peak("bf16"), rel=0.1)


def test_decoding_for_many_asks_for_capacity() -> None:
    readers, tokens = column("serving", "batch_fits"), column("serving", "tokens_per_s")
    assert readers[H200] > 1.5 * readers[H100] and readers[H20] > readers[H100]
    assert tokens[H200] > tokens[H100] > tokens[H20]
    assert (
        calculate("serving", model="llama-3-70b", chip=H20, tp=8, seq=8192)["bound"] == "arithmetic"
    )


def test_one_chip_is_best_in_every_column_and_another_is_near() -> None:
    least = [days(), column("prefill", "seconds"), column("decode", "seconds", batch=1)]
    most = [column("serving", "batch_fits"), column("serving", "tokens_per_s")]
    assert all(min(values, key=values.__getitem__) == MI355X for values in least)
    assert all(max(values, key=values.__getitem__) == MI355X for values in most)
    assert (
        all(values[B200] < 1.15 * values[MI355X] for values in least)
        and most[0][B200] < 0.7 * most[0][MI355X]
    )


def test_one_die_is_sold_for_prefill_and_for_decoding() -> None:
    reads, writes = chip("huawei/ascend-950pr"), chip("huawei/ascend-950dt")
    assert (
        reads.peak("bf16") == writes.peak("bf16")
        and reads.memory_bandwidth() < writes.memory_bandwidth()
    )


def test_the_crossing_of_two_chips() -> None:
    """The exercise: equal where the work of one takes as long as the reading of the other."""
    params = shape("llama-3-70b").params
    batch = chip(H20).peak("bf16") / chip(V6).memory_bandwidth()
    first = max(
        2 * params * batch / chip(H20).peak("bf16"), 2 * params / chip(H20).memory_bandwidth()
    )
    second = max(
        2 * params * batch / chip(V6).peak("bf16"), 2 * params / chip(V6).memory_bandwidth()
    )
    assert first == pytest.approx(second)


def test_a_corrected_entry_corrects_the_chapter() -> None:
    """Half of a bandwidth doubles the ridge point and moves a median.

    Nothing is typed that could stay behind.
    """
    found = items()
    place = next(n for n, item in enumerate(found) if item.entry.id == H100)
    old = found[place].cells["memory_bandwidth"]
    assert not isinstance(old, str)
    cell = old._replace(value=old.value / 2)
    page = Landscape("handbook/landscape.md")
    page.__dict__["_items"] = [
        *found[:place],
        found[place]._replace(cells=found[place].cells | {"memory_bandwidth": cell}),
        *found[place + 1 :],
    ]
    before, peak = Landscape("handbook/landscape.md"), peak16(found[place].cells)
    assert peak is not None and value_of(found[place].cells, "memory_bandwidth") == old.value
    assert page.growth("wall", "gpu")["factor"] > before.growth("wall", "gpu")["factor"] * 0.9
    assert page.growth("wall", "gpu") != before.growth("wall", "gpu")
    assert page.most("ridge", "gpu") == pytest.approx(
        max(before.most("ridge", "gpu"), peak.value / cell.value)
    )


def test_numbers_of_the_errors_are_those_of_the_entries() -> None:
    """Two for sparsity, two for direction, eight for bits."""
    said("two for sparsity, two for direction, two for a format, eight for bits")
    item = chip(H100)
    assert item.peak("bf16", "2:4") == pytest.approx(2 * item.peak("bf16"), rel=0.001)
    assert item.peak("fp8") == pytest.approx(2 * item.peak("bf16"), rel=0.001)
    links: list[Claim] = [
        c
        for c in item.claims("scaleup_bandwidth")
        if c.direction == "both" and c.aggregate == "chip"
    ]
    assert links and links[0].si_value == pytest.approx(2 * item.scaleup_bandwidth())


def test_families_in_the_middle_of_the_pictures_share_a_mark() -> None:
    """In-house and Chinese chips lie where GPUs do; six marks hid those that lie apart."""
    assert len(MARKS) == 4
    middle = {mark_of(name) for name in ("aws/trainium1", "huawei/ascend-950pr", "nvidia/rtx-5090")}
    assert middle == {max(MARKS)}
    assert mark_of("groq/groqchip-1") == mark_of("cerebras/wse-3") not in middle


def test_every_chip_off_the_stripe_is_accounted_for() -> None:
    """Four that lie just below it gave up nothing: the first of their makers, not by design."""
    off = {
        spot.item.entry.id: spot.y / spot.x
        for spot in peak_bandwidth.spots()
        if not 100 <= spot.y / spot.x <= 1000
    }
    alone = {
        "groq/groqchip-1",
        "graphcore/gc2",
        "cerebras/wse-3",
    }  # memory on the chip, and a wafer
    first = {"google/tpu-v2", "intel/gaudi-1", "amd/mi100", "meta/mtia-300"}
    plain = {"aws/inferentia1", "preferred-networks/mn-core"}  # DRAM that is not stacked
    assert set(off) == alone | first | plain | {H20}
    assert {load_entry(name).summary.split()[:2][1] for name in first} == {"first"}
    assert min(off[name] for name in first) > off[H20] > max(off[name] for name in alone)
    for name in first | plain:
        assert f'"{name}"' in TEXT
    mi100 = chip("amd/mi100")
    assert mi100.peak("fp16") == pytest.approx(2 * mi100.peak("bf16"))
    said("those far outside gave up one of the numbers")
    said("Those far off it got there by design.")
