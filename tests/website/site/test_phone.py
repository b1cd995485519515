"""A phone of 390 px: no value is reached by moving sideways, and a finger hits what it aims at."""

from __future__ import annotations

from typing import Any

import pytest

PAGES = (
    "",
    "handbook/fsdp/",
    "accelerators/",
    "accelerators/?view=compare&compare=h100-sxm,mi300x",
    "accelerators/nvidia/",
    "accelerators/nvidia/h100-sxm/",
    "accelerators/google/tpu-v5p/",
    "compare/h100-sxm-vs-mi300x/",
    "calculators/memory/",
    "serve/",
    "check/",
)
_TARGET = 44  # pixels
_SIDEWAYS = """() => [...document.querySelectorAll('.fb-scroll, .fb-pair .fb-wide')]
  .filter(one => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1)
  .map(one => one.getAttribute('aria-label'))"""
# Tick boxes have a label around them; what shows a source lies in running text, as links do.
_SMALL = """least => [...document.querySelectorAll(
    'button, select, summary, input:not([type=checkbox]), label.fb-tap, label.fb-check, a.fb-act, '
    + '.md-header label')]
  .filter(one => one.checkVisibility({visibilityProperty: true, opacityProperty: true}))
  .filter(one => !one.closest('.md-search, thead') && !one.matches('.fb-value, .md-toggle'))
  .map(one => [one, one.getBoundingClientRect()])
  .filter(([, box]) => box.width > 1 && box.height < least - 0.5)
  .map(([one, box]) => `${one.outerHTML.slice(0, 80)} ${box.width}x${box.height}`)"""
# What scripts put on a page must find its room reserved: Lighthouse allows a shift of 0.1.
_SHIFTS = """window.moved = 0;
new PerformanceObserver(list => list.getEntries().forEach(one => { window.moved += one.value; }))
  .observe({type: 'layout-shift', buffered: true});"""
_MOST_MOVED = 0.1
_WIDE = "document.documentElement.scrollWidth > innerWidth"


def _looked_at(context: Any, base: str, page: str) -> dict[str, Any]:
    context.set_default_timeout(60_000)
    tab = context.new_page()
    tab.add_init_script(_SHIFTS)
    tab.goto(base + page, wait_until="networkidle")
    moved = tab.evaluate("window.moved")
    found = {
        "moved while it loaded": moved if moved > _MOST_MOVED else None,
        "sideways": tab.evaluate(_SIDEWAYS),
        "small": tab.evaluate(_SMALL, _TARGET)[:4],
        "wide": tab.evaluate(_WIDE),
    }
    return {name: fault for name, fault in found.items() if fault}


_TOPS = """() => [...document.querySelectorAll('.fb-all tbody tr')].slice(0, 20).map(row =>
  ['Memory', 'Memory bandwidth', 'Scale-up, one way']
    .map(head => row.querySelector(`td[data-label="${head}"] a`)?.getBoundingClientRect().top)
    .filter(Boolean))"""


@pytest.mark.browser
def test_values_beside_each_other_stand_on_one_line(surf: Any, base: str) -> None:
    """A head that took two lines pushed its value below those of its neighbours."""

    def tops(context: Any) -> list[list[float]]:
        tab = context.new_page()
        tab.goto(base + "accelerators/", wait_until="networkidle")
        found: list[list[float]] = tab.evaluate(_TOPS)
        return found

    rows = surf(tops, viewport={"width": 390, "height": 844})
    assert any(len(row) > 1 for row in rows)
    assert all(max(row) - min(row) < 1 for row in rows if row)


@pytest.mark.browser
@pytest.mark.parametrize("page", PAGES)
def test_a_page_fits_a_phone_and_a_finger(surf: Any, base: str, page: str) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    assert surf(lambda context: _looked_at(context, base, page), **phone) == {}


def _zoomed(context: Any, base: str) -> list[str]:
    tab = context.new_page()
    wide = []
    for page in PAGES:
        tab.goto(base + page, wait_until="networkidle")
        wide += [page] if tab.evaluate(_WIDE) else []
    return wide


@pytest.mark.browser
def test_a_window_at_twice_the_size_is_not_wider_than_the_screen(surf: Any, base: str) -> None:
    """A zoom of 200 % gives a window of 1,280 px the width of one of 640."""
    assert surf(_zoomed, base, viewport={"width": 640, "height": 450}) == []
