"""The first page: a picture that moves, two questions with their answers, and errors in numbers.

Each part is put into `docs/index.md` by its name.
"""

from __future__ import annotations

from flopbook.data.library import references
from flopbook.errors import FlopbookError
from flopbook.ledger.rows import Row
from scripts.website.markup import Html, link
from scripts.website.pages.accelerators import INDEX
from scripts.website.pages.errata import PITFALLS, recomputed
from scripts.website.pages.explorer import items
from scripts.website.pages.home_picture import picture
from scripts.website.pages.home_questions import PAGE, serve_form, train_form
from scripts.website.pages.pitfalls import defects
from scripts.website.pages.reached import shown_runs
from scripts.website.pages.sources import html_link, stylesheet
from scripts.website.pages.stated import stated_words

SCRIPT = "assets/flopbook/home/main.js"
STYLE = "assets/flopbook/home/home.css"
_LEAD = (
    "A reference on parallelism and hardware for large language models that computes itself: every "
    "number has a source, every formula runs, every printed claim is a test."
)
_HANDBOOK = (
    "From one matmul to a hundred thousand chips, with figures drawn from the data and exercises "
    "that check themselves."
)
_CHAPTERS = {
    "roofline": "rooflines",
    "fsdp": "FSDP",
    "tensor-parallelism": "tensor parallelism",
    "pipeline-parallelism": "pipeline parallelism",
}
# Three errors that everyone can follow, with what each is about.
_ERRORS = {
    "gpupoor-a100-peak": "fp16 peak of an A100",
    "genz-gh200-peak": "dense bf16 peak of a GH200",
    "llmviewer-grouped-cache": "KV cache with grouped heads",
}


def part(name: str) -> Html:
    """A part of the page by its name. Raises FlopbookError for a name that there is none of."""
    if name not in _PARTS:
        raise FlopbookError(f"the first page has no part {name}; there are {', '.join(_PARTS)}")
    return _PARTS[name]()


def opening() -> Html:
    """What this is, where to go, and the picture that moves."""
    links = [
        link("Will it train?", "#train", "fb-act fb-main"),
        link("Will it serve?", "#serve", "fb-act"),
        link("Look up a chip", html_link(PAGE, INDEX), "fb-act"),
        link("Start reading", html_link(PAGE, "handbook/index.md"), "fb-act"),
    ]
    return Html(
        '{}\n<div class="fb-hero"><div>\n<p class="fb-lead">{}</p>\n<p class="fb-acts">{}</p>\n'
        "{}</div>\n{}\n</div>\n"
    ).format(stylesheet(PAGE, STYLE), _LEAD, Html(" ").join(links), holdings(), picture())


def holdings() -> Html:
    """How much there is to look up, each number with the way to it."""
    works = sum(work.is_work for work in references().values())
    counts = (
        (len(items()), "products with every value sourced", INDEX),
        (len(recomputed()), "printed claims recomputed", "errata.md"),
        (len(shown_runs()), "measured runs to compare with", "reached.md"),
        (works, "papers and talks, annotated", "references/index.md"),
    )
    rows = Html().join(
        Html("<div><dt>{}</dt><dd>{:,}</dd></div>").format(
            link(words, html_link(PAGE, target)), count
        )
        for count, words, target in counts
    )
    return Html('<dl class="fb-holdings">{}</dl>\n').format(rows)


def questions() -> Html:
    """The two forms side by side."""
    return Html('<div class="fb-pair">\n{}\n{}\n</div>\n').format(train_form(), serve_form())


def ways() -> Html:
    """Three cards: chips, chapters, papers."""
    return Html('<div class="fb-cards">\n{}\n{}\n{}\n</div>\n').format(
        _card("Look up a chip", _finder() + chips_words()),
        _card("Learn the field", chapters_words()),
        _card("Read the papers", works_words()),
    )


def _card(title: str, content: Html) -> Html:
    return Html('<section class="fb-card"><h2>{}</h2>\n{}</section>').format(title, content)


def _finder() -> Html:
    return Html(
        '<form class="fb-look" action="{}" method="get" role="search" aria-label="Chips">'
        '<input type="search" name="find" aria-label="Chip, vendor or family" '
        'placeholder="h100, blackwell, tpu v5p" autocomplete="off"> '
        '<button class="fb-act" type="submit">Find</button></form>\n'
    ).format(html_link(PAGE, INDEX))


