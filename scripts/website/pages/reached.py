"""What people really reach: the table of published runs, and its excerpts for chips and models."""

from __future__ import annotations

import functools
import statistics
import textwrap
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from flopbook.data.accelerators import Entry
from flopbook.data.library import load_entry, reference
from flopbook.data.runs import MeasuredRun
from flopbook.prediction.reached import Reached, reached_runs
from flopbook.quantities.formatting import in_unit
from flopbook.quantities.units import format_quantity, percent
from scripts.website.markup import (
    Html,
    Markdown,
    Sortable,
    link,
    table,
)
from scripts.website.pages.accelerators import entry_page
from scripts.website.pages.run_kinds import KINDS, PLAIN, TITLES
from scripts.website.pages.sources import html_link, leading, stylesheet

PAGE = "reached.md"
FIRST = 100  # rows on the page; the script fetches the others when a reader comes near
SCRIPTS = "assets/flopbook/"
HEAD = (
    "What ran",
    "Chip",
    "#Reached",
    "#Share of printed",
    "Format",
    "#Chips",
    "#Year",
    "Kind",
    "¶Configuration",
    "¶Source",
)
# Words of names that tell no chip of ours from another.
_SHARED_WORDS = (
    *("Google Cloud ", "Instinct ", "Grace Hopper Superchip ", "Tesla ", " Generation"),
    *("Data Center ", "GeForce ", " Edition"),
)
_DEGREES = {"tp": "TP", "pp": "PP", "dp": "DP", "cp": "CP", "ep": "EP", "zero_stage": "ZeRO"}
# Beyond this a locator or a name of software is cut between words: the source has it in full.
_LONGEST = 48
_TERA = {"FLOP/s": "TFLOP/s", "OP/s": "TOP/s", "byte/s": "TB/s"}
# An excerpt for a chip shows no more rows of a kind than these, the highest first.
_MOST = 8


@functools.lru_cache(maxsize=1)
def shown_runs() -> tuple[Reached, ...]:
    """All published runs in the order of the page: by kind, newest first."""
    order = list(KINDS)
    return tuple(
        sorted(reached_runs(), key=lambda run: (order.index(run.row.kind), -run.date, run.row.id))
    )


def runs_on(page: str) -> tuple[Reached, ...]:
    """The runs of a page of PLAIN. Raises KeyError for another page."""
    return tuple(run for run in shown_runs() if run.row.kind in PLAIN[page])


def reached_table(page: str, runs: Sequence[Reached]) -> Html:
    """These runs as a table, each as a row."""
    rows = [_row(run, page) for run in runs]
    return table(HEAD, rows, kind="fb-sort fb-runs", caption="Published runs", stacked=True)


def first_runs(page: str) -> Html:
    """The first runs as a table, what the script needs to filter all, and the way to all."""
    runs = shown_runs()
    addresses = Html(" ").join(html_link(page, plain) for plain in PLAIN)
    further = Html(", ").join(link(TITLES[plain], html_link(page, plain)) for plain in PLAIN)
    return Html("\n").join(
        [
            stylesheet(page, f"{SCRIPTS}explorer/panel.css"),
            Html('<div class="fb-reached" data-all="{}"><div class="fb-panel"></div>').format(
                addresses
            ),
            reached_table(page, runs[:FIRST]),
            Html('<p class="fb-more">These are {} of {:,}. All of them: {}.</p>').format(
                len(runs[:FIRST]), len(runs), further
            ),
            Html('</div>\n<script type="module" src="{}"></script>').format(
                html_link(page, f"{SCRIPTS}reached/main.js")
            ),
        ]
    )


def _row(run: Reached, page: str) -> list[str | Sortable]:
    row = run.row
    return [
        _name_cell(run, page),
        _chip_cell(run, page),
        _rate(run),
        _share(run),
        run.format or "-",
        _number(row.hardware.get("n_chips")),
        Sortable(Html("{:.0f}").format(int(run.date)), round(run.date, 1)),
        KINDS[row.kind],
        _configuration(run),
        source_link(run),
    ]


def what(row: MeasuredRun) -> str:
    """What ran: the model, or the operation with its size."""
    if row.model:
        return str(row.model["name"])
    if row.kind == "collective":
        return str(row.run.get("op", "collective")).replace("_", "-")
    shape = row.run.get("matmul_shape_mxnxk") or row.run.get("matmul_shape_mxkxn")
    return sides(shape) if shape else str(row.run.get("benchmark") or KINDS[row.kind])


