"""The page of data files and schemas, and the page of models."""

from __future__ import annotations

from flopbook.changes.history import history
from flopbook.checks.audit import Score, audits, pooled, rate_in_words
from flopbook.checks.staleness import PRICE_LIMIT
from flopbook.data.library import load_model, model_ids
from flopbook.data.models import Model
from flopbook.errors import FlopbookError
from flopbook.export.changes_feed import FILE
from flopbook.hardware.choice import choose
from scripts.website.markup import (
    Html,
    Markdown,
    Sortable,
    attribute,
    code_block,
    front_matter,
    link,
    page_text,
    table,
    tooltip,
)
from scripts.website.pages import planner, planner_data, serving_data, serving_planner
from scripts.website.pages.priced import newest_prices, price_table
from scripts.website.pages.reached import model_cell
from scripts.website.pages.sought import sought_prices_section, sought_section
from scripts.website.pages.sources import html_link, provenance
from scripts.website.pages.values import shown_value

PAGE = "data.md"
MODELS = "models.md"
FILES = {
    "accelerators.json": Markdown(
        "all accelerators, each claim with `si_value`, `si_unit`, `chosen` and `url`"
    ),
    "accelerators.csv": Markdown("the same, one claim a row"),
    "flopbook.sqlite": Markdown(
        "everything as one SQLite database: `entries`, `claims`, `models`, `works`, `ledger` ..."
    ),
    "accelerators.parquet": Markdown("the values of all accelerators for data frames"),
    "models.parquet": Markdown("the values of all models for data frames"),
    "runs.json": Markdown(
        "measured runs with sources; `reached` has the rate and its share of the printed one"
    ),
    "runs.csv": Markdown("the same, one run a row"),
    "runs.parquet": Markdown("the same for data frames"),
    "prices.json": Markdown("list prices of clouds, each with its day and source"),
    "audit.csv": Markdown(
        "all audits: every value looked up, with day, seed, verdict and where it was read"
    ),
    "vendors.json": Markdown("vendors with facts"),
    "models.json": Markdown("shapes of models"),
    "references.json": Markdown("all references as CSL-JSON, with `topics` and `annote`"),
    "references.bib": Markdown("all references as BibTeX"),
    "claims.json": Markdown("the ledger of recomputed claims"),
    "calculators.json": Markdown("calculators: inputs, outputs, LaTeX, JavaScript"),
    "glossary.json": Markdown("terms and symbols, with the calculators that use them"),
}
SCHEMAS = ("accelerator", "vendor", "model", "topics", "claims", "glossary", "runs", "prices")
_QUERY = """\
SELECT entry, value, unit, source FROM claims
WHERE field = 'peak' AND dtype = 'bf16' AND sparsity = 'dense' AND chosen
ORDER BY si_value DESC;"""
_PROGRAM = """\
from flopbook import chip

h100 = chip("NVIDIA H100 80GB HBM3")  # an id, an alias or what the driver reports
h100.peak("bf16")                    # FLOP/s, dense
h100.peak("bf16", sparsity="2:4")    # only when asked for
h100.pick_peak("bf16").claim.quote   # what the source says"""


def data_page() -> str:
    """Where the data is, what is in it, how to use it."""
    schemas = Html(", ").join(
        Markdown("[{0}](api/v1/schema/{0}.json)").format(name) for name in SCHEMAS
    )
    blocks = [
        front_matter(
            "Data and API",
            "All data as JSON, CSV, BibTeX, SQLite and Parquet, with schemas; "
            "the same from the command line.",
        ),
        Markdown("# Data and API\n"),
        Markdown(
            "Everything on this site comes from these files, and `flopbook export FOLDER` writes "
            "the same. They are static: no key, no limit. Data and prose are CC-BY-4.0, code is "
            "Apache-2.0.\n"
        ),
        *(_file_line(name, words) for name, words in FILES.items()),
        *_feed_line(),
        Markdown("\nThe schemas under which entries are accepted: {}.\n").format(schemas),
        Markdown(
            "\nFor programs: [llms.txt](llms.txt) lists every page, and `index.md` added to the "
            "address of a page gives it as Markdown. Each topic of the "
            "[references](references/index.md) has a feed of its works.\n"
        ),
        Markdown(
            "\nThe address holds the version: within `api/v1/` names and meanings stay, and fields "
            "are only added.\n"
        ),
        *audit_section(),
        *sought_section(),
        *_price_section(),
        Markdown("## In a query\n"),
        code_block(_QUERY, "sql") + Html("\n"),
        Markdown("## In a program\n"),
        code_block(_PROGRAM, "python") + Html("\n"),
    ]
    return page_text(blocks)


