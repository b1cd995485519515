"""Charts in a browser: values by pointer and keyboard, files from the menu, a phone's sheet."""

from __future__ import annotations

import base64
import re
import struct
from pathlib import Path
from typing import Any

import pytest

from scripts.website.build.weigh import visit

pytestmark = pytest.mark.browser

PAGE = "handbook/reliability-and-energy/"
FIGURE = "[id^=fig-checkpoint-interval]"
KEYS = ("ArrowRight", "ArrowRight", "ArrowLeft", "ArrowUp", "End", "Home", "Escape")
_SHOWN = """figure => ['.fb-wide', '.fb-slim'].filter(
  part => figure.querySelector(part).getBoundingClientRect().width > 0)"""
_SEEN = """document.querySelector('.fb-plotted [role=status]')?.style.visibility === 'visible'"""
_LETTERS = """figure => {
  const picture = [...figure.querySelectorAll('svg')]
    .find(one => one.getBoundingClientRect().width);
  return 12 * picture.getBoundingClientRect().width / picture.viewBox.baseVal.width;
}"""


def _tip(figure: Any) -> dict[str, Any]:
    """What is read out of a figure at this moment, and whether it is to be seen."""
    tip = figure.locator("[role=status]")
    seen = tip.evaluate("one => getComputedStyle(one).visibility === 'visible'")
    box = tip.evaluate("one => one.getBoundingClientRect().toJSON()")
    return {"words": tip.text_content(), "seen": seen, "box": box}


def _read(context: Any, base: str, width: int) -> dict[str, Any]:
    tab = context.new_page()
    tab.set_viewport_size({"width": width, "height": 900})
    said: list[str] = []
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    visit(tab, base + PAGE)
    figure = tab.locator(FIGURE).first
    plotted = figure.locator(".fb-plotted")
    plotted.scroll_into_view_if_needed()
    plotted.focus()
    keys = []
    for key in KEYS:
        tab.keyboard.press(key)
        figure.locator("[role=status]").wait_for(state="attached")
        keys.append(_tip(figure))
    box = plotted.bounding_box()
    tab.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 0.5 * box["height"])
    tab.wait_for_function(_SEEN)
    pointed = _tip(figure)
    shown, letters = figure.evaluate(_SHOWN), figure.evaluate(_LETTERS)
    menu = figure.locator(".fb-menu")
    menu.locator("summary").click()
    offered = [item.strip() for item in menu.locator("li").all_inner_texts()]
    tab.keyboard.press("Escape")
    return {
        "said": said,
        "keys": keys,
        "pointed": pointed,
        "shown": shown,
        "letters": letters,
        "offered": offered,
        "closed": menu.get_attribute("open") is None,
    }


@pytest.mark.parametrize("width", [1440, 390], ids=["window", "phone"])
def test_values_are_read_and_files_are_offered(surf: Any, base: str, width: int) -> None:
    """The same in both widths; on a phone the sheet that is drawn for it, in readable letters."""
    seen = surf(_read, base, width)
    assert seen["said"] == []
    right, further, back, other, end, home, escaped = seen["keys"]
    assert right["words"].startswith("failure every") and right["seen"]
    assert further["words"] != right["words"] and back["words"] == right["words"]
    assert other["words"].partition(":")[0] != right["words"].partition(":")[0]
    assert end["words"].partition(":")[0] == other["words"].partition(":")[0] != ""
    assert home["words"] != end["words"]
    assert not escaped["seen"]
    assert seen["pointed"]["seen"] and " at " in seen["pointed"]["words"]
    for box in (right["box"], end["box"], seen["pointed"]["box"]):
        assert box["height"] < 90 and box["width"] < 300, "it covers a corner of the picture"
        assert box["left"] >= 0 and box["right"] <= width and box["top"] >= 0
        assert box["bottom"] <= 900
    assert seen["shown"] == [".fb-wide" if width > 1000 else ".fb-slim"]
    assert seen["letters"] >= 10.5
    offered = seen["offered"]
    assert offered[:3] == ["Picture as SVG", "Picture as PNG", "Values as CSV"]
    assert {"Link to this figure", "Copy link", "Copy code to embed"} <= set(offered)
    assert any(item.startswith('figure("checkpoint-interval"') for item in offered)
    assert seen["closed"]


def _saved(context: Any, base: str, folder: str) -> dict[str, Any]:
    tab = context.new_page()
    visit(tab, base + PAGE)
    figure = tab.locator(FIGURE).first
    figure.locator("summary").click()
    files = {}
    for words in ("Picture as PNG", "Picture as SVG", "Values as CSV"):
        with tab.expect_download() as download:
            figure.get_by_text(words).click()
        path = Path(folder) / download.value.suggested_filename
        download.value.save_as(path)
        files[words] = str(path)
    return files


