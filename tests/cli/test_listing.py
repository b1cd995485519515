"""`list`, `compare` and `peak` in a terminal.

Filters, order, ratios, what is missing, and every bad option.
"""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import pytest

from flopbook.cli.listing import HEADS, KINDS, SORTS, STATES
from flopbook.data.library import entry_ids
from flopbook.hardware.key_figures import FIGURE_KINDS as ROWS
from tests.support.samples import SOURCE, World, claim, entry_text


def chip_claims(
    peak: float, memory: float, year: str, *more: dict[str, Any]
) -> list[dict[str, Any]]:
    """The claims of a chip, with a power of 500 W and 2 TB/s."""
    return [
        claim(value=peak),
        claim("memory", value=memory),
        claim("memory_bandwidth"),
        claim("power", value=500),
        claim("scaleup_bandwidth"),
        claim("launched", value=year),
        *more,
    ]


@pytest.fixture
def market(world: World) -> World:
    """Chips of two vendors, a card, a node, and one of which little is known."""
    fp8 = claim(dtype="fp8", value=800)
    world.entry("one", *chip_claims(100, 16, "2019"), name="Acme One")
    world.entry("two", *chip_claims(400, 80, "2022-03", fp8), name="Acme Two")
    world.write(
        "accelerators/bolt/vendor.yaml",
        "id: bolt\nname: Bolt\nwebsite: https://b.example/\nsummary: B.\n",
    )
    head = {"vendor": "bolt", "kind": "package"}
    sparse = claim(dtype="fp4", sparsity="2:4")
    text = entry_text(
        *chip_claims(300, 192, "2024", sparse), id="bolt/big", name="Bolt Big", **head
    )
    world.write("accelerators/bolt/big.yaml", text)
    state = f"[{{state: announced, as_of: 2026-11-21, source: {SOURCE}}}]"
    unknown = (
        claim(value="not published"),
        claim("memory", value="none"),
        claim("announced", value="2025"),
    )
    world.write(
        "accelerators/bolt/next.yaml",
        entry_text(*unknown, id="bolt/next", name="Bolt Next", status=state, **head),
    )
    node = claim("power", value=5000, per="node")
    world.entry("box", node, kind="node", parts={"acme/two": 8}, name="Acme Box")
    return world


def ids(outcome: Any) -> list[str]:
    """The ids that were listed."""
    assert (outcome.status, outcome.err) == (0, "")
    return [line.split()[0] for line in outcome.out.splitlines()]


FILTERS: dict[str, tuple[list[str], list[str]]] = {
    "all": ([], ["acme/box", "acme/one", "acme/two", "bolt/big", "bolt/next"]),
    "a vendor": (["bolt"], ["bolt/big", "bolt/next"]),
    "a vendor by option": (["--vendor", "bolt"], ["bolt/big", "bolt/next"]),
    "both the same": (["bolt", "--vendor=bolt"], ["bolt/big", "bolt/next"]),
    "a kind": (["--kind", "node"], ["acme/box"]),
    "a state": (["--status", "announced"], ["bolt/next"]),
    "a format": (["--dtype", "fp8"], ["acme/box", "acme/two"]),
    "the usual format": (["--dtype", "bf16"], ["acme/box", "acme/one", "acme/two", "bolt/big"]),
    "a sparse peak is not enough": (["--dtype", "fp4"], []),
    "memory": (["--min-memory", "80GB"], ["acme/box", "acme/two", "bolt/big"]),
    "memory in binary": (["--min-memory", "80GiB"], ["acme/box", "bolt/big"]),
    "years": (["--since", "2022"], ["acme/two", "bolt/big", "bolt/next"]),
    "all at once": (
        ["acme", "--kind", "package", "--since", "2020", "--min-memory", "1GB", "--dtype", "bf16"],
        ["acme/two"],
    ),
    "by name": (
        ["--sort", "name", "--kind", "package"],
        ["acme/one", "acme/two", "bolt/big", "bolt/next"],
    ),
    "by peak": (["--sort", "peak"], ["acme/box", "acme/two", "bolt/big", "acme/one", "bolt/next"]),
    "by the peak of a format": (["--sort", "peak", "--dtype", "fp8"], ["acme/box", "acme/two"]),
    "by memory": (
        ["--sort", "memory", "--kind", "package"],
        ["bolt/big", "acme/two", "acme/one", "bolt/next"],
    ),
    "by year, the newest first": (
        ["--sort", "year"],
        ["bolt/next", "bolt/big", "acme/two", "acme/one", "acme/box"],
    ),
    "by kind": (["--sort", "kind"], ["acme/one", "acme/two", "bolt/big", "bolt/next", "acme/box"]),
    "by status": (
        ["--sort", "status"],
        ["bolt/next", "acme/box", "acme/one", "acme/two", "bolt/big"],
    ),
}


