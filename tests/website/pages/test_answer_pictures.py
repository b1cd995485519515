"""Pictures of answers on pages: every calculator that draws has its section, no other has one."""

from __future__ import annotations

import pytest

from flopbook.drawing.pictures import DRAWINGS
from flopbook.formulas import formulas
from scripts.website.pages.answer_pictures import picture_section
from scripts.website.pages.calculators import calculator_markdown


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_calculator_that_draws_shows_it_on_its_page(name: str) -> None:
    section = picture_section(name)
    assert section[0].startswith("## ") and any("<svg" in block for block in section)
    assert all(block in calculator_markdown(name) for block in section)


def test_a_calculator_without_pictures_has_no_section() -> None:
    assert not any(picture_section(name) for name in formulas() if name not in DRAWINGS)
