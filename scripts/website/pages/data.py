"""The page of data files and schemas, and the page of models."""

from __future__ import annotations

from flopbook.changes.history import history
from flopbook.data.library import load_model, model_ids
from flopbook.drawing.markup import escape, front_matter, table
from flopbook.errors import FlopbookError
from flopbook.export.changes_feed import FILE
from flopbook.hardware.choice import choose
from scripts.website.pages.values import value_cell

PAGE = "data.md"
MODELS = "models.md"
FILES = {
    "accelerators.json": "all accelerators, each claim with `si_value`, `si_unit`, `chosen` and `url`",
    "accelerators.csv": "the same, one claim a row",
    "flopbook.sqlite": "everything as one SQLite database: `entries`, `claims`, `models`, `works`, `ledger` ...",
    "accelerators.parquet": "the values of all accelerators for data frames",
    "models.parquet": "the values of all models for data frames",
    "vendors.json": "vendors with facts",
    "models.json": "shapes of models",
    "references.json": "all references as CSL-JSON, with `topics` and `annote`",
    "references.bib": "all references as BibTeX",
    "claims.json": "the ledger of recomputed claims",
    "calculators.json": "calculators: inputs, outputs, LaTeX, JavaScript",
    "glossary.json": "terms and symbols, with the calculators that use them",
}


def data_page() -> str:
    """Where the data is, what is in it, how to use it."""
    return "\n".join(
        [
            front_matter(
                "Data and API",
                "All data as JSON, CSV, BibTeX, SQLite and Parquet, with schemas; the same from the command line.",
            ),
            "# Data and API\n",
            "Everything on this site comes from these files, and `flopbook export FOLDER` writes the same. They are "
            "static: no key, no limit. Data and prose are CC-BY-4.0, code is Apache-2.0.\n",
            *(f"- [`{name}`](api/v1/{name}): {words}" for name, words in FILES.items()),
            *_feed_line(),
            "\nThe schemas under which entries are accepted: "
            + ", ".join(
                f"[{name}](api/v1/schema/{name}.json)"
                for name in ("accelerator", "vendor", "model", "topics", "claims", "glossary")
            )
            + ".\n",
            "\nFor readers that are programs: [llms.txt](llms.txt) lists all pages, and each page is there as Markdown "
            "too, at its address with `index.md` behind it. Every topic of the [references](references/index.md) has a "
            "feed of its works.\n",
            "\nThe address holds the version: within `api/v1/` names and meanings stay, and fields are only added.\n",
            "## In a query\n",
            "```sql\nSELECT entry, value, unit, source FROM claims\nWHERE field = 'peak' AND dtype = 'bf16' "
            "AND sparsity = 'dense' AND chosen\nORDER BY si_value DESC;\n```\n",
            "## In a program\n",
            "```python\nfrom flopbook import chip\n\n"
            'h100 = chip("NVIDIA H100 80GB HBM3")  # an id, an alias or what the driver reports\n'
            'h100.peak("bf16")                    # FLOP/s, dense\n'
            'h100.peak("bf16", sparsity="2:4")    # only when asked for\n'
            'h100.pick_peak("bf16").claim.quote   # what the source says\n```\n',
        ]
    )


def _feed_line() -> list[str]:
    """The feed of changes, where this was built with the history that it is made from."""
    try:
        count = len(history())
    except FlopbookError:
        return []
    words = f"an Atom feed of values that were added, changed or corrected ({count} changes of entries so far)"
    return [f"- [`{FILE}`](api/v1/{FILE}): {words}"]


MODEL_FIELDS = (
    ("params", "Parameters"),
    ("active_params", "Active"),
    ("layers", "Layers"),
    ("d_model", "Width"),
    ("d_ff", "Feed-forward"),
    ("heads", "Heads"),
    ("kv_heads", "KV heads"),
    ("vocab", "Vocabulary"),
    ("tokens", "Tokens trained"),
)


def models_page() -> str:
    """All models with their shapes; every value tells its source."""
    rows = []
    for name in model_ids():
        item = load_model(name)
        cells = []
        for field, _ in MODEL_FIELDS:
            claims = [c for c in item.claims if c.field == field]
            claim = choose(claims) or next(iter(claims), None)
            anchor = "m-" + "".join(c if c.isalnum() else "-" for c in f"{name}-{field}")
            sort = f"sort:{claim.si_value}|" if claim and claim.si_value else ""
            cells.append(
                f"{sort}{value_cell(claim, anchor)}" if claim else '<span class="fb-none">-</span>'
            )
        rows.append(
            (
                f'<span id="{name}">{escape(item.name)}</span><br><code>{name}</code>',
                escape(item.kind),
                *cells,
            )
        )
    head = ("Model", "Kind", *(f"#{title}" for _, title in MODEL_FIELDS))
    return "\n".join(
        [
            front_matter(
                "Models", "Shapes of published models, each value with its source.", wide=True
            ),
            "# Models\n",
            "Shapes that the calculators know by name, such as `flopbook training-flops --model gpt-3-175b`. A "
            "value shows its source on hover, by keyboard and on touch.\n",
            table(head, rows, kind="fb-sort", caption="Models"),
        ]
    )