@pytest.mark.parametrize(("options", "expected"), FILTERS.values(), ids=FILTERS)
def test_filters_and_order(
    options: list[str], expected: list[str], market: World, cli: Any
) -> None:
    if expected:
        assert ids(cli("list", *options)) == expected
    assert [item["id"] for item in json.loads(cli("list", *options, "--json").out)] == expected


def test_an_empty_list_is_a_sentence(market: World, cli: Any) -> None:
    outcome = cli("list", "--dtype", "fp4")
    assert (outcome.status, outcome.out, outcome.err) == (0, "no accelerator is like that\n", "")
    assert cli("list", "--dtype", "fp4", "--json").out == "[]\n"


def test_a_filter_takes_away_and_an_order_does_not(market: World, cli: Any) -> None:
    everything = set(ids(cli("list")))
    for option, values in (("--kind", KINDS), ("--status", STATES)):
        parts = [json.loads(cli("list", option, value, "--json").out) for value in values]
        assert sorted(item["id"] for part in parts for item in part) == sorted(everything)
    for sort in SORTS:
        assert set(ids(cli("list", "--sort", sort))) == everything


def test_long_shows_the_key_values(market: World, cli: Any) -> None:
    head, *rows = cli("list", "--long").out.splitlines()
    assert head.split()[:4] == ["id", "kind", "status", "year"] and all(
        row.label in head for row in ROWS
    )
    text = "\n".join(rows)
    assert re.search(
        r"^acme/two .* 2022  400 TFLOP/s +80 GB +2 TB/s +200 FLOP/byte +450 GB/s +500 W "
        r"+800 GFLOP/s/W",
        text,
        re.M,
    )
    assert re.search(r"^acme/box .* -     3\.2 PFLOP/s +640 GB ", text, re.M)
    assert re.search(r"^bolt/next .* 2025  not published +none +not recorded ", text, re.M)


def test_json_is_complete(market: World, cli: Any) -> None:
    records = {item["id"]: item for item in json.loads(cli("list", "--json").out)}
    two = records["acme/two"]
    assert set(two) == {*HEADS, "year", *(row.id for row in ROWS)} and two["year"] == 2022
    assert two["peak"] == {"value": 4e14, "unit": "FLOP/s", "sources": [SOURCE]}
    assert two["flop_per_byte"]["value"] == 200 and two["scaleup_bandwidth"]["value"] == 450e9
    assert (
        records["acme/box"]["peak"]["value"] == 8 * 4e14
        and "8 x 400" in records["acme/box"]["peak"]["notes"][0]
    )
    assert records["bolt/next"]["peak"] == {
        "value": None,
        "unit": "FLOP/s",
        "sources": [],
        "missing": "not published",
    }
    assert records["bolt/next"]["flop_per_joule"]["missing"] == "not published"