def audit_section() -> list[Html]:
    """How many of the shown values were wrong in each audit; empty where there was none."""
    past = audits()
    if not past:
        return []
    together = pooled(audit.score for audit in past)
    return [
        Markdown("## How often a value is wrong\n"),
        Markdown(
            "`flopbook audit` draws published values at random and hides them; the auditor then "
            "looks each one up in its primary source or an independent one. In {}, the last on "
            "{}, {} values were drawn and {} could be found. Wrong: {}. Misleading, such as a "
            "rounded rate beside the exact one: {}. The {} values that could not be found in any "
            "available source count in neither rate. Whatever was wrong or misleading has been "
            "corrected, in that value and in others like it. The [sheet](api/v1/audit.csv) lists "
            "every value with its verdict and where it was read; `flopbook audit --sample 100 "
            "--seed 7` draws another sample.\n"
        ).format(
            _audits_in_words(len(past)),
            past[-1].date,
            together.looked_up + together.not_found,
            together.looked_up,
            rate_in_words(together.wrong),
            rate_in_words(together.misleading),
            together.not_found,
        ),
        Html("\n"),
        table(
            ("Audit", "#Drawn", "#Found", "#Wrong", "#Misleading"),
            [
                *(_audit_row(f"{audit.date}, seed {audit.seed}", audit.score) for audit in past),
                *([_audit_row("Together", together)] if len(past) > 1 else []),
            ],
            caption="Audits, each rate with its 95 % interval",
            stacked=True,
        ),
        Html("\n"),
    ]


def _audits_in_words(number: int) -> str:
    return "one audit" if number == 1 else f"{number} audits"


def _audit_row(named: str, score: Score) -> list[str]:
    drawn = score.looked_up + score.not_found
    # The caption says of what the brackets are.
    rates = (
        rate_in_words(rate).replace("95 % interval ", "")
        for rate in (score.wrong, score.misleading)
    )
    return [named, f"{drawn:,}", f"{score.looked_up:,}", *rates]


def _price_section() -> list[Html]:
    """What clouds charge by the hour; empty where no price is on record."""
    if not newest_prices():
        return []
    return [
        Markdown("## What clouds charge by the hour\n"),
        Markdown(
            "List prices by the chip, with its share of the host, as of the day they were read. "
            "`flopbook stale` names those that are older than {} days.\n"
        ).format(PRICE_LIMIT.days),
        price_table(PAGE),
        *sought_prices_section(),
        Html("\n"),
    ]


def _file_line(name: str, words: Html) -> Html:
    return Markdown("- [`{0}`](api/v1/{0}): {1}").format(attribute(name), words)


def _feed_line() -> list[Html]:
    """The feed of changes, where this was built with the history that it is made from."""
    try:
        count = len(history())
    except FlopbookError:
        return []
    words = Markdown(
        "an Atom feed of values that were added, changed or corrected "
        "({} changes of entries so far)"
    ).format(count)
    return [_file_line(FILE, words)]


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
    """All models with their shapes; every value shows its source."""
    head = ("Model", "Kind", *(f"#{title}" for _, title in MODEL_FIELDS), "#Published runs")
    rows = [_model_row(name) for name in model_ids()]
    blocks = [
        front_matter(
            "Models", "Shapes of published models, each value with its source.", wide=True
        ),
        Markdown("# Models\n"),
        Markdown(
            "Shapes that the calculators know by name, such as `flopbook training-flops --model "
            "gpt-3-175b`. A value shows its source on hover, by keyboard and on touch. The links "
            "below a name open the planners with that model.\n"
        ),
        table(head, rows, kind="fb-sort fb-models", caption="Models", stacked=True),
    ]
    return page_text(blocks)


def _model_row(name: str) -> list[str | Sortable]:
    model = load_model(name)
    title = Html('<span id="{0}">{1}</span><br><code>{2}</code>{3}').format(
        attribute(name), model.name, name, _plans(name)
    )
    cells = (_model_cell(model, name, field) for field, _ in MODEL_FIELDS)
    return [title, model.kind, *cells, model_cell(name, MODELS)]


def _plans(name: str) -> Html:
    """The planners that can be asked for a model, with it."""
    trained = planner_data.models()
    asked = {
        planner.PAGE: ("train", trained),
        serving_planner.PAGE: ("serve", serving_data.models(trained)),
    }
    links = [
        link(words, Html("{}?model={}").format(html_link(MODELS, page), attribute(name)))
        for page, (words, models) in asked.items()
        if name in {model.id for model in models}
    ]
    return Html(" {}").format(Html(" · ").join(links)) if links else Html()


def _model_cell(model: Model, name: str, field: str) -> str | Sortable:
    claims = [claim for claim in model.claims if claim.field == field]
    # A field that nobody publishes has a claim without a value, which the cell shows in words.
    claim = choose(claims) or next(iter(claims), None)
    if claim is None:
        return Html('<span class="fb-none">-</span>')
    # An anchor with a dot would need escapes in a selector of CSS.
    letters = (letter if letter.isalnum() else "-" for letter in f"{name}-{field}")
    # The head of the column says of what: 671 billion parameters.
    shown = shown_value(claim).removesuffix(" params").removesuffix(" tokens")
    cell = tooltip(shown, provenance(claim), f"m-{''.join(letters)}")
    if not claim.si_value:
        return cell
    return Sortable(cell, claim.si_value)
