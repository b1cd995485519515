"""The page of all accelerators before a script runs, and the data that the script gets."""

from __future__ import annotations

import gzip
import itertools
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from flopbook.data.library import entry_ids, load_entry, references, vendor_ids
from flopbook.hardware.picked import Picked
from scripts.website.pages import explorer, explorer_data
from scripts.website.pages.entry import entry_markdown
from scripts.website.pages.explorer import COLOURS, START, groups, items, state_of
from scripts.website.pages.quantities import LARGE, UNITS_OF_COLUMNS, peak_id, value_of
from tests.support.samples import World, claim

ITEMS = items()
PAGE = explorer.index_page()
FILES = explorer_data.files()
NAMES = (explorer.DATA, explorer.REST)


def joined(first: dict[str, Any], rest: dict[str, Any]) -> dict[str, Any]:
    """Both files of values as one, as the script joins them."""
    shared = {name: first[name] + rest[name] for name in ("sources", "marks", "kinds")}
    entries = [[*row[:6], row[6] | rest["values"][row[0]], *row[7:]] for row in first["entries"]]
    return first | shared | {"entries": entries}


RECORD = joined(*(json.loads(FILES[f"accelerators/{name}"]) for name in NAMES))
MODULES = Path(__file__).resolve().parents[3] / "docs" / "assets" / "flopbook" / "explorer"


class _Table(HTMLParser):
    """Heads, and for each row its id and the texts and links of its cells."""

    def __init__(self) -> None:
        super().__init__()
        self.heads: list[str] = []
        self.rows: dict[str, list[str]] = {}
        self.links: dict[str, list[str]] = {}
        self._row = self._in = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "tr":
            self._row = given.get("data-id") or ""
        elif tag in ("th", "td"):
            self._in = tag
            (self.rows.setdefault(self._row, []) if self._row else self.heads).append("")
        elif tag == "a" and self._row and self._in:
            self.links.setdefault(self._row, []).append(str(given["href"]))

    def handle_endtag(self, tag: str) -> None:
        if tag in ("th", "td"):
            self._in = ""
        if tag == "tr":
            self._row = ""

    def handle_data(self, data: str) -> None:
        if self._in:
            cells = self.rows[self._row] if self._row else self.heads
            cells[-1] += data


@pytest.fixture(scope="module")
def table() -> _Table:
    found = _Table()
    found.feed(PAGE[PAGE.index("<table") : PAGE.index("</table>")])
    return found


def test_every_entry_is_a_row_and_chips_come_first(table: _Table) -> None:
    assert set(table.rows) == set(entry_ids())
    kinds = [load_entry(name).kind for name in table.rows]
    assert "package" not in kinds[kinds.count("package") :]
    assert {len(cells) for cells in table.rows.values()} == {len(table.heads)}


def test_of_a_year_chips_with_a_peak_come_first(table: _Table) -> None:
    """The first rows are those that a reader can compare, not announcements without a rate."""
    place = table.heads.index("Peak, bf16 dense")
    year = table.heads.index("Year")
    chips = [cells for name, cells in table.rows.items() if load_entry(name).kind == "package"]
    for before, after in itertools.pairwise(chips):
        if before[year] == after[year]:
            assert "LOP/s" in before[place] or "LOP/s" not in after[place]


def test_the_row_of_a_chip_shows_its_values(table: _Table) -> None:
    row = dict(zip(table.heads, table.rows["nvidia/h100-sxm"], strict=True))
    assert row["Kind"] == "chip" and row["Year"] == "2022"
    assert row["Peak, bf16 dense"] == "989.4 TFLOP/s" and row["bf16 2:4 sparse"] == "1,979 TFLOP/s"
    assert row["bf16 sparsity unstated"] == "stated, see dense, 2:4 sparse"
    assert row["FLOP per byte"] == "295.3" and row["Memory"] == "80 GB" and row["Power"] == "700 W"


