"""The small site of binding.py, written where a test may break it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.binding import PAGES, write


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """The small site."""
    for page, article in PAGES.items():
        write(tmp_path / "site", page, article)
    return tmp_path / "site"


@pytest.fixture
def page(small: Path) -> Callable[[str, str], None]:
    """Replaces a page of the small site."""
    return lambda name, article: write(small, name, article)
