"""The page of defects of calculators and planners, each with the right figure."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from urllib.parse import urlencode

from flopbook.data.library import reference
from flopbook.formulas import get_formula
from flopbook.hardware.chip import chip
from flopbook.ledger.rows import Row, ledger_rows
from scripts.website.markup import (
    Html,
    Markdown,
    front_matter,
    link,
    page_text,
    permalink,
    relative,
    tag,
    trusted,
)
from scripts.website.pages.errata import PITFALLS, claim_article, fact
from scripts.website.pages.sources import cite, html_link
from scripts.website.pages.stated import stated_words

PAGE = PITFALLS
TITLE = "What goes wrong in practice"
KINDS = {
    "peak": (
        "A peak that is not the one meant",
        "A chip has a rate for each number format, with and without tensor cores, dense or sparse. "
        "A table with one column for all of them sooner or later mixes them.",
    ),
    "value": (
        "A value that no data sheet gives",
        "A number without a source cannot be checked, yet it gets copied all the same.",
    ),
    "factor": (
        "A factor that is missing, or one too many",
        "Keys and values, multiply and add, forward and backward, send and receive: most factors "
        "of two have a reason, and any of them can be forgotten.",
    ),
    "divisor": (
        "Divided by the wrong number of devices",
        "Each kind of parallelism splits some arrays and copies others.",
    ),
    "shape": (
        "A shape that the model does not have",
        "A formula for one kind of transformer, with a plain feed-forward block of four times the "
        "width, is applied to a model of another kind.",
    ),
    "left-out": (
        "Something left out",
        "Every model leaves something out, ours included; what matters is how much.",
    ),
    "convention": (
        "One convention or case mistaken for another",
        "Two readings of the same word differ by a factor. Our page on conventions lists them.",
    ),
}
SEEN = {
    "source": "read in its source code",
    "run": "seen by running it, and in its source code",
    "page": "read on its page",
    "thread": "described by its developers, and read in its source code",
}
# A tool is cited at the version that was read: a tree of its repository at a commit.
_TREE = re.compile(r"(https://github\.com/[^/]+/[^/]+)/tree/([0-9a-f]{40})")
# Where a form's example picks a chip, a row that leaves these out means the form's own defaults.
_USUAL = {"dtype": "bf16", "sparsity": "dense"}


@functools.cache
def defects() -> tuple[Row, ...]:
    """The rows of the ledger that report a defect of a tool, in the order of the ledger."""
    return tuple(row for row in ledger_rows() if row.defect)


def pitfalls_page() -> str:
    """All defects by kind: what the tool gives, what is right, and ours with the same inputs."""
    rows = defects()
    tools = sorted({row.defect.tool for row in rows if row.defect}, key=str.lower)
    blocks = [
        front_matter(
            TITLE,
            "Defects of calculators and planners: what each computes, what is right, by how much.",
        ),
        Markdown("# {}\n").format(TITLE),
        Markdown(
            "We read {} calculators and planners ({}) and compared their answers with published "
            "figures and with our own formulas. Here are {} places where they differ and we can "
            "say why. Each entry gives the tool's figure beside the right one, and a test of ours "
            "recomputes both on every change.\n"
        ).format(len(tools), ", ".join(tools), len(rows)),
        Markdown(
            "These tools are useful, and most of what they compute is right. Each entry says which "
            "version we read; if it has been fixed since, [tell us](contributing/index.md). Errors "
            "in printed sources are in the [errata](errata.md); what words mean here is on the "
            "page of [conventions](conventions.md).\n"
        ),
    ]
    for kind, (title, words) in KINDS.items():
        chosen = [row for row in rows if row.defect and row.defect.kind == kind]
        blocks += [Markdown("## {}\n").format(trusted(title)), Markdown("{}\n").format(words)]
        blocks += map(_article, chosen)
    return page_text(blocks) + "\n"


def pitfalls_of(calculator: str, page: str) -> list[Html]:
    """The line on a calculator's page about known defects with its quantity; empty without any."""
    rows = [row for row in defects() if calculator in dict(_calls(row.call))]
    if not rows:
        return []
    links = Html("; ").join(
        link(f"{row.defect.tool}, {row.topic}", html_link(page, f"{PAGE}#{row.id}"))
        for row in rows
        if row.defect
    )
    return [
        Markdown("[{}]({}), where other programs give another answer: {}.\n").format(
            TITLE, relative(page, PAGE), links
        )
    ]


