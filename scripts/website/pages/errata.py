"""Two pages of statements recomputed: those that hold, and the errata with corrections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flopbook.data.library import reference
from flopbook.ledger.recomputation import recompute
from flopbook.ledger.rows import Row, Stated, ledger_rows
from flopbook.quantities.units import format_quantity, plural, unit
from scripts.website.markup import (
    Html,
    Markdown,
    attribute,
    front_matter,
    page_text,
    permalink,
    tag,
)
from scripts.website.pages.sources import citations, cite

PAGE = "errata.md"
HELD = "claims.md"
PITFALLS = "pitfalls.md"
VERDICT_WORDS = {
    "does-not-hold": "does not hold",
    "typo": "slip of the pen",
    "depends": "depends on something unsaid",
    "rounding": "holds within rounding",
    "holds": "holds",
    "quoted": "quoted, not computable",
}
# Verdicts whose rows need no correction: a few lines each, on a page of their own.
SHORT = ("rounding", "holds", "quoted")
_UNNAMED = ("ratio", "1", "count")  # the statement says of what
# Heads of the overview, shorter than the verdict's words.
HEADS = {"typo": "slip", "depends": "depends", "rounding": "rounding", "quoted": "quoted"}


# Words for stated and computed figures.


def stated_words(stated: Stated, *, words_first: bool = False) -> str:
    """A stated figure as text: the number with its unit, or the words.

    Words come first where the slip is in them.
    """
    if stated.text and (stated.value is None or words_first):
        return stated.text
    if stated.value is None:
        return ""
    # As many digits as a source prints: a number of bytes may be stated to the last one.
    return _amount(stated.value, stated.unit, f"{stated.value:,.10g}", 10)


def computed_words(row: Row) -> str:
    """The recomputed value in the unit in which it was stated."""
    si_value = recompute(row.call)
    # A slip in words has no unit of its own; its correction has.
    stated = row.stated if row.stated.unit else row.corrected
    if stated is None or not stated.unit:
        return format_quantity(si_value, "1")
    amount = si_value / unit(stated.unit).factor
    return _amount(amount, stated.unit, format_quantity(amount, "1"), 4)


def _amount(amount: float, name: str, digits: str, precision: int) -> str:
    """An amount in the unit of its source, of which `digits` are the digits.

    Nobody counts zeros or reads powers of ten where a word or a prefix will do: 8 billion params,
    180 GB/s. What is stated in digits, such as a number of bytes to the last one, is left as it
    stands below a thousand million.
    """
    if name in _UNNAMED:
        return digits
    prefixed_from = 1e6 if name in ("param", "token") else 1e9
    # Seconds take no large prefix, and a unit with a factor of its own already is a large one.
    if abs(amount) >= prefixed_from and name != "s" and unit(name).factor == 1:
        return format_quantity(amount, name, binary=False, digits=precision)
    if name == "byte" and amount != 1:
        return f"{digits} bytes"
    return f"{digits} {plural(name, amount)}"


def claim_words(row: Row) -> str:
    """A claim in running text, as plain text: what it states and what is right."""
    slip = row.verdict == "typo"
    text = f"{reference(row.source).title} states {stated_words(row.stated, words_first=slip)}"
    if row.corrected:
        return f"{text}; it is {stated_words(row.corrected, words_first=slip)}"
    if row.verdict == "quoted":
        return f"{text}; {VERDICT_WORDS[row.verdict]}"
    return f"{text}; this {VERDICT_WORDS[row.verdict]}"


def claim_file(row: Row) -> str:
    """The page of a row: the errata, what holds, or the defects of tools."""
    if row.defect:
        return PITFALLS
    return HELD if row.verdict in SHORT else PAGE


def claim_page(row: Row) -> str:
    """Where a row has its permanent address."""
    return f"{claim_file(row)}#{row.id}"


# The two pages.


def errata_page() -> str:
    """What does not hold or depends on something unsaid, by source, after an overview."""
    rows = [row for row in ledger_rows() if not row.defect]
    blocks = [
        front_matter(
            "Errata",
            "Numeric claims of sources, recomputed with our own formulas and data, with verdict "
            "and correction.",
        ),
        Markdown("# Errata\n"),
        Markdown(
            "We recompute what our sources state: {} claims so far. Every row is computed again by "
            "the tests on each change, from the same data and formulas that you can run yourself. "
            "Here is what does not hold as it stands; [what holds, and what can only be "
            "quoted]({}), is on a page of its own, and so is [what calculators and planners get "
            "wrong]({}). `flopbook claims` lists all rows in a terminal, by source, topic or "
            "verdict.\n"
        ).format(len(rows), HELD, PITFALLS),
        *_overview(rows),
        *_sections(rows, PAGE),
    ]
    return page_text(blocks) + "\n"


def claims_page() -> str:
    """What holds, exactly or within rounding, and what can only be quoted, by source."""
    rows = [row for row in ledger_rows() if not row.defect]
    held = [row for row in rows if claim_file(row) == HELD]
    blocks = [
        front_matter(
            "Claims that hold",
            "Numeric claims of sources that hold when recomputed, and measured results quoted with "
            "their condition.",
        ),
        Markdown("# Claims that hold\n"),
        Markdown(
            "{} of {} numeric claims of our sources need no correction. Those that hold come out "
            "as stated when computed from our data; quoted are counts and measurements, which "
            "nobody can compute, with what they were measured on or against. What does not hold is "
            "in the [errata]({}).\n"
        ).format(len(held), len(rows), PAGE),
        *_sections(rows, HELD),
    ]
    return page_text(blocks) + "\n"


def _sections(rows: list[Row], page: str) -> Iterator[Html]:
    """The rows of a page under a heading for each verdict, and under it one for each source."""
    article = _short_article if page == HELD else _article
    for verdict, words in VERDICT_WORDS.items():
        chosen = [row for row in rows if row.verdict == verdict and claim_file(row) == page]
        if chosen:
            title = words[0].upper() + words[1:]
            yield Markdown("## {} {{ #{} }}\n").format(title, attribute(verdict))
        for source, of_source in _by_source(chosen):
            yield Html("### {} {{ #{}-{} }}\n").format(
                reference(source).title, attribute(verdict), attribute(source)
            )
            yield from map(article, of_source)


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
    return [
        _table_line("Source", heads),
        Markdown("| --- |" + " ---: |" * len(verdicts)),
        *(
            _table_line(cite(source, PAGE), _counts(of_source, verdicts, f"-{source}"))
            for source, of_source in _by_source(rows)
        ),
        _table_line("All", _counts(rows, verdicts)),
        Html(),
    ]


def _table_line(first: str, cells: Iterable[str]) -> Html:
    return Markdown("| {} | {} |").format(first, Markdown(" | ").join(cells))


def _count(rows: Iterable[Row], verdict: str) -> int:
    return sum(row.verdict == verdict for row in rows)


def _counts(rows: list[Row], verdicts: Iterable[str], source: str = "") -> Iterator[Html]:
    """How many rows have each verdict, as links to their heading; empty where there are none."""
    for verdict in verdicts:
        count = _count(rows, verdict)
        page = HELD if verdict in SHORT else ""
        anchor = attribute(f"{page}#{verdict}{source}")
        yield Markdown("[{}]({})").format(count, anchor) if count else Markdown()


# One row.


def _short_article(row: Row) -> Html:
    """A row that needs no correction: what is stated, what it comes to, where it stands."""
    words = [
        permalink(row.id),
        row.statement,
        Html("Stated: <strong>{}</strong>, {}.").format(stated_words(row.stated), row.where),
    ]
    if row.call:
        words.append(Html("Computed: {}.").format(_computed(row)))
    words.append(row.why)
    proof = [key for key in row.evidence if key != row.source]
    if proof:
        words.append(Html("Evidence: {}.").format(citations(proof, HELD)))
    return Html('<article class="fb-claim fb-{}" id="{}">\n<p>{}</p>\n</article>\n').format(
        row.verdict, attribute(row.id), Html(" ").join(words)
    )


def _computed(row: Row) -> Html:
    return Html("{} <code>{}</code>").format(computed_words(row), row.call)


def _article(row: Row) -> Html:
    slip = row.verdict == "typo"
    facts = [fact("Stated", tag("strong", stated_words(row.stated, words_first=slip)))]
    if row.call:
        facts.append(fact("Computed", _computed(row)))
    if row.corrected:
        correction = stated_words(row.corrected, words_first=slip)
        facts.append(fact("Correct", tag("strong", correction)))
    if row.reproduces:
        facts.append(fact("How it came about", tag("code", row.reproduces)))
    if row.assumption:
        facts.append(fact("Unsaid", row.assumption))
    facts += [
        fact("Verdict", VERDICT_WORDS[row.verdict]),
        fact("Source", Html("{}, {}").format(cite(row.source, PAGE), row.where)),
    ]
    return claim_article(row, Html("{} {}").format(permalink(row.id), row.statement), facts)


def claim_article(row: Row, opening: Html, facts: Iterable[Html]) -> Html:
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
        lines.append(Html("<p>Evidence: {}.</p>").format(citations(row.evidence, PAGE)))
    return Html("\n").join([*lines, Html("</article>\n")])


def fact(name: str, text: str) -> Html:
    """A line of a list of facts."""
    return Html("<dt>{}</dt><dd>{}</dd>").format(name, text)
