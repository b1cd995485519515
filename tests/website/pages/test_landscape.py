"""What prose asks of all accelerators together.

Counts that add up, tables that are whole, and refusals.
"""

from __future__ import annotations

import dataclasses
import re
import xml.etree.ElementTree as ET

import pytest

from flopbook.data.library import entry_ids, load_entry, vendor_ids
from flopbook.errors import FlopbookError
from flopbook.hardware.chip import chip
from scripts.website.pages import landscape_prose
from scripts.website.pages.explorer import items, products
from scripts.website.pages.families import FAMILIES
from scripts.website.pages.landscape import (
    ENDED,
    FITTED,
    MEASURES,
    bandwidth,
    new_formats,
    stated,
    trend_growth,
)
from scripts.website.pages.landscape_prose import Landscape
from scripts.website.pages.prose import ProseError, render
from scripts.website.pages.trends import TRENDS, growth, points

PAGE = "handbook/landscape.md"


@pytest.fixture(scope="module")
def found() -> Landscape:
    return Landscape(PAGE)


def parsed(table: str) -> list[list[str]]:
    """The rows of a table, as text; well formed or an error."""
    root = ET.fromstring(table)
    return [["".join(cell.itertext()) for cell in row] for row in root.iter("tr")]


def test_counts_are_those_of_the_data(found: Landscape) -> None:
    claims = [claim for name in entry_ids() for claim in load_entry(name).claims]
    assert found.entries == len(entry_ids()) and found.vendors == len(vendor_ids())
    assert found.known_errors() == sum(claim.known_error for claim in claims)
    assert found.conflicts == sum(bool(claim.conflicts_with) for claim in claims)
    assert 0 < found.known_errors("peak") < found.known_errors() < len(claims)
    assert found.known_errors("peak", "memory") == found.known_errors("peak") + found.known_errors(
        "memory"
    )
    assert 0 < found.chips < found.entries


def test_shares_are_percentages(found: Landscape) -> None:
    """More sources never state less, and more fields never less."""
    for field in ("peak", "memory", "power", "transistors", "price"):
        own, every = found.share(field), found.share(field, by_vendor=False)
        assert 0 <= own <= every <= 100
        assert found.share(field, "memory") >= own
    assert 0 < found.unstated < 100 and 0 < found.undirected < 100


def test_a_known_error_states_nothing() -> None:
    entry = load_entry("nvidia/h100-sxm")
    assert stated(entry, ("peak",)) and not stated(entry, ("no such field",))
    wrong = entry._replace(claims=tuple(c._replace(known_error=True) for c in entry.claims))
    assert not stated(wrong, ("peak",)) and not stated(wrong, ("peak",), by_vendor=False)


@pytest.mark.parametrize("measure", MEASURES)
def test_the_middle_lies_between_the_ends(found: Landscape, measure: str) -> None:
    for families in ((), ("gpu",), ("tpu", "own")):
        least, middle, most = (
            pick(measure, *families) for pick in (found.least, found.middle, found.most)
        )
        assert least <= middle <= most and least.unit == MEASURES[measure][1]
    assert found.least(measure) <= found.least(measure, "gpu") and found.most(
        measure
    ) >= found.most(measure, "gpu")


