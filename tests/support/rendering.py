"""Pages of prose with their expressions filled, once for all tests of a worker.

Rendering the handbook takes seconds, most of them for its figures. Tests that read it or draw all
figures carry the mark `READS_THE_HANDBOOK`, so that one worker has them all.
"""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from scripts.website.build import handbook
from scripts.website.build.content import _form, _prose
from scripts.website.figures import drawn_of
from scripts.website.figures.drawing import Figure
from scripts.website.pages.prose import render

DOCS = Path(__file__).resolve().parents[2] / "docs"
READS_THE_HANDBOOK = pytest.mark.xdist_group("handbook")


@functools.cache
def rendered(page: str) -> str:
    """A page such as `handbook/fsdp.md` as its author wrote it, with its expressions filled."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return render(text, page, f"docs/{page}", {"form": _form})


def default_figure(name: str) -> Figure:
    """A figure with its defaults, drawn once: pages and panels remember it by the same record."""
    return drawn_of(f'["{name}",{{}}]')


@functools.cache
def text_of(chapter: str) -> str:
    """A chapter such as `fsdp` as its author wrote it, on one line."""
    return " ".join((DOCS / "handbook" / f"{chapter}.md").read_text(encoding="utf-8").split())


@functools.cache
def pages() -> dict[str, str]:
    """Every page of docs/ as the build writes it: chapters with their heads and statements."""
    return dict(_prose([], handbook.chapters(), {}))
