"""The errata page: what sources state, recomputed, with verdict and correction."""

from __future__ import annotations

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


def stated_words(stated: Stated, *, words_first: bool = False) -> str:
    """What is stated, as text: the number with its unit, or the words (which come first where the slip is in them)."""
    if stated.text and (stated.value is None or words_first):
        return stated.text
    if stated.value is None:
        return ""
    return f"{stated.value:,.10g} {'' if stated.unit in ('ratio', '1') else plural(stated.unit, stated.value)}".strip()


def errata_page() -> str:
    """All rows of the ledger: first what is wrong, then what depends, then what holds."""
    rows = [row for row in ledger_rows() if not row.defect]
    counts = {verdict: sum(row.verdict == verdict for row in rows) for verdict in VERDICT_WORDS}
    summary = ", ".join(f"{count} {VERDICT_WORDS[verdict]}" for verdict, count in counts.items() if count)
    lines = [
        front_matter(
            "Errata",
            "Numeric claims of sources, recomputed with our own formulas and data, with verdict and correction.",
        ),
        "# Errata\n",
        f"We recompute what our sources state. {len(rows)} claims so far: {summary}. Every row is computed again by "
        "the tests on each change, from the same data and formulas that you can run yourself. What calculators and "
        f"planners get wrong is on [another page]({PITFALLS}).\n",
    ]
    for verdict, words in VERDICT_WORDS.items():
        chosen = [row for row in rows if row.verdict == verdict]
        if chosen:
            lines += [f"## {words[0].upper()}{words[1:]}\n", *(_row(row) for row in chosen)]
    return "\n".join(lines) + "\n"


def _row(row: Row) -> str:
    slip = row.verdict == "typo"
    parts = [
        f'<article class="fb-claim fb-{row.verdict}" id="{row.id}">',
        f'<p><a class="fb-perma" href="#{row.id}" aria-label="Permanent link to {row.id}">#</a> '
        f"{escape(row.statement)}</p>",
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