def test_a_list_reads_a_broken_file_only_where_it_must(market: World, cli: Any) -> None:
    market.write(
        "accelerators/bolt/next.yaml",
        entry_text(claim("peak", drop=("unit",)), id="bolt/next", vendor="bolt"),
    )
    assert "bolt/next" in ids(cli("list"))
    outcome = cli("list", "--long")
    assert outcome.status == 2 and "bolt/next.yaml" in outcome.err and outcome.out == ""


BAD = {
    "kind": (("list", "--kind", "chip"), "unknown --kind 'chip'"),
    "state": (("list", "--status", "sold"), "unknown --status 'sold'"),
    "sort": (("list", "--sort", "price"), "unknown --sort 'price'"),
    "format": (("list", "--dtype", "bf61"), "unknown dtype 'bf61'; nearest: bf16"),
    "vendor": (("list", "--vendor", "acne"), "unknown vendor 'acne'; nearest: acme"),
    "two vendors": (("list", "acme", "--vendor", "bolt"), "two vendors, acme and bolt; name one"),
    "year": (
        ("list", "--since", "last year"),
        "--since: 'last year' is not a year; write for example 2024",
    ),
    "short year": (("list", "--since", "24"), "--since: '24' is not a year"),
    "other digits": (("list", "--since", "٢٠٢٤"), "is not a year"),
    "memory without unit": (
        ("list", "--min-memory", "80"),
        "--min-memory: '80' has no unit; write for example 80GB",
    ),
    "memory in watts": (
        ("list", "--min-memory", "80W"),
        "--min-memory: '80W' is in W, expected byte",
    ),
    "no memory": (("list", "--min-memory", ""), "--min-memory: "),
    "one chip": (("compare", "one"), "compare needs another CHIP, for example"),
    "no chip": (("compare",), "compare needs CHIP, for example"),
    "seven": (("compare", *["one"] * 7), "at most 6 accelerators, found 7"),
    "an unknown one": (("compare", "one", "onne"), "unknown chip 'onne'; nearest: "),
    "a format that is none": (("compare", "one", "two", "--dtype", "x"), "unknown dtype 'x'"),
    "a sparsity that is none": (
        ("compare", "one", "two", "--sparsity", "half"),
        "unknown sparsity 'half'; one of: dense, 2:4, 4:1",
    ),
    "no device": (("peak",), "peak needs NAME, for example"),
    "three words": (("peak", "a", "b", "c"), "peak takes at most two arguments, NAME .DTYPE."),
    "an unknown device": (("peak", "ACME 2"), "unknown device 'ACME 2'"),
    "a node": (("peak", "acme/box"), "is a node, not a chip; name its chip: acme/two"),
    "a peak that is not there": (
        ("peak", "one", "fp8"),
        "acme/one has no dense fp8 tensor peak; it has: bf16 dense",
    ),
    "a peak by another sparsity": (
        ("peak", "one", "--sparsity", "half"),
        "unknown sparsity 'half'",
    ),
}


