"""Topic pages: an introduction, where to start, the works by year, sub-topics; and the overview of
all topics.
"""

from __future__ import annotations

from itertools import groupby

from flopbook.data.library import library, load_entry, references, topics
from flopbook.data.references import Reference
from flopbook.data.topics import Topic
from flopbook.drawing.markup import front_matter, inline, plain, relative
from flopbook.errors import show_path
from flopbook.evaluation.answers import counted
from flopbook.formulas import get_formula
from scripts.website.pages import news, works
from scripts.website.pages.accelerators import entry_page
from scripts.website.pages.calculators import calculator_page
from scripts.website.pages.feeds import feed_file
from scripts.website.pages.prose import render
from scripts.website.pages.sources import (
    all_topics,
    full_reference,
    html_link,
    newest_first,
    short_line,
    topic_page,
)

INDEX = "references/index.md"


def on_topic(topic: Topic) -> list[Reference]:
    """What stands on a topic itself, newest first: works and sources of values."""
    return newest_first(item for item in references().values() if topic.id in item.topics)


def index_page() -> str:
    """The tree of topics with counts."""
    count = sum(item.is_work for item in references().values())
    lines = [
        front_matter(
            "References",
            "Works on parallelism and hardware, by topic, with notes and BibTeX.",
            feed=feed_file(),
        ),
        "# References\n",
        f"{count:,} works by topic, each with a sentence of ours on what it shows and when to read it, and with BibTeX "
        f"to copy. Beside them {counted(len(references()) - count, 'source')} of values.\n",
        f"- [All works](works.md), to filter, search and export\n- [What is new](new.md), by month\n"
        f"- All in one file: [references.bib]({relative(INDEX, 'api/v1/references.bib')})\n",
        "## Topics\n",
        "The number of works follows each topic; those of its parts are counted with it, and once.\n",
    ]
    for top in topics():
        lines += _tree_lines(top, 0)
    return "\n".join(lines) + "\n"


def _tree_lines(topic: Topic, depth: int) -> list[str]:
    names = {one.id for one in topic.walk()}
    count = sum(
        item.is_work and not names.isdisjoint(item.topics) for item in references().values()
    )
    own = f"{'    ' * depth}- [{inline(topic.title)}]({topic.id}.md) ({count})"
    return [own, *(line for child in topic.children for line in _tree_lines(child, depth + 1))]


def introduction(topic: Topic) -> str:
    """The introduction with its expressions filled in, as Markdown.

    Raises ProseError with the place.
    """
    file = show_path(library().bibliography / "topics.yaml")
    text = render(topic.intro.strip(), topic_page(topic.id), file, first_line=topic.line)
    # Each paragraph on one line, so that no word at the start of a line is taken for a mark of a
    # list.
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def topic_markdown(topic: Topic) -> str:
    """One topic."""
    page, intro, found = topic_page(topic.id), introduction(topic), on_topic(topic)
    own = [item for item in found if item.is_work]
    lines = [
        front_matter(f"{topic.title}: references", plain(intro), feed=feed_file(topic.id)),
        f"# {inline(topic.title)}\n",
        _above(topic),
        f"{intro}\n",
        *_parts(topic),
        *_list("Start here", [short_line(references()[key], page) for key in topic.start_here]),
        *_list("Compute it", [_calculator(name, page) for name in topic.calculators]),
        *_list("Accelerators to look at", [_chip(name, page) for name in topic.chips]),
        *(_works(topic, own, page) if own else []),
        *_sources([item for item in found if not item.is_work], page),
    ]
    if not found and not topic.children:
        lines.append(
            "No work of this topic is recorded yet. "
            f"[Adding one]({relative(page, 'contributing/index.md')}) takes one BibTeX entry.\n"
        )
    return "\n".join(lines)


def _above(topic: Topic) -> str:
    """The way to this page: the overview, then the topics that this one is a part of."""
    over = [one for one in all_topics() if one.id != topic.id and topic in one.walk()]
    steps = ["[References](index.md)", *(f"[{inline(one.title)}]({one.id}.md)" for one in over)]
    return f"{' / '.join(steps)}\n"


def _parts(topic: Topic) -> list[str]:
    if not topic.children:
        return []
    return [
        "## Parts of this topic\n",
        *(line for child in topic.children for line in _tree_lines(child, 0)),
        "",
    ]


def _list(title: str, rows: list[str]) -> list[str]:
    return [f"## {title}\n", *(f"- {row}" for row in rows), ""] if rows else []


def _calculator(name: str, page: str) -> str:
    formula = get_formula(name)
    return f"[{inline(formula.title)}]({relative(page, calculator_page(name))}): {inline(formula.question)}"


def _chip(name: str, page: str) -> str:
    entry = load_entry(name)
    return f"[{inline(entry.name)}]({relative(page, entry_page(name))}): {inline(entry.summary)}"


def _works(topic: Topic, items: list[Reference], page: str) -> list[str]:
    search = f"{html_link(page, works.PAGE)}?topic={topic.id}"
    lines = [
        "## Works\n",
        f"{counted(len(items), 'work')}, newest first. "
        f'<a href="{search}">Filter, search and export them</a>, or follow the '
        f'<a href="{html_link(page, feed_file(topic.id))}">feed of this topic</a>.\n',
    ]
    for year, group in groupby(items, key=lambda item: item.year):
        lines += [f"### {year}\n", *(full_reference(item, page) + "\n" for item in group)]
    return lines


def _sources(items: list[Reference], page: str) -> list[str]:
    if not items:
        return []
    said = f"{counted(len(items), 'page')} from which values on this site were read. They are here to be checked.\n"
    return ["## Sources of values\n", said, *(full_reference(item, page) + "\n" for item in items)]


def pages() -> dict[str, str]:
    """Content path -> text of the overview, of all works, of what is new, and of every topic."""
    found = {INDEX: index_page(), news.PAGE: news.new_page(), works.PAGE: works.works_page()}
    found |= {works.SOURCES: works.sources_page()}
    return found | {topic_page(topic.id): topic_markdown(topic) for topic in all_topics()}
