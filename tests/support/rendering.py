"""Pages of prose with their expressions filled, once for all tests of a worker.

Rendering the handbook takes seconds. Tests that read it carry the mark `READS_THE_HANDBOOK`, so
that one worker has them all.
"""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from scripts.website.build import handbook
from scripts.website.build.content import _form, _prose
from scripts.website.pages.prose import render

DOCS = Path(__file__).resolve().parents[2] / "docs"
READS_THE_HANDBOOK = pytest.mark.xdist_group("handbook")


@functools.cache
def rendered(page: str) -> str:
    """A page such as `handbook/fsdp.md` as its author wrote it, with its expressions filled."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return render(text, page, f"docs/{page}", {"form": _form})


@functools.cache
def text_of(chapter: str) -> str:
    """A chapter such as `fsdp` as its author wrote it, on one line."""
    return " ".join((DOCS / "handbook" / f"{chapter}.md").read_text(encoding="utf-8").split())


@functools.cache
def pages() -> dict[str, str]:
    """Every page of docs/ as the build writes it: chapters with their heads and statements."""
    return dict(_prose([], handbook.chapters(), {}))
