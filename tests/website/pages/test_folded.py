"""Diagrams on a phone: rows get their names above, panels go below each other, letters stay."""

from __future__ import annotations

import re

import pytest

from scripts.website.figures import drawn_of
from scripts.website.figures.drawing import Figure, box, key, path, words
from scripts.website.figures.folded import folded
from scripts.website.figures.narrow import narrow_sheet
from scripts.website.figures.shapes import SHEET, DrawnShape, lines_of, read, text_width
from tests.website.pages.test_figure_panels import every_figure


def drawn(*parts: str, height: float = 200) -> Figure:
    return Figure("t", "d", "c", height, parts)


def shapes(figure: Figure) -> dict[str, DrawnShape]:
    """Texts by what they say, boxes by their class."""
    sheet = folded(figure)
    assert sheet is not None and sheet.width == SHEET
    assert all(one.extent.foot <= sheet.height for one in read(sheet.parts))
    return {one.text or one.kind: one for one in read(sheet.parts)}


def test_rows_get_their_names_above_and_keep_their_proportions() -> None:
    bars = [(0, "one", 100.0, "fb-c0"), (1, "two", 400.0, "fb-c1")]
    parts = [words(142, 40 + 30 * n, name, "end") for n, name, _, _ in bars]
    parts += [box(150, 26 + 30 * n, width, 20, kind) for n, _, width, kind in bars]
    parts += [path([(350, 10), (350, 80)], "fb-grid"), words(556, 70, "4 GB", "start")]
    found = shapes(drawn(*parts))
    for name, bar in (("one", "fb-c0"), ("two", "fb-c1")):
        assert found[name].anchor == "start" and found[name].extent.foot <= found[bar].extent.top
    assert found["two"].extent.top >= found["fb-c0"].extent.foot
    ratio = found["fb-c1"].extent.width / found["fb-c0"].extent.width
    assert ratio == pytest.approx(4, rel=1e-3)
    line, long = found["fb-grid"].extent, found["fb-c1"].extent
    assert (line.left - long.left) / long.width == pytest.approx(0.5, abs=0.01)
    assert line.top < found["fb-c0"].extent.top and line.foot > long.top


def test_panels_go_below_each_other_whole_and_their_legend_and_note_after_them() -> None:
    parts = [*key(0, 0, "kept", "fb-c4")]
    for number in range(3):
        left = 210.0 * number
        parts += [
            words(left + 95, 40, f"panel {number}", kind="fb-strong"),
            box(left, 60, 190, 80, f"fb-c{number}"),
            words(left + 95, 100, f"inside {number}"),
        ]
    parts.append(words(0, 170, "a note that is wider than the sheet of a phone " * 2, "start"))
    found = shapes(drawn(*parts))
    tops = [found[f"fb-c{number}"].extent.top for number in range(3)]
    assert tops == sorted(tops) and tops[0] + 100 < tops[1] < tops[2] - 100
    for number in range(3):
        panel, inside = found[f"fb-c{number}"].extent, found[f"inside {number}"]
        assert (panel.width, panel.height) == (190, 80)
        assert (inside.x, inside.y) == pytest.approx((panel.left + 95, panel.top + 40))
        assert found[f"panel {number}"].y == pytest.approx(panel.top - 20)
    last = found["fb-c2"].extent.foot
    notes = [one for text, one in found.items() if text.startswith("a note") or "phone" in text]
    assert found["kept"].extent.top > last and len(notes) >= 2
    assert all(note.extent.top > found["kept"].extent.top for note in notes)


def test_bars_of_one_panel_stay_together_and_names_stay_beside_their_rows() -> None:
    """A panel has a head; rows that go on over several panels are none."""
    bars = [box(300 + 60 * n, 40, 40, 90, f"fb-c{n}") for n in range(3)]
    one = [words(20, 20, "one", kind="fb-strong"), box(0, 40, 60, 90, "fb-c4")]
    found = shapes(drawn(*one, words(380, 20, "three", kind="fb-strong"), *bars))
    assert len({found[f"fb-c{n}"].extent.top for n in range(3)}) == 1
    assert found["fb-c2"].extent.left - found["fb-c0"].extent.left == pytest.approx(120)
    rows = [words(0, 40 + 60 * n, f"a row {n}", "start") for n in range(3)]
    cells = [box(200 + 200 * n, 20 + 60 * m, 150, 40) for n in range(2) for m in range(3)]
    assert folded(drawn(*rows, *cells)) is None


