"""The colours of the look: read in both schemes, written down, and used in one sense."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from tests.support.cases import every

ROOT = Path(__file__).resolve().parents[2]
ASSETS = ROOT / "docs" / "assets" / "flopbook"
SHEET = (ASSETS / "flopbook.css").read_text(encoding="utf-8")
LOOK = (ASSETS / "look.css").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "contributing" / "look.md").read_text(encoding="utf-8")
TEXTS = ("ink-text", "muted", "flop", "byte", "good", "wrong")
GROUNDS = ("paper", "card", "soft", "flop-wash", "byte-wash")


def colours(selector: str) -> dict[str, str]:
    """Name -> colour of all properties that blocks of a selector set."""
    blocks = re.findall(rf"^{re.escape(selector)} \{{(.*?)\}}", SHEET, re.M | re.S)
    return dict(re.findall(r"--fb-([\w-]+): (#\w{6})", " ".join(blocks)))


def test_one_function_fills_the_names_of_a_sentence() -> None:
    """Four scripts had one of their own."""
    scripts = {path.name: path.read_text(encoding="utf-8") for path in ASSETS.rglob("*.js")}
    fillers = [name for name, text in scripts.items() if r".replace(/{(\w+)}/g" in text]
    assert fillers == ["dom.js"]


DARK = '[data-md-color-scheme="slate"]'
SCHEMES = {"light": colours(":root"), "dark": colours(DARK)}


def luminance(colour: str) -> float:
    """The relative luminance of WCAG 2."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_is_that_of_the_definition() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@every("scheme", SCHEMES)
@every("text, ground", itertools.product(TEXTS, GROUNDS))
def test_every_text_can_be_read_on_every_ground(scheme: str, text: str, ground: str) -> None:
    found = SCHEMES[scheme]
    assert contrast(found[text], found[ground]) >= 4.5


@every("scheme", SCHEMES)
def test_borders_of_fields_and_filled_buttons_can_be_seen(scheme: str) -> None:
    found = SCHEMES[scheme]
    assert all(contrast(found["line"], found[ground]) >= 3 for ground in GROUNDS)
    assert contrast(found["c0"], found["on0"]) >= 4.5


@every("scheme", SCHEMES)
def test_figures_use_the_two_colours_in_the_same_sense(scheme: str) -> None:
    found = SCHEMES[scheme]
    assert found["c0"] == found["l0"] == found["flop"] == found["accent"]
    assert found["l1"] == found["byte"] == found["accent-2"]


@every("scheme", SCHEMES)
def test_code_can_be_read_on_its_ground(scheme: str) -> None:
    """The theme's own colours of code are for a white ground; ours lies on the soft one."""
    head = {"light": ':root, [data-md-color-scheme="default"]'}.get(scheme, DARK)
    blocks = re.findall(rf"^{re.escape(head)} \{{(.*?)\}}", SHEET, re.M | re.S)
    found = dict(re.findall(r"--md-code-hl-([\w-]+): (#\w{6})", " ".join(blocks)))
    assert len(found) == 11
    for name, colour in found.items():
        assert contrast(colour, SCHEMES[scheme]["soft"]) >= 4.5, name


def test_both_schemes_have_the_same_colours() -> None:
    assert set(SCHEMES["light"]) == set(SCHEMES["dark"]) | {"ink"}


def test_the_look_names_no_colour_itself() -> None:
    assert re.findall(r"#[0-9a-f]{3,8}\b(?!\))", LOOK) == []


def test_every_property_and_part_is_written_down() -> None:
    """What the page of the look names is there, and the tokens are all on it."""
    defined = set(re.findall(r"(--fb-[\w-]+):", SHEET + LOOK))
    named = set(re.findall(r"`(--fb-[\w-]+)`", PAGE))
    assert named <= defined
    assert {f"--fb-{name}" for name in (*TEXTS, *GROUNDS, "line", "rule")} <= named
    assert set(re.findall(r"^  (?:.*?)(--fb-[\w-]+): [\d.]+rem", LOOK, re.M)) <= named
    for part in re.findall(r"`(fb-[\w-]+)`", PAGE):
        assert f".{part}" in LOOK + SHEET, part