@pytest.mark.parametrize(("arguments", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_one_line(
    arguments: tuple[str, ...], message: str, market: World, fails: Any
) -> None:
    assert re.search(message, fails(*arguments))
    assert fails(*arguments, "--json") == fails(*arguments)


def test_compare_shows_ratios_to_the_first(market: World, cli: Any) -> None:
    outcome = cli("compare", "two", "one", "bolt/next")
    head, *rows = outcome.out.splitlines()
    assert outcome.status == 0 and head.split() == ["acme/two", "acme/one", "bolt/next"]
    assert re.match(r"peak dense bf16 +400 TFLOP/s +100 TFLOP/s  x 0\.25 +not published$", rows[0])
    assert re.match(r"memory +80 GB +16 GB  x 0\.2 +none$", rows[1]) and "not recorded" in rows[2]
    assert (
        "note: acme/two: Link 4 is printed as 900 GB/s both ways together; one way is half" in rows
    )


def test_compare_as_json(market: World, cli: Any) -> None:
    record = json.loads(cli("compare", "one", "two", "box", "--json").out)
    assert (record["dtype"], record["sparsity"]) == ("bf16", "dense")
    ratios = [item["values"]["peak"]["ratio"] for item in record["chips"]]
    assert ratios == [1, 4, 32] and [item["id"] for item in record["chips"]] == [
        "acme/one",
        "acme/two",
        "acme/box",
    ]


def test_compare_by_another_format(market: World, cli: Any) -> None:
    peaks = [
        item["values"]["peak"]
        for item in json.loads(cli("compare", "one", "two", "--dtype", "fp8", "--json").out)[
            "chips"
        ]
    ]
    assert peaks[0]["missing"] == "not recorded" and peaks[1]["value"] == 8e14
    assert peaks[0]["ratio"] is None and peaks[1]["ratio"] is None
    sparse = json.loads(
        cli("compare", "big", "one", "--dtype", "fp4", "--sparsity", "2:4", "--json").out
    )["chips"]
    assert (
        sparse[0]["values"]["peak"]["value"] == 1e14
        and "2:4" in sparse[0]["values"]["peak"]["notes"][0]
    )


def test_ratios_turn_round(market: World, cli: Any) -> None:
    """A compared with B is the inverse of B compared with A."""
    for one, two in itertools.permutations(("one", "two", "big"), 2):
        forth, back = (
            json.loads(cli("compare", *pair, "--json").out)["chips"][1]["values"]
            for pair in ((one, two), (two, one))
        )
        for row in ROWS:
            assert forth[row.id]["ratio"] * back[row.id]["ratio"] == pytest.approx(1)


def test_any_two_to_six_of_the_real_ones_compare(cli: Any) -> None:
    names = entry_ids()
    for start in range(0, len(names) - 6, 9):
        assert cli("compare", *names[start : start + 2 + start % 5]).status == 0


def test_peak_in_one_line(market: World, cli: Any) -> None:
    market.entry("one", *chip_claims(100, 16, "2019"), name="Acme One", device_names="[ACME 1]")
    outcome = cli("peak", "ACME 1")
    assert outcome == cli("peak", "acme 1", "bf16") == cli("peak", "one", "--sparsity", "dense")
    assert outcome.out == f"100 TFLOP/s dense bf16, Acme One ({SOURCE})\n"
    record = json.loads(cli("peak", "ACME 1", "--json").out)
    assert record == {
        "value": 1e14,
        "unit": "FLOP/s",
        "dtype": "bf16",
        "sparsity": "dense",
        "chip": "acme/one",
        "name": "Acme One",
        "devices_per_package": 1,
        "source": SOURCE,
        "sources": [SOURCE],
        "as_of": "2026-11-21",
        "notes": [],
    }


def test_peak_of_a_part_says_so(market: World, cli: Any) -> None:
    parts = claim("devices_per_package", name="ACME 1")
    market.entry(
        "one", *chip_claims(100, 16, "2019", parts), name="Acme One", device_names="[ACME 1]"
    )
    first, note = cli("peak", "ACME 1").out.splitlines()
    assert first == f"50 TFLOP/s dense bf16, Acme One ({SOURCE})"
    assert note == f"note: acme/one counts as 2 devices ({SOURCE}); this is the peak of one of them"
    assert json.loads(cli("peak", "ACME 1", "--json").out)["devices_per_package"] == 2


def test_a_peak_of_unstated_density_is_not_called_dense(market: World, cli: Any) -> None:
    market.entry("one", claim(sparsity="unstated"), name="Acme One")
    first, note = cli("peak", "one").out.splitlines()
    assert first == f"100 TFLOP/s bf16, Acme One ({SOURCE})" and "does not say whether" in note


def test_a_real_peak(cli: Any) -> None:
    """nvidia2022hopper, Table 1, column NVIDIA H100 SXM5."""
    text = "989.4 TFLOP/s dense bf16, NVIDIA H100 SXM5 80GB (nvidia2022hopper)\n"
    assert cli("peak", "NVIDIA H100 80GB HBM3").out == text
