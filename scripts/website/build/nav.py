"""The navigation: mkdocs.yml by hand, with chapters, calculators and notebooks put in."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from flopbook.formulas import CATALOGUE, SECTIONS, get_formula
from scripts.website.build.handbook import chapters
from scripts.website.build.notebooks import sources
from scripts.website.pages import practicals

HANDBOOK, CALCULATORS, PRACTICALS = "Handbook", "Calculators", "Practicals"


def filled(nav: list[Any]) -> list[Any]:
    """The navigation with the chapters, the calculators by group, and the notebooks after them."""
    full = copy.deepcopy(nav)
    for section in full:
        if not isinstance(section, dict):
            continue
        if HANDBOOK in section:
            # after the page that opens the handbook
            section[HANDBOOK][1:1] = [{chapter.title: chapter.page} for chapter in chapters()]
        if CALCULATORS in section:
            notebooks = [practicals.PAGE, *_notebooks(sources())]
            section[CALCULATORS] += [*_calculators(), {PRACTICALS: notebooks}]
    return full


def _calculators() -> list[dict[str, list[dict[str, str]]]]:
    return [{title: [_calculator(name) for name in names]} for title, names in SECTIONS.items()]


def _calculator(name: str) -> dict[str, str]:
    return {get_formula(name).title: f"calculators/{name}.md"}


def _notebooks(paths: list[Path]) -> list[dict[str, str]]:
    """Those of calculators in the order of the calculators, then the others by name."""
    stems = {path.stem for path in paths}
    of_calculators = [name for name in CATALOGUE if name in stems]
    others = sorted(stems.difference(CATALOGUE))
    return [{_title(stem): f"notebooks/{stem}.ipynb"} for stem in (*of_calculators, *others)]


def _title(stem: str) -> str:
    if stem in CATALOGUE:
        return f"{get_formula(stem).title}, plotted"
    return stem.replace("-", " ").capitalize().replace("Jax ", "JAX: ")
