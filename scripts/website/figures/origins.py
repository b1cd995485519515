"""Where the values of a figure are from, read off its code: calculators, chips, models, runs."""

from __future__ import annotations

import ast
import functools
from datetime import UTC, datetime
from pathlib import Path

from flopbook.data.library import references
from flopbook.formulas import formulas
from scripts.website.markup import Html, link
from scripts.website.measured.loop_timings import made_with
from scripts.website.pages.sources import cite, html_link

# What a module imports or calls -> the words for its data, and the page that lists them.
_DATA = {
    "chip": ("chips", "accelerators/index.md"),
    "find_chip": ("chips", "accelerators/index.md"),
    "load_entry": ("chips", "accelerators/index.md"),
    "scatter": ("chips", "accelerators/index.md"),
    "explorer": ("chips", "accelerators/index.md"),
    "shape": ("models", "models.md"),
    "load_model": ("models", "models.md"),
    "reached": ("measured runs", "reached.md"),
    "measured": ("measured runs", "reached.md"),
    "run_files": ("measured runs", "reached.md"),
    "sound_lines": ("measured runs", "reached.md"),
    "hbm_bandwidth": ("measured runs", "reached.md"),
    "comparisons": ("measured runs", "reached.md"),
    "matmul_share": ("measured runs", "reached.md"),
    "planner": ("the planner", "planner.md"),
    "asking": ("the planner", "planner.md"),
    "row": ("published claims", "claims.md"),
    "rows": ("published claims", "claims.md"),
    "ledger": ("published claims", "claims.md"),
}


def source_words(path: Path, page: str, work: str = "") -> Html:
    """The source line of the figure whose code lies here, for a page.

    `work` is the key of the one that it is drawn from, besides what its code names.
    """
    names = _names_of(path)
    if "loop_timings" in names:
        return Html("Source: timed here; {}.").format(made_with())
    folders = dict.fromkeys(_DATA[name] for name in sorted(names & _DATA.keys()))
    parts = [cite(work, page)] if work else []
    parts += [link(words, html_link(page, target)) for words, target in folders]
    formula_names = set(formulas())
    calculators = sorted({name.replace("_", "-") for name in names} & formula_names)
    parts += [
        link(f"calculator {name}", html_link(page, f"calculators/{name}.md"))
        for name in calculators[:3]
    ]
    if "simulate" in names:
        parts.append(link("schedules, run pass by pass", html_link(page, "calculators/bubble.md")))
    if "predict" in names:
        parts.append(link("prediction of a step", html_link(page, "handbook/prediction.md")))
    if not parts:
        return Html("Source: drawn from its definition.")
    read = Html(", as read by {}").format(newest_reading()) if folders or work else Html()
    return Html("Source: {}{}.").format(Html(", ").join(parts), read)


@functools.cache
def newest_reading() -> str:
    """The day of the newest reading of a source."""
    days = [work.urldate for work in references().values() if work.urldate]
    day = datetime.fromisoformat(max(days, default="2026-01-01")).replace(tzinfo=UTC)
    return f"{day:%Y-%m-%d}"


@functools.cache
def _names_of(path: Path) -> frozenset[str]:
    """Names that a module imports, and the words that it gives to calls: `calculate("memory")`."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names.update(alias.name for alias in node.names)
            names.update(node.module.split(".")[1:])
        if isinstance(node, ast.Call):
            words = (
                constant.value for constant in node.args[:1] if isinstance(constant, ast.Constant)
            )
            names.update(word for word in words if isinstance(word, str))
    return frozenset(names)
