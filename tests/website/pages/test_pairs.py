"""Comparisons of two chips: forty and more, each with a verdict that is arithmetic on the data."""

from __future__ import annotations

import re

import pytest

from flopbook.architectures.shape import shape
from flopbook.hardware.chip import chip
from flopbook.hardware.picked import Picked
from flopbook.planning.serving import plan_serving
from flopbook.planning.serving_question import serving_question
from flopbook.quantities.units import unit
from scripts.website.pages import pairs
from scripts.website.pages.accelerators import entry_page
from scripts.website.pages.entry import entry_markdown
from scripts.website.pages.pair_plans import serving_of
from scripts.website.pages.planner_data import price_record
from scripts.website.pages.planner_words import money
from scripts.website.pages.quantities import value_of
from tests.support.cases import every

PAIRS = pairs.all_pairs()
PAGES = pairs.pages()
H100_MI300X = next(pair for pair in PAIRS if pair.ids == ("nvidia/h100-sxm", "amd/mi300x"))


def test_there_are_forty_of_two_different_products_each_once() -> None:
    assert len(PAIRS) >= 40 and len({frozenset(pair.ids) for pair in PAIRS}) == len(PAIRS)
    assert all(len(set(pair.ids)) == 2 for pair in PAIRS)
    assert set(PAGES) == {pairs.INDEX, *(pair.page for pair in PAIRS)}
    assert H100_MI300X.page == "compare/h100-sxm-vs-mi300x.md"


def test_the_list_has_every_comparison_once() -> None:
    links = re.findall(r'<th scope="row"><a href="([\w.-]+)/">', PAGES[pairs.INDEX])
    assert sorted(f"compare/{name}.md" for name in links) == sorted(pair.page for pair in PAIRS)


def test_the_list_says_how_many_times_the_figures_the_second_has() -> None:
    """Of the MI300X beside the H100: 1,307 of 989 TFLOP/s, 192 of 80 GB, 5.3 of 3.35 TB/s."""
    line = next(line for line in PAGES[pairs.INDEX].splitlines() if "h100-sxm-vs-mi300x/" in line)
    assert re.findall(r">([\d.]+)×<", line) == ["1.3", "1.3", "2.4", "1.6", "1", "1.1"]


def test_the_verdict_of_h100_and_mi300x() -> None:
    """1,307 over 989 TFLOP/s, 192 over 80 GB, 5.3 over 3.35 TB/s: the data sheets of both."""
    h100, mi300x = chip("h100-sxm"), chip("mi300x")
    text = " ".join((*pairs.sentences(H100_MI300X), *pairs.meaning_of(H100_MI300X)))
    for what, one, other in (
        ("dense bf16 rate", h100.peak("bf16"), mi300x.peak("bf16")),
        ("memory", h100.memory(), mi300x.memory()),
        ("memory bandwidth", h100.memory_bandwidth(), mi300x.memory_bandwidth()),
    ):
        assert f"Instinct MI300X has {other / one:.2g} times the {what} of H100" in text
    assert "Both have about the same link rate, one way, 450 GB/s." in text
    assert "H100 SXM5 80GB is specified at 700 W, Instinct MI300X at 750 W." in text
    assert "is up to 1.3 times as fast on Instinct MI300X; work that waits for memory" in text
    assert "take 2 × H100 SXM5 80GB or 1 × Instinct MI300X." in text


@every("pair", PAIRS)
def test_every_verdict_is_sentences_with_true_ratios(pair: pairs.Pair) -> None:
    told = [*pairs.sentences(pair), *pairs.meaning_of(pair)]
    assert len(told) >= 4
    for sentence in told:
        assert sentence.endswith(".") and "{" not in sentence and "None" not in sentence
    for headline in pairs.headlines_of(pair):
        cells = [row.cells.get(headline.id) for row in pair]
        if headline.id == "power" or not all(isinstance(cell, Picked) for cell in cells):
            continue
        first, other = (cell.value for cell in cells if isinstance(cell, Picked))
        ratio = max(first, other) / min(first, other)
        winner = pair.shorts[int(other > first)]
        said = next(one for one in told if f" {headline.words}" in one)
        assert said.startswith(winner) == (ratio >= 1.05) or "Both" in said
        if ratio >= 1.05:
            shown = float(re.findall(r"has ([\d.]+) times", said)[0])
            assert shown == pytest.approx(ratio, rel=0.06)


