"""The errata page: what sources state, recomputed, with verdict and correction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flopbook.ledger import Row, Stated, ledger_rows, recompute
from flopbook.pages.markup import escape, front_matter
from flopbook.pages.sources import cite
from flopbook.references import reference
from flopbook.units import format_quantity, plural, unit

PAGE = "errata.md"
PITFALLS = "pitfalls.md"
VERDICT_WORDS = {
    "does-not-hold": "does not hold", "typo": "slip of the pen", "depends": "depends on something unsaid",
    "rounding": "holds within rounding", "holds": "holds", "quoted": "quoted, not computable",
}  # fmt: skip
SHORT = ("rounding", "holds", "quoted")


def stated_words(stated: Stated, *, words_first: bool = False) -> str:
    """What is stated, as text: the number with its unit, or the words (which come first where the slip is in them)."""
    if stated.text and (stated.value is None or words_first):
        return stated.text
    if stated.value is None:
        return ""
    return f"{stated.value:,.10g} {'' if stated.unit in ('ratio', '1') else plural(stated.unit, stated.value)}".strip()


def errata_page() -> str:
    """All rows of the ledger: first what is wrong, then what depends, then what holds; within that by source.

    What is wrong or depends is told at length, the rest in a few lines each.
    """
    rows = [row for row in ledger_rows() if not row.defect]
    lines = [
        front_matter(
            "Errata",
            "Numeric claims of sources, recomputed with our own formulas and data, with verdict and correction.",
        ),
        "# Errata\n",
        f"We recompute what our sources state: {len(rows)} claims so far. Every row is computed again by "
        "the tests on each change, from the same data and formulas that you can run yourself. What calculators and "
        f"planners get wrong is on [another page]({PITFALLS}). `flopbook claims` lists the rows in a terminal, by "
        "source, topic or verdict.\n",
        *_overview(rows),
    ]
    for verdict, words in VERDICT_WORDS.items():
        chosen = [row for row in rows if row.verdict == verdict]
        if chosen:
            lines.append(f"## {words[0].upper()}{words[1:]} {{ #{verdict} }}\n")
        for source, of_source in _by_source(chosen):
            lines.append(f"### {escape(reference(source).title)} {{ #{verdict}-{source} }}\n")
            lines += [(_short if verdict in SHORT else _row)(row) for row in of_source]
    return "\n".join(lines) + "\n"


def _by_source(rows: Iterable[Row]) -> Iterator[tuple[str, list[Row]]]:
    """Sources, those with most rows first, each with its rows in the order of the ledger."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.source, []).append(row)
    yield from sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))


def _overview(rows: list[Row]) -> list[str]:
    """A table of sources and verdicts; each number leads to its rows."""
    shown = [verdict for verdict in VERDICT_WORDS if any(row.verdict == verdict for row in rows)]
    counts = {verdict: sum(row.verdict == verdict for row in rows) for verdict in shown}
    head = ["Source", *(VERDICT_WORDS[verdict] for verdict in shown)]
    table = [f"| {' | '.join(head)} |", "| --- |" + " ---: |" * len(shown)]
    for source, of_source in _by_source(rows):
        cells = []
        for verdict in shown:
            number = sum(row.verdict == verdict for row in of_source)
            cells.append(f"[{number}](#{verdict}-{source})" if number else "")
        table.append(f"| {cite(source, PAGE)} | {' | '.join(cells)} |")
    totals = " | ".join(f"[{counts[verdict]}](#{verdict})" for verdict in shown)
    return [*table, f"| All | {totals} |", ""]


def _short(row: Row) -> str:
    """A row that needs no correction: what is stated, what it comes to, where it stands."""
    computed = f" Computed: {escape(_computed(row))} <code>{escape(row.call)}</code>." if row.call else ""
    proof = [key for key in row.evidence if key != row.source]
    evidence = f" Evidence: {', '.join(cite(key, PAGE) for key in proof)}." if proof else ""
    return (
        f'<article class="fb-claim fb-{row.verdict}" id="{row.id}">\n'
        f"<p>{_anchor(row)} {escape(row.statement)} <strong>{escape(stated_words(row.stated))}</strong> "
        f"({escape(row.where)}).{computed} {escape(row.why)}{evidence}</p>\n</article>\n"
    )


def _anchor(row: Row) -> str:
    return f'<a class="fb-perma" href="#{row.id}" aria-label="Permanent link to {row.id}">#</a>'


def _row(row: Row) -> str:
    slip = row.verdict == "typo"
    parts = [
        f'<article class="fb-claim fb-{row.verdict}" id="{row.id}">',
        f"<p>{_anchor(row)} {escape(row.statement)}</p>",
        '<dl class="fb-facts">',
        fact("Stated", f"<strong>{escape(stated_words(row.stated, words_first=slip))}</strong>"),
    ]
    if row.call:
        parts.append(fact("Computed", f"{escape(_computed(row))} <code>{escape(row.call)}</code>"))
    if row.corrected:
        parts.append(fact("Correct", f"<strong>{escape(stated_words(row.corrected, words_first=slip))}</strong>"))
    if row.reproduces:
        parts.append(fact("How it came about", f"<code>{escape(row.reproduces)}</code>"))
    if row.assumption:
        parts.append(fact("Unsaid", escape(row.assumption)))
    where = f"{cite(row.source, PAGE)}, {escape(row.where)}"
    parts += [
        fact("Verdict", escape(VERDICT_WORDS[row.verdict])),
        fact("Source", where),
        "</dl>",
        f"<p>{escape(row.why)}</p>",
    ]
    if row.evidence:
        parts.append(f"<p>Evidence: {', '.join(cite(key, PAGE) for key in row.evidence)}.</p>")
    return "\n".join([*parts, "</article>\n"])


def fact(name: str, value: str) -> str:
    """A line of a list of facts; both are HTML."""
    return f"<dt>{name}</dt><dd>{value}</dd>"


def _computed(row: Row) -> str:
    """The recomputed value in the unit in which it was stated."""
    value = recompute(row.call)
    stated = row.stated if row.stated.unit else row.corrected
    if stated is None or not stated.unit:
        return format_quantity(value, "1")
    amount = value / unit(stated.unit).factor
    name = "" if stated.unit in ("ratio", "1") else f" {plural(stated.unit, amount)}"
    return f"{format_quantity(amount, '1')}{name}"


def claim_page(row: Row) -> str:
    """Where a row has its permanent address: on the errata page, or with the defects of tools."""
    return f"{PITFALLS if row.defect else PAGE}#{row.id}"


def claim_words(row: Row) -> str:
    """A claim in running text, as plain text: what it states and what is right."""
    slip = row.verdict == "typo"
    text = f"{reference(row.source).title} states {stated_words(row.stated, words_first=slip)}"
    if row.corrected:
        return f"{text}; it is {stated_words(row.corrected, words_first=slip)}"
    return f"{text}; this {VERDICT_WORDS[row.verdict]}"
