"""The navigation: mkdocs.yml by hand, with chapters, calculators and notebooks put in."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

from flopbook.data.files import read_text
from flopbook.formulas import CATALOGUE, SECTIONS, get_formula
from scripts.website.build.handbook import chapters
from scripts.website.build.notebooks import sources
from scripts.website.pages import practicals
from scripts.website.pages.chapter import Chapter

_HEADING = re.compile(r"^# # (.+)$", re.M)  # of a notebook in percent format
LEARN, CALCULATE, PRACTICALS = "Learn", "Calculate", "Practicals"
# Chapters in the menu by the words that people look for them with.
MENU = {
    "handbook/data-parallelism.md": "Data parallelism (DP)",
    "handbook/fsdp.md": "FSDP and ZeRO",
    "handbook/tensor-parallelism.md": "Tensor and sequence parallelism (TP, SP)",
    "handbook/mixed-parallelism.md": "FSDP and TP together",
    "handbook/pipeline-parallelism.md": "Pipeline parallelism (PP)",
    "handbook/expert-and-context-parallelism.md": "Expert parallelism (EP)",
    "handbook/context-parallelism.md": "Context parallelism (CP)",
}


def filled(nav: list[Any]) -> list[Any]:
    """The navigation with the chapters, the notebooks, and the calculators by group."""
    full = copy.deepcopy(nav)
    for section in full:
        if not isinstance(section, dict):
            continue
        if LEARN in section:
            # after the page that opens the handbook
            section[LEARN][1:1] = [{_in_menu(chapter): chapter.page} for chapter in chapters()]
            section[LEARN].append({PRACTICALS: [practicals.PAGE, *_notebooks(sources())]})
        if CALCULATE in section:
            section[CALCULATE] += _calculators()
    return full


def _in_menu(chapter: Chapter) -> str:
    return MENU.get(chapter.page, chapter.title)


def _calculators() -> list[dict[str, list[dict[str, str]]]]:
    return [{title: [_calculator(name) for name in names]} for title, names in SECTIONS.items()]


def _calculator(name: str) -> dict[str, str]:
    return {get_formula(name).title: f"calculators/{name}.md"}


def _notebooks(paths: list[Path]) -> list[dict[str, str]]:
    """Those of calculators in the order of the calculators, then the others by name."""
    path_of = {path.stem: path for path in paths}
    of_calculators = [name for name in CATALOGUE if name in path_of]
    unlisted = sorted(path_of.keys() - CATALOGUE.keys())
    stems = (*of_calculators, *unlisted)
    return [{_title(path_of[stem]): f"notebooks/{stem}.ipynb"} for stem in stems]


def _title(path: Path) -> str:
    """What the menu calls a notebook: its heading up to the question that it asks."""
    if path.stem in CATALOGUE:
        return f"{get_formula(path.stem).title}, plotted"
    heading = _HEADING.search(read_text(path))
    return heading[1].partition(": ")[0] if heading else path.stem