@every("pair", PAIRS[::4])
def test_a_page_leads_to_values_explorer_and_calculators(pair: pairs.Pair) -> None:
    text = PAGES[pair.page]
    assert f"compare={','.join(pair.ids)}" in text
    for row in pair:
        name = row.entry.id
        assert f"calculators/memory/?chip={name}" in text
        page = entry_markdown(name)
        anchors = re.findall(rf'href="\.\./\.\./accelerators/{name}/#([\w-]+)"', text)
        assert len(anchors) >= 3 and entry_page(name).endswith(f"{name}.md")
        assert all(f'id="{anchor}"' in page for anchor in anchors)


@every("pair", PAIRS)
def test_bars_are_as_long_as_the_values_and_the_better_one_is_marked(pair: pairs.Pair) -> None:
    table = pairs.table_of(pair, pair.names)
    widths = [float(width) for width in re.findall(r"--fb-share: ([\d.]+)", table)]
    assert max(widths) == 1 and min(widths) > 0
    rows = re.findall(r'<tr><th scope="row">.*?</tr>', table)
    assert len(rows) == len(pairs.HEADLINES)
    for row, headline in zip(rows, pairs.headlines_of(pair), strict=True):
        assert row.count("fb-best") <= 1
        assert ("fb-of-arithmetic" in row) <= (headline.kind == "fb-of-arithmetic")
        if "fb-best" in row:
            assert (">less<" in row) == (headline.id == "power")


UNIT = re.compile(r">(?P<count>[\d.,]+) (?P<unit>[^<]+)</a>")


@every("pair", PAIRS)
def test_a_row_has_one_unit_and_the_values_on_file(pair: pairs.Pair) -> None:
    rows = re.findall(r'<tr><th scope="row">.*?</tr>', pairs.table_of(pair, pair.names))
    for row, headline in zip(rows, pairs.headlines_of(pair), strict=True):
        values = [value_of(one.cells, headline.id) for one in pair]
        shown = UNIT.findall(row)
        assert len(shown) == len(values) - values.count(None)
        for (count, symbol), value in zip(shown, filter(None, values), strict=True):
            amount = float(count.replace(",", "")) * unit(symbol).factor
            assert amount == pytest.approx(value, rel=1e-3)
        is_one = len({symbol for _, symbol in shown}) < 2
        # A capacity has the unit that its source prints.
        is_one = is_one or any(symbol.endswith("iB") for _, symbol in shown)
        amounts = [float(count.replace(",", "")) for count, _ in shown]
        assert is_one or max(filter(None, values)) / min(filter(None, values)) > 10, amounts


def test_rates_of_one_order_share_a_unit() -> None:
    table = pairs.table_of(H100_MI300X, H100_MI300X.names)
    assert "989.4 TFLOP/s" in table and "1,307 TFLOP/s" in table


def test_serving_is_that_of_the_plan() -> None:
    """Eight of each, the best division, at list prices; both planners open with both chips."""
    (said,) = serving_of(H100_MI300X.ids, H100_MI300X.shorts)
    for name in H100_MI300X.ids:
        asked = serving_question({"model": "llama-3-70b", "chip": name, "chips": "8"})
        rate = plan_serving(asked, 1).layouts[0].tokens_per_s
        assert f"{float(f'{rate:.2g}'):,.0f}" in said
        price = price_record(name)
        assert price and money(1e6 * 8 * price["usd_per_s"] / rate) in said
    text = PAGES[H100_MI300X.page]
    for page in ("serve", "planner"):
        assert f"../{page}/?chip=nvidia/h100-sxm&amp;other=amd/mi300x" in text.replace(".md", "/")
    for pair in PAIRS:
        told = list(serving_of(pair.ids, pair.shorts))
        assert all(one.endswith(".") and "{" not in one for one in told)
    assert sum(bool(list(serving_of(pair.ids, pair.shorts))) for pair in PAIRS) > 20