@pytest.mark.parametrize(
    "parts",
    [
        ['<polygon points="0,0 1,1"/>'],
        ['<g style="--fb-dx:4px"><rect x="0" y="0" width="4" height="4"/></g>'],
        [box(0, 0, 640, 40), words(320, 20, "one wide box")],
        [words(300, 20 + 30 * n, "x" * 10, "end") for n in range(2)]
        + [words(310 + 70 * n, 20, "y" * 10, "start") for n in range(9)]
        + [box(310, 26, 620, 10)],
        [words(100 + 10 * n, 20, "touching", "middle") for n in range(3)],
    ],
    ids=["unknown", "moving", "one piece", "too narrow", "touching"],
)
def test_what_would_not_be_readable_is_left_as_it_is(parts: list[str]) -> None:
    assert folded(drawn(*parts)) is None


def test_lines_break_at_spaces_and_lose_no_word() -> None:
    text = "an all-gather of In and a reduce-scatter of Out over Y, and no more"
    lines = list(lines_of(text, "fb-small", 120))
    assert " ".join(lines) == text and len(lines) > 2
    assert all(text_width(line, "fb-small") <= 120 for line in lines)


def test_every_diagram_has_a_sheet_for_a_phone() -> None:
    """One that cannot be folded draws a narrow sheet of its own; none scrolls sideways."""
    missing = [name for name, figure in every_figure().items() if narrow_sheet(figure) is None]
    assert missing == []


@pytest.mark.parametrize("name", ["systolic-array", "ring-collective", "pipeline-schedule"])
def test_what_moves_moves_on_a_phone_too(name: str) -> None:
    """As many pieces as in the wide picture, at the same moments, none wider than the sheet."""
    wide = drawn_of(f'["{name}",{{"moving":true}}]')
    assert wide.narrow is not None and wide.narrow.width <= SHEET
    phone = "".join(wide.narrow.parts)
    pieces = r'<g class="(fb-\w+)"'
    assert re.findall(pieces, phone) == re.findall(pieces, "".join(wide.parts)) != []
    waits = r"--fb-wait:[\d.]+s"
    assert re.findall(waits, phone) == re.findall(waits, "".join(wide.parts))
    still = [part for part in wide.narrow.parts if "<g" not in part]
    assert all(one.extent.right <= SHEET + 2 for one in read(still))


def test_a_slice_too_many_goes_on_a_row_of_its_own() -> None:
    """Slices stand in pairs on a phone, so five of them take three rows."""
    drawings = [
        drawn_of(f'["torus-slice",{{"shapes":"{text}"}}]') for text in ("4x4; 4x4", "4x4; 4x4; 4x4")
    ]
    pair, three = (one.narrow for one in drawings)
    assert pair is not None and three is not None
    assert three.height == 2 * pair.height == 2 * drawings[0].height


@pytest.mark.parametrize(
    "call",
    [
        '["block-product",{}]',
        '["tensor-block",{"tokens":4096,"d_model":8192,"d_ff":28672,"ways":4}]',
        '["three-products",{}]',
    ],
)
def test_a_sign_stands_before_what_follows_it(call: str) -> None:
    """Wide and on a phone, something lies to the right of each sign, at its height."""
    wide = drawn_of(call)
    phone = narrow_sheet(wide)
    assert phone is not None
    for parts in (wide.parts, phone.parts):
        found = read(parts)
        assert not any(one.text[:-1] and one.text.endswith("=") for one in found)
        signs = [one.extent for one in found if one.text in ("=", "×")]
        assert signs
        for sign in signs:
            assert any(
                one.left >= sign.right and one.top < sign.foot and one.foot > sign.top
                for one in (shape.extent for shape in found)
            )
