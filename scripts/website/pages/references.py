"""Topic pages with introduction, first reading, works and sub-topics; the overview of topics."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

from flopbook.data.library import library, load_entry, references, topics
from flopbook.data.reference import Reference
from flopbook.data.topics import Topic
from flopbook.errors import show_path
from flopbook.evaluation.answers import counted
from flopbook.formulas import get_formula
from scripts.website.markup import (
    Html,
    Markdown,
    attribute,
    front_matter,
    harmless,
    page_text,
    plain,
    relative,
    trusted,
)
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
_EXPRESSION = re.compile(r"(\{\{.*?\}\})", re.DOTALL)


def pages() -> dict[str, str]:
    """Content path -> text of the overview, of all works, of what is new, and of every topic."""
    texts = {
        INDEX: index_page(),
        news.PAGE: news.new_page(),
        works.PAGE: works.works_page(),
        **works.earlier_pages(),
        works.SOURCES: works.sources_page(),
    }
    return texts | {topic_page(topic.id): topic_markdown(topic) for topic in all_topics()}


# The overview.


def index_page() -> str:
    """The topics with a sentence each, their parts, and the number of works of both."""
    count = sum(work.is_work for work in references().values())
    blocks = [
        front_matter(
            "References",
            "Works on parallelism and hardware, by topic, with notes and BibTeX.",
            feed=feed_file(),
        ),
        Markdown("# References\n"),
        Markdown(
            "{:,} works by topic, each with a note on what it shows and when to read "
            "it, and with BibTeX to copy, plus {} of values.\n"
        ).format(count, counted(len(references()) - count, "source")),
        Markdown(
            "- [All works](works.md), to filter, search and export\n"
            "- [What is new](new.md), by month\n"
            "- All in one file: [references.bib]({})\n"
        ).format(relative(INDEX, "api/v1/references.bib")),
        Markdown("## Topics\n"),
        Markdown(
            "Each topic is followed by its number of works. Those of its parts are included, and a "
            "work in several parts counts once.\n"
        ),
    ]
    for top in topics():
        blocks += _group(top)
    return page_text(blocks)


def _group(topic: Topic) -> list[Html]:
    """A topic at the top of the tree: a heading, what it is about, and a line of its parts."""
    blocks: list[Html] = [Markdown("### {}\n").format(_counted_link(topic))]
    if topic.about:
        blocks.append(Markdown("{}\n").format(topic.about))
    parts = [_counted_link(part) for part in topic.walk() if part is not topic]
    if parts:
        line = Markdown(" · ").join(parts)
        blocks.append(Markdown("{}\n{{: .fb-fine }}\n").format(line))
    return blocks


def _counted_link(topic: Topic) -> Html:
    """A topic with the number of works of it and of all below it."""
    ids = {subtopic.id for subtopic in topic.walk()}
    count = sum(work.is_work and not ids.isdisjoint(work.topics) for work in references().values())
    return Markdown("[{}]({}.md) ({})").format(topic.title, attribute(topic.id), count)


def _tree_lines(topic: Topic, depth: int) -> list[Html]:
    """A topic and those below it, with the number of works of each."""
    line = Html("    " * depth) + Markdown("- {}").format(_counted_link(topic))
    lines = [line]
    for child in topic.children:
        lines += _tree_lines(child, depth + 1)
    return lines


# One topic.


def on_topic(topic: Topic) -> list[Reference]:
    """What stands on a topic itself, newest first: works and sources of values."""
    return newest_first(work for work in references().values() if topic.id in work.topics)


def introduction(topic: Topic) -> str:
    """The introduction with its expressions filled in, as Markdown.

    Raises ProseError with the place.
    """
    file = show_path(library().bibliography / "topics.yaml")
    source = _outside_expressions(topic.intro.strip())
    text = render(source, topic_page(topic.id), file, first_line=topic.line)
    # Each paragraph on one line, so that no word at the start of a line is taken for a mark of a
    # list.
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def _outside_expressions(text: str) -> str:
    """An introduction in which only expressions give markup; a program is no expression."""
    pieces = _EXPRESSION.split(text)
    pieces[0::2] = [str(harmless(piece)).replace("{%", "&#123;%") for piece in pieces[0::2]]
    return "".join(pieces)


def topic_markdown(topic: Topic) -> str:
    """One topic."""
    page = topic_page(topic.id)
    intro = introduction(topic)
    references_here = on_topic(topic)
    own_works = [work for work in references_here if work.is_work]
    starters = [references()[key] for key in topic.start_here]
    blocks = [
        front_matter(f"{topic.title}: references", plain(intro), feed=feed_file(topic.id)),
        Markdown("# {}\n").format(topic.title),
        _breadcrumbs(topic),
        trusted(f"{intro}\n"),
        *_subtopics(topic),
        *_list("Start here", [short_line(work, page) for work in starters]),
        *_list("Compute it", [_calculator(name, page) for name in topic.calculators]),
        *_list("Accelerators to look at", [_chip(name, page) for name in topic.chips]),
        *_works(topic, own_works, page),
        *_sources([work for work in references_here if not work.is_work], page),
    ]
    if not references_here and not topic.children:
        blocks.append(
            Markdown(
                "No work of this topic is recorded yet. [Adding one]({}) takes one BibTeX entry.\n"
            ).format(relative(page, "contributing/index.md"))
        )
    return page_text(blocks)


def _breadcrumbs(topic: Topic) -> Html:
    """The topics above this one; the way from the overview stands above every page."""
    above = [higher for higher in all_topics() if higher.id != topic.id and topic in higher.walk()]
    steps = [Markdown("[{}]({}.md)").format(higher.title, higher.id) for higher in above]
    return Markdown("Part of {}.\n").format(Markdown(" / ").join(steps)) if steps else Html()


def _subtopics(topic: Topic) -> list[Html]:
    if not topic.children:
        return []
    lines = [line for child in topic.children for line in _tree_lines(child, 0)]
    return [Markdown("## Parts of this topic\n"), *lines, Html()]


def _list(title: str, lines: list[Html]) -> list[Html]:
    if not lines:
        return []
    bullets = (Markdown("- {}").format(line) for line in lines)
    return [Markdown("## {}\n").format(title), *bullets, Html()]


def _calculator(name: str, page: str) -> Html:
    formula = get_formula(name)
    return Markdown("[{}]({}): {}").format(
        formula.title, relative(page, calculator_page(name)), formula.question
    )


def _chip(name: str, page: str) -> Html:
    entry = load_entry(name)
    return Markdown("[{}]({}): {}").format(
        entry.name, relative(page, entry_page(name)), entry.summary
    )


def _works(topic: Topic, own_works: list[Reference], page: str) -> list[Html]:
    """The works of a topic under a heading for each year."""
    if not own_works:
        return []
    search = Html("{}?topic={}").format(html_link(page, works.PAGE), attribute(topic.id))
    blocks: list[Html] = [
        Markdown("## Works\n"),
        Markdown(
            '{}, newest first. <a href="{}">Filter, search and export them</a>, or follow the '
            '<a href="{}">feed of this topic</a>.\n'
        ).format(counted(len(own_works), "work"), search, html_link(page, feed_file(topic.id))),
    ]
    for year, group in groupby(own_works, key=lambda work: work.year):
        blocks.append(Markdown("### {}\n").format(year))
        blocks += _full_references(group, page)
    return blocks


def _full_references(group: Iterable[Reference], page: str) -> list[Html]:
    return [full_reference(work, page) + Html("\n") for work in group]


def _sources(group: list[Reference], page: str) -> list[Html]:
    if not group:
        return []
    words = Markdown(
        "{} from which values on this site were read. They are listed so that you can check them.\n"
    ).format(counted(len(group), "page"))
    return [Markdown("## Sources of values\n"), words, *_full_references(group, page)]
