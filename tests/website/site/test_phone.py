"""A phone of 390 px: no value is reached by moving sideways, and a finger hits what it aims at."""

from __future__ import annotations

from typing import Any

import pytest

from scripts.website.build.weigh import visit

PAGES = (
    "",
    "handbook/fsdp/",
    "accelerators/",
    "accelerators/?view=compare&compare=h100-sxm,mi300x",
    "accelerators/nvidia/",
    "accelerators/nvidia/h100-sxm/",
    "accelerators/google/tpu-v5p/",
    "compare/h100-sxm-vs-mi300x/",
    "runs/",
    "models/",
    "data/",
    "errata/",
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
# Values, names and sources in tables, where they stand alone in their cell: the first of each kind,
# by what a finger hits around it. Beside words of a cell they are in running text.
_IN_TABLES = """least => {
  const shown = one => one.checkVisibility({visibilityProperty: true, opacityProperty: true});
  const alone = one => {
    const cell = one.closest('td, th').cloneNode(true);
    cell.querySelectorAll('a, button, .fb-source').forEach(link => link.remove());
    return !/[\\p{L}\\p{N}]{2}/u.test(cell.textContent);
  };
  const kind = one => `${one.tagName} ${one.className} ${one.closest('td, th').className} `
    + one.closest('table').className;
  const links = [...document.querySelectorAll('.fb-scroll tbody :is(td, th) :is(a, .fb-value)')];
  const first = new Map(links.filter(one => shown(one) && alone(one)).reverse()
    .map(one => [kind(one), one]));
  return [...first].map(([name, one]) => {
    one.scrollIntoView({block: 'center'});
    const box = one.getClientRects()[0];
    const [x, y] = [box.left + Math.min(box.width / 2, 20), box.top + box.height / 2];
    const reach = step => {
      let away = 0;
      while (Math.abs(away) < least && one.contains(document.elementFromPoint(x, y + away + step)))
        away += step;
      return Math.abs(away);
    };
    return [name, reach(1) + reach(-1) + 1];
  }).filter(([, height]) => height < least - 1).map(([name, height]) => `${name}: ${height} px`);
}"""
# Links that stand alone outside of tables, and those of a cell with several: the first three of
# each kind, by what a finger hits around them.
_ALONE = (
    ".fb-tools .headerlink",
    ".fb-symbols td a",
    ".fb-alone a",
    ".fb-list .fb-code",
    ".fb-list .fb-code + a",
    ".fb-card a",
)
_REACH = """([least, kinds]) => kinds.flatMap(kind => {
  const shown = one => one.checkVisibility({visibilityProperty: true, opacityProperty: true});
  return [...document.querySelectorAll(kind)].filter(shown).slice(0, 3).map(one => {
    one.scrollIntoView({block: 'center'});
    const box = one.getClientRects()[0];
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    const reach = (across, down) => {
      let away = 0;
      const at = step => document.elementFromPoint(x + across * step, y + down * step);
      while (away < least && one.contains(at(away + 1))) away += 1;
      return away;
    };
    const size = [reach(1, 0) + reach(-1, 0) + 1, reach(0, 1) + reach(0, -1) + 1];
    return [kind, ...size];
  });
}).filter(([, width, height]) => Math.min(width, height) < least - 2)"""
_WITH_LINKS = (
    "handbook/roofline/",
    "glossary/",
    "references/works/",
    "accelerators/nvidia/",
    "accelerators/nvidia/h100-sxm/",
    "calculators/decode/",
)
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
    visit(tab, base + page)
    moved = tab.evaluate("window.moved")
    found = {
        "moved while it loaded": moved if moved > _MOST_MOVED else None,
        "sideways": tab.evaluate(_SIDEWAYS),
        "small": tab.evaluate(_SMALL, _TARGET)[:4],
        "small in tables": tab.evaluate(_IN_TABLES, _TARGET)[:4],
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
        visit(tab, base + "accelerators/")
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


@pytest.mark.browser
@pytest.mark.parametrize("page", _WITH_LINKS)
def test_a_finger_hits_a_permalink_a_symbol_and_a_citation(surf: Any, base: str, page: str) -> None:
    """They were 9 to 36 px wide and 17 to 26 px high."""

    def small(context: Any) -> list[Any]:
        tab = context.new_page()
        visit(tab, base + page)
        found: list[Any] = tab.evaluate(_REACH, [_TARGET, list(_ALONE)])
        return found

    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    assert surf(small, **phone) == []


def _zoomed(context: Any, base: str) -> list[str]:
    tab = context.new_page()
    wide = []
    for page in PAGES:
        visit(tab, base + page)
        wide += [page] if tab.evaluate(_WIDE) else []
    return wide


@pytest.mark.browser
def test_a_window_at_twice_the_size_is_not_wider_than_the_screen(surf: Any, base: str) -> None:
    """A zoom of 200 % gives a window of 1,280 px the width of one of 640."""
    assert surf(_zoomed, base, viewport={"width": 640, "height": 450}) == []