def test_a_column_has_one_unit_for_chips_and_one_for_what_is_built_of_them(table: _Table) -> None:
    """989 TFLOP/s and 2.25 PFLOP/s below each other could not be compared at a glance."""
    for place, head in enumerate(table.heads):
        units: dict[bool, set[str]] = {True: set(), False: set()}
        for name, cells in table.rows.items():
            match = re.match(r"[\d,.]+ ([A-Z][A-Za-z]*(?:/s)?)(?![A-Za-z])", cells[place])
            # A capacity has the unit that its source prints.
            if match and head != "Name" and not match[1].endswith("iB"):
                units[load_entry(name).kind in LARGE].add(match[1])
        assert all(len(written) <= 1 for written in units.values()), (head, units)
    peak = table.heads.index("Peak, bf16 dense")
    assert table.rows["nvidia/b200"][peak].startswith("2,250 TFLOP/s")
    assert table.rows["nvidia/gb200-nvl72"][peak].endswith("PFLOP/s")
    assert UNITS_OF_COLUMNS in PAGE


def test_each_value_leads_to_its_place_on_the_page_of_its_entry(table: _Table) -> None:
    for name in ("nvidia/h100-sxm", "google/tpu-v5p", "amd/mi300x", "nvidia/gb200-nvl72"):
        page = entry_markdown(name)
        anchors = [href.partition("#")[2] for href in table.links[name] if "#" in href]
        assert len(anchors) >= 5
        for anchor in anchors:
            assert f'id="{anchor}"' in page, (name, anchor)


def test_the_anchor_in_the_link_is_the_one_of_the_value(table: _Table) -> None:
    """Not only some place of the page: the very value."""
    page = entry_markdown("nvidia/h100-sxm")
    for shown in ("989.4 TFLOP/s", "700 W", "80 GB"):
        row = table.rows["nvidia/h100-sxm"]
        assert shown in row
    anchor = next(h for h in table.links["nvidia/h100-sxm"] if "peak-bf16-dense" in h).partition(
        "#"
    )[2]
    before = page[: page.index(f'id="{anchor}"')]
    assert before.rstrip().endswith('class="fb-source"') and "989.4 TFLOP/s" in before[-160:]


def test_estimates_are_marked_in_the_table(table: _Table) -> None:
    marked = [
        item
        for item in ITEMS
        if isinstance(cell := item.cells.get("power"), Picked) and "estimated" in cell.notes
    ]
    assert marked
    for item in marked:
        assert table.rows[item.entry.id][-1].endswith("estimated")


def test_without_a_script_table_and_pictures_are_there() -> None:
    trends = explorer.trends_page()
    assert trends.count("<figure") >= 5 and trends.count("<svg") > trends.count("<figure")
    assert "(../accelerators/index.md)" in trends or "(index.md)" in trends
    assert 'href="trends/"' in PAGE or "trends.md" in PAGE
    assert all(f"]({name}/index.md)" in PAGE for name in vendor_ids())
    assert "http" not in re.sub(r"https?://www.w3.org/\S+", "", PAGE), (
        "nothing comes from another host"
    )


def test_names_are_escaped(world: World) -> None:
    world.entry("one", claim("peak"), claim("announced"), name='"Acme & One *fast*"')
    page = explorer.index_page()
    assert "Acme &amp; One &#42;fast&#42;" in page and "*fast*" not in page


def test_the_page_brings_what_its_table_opens_with_and_the_rest_apart() -> None:
    """Both files together have each cell once, and the first a third of the bytes or less."""
    first, rest = (FILES[f"accelerators/{name}"] for name in (explorer.DATA, explorer.REST))
    own = {row[0]: set(row[6]) for row in json.loads(first)["entries"]}
    more = {name: set(values) for name, values in json.loads(rest)["values"].items()}
    assert all(values <= set(explorer_data.OPENING) for values in own.values())
    for item in ITEMS:
        name = item.entry.id
        assert own[name] | more[name] == set(item.cells) and not own[name] & more[name]
    assert len(gzip.compress(first.encode())) < 0.55 * len(gzip.compress((first + rest).encode()))


