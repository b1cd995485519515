"""Heads of pages and notebooks by chance: anchors, tags, nesting, sizes and characters.

Lint says in one line each what is wrong with a head. What it lets through, every reader of the site
takes, soon and without a traceback.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from flopbook.checks.rules.pageheads import extra_in_head, head_problems
from flopbook.errors import DataError, FlopbookError
from scripts.attack.campaign import Attempt, Campaign
from scripts.attack.hostile import text_of
from scripts.website.build import notebooks
from scripts.website.build.heads import head_and_body
from scripts.website.build.twins import listing
from scripts.website.pages.chapter import chapter_of

NAME = "heads"
_PAGES, _NOTEBOOKS = 6_000, 2_000
_LONGEST_S = 5.0  # of processor time
_LONGEST_LINE = 400
_SHOWN = 200  # characters of a head that failed
_DOUBLED = "\n".join(f"x{n}: &a{n + 1} [*a{n}, *a{n}, *a{n}, *a{n}]" for n in range(40))
# Single lines and whole nests of them, some of which a reader takes for what they are not.
_LINES = (
    *("title: A", "description: What it is.", "order: 3", "practicals: [a, b]", "hide:\n  - toc"),
    *("jupyter:", "  flopbook:", "    extra: jax", "    extra: none", "jupyter: {flopbook: {}}"),
    *("  kernelspec: 3", "  jupytext: {formats: 3}", "  language_info: [x]", "jupyter: [x]"),
    *("  jupytext:\n    text_representation: {format_version: '99'}", "  widgets: {a: {b: 1}}"),
    *("a: &a [x]", "b: *a", "<<: *a", "x: &a [*a]", f"y: &a0 [x]\n{_DOUBLED}", "? {a: b}\n: c"),
    *("x: !!python/object/apply:os.system [id]", "!!binary aGk=: x", "title: !!str A", "x: ! 1"),
    *(f"x: {'[' * 3_000}", f"x: {'{a: ' * 900}", f"x: {'[' * 11}{']' * 11}", "- a", "words"),
    *(f"title: {'9' * 5_000}", f"order: {'9' * 5_000}", "order: \u00b2", f"x: {'y' * 200_000}"),
    *("title: \x1b[2J", "title: \x00", "title: \u202eA", "title: \ud800", "\ufefftitle: A"),
    *("title: A\ntitle: B", "title: 'open", 'title: "\\', "title: |\n  a\n b", "\ttitle: A", "%"),
    *("title: 2026-02-30", "title: .inf", "title: 1e999", "title: 0o8", "title: ~", "title:"),
    *("...", "---", "--- x", "# ---", "# comment", "", " ", "%YAML 9.9", "title: <script>"),
)
_ENDS = ("---", "--- ", "...", "---\t", "", "----")
_ABOVE = ("", "", "", "#!/usr/bin/python\n", "# coding: utf-8\n", "# coding: latin-1\n", "#\n")
_LINE_ENDS = ("\n", "\n", "\n", "\r\n", "\r")


def attack(campaign: Campaign) -> Iterator[Attempt]:
    """Pages, then notebooks, each with a head of a few lines."""
    rng = campaign.rng
    for _ in range(campaign.count(_PAGES)):
        page = f"---\n{_head(rng)}\n{rng.choice(_ENDS)}\n\n# A\n\nText.\n\n---\n\nMore.\n"
        page = page.replace("\n", rng.choice(_LINE_ENDS))
        yield Attempt(repr(page[:_SHOWN]), _timed(page_fault, page))
    path = campaign.folder / "attack.py"
    for _ in range(campaign.count(_NOTEBOOKS)):
        lines = "\n".join(f"# {line}" for line in f"---\n{_head(rng)}\n---".split("\n"))
        text = f"{rng.choice(_ABOVE)}{lines}\n\n# %% [markdown]\n# # A\n\n# %%\n1\n"
        path.write_bytes(text.encode("utf-8", errors="surrogatepass"))
        yield Attempt(repr(text[:_SHOWN]), _timed(notebook_fault, path))


def _head(rng: random.Random) -> str:
    lines = rng.choices(_LINES, k=rng.randint(1, 6))
    if rng.random() < 0.3:
        lines.insert(rng.randint(0, len(lines)), f"title: {text_of(rng)}")
    return "\n".join(lines)


def _timed(fault_of: Callable[[Any], str], given: object) -> str:
    """What is wrong, a traceback or a long time among it."""
    begun = time.process_time()
    try:
        fault = fault_of(given)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    seconds = time.process_time() - begun
    return f"took {seconds:.1f} s" if seconds > _LONGEST_S else fault


def page_fault(page: str) -> str:
    """What is wrong with what lint says of a page, or with what readers make of it."""
    from mkdocs.utils.meta import get_data

    if problems := list(head_problems(page, "docs/attack.md")):
        return _told(map(str, problems))
    text = page.replace("\r\n", "\n").replace("\r", "\n")
    chapter_of(text, "handbook/attack.md")
    listing({"handbook/attack.md": text.encode("utf-8", errors="replace")})
    head, _ = head_and_body(text)
    read = get_data(text.removeprefix("\ufeff"))[1]
    return "" if not head or read.keys() == head.keys() else f"MkDocs reads {sorted(read)}"


def notebook_fault(path: Path) -> str:
    """What is wrong with what is said of a notebook, or made of it."""
    try:
        extra_in_head(path)
    except DataError as error:
        return _told(str(error).split("\n"))
    try:
        notebooks.finished(notebooks.read(path), path.stem)
    except (notebooks.NotebookError, FlopbookError) as error:
        return _told(str(error).split("\n"))
    return ""


def _told(lines: Iterator[str] | list[str]) -> str:
    """The first line of a message that is too long, or drives a terminal."""
    odd = (line for line in lines if not line.isprintable() or len(line) > _LONGEST_LINE)
    return next((f"says {line[:_SHOWN]!r}" for line in odd), "")
