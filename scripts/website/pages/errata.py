"""The errata and what holds: what sources state, recomputed, with verdict and correction, on two
pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flopbook.data.library import reference
from flopbook.drawing.markup import escape, front_matter
from flopbook.ledger.recomputation import recompute
from flopbook.ledger.rows import Row, Stated, ledger_rows
from flopbook.quantities.units import format_quantity, plural, unit
from scripts.website.pages.sources import cite

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
# Verdicts whose rows need no correction: told in a few lines each, on a page of their own.
SHORT = ("rounding", "holds", "quoted")
_UNNAMED = ("ratio", "1", "count")  # the statement says of what
HEADS = {"typo": "slip", "depends": "depends", "rounding": "rounding", "quoted": "quoted"}


def stated_words(stated: Stated, *, words_first: bool = False) -> str:
    """What is stated, as text: the number with its unit, or the words (which come first where the
    slip is in them).
    """
    if stated.text and (stated.value is None or words_first):
        return stated.text
    if stated.value is None:
        return ""
    return _amount(stated.value, stated.unit, f"{stated.value:,.10g}", 10)


def _amount(value: float, name: str, digits: str, most: int) -> str:
    """A value in the unit of its source, of which `digits` are the digits.

    Nobody counts zeros or reads powers of ten where a word or a prefix will do: 8 billion params,
    180 GB/s. What is stated in digits, such as a number of bytes to the last one, is left as it
    stands below a thousand million.
    """
    if name in _UNNAMED:
        return digits
    if (
        abs(value) >= (1e6 if name in ("param", "token") else 1e9)
        and name != "s"
        and unit(name).factor == 1
    ):
        return format_quantity(value, name, binary=False, digits=most)
    return f"{digits} {'bytes' if name == 'byte' and value != 1 else plural(name, value)}"


def errata_page() -> str:
    """What does not hold, slips and what depends on something unsaid, by source, after an overview
    of all rows.
    """
    rows = [row for row in ledger_rows() if not row.defect]
    lines = [
        front_matter(
            "Errata",
            "Numeric claims of sources, recomputed with our own formulas and data, with verdict and correction.",
        ),
        "# Errata\n",
        f"We recompute what our sources state: {len(rows)} claims so far. Every row is computed again by "
        "the tests on each change, from the same data and formulas that you can run yourself. Here is what does not "
        f"hold as it stands; [what holds, and what can only be quoted]({HELD}), is on a page of its own, and so is "
        f"[what calculators and planners get wrong]({PITFALLS}). `flopbook claims` lists all rows in a terminal, by "
        "source, topic or verdict.\n",
        *_overview(rows),
        *_sections(rows, PAGE),
    ]
    return "\n".join(lines) + "\n"


def claims_page() -> str:
    """What holds, exactly or within rounding, and what can only be quoted, by source."""
    rows = [row for row in ledger_rows() if not row.defect]
    held = [row for row in rows if claim_file(row) == HELD]
    lines = [
        front_matter(
            "Claims that hold",
            "Numeric claims of sources that hold when recomputed, and measured results quoted with their condition.",
        ),
        "# Claims that hold\n",
        f"{len(held)} of {len(rows)} numeric claims of our sources need no correction. Those that hold come out as "
        "stated when computed from our data; quoted are counts and measurements, which nobody can compute, with "
        f"what they were measured on or against. What does not hold is in the [errata]({PAGE}).\n",
        *_sections(rows, HELD),
    ]
    return "\n".join(lines) + "\n"


def _sections(rows: list[Row], page: str) -> Iterator[str]:
    """The rows of a page under a heading for each verdict, and under it one for each source."""
    for verdict, words in VERDICT_WORDS.items():
        chosen = [row for row in rows if row.verdict == verdict and claim_file(row) == page]
        if chosen:
            yield f"## {words[0].upper()}{words[1:]} {{ #{verdict} }}\n"
        for source, of_source in _by_source(chosen):
            yield f"### {escape(reference(source).title)} {{ #{verdict}-{source} }}\n"
            yield from map(_short if page == HELD else _row, of_source)


def _by_source(rows: Iterable[Row]) -> Iterator[tuple[str, list[Row]]]:
    """Sources, those with most rows first, each with its rows in the order of the ledger."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.source, []).append(row)
    yield from sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))


def _overview(rows: list[Row]) -> list[str]:
    """A table of sources and verdicts; each number leads to its rows."""
    shown = [verdict for verdict in VERDICT_WORDS if any(row.verdict == verdict for row in rows)]
    pages = {verdict: HELD if verdict in SHORT else "" for verdict in shown}
    head = ["Source", *(HEADS.get(verdict, VERDICT_WORDS[verdict]) for verdict in shown)]
    table = [f"| {' | '.join(head)} |", "| --- |" + " ---: |" * len(shown)]
    for source, of_source in _by_source(rows):
        counts = [sum(row.verdict == verdict for row in of_source) for verdict in shown]
        cells = [
            f"[{n}]({pages[v]}#{v}-{source})" if n else ""
            for v, n in zip(shown, counts, strict=True)
        ]
        table.append(f"| {cite(source, PAGE)} | {' | '.join(cells)} |")
    totals = [f"[{sum(row.verdict == v for row in rows)}]({pages[v]}#{v})" for v in shown]
    return [*table, f"| All | {' | '.join(totals)} |", ""]


def _short(row: Row) -> str:
    """A row that needs no correction: what is stated, what it comes to, where it stands."""
    computed = (
        f" Computed: {escape(computed_words(row))} <code>{escape(row.call)}</code>."
        if row.call
        else ""
    )
    proof = [key for key in row.evidence if key != row.source]
    evidence = f" Evidence: {', '.join(cite(key, HELD) for key in proof)}." if proof else ""
    return (
        f'<article class="fb-claim fb-{row.verdict}" id="{row.id}">\n'
        f"<p>{_anchor(row)} {escape(row.statement)} Stated: <strong>{escape(stated_words(row.stated))}</strong>, "
        f"{escape(row.where)}.{computed} {escape(row.why)}{evidence}</p>\n</article>\n"
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
        parts.append(
            fact("Computed", f"{escape(computed_words(row))} <code>{escape(row.call)}</code>")
        )
    if row.corrected:
        parts.append(
            fact(
                "Correct",
                f"<strong>{escape(stated_words(row.corrected, words_first=slip))}</strong>",
            )
        )
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


def computed_words(row: Row) -> str:
    """The recomputed value in the unit in which it was stated."""
    value = recompute(row.call)
    stated = row.stated if row.stated.unit else row.corrected
    if stated is None or not stated.unit:
        return format_quantity(value, "1")
    amount = value / unit(stated.unit).factor
    return _amount(amount, stated.unit, format_quantity(amount, "1"), 4)


def claim_file(row: Row) -> str:
    """The page of a row: the errata, what holds, or the defects of tools."""
    return PITFALLS if row.defect else HELD if row.verdict in SHORT else PAGE


def claim_page(row: Row) -> str:
    """Where a row has its permanent address."""
    return f"{claim_file(row)}#{row.id}"


def claim_words(row: Row) -> str:
    """A claim in running text, as plain text: what it states and what is right."""
    slip = row.verdict == "typo"
    text = f"{reference(row.source).title} states {stated_words(row.stated, words_first=slip)}"
    if row.corrected:
        return f"{text}; it is {stated_words(row.corrected, words_first=slip)}"
    return f"{text}; {'' if row.verdict == 'quoted' else 'this '}{VERDICT_WORDS[row.verdict]}"
