"""A chapter of the handbook: its sections, its place in the order, and what the build adds.

A chapter is a page of `docs/handbook/` whose front matter has an `order`; chapters are numbered by
it, so that one can be put between two others without touching them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from datetime import date
from typing import NamedTuple

import yaml

from flopbook.checks.rules.pageheads import split_page
from flopbook.data.library import references
from flopbook.drawing.markup import slug
from flopbook.errors import FlopbookError
from flopbook.evaluation.answers import counted
from scripts.website.markup import Html, Markdown, page_text, plain, relative
from scripts.website.pages.sources import bibtex_block, page_bibtex

LEVELS = ("easy", "medium", "hard")
WORDS_A_MINUTE = 200
# What every chapter has: how its opening begins, and the beginnings of its headings, in this order.
OPENING = "After this chapter you can"
HEADINGS = (
    "Worked example",
    "What the model leaves out",
    "Common mistakes",
    "Exercises",
    "Key points",
    "Where to go on",
)
# In the source: `{{ exercise("easy") }}` and its text, up to the next exercise or heading.
_EXERCISE = re.compile(
    r"\{\{-?\s*exercise\(\s*[\"'](\w+)[\"']\s*\)\s*-?\}\}(.*?)(?=\{\{-?\s*exercise\(|^## |\Z)",
    re.S | re.M,
)
# A box that opens, with text in it.
_ANSWER = re.compile(r"^\?\?\? success \"[^\"]+\"\n\s*\n? {4}\S", re.M)
# In the rendered chapter: the number in an exercise's anchor, and the paragraph that it opens.
_NUMBERED = re.compile(
    r'(?<=id=")exercise-\d+(">Exercise \d+</strong> <span[^>]*>\w+</span>)(.*?)(?=\n\n|\Z)', re.S
)
# What may change in a question while it stays the same question: values, code and formulas.
_COMPUTED = re.compile(r"<(a|code|math)\b.*?</\1>|<[^>]*>|\$[^$]*\$|`[^`]*`", re.S)
_WORD = re.compile(r"(?<![^\s(*])[A-Za-z]+(?:-[a-z]+)*")
_NAME_WORDS = 6
# What nobody reads word by word: drawings, programs and formulas, forms, and what is folded away.
_NOT_PROSE = re.compile(
    r"<svg.*?</svg>|```.*?```|\$\$.*?\$\$"
    r"|<(details|form|script)\b.*?</\1>"
    r"|^\?\?\? [^\n]*\n(?:\n| {4}[^\n]*\n)*",
    re.S | re.M,
)
_FIELD = re.compile(r"^(title|description|order|practicals): *(.*?) *$", re.M)
_ORDER = re.compile(r"[0-9]{1,6}")
_TITLE = re.compile(r"^# .*$", re.M)


class Chapter(NamedTuple):
    """What is known of a chapter before it is rendered; `practicals` are names of notebooks."""

    page: str
    title: str
    description: str
    order: int
    practicals: tuple[str, ...] = ()


class ChapterGroup(NamedTuple):
    """A part of the handbook: the order from which chapters belong to it, and what it is about."""

    start: int
    title: str
    about: str


class Exercise(NamedTuple):
    """An exercise as written: its number, how hard it is, and whether an answer follows."""

    number: int
    level: str
    answered: bool


# The source of a chapter.


def chapter_of(text: str, page: str) -> Chapter | None:
    """The chapter that a page of prose is; None for a page without an `order`."""
    fields = dict(_FIELD.findall(front_of(text)))
    if not _ORDER.fullmatch(fields.get("order", "")):
        return None
    return Chapter(
        page,
        fields.get("title", ""),
        fields.get("description", ""),
        int(fields["order"]),
        tuple(re.findall(r"[\w-]+", fields.get("practicals", ""))),
    )


def front_of(text: str) -> str:
    """The front matter of a page of prose; empty where it has none."""
    return split_page(text)[0]


def exercises(text: str) -> list[Exercise]:
    """The exercises of a chapter, from its source."""
    return [
        Exercise(number, level, bool(_ANSWER.search(body)))
        for number, (level, body) in enumerate(_EXERCISE.findall(text), 1)
    ]


def exercise_heads() -> Callable[[str], Html]:
    """What `{{ exercise("easy") }}` calls on one page: the next number, its anchor and level."""
    numbers = itertools.count(1)

    def head(level: str) -> Html:
        if level not in LEVELS:
            raise FlopbookError(
                f"an exercise is {', '.join(LEVELS[:-1])} or {LEVELS[-1]}, found '{level}'"
            )
        markup = Html(
            '<strong class="fb-exercise" id="exercise-{0}">Exercise {0}</strong> '
            '<span class="fb-badge">{1}</span>'
        ).format(next(numbers), level)
        return markup

    return head


# The rendered chapter.


def framed(
    text: str, chapter: Chapter, number: int, total: int, closing: str = "", appendix: str = ""
) -> str:
    """A rendered chapter with place, reading time and exercises on top, and BibTeX at its end.

    `closing` is one more line of the list that ends it, `appendix` what folds behind that.
    """
    place = _place(text, number, total)
    text = _TITLE.sub(lambda title: f"{title[0]}\n\n{place}", text, count=1)
    text = named_exercises(f"{text.rstrip()}\n{closing}".rstrip())
    text = f"{text}\n\n{appendix}".rstrip()
    return f"{text}\n\n{bibtex_block('BibTeX of this chapter', _bibtex(chapter))}\n"


def _place(text: str, number: int, total: int) -> Html:
    facts = [f"Chapter {number} of {total}", f"about {counted(minutes(text), 'minute')} to read"]
    count = text.count('class="fb-exercise"')
    if count:
        facts.append(Html('<a href="#exercises">{}</a>').format(counted(count, "exercise")))
    return Html('<p class="fb-note fb-place">{}</p>').format(Html(" · ").join(facts))


def _bibtex(chapter: Chapter) -> str:
    """The chapter as a reference, of the newest reading of any source."""
    read = max(source.urldate for source in references().values())
    name = chapter.page.removesuffix(".md")
    return page_bibtex(escape_tex(chapter.title), "chapter", name, date.fromisoformat(read))


def named_exercises(text: str) -> str:
    """A rendered chapter whose exercises are anchored by their first words, not by their number.

    So a link to one holds when another is put before it, and when a value in the question changes.
    """
    uses: dict[str, int] = {}

    def named(match: re.Match[str]) -> str:
        words = _WORD.findall(_COMPUTED.sub(" . ", match[2]))
        name = slug(" ".join(["exercise", *words[:_NAME_WORDS]]))
        uses[name] = uses.get(name, 0) + 1
        repeat = f"-{uses[name]}" if uses[name] > 1 else ""
        return f"{name}{repeat}{match[1]}{match[2]}"

    return _NUMBERED.sub(named, text)


def minutes(text: str) -> int:
    """How long the words of a rendered chapter take to read, at least one minute."""
    words = plain(_NOT_PROSE.sub(" ", text)).split()
    return max(1, round(len(words) / WORDS_A_MINUTE))


def escape_tex(text: str) -> str:
    """A title inside BibTeX: marks that TeX reads are protected."""
    return re.sub(r"([&%#_])", r"\\\1", text)


def parts_of(text: str, page: str) -> list[ChapterGroup]:
    """The parts of the handbook, from the head of its opening page.

    Raises FlopbookError where one lacks a field or has another.
    """
    head = yaml.safe_load(front_of(text).strip("-\n") or "{}")
    try:
        parts = [
            ChapterGroup(int(row["from"]), str(row["title"]), str(row["about"]))
            for row in head.get("parts", ())
        ]
    except (AttributeError, KeyError, TypeError, ValueError):
        message = f"{page}: each of `parts` has `from`, an order of chapters, `title` and `about`"
        raise FlopbookError(message) from None
    return sorted(parts)


def listing(chapters: Sequence[Chapter], parts: Sequence[ChapterGroup], page: str) -> str:
    """The chapters, numbered, with what each is about, under their parts, for the opening page.

    A part has the chapters from its order up to the next part.
    """
    blocks: list[Html] = []
    part: ChapterGroup | None = None
    for number, chapter in enumerate(chapters, 1):
        own = max((one for one in parts if one.start <= chapter.order), default=None)
        if own and own != part:
            blocks.append(Markdown("\n### {}\n\n{}\n").format(own.title, own.about))
        part = own
        row = Markdown("{}. [{}]({}). {}").format(
            number, chapter.title, relative(page, chapter.page), chapter.description
        )
        blocks.append(row)
    return page_text(blocks)
