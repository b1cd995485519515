"""The explorer: filters, sorting, columns, comparison, scatter, trends; by pointer and keyboard."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from flopbook.data.library import load_entry
from flopbook.hardware.picked import Picked
from scripts.website.pages.explorer import is_current, items, newest_first
from scripts.website.pages.quantities import PEAK, QUANTITIES, Quantity, peak_id, value_of
from tests.support.exploring import at, column, count, names, query, tick

pytestmark = pytest.mark.browser

CELLS = {item.entry.id: item.cells for item in items()}
ROWS = newest_first(items())
CHIPS = [row.entry.id for row in ROWS if row.entry.kind == "package"]
CURRENT = [row.entry.id for row in ROWS if is_current(row)]
BF16 = peak_id("bf16", "tensor", "dense")
_QUANTITIES = {q.id: q for q in (*QUANTITIES, Quantity(PEAK, "", "FLOP/s"))}


def in_column(quantity: str, name: str, value: float) -> str:
    """A value as the table writes it, in the unit of its column."""
    return _QUANTITIES[quantity].in_column(value, load_entry(name).kind)


@at()
def test_it_begins_with_the_chips_of_today_the_newest_first(tab: Any) -> None:
    assert names(tab) == CURRENT and count(tab) == len(CURRENT) < len(CHIPS)
    assert "current data-centre chips" in tab.inner_text(".fb-found .fb-count")
    tab.get_by_role("button", name="Show all chips").click()
    assert names(tab) == CHIPS and "all=1" in query(tab)
    shown = column(tab, "Memory bandwidth")
    for name in CHIPS:
        value = value_of(CELLS[name], "memory_bandwidth")
        assert value is None or shown[name].startswith(
            in_column("memory_bandwidth", name, value)
        ), name


@at()
def test_the_adopted_table_is_what_the_script_would_build(tab: Any) -> None:
    """Python writes the first rows, the script all later ones: texts and addresses are the same."""
    read = """() => [...document.querySelectorAll('.fb-all tbody tr')].map(row => [...row.cells]
      .filter(cell => getComputedStyle(cell).display !== 'none')
      .map(cell => [cell.textContent.trim(),
        cell.querySelector('a')?.getAttribute('href') ?? '']))"""
    first = tab.evaluate(read)
    tab.get_by_label("Sparsity").select_option("2:4")
    tab.get_by_label("Sparsity").select_option("dense")
    for one, other in zip(first, tab.evaluate(read), strict=True):
        assert one == other


@at()
def test_cells_stand_under_the_head_of_their_column(tab: Any) -> None:
    """A style that meets the rows by mistake would take them out of the table.

    Each would have columns of its own.
    """
    read = """() => [...document.querySelectorAll('.fb-all tr')].slice(0, 9)
      .map(row => [...row.cells]
      .filter(cell => getComputedStyle(cell).display !== 'none')
      .map(cell => Math.round(cell.getBoundingClientRect().left)))"""
    for sparsity in ("dense", "2:4"):  # rows that Python wrote, then rows that the script built
        tab.get_by_label("Sparsity").select_option(sparsity)
        edges = tab.evaluate(read)
        assert (
            len(edges) == 9
            and all(edge == edges[0] for edge in edges)
            and len(set(edges[0])) == len(edges[0])
        )


@at()
def test_filters_by_vendor_kind_status_year_memory_and_words(tab: Any) -> None:
    tick(tab, "Vendor", "Google", "AMD")
    assert names(tab) == [name for name in CHIPS if name.startswith(("google/", "amd/"))]
    tab.get_by_label("Year from").fill("2023")
    years = {name: value_of(CELLS[name], "date") for name in names(tab)}
    assert years and all(year is not None and year >= 2023 for year in years.values())
    tab.get_by_label("Year to").fill("2023")
    assert all("2023" in text for text in column(tab, "Year").values())
    tab.get_by_label("Memory, GB at least").fill("64")
    assert all((value_of(CELLS[name], "memory") or 0) >= 64e9 for name in names(tab))
    tab.get_by_role("button", name="Clear filters").click()
    assert names(tab) == CURRENT
    tab.get_by_label("Find", exact=True).fill("h100 SXM")
    assert "nvidia/h100-sxm" in names(tab) and count(tab) <= 5
    tab.get_by_label("Find", exact=True).fill("no such chip")
    assert names(tab) == [] and count(tab) == 0
    assert "Try fewer letters" in tab.inner_text(".fb-all tbody")


@at()
def test_families_and_spellings_are_found(tab: Any) -> None:
    """As people write them: in one piece, apart, with or without hyphens."""
    find = tab.get_by_label("Find", exact=True)
    for text, name in (
        ("hopper", "nvidia/h100-sxm"),
        ("Blackwell", "nvidia/b200"),
        ("TPUv5p", "google/tpu-v5p"),
        ("tpu-v5p", "google/tpu-v5p"),
        ("h 100", "nvidia/h100-sxm"),
        ("MI 300 X", "amd/mi300x"),
        ("v100", "nvidia/v100-sxm2"),
    ):
        find.fill(text)
        assert name in names(tab), text
    find.fill("h 100")
    assert all("h100" in name for name in names(tab))
    find.fill("hopper")
    assert {load_entry(name).family for name in names(tab)} == {"Hopper"}
    find.fill("a100")  # and no Maia 100, in which the letters stand as well
    assert names(tab) and all(name.startswith("nvidia/a100") for name in names(tab))
    find.fill("erminator")  # where no name begins so, the middle of one will do
    assert names(tab) == []
    find.fill("onwood")
    assert names(tab) == ["google/tpu-v7x"]


@at()
def test_systems_are_found_where_no_chip_has_the_name(tab: Any) -> None:
    """Chips are what the list opens with; somebody who names a system did not choose that."""
    find = tab.get_by_label("Find", exact=True)
    for text, name in (
        ("dgx h100", "nvidia/dgx-h100"),
        ("NVL72", "nvidia/gb200-nvl72"),
        ("cs-3", "cerebras/cs-3"),
    ):
        find.fill(text)
        assert name in names(tab), text
        assert "no chip has that name" in tab.inner_text(".fb-found .fb-count")
        assert all(load_entry(one).kind != "package" for one in names(tab))
    tick(tab, "Kind", "chip", "card")  # a reader who chose kinds gets no other
    assert names(tab) == []


@at()
def test_other_kinds_are_a_tick_away(tab: Any) -> None:
    tick(tab, "Kind", "chip", "system", "pod")
    kinds = set(column(tab, "Kind").values())
    assert kinds == {"system", "pod"} and "nvidia/gb200-nvl72" in names(tab)


@at()
def test_the_picked_sparsity_is_never_mixed_with_another(tab: Any) -> None:
    for sparsity, words in (
        ("2:4", "2:4 sparse"),
        ("unstated", "sparsity unstated"),
        ("dense", "dense"),
    ):
        tab.get_by_label("Sparsity").select_option(sparsity)
        shown = column(tab, f"Peak, bf16 {words}")
        for name, text in shown.items():
            value = value_of(CELLS[name], peak_id("bf16", "tensor", sparsity))
            if value is None:
                assert not re.match(r"\d", text), (name, text)
            else:
                assert text.startswith(in_column("peak", name, value)), name
    tab.get_by_label("only with this peak").check()
    assert names(tab) == [name for name in CHIPS if value_of(CELLS[name], BF16) is not None]


@at()
def test_integer_formats_are_in_operations(tab: Any) -> None:
    tab.get_by_label("Number format").select_option("int8")
    shown = [text for text in column(tab, "Peak, int8 dense").values() if text[0].isdigit()]
    assert shown and all("OP/s" in text and "FLOP" not in text for text in shown)
    assert column(tab, "OP per byte")


@at()
def test_every_column_sorts_both_ways_and_unknown_stays_last(tab: Any) -> None:
    for head, quantity in (("Memory", "memory"), ("Power", "power"), ("Year", "date")):
        for sign, order in ((-1, "descending"), (1, "ascending")):
            button = tab.locator(".fb-all thead th").get_by_role("button", name=head, exact=True)
            button.click()
            assert tab.locator(".fb-all [aria-sort]").get_attribute("aria-sort") == order
            values = [value_of(CELLS[name], quantity) for name in names(tab)]
            known = [value for value in values if value is not None]
            assert known == sorted(known, reverse=sign < 0) and values[: len(known)] == known
    button.click()
    assert names(tab) == CURRENT and tab.locator(".fb-all [aria-sort]").count() == 0


@at()
def test_sorting_works_by_keyboard(tab: Any) -> None:
    head = tab.locator(".fb-all thead th").first
    head.get_by_role("button").focus()
    tab.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    tab.keyboard.press("Space")
    assert head.get_attribute("aria-sort") == "descending"
    assert "fb-sorter" in tab.evaluate("document.activeElement.className")


@at()
def test_columns_can_be_chosen(tab: Any) -> None:
    tab.locator(".fb-columns summary").click()
    tab.get_by_label("fp8 dense", exact=True).check()
    tab.get_by_label("Power", exact=True).uncheck()
    heads = [text.strip() for text in tab.locator(".fb-all thead th").all_inner_texts()]
    assert any(text.startswith("fp8 dense") for text in heads) and not any(
        text.startswith("Power") for text in heads
    )
    assert "fp8" in query(tab)


@at()
def test_a_value_tells_its_source_on_focus_and_escape_closes_it(tab: Any) -> None:
    value = tab.locator("tr[data-id='nvidia/h100-sxm'] td a").nth(1)
    value.focus()
    tip = tab.locator("#fb-pop")
    tab.wait_for_function("document.querySelector('#fb-pop')?.textContent.includes('read 20')")
    assert tip.is_visible() and "Peak BF16 Tensor Core" in tip.inner_text()
    assert value.get_attribute("aria-describedby") == "fb-pop"
    box = tip.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 1280 and box["y"] + box["height"] <= 900 + 1
    tab.keyboard.press("Escape")
    assert not tip.is_visible()
    value.hover()
    assert tip.is_visible()


@at()
def test_a_value_leads_to_its_place_on_the_entry_page(tab: Any) -> None:
    tab.locator("tr[data-id='nvidia/h100-sxm'] td a").nth(1).click()
    tab.wait_for_url("**/accelerators/nvidia/h100-sxm/#peak-bf16-dense-*")
    assert tab.locator(":target").count() == 1


@at("", has_touch=True, is_mobile=True, viewport={"width": 390, "height": 800})
def test_the_first_touch_tells_the_source_and_the_second_follows(tab: Any) -> None:
    value = tab.locator("tr[data-id='amd/mi300x'] td a").first
    value.tap()
    tab.wait_for_selector("#fb-pop:visible")  # its script comes with the first touch
    assert tab.url.endswith("/accelerators/")
    assert "Tap again" in tab.inner_text("#fb-pop")
    value.tap()
    tab.wait_for_url("**/accelerators/amd/mi300x/**")


@at()
def test_boxes_choose_what_is_compared_six_at_most(tab: Any) -> None:
    boxes = tab.locator(".fb-all tbody input[type=checkbox]")
    for number in range(7):
        boxes.nth(number).click()
    assert tab.get_by_role("tab", name="Compare (6)").is_visible()
    assert "Six at most" in tab.inner_text(".fb-panel") and not boxes.nth(6).is_checked()
    tab.get_by_role("tab", name="Compare (6)").click()
    assert tab.locator(".fb-compare thead th").count() == 7


@at("?view=scatter")
def test_the_scatter_draws_all_that_have_both_values(tab: Any) -> None:
    both = {
        n for n in CURRENT if value_of(CELLS[n], BF16) and value_of(CELLS[n], "memory_bandwidth")
    }
    drawn = tab.evaluate("[...document.querySelectorAll('.fb-scatter a')].map(a => a.dataset.id)")
    assert set(drawn) == both and len(drawn) == len(both)
    assert f"{len(both)} of {len(CURRENT)} drawn" in tab.inner_text("[data-view=scatter]")
    legend = tab.inner_text("[data-view=scatter] .fb-legend")
    assert "NVIDIA" in legend and "Apple" not in legend, "marks that are drawn, and no others"
    point = tab.locator(".fb-scatter a[data-id='nvidia/h100-sxm']")
    assert point.get_attribute("href") == "nvidia/h100-sxm/"
    assert "989.4 TFLOP/s" in point.get_attribute(
        "aria-label"
    ) and "3.35 TB/s" in point.get_attribute("aria-label")
    for x, y in tab.evaluate(
        "[...document.querySelectorAll('.fb-hit')].map(c => [+c.getAttribute('cx'), "
        "+c.getAttribute('cy')])"
    ):
        assert 0 < x < 1280 and 0 < y < 460


@at("?view=scatter")
def test_points_say_what_they_are_on_hover_and_by_arrow_keys(tab: Any) -> None:
    tab.locator(".fb-scatter a[data-id='nvidia/h100-sxm']").hover(force=True)
    tip = tab.locator("[data-view=scatter] .fb-pop")
    assert tip.is_visible()
    assert tab.locator(".fb-scatter a[tabindex='0']").count() == 1
    tab.locator(".fb-scatter a[tabindex='0']").focus()
    seen = [tab.evaluate("document.activeElement.dataset.id")]
    for key in ("ArrowRight", "ArrowRight", "End", "Home"):
        tab.keyboard.press(key)
        seen.append(tab.evaluate("document.activeElement.dataset.id"))
    assert len(set(seen)) >= 4 and seen[0] == seen[-1] and tip.is_visible()
    # A pointer that leaves, as one does below which the page scrolls, takes no words from the keys.
    tab.locator(".fb-scatter a[data-id='nvidia/h100-sxm']").hover(force=True)
    tab.mouse.move(2, 2)
    assert tip.is_visible()
    tab.locator(".fb-scatter a[tabindex='0']").evaluate("mark => mark.blur()")
    assert not tip.is_visible()


@at("?view=scatter&all=1&x=memory&y=memory")
def test_the_pointer_names_all_chips_under_it(tab: Any) -> None:
    """Many chips have 80 GB: one point covers the others."""
    tab.locator(".fb-scatter a[data-id='nvidia/h100-sxm']").focus()
    said = tab.inner_text("[data-view=scatter] .fb-pop")
    assert "H100 SXM" in said and said.count("Memory 8") > 2 and "more" in said


@at("?view=scatter&x=power&y=memory")
def test_the_frontier_holds_what_no_entry_beats(tab: Any) -> None:
    """Less power and more memory is better."""
    said = tab.inner_text("[data-view=scatter] p.fb-count")
    listed = said.partition("on both: ")[2].rstrip(".").split(", ")
    pairs = {n: (value_of(CELLS[n], "power"), value_of(CELLS[n], "memory")) for n in CURRENT}
    known = {n: (p, m) for n, (p, m) in pairs.items() if p is not None and m is not None}
    best = {
        n
        for n, (p, m) in known.items()
        if not any(q <= p and k >= m and (q, k) != (p, m) for q, k in known.values())
    }
    assert len(listed) == len({known[n] for n in best})
    tab.get_by_label("frontier").uncheck()
    assert tab.locator(".fb-scatter .fb-fit").count() == 0


@at("?view=scatter")
def test_labels_do_not_cover_each_other(tab: Any) -> None:
    boxes = tab.evaluate(
        "[...document.querySelectorAll('.fb-scatter .fb-label')].map(t => { const b = "
        "t.getBoundingClientRect();"
        " return [b.left, b.top + 2, b.right, b.bottom - 2]; })"
    )
    assert len(boxes) >= 5
    for n, (left, top, right, bottom) in enumerate(boxes):
        for other in boxes[n + 1 :]:
            assert (
                right <= other[0] + 2
                or left >= other[2] - 2
                or bottom <= other[1]
                or top >= other[3]
            )
    tab.get_by_label("labels").uncheck()
    assert tab.locator(".fb-scatter .fb-label").count() == 0


@at("?view=scatter&x=date&y=peak")
def test_axes_can_be_years_and_linear(tab: Any) -> None:
    ticks = tab.locator(".fb-scatter .fb-tick[text-anchor=middle]").all_text_contents()
    assert ticks and all(re.fullmatch("20[0-9]{2}", text) for text in ticks)
    tab.locator("[data-box=ylog]").uncheck()
    assert "0 FLOP/s" in tab.locator(".fb-scatter .fb-tick[text-anchor=end]").all_text_contents()


@at("?view=trends&all=1")
def test_trends_fade_what_the_filters_leave_out(tab: Any) -> None:
    points = "document.querySelectorAll('.fb-trend a[data-id]{}').length"
    every = tab.evaluate(points.format(""))
    assert every > 0 and tab.evaluate(points.format(".fb-faded")) == 0
    tick(tab, "Vendor", "NVIDIA")
    left = tab.evaluate(
        "[...document.querySelectorAll('.fb-trend a[data-id]:not(.fb-faded)')].map(a => "
        "a.dataset.id)"
    )
    assert left and all(name.startswith("nvidia/") for name in left)


def test_a_dated_chip_is_drawn_with_its_value() -> None:
    """The pictures use the same cells as the table, and the launch before the announcement."""
    cells = CELLS["nvidia/h100-sxm"]
    assert isinstance(cells["date"], Picked) and isinstance(cells["launched"], Picked)
    assert cells["date"].kind == cells["launched"].kind != cells["announced"].kind


@at("?view=scatter", accept_downloads=True)
def test_the_scatter_says_what_it_shows_and_gives_its_files(tab: Any) -> None:
    """A title with both ends, a source with a day, and what is drawn as picture and as numbers."""
    title = tab.inner_text("[data-view=scatter] .fb-says")
    assert re.search(r": from .+ \(.+\) to .+ \(.+\)$", title), title
    assert re.search(
        r"read until 20\d\d-\d\d-\d\d\.", tab.inner_text(".fb-view .fb-count >> visible=true")
    )
    tab.locator("[data-view=scatter] .fb-menu summary").click()
    drawn = tab.locator(".fb-scatter svg a").count()
    with tab.expect_download() as got:
        tab.get_by_role("button", name="Values as CSV").click()
    lines = Path(got.value.path()).read_text(encoding="utf-8").splitlines()
    assert len(lines) == drawn + 1 and lines[0].startswith("product,")
    with tab.expect_download() as got:
        tab.get_by_role("button", name="Picture as SVG").click()
    picture = Path(got.value.path()).read_text(encoding="utf-8")
    assert picture.startswith("<svg") and "class=" not in picture and "stroke:" in picture
    legend = tab.locator("[data-view=scatter] .fb-legend li").all_inner_texts()
    assert legend and all(f">{words.strip()}<" in picture for words in legend)