def test_a_band_of_growth_whose_slow_end_is_open_prints_no_infinity(
    found: Landscape, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert found.doubling_band("peak").count(" to ") == 1
    fit = landscape_prose.trend_growth(items(), "peak", ("gpu",))
    level = dataclasses.replace(fit, error=9.0)
    monkeypatch.setattr(landscape_prose, "trend_growth", lambda *_: level)
    band = found.doubling_band("wall", "gpu")
    assert band.startswith(f"{level.fast:.1f} at the fastest") and "inf" not in band


def test_what_has_no_value_is_refused(found: Landscape) -> None:
    with pytest.raises(FlopbookError, match="no chip of light"):
        found.middle("peak", "light")
    with pytest.raises(FlopbookError, match="measure"):
        found.most("peaks")
    with pytest.raises(FlopbookError, match="too few"):
        found.growth("peak", "wafer")
    with pytest.raises(FlopbookError, match="trend"):
        found.growth("peaks")
    with pytest.raises(FlopbookError, match="no known error"):
        found.errors_table(("x", "nvidia/h100-sxm", "peak", "nvidia2022hopper"))


def test_a_chip_has_the_bandwidth_of_its_own_memory() -> None:
    """The speedAI240 has LPDDR, and the bandwidth on record is that of its SRAM: no pair."""
    by_id = {item.entry.id: item for item in items()}
    assert (
        bandwidth(by_id["untether/speedai240"]) is None
        and bandwidth(by_id["lightmatter/envise"]) is None
    )
    assert bandwidth(by_id["nvidia/h100-sxm"]) == chip("nvidia/h100-sxm").memory_bandwidth()
    assert bandwidth(by_id["groq/groqchip-1"]) == chip("groq/groqchip-1").memory_bandwidth()


def test_growth_is_that_of_the_pictures() -> None:
    """With all families, the line is the one that the page of accelerators draws, but for cards."""
    found = items()
    packages = [item for item in found if item.entry.kind == "package"]
    for trend in TRENDS:
        fit = growth(points(trend, products(packages))[0])
        assert trend_growth(found, trend.id, tuple(one.id for one in FAMILIES)) == fit
    assert trend_growth(found, "peak", FITTED).count > trend_growth(found, "peak", ("gpu",)).count


def test_growth_in_prose_has_its_parts(found: Landscape) -> None:
    fit = found.growth("peak")
    assert {*fit} == {"doubling", "fast", "slow", "factor", "scatter", "count"}
    assert fit["fast"] < fit["doubling"] < fit["slow"] and fit["scatter"] > 1
    ratio = found.growth("efficiency")
    assert ratio["count"] <= min(fit["count"], found.growth("power")["count"])


def test_tables_of_families_hold_every_maker_and_every_entry(found: Landscape) -> None:
    rows = parsed(found.makers_table())
    assert rows[0][0] == "Family" and len(rows) == len(FAMILIES) + 1
    assert sum(int(row[-1]) for row in rows[1:]) == len(entry_ids())
    linked = set(re.findall(r'href="\.\./\.\./accelerators/([\w-]+)/"', found.makers_table()))
    assert linked == set(vendor_ids())
    ranges = parsed(found.ranges_table(*MEASURES))
    assert ranges[0][1:] == [measure.title for measure in MEASURES.values()]
    for family, row in zip(FAMILIES, rows[1:], strict=True):
        assert row[0] == f"{family.title} {family.words}"
    of_family = [row[0] for row in ranges[1:]]
    assert of_family == [family.title for family in FAMILIES if family.title in of_family]
    assert {family.title for family in FAMILIES} - {*of_family} == {"Photonics"}
    assert all(any(text != "-" for text in row[1:]) for row in ranges[1:])
    assert all(
        re.search(r"\(\d+\)$", text) or text == "-" for row in ranges[1:] for text in row[1:]
    )


def test_new_formats_are_new(found: Landscape) -> None:
    """NVIDIA's matrix units began with fp16 (Volta, 2017) and had fp8 with Hopper.

    nvidia2022hopper.
    """
    for name in ("nvidia", "amd", "google", "huawei"):
        rows = new_formats(items(), name)
        every = [dtype for _, _, new in rows for dtype in new]
        assert rows and len(every) == len(set(every)) and "unstated" not in every
        assert [year for _, year, _ in rows] == sorted(year for _, year, _ in rows)
    nvidia = {family: new for family, _, new in new_formats(items(), "nvidia")}
    assert nvidia["Volta"] == ["fp16"] and "fp8" in nvidia["Hopper"] and "bf16" in nvidia["Ampere"]
    assert len(parsed(found.formats_table("nvidia", "google"))) > 8


def test_errors_show_the_factor(found: Landscape) -> None:
    """Bits for bytes are an eighth; a sparse peak for a dense one is twice."""
    rows = parsed(
        found.errors_table(
            ("bits & bytes", "google/tpu-v4", "memory_bandwidth", "google2026tpuv4de"),
            ("sparse", "nvidia/h200-sxm", "peak", "nvidia2026clusterinfo"),
        )
    )
    assert rows[1][0] == "bits & bytes" and float(rows[1][3]) == pytest.approx(1 / 8, rel=0.05)
    assert float(rows[2][3]) == pytest.approx(2, rel=0.01)


def test_endings_are_those_on_record(found: Landscape) -> None:
    rows = parsed(found.endings_table())[1:]
    assert {"Graphcore", "Untether AI", "Esperanto Technologies", "Rivos", "Sapeon"} <= {
        row[0] for row in rows
    }
    assert "NVIDIA" not in {row[0] for row in rows} and all(ENDED.search(row[2]) for row in rows)
    dates = [row[1] for row in rows if row[1] != "-"]
    assert dates == sorted(dates)


def test_systems_have_what_their_parts_have(found: Landscape) -> None:
    rows = parsed(found.systems_table("nvidia/dgx-h100", "google/tpu-v5p-pod"))[1:]
    assert (
        rows[0][2] == "8" and rows[0][4] == "640 GB" and rows[1][2] == "8,960" and rows[1][5] == "-"
    )


def test_what_was_reached_is_a_share_of_the_dense_peak(found: Landscape) -> None:
    item = chip("nvidia/h100-sxm")
    measured = item.pick("measured_matmul", dtype="bf16").value
    assert found.reached("h100-sxm") == pytest.approx(100 * measured / item.peak("bf16"))
    with pytest.raises(FlopbookError, match="measured matmul"):
        found.reached("tpu-v5e")


def test_prose_reaches_it_and_an_unknown_name_has_its_place() -> None:
    """A number of it prints; a name that does not exist stops the build with file and line."""
    assert render("{{ landscape.entries }}", PAGE, "a.md") == f"{len(entry_ids()):,}"
    assert "TFLOP" in render('{{ landscape.middle("peak", "gpu") }}', PAGE, "a.md")
    for text in (
        '\n{{ landscape.growth("peek") }}',
        "\n{{ landscape.no_such }}",
        '\n{{ landscape.most("peak", "x") }}',
    ):
        with pytest.raises(ProseError, match=r"a\.md:2:1"):
            render(text, PAGE, "a.md")
