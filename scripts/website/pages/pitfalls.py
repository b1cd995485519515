"""The page on what goes wrong in practice: defects of calculators and planners, each with the right
figure.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from urllib.parse import urlencode

from flopbook.data.library import reference
from flopbook.drawing.markup import escape, front_matter, inline, link, relative
from flopbook.formulas import get_formula
from flopbook.hardware.chip import chip
from flopbook.ledger.rows import Row, ledger_rows
from scripts.website.pages.errata import PITFALLS as PAGE
from scripts.website.pages.errata import fact, stated_words
from scripts.website.pages.sources import cite, html_link

TITLE = "What goes wrong in practice"
KINDS = {
    "peak": (
        "A peak that is not the one meant",
        "A chip has a rate for each number format, with and without tensor cores, dense or sparse. A table with one "
        "column for all of them sooner or later mixes them.",
    ),
    "value": (
        "A value that no data sheet gives",
        "A number without a source cannot be checked by anybody, and is copied all the more easily.",
    ),
    "factor": (
        "A factor that is missing, or one too many",
        "Keys and values, multiply and add, forward and backward, there and back: most factors of two have a "
        "reason, and each can be forgotten.",
    ),
    "divisor": (
        "Divided by the wrong number of devices",
        "Each kind of parallelism splits some arrays and copies others.",
    ),
    "shape": (
        "Another shape than the model's",
        "A formula for one kind of transformer, with four times the width in a plain block, meets a model of another "
        "kind.",
    ),
    "left-out": (
        "Something left out",
        "Every model leaves something out, ours too; what counts is to know how large it is.",
    ),
    "convention": (
        "A convention or a case taken for another",
        "Two readings of one word differ by a factor. Our page on conventions lists them.",
    ),
}
SEEN = {
    "source": "read in its source code",
    "run": "seen by running it, and in its source code",
    "page": "read on its page",
    "thread": "described by its developers, and read in its source code",
}


@functools.cache
def defects() -> tuple[Row, ...]:
    """The rows of the ledger that tell a defect, in the order of the ledger."""
    return tuple(row for row in ledger_rows() if row.defect)


def pitfalls_page() -> str:
    """All defects, by kind: what the tool gives, what is right, where to read it, and ours with the
    same inputs.
    """
    rows = defects()
    tools = sorted({row.defect.tool for row in rows if row.defect}, key=str.lower)
    lines = [
        front_matter(
            TITLE,
            "Defects of calculators and planners: what each computes, what is right, by how much.",
        ),
        f"# {TITLE}\n",
        f"We read {len(tools)} calculators and planners ({', '.join(tools)}) and compared what they give with "
        f"published figures and with our own formulas. Here are {len(rows)} places where they differ for a reason that "
        "can be named. Each is a test of ours: the wrong figure is named, the right one is computed, and both are "
        "computed again on each change.\n",
        "These tools are useful, and most of what they compute is right. Each entry says which version was read; it "
        "may have been mended since, and then [tell us](contributing/index.md). Errors of printed sources are on the "
        "[errata page](errata.md), and what words mean is on the page of [conventions](conventions.md).\n",
    ]
    for kind, (title, words) in KINDS.items():
        chosen = [row for row in rows if row.defect and row.defect.kind == kind]
        lines += [f"## {title}\n", f"{inline(words)}\n", *map(_defect, chosen)]
    return "\n".join(lines) + "\n"


def pitfalls_of(calculator: str, page: str) -> list[str]:
    """The line on a calculator's page about those who went wrong with the same quantity; empty
    where there is none.
    """
    rows = [row for row in defects() if calculator in {name for name, _ in _calls(row.call)}]
    if not rows:
        return []
    names = [
        link(f"{row.defect.tool}, {row.topic}", html_link(page, f"{PAGE}#{row.id}"))
        for row in rows
        if row.defect
    ]
    return [
        f"[{TITLE}]({relative(page, PAGE)}), where other programs give another answer: {'; '.join(names)}.\n"
    ]


def _defect(row: Row) -> str:
    assert row.defect and row.corrected
    item = reference(row.source)
    parts = [
        f'<article class="fb-claim fb-{row.verdict}" id="{row.id}">',
        f'<p><a class="fb-perma" href="#{row.id}" aria-label="Permanent link to {row.id}">#</a> '
        f"<strong>{escape(row.defect.tool)}.</strong> {escape(row.statement)}</p>",
        '<dl class="fb-facts">',
        fact("It gives", f"<strong>{escape(stated_words(row.stated))}</strong>"),
        fact(
            "Right is",
            f"<strong>{escape(stated_words(row.corrected))}</strong>{escape(difference(row))}",
        ),
        fact("Ours", f"{_ours(row)} <code>{escape(row.call)}</code>"),
    ]
    if row.reproduces:
        parts.append(fact("How it comes about", f"<code>{escape(row.reproduces)}</code>"))
    parts += [
        fact("Version", f"{cite(row.source, PAGE)}. {escape(item.note)}"),
        fact("Where", f"{_place(row)}, {SEEN[row.defect.seen]}"),
        "</dl>",
        f"<p>{escape(row.why)}</p>",
    ]
    if row.evidence:
        parts.append(f"<p>Evidence: {', '.join(cite(key, PAGE) for key in row.evidence)}.</p>")
    return "\n".join([*parts, "</article>\n"])


def difference(row: Row) -> str:
    """By how much the stated figure is off, after a comma; nothing where the figure is none at all."""
    stated, right = row.stated.si_value, row.corrected.si_value if row.corrected else None
    if not stated or not right:
        return ""
    ratio = stated / right
    if 2 / 3 < ratio < 1.5:
        return f", so it gives {abs(ratio - 1) * 100:.2g} % too {'much' if ratio > 1 else 'little'}"
    return (
        f", so it gives {ratio:.3g} times that"
        if ratio > 1
        else f", {1 / ratio:.3g} times what it gives"
    )


def _place(row: Row) -> str:
    """File and line in the tool's repository, as a link to that version."""
    where = f"{row.document}, {row.where}"
    match = re.fullmatch(
        r"(https://github\.com/[^/]+/[^/]+)/tree/([0-9a-f]{40})", reference(row.source).url
    )
    if match is None:
        return escape(where)
    return link(
        where, f"{match[1]}/blob/{match[2]}/{row.document}" + (f"#L{row.line}" if row.line else "")
    )


