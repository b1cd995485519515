"""Figures that move: they run when opened, end in five seconds, and stand still on request."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.browser

# Page, the box that holds what moves, and how many pieces of it move.
MOVING = (
    ("handbook/sharded-matrices/", "fb-slide", 12),
    ("handbook/accelerators/", "fb-visit", 48),
    ("handbook/pipeline-parallelism/", "fb-sweep", 1),
)
LONGEST = 5000  # milliseconds; what moves longer needs a way to stop it (WCAG 2.2.2)
_OPEN = """kind => {
  const box = document.querySelector('.' + kind).closest('details');
  box.open = true;
  return box.previousElementSibling !== null;
}"""
_RUNS = """kind => [...document.querySelectorAll('.' + kind)]
  .flatMap(piece => piece.getAnimations()).map(one => {
  const timing = one.effect.getComputedTiming();
  return {end: timing.endTime, times: timing.iterations};
})"""
# Of the two sheets of a picture, wide and for a phone, the one that is shown.
_SEEN = """kind => [...document.querySelectorAll('.' + kind)]
  .filter(piece => piece.checkVisibility()).map(piece => {
  const style = getComputedStyle(piece);
  return {opacity: style.opacity, clip: style.clipPath};
})"""
moving = pytest.mark.parametrize(
    ("page", "kind", "count"), MOVING, ids=[kind for _, kind, _ in MOVING]
)


def _opened(tab: Any, base: str, page: str, kind: str) -> None:
    tab.goto(base + page)
    assert tab.evaluate(_OPEN, kind), "what moves stands beside something that does not"


def _running(context: Any, base: str, page: str, kind: str) -> list[dict[str, Any]]:
    tab = context.new_page()
    _opened(tab, base, page, kind)
    return tab.evaluate(_RUNS, kind)


def _still(context: Any, base: str, page: str, kind: str, media: str) -> dict[str, Any]:
    tab = context.new_page()
    tab.emulate_media(**({"media": "print"} if media == "print" else {"reduced_motion": "reduce"}))
    _opened(tab, base, page, kind)
    return {"runs": tab.evaluate(_RUNS, kind), "seen": tab.evaluate(_SEEN, kind)}


def _closed(context: Any, base: str, page: str, kind: str) -> bool:
    tab = context.new_page()
    tab.goto(base + page)
    return tab.locator(f".{kind}").first.is_visible()


@moving
def test_it_runs_once_and_ends_in_time(
    surf: Any, base: str, page: str, kind: str, count: int
) -> None:
    """Every shape that moves does so once, and all have arrived before five seconds are over."""
    found = surf(_running, base, page, kind)
    assert len(found) == count
    assert all(one["times"] == 1 and 0 < one["end"] <= LONGEST for one in found)


@moving
def test_it_moves_on_a_phone_as_well(
    surf: Any, base: str, page: str, kind: str, count: int
) -> None:
    """As many pieces on the sheet for narrow screens, which does not scroll."""
    phone = {"viewport": {"width": 390, "height": 844}}
    found = surf(_running, base, page, kind, **phone)
    assert len(found) == count
    assert all(one["times"] == 1 and 0 < one["end"] <= LONGEST for one in found)


@moving
def test_nothing_moves_before_it_is_opened(
    surf: Any, base: str, page: str, kind: str, count: int
) -> None:
    assert not surf(_closed, base, page, kind), count


@moving
@pytest.mark.parametrize("media", ["reduced", "print"])
def test_it_stands_still_where_motion_is_not_wanted(
    surf: Any, base: str, page: str, kind: str, count: int, media: str
) -> None:
    """Blocks that have arrived and the whole schedule are shown.

    Visits of a systolic array are left out.
    """
    found = surf(_still, base, page, kind, media)
    assert found["runs"] == [] and len(found["seen"]) == count
    assert {one["opacity"] for one in found["seen"]} == {"0" if kind == "fb-visit" else "1"}
    assert {one["clip"] for one in found["seen"]} == {"none"}