def test_the_data_has_every_cell_in_si_units_with_its_source() -> None:
    by_id = {item.entry.id: item for item in ITEMS}
    keys = references()
    assert len(RECORD["entries"]) == len(by_id)
    for name, _, vendor, kind, status, _, values, family, current in RECORD["entries"]:
        item = by_id[name]
        assert (vendor, kind, status) == (item.entry.vendor, item.entry.kind, state_of(item.entry))
        assert (family, bool(current)) == (item.entry.family, explorer.is_current(item))
        assert values.keys() == item.cells.keys()
        for quantity, cell in item.cells.items():
            if isinstance(cell, str):
                assert values[quantity] == cell
                continue
            value, place, source, *rest = values[quantity]
            assert value == cell.value and place == item.places[id(cell.claim)]
            key = cell.claim.source
            assert RECORD["sources"][source] == (keys[key].short if key in keys else key)
            assert RECORD["marks"][rest[0] if rest else 0] == list(cell.notes)
            assert RECORD["kinds"][rest[1] if len(rest) > 1 else 0] == cell.kind


def test_the_peaks_on_offer_are_those_that_some_entry_has() -> None:
    offered = {peak_id(dtype, engine, sparsity) for dtype, engine, sparsity, _ in RECORD["peaks"]}
    there = {
        key
        for item in ITEMS
        for key, cell in item.cells.items()
        if key.startswith("peak:") and isinstance(cell, Picked)
    }
    assert offered == there and len(offered) == len(RECORD["peaks"])
    assert peak_id(*START) in offered
    units = {unit for dtype, _, _, unit in RECORD["peaks"] if dtype.startswith("int")}
    assert units == {"OP/s"}


def test_ratios_are_made_of_known_quantities() -> None:
    known = {q["id"] for q in RECORD["quantities"]} | {"peak"}
    for ratio in RECORD["ratios"]:
        assert len(ratio["over"]) == 2 and set(ratio["over"]) <= known
    assert set(RECORD["columns"]) <= known


def test_sources_are_told_for_each_value_and_split_by_vendor() -> None:
    for item in ITEMS:
        texts = json.loads(FILES[f"accelerators/{item.entry.vendor}/sources.json"])[item.entry.id]
        assert texts.keys() == {key for key, cell in item.cells.items() if isinstance(cell, Picked)}
        assert all("read 20" in text for text in texts.values())
    h100 = json.loads(FILES["accelerators/nvidia/sources.json"])["nvidia/h100-sxm"]
    assert (
        "Peak BF16 Tensor Core 989.4" in h100[peak_id(*START)] and "dense" in h100[peak_id(*START)]
    )


def test_the_largest_vendors_have_colours_of_their_own() -> None:
    found = groups(ITEMS)
    assert set(found.values()) <= set(range(COLOURS + 1))
    assert all(list(found.values()).count(n) <= 1 for n in range(COLOURS))
    chips = [item.entry.vendor for item in ITEMS if item.entry.kind == "package"]
    first = next(name for name, n in found.items() if n == 0)
    assert chips.count(first) == max(map(chips.count, set(chips)))


def test_nothing_is_typed_into_the_scripts() -> None:
    """Values, units of peaks and names of chips come from the data."""
    for path in MODULES.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"nvidia|h100|TFLOP|bf16|hbm", text, re.IGNORECASE), path.name
        assert len(text.splitlines()) <= 400 and "innerHTML" not in text, path.name


def test_the_newest_stand_first_and_chips_before_what_is_built_of_them(table: _Table) -> None:
    rows = {item.entry.id: item for item in ITEMS}
    chips = [name for name in table.rows if rows[name].entry.kind == "package"]
    years = [int(value_of(rows[name].cells, "date") or 0) for name in chips]
    assert years == sorted(years, reverse=True) and [*table.rows][: len(chips)] == chips


def test_current_chips_can_be_had_and_are_of_a_data_centre() -> None:
    current = {item.entry.id for item in ITEMS if explorer.is_current(item)}
    assert {"nvidia/h100-sxm", "nvidia/b200", "amd/mi300x", "google/tpu-v5p"} <= current
    assert not {"nvidia/v100-sxm2", "nvidia/rtx-4090", "nvidia/dgx-h100"} & current
    assert {state_of(load_entry(name)) for name in current} <= {
        "shipping",
        "cloud-only",
        "sampling",
    }


def test_a_chip_without_values_is_still_a_row(world: World) -> None:
    world.entry("one", claim("process"))
    (item,) = items()
    assert item.cells == {} and value_of(item.cells, "memory") is None
    assert "Acme One" in explorer.index_page() and json.loads(
        explorer_data.files()["accelerators/explorer.json"]
    )
