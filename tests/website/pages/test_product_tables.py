"""Tables of products: a vendor's by family, the rates of one, its relatives; values and links."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

import pytest

from flopbook.data.claims import Claim
from flopbook.data.library import entry_ids, load_entry, vendor, vendor_ids
from flopbook.hardware.picked import Picked
from scripts.website.markup import plain
from scripts.website.pages.accelerators import KINDS
from scripts.website.pages.entry import entry_markdown
from scripts.website.pages.explorer import START, ExplorerRow, anchor, state_of
from scripts.website.pages.neighbours import (
    columns_of,
    compare_link,
    distance,
    family_of,
    neighbours,
    similar,
)
from scripts.website.pages.products import (
    COLUMNS,
    NO_FAMILY,
    date_of,
    families_of,
    family_anchor,
    family_tables,
    is_planned,
    rows_by_id,
    short_name,
)
from scripts.website.pages.quantities import missing, peak_id, shown_claims, value_of
from scripts.website.pages.rates import FIELDS, rate_table
from scripts.website.pages.values import anchor_of, shown_value
from scripts.website.pages.valuetables import folded_tables
from tests.support.cases import every
from tests.support.samples import World, claim

ROW = re.compile(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', re.S)
CELL = re.compile(r"<td([^>]*)>(.*?)</td>", re.S)
LABEL = re.compile(r'data-label="([^"]*)"')
LINK = re.compile(r'href="([^"]*)"')
HEAD = re.compile(r'<th scope="col"[^>]*>(.*?)</th>', re.S)
TIP = re.compile(r'<button type="button" class="fb-value"[^>]*>(.*?)</button>', re.S)
SAMPLE = entry_ids()[::6]


def rows_of(table: str) -> dict[str, list[tuple[str, str]]]:
    """Name of a row, with its address -> label and markup of each of its cells."""
    found: dict[str, list[tuple[str, str]]] = {}
    for head, cells in ROW.findall(table):
        name = " ".join((*LINK.findall(head)[:1], plain(head)))
        labelled = [
            (html.unescape(LABEL.findall(attributes)[0]), content)
            for attributes, content in CELL.findall(cells)
        ]
        found[name] = labelled
    return found


# The table of a vendor.


@every("name", vendor_ids())
def test_the_table_of_a_vendor_has_the_cells_of_the_explorer(name: str) -> None:
    table = rows_of(family_tables(name, f"accelerators/{name}/index.md"))
    members = [one for family in families_of(name).values() for one in family]
    assert len(table) == len(members)
    for entry in members:
        row = rows_by_id()[entry.id]
        address = f"{entry.id.partition('/')[2]}/ "
        key = next(one for one in table if one.startswith(address))
        assert plain(short_name(entry)) in key
        assert [label for label, _ in table[key]] == [column.head for column in COLUMNS]
        assert KINDS[entry.kind] in key and state_of(entry) in key
        for column, (_, content) in zip(COLUMNS, table[key], strict=True):
            cell = row.cells.get(column.id)
            if isinstance(cell, Picked):
                # Less than one of the unit of nodes is told in the unit of chips.
                words = {column.quantity.of_cell(cell, kind) for kind in (entry.kind, "package")}
                shown = plain(content).removesuffix(" estimated")
                assert shown in words and not re.match(r"0\..* (TB|kW|PFLOP/s)$", shown)
            else:
                assert plain(content) == missing(row.cells, column.id)


@pytest.mark.parametrize("name", ["nvidia", "amd", "google", "aws", "intel"])
def test_a_value_of_the_table_leads_to_its_place(name: str) -> None:
    table = family_tables(name, f"accelerators/{name}/index.md")
    addresses = [address for address in LINK.findall(table) if "#" in address]
    assert len(addresses) > 20
    pages: dict[str, str] = {}
    for address in addresses:
        product, _, place = address.partition("/#")
        entry = f"{name}/{product}"
        pages.setdefault(entry, entry_markdown(entry))
        assert f'id="{place}"' in pages[entry], address


@every("name", vendor_ids())
def test_families_that_can_be_had_come_first_then_the_newest(name: str) -> None:
    families = families_of(name)
    planned = [all(map(is_planned, members)) for members in families.values()]
    assert planned == sorted(planned)
    for is_promise in (False, True):
        newest = [
            date_of(members[0])
            for members in families.values()
            if all(map(is_planned, members)) == is_promise
        ]
        assert newest == sorted(newest, reverse=True)
    for members in families.values():
        dates = [date_of(member) for member in members]
        assert dates == sorted(dates, reverse=True)
    anchors = [family_anchor(family) for family in families]
    assert len(set(anchors)) == len(anchors)
    assert all(re.fullmatch(r"family(-[^\W_]+)+", one) for one in anchors)


def test_others_have_no_heading_where_there_are_no_others() -> None:
    assert "Other products" not in family_tables("tiny-corp", "accelerators/tiny-corp/index.md")
    assert "Other products" in family_tables("amd", "accelerators/amd/index.md")


def test_a_small_node_is_told_in_the_units_of_chips() -> None:
    """0.095 kW and 0.128 TB are a computer for a desk."""
    table = rows_of(family_tables("nvidia", "accelerators/nvidia/index.md"))
    shown = {
        name.partition("/")[0]: {label: plain(content) for label, content in cells}
        for name, cells in table.items()
    }
    assert shown["dgx-spark"]["Power"] == "95 W" and shown["dgx-spark"]["Memory"] == "128 GB"
    assert shown["gb200-nvl72"]["Power"].endswith(" kW")


def test_an_estimate_is_marked_in_the_table_of_its_vendor() -> None:
    """Google prints no power of TPU7x; the page said 960 W as if it did."""
    text = family_tables("google", "accelerators/google/index.md")
    row = next(row for row in text.split("<tr>") if "tpu-v7x/" in row)
    assert re.search(r">960 W</a> <span class=\"fb-note\">estimated</span>", row)


def test_a_product_without_a_family_stands_with_the_others() -> None:
    lone = [entry for entry in map(load_entry, entry_ids()) if not entry.family]
    assert lone
    for entry in lone:
        assert entry in families_of(entry.vendor)[NO_FAMILY]
        text = family_tables(entry.vendor, f"accelerators/{entry.vendor}/index.md")
        assert (NO_FAMILY in text) == (len(families_of(entry.vendor)) > 1)


@every("name", entry_ids()[::4])
def test_a_short_name_leaves_the_vendor_out_and_nothing_else(name: str) -> None:
    entry = load_entry(name)
    short, maker = short_name(entry), vendor(entry.vendor).name
    assert entry.name in (short, f"{maker} {short}") and short == short.strip() != ""


# Rates.


def placed_of(name: str) -> list[tuple[int, Claim]]:
    return list(enumerate(shown_claims(load_entry(name))))


def rates_of(name: str) -> Iterator[tuple[str, str, list[str]]]:
    """Row, column and values of each cell of the table of rates."""
    for row, cells in rows_of(rate_table(placed_of(name))).items():
        for label, content in cells:
            yield row, label, [plain(value) for value in TIP.findall(content)]


@every("name", SAMPLE)
def test_each_rate_stands_in_the_row_of_its_format_and_the_column_of_its_sparsity(
    name: str,
) -> None:
    """A sparse rate in the dense column is the error that this site is against."""
    columns = {"dense": "Dense", "2:4": "2:4 sparse", "4:1": "4:1 sparse"}
    expected: dict[tuple[str, str], list[str]] = {}
    peaks = [one for _, one in placed_of(name) if one.field == "peak"]
    measured = [one for _, one in placed_of(name) if one.field == "measured_matmul"]
    for one in peaks:
        row = one.dtype if one.engine != "vector" else f"{one.dtype}, vector"
        column = columns.get(one.sparsity, "Not stated")
        expected.setdefault((row, column), []).append(plain(shown_value(one)))
    for one in measured if peaks else ():
        expected.setdefault((one.dtype, "Measured"), []).append(plain(shown_value(one)))
    shown = {(row, column): values for row, column, values in rates_of(name) if values}
    assert shown == expected


@every("name", SAMPLE)
def test_every_value_is_either_a_rate_or_folded(name: str) -> None:
    placed = placed_of(name)
    has_rates = bool(rate_table(placed))
    rest = [(n, one) for n, one in placed if not has_rates or one.field not in FIELDS]
    folded = "".join(map(str, folded_tables(rest, f"accelerators/{name}.md")))
    both = f"{rate_table(placed)}{folded}"
    for number, one in placed:
        assert both.count(f'id="{anchor_of(one, number)}"') == 1
    assert folded.count("<details") == folded.count("</details>") == folded.count("<summary>")


def test_the_table_of_rates_begins_with_what_models_run_in() -> None:
    rows = [plain(head) for head, _ in ROW.findall(rate_table(placed_of("nvidia/h100-sxm")))]
    assert rows[:5] == ["bf16", "fp16", "fp8", "int8", "fp64"]
    assert all(name.endswith(", vector") for name in rows[-4:])


def test_measured_rates_are_shown_as_measured_without_another_mark() -> None:
    table = rate_table(placed_of("nvidia/h100-sxm"))
    assert "Measured" in [plain(head) for head in HEAD.findall(table)]
    shown = {(row, column): values for row, column, values in rates_of("nvidia/h100-sxm")}
    assert shown["bf16", "Measured"] == ["794.5 TFLOP/s"]
    assert shown["bf16", "Dense"] == ["989.4 TFLOP/s"] and shown["fp64", "Measured"] == []
    assert "fb-measured" not in table


def test_a_product_without_peaks_has_no_table_of_rates(world: World) -> None:
    world.entry("one", claim("memory"), claim("measured_matmul"))
    assert rate_table(placed_of("acme/one")) == ""
    assert "measured matmul" in entry_markdown("acme/one")


# Relatives.


@every("name", SAMPLE)
def test_relatives_are_ratios_to_the_product(name: str) -> None:
    base = rows_by_id()[name]
    blocks = neighbours(name, f"accelerators/{name}.md")
    others = [*family_of(base), *similar(base)]
    assert bool(blocks) == bool(others)
    table = rows_of("".join(map(str, blocks)))
    assert len(table) == len(others)
    for other, cells in zip(others, table.values(), strict=True):
        shown = {label: plain(content) for label, content in cells}
        assert "Year" not in shown
        columns = columns_of(base, others)
        assert list(shown) == [column.head for column in columns]
        for column in columns:
            own, first = (value_of(row.cells, column.id) for row in (other, base))
            expected = "-"
            if own is not None and first:
                expected = f"{float(f'{own / first:.2g}'):g}×"  # 230, not 2.3e+02
            assert shown[column.head] == expected


def heads_beside(name: str) -> list[str]:
    base = rows_by_id()[name]
    return [column.head for column in columns_of(base, [*family_of(base), *similar(base)])]


def test_relatives_are_compared_in_what_both_have() -> None:
    """A V100 has fp16 and no bf16; of an announced chip there may be nothing to compare."""
    assert heads_beside("nvidia/h100-sxm")[0] == "bf16, dense"
    assert heads_beside("nvidia/v100-sxm2")[0] == "fp16, dense"
    assert "bf16, dense" not in heads_beside("cerebras/wse-3")
    assert heads_beside("aws/trainium4") == []


@every("name", SAMPLE)
def test_relatives_are_of_its_kind_and_one_can_still_get_them(name: str) -> None:
    base = rows_by_id()[name]
    for other in (*family_of(base), *similar(base)):
        assert other.entry.kind == base.entry.kind and other.entry.id != name
    for other in similar(base):
        assert state_of(other.entry) not in ("cancelled", "discontinued", "internal-only")
        assert distance(base, other) == pytest.approx(distance(other, base))


def test_a_relative_opens_the_comparison_with_the_product() -> None:
    address = compare_link("accelerators/nvidia/h100-sxm.md", ("nvidia/h100-sxm", "amd/mi300x"))
    assert address == "../../?view=compare&amp;compare=nvidia/h100-sxm,amd/mi300x"
    blocks = neighbours("nvidia/h100-sxm", "accelerators/nvidia/h100-sxm.md")
    text = "".join(map(str, blocks))
    for other in similar(rows_by_id()["nvidia/h100-sxm"]):
        assert f"compare=nvidia/h100-sxm,{other.entry.id}" in text


def nearest(base: ExplorerRow, others: list[ExplorerRow]) -> float:
    return min(distance(base, other) for other in others)


def test_no_closer_product_is_left_out() -> None:
    """The four that are shown are the four nearest of all that qualify."""
    base = rows_by_id()["nvidia/h100-sxm"]
    shown = similar(base)
    ids = {other.entry.id for other in shown}
    rest = [
        row
        for row in rows_by_id().values()
        if row.entry.kind == "package"
        and row.entry.id not in ids
        and (row.entry.vendor, row.entry.family) != (base.entry.vendor, base.entry.family)
        and state_of(row.entry) not in ("cancelled", "discontinued", "internal-only")
    ]
    assert max(distance(base, other) for other in shown) <= nearest(base, rest)


def test_the_place_of_a_peak_is_the_one_that_the_explorer_names() -> None:
    row = rows_by_id()["nvidia/h100-sxm"]
    cell = row.cells[peak_id(*START)]
    assert isinstance(cell, Picked)
    place = anchor(cell, row.places[id(cell.claim)])
    assert f'id="{place}"' in rate_table(placed_of("nvidia/h100-sxm"))
