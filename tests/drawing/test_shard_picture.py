"""Pictures of blocks: well-formed, readable without sight or colour, and true to the layout."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from flopbook.drawing.pictures import DRAWINGS, picture
from flopbook.drawing.shards import MOST_COLUMNS, MOST_ROWS, WIDTH, grid
from flopbook.formulas import get_formula
from flopbook.sharding.blocks import blocks, holders
from flopbook.sharding.notation import read_layout
from scripts.website.pages.calculators import calculator_markdown

SVG = "{http://www.w3.org/2000/svg}"
CASES: dict[str, tuple[str, dict[str, str]]] = {
    "one axis": ("shard", {"array": "bf16[8,4]", "layout": "A[I_X, J]", "mesh": "X=4,Y=2"}),
    "two axes": ("shard", {"array": "bf16[8,4]", "layout": "A[I_Y, J_X]", "mesh": "X=4,Y=2"}),
    "whole": ("shard", {"array": "int8[8]", "layout": "A[I]", "mesh": "X=2,Y=2"}),
    "three dimensions": (
        "shard",
        {"array": "int8[8,8,8]", "layout": "A[I_X, J_Y, K_Z]", "mesh": "X=2,Y=2,Z=2"},
    ),
    "sums": ("shard", {"array": "int8[8,8]", "layout": "A[I_X, J] {U_Y}", "mesh": "X=2,Y=2"}),
    "large": (
        "shard",
        {"array": "int8[4096,4096]", "layout": "A[I_X, J_Y]", "mesh": "X=64,Y=64,Z=64"},
    ),
    "product": (
        "sharded-matmul",
        {"product": "A[I, J_X] * B[J_X, K] -> C[I, K]", "dims": "I=8,J=8,K=8", "mesh": "X=4"},
    ),
}
every_case = pytest.mark.parametrize("case", CASES)


def drawn(case: str) -> ET.Element:
    return ET.fromstring(picture(*CASES[case]).svg(True))


@every_case
def test_a_file_of_its_own_is_well_formed_and_named(case: str) -> None:
    root = drawn(case)
    assert root.tag == f"{SVG}svg" and root.get("role") == "img"
    named = [root.find(f"{SVG}title"), root.find(f"{SVG}desc")]
    assert [one.get("id") for one in named if one is not None] == (
        root.get("aria-labelledby") or ""
    ).split()
    assert all(one is not None and one.text for one in named)
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"


@every_case
def test_blocks_and_their_text_stay_inside(case: str) -> None:
    root = drawn(case)
    height = float(root.get("height") or 0)
    for box in root.iter(f"{SVG}rect"):
        left, top, wide, high = (float(box.get(key) or -1) for key in ("x", "y", "width", "height"))
        assert (
            left >= 0
            and left + wide <= WIDTH + 0.5
            and top >= 0
            and top + high <= height
            and wide > 0
        )
    for text in root.iter(f"{SVG}text"):
        size = 5.6 * len(text.text or "")
        start = float(text.get("x") or 0) - {"end": size, "middle": size / 2}.get(
            text.get("text-anchor") or "", 0
        )
        assert start >= -1 and start + size <= WIDTH + 1, text.text


@pytest.mark.parametrize("case", ["one axis", "two axes", "three dimensions", "sums"])
def test_each_cell_names_the_devices_of_its_block(case: str) -> None:
    values = CASES[case][1]
    mesh = {part[0]: int(part[2:]) for part in values["mesh"].split(",")}
    layout = read_layout(values["layout"])
    counts = blocks(layout, mesh)
    cells = [box[0].text for box in drawn(case).iter(f"{SVG}rect")]
    import itertools

    expected = [
        ", ".join(map(str, holders(layout, mesh, at)))
        for at in itertools.product(*map(range, counts))
    ]
    assert cells == expected


def test_what_does_not_fit_is_said() -> None:
    found = grid(read_layout("A[I_X, J_Y]"), (4096, 4096), {"X": 64, "Y": 64, "Z": 64})
    assert (len(found.rows), len(found.columns)) == (MOST_ROWS, MOST_COLUMNS)
    assert found.cut == "shown: 16 of 64 rows and 8 of 64 columns"
    assert found.cells[0][1] == "64, 65, 66 ... (64)" and "each on 64 devices" in found.words


@pytest.mark.parametrize(("copies", "named"), [(4, "0, 1, 2, 3"), (5, "0, 1, 2 ... (5)")])
def test_a_single_device_is_not_left_out(copies: int, named: str) -> None:
    assert grid(read_layout("A[I]"), (8,), {"X": copies}).cells[0][0] == named


def test_partial_sums_are_no_copies() -> None:
    assert "a term of each on 2 devices" in grid(read_layout("A[I] {U_X}"), (4,), {"X": 2}).words


def test_words_say_what_the_picture_shows() -> None:
    text = drawn("two axes").findtext(f"{SVG}desc") or ""
    assert text == (
        "A[I_Y, J_X]: 8 blocks of 4 x 1, each on 1 device. "
        "The first block is on 0, the last one shown on 7."
    )


def test_colours_are_variables_with_fallbacks_for_light_and_dark() -> None:
    style = picture(*CASES["two axes"]).svg(True).partition("<style>")[2].partition("</style>")[0]
    assert re.findall(r"fill:(?!var\(--[a-z0-9-]+,#[0-9a-f]{6}\))", style) == []
    assert "prefers-color-scheme:dark" in style and "--md-default-fg-color" in style


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("shade", [0, 1])
def test_numbers_can_be_read_on_their_blocks(shade: int) -> None:
    style = picture(*CASES["two axes"]).svg(True)
    found: list[Any] = [
        re.search(rf"--fb-{name},(#\w+)", style) for name in ("on-shard", f"shard-{shade}")
    ]
    dark, light = sorted(luminance(one[1]) for one in found)
    assert (light + 0.05) / (dark + 0.05) >= 4.5


@pytest.mark.parametrize("name", ["shard", "sharded-matmul"])
def test_the_page_shows_every_example_with_its_picture_and_answer(name: str) -> None:
    text = calculator_markdown(name)
    examples = get_formula(name).examples
    assert (
        text.count("<svg ")
        == text.count("```console")
        == len(examples)
        == text.count("<figcaption>")
    )
    ids = re.findall(r'id="([^"]+)"', text)
    assert len(ids) == len(set(ids)) and text.count("<style>") == 1
    assert "## Step by step" in text and "## Formula" not in text
    assert f'data-calculator="{name}"' in text


def test_every_module_that_draws_has_a_picture() -> None:
    import importlib

    for drawing in DRAWINGS.values():
        module = importlib.import_module(f"flopbook.drawing.{drawing.module}")
        assert callable(module.picture)
