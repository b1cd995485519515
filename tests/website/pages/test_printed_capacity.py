"""A memory is shown as its source prints it: 32 GiB, not 34.36 GB, which no data sheet has."""

from __future__ import annotations

import json
import re

import pytest

from flopbook.hardware.chip import chip
from flopbook.hardware.picked import Picked
from scripts.website.figures.capacity_bandwidth import spots
from scripts.website.pages import explorer, explorer_data, pairs
from scripts.website.pages.planner_data import price_record
from scripts.website.pages.products import rows_by_id
from scripts.website.pages.quantities import QUANTITIES
from tests.support.cases import every

MEMORY = next(quantity for quantity in QUANTITIES if quantity.id == "memory")
BINARY = [
    row
    for row in explorer.items()
    if isinstance(cell := row.cells.get("memory"), Picked) and cell.claim.unit.endswith("iB")
]
PAIRS = {pair.ids: pair for pair in pairs.all_pairs()}
_CELL = re.compile(r'<a href="[^"]*#memory-\d+">([^<]*)</a>')


def test_some_sources_print_binary_units() -> None:
    assert len(BINARY) > 30
    assert {"google/tpu-v6e", "aws/trainium2"} <= {row.entry.id for row in BINARY}


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("google/tpu-v6e", "32 GiB"),
        ("aws/trn2-48xlarge", "1.5 TiB"),
        ("nvidia/h100-sxm", "80 GB"),
        ("nvidia/gb200-nvl72", "13.39 TB"),
    ],
)
def test_a_table_shows_what_is_printed(name: str, shown: str) -> None:
    row = rows_by_id()[name]
    cell = row.cells["memory"]
    assert isinstance(cell, Picked)
    assert MEMORY.of_cell(cell, row.entry.kind) == shown


def test_the_plain_table_shows_them_and_says_so() -> None:
    page = explorer.index_page()
    line = next(line for line in page.splitlines() if 'data-id="google/tpu-v6e"' in line)
    assert ">32 GiB</a>" in line and "34.36 GB" not in page
    assert "GiB where its source prints that" in page


@every("row", BINARY)
def test_the_script_knows_which_values_are_binary(row: explorer.ExplorerRow) -> None:
    record = explorer_data.explorer_record([row])
    cell = row.cells["memory"]
    assert isinstance(cell, Picked)
    values = record["entries"][0][6]["memory"]
    assert values[5] == 1 and cell.words.endswith("iB")
    assert record["units"]["GiB"][0] == 2**30


def test_what_is_decimal_costs_no_byte_in_the_data() -> None:
    record = explorer_data.explorer_record([rows_by_id()["nvidia/h100-sxm"]])
    assert all(len(cell) < 6 for cell in record["entries"][0][6].values() if isinstance(cell, list))
    assert json.dumps(record)


def test_a_comparison_of_readers_takes_prices_from_the_data() -> None:
    further = json.loads(explorer_data.files()[f"accelerators/{explorer.REST}"])
    price, whose = further["prices"]["nvidia/h100-sxm"]
    record = price_record("nvidia/h100-sxm")
    assert record and price == pytest.approx(3600 * record["usd_per_s"], abs=1e-4)
    assert whose == record["note"] and "amd/mi300x" in further["prices"]


def test_a_comparison_shows_both_as_printed_and_what_the_ratio_is_of() -> None:
    text = pairs.pair_page(PAIRS["google/tpu-v5p", "google/tpu-v6e"])
    assert _CELL.findall(text) == ["95 GiB", "32 GiB"]
    h100 = PAIRS["nvidia/h100-sxm", "google/tpu-v6e"]
    mixed = pairs.pair_page(h100)
    assert _CELL.findall(mixed) == ["80 GB", "32 GiB"] and "<small>34.36 GB</small>" in mixed
    assert "<small>34.36 GB</small>" not in text, "95 and 32 GiB are of one unit"
    told = " ".join(pairs.sentences(h100))
    ratio = chip("h100-sxm").memory() / chip("tpu-v6e").memory()
    assert f"{ratio:.2g} times the memory of Cloud TPU v6e: 80 GB against 32 GiB." in told


def test_tips_of_pictures_show_them_too() -> None:
    tips = {spot.item.entry.id: spot.tip for spot in spots()}
    assert ": 32 GiB at 1.638 TB/s" in tips["google/tpu-v6e"]
    assert "34.36 GB" not in explorer.trends_page()
