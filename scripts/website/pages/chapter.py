"""A chapter of the handbook: its parts, its place in the order, and what the build puts around its
text.

A chapter is a page of `docs/handbook/` whose front matter has an `order`; chapters are numbered by
it, so that one can be put between two others without touching them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date
from typing import NamedTuple

from flopbook.data.library import references
from flopbook.drawing.markup import inline, plain, relative, slug
from flopbook.errors import FlopbookError
from flopbook.evaluation.answers import counted
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
_EXERCISE = re.compile(
    r"\{\{-?\s*exercise\(\s*[\"'](\w+)[\"']\s*\)\s*-?\}\}(.*?)(?=\{\{-?\s*exercise\(|^## |\Z)",
    re.S | re.M,
)
_ANSWER = re.compile(r"^\?\?\? success \"[^\"]+\"\n\s*\n? {4}\S", re.M)
_HEAD = re.compile(
    r'(?<=id=")exercise-\d+(">Exercise \d+</strong> <span[^>]*>\w+</span>)(.*?)(?=\n\n|\Z)', re.S
)
_COMPUTED = re.compile(r"<(a|code|math)\b.*?</\1>|<[^>]*>|\$[^$]*\$|`[^`]*`", re.S)
_NAME_WORDS = 6
_FIELD = re.compile(r"^(title|description|order|practicals): *(.*?) *$", re.M)


class Chapter(NamedTuple):
    """What is known of a chapter before it is rendered; `practicals` are names of notebooks."""

    page: str
    title: str
    description: str
    order: int
    practicals: tuple[str, ...] = ()


class Exercise(NamedTuple):
    """An exercise as it is written: its number in the chapter, how hard it is, and whether an
    answer follows it.
    """

    number: int
    level: str
    answered: bool


def chapter_of(text: str, page: str) -> Chapter | None:
    """The chapter that a page of prose is; None for a page without an `order`."""
    head = text.split("---", 2)[1] if text.startswith("---\n") else ""
    found = dict(_FIELD.findall(head))
    if not found.get("order", "").isdigit():
        return None
    practicals = tuple(re.findall(r"[\w-]+", found.get("practicals", "")))
    return Chapter(
        page, found.get("title", ""), found.get("description", ""), int(found["order"]), practicals
    )


def exercises(text: str) -> list[Exercise]:
    """The exercises of a chapter, from its source."""
    found = enumerate(_EXERCISE.findall(text), 1)
    return [Exercise(number, level, bool(_ANSWER.search(body))) for number, (level, body) in found]


def exercise_heads() -> Callable[[str], str]:
    """What `{{ exercise("easy") }}` calls on one page: the next number, with its anchor and level."""
    done = 0

    def head(level: str) -> str:
        nonlocal done
        if level not in LEVELS:
            raise FlopbookError(
                f"an exercise is {', '.join(LEVELS[:-1])} or {LEVELS[-1]}, found '{level}'"
            )
        done += 1
        return (
            f'<strong class="fb-exercise" id="exercise-{done}">Exercise {done}</strong> '
            f'<span class="fb-badge">{level}</span>'
        )

    return head


def named_exercises(text: str) -> str:
    """A rendered chapter whose exercises are anchored by the words with which they begin, not by
    their number.

    So a link to one holds when another is put before it, and when a value in the question changes.
    """
    seen: dict[str, int] = {}

    def named(match: re.Match[str]) -> str:
        words = re.findall(r"(?<![^\s(*])[A-Za-z]+(?:-[a-z]+)*", _COMPUTED.sub(" . ", match[2]))
        name = slug(" ".join(["exercise", *words[:_NAME_WORDS]]))
        seen[name] = seen.get(name, 0) + 1
        again = f"-{seen[name]}" if seen[name] > 1 else ""
        return f"{name}{again}{match[1]}{match[2]}"

    return _HEAD.sub(named, text)


def minutes(text: str) -> int:
    """How long the words of a rendered chapter take to read, at least one minute."""
    prose = re.sub(r"<svg.*?</svg>|```.*?```|\$\$.*?\$\$", " ", text, flags=re.S)
    return max(1, round(len(plain(prose).split()) / WORDS_A_MINUTE))


def framed(text: str, chapter: Chapter, number: int, total: int, closing: str = "") -> str:
    """A rendered chapter with its place, its reading time and its exercises under the title, and
    BibTeX at its end.

    `closing` is one more line of the list that ends it.
    """
    count = text.count('class="fb-exercise"')
    line = [f"Chapter {number} of {total}", f"about {counted(minutes(text), 'minute')} to read"]
    line += [f'<a href="#exercises">{counted(count, "exercise")}</a>'] if count else []
    head = f'<p class="fb-note fb-place">{" · ".join(line)}</p>'
    read = max(item.urldate for item in references().values())
    name = chapter.page.removesuffix(".md")
    cited = page_bibtex(escape_tex(chapter.title), "chapter", name, date.fromisoformat(read))
    text = re.sub(r"^(# .*)$", lambda m: f"{m[1]}\n\n{head}", text, count=1, flags=re.M)
    text = named_exercises(f"{text.rstrip()}\n{closing}".rstrip())
    return f"{text}\n\n{bibtex_block('BibTeX of this chapter', cited)}\n"


def escape_tex(text: str) -> str:
    """A title inside BibTeX: marks that TeX reads are protected."""
    return re.sub(r"([&%#_])", r"\\\1", text)


def listing(chapters: Sequence[Chapter], page: str) -> str:
    """The chapters as a numbered list with what each is about, for the page that opens the
    handbook.
    """
    return "\n".join(
        f"{number}. [{inline(one.title)}]({relative(page, one.page)}). {inline(one.description)}"
        for number, one in enumerate(chapters, 1)
    )