def test_siblings_are_comparisons_of_either() -> None:
    found = pairs.siblings_of(H100_MI300X)
    assert len(found) > 10 and (H100_MI300X.title, H100_MI300X.page) in found
    assert all("h100-sxm" in page or "mi300x" in page for _, page in found)


@every("pair", PAIRS)
def test_what_a_comparison_means_follows_from_peak_bandwidth_and_memory(pair: pairs.Pair) -> None:
    """Faster at work that waits for something is who has more of it, by as much at most."""
    told = " ".join(pairs.meaning_of(pair))
    needed = 2 * shape("llama-3-70b").pick("params").value
    for name, kind in (
        ("peak:bf16:tensor:dense", "prompts, is "),
        ("memory_bandwidth", "decoding, is "),
    ):
        first, other = (value_of(row.cells, name) for row in pair)
        if first is None or other is None:
            continue
        factor, winner = max(first, other) / min(first, other), pair.shorts[int(other > first)]
        words = told.partition(kind)[2]
        if not words:
            assert "Work that waits" not in told
        elif factor < 1.05:
            assert words.startswith("about as fast on both")
        else:
            said = re.match(
                r"up to ([\d.]+) times as fast on (.*?)[;.] (?:work|These|In fp8)", words
            )
            assert said and said[2] == winner
            assert float(said[1]) == pytest.approx(factor, rel=0.06)
    memories = [value_of(row.cells, "memory") for row in pair]
    counts = re.findall(r"(\d+) × ", told.partition("take ")[2])
    assert len(counts) == (0 if None in memories else 2)
    for count, memory in zip(counts, memories, strict=False):
        assert memory and (int(count) - 1) * memory < needed <= int(count) * memory


def named(page: str) -> pairs.Pair:
    return next(pair for pair in PAIRS if pair.page == f"compare/{page}.md")


def test_the_verdict_names_the_format_and_both_where_they_differ() -> None:
    """In bf16 a Gaudi 3 has 1.7 times the rate of an H200, in fp8 the H200 has 1.2 times its."""
    told = " ".join(pairs.meaning_of(named("gaudi-3-vs-h200-sxm")))
    assert told.startswith("In bf16, work that waits") and "1.7 times as fast on Gaudi 3" in told
    assert "In fp8, arithmetic is up to 1.2 times as fast on H200 SXM 141GB." in told
    assert "In fp8" not in " ".join(pairs.meaning_of(H100_MI300X)), "1.3 in both"


def test_a_chip_without_bf16_is_compared_in_fp16() -> None:
    """125 TFLOP/s of a V100 and 989 of an H100; bf16 said nothing of the two."""
    pair = named("v100-sxm2-vs-h100-sxm")
    told = " ".join(pairs.meaning_of(pair))
    assert "In fp16, work that waits" in told and "up to 7.9 times as fast on H100" in told
    table = pairs.table_of(pair, pair.names)
    assert "Dense fp16 rate" in table and "125 TFLOP/s" in table and "bf16" not in table
    line = next(line for line in PAGES[pairs.INDEX].splitlines() if "v100-sxm2-vs-h100" in line)
    assert ">7.9× <small>fp16</small><" in line


def test_what_prints_as_equal_is_no_more_and_no_less() -> None:
    """450 and 448 GB/s have a ratio of 1; a mark on one of them said something else."""
    page = pairs.pair_page(H100_MI300X)
    link = next(row for row in page.split("<tr>") if "Link rate" in row)
    assert "1×" in link and "fb-best" not in link
    power = next(row for row in page.split("<tr>") if ">Power<" in row)
    assert power.index("fb-best") < power.index("700 W"), "the mark stands before the number"