def sides(shape: str) -> str:
    """The sides of a matrix product as they are printed: 4,096 × 4,096 × 4,096."""
    return " × ".join(f"{int(side):,}" if side.isdigit() else side for side in shape.split("x"))


def _name_cell(run: Reached, page: str) -> str | Html:
    """The name of the source, linked to the model of ours that it means."""
    if not run.model:
        return what(run.row)
    return link(what(run.row), html_link(page, f"models.md#{run.model}"))


def _chip_cell(run: Reached, page: str) -> str | Html:
    if not run.chip:
        return str(run.row.hardware["chip"])
    return link(short_name(run.chip), html_link(page, entry_page(run.chip)))


def short_name(chip_id: str) -> str:
    """The name of a chip without what stands in brackets and without words that all share."""
    name = load_entry(chip_id).name.partition(" (")[0]
    for word in _SHARED_WORDS:
        name = name.replace(word, "")
    return name


def _number(value: float | None) -> str | Sortable:
    if value is None:
        return Html('<span class="fb-none">-</span>')
    return Sortable(Html("{:,g}").format(value), value)


def _rate(run: Reached) -> str | Sortable:
    rate = run.rate
    if rate.value is None:
        return Html('<span class="fb-none">-</span>')
    return Sortable(Html.escape(format_quantity(rate.value, rate.unit)), _rounded(rate.value))


def _share(run: Reached) -> str | Sortable:
    rate = run.rate
    if rate.share is None:
        return Html('<span class="fb-none">-</span>')
    shown = Html("{:.1f} %").format(100 * rate.share)
    if rate.basis in ("as printed", "6ND"):
        shown += Html(" <small>{}</small>").format(rate.basis)
    return Sortable(shown, _rounded(rate.share))


def _rounded(value: float) -> float:
    """A value to sort by: digits that no cell shows would only weigh."""
    return float(f"{value:.4g}")


def _configuration(run: Reached) -> Html:
    """How it ran in a line; a row that cannot be computed says why."""
    words = Html.escape(", ".join([*_limits(run), *_settings(run.row)]))
    for reason in _doubts(run):
        words += Html(' <span class="fb-badge">{}</span>').format(reason)
    return words


def _limits(run: Reached) -> list[str]:
    """What the source adds to the chip's name: half of it, a cap on its power.

    Without it a rate of one of two devices would read as that of the whole chip.
    """
    name = str(run.row.hardware.get("chip", ""))
    _, bracket, added = name.partition("(")
    # A chip without a page of ours stands in its cell with all that its source says of it.
    return [added.removesuffix(")")] if bracket and run.chip else []


def _settings(row: MeasuredRun) -> list[str]:
    degrees, run = row.parallelism, row.run
    settings = [
        f"{name} {degrees[key]}" for key, name in _DEGREES.items() if degrees.get(key, 1) > 1
    ]
    if "seq_len_tokens" in row.model:
        settings.append(f"seq {row.model['seq_len_tokens']:,}")
    if "global_batch_seqs" in degrees:
        settings.append(f"batch {degrees['global_batch_seqs']:,}")
    if "batch_seqs" in run:
        settings.append(f"batch {run['batch_seqs']:,}")
    if "input_len_tokens" in run:
        settings.append(f"{run['input_len_tokens']:,} in, {run.get('output_len_tokens', 0):,} out")
    if "message_bytes" in row.measured:
        settings.append(format_quantity(row.measured["message_bytes"], "byte"))
    for name in ("phase", "software"):
        if name in run:
            settings.append(cut(str(run[name])))
    return settings


def _doubts(run: Reached) -> list[str]:
    doubts = [flag.replace("_", " ") for flag in run.row.flags]
    if run.rate.lacks:
        return [run.rate.lacks, *doubts]
    return doubts if run.row.complete else ["configuration incomplete", *doubts]


def cut(text: str) -> str:
    """The first part of a text of one line that no column is wide enough for."""
    first = text.partition("; ")[0]
    return (
        first if len(first) <= _LONGEST else textwrap.shorten(first, _LONGEST, placeholder=" ...")
    )


def source_link(run: Reached) -> Html:
    """The source of a run, and the place in it."""
    work = reference(run.source.source)
    words = leading(work.short, work)
    return words + Html(" <small>{}</small>").format(cut(run.row.where)) if run.row.where else words


# Excerpts.


def runs_of_chip(chip_id: str) -> list[Reached]:
    """The published runs on a chip."""
    return [run for run in shown_runs() if run.chip == chip_id]


def runs_of_model(model_id: str) -> list[Reached]:
    """The published runs of a model."""
    return [run for run in shown_runs() if run.model == model_id]


