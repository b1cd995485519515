"""Statements recomputed: what does not hold, with a page for each source, and what holds.

Every row keeps its address on the index: there it is one line, which leads to the row at length.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from flopbook.data.library import per_library, reference
from flopbook.ledger.rows import Row, ledger_rows
from scripts.website.markup import (
    Html,
    Markdown,
    attribute,
    front_matter,
    link,
    page_text,
    permalink,
    relative,
    shorten,
    table,
    tag,
)
from scripts.website.pages.sources import citations, cite, html_link
from scripts.website.pages.stated import computed_words, said_words, stated_words

PAGE = "errata.md"
HELD = "claims.md"
PITFALLS = "pitfalls.md"
VERDICT_WORDS = {
    "does-not-hold": "does not hold",
    "typo": "slip of the pen",
    "depends": "depends on what the source leaves open",
    "rounding": "holds within rounding",
    "holds": "holds",
    "quoted": "quoted, not computable",
}
# Verdicts whose rows need no correction: a few lines each, on a page of their own.
SHORT = ("rounding", "holds", "quoted")
# A source with so many rows that hold has a page of its own for them.
MANY_HELD = 20
# Heads of the overview, shorter than the verdict's words.
HEADS = {"typo": "slip", "depends": "depends", "rounding": "rounding", "quoted": "quoted"}


def claim_words(row: Row) -> str:
    """A claim in running text, as plain text: what it states and what is right."""
    slip = row.verdict == "typo"
    text = f"{reference(row.source).title} states {said_words(row)}"
    if row.corrected:
        return f"{text}; it is {stated_words(row.corrected, words_first=slip)}"
    if row.verdict == "quoted":
        return f"{text}; {VERDICT_WORDS[row.verdict]}"
    return f"{text}; this {VERDICT_WORDS[row.verdict]}"


def claim_file(row: Row) -> str:
    """The page of a row: of its source, of what holds, or of the defects of tools."""
    if row.defect:
        return PITFALLS
    if row.verdict not in SHORT:
        return f"errata/{row.source}.md"
    return f"claims/{row.source}.md" if row.source in _large_sources() else HELD


def claim_page(row: Row) -> str:
    """Where a row stands at length."""
    return f"{claim_file(row)}#{row.id}"


@per_library
def _large_sources() -> frozenset[str]:
    """The sources whose rows that hold have a page of their own."""
    held = Counter(row.source for row in _rows() if row.verdict in SHORT)
    return frozenset(source for source, count in held.items() if count >= MANY_HELD)


def recomputed() -> list[Row]:
    """The statements that are computed again on each change; a quoted one cannot be."""
    return [row for row in ledger_rows() if row.verdict != "quoted"]


def _rows() -> list[Row]:
    return [row for row in ledger_rows() if not row.defect]


# The pages.


def errata_pages() -> Iterator[tuple[str, str]]:
    """Each page with its text: both indexes, then a page for each source that needs one."""
    yield PAGE, errata_page()
    yield HELD, claims_page()
    files: dict[str, list[Row]] = {}
    for row in _rows():
        files.setdefault(claim_file(row), []).append(row)
    for page, rows in files.items():
        if page != HELD:
            yield page, _source_page(page, rows)


def source_pages(index: str) -> dict[str, str]:
    """The pages below an index, each with the source that it is about."""
    folder = f"{index.removesuffix('.md')}/"
    places = {claim_file(row): row.source for row in _rows()}
    return {page: source for page, source in places.items() if page.startswith(folder)}


def errata_page() -> str:
    """What does not hold, or only under a condition: an overview, and a line for each row."""
    rows = _rows()
    wrong = [row for row in rows if row.verdict not in SHORT]
    verdicts = Counter(row.verdict for row in rows)
    in_print = sum(row.verdict != "quoted" for row in rows)
    counted = len(recomputed())
    blocks = [
        front_matter(
            "Errata",
            "Numeric claims of sources, recomputed with our own formulas and data, with verdict "
            "and correction.",
        ),
        Markdown("# Errata\n"),
        Markdown(
            "We recompute the numbers that our sources state, {} so far. Of {} in papers, talks "
            "and reports, {} do not hold ({} of these are mere slips) and {} hold only under a "
            "condition that the source leaves open. The other {} are [what calculators and "
            "planners get wrong]({}), which has its own page. Tests recompute each one on every "
            "change, from the same data and formulas that you can run yourself. Below is one line "
            "for each, by source; the page of a source has the computation, the correction and the "
            "evidence. Claims that [hold, or can only be quoted]({}), have a page of their own. "
            "`flopbook claims` prints everything in a terminal, by source, topic or verdict.\n"
        ).format(
            counted,
            in_print,
            verdicts["does-not-hold"] + verdicts["typo"],
            verdicts["typo"],
            verdicts["depends"],
            counted - in_print,
            PITFALLS,
            HELD,
        ),
        *_overview(rows),
    ]
    for source, of_source in _by_source(wrong):
        page = claim_file(of_source[0])
        blocks.append(Markdown("## [{}]({})\n").format(reference(source).title, page))
        blocks += _lines_by_verdict(of_source)
    return page_text(blocks) + "\n"


def _lines_by_verdict(rows: list[Row]) -> Iterator[Html]:
    """The rows of a source under the words of their verdict, which no line then repeats."""
    for verdict, words in VERDICT_WORDS.items():
        lines = [_line(row) for row in rows if row.verdict == verdict]
        if lines:
            title = words[0].upper() + words[1:]
            yield Html("<p><strong>{}</strong></p>\n<ul>\n{}</ul>\n").format(
                title, Html().join(lines)
            )


def _line(row: Row) -> Html:
    """A row in one line, under its address: what is stated, and what is right where that is one."""
    slip = row.verdict == "typo"
    stated = said_words(row)
    if stated and row.stated.text == stated:
        stated = f"“{stated}”"
    right = Html()
    if row.corrected:
        right = Html("; it is <strong>{}</strong>").format(
            stated_words(row.corrected, words_first=slip)
        )
    return Html('<li id="{}"><a href="{}">{}</a> Stated: {}{}.</li>\n').format(
        attribute(row.id),
        attribute(html_link(PAGE, claim_page(row))),
        row.statement,
        stated or "in words",
        right,
    )


def claims_page() -> str:
    """What holds, exactly or within rounding, and what can only be quoted, by source."""
    rows = _rows()
    held = [row for row in rows if row.verdict in SHORT]
    blocks = [
        front_matter(
            "Claims that hold",
            "Numeric claims of sources that hold when recomputed, and measured results quoted with "
            "their condition.",
        ),
        Markdown("# Claims that hold\n"),
        Markdown(
            "{} of {} numeric claims of our sources need no correction. Those that hold come out "
            "as stated when we compute them from our data. Counts and measurements cannot be "
            "computed; they are quoted, with what they were measured on or against. Claims that do "
            "not hold are in the [errata]({}).\n"
        ).format(len(held), len(rows), PAGE),
        *_elsewhere(held),
        *_sections([row for row in held if claim_file(row) == HELD], HELD),
    ]
    return page_text(blocks) + "\n"


def _elsewhere(held: list[Row]) -> Iterator[Html]:
    """The sources whose rows are too many for the common page, and the addresses of their rows."""
    for source, rows in _by_source(row for row in held if claim_file(row) != HELD):
        page = claim_file(rows[0])
        # Links from before the page was split lead to the row's number, and that to the row.
        links = Html(", ").join(
            Html('<a id="{}" href="{}">{}</a>').format(
                attribute(row.id), attribute(html_link(HELD, claim_page(row))), number
            )
            for number, row in enumerate(rows, 1)
        )
        yield Html('<p>{} has {} on <a href="{}">a page of its own</a>: {}.</p>\n').format(
            cite(source, HELD), len(rows), attribute(html_link(HELD, page)), links
        )


def _source_page(page: str, rows: list[Row]) -> str:
    """The rows of one source at length, or in short where they hold."""
    source = reference(rows[0].source)
    is_held = rows[0].verdict in SHORT
    back = relative(page, HELD if is_held else PAGE)
    title = f"{'Claims that hold' if is_held else 'Errata'}: {source.title}"
    words = "need no correction" if is_held else "need a correction or a condition"
    counted = "One claim" if len(rows) == 1 else f"{len(rows)} claims"
    if len(rows) == 1:
        words = "needs no correction" if is_held else "needs a correction or a condition"
    blocks = [
        front_matter(title, f"Numeric claims of {source.title}, recomputed, with corrections."),
        Markdown("# {}\n").format(title),
        Markdown("{} of {} {}. [All sources]({}).\n").format(
            counted, cite(rows[0].source, page), words, back
        ),
        *_sections(rows, page),
    ]
    return page_text(blocks) + "\n"


def _sections(rows: list[Row], page: str) -> Iterator[Html]:
    """The rows of a page under a heading for each verdict, and under it one for each source."""
    for verdict, words in VERDICT_WORDS.items():
        chosen = [row for row in rows if row.verdict == verdict]
        if chosen:
            title = words[0].upper() + words[1:]
            yield Markdown("## {} {{ #{} }}\n").format(title, attribute(verdict))
        for source, of_source in _by_source(chosen):
            if page == HELD:
                yield Html("### {} {{ #{}-{} }}\n").format(
                    reference(source).title, attribute(verdict), attribute(source)
                )
            article = _short_article if verdict in SHORT else _article
            yield from (article(row, page) for row in of_source)


def _by_source(rows: Iterable[Row]) -> Iterator[tuple[str, list[Row]]]:
    """Sources, those with most rows first, each with its rows in the order of the ledger."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.source, []).append(row)
    yield from sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))


