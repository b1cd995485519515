"""The menu of a living picture: its state in view as SVG, PNG and CSV, and a link to it."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

pytestmark = pytest.mark.browser
_PAGES = ("handbook/fsdp/", "handbook/pipeline-parallelism/", "handbook/sharded-matrices/")
_FILES = ("Picture as SVG", "Picture as PNG", "Values as CSV")
_HEADS = {
    "fig-living-fsdp": ["lane", "work", "start (s)", "end (s)"],
    "fig-living-pipeline": ["lane", "work", "start (forward passes)", "end (forward passes)"],
    "fig-living-ring": ["chip", "block", "values summed"],
}


def _files(context: Any, base: str, page: str) -> dict[str, Any]:
    context.set_default_timeout(60_000)
    tab = context.new_page()
    tab.goto(base + page)
    tab.locator(".fb-alive").scroll_into_view_if_needed()
    tab.wait_for_selector(".fb-alive .fb-menu")
    tab.locator(".fb-alive .fb-controls .fb-drag input").first.press("ArrowRight")
    tab.click(".fb-alive .fb-menu > summary")
    kept: dict[str, Any] = {"id": tab.locator(".fb-alive").get_attribute("id")}
    for words in _FILES:
        with tab.expect_download() as waited:
            tab.click(f".fb-alive .fb-menu button:text-is('{words}')")
        kept[words] = (waited.value.suggested_filename, Path(waited.value.path()).read_bytes())
    kept["texts"] = tab.locator(".fb-alive .fb-stage text").all_text_contents()
    for name, kind in (("title", "says"), ("told", "told"), ("source", "from")):
        kept[name] = tab.locator(f".fb-alive .fb-{kind}").text_content().removesuffix(" #")
    kept["items"] = tab.locator(".fb-alive .fb-menu li").all_inner_texts()
    return kept


@pytest.mark.parametrize("page", _PAGES)
def test_the_state_in_view_is_a_file(surf: Any, base: str, page: str) -> None:
    kept = surf(_files, base, page, accept_downloads=True)
    name, drawn = kept["Picture as SVG"]
    assert name == f"{kept['id']}.svg"
    root = ElementTree.fromstring(drawn)
    texts = [one.text or "" for one in root.iter("{http://www.w3.org/2000/svg}text")]
    title, *rest = texts
    assert title == kept["title"] and rest[: len(kept["texts"])] == kept["texts"]
    below = " ".join(rest[len(kept["texts"]) :])
    assert below == f"{kept['told']} {kept['source']} flopbook, CC-BY-4.0"
    name, sheet = kept["Picture as PNG"]
    assert name == f"{kept['id']}.png" and sheet.startswith(b"\x89PNG")
    name, values = kept["Values as CSV"]
    rows = list(csv.reader(values.decode().splitlines()))
    assert name == f"{kept['id']}.csv" and rows[0] == _HEADS[kept["id"]]
    assert len(rows) > 4 and all(len(row) == len(rows[0]) for row in rows)
    assert "Copy link" in kept["items"][-1]