class Spread(NamedTuple):
    """How many runs, and the lowest, middle and highest share that they reach."""

    number: int
    low: float
    median: float
    high: float


def spread(runs: Iterable[Reached]) -> Spread | None:
    """The spread of the shares of some runs; None where none of them has one."""
    shares = sorted(run.rate.share for run in runs if run.rate.share is not None)
    if not shares:
        return None
    return Spread(len(shares), shares[0], statistics.median(shares), shares[-1])


def measured_section(entry: Entry, page: str) -> list[Html]:
    """The section of a chip's page: printed rates beside measured ones, and its training runs.

    Empty for a chip of which nobody has published a run.
    """
    runs = runs_of_chip(entry.id)
    rows = [
        _beside(run)
        for kind in ("matmul_peak", "hbm_bandwidth")
        for run in best_by_source([run for run in runs if run.row.kind == kind])
    ]
    words = [_trained(runs), _served(runs)]
    if not rows and not any(words):
        return []
    blocks: list[Html] = [Markdown("\n## Measured\n")]
    if rows:
        head = ("Test", "Format", "#Printed", "#Measured", "#Ratio", "¶How", "¶Source")
        blocks.append(table(head, rows, caption="Printed beside measured", stacked=True))
    address = f"{html_link(page, PAGE)}?chip={entry.id}"
    all_runs = Markdown("All of them with configuration and source: {}.\n").format(
        link("what people really reach", address)
    )
    return [*blocks, Markdown("\n{}\n").format(Html(" ").join([*filter(None, words), all_runs]))]


def best_by_source(runs: Sequence[Reached]) -> list[Reached]:
    """The highest run of each source and format: the rate that the chip sustains at best."""
    best: dict[tuple[str, str], Reached] = {}
    for run in runs:
        key = (run.row.publication, run.format)
        if key not in best or _value(run) > _value(best[key]):
            best[key] = run
    return sorted(best.values(), key=lambda run: (run.format, -_value(run)))[:_MOST]


def _value(run: Reached) -> float:
    return run.rate.value or 0.0


def _beside(run: Reached) -> tuple[str | Html, ...]:
    rate, row = run.rate, run.row
    printed, ratio = "-", "-"
    if rate.value and rate.share:
        printed = _in_tera(float(f"{rate.value / rate.share:.6g}"), rate.unit)
        ratio = percent(rate.share)
    how = [
        what(row),
        *_limits(run),
        *(str(row.run[name]) for name in ("software", "other") if name in row.run),
    ]
    shown = _in_tera(rate.value, rate.unit) if rate.value else "-"
    return (
        KINDS[row.kind],
        run.format or "-",
        printed,
        shown,
        ratio,
        ", ".join(map(cut, how)),
        source_link(run),
    )


def _in_tera(value: float, si_unit: str) -> str:
    """A rate in one unit for the whole column: a thousand TFLOP/s stand beside a hundred."""
    return in_unit(value, _TERA[si_unit]) if si_unit in _TERA else format_quantity(value, si_unit)


def _trained(runs: Sequence[Reached]) -> Markdown | None:
    """A sentence on the training runs of a chip."""
    found = spread(run for run in runs if run.row.kind == "training_throughput")
    if found is None:
        return None
    low, high, median = (f"{100 * n:.0f}" for n in (found.low, found.high, found.median))
    if found.number == 1:
        return Markdown("The one training run on record reaches an MFU of {} %.").format(median)
    if low == high:
        return Markdown("{} published training runs all reach an MFU of {} %.").format(
            found.number, low
        )
    return Markdown(
        "{} published training runs reach an MFU of {} to {} %, with a median of {} %."
    ).format(found.number, low, high, median)


def _served(runs: Sequence[Reached]) -> Markdown | None:
    count = sum(run.row.kind == "inference" for run in runs)
    if not count:
        return None
    if count == 1:
        return Markdown("1 published inference run is on record.")
    return Markdown("{} published inference runs are on record.").format(count)


def model_cell(model_id: str, page: str) -> str | Sortable:
    """The runs of a model for the table of models: how many, and the median MFU of training."""
    runs = runs_of_model(model_id)
    if not runs:
        return Html('<span class="fb-none">-</span>')
    address = f"{html_link(page, PAGE)}?model={model_id}"
    words = link(f"{len(runs):,}", address)
    spread_of_runs = spread(run for run in runs if run.row.kind == "training_throughput")
    if spread_of_runs:
        words += Html(", MFU {} %").format(f"{100 * spread_of_runs.median:.0f}")
    return Sortable(words, len(runs))
