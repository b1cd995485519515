"""Plain commands that print or write what is on file: show, models, cite, claims, export."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from flopbook.cli.layout import print_json
from flopbook.cli.parser import Option, UsageError
from flopbook.cli.plain import command
from flopbook.data.claims import Claim
from flopbook.errors import FlopbookError, UnknownName, printable
from flopbook.evaluation.answers import columns, counted

if TYPE_CHECKING:
    from flopbook.data.accelerators import Entry

_VERDICT = Option(
    "--verdict",
    "verdict",
    "Only rows with this verdict: holds, rounding, does-not-hold, depends, typo, quoted.",
    "NAME",
)
_SOURCE = Option(
    "--source", "source", "Only rows of this source, by the key of its reference.", "KEY"
)
_TOPIC = Option(
    "--topic", "topic", "Only rows on this part of the subject, such as memory.", "WORD"
)


@command(
    "show", Option("--all", "everything", "Show the values of other sources too."), argument="NAME"
)
def show_command(name: str, everything: bool, as_json: bool) -> None:
    """Show an accelerator: every value with its source.
    NAME is an id, product, alias or device name.

    Example: flopbook show h100-sxm
    """
    from flopbook.export.records import entry_record
    from flopbook.hardware.parts import settled_totals
    from flopbook.hardware.shown import chosen_claims

    accelerator = _shown(name)
    if as_json:
        print_json(entry_record(accelerator))
        return
    print(f"{accelerator.name} ({accelerator.id}, {accelerator.kind})\n{accelerator.summary}\n")
    chosen = chosen_claims(accelerator)
    rows, hidden = [], 0
    # By identity: two sources may print the same value under the same conditions.
    for claim in accelerator.claims:
        in_use = id(claim) in chosen
        # What is not published has no rival: it is shown as it is.
        if in_use or everything or claim.si_value is None:
            rows.append(_claim_row(claim, in_use))
        else:
            hidden += 1
    rows += [_claim_row(total.of_parts, total.is_sum) for total in settled_totals(accelerator)]
    print(columns(rows, head=("value", "", "basis", "source", "read")))
    if hidden:
        them = "it" if hidden == 1 else "them"
        print(f"\n{counted(hidden, 'value')} of other sources: --all shows {them}")


def _claim_row(claim: Claim, in_use: bool) -> tuple[str, ...]:
    value = _claim_value(claim)
    if not in_use:
        value += " (not chosen)"
    return (_claim_label(claim), value, claim.basis, claim.source, f"{claim.as_of}")


def _claim_label(claim: Claim) -> str:
    """The field and the conditions of a claim; the tensor engine goes without saying."""
    engine = "vector" if claim.engine == "vector" else ""
    conditions = (claim.dtype, claim.sparsity, claim.tier, claim.name, claim.direction, claim.of)
    return " ".join(word for word in (claim.field, *conditions, engine) if word)


def _claim_value(claim: Claim) -> str:
    if isinstance(claim.value, (int, float)):
        return f"{claim.value:,g} {claim.unit}"
    return claim.words


def _shown(name: str) -> Entry:
    """The accelerator of this name; for a model, where its sizes are shown."""
    from flopbook.data.library import entry, model_ids

    try:
        return entry(name)
    except UnknownName:
        if name.strip().lower() not in model_ids():
            raise
        model = name.strip().lower()
        raise FlopbookError(f"{model} is a model: flopbook params --model {model}") from None


@command("models", argument="[WORD]")
def models_command(word: str | None, as_json: bool) -> None:
    """List the models whose shapes the calculators know, those with a WORD in id, name or maker.

    Example: flopbook models qwen
    """
    from flopbook.data.library import load_model, model_ids

    every = [load_model(name) for name in model_ids()]
    part = (word or "").lower()
    models = [m for m in every if part in f"{m.id} {m.name} {m.developer}".lower()]
    if not models:
        raise UnknownName("model", str(word), model_ids())
    if as_json:
        print_json(
            [{"id": m.id, "kind": m.kind, "name": m.name, "developer": m.developer} for m in models]
        )
    else:
        print(columns([(m.id, m.kind, m.developer, m.name) for m in models]))


@command("cite", Option("--bibtex", "bibtex", "Print the BibTeX entry."), argument="WORK [...]")
def cite_command(works: Sequence[str], bibtex: bool, as_json: bool) -> None:
    """Print a reference. WORK is its key, arXiv id, DOI or address, or words of its title.

    Example: flopbook cite williams2009roofline --bibtex
    """
    from flopbook.data.references import csl
    from flopbook.data.works import find_work

    work = find_work(" ".join(works))
    if as_json:
        print_json(csl(work))
    elif bibtex:
        print(work.bibtex)
    else:
        venue = f" {work.venue}." if work.venue else ""
        print(f"{work.authors}. {work.title}.{venue} {work.year}.\n{work.place}\n{work.annote}")


@command("claims", _VERDICT, _SOURCE, _TOPIC)
def claims_command(
    verdict: str | None, source: str | None, topic: str | None, as_json: bool
) -> None:
    """List the numeric claims of sources, recomputed, with their verdicts.

    Example: flopbook claims --verdict does-not-hold
    """
    from flopbook.errors import UnknownName
    from flopbook.export.records import row_record
    from flopbook.ledger.rows import VERDICTS, ledger_rows

    rows = list(ledger_rows())
    quantities = {
        "source": sorted({row.source for row in rows}),
        "topic": sorted({row.topic for row in rows}),
        "verdict": sorted(VERDICTS),
    }
    filters = {"source": source, "topic": topic, "verdict": verdict}
    for field, wish in filters.items():
        if wish is None:
            continue
        if wish not in quantities[field]:
            raise UnknownName(field, wish, quantities[field])
        rows = [row for row in rows if getattr(row, field) == wish]
    if as_json:
        print_json([row_record(row) for row in rows])
    elif rows:
        print(columns([(row.verdict, row.id, row.statement) for row in rows]))
    else:
        print("No row is all of these.")


@command("export", argument="FOLDER")
def export_command(folder: str, as_json: bool) -> None:
    """Write all data to FOLDER as JSON, CSV, BibTeX, SQLite and Parquet.
    The site has the same files in api/v1/.

    Example: flopbook export flopbook-data
    """
    from flopbook.data.files import write_all
    from flopbook.export.tables import published

    for place in (Path(folder), *Path(folder).parents):
        # os.path, since Path raises for a name that is too long and for a circle of links.
        if os.path.lexists(place) and not os.path.isdir(place):
            raise UsageError(f"{printable(str(place))} is a file, expected a folder")
    with contextlib.suppress(FileNotFoundError):
        os.lstat(folder)  # a name that no file system takes is said before seconds of computing
    contents, left_out = published()  # everything is computed before anything is written
    _refuse_others(Path(folder), contents)
    paths = write_all(Path(folder), contents)
    sizes = dict(zip(map(str, paths), map(len, contents.values()), strict=True))
    if as_json:
        print_json([{"file": file, "bytes": size} for file, size in sizes.items()])
        return
    print(columns([(file, f"{size:,} bytes") for file, size in sizes.items()]))
    for reason in left_out:
        print(f"left out: {reason}")


def _refuse_others(folder: Path, names: Iterable[str]) -> None:
    """Raise UsageError for a folder where a file of another's would be replaced."""
    from flopbook.changes.exported import is_export

    if is_export(folder):
        return
    if taken := next((name for name in names if os.path.lexists(folder / name)), None):
        raise UsageError(
            f"{printable(str(folder / taken))} is there and of no earlier export, and would be "
            "replaced; name a folder that is empty or not there"
        )
