"""A part of the site made into a part of a book: nothing folds, moves or asks for a script."""

from __future__ import annotations

import re

from bs4 import Comment, Tag

from scripts.website.book.parts import BookError, BookPart, parsed, words

_BLOCKS = ("figure", "div", "table", "ul", "ol", "pre", "p", "dl", "section", "details")
# Names that the HTML reader writes small and XML wants as they are.
_CASES = {
    name.lower(): name
    for name in (
        "viewBox",
        "preserveAspectRatio",
        "textLength",
        "lengthAdjust",
        "refX",
        "refY",
        "markerWidth",
        "markerHeight",
        "markerUnits",
        "gradientUnits",
        "gradientTransform",
        "patternUnits",
        "patternTransform",
        "clipPathUnits",
        "startOffset",
        "pathLength",
    )
}
_GONE = re.compile(
    r"(tabindex|aria-hidden|style(?!=text-align)|loading|contenteditable|on\w+|data-[^=]*)="
)
_ELEMENTS = {
    name.lower(): name for name in ("linearGradient", "radialGradient", "clipPath", "textPath")
}
_SCREEN = (
    "script",
    "style",
    "link",
    "noscript",
    "button",
    "form",
    "template",
    "[role=tooltip]",
    ".fb-book",
    ".fb-hidden",
    ".fb-copy",
    ".fb-place",
    ".fb-screen",
    ".fb-menu",
    ".fb-slim",
)
MOVES = (".fb-slide", ".fb-visit", ".fb-sweep")  # what the style sheet of the site sets in motion
_XML = {"svg": "http://www.w3.org/2000/svg", "math": "http://www.w3.org/1998/Math/MathML"}


def shape(part: BookPart) -> None:
    """Change the text of a part in place.

    Raises BookError for a picture in a file: nothing would bring it along.
    """
    body = part.body
    if picture := body.select_one("img, object, iframe, video"):
        raise BookError(
            f"{part.page}: found {picture.name} {picture.get('src', '')}; draw it as SVG in the "
            "page"
        )
    _calculators(body)
    for value in body.select("button.fb-value"):
        value.unwrap()
    for screen in body.select(", ".join(_SCREEN)):
        screen.decompose()
    for comment in body.find_all(string=lambda text: isinstance(text, Comment)):
        comment.extract()
    _answers(part)
    _opened(body)
    _figures(body)
    _headings(part)
    _well_formed(body)


def _calculators(body: Tag) -> None:
    """A form becomes its example with the answer, and where to change the inputs."""
    for box in body.select("div.fb-calculator[data-calculator]"):
        name = str(box["data-calculator"])
        example = box.find("p", recursive=False)
        box.clear()
        box.attrs = {"class": "calculator"}
        if example is not None:
            box.append(example)
        command = f"Other inputs: <code>flopbook {name} --help</code> in a terminal, or "
        address = f'<a href="/calculators/{name}/">the calculator on the site</a>.'
        box.append(parsed(f"\n<p>{command}{address}</p>"))


def _answers(part: BookPart) -> None:
    """Move answers to the end of the chapter, with links both ways.

    On paper nothing folds, and a reader tries first.
    """
    gathered: dict[str, Tag] = {}
    for folded in part.body.select("details.success"):
        exercise = folded.find_previous(class_="fb-exercise")
        if not isinstance(exercise, Tag) or not exercise.get("id"):
            continue
        name = f"answer-to-{exercise['id']}"
        folded.extract()
        if folded.summary:
            folded.summary.decompose()
        if name in gathered:
            gathered[name].extend(list(folded.contents))
            continue
        if exercise.parent is not None:
            exercise.parent.append(parsed(f' <a class="there" href="#{name}">Answer</a>'))
        folded.name, folded.attrs = "div", {"class": "answer", "id": name}
        folded.insert(
            0, parsed(f'<p class="back"><a href="#{exercise["id"]}">{words(exercise)}</a></p>\n')
        )
        gathered[name] = folded
    if gathered:
        part.body.append(parsed('\n<h2 id="answers">Answers</h2>\n'))
        part.body.extend(list(gathered.values()))


def _opened(body: Tag) -> None:
    """Open all else that folds, but what only moves and BibTeX: nobody copies from paper."""
    for folded in body.select("details"):
        if folded.select_one(", ".join((*MOVES, "pre.fb-bibtex"))):
            folded.decompose()
            continue
        if (title := folded.summary) is not None:
            title.name, title.attrs = "p", {"class": "opened-title"}
        folded.name, folded.attrs = "div", {"class": "opened"}


def _figures(body: Tag) -> None:
    """Figures without the boxes that a screen needs around them."""
    for box in body.select(".fb-plotted, .fb-chart-head"):
        box.unwrap()


def _headings(part: BookPart) -> None:
    head = part.body.select_one("h1")
    if head is not None and part.number:
        head.insert(0, parsed(f'<span class="number">{part.number}</span> '))


def _well_formed(body: Tag) -> None:
    """Mend what a browser forgives and XML does not: nesting, cases, attributes of screens."""
    for paragraph in body.select("p"):
        if paragraph.find(_BLOCKS):
            paragraph.name = "div"
    for wide in body.select(".fb-wide"):
        wide.unwrap()
    for element in body.find_all(True):
        element.name = _ELEMENTS.get(element.name, element.name)
        kept = {
            name: value
            for name, value in element.attrs.items()
            if not _GONE.match(f"{name}={value}")
        }
        element.attrs = {_CASES.get(name, name): value for name, value in kept.items()}
        if element.name in _XML:
            element["xmlns"] = _XML[element.name]