def test_files_of_a_menu_hold_the_picture_and_its_values(
    surf: Any, base: str, tmp_path: Path
) -> None:
    """PNG at twice the size of the SVG; values with a line for each point."""
    files = {words: Path(path) for words, path in surf(_saved, base, str(tmp_path)).items()}
    picture = files["Picture as PNG"].read_bytes()
    assert picture[:4] == b"\x89PNG"
    width, height = struct.unpack(">II", picture[16:24])
    drawing = files["Picture as SVG"].read_text(encoding="utf-8")
    size = re.search(r'width="([\d.]+)" height="([\d.]+)" role', drawing)
    assert size and abs(width - 2 * float(size[1])) <= 2 and abs(height - 2 * float(size[2])) <= 2
    assert "Around the best interval" in drawing
    lines = files["Values as CSV"].read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("series,x,y,shown") and len(lines) > 100
    assert sum("failure every 3 h" in line for line in lines) > 30


_FIND_FOCUS = "document.activeElement.closest('.fb-menu') !== null"


def _left(context: Any, base: str) -> dict[str, Any]:
    """A menu that is left by keys, and a picture of stacked bars that are alike."""
    tab = context.new_page()
    visit(tab, base + "handbook/transformers/")
    figure = tab.locator("[id^=fig-memory-parts]").first
    menu = figure.locator(".fb-menu")
    menu.locator("summary").focus()
    tab.keyboard.press("Enter")
    opened = menu.get_attribute("open") is not None
    while tab.evaluate(_FIND_FOCUS):
        tab.keyboard.press("Tab")
    closed = menu.get_attribute("open") is None
    places = []
    for _ in range(4):
        tab.keyboard.press("ArrowRight")
        figure.locator("circle.fb-stroke").wait_for(state="attached")
        ring = figure.locator("circle.fb-stroke")
        places.append((ring.get_attribute("cx"), ring.get_attribute("cy")))
    words = _tip(figure)["words"]
    tab.keyboard.press("Tab")
    tab.wait_for_function("!document.querySelector('circle.fb-stroke')")
    return {
        "opened": opened,
        "closed": closed,
        "places": places,
        "words": words,
        "seen": _tip(figure)["seen"],
        "silent": tab.locator("[id^=fig-step-memory] .fb-plotted[tabindex]").count(),
    }


def test_what_is_left_is_closed_and_equal_values_are_passed(surf: Any, base: str) -> None:
    """A menu does not stay over the picture, nor the value; four bars have the same weights."""
    seen = surf(_left, base)
    assert seen["opened"] and seen["closed"]
    assert len(set(seen["places"])) == 4, seen["places"]
    assert "weights" in seen["words"] and not seen["seen"]
    assert seen["silent"] == 0, "a diagram without values takes no keys"


_GROUND = """async file => {
  const [picture, sheet] = [new Image(), document.createElement('canvas')];
  picture.src = `data:image/png;base64,${file}`;
  await picture.decode();
  const pen = sheet.getContext('2d');
  pen.drawImage(picture, 0, 0);
  return [...pen.getImageData(2, 2, 1, 1).data].slice(0, 3);
}"""


def _grounds(context: Any, base: str) -> list[list[int]]:
    """The colour of the paper of a PNG in both schemes of the page, on a system that is light."""
    tab = context.new_page()
    tab.emulate_media(color_scheme="light")
    visit(tab, base + PAGE)
    figure = tab.locator(FIGURE).first
    figure.locator("summary").click()
    found = []
    for scheme in ("default", "slate"):
        tab.evaluate(f"document.body.dataset.mdColorScheme = '{scheme}'")
        with tab.expect_download() as got:
            figure.get_by_role("button", name="Picture as PNG").click()
        file = base64.b64encode(Path(got.value.path()).read_bytes()).decode()
        found.append(tab.evaluate(_GROUND, file))
        figure.get_by_role("button", name="Picture as PNG").wait_for()
    return found


def test_a_png_has_the_colours_of_the_page(surf: Any, base: str) -> None:
    """A reader who chose the dark scheme on a light system sees what is saved."""
    light, dark = surf(_grounds, base, accept_downloads=True)
    assert min(light) > 240 and max(dark) < 60


def _touched(context: Any, base: str) -> list[dict[str, Any]]:
    """What a finger reads in a chart of a phone, while it rests and after the page has moved."""
    tab = context.new_page()
    visit(tab, base + PAGE)
    plotted = tab.locator(FIGURE).first.locator(".fb-plotted")
    plotted.scroll_into_view_if_needed()
    box = plotted.bounding_box()
    found = []
    for share in (0.4, 0.6):
        tab.touchscreen.tap(box["x"] + share * box["width"], box["y"] + 0.45 * box["height"])
        tab.wait_for_function(_SEEN)
        found.append(_tip(tab.locator(FIGURE).first))
    tab.mouse.wheel(0, 200)
    tab.wait_for_function(f"!({_SEEN})")
    return found


def test_a_finger_reads_values(surf: Any, base: str) -> None:
    """It leaves the glass at once, and the value stays until the page moves."""
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    first, second = surf(_touched, base, **phone)
    assert first["words"] != second["words"] and " at " in second["words"]
