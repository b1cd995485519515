"""The files of a form's picture: what it draws as SVG, PNG and CSV."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.forming import open_form

pytestmark = pytest.mark.browser


def _files(context: Any, base: str) -> tuple[str, bytes]:
    tab = open_form(context, base, "min-batch")
    tab.locator(".fb-curve .fb-menu summary").click()
    with tab.expect_download() as got:
        tab.get_by_role("button", name="Values as CSV").click()
    values = Path(got.value.path()).read_text(encoding="utf-8")
    with tab.expect_download() as got:
        tab.get_by_role("button", name="Picture as PNG").click()
    with tab.expect_download() as drawn:
        tab.get_by_role("button", name="Picture as SVG").click()
    said = tab.inner_text(".fb-curve figcaption b")
    texts = re.sub("<[^>]+>", " ", Path(drawn.value.path()).read_text(encoding="utf-8"))
    assert " ".join(said.split()) in " ".join(texts.split()), "what it shows"
    assert "from 36.92" in texts and "calculators/min-batch/" in texts, "its axis and its source"
    return values, Path(got.value.path()).read_bytes()


def test_the_picture_of_a_form_gives_its_files(surf: Any, base: str) -> None:
    """Each point as a line of SI numbers below what they are, and a PNG."""
    values, picture = surf(_files, base, accept_downloads=True)
    head, *lines = values.splitlines()
    assert head.count("(") >= 2 and len(lines) > 20
    assert all(float(x) > 0 and float(y) > 0 for x, y in (line.split(",") for line in lines))
    assert picture.startswith(b"\x89PNG") and len(picture) > 2000


def _kernel_files(context: Any, base: str) -> tuple[list[str], str, int]:
    tab = open_form(context, base, "roofline")
    tab.locator(".fb-curve .fb-menu summary").click()
    with tab.expect_download() as got:
        tab.get_by_role("button", name="Values as CSV").click()
    rows = Path(got.value.path()).read_text(encoding="utf-8").splitlines()
    with tab.expect_download() as got:
        tab.get_by_role("button", name="Picture as SVG").click()
    points = tab.locator(".fb-curve svg circle.fb-ridge").count()
    return rows, Path(got.value.path()).read_text(encoding="utf-8"), points


def test_the_picture_of_kernels_gives_its_files(surf: Any, base: str) -> None:
    """As every figure does: a row for each kernel, and the finding above the picture."""
    (head, *rows), picture, points = surf(_kernel_files, base, accept_downloads=True)
    assert head.startswith("kernel,arithmetic intensity") and len(rows) == points > 1
    assert "kernels wait for memory" in re.sub("<[^>]+>", " ", picture)
