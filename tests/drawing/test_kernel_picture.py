"""The picture of kernels under roofs.

Every kernel at its place, in a terminal, in a file and on the page.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from flopbook.drawing.kernels import MARKS, picture
from flopbook.formulas.kernel_rooflines import KERNELS
from flopbook.kernels.notation import MOST_KERNELS
from scripts.website.pages.answer_pictures import ROOFLINE_CHIPS, picture_section

ROOFS = "mine: bf16 100TFLOP/s, fp8 200TFLOP/s, memory 1TB/s, L2 10TB/s"
VALUES = {"roofs": ROOFS, "kernels": KERNELS, "bytes_per_param": 2.0}
TWO = {**VALUES, "roofs": "a: 100TFLOP/s, 1TB/s; b: 50TFLOP/s, 2TB/s"}


def drawing(values: dict[str, Any]) -> ET.Element:
    return ET.fromstring(picture("roofline", values).svg(True))


def kinds(root: ET.Element, name: str) -> list[ET.Element]:
    return [node for node in root.iter() if node.get("class") == name]


def test_every_kernel_has_a_point_and_a_line_of_the_legend() -> None:
    root = drawing(VALUES)
    count = len(KERNELS.split(","))
    assert (
        len(kinds(root, "fb-point")) == count and len(kinds(drawing(TWO), "fb-point")) == 2 * count
    )
    texts = [node.text or "" for node in root.iter() if node.tag.endswith("text")]
    assert all(
        any(text.endswith(kernel.strip()) for text in texts) for kernel in KERNELS.split(",")
    )


def test_one_chip_has_all_its_roofs_and_several_their_first() -> None:
    one_chip, two_chips = drawing(VALUES), drawing(TWO)
    assert len(kinds(one_chip, "fb-roof")) == 1 and len(kinds(one_chip, "fb-further")) == 2
    assert len(kinds(two_chips, "fb-roof")) == 2 and not kinds(two_chips, "fb-further")
    text = " ".join(node.text or "" for node in one_chip.iter())
    assert "bf16, ridge 100" in text and "fp8, ridge 200" in text and "L2, ridge 10" in text


def test_points_lie_on_the_roof_and_inside_the_picture() -> None:
    root = drawing(VALUES)
    width, height = (float(n) for n in root.get("viewBox").split()[2:])
    (roof,) = kinds(root, "fb-roof")
    corners = [tuple(map(float, pair.split(","))) for pair in roof.get("points").split()]
    (left, bottom), (ridge, top), _ = corners
    for node in kinds(root, "fb-point"):
        x, y = float(node.get("cx")), float(node.get("cy"))
        assert 0 <= x <= width and 0 <= y <= height
        expected = top if x >= ridge else bottom + (x - left) / (ridge - left) * (top - bottom)
        assert y == pytest.approx(expected, abs=0.3)


def test_a_measured_rate_is_drawn_below_its_roof() -> None:
    root = drawing({**VALUES, "kernels": "gemm 4096x4096x4096 rate=50TFLOP/s"})
    (point,), (measured,) = kinds(root, "fb-point"), kinds(root, "fb-measured")
    assert measured.get("cx") == point.get("cx") and float(measured.get("cy")) > float(
        point.get("cy")
    )
    assert "measured 50.0 % of it" in ET.tostring(measured, encoding="unicode")


def test_text_is_escaped_and_the_picture_is_described() -> None:
    drawn = picture("roofline", {**VALUES, "roofs": "<b>&: 1TFLOP/s, 1TB/s"}).svg(True)
    root = ET.fromstring(drawn)
    assert (
        "<b>" not in drawn
        and root.get("role") == "img"
        and "decode context=8192" in root.get("aria-label")
    )


@pytest.mark.parametrize("width", [20, 60, 80, 100, 400])
def test_the_terminal_shows_every_kernel_within_its_width(width: int) -> None:
    lines = picture("roofline", VALUES).text(width).splitlines()
    plot = [line for line in lines if " |" in line]
    assert len(plot) == 18 and max(map(len, plot)) <= max(width, 48) and max(map(len, plot)) <= 110
    drawn = "".join(line.partition("|")[2] for line in plot)
    assert {mark for mark in drawn if mark in MARKS} == set(MARKS[: len(KERNELS.split(","))])
    assert "/" in drawn and "-" in drawn and "." in drawn


def test_the_legend_of_the_terminal() -> None:
    text = picture("roofline", {**VALUES, "kernels": "point 5, gemv 9x9 rate=1GFLOP/s"}).text(80)
    assert "1 point 5\n2 gemv 9x9" in text and "* measured" in text and ". further roofs" in text
    assert "further" not in picture("roofline", TWO).text(
        80
    ) and "b: 50 TFLOP/s, 2 TB/s, ridge at 25" in text + (picture("roofline", TWO).text(80))


def test_as_many_kernels_as_are_read_have_a_mark() -> None:
    assert len(set(MARKS)) == len(MARKS) >= MOST_KERNELS
    many = ", ".join(f"point {n + 1}" for n in range(MOST_KERNELS))
    assert (
        picture("roofline", {**VALUES, "kernels": many}).text(100)
        and drawing({**VALUES, "kernels": many}) is not None
    )


def test_the_page_shows_the_same_kernels_on_a_few_chips() -> None:
    shown = "".join(picture_section("roofline"))
    assert (
        shown.count("<svg") == len(ROOFLINE_CHIPS) == shown.count("kernels wait for memory")
        and shown.count("<style>") == 1
    )
    for drawn in re.findall(r"<svg.*?</svg>", shown, re.S):
        ET.fromstring(drawn)