def _ours(row: Row) -> str:
    """Links to our calculators with the inputs of the row, or to the chips whose values it takes."""
    links = {
        link(
            name, f"{html_link(PAGE, f'calculators/{name}.md')}?{urlencode(_state(name, options))}"
        ): None
        for name, options in _calls(row.call)
    }
    chips = {chip(name).id: None for name in re.findall(r'chip\("([^"]+)"\)', row.call)}
    links |= {link(name, html_link(PAGE, f"accelerators/{name}.md")): None for name in chips}
    return ", ".join(links)


def _calls(expression: str) -> Iterator[tuple[str, dict[str, object]]]:
    """The calculators that an expression asks, each with its options."""
    for node in ast.walk(ast.parse(expression.strip(), mode="eval")):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "calc"
        ):
            yield (
                ast.literal_eval(node.args[0]),
                {str(word.arg): ast.literal_eval(word.value) for word in node.keywords},
            )


def _state(name: str, options: dict[str, object]) -> dict[str, object]:
    """What a form's link must say: these options, and the fields of the form's example that they
    leave as they are.
    """
    inputs, defaults = get_formula(name).inputs, get_formula(name).defaults
    first = {key.replace("-", "_"): "" for key in get_formula(name).examples[0]}
    empty = {key: {"dtype": "bf16", "sparsity": "dense"}.get(key, "") for key in first}
    chosen = {
        key: defaults[key]
        for key in first
        if key in inputs and inputs[key].choices and key in defaults
    }
    return {key.replace("_", "-"): value for key, value in {**empty, **chosen, **options}.items()}