def script() -> Html:
    """What makes the picture move and the forms answer."""
    return Html('<script type="module" src="{}"></script>').format(html_link(PAGE, SCRIPT))


# Errors of public tools.


def errors() -> Html:
    """How many there are in how many tools, and three of them with both figures."""
    pages = (
        ("See all of them", PITFALLS),
        ("Errors in print", "errata.md"),
        ("Correct us", "contributing/index.md"),
    )
    links = (link(words, html_link(PAGE, target), "fb-act") for words, target in pages)
    return Html(
        '<section class="fb-card">\n<h2 id="errors">What goes wrong in practice</h2>\n'
        '<div class="fb-pair"><div>\n<p>{}</p>\n<p class="fb-acts">{}</p>\n</div>\n{}\n'
        "</div></section>\n"
    ).format(wrong_words(), Html(" ").join(links), error_table())


def error_table() -> Html:
    """Three errors that everyone can follow, each with the right figure."""
    rows = {row.id: row for row in defects()}
    lines = Html().join(_error(rows[name]) for name in _ERRORS if name in rows)
    return Html(
        '<div class="fb-scroll" tabindex="0" role="region" aria-label="Errors of public tools">'
        '<table class="fb-errors"><thead><tr><th scope="col">Tool</th>'
        '<th scope="col" class="fb-n">Says</th>'
        '<th scope="col" class="fb-n">Is</th></tr></thead><tbody>{}</tbody></table></div>'
    ).format(lines)


def _error(row: Row) -> Html:
    """A row: the tool and what it is about, the figure that it gives, and the right one."""
    assert row.defect and row.corrected
    name = link(row.defect.tool, html_link(PAGE, f"{PITFALLS}#{row.id}"))
    return Html(
        '<tr><th scope="row">{} <span class="fb-note">{}</span></th><td class="fb-n">{}</td>'
        '<td class="fb-n"><strong>{}</strong></td></tr>'
    ).format(name, _ERRORS[row.id], stated_words(row.stated), stated_words(row.corrected))


def wrong_words() -> Html:
    """What was found in other tools, in two sentences."""
    rows = defects()
    tools = {row.defect.tool for row in rows if row.defect}
    return Html(
        "We read the code of {} public calculators and planners and found {} places where the "
        "number is wrong and we can say why: a sparse peak taken for a dense one, keys counted for "
        "every head, memory that no chip has. Each entry gives the line of code and the right "
        "value, and a test recomputes both."
    ).format(len(tools), len(rows))


# What there is to look up.


def chips_words() -> Html:
    """How many products there are, and comparisons that people ask for."""
    rows = items()
    pages = (("H100 and MI300X", "h100-sxm-vs-mi300x"), ("B200 and MI355X", "b200-vs-mi355x"))
    links = Html(", ").join(
        link(words, html_link(PAGE, f"compare/{page}.md")) for words, page in pages
    )
    return Html(
        '<p class="fb-fine">{:,} products of {} vendors. Dense and sparse rates are never mixed, '
        "nor one way and both ways, and every value is one click from its source. Compare {}.</p>"
    ).format(len(rows), len({row.entry.vendor for row in rows}), links)


def chapters_words() -> Html:
    """What the handbook is, and four of its chapters."""
    links = [
        link(words, html_link(PAGE, f"handbook/{name}.md")) for name, words in _CHAPTERS.items()
    ]
    return Html('<p class="fb-fine">{}</p>\n<p class="fb-fine">Start with {}.</p>').format(
        _HANDBOOK, Html(", then ").join(links)
    )


def works_words() -> Html:
    """How many works there are, and where to begin."""
    count = sum(work.is_work for work in references().values())
    return Html(
        '<p class="fb-fine">{:,} works by {}, each with a note on what it shows and when to read '
        "it. {}.</p>"
    ).format(
        count,
        link("topic", html_link(PAGE, "references/index.md")),
        link("What is new", html_link(PAGE, "references/new.md")),
    )


_PARTS = {
    "opening": opening,
    "questions": questions,
    "ways": ways,
    "errors": errors,
    "script": script,
}