# The overview.


def _overview(rows: list[Row]) -> list[Html]:
    """A table of sources and verdicts; each number leads to its rows."""
    verdicts = [verdict for verdict in VERDICT_WORDS if _count(rows, verdict)]
    heads = [HEADS.get(verdict, VERDICT_WORDS[verdict]) for verdict in verdicts]
    sources = list(_by_source(rows))
    shared = Counter(reference(source).short for source, _ in sources)
    lines: list[tuple[str, ...]] = [
        (_named(source, shared), *_counts(of_source, verdicts)) for source, of_source in sources
    ]
    lines.append(("All", *(f"{_count(rows, verdict)}" for verdict in verdicts)))
    columns = ("Source", *(f"#{head}" for head in heads))
    return [table(columns, lines, caption="Claims by source and verdict", stacked=True), Html()]


def _named(source: str, shared: Mapping[str, int]) -> Html:
    """A source by author and year, with its title where several of the table have these."""
    cited = cite(source, PAGE)
    work = reference(source)
    if shared[work.short] == 1:
        return cited
    return Html('{} <span class="fb-note">{}</span>').format(cited, shorten(work.title, 60))


def _count(rows: Iterable[Row], verdict: str) -> int:
    return sum(row.verdict == verdict for row in rows)


def _counts(rows: list[Row], verdicts: Iterable[str]) -> Iterator[Html]:
    """How many rows of a source have each verdict, as links to their heading; empty if none."""
    for verdict in verdicts:
        chosen = [row for row in rows if row.verdict == verdict]
        if not chosen:
            yield Html()
            continue
        page = claim_file(chosen[0])
        heading = f"{verdict}-{chosen[0].source}" if page == HELD else verdict
        yield link(str(len(chosen)), html_link(PAGE, f"{page}#{heading}"))


