"""The small site of binding.py, written where a test may break it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from scripts import build_book
from scripts.website.book import making
from tests.support.binding import CHAPTERS, KNOWN, PAGES, write


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


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The small book, without a browser: what is tested is the command."""
    monkeypatch.setattr(build_book, "ensure_browser", lambda: Path("/no/browser"))
    monkeypatch.setattr(making, "gathered", lambda site: (KNOWN, making.joined(site, CHAPTERS)))
    monkeypatch.setattr(making, "paper", lambda html, browser: (b"%PDF", 7))
