"""Living pictures without a browser: their still version, and what their scripts are given."""

from __future__ import annotations

import gzip
import html
import json
import re
from pathlib import Path

import pytest

from flopbook.errors import UnknownName
from flopbook.formulas import get_formula
from scripts.website.figures.origins import newest_reading
from scripts.website.pages.living import living

ASSETS = Path(__file__).resolve().parents[3] / "docs" / "assets" / "flopbook" / "living"
SCENES = ("fsdp", "pipeline", "ring")


@pytest.mark.parametrize("name", SCENES)
def test_without_a_script_a_picture_with_words_stands_there(name: str) -> None:
    markup = living("handbook/page.md", name)
    assert "<svg" in markup and "<title" in markup
    assert '<div class="fb-wide" tabindex="0"><svg' in markup, "on a phone it keeps its letters"
    told = re.search(r'class="fb-told"[^>]*>(.*?)</p>', markup)
    assert told and re.search(r"\d", told[1]) and told[1].endswith((".", "step"))
    assert "Source: " in markup and "calculators/" in markup
    assert (newest_reading() in markup) == (name != "pipeline"), "rates of chips have a day"


@pytest.mark.parametrize("name", SCENES)
def test_a_script_is_given_every_input_of_its_formula(name: str) -> None:
    """As JSON that a browser reads: numbers, words, and null for what has no end."""
    found = re.search(r'data-given="([^"]*)"', living("handbook/page.md", name))
    assert found
    given = json.loads(html.unescape(found[1]))
    if name == "pipeline":  # its inputs are all dragged
        assert given == {}
        return
    assert set(given["inputs"]) == set(get_formula("collective").inputs)
    assert all(
        value is None or isinstance(value, (int, float, str)) for value in given["inputs"].values()
    )
    assert given["inputs"]["link_bandwidth"] > 1e10


def test_a_picture_is_light() -> None:
    """The frame, a scene and what it shares with others: a few kB packed, each."""
    shared = sum(_packed(name) for name in ("main.js", "timeline.js", "living.css"))
    for scene in SCENES:
        assert shared + _packed(f"{scene}.js") < 7000, scene


def _packed(name: str) -> int:
    return len(gzip.compress((ASSETS / name).read_bytes()))


def test_each_scene_has_a_script_and_the_player_knows_it() -> None:
    player = (ASSETS / "main.js").read_text(encoding="utf-8")
    assert sorted(re.findall(r'(\w+): \(\) => import\("./\w+\.js"\)', player)) == sorted(SCENES)
    for scene in SCENES:
        script = (ASSETS / f"{scene}.js").read_text(encoding="utf-8")
        assert "export function scene(" in script and '"../formulas/' in script, scene


def test_a_name_that_is_none_is_refused() -> None:
    with pytest.raises(UnknownName, match="fsdq"):
        living("handbook/page.md", "fsdq")
