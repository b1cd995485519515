"""The navigation: mkdocs.yml by hand, with chapters, calculators and notebooks put in from where
they are listed.
"""

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
    """The navigation with the chapters, a section for each group of calculators, and the notebooks
    after them.
    """
    made = copy.deepcopy(nav)
    for item in made:
        if isinstance(item, dict) and HANDBOOK in item:
            item[HANDBOOK][1:1] = [
                {one.title: one.page} for one in chapters()
            ]  # after the page that opens it
        if isinstance(item, dict) and CALCULATORS in item:
            item[CALCULATORS] += [
                *_sections(),
                {PRACTICALS: [practicals.PAGE, *_notebooks(sources())]},
            ]
    return made


def _sections() -> list[dict[str, list[dict[str, str]]]]:
    return [
        {title: [{get_formula(name).title: f"calculators/{name}.md"} for name in names]}
        for title, names in SECTIONS.items()
    ]


def _notebooks(paths: list[Path]) -> list[dict[str, str]]:
    """Those of calculators in the order of the calculators, then the others by name."""
    order = list(CATALOGUE)
    stems = sorted(
        (path.stem for path in paths),
        key=lambda s: (order.index(s) if s in order else len(order), s),
    )
    return [
        {f"{_title(stem)}, plotted" if stem in order else _title(stem): f"notebooks/{stem}.ipynb"}
        for stem in stems
    ]


def _title(stem: str) -> str:
    if stem in CATALOGUE:
        return get_formula(stem).title
    return stem.replace("-", " ").capitalize().replace("Jax ", "JAX: ")
