"""Where the values of a figure are from, read off its code: calculators, chips, models, runs."""

from __future__ import annotations

import ast
import functools
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from flopbook.data.library import reference, references
from flopbook.formulas import formulas
from scripts.website.markup import Html, link
from scripts.website.measured.loop_timings import made_with
from scripts.website.pages.sources import home_topic, html_link, topic_page

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


class Origin(NamedTuple):
    """What values are from: its words, the page that has it, and the class of its link."""

    words: str
    target: str = ""
    kind: str = ""

    def markup(self, page: str) -> Html:
        """The words, with the link of a page that leads there."""
        if not self.target:
            return Html.escape(self.words)
        return link(self.words, html_link(page, self.target), self.kind)


class SourceLine(NamedTuple):
    """The line below a figure: what its values are from, and when that was read."""

    origins: tuple[Origin, ...]
    read: str = ""

    @property
    def text(self) -> str:
        """The line in plain words, for files."""
        words = ", ".join(origin.words for origin in self.origins)
        return f"Source: {words}{self.read}."

    def markup(self, page: str) -> Html:
        """The line as a page has it, with links."""
        linked = Html(", ").join(origin.markup(page) for origin in self.origins)
        return Html("Source: {}{}.").format(linked, self.read)


def source_line(path: Path, work: str = "") -> SourceLine:
    """The source line of the figure whose code lies here.

    `work` is the key of the one that it is drawn from, besides what its code names.
    """
    names = _names_of(path)
    if "loop_timings" in names:
        return SourceLine((Origin(f"timed here; {made_with()}"),))
    data = [Origin(*_DATA[name]) for name in sorted(names & _DATA.keys())]
    if work:
        key = reference(work)
        data.insert(0, Origin(key.short, f"{topic_page(home_topic(key))}#{work}", "fb-cite"))
    calculators = sorted({name.replace("_", "-") for name in names} & set(formulas()))
    computed = [Origin(f"calculator {name}", f"calculators/{name}.md") for name in calculators[:3]]
    if "simulate" in names:
        computed.append(Origin("schedules, run pass by pass", "calculators/bubble.md"))
    if "predict" in names:
        computed.append(Origin("prediction of a step", "handbook/prediction.md"))
    origins = tuple(dict.fromkeys([*data, *computed]))
    if not origins:
        return SourceLine((Origin("drawn from its definition"),))
    return SourceLine(origins, f", as read by {newest_reading()}" if data else "")


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
