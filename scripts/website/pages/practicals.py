"""The practicals: executed notebooks, with what each shows, how long it ran, its chapters, and the
file to download.

A chapter names its practicals in its head, `practicals: [intensity, min-batch]`. The page of all
practicals, the line at the end of the chapter and the note on the notebook's own page follow from
that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from flopbook.drawing.markup import escape, front_matter, inline, link, relative
from flopbook.errors import Problem, UnknownName
from flopbook.quantities.units import format_quantity
from scripts.website.pages.chapter import Chapter
from scripts.website.pages.sources import html_link

PAGE = "notebooks/index.md"
_LINE = re.compile(r"^practicals:(.*)$", re.M)
_LIST = re.compile(r"\s*\[[\w\s,-]*\]\s*")
_HEADING = re.compile(r"^# (.+?)\s*$", re.M)


class Practical(NamedTuple):
    """What is known of a notebook.

    `seconds` is None where it was not run; `extra` names packages that it needs.
    """

    name: str
    title: str
    summary: str
    seconds: float | None
    extra: str = ""

    @property
    def page(self) -> str:
        """Where it stands in the content."""
        return f"notebooks/{self.name}.ipynb"


def practical_of(name: str, notebook: str) -> Practical:
    """What an executed notebook, as JSON text, says of itself: its heading and the paragraph below
    it.
    """
    record = json.loads(notebook)
    texts = ("".join(cell["source"]) for cell in record["cells"] if cell["cell_type"] == "markdown")
    opening = next((text for text in texts if _HEADING.search(text)), f"# {name}")
    title, _, rest = opening.partition("# ")[2].partition("\n")
    summary = " ".join(rest.strip().partition("\n\n")[0].split())
    more = record["metadata"].get("flopbook", {})
    return Practical(name, title.strip(), summary, more.get("seconds"), more.get("extra", ""))


def name_problems(text: str, file: str, known: Iterable[str]) -> list[Problem]:
    """What is wrong with the practicals that a chapter names, with file and line."""
    names, head = tuple(known), text.split("---", 2)[1] if text.startswith("---\n") else ""
    found = _LINE.search(head)
    if found is None:
        return []
    line = head[: found.start()].count("\n") + 1
    wanted = "names of notebooks in brackets"
    if not _LIST.fullmatch(found[1]):
        return [
            Problem(
                file,
                line,
                1,
                "practicals",
                f"'{found[1].strip()}'",
                wanted,
                "write practicals: [min-batch]",
            )
        ]
    problems = []
    for word in re.finditer(r"[\w-]+", found[1]):
        if word[0] not in names:
            why = str(UnknownName("practical", word[0], names))
            column = len("practicals:") + word.start() + 1
            problems.append(
                Problem(
                    file,
                    line,
                    column,
                    "practicals",
                    why,
                    wanted,
                    "mend the name, or add the notebook",
                )
            )
    return problems


def closing(chapter: Chapter, known: Mapping[str, Practical]) -> str:
    """The last line of a chapter: its practicals, as one more item of the list there; empty where
    it has none.
    """
    found = [known[name] for name in chapter.practicals if name in known]
    links = ", ".join(f"[{inline(one.title)}]({relative(chapter.page, one.page)})" for one in found)
    return f"- To run yourself: {links}." if found else ""


def practicals_page(practicals: Sequence[Practical], chapters: Sequence[Chapter]) -> str:
    """All practicals by the first chapter that names them, those of no chapter at the end."""
    home = {name: one for one in reversed(chapters) for name in one.practicals}
    lines = [
        front_matter(
            "Practicals",
            "Notebooks that compute, measure and check what the handbook says, ready to take away.",
        ),
        "# Practicals\n",
        "Each practical is a notebook that ends with assertions of its own claims. It was executed when this site was "
        "built, unless it says otherwise. Read it here, or download it and run it yourself: it needs flopbook, NumPy "
        "and matplotlib, JAX where it says so, and no accelerator. The times are those of the machine that built the "
        "site.\n",
    ]
    for chapter in [*chapters, None]:
        group = sorted(one for one in practicals if home.get(one.name) == chapter)
        if group:
            title = (
                f"[{inline(chapter.title)}]({relative(PAGE, chapter.page)})"
                if chapter
                else "Others"
            )
            lines.append(f"## {title}\n")
            lines += [
                _item(one, [c for c in chapters if one.name in c.practicals and c != chapter])
                for one in group
            ]
    return "\n".join(lines)


def _item(one: Practical, others: Sequence[Chapter]) -> str:
    file = f"{one.name}/{one.name}.ipynb"
    facts = [
        f"ran in {format_quantity(one.seconds, 's')}"
        if one.seconds is not None
        else "not executed here"
    ]
    facts += [f"needs {one.extra.upper()}"] if one.extra else []
    facts += [f"also in {link(c.title, html_link(PAGE, c.page))}" for c in others]
    facts.append(f'<a href="{escape(file)}" download>download {escape(one.name)}.ipynb</a>')
    return (
        f"### [{inline(one.title)}]({relative(PAGE, one.page)})\n\n{inline(one.summary)}\n\n"
        f'<p class="fb-note">{" · ".join(facts)}</p>\n'
    )
