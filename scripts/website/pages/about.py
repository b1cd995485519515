"""The page that says how the project is kept: what checks what, and how often a value was wrong."""

from __future__ import annotations

from flopbook.checks.rules import RULES
from flopbook.data.library import load_entries, model_ids, references
from flopbook.formulas import formulas
from scripts.website.markup import Html, Markdown, front_matter, page_text, relative
from scripts.website.pages import changes
from scripts.website.pages.data import audit_section
from scripts.website.pages.errata import recomputed

PAGE = "about.md"


def about_page() -> str:
    """Where numbers come from, how they are kept right, and what to do about a wrong one."""
    blocks = [
        front_matter(
            "How this is kept",
            "Where the numbers of flopbook come from, what checks them, how often one was wrong, "
            "and how to have one corrected.",
        ),
        Markdown("# How this is kept\n"),
        Markdown(
            "flopbook is a set of plain files and one Python package. Every page, command, figure "
            "and download is computed from those files at build time; nobody types a number into "
            "a page.\n"
        ),
        Markdown("## Where a number comes from\n"),
        *_origins(),
        Markdown("## What checks it\n"),
        *_checks(),
        *audit_section(),
        Markdown("## What we do not know\n"),
        Markdown(
            'A value that a vendor has not published is shown as "not published", and one that we '
            "found in no source is left out; nothing is guessed from a similar product. Each "
            "calculator lists what it leaves out, and if that changes the answer by more than a "
            "tenth, the answer says so and by how much. Predictions carry a band, and [measured "
            "against computed]({}) shows how far off they are.\n"
        ).format(relative(PAGE, "measured.md")),
        Markdown("## If you find an error\n"),
        Markdown(
            "Each value leads to its source and to the line of the file that holds it. Correct "
            "that line and open a pull request: [contributing]({}) shows how, and you need no "
            "Python. [Changes]({}) lists what changed and when, and the [feeds and downloads]({}) "
            "do so value by value. Errors in printed sources are in the [errata]({}), those of "
            "other tools under [what goes wrong in practice]({}).\n"
        ).format(
            relative(PAGE, "contributing/index.md"),
            relative(PAGE, changes.PAGE),
            relative(PAGE, "data.md"),
            relative(PAGE, "errata.md"),
            relative(PAGE, "pitfalls.md"),
        ),
    ]
    return page_text(blocks)


def _origins() -> list[Html]:
    entries = load_entries().values()
    claims = sum(len(entry.claims) for entry in entries)
    return [
        Markdown(
            "- **Chips and systems.** {} entries with {} values, each with its source, the day it "
            "was read, and the conditions under which it holds: dense or sparse, one way or both, "
            "per chip or per node.\n"
        ).format(f"{len(entries):,}", f"{claims:,}"),
        Markdown("- **Models.** {} shapes, counted layer by layer.\n").format(len(model_ids())),
        Markdown(
            "- **Works.** {} papers, data sheets and pages, each with what it shows.\n"
        ).format(f"{len(references()):,}"),
        Markdown(
            "- **Formulas.** {} calculators. The printed formula, the form on the page, the "
            "command and the Python function are made from one source.\n"
        ).format(len(formulas())),
    ]


def _checks() -> list[Html]:
    rows = recomputed()
    return [
        Markdown(
            "- **Rules.** {} rules check every entry for the usual mistakes: a sparse rate taken "
            "for a dense one, both directions of a link for one, a node for a chip.\n"
        ).format(len(RULES)),
        Markdown(
            "- **The ledger.** {} statements of our sources are recomputed on every change, and "
            "so are our corrections of them.\n"
        ).format(f"{len(rows):,}"),
        Markdown(
            "- **Equal answers.** {} calculators run in the browser, in Python and on the command "
            "line, and tests check that all three agree.\n"
        ).format(len(formulas())),
        Markdown(
            "- **Measurements.** Predictions are compared with published runs that no fit has "
            "seen.\n"
        ),
        Html(),
    ]