# One row.


def _short_article(row: Row, page: str) -> Html:
    """A row that needs no correction: what is stated, what it comes to, where it stands."""
    words = [
        permalink(row.id),
        row.statement,
        Html("Stated: <strong>{}</strong>, {}.").format(said_words(row), row.where),
    ]
    if row.call:
        words.append(Html("Computed: {}.").format(_computed(row)))
    words.append(row.why)
    proof = [key for key in row.evidence if key != row.source]
    if proof:
        words.append(Html("Evidence: {}.").format(citations(proof, page)))
    return Html('<article class="fb-claim fb-{}" id="{}">\n<p>{}</p>\n</article>\n').format(
        row.verdict, attribute(row.id), Html(" ").join(words)
    )


def _computed(row: Row) -> Html:
    return Html("{} <code>{}</code>").format(computed_words(row), row.call)


def _article(row: Row, page: str) -> Html:
    slip = row.verdict == "typo"
    facts = [fact("Stated", tag("strong", said_words(row)))]
    if row.call:
        facts.append(fact("Computed", _computed(row)))
    if row.corrected:
        correction = stated_words(row.corrected, words_first=slip)
        facts.append(fact("Correct", tag("strong", correction)))
    if row.reproduces:
        facts.append(fact("What gives it", tag("code", row.reproduces)))
    if row.assumption:
        facts.append(fact("Left open", row.assumption))
    facts += [
        fact("Verdict", VERDICT_WORDS[row.verdict]),
        fact("Source", Html("{}, {}").format(cite(row.source, page), row.where)),
    ]
    opening = Html("{} {}").format(permalink(row.id), row.statement)
    return claim_article(row, opening, facts, page)


def claim_article(row: Row, opening: Html, facts: Iterable[Html], page: str = PAGE) -> Html:
    """A row at length: its statement, a list of facts, why, and the evidence."""
    lines = [
        Html('<article class="fb-claim fb-{}" id="{}">').format(row.verdict, attribute(row.id)),
        tag("p", opening),
        Html('<dl class="fb-facts">'),
        *facts,
        Html("</dl>"),
        tag("p", row.why),
    ]
    if row.evidence:
        lines.append(Html("<p>Evidence: {}.</p>").format(citations(row.evidence, page)))
    return Html("\n").join([*lines, Html("</article>\n")])


def fact(name: str, text: str) -> Html:
    """A line of a list of facts."""
    return Html("<dt>{}</dt><dd>{}</dd>").format(name, text)
