"""The practicals: executed notebooks with summary, running time, chapters and download.

A chapter names its practicals in its head, `practicals: [intensity, min-batch]`. The page of all
practicals, the line at the end of the chapter and the note on the notebook's own page follow from
that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from flopbook.errors import Problem, UnknownName
from scripts.website.markup import (
    Html,
    Markdown,
    attribute,
    front_matter,
    harmless,
    link,
    page_text,
    relative,
)
from scripts.website.pages.chapter import Chapter, front_of
from scripts.website.pages.sources import html_link

PAGE = "notebooks/index.md"
_PACKAGES = {"jax": "JAX", "torch": "PyTorch"}
_LINE = re.compile(r"^practicals:(.*)$", re.M)
# The names, and nothing that YAML would read as something else.
_LIST = re.compile(r"\s*\[[\w\s,-]*\]\s*")
_HEADING = re.compile(r"^# (.+?)\s*$", re.M)


class Practical(NamedTuple):
    """What is known of a notebook.

    `executed` says whether it was run; `extra` names packages that it needs.
    """

    name: str
    title: str
    summary: str
    executed: bool
    extra: str = ""

    @property
    def page(self) -> str:
        """Where it stands in the content."""
        return f"notebooks/{self.name}.ipynb"


def practical_of(name: str, notebook: str) -> Practical:
    """What an executed notebook, as JSON text, says in its heading and first paragraph."""
    record = json.loads(notebook)
    cells = [cell for cell in record["cells"] if cell["cell_type"] == "markdown"]
    texts = ("".join(cell["source"]) for cell in cells)
    opening = next((text for text in texts if _HEADING.search(text)), f"# {name}")
    title, _, body = opening.partition("# ")[2].partition("\n")
    summary = " ".join(body.strip().partition("\n\n")[0].split())
    metadata = record["metadata"].get("flopbook", {})
    executed, extra = bool(metadata.get("executed")), metadata.get("extra", "")
    return Practical(name, title.strip(), summary, executed, extra)


def name_problems(text: str, file: str, notebooks: Iterable[str]) -> list[Problem]:
    """What is wrong with the practicals that a chapter names, with file and line."""
    head = front_of(text)
    match = _LINE.search(head)
    if match is None:
        return []
    # The head begins behind the first line, `---`.
    line = head[: match.start()].count("\n") + 1
    expected = "names of notebooks in brackets"
    if not _LIST.fullmatch(match[1]):
        hint = "write practicals: [min-batch]"
        return [Problem(file, line, 1, "practicals", f"'{match[1].strip()}'", expected, hint)]
    names = tuple(notebooks)
    problems = []
    for word in re.finditer(r"[\w-]+", match[1]):
        if word[0] not in names:
            message = str(UnknownName("practical", word[0], names))
            column = len("practicals:") + word.start() + 1
            hint = "correct the name, or add the notebook"
            problems.append(Problem(file, line, column, "practicals", message, expected, hint))
    return problems


def closing(chapter: Chapter, notebooks: Mapping[str, Practical]) -> str:
    """The last line of a chapter: its practicals as one more list item; empty without any."""
    practicals = [notebooks[name] for name in chapter.practicals if name in notebooks]
    if not practicals:
        return ""
    links = Markdown(", ").join(_notebook_link(practical, chapter.page) for practical in practicals)
    return str(Markdown("- To run yourself: {}.").format(links))


def _notebook_link(practical: Practical, page: str) -> Html:
    return Markdown("[{}]({})").format(practical.title, relative(page, practical.page))


def practicals_page(practicals: Sequence[Practical], chapters: Sequence[Chapter]) -> str:
    """All practicals by the first chapter that names them, those of no chapter at the end."""
    # Backwards, so that the first chapter that names a practical is the one that stays.
    home = {name: chapter for chapter in reversed(chapters) for name in chapter.practicals}
    blocks = [
        front_matter(
            "Practicals",
            "Notebooks that compute, measure and check what the handbook says, ready to download.",
        ),
        Markdown("# Practicals\n"),
        Markdown(
            "Each practical is a notebook that ends by asserting what it has claimed. It was "
            "executed when this site was built, unless it says otherwise. Read it here, or "
            "download it and run it yourself: it needs flopbook, NumPy and matplotlib, JAX where "
            "it says so, and no accelerator. Measurements that a page shows were recorded once, "
            "with machine and date.\n"
        ),
    ]
    for chapter in [*chapters, None]:
        group = sorted(practical for practical in practicals if home.get(practical.name) == chapter)
        if not group:
            continue
        blocks.append(Markdown("## {}\n").format(_chapter_title(chapter)))
        for practical in group:
            also_in = [c for c in chapters if practical.name in c.practicals and c != chapter]
            blocks.append(_entry(practical, also_in))
    return page_text(blocks)


def _chapter_title(chapter: Chapter | None) -> Html:
    if chapter is None:
        return Markdown("Others")
    return Markdown("[{}]({})").format(chapter.title, relative(PAGE, chapter.page))


def _entry(practical: Practical, also_in: Sequence[Chapter]) -> Html:
    """A practical: its title and summary, and the facts in a line below."""
    facts: list[str] = ["executed" if practical.executed else "not executed here"]
    if practical.extra:
        facts.append(f"needs {_PACKAGES.get(practical.extra, practical.extra)}")
    for chapter in also_in:
        chapter_link = link(chapter.title, html_link(PAGE, chapter.page))
        facts.append(Html("also in {}").format(chapter_link))
    download = Html('<a href="{0}/{0}.ipynb" download>download {1}.ipynb</a>').format(
        attribute(practical.name), practical.name
    )
    return Markdown('### {}\n\n{}\n\n<p class="fb-note">{}</p>\n').format(
        _notebook_link(practical, PAGE),
        harmless(practical.summary),
        Html(" · ").join([*facts, download]),
    )
