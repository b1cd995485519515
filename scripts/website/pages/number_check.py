"""The page on which a number can be checked, and the record that its script reads."""

from __future__ import annotations

import json
from collections.abc import Iterable

from flopbook.data.library import entry_ids, load_entry, reference
from flopbook.factcheck import facts, words
from flopbook.factcheck.judging import judge
from flopbook.factcheck.reading import read
from scripts.website.markup import (
    Html,
    Markdown,
    attribute,
    code_block,
    front_matter,
    page_text,
    relative,
    table,
)
from scripts.website.pages.forms import without_script
from scripts.website.pages.sources import home_topic, html_link, stylesheet, topic_page

PAGE = "check.md"
RECORD = "assets/flopbook/check.json"
_FOLDER = "assets/flopbook/check/"
_TYPED = "H100 bf16 989 TFLOPS"
_COMMAND = f'flopbook check "{_TYPED}"'
# One for each kind of answer; what they say is computed.
EXAMPLES = (
    "H100 1,979 TFLOPS",
    _TYPED,
    "H100 NVLink 900 GB/s",
    "H100 640 GB",
    "MI300X fp8 5.2 PFLOPS",
    "H100 2 TB/s",
    "T4 16 GiB",
    "H100 80 GB HBM2e",
    "H100 1,234 TFLOPS",
)


def page() -> str:
    """The box, what it answers by example, and the command."""
    blocks = [
        front_matter(
            "Check a number",
            "Paste a figure about a chip and see whether it holds, what it leaves open, and who "
            "published it.",
        ),
        stylesheet(PAGE, f"{_FOLDER}check.css"),
        Markdown("# Check a number\n"),
        Markdown(
            "Slides and posts quote peak rates with sparsity, links both ways and memory of whole "
            "nodes without saying so. Type a chip and a figure: the answer says whether it holds "
            "as written, and if not, which condition is missing. Every answer comes from the "
            "[claims on file]({}).\n"
        ).format(relative(PAGE, "accelerators/index.md")),
        Html('<div class="fb-check-number">{}</div>\n').format(
            without_script(_COMMAND, answer(_TYPED))
        ),
        Markdown("## What it answers\n"),
        _examples(),
        Markdown(
            "\nA rate without a format is read as dense bf16, a link bandwidth as one way, and "
            "every figure as that of one chip. A figure may be rounded in the usual way: by half "
            "of its last digit, but by no more than 5 %, or 2 % if it has a single digit.\n"
        ),
        Markdown("## In a terminal\n"),
        code_block(f"$ {_COMMAND}", "console"),
        Markdown(
            "\nThe exit status is 0 where every number of the text holds, 1 where one does not, "
            "and 2 where there is nothing to check; `--json` gives claim, source and quote to a "
            "program.\n"
        ),
        Html('<script type="module" src="{}"></script>').format(
            html_link(PAGE, f"{_FOLDER}main.js")
        ),
    ]
    return page_text(blocks) + "\n"


def _examples() -> Html:
    rows = [(_try(text), answer(text)) for text in EXAMPLES]
    return table(("Typed", "Answer"), rows, caption="Examples")


def _try(text: str) -> Html:
    query = text.replace(" ", "+")
    return Html('<a class="fb-check-try" href="?text={}">{}</a>').format(attribute(query), text)


def answer(text: str) -> str:
    """What the command says of a text."""
    findings = [judge(statement, facts.subject) for statement in read(text, facts.names())]
    return ". ".join("; ".join(finding.says) for finding in findings)


def files() -> dict[str, str]:
    """The record of the script: words, names, facts, and where each source stands."""
    record = facts.record() | {"words": words.record()}
    keys = sorted({fact.source for name in entry_ids() for fact in facts.subject(name).facts})
    record["sources"] = _places(keys)
    record["chips"] = [name for name in entry_ids() if load_entry(name).computes]
    return {RECORD: json.dumps(record, ensure_ascii=False, separators=(",", ":"))}


def _places(keys: Iterable[str]) -> dict[str, list[str]]:
    """Key of a source -> how it is cited, and its place on the site."""
    works = [reference(key) for key in keys]
    return {
        work.key: [work.short, f"{topic_page(home_topic(work)).removesuffix('.md')}/#{work.key}"]
        for work in works
    }