def _article(row: Row) -> Html:
    assert row.defect and row.corrected
    correction = Html("<strong>{}</strong>{}").format(stated_words(row.corrected), difference(row))
    facts = [
        fact("It gives", tag("strong", stated_words(row.stated))),
        fact("Right is", correction),
        fact("Ours", Html("{} <code>{}</code>").format(_our_pages(row), row.call)),
    ]
    if row.reproduces:
        facts.append(fact("What gives it", tag("code", row.reproduces)))
    version = Html("{}. {}").format(cite(row.source, PAGE), reference(row.source).note)
    facts += [
        fact("Version", version),
        fact("Where", Html("{}, {}").format(_place(row), SEEN[row.defect.seen])),
    ]
    opening = Html("{} <strong>{}.</strong> {}").format(
        permalink(row.id), row.defect.tool, row.statement
    )
    return claim_article(row, opening, facts)


def difference(row: Row) -> str:
    """By how much the stated figure is off, after a comma; nothing where there is no figure."""
    stated = row.stated.si_value
    correct = row.corrected.si_value if row.corrected else None
    if not stated or not correct:
        return ""
    ratio = stated / correct
    # Between these a percentage reads better than a factor.
    if 2 / 3 < ratio < 1.5:
        direction = "much" if ratio > 1 else "little"
        return f", so it gives {abs(ratio - 1) * 100:.2g} % too {direction}"
    if ratio > 1:
        return f", so it gives {ratio:.3g} times that"
    return f", {1 / ratio:.3g} times what it gives"


def _place(row: Row) -> Html:
    """File and line in the tool's repository, as a link to that version."""
    words = f"{row.document}, {row.where}"
    match = _TREE.fullmatch(reference(row.source).url)
    if match is None:
        return Html.escape(words)
    repository, commit = match.groups()
    line = f"#L{row.line}" if row.line else ""
    return link(words, f"{repository}/blob/{commit}/{row.document}{line}")


def _our_pages(row: Row) -> Html:
    """Links to our calculators with the inputs of the row, or to the chips that it names."""
    links = []
    for name, options in _calls(row.call):
        form = html_link(PAGE, f"calculators/{name}.md")
        links.append(link(name, f"{form}?{urlencode(_form_state(name, options))}"))
    for alias in re.findall(r'chip\("([^"]+)"\)', row.call):
        entry_id = chip(alias).id
        links.append(link(entry_id, html_link(PAGE, f"accelerators/{entry_id}.md")))
    return Html(", ").join(dict.fromkeys(links))  # each page once


def _calls(expression: str) -> Iterator[tuple[str, dict[str, object]]]:
    """The calculators that an expression asks, each with its options."""
    for node in ast.walk(ast.parse(expression.strip(), mode="eval")):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
            continue
        if node.func.id == "calc":
            options = {str(word.arg): ast.literal_eval(word.value) for word in node.keywords}
            yield ast.literal_eval(node.args[0]), options


def _form_state(name: str, options: dict[str, object]) -> dict[str, object]:
    """What a form's link must say: these options, and the fields of its example that they keep."""
    formula = get_formula(name)
    state: dict[str, object] = {}
    for option in formula.examples[0]:
        key = option.replace("-", "_")
        state[key] = _USUAL.get(key, "")
        if key in formula.inputs and formula.inputs[key].choices and key in formula.defaults:
            state[key] = formula.defaults[key]
    return {key.replace("_", "-"): setting for key, setting in {**state, **options}.items()}
