"""Plain commands that print or write what the readers give: show, models, cite, claims, lint,
export.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from flopbook.cli.layout import print_json
from flopbook.cli.parser import Option, UsageError
from flopbook.cli.plain import command
from flopbook.data.claims import Claim
from flopbook.errors import printable
from flopbook.evaluation.answers import columns, counted

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
    """Show an accelerator: every value with its source. NAME is an id, product, alias or device
    name.

    Example: flopbook show h100-sxm
    """
    from flopbook.data.library import entry
    from flopbook.export.records import entry_record
    from flopbook.hardware.parts import totals
    from flopbook.hardware.shown import chosen_claims

    found = entry(name)
    if as_json:
        print_json(entry_record(found))
        return
    print(f"{found.name} ({found.id}, {found.kind})\n{found.summary}\n")
    chosen = chosen_claims(found)
    every = [(claim, id(claim) in chosen) for claim in found.claims] + [
        (claim, True) for claim in totals(found)
    ]
    shown = [(claim, best) for claim, best in every if everything or best or claim.si_value is None]
    rows = [
        (
            _label(claim),
            f"{_value(claim)}{'' if best else ' (not chosen)'}",
            claim.basis,
            claim.source,
            f"{claim.as_of}",
        )
        for claim, best in shown
    ]
    print(columns(rows, head=("value", "", "basis", "source", "read")))
    hidden = len(every) - len(shown)
    if hidden:
        print(
            f"\n{counted(hidden, 'value')} of other sources: --all shows {'it' if hidden == 1 else 'them'}"
        )


def _label(claim: Claim) -> str:
    words = (
        claim.field,
        claim.dtype,
        claim.sparsity,
        claim.tier,
        claim.name,
        claim.direction,
        claim.of,
    )
    return " ".join(word for word in (*words, "vector" if claim.engine == "vector" else "") if word)


def _value(claim: Claim) -> str:
    return (
        f"{claim.value:,g} {claim.unit}" if isinstance(claim.value, (int, float)) else claim.words
    )


@command("models")
def models_command(as_json: bool) -> None:
    """List the models whose shapes the calculators know.

    Example: flopbook models
    """
    from flopbook.data.library import load_model, model_ids

    found = [load_model(name) for name in model_ids()]
    if as_json:
        print_json(
            [{"id": m.id, "kind": m.kind, "name": m.name, "developer": m.developer} for m in found]
        )
    else:
        print(columns([(m.id, m.kind, m.developer, m.name) for m in found]))


@command("cite", Option("--bibtex", "bibtex", "Print the BibTeX entry."), argument="WORK [...]")
def cite_command(works: Sequence[str], bibtex: bool, as_json: bool) -> None:
    """Print a reference. WORK is its key, arXiv id, DOI or address, or words of its title.

    Example: flopbook cite williams2009roofline --bibtex
    """
    from flopbook.data.references import csl
    from flopbook.data.works import find_work

    item = find_work(" ".join(works))
    if as_json:
        print_json(csl(item))
    elif bibtex:
        print(item.bibtex)
    else:
        where = f" {item.venue}." if item.venue else ""
        print(f"{item.authors}. {item.title}.{where} {item.year}.\n{item.link}\n{item.annote}")


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
    known = {
        "source": {row.source for row in rows},
        "topic": {row.topic for row in rows},
        "verdict": VERDICTS,
    }
    wanted = {"source": source, "topic": topic, "verdict": verdict}
    for name, value in wanted.items():
        if value is not None and value not in known[name]:
            raise UnknownName(name, value, sorted(known[name]))
        rows = [row for row in rows if value in (None, getattr(row, name))]
    if as_json:
        print_json([row_record(row) for row in rows])
    elif rows:
        print(columns([(row.verdict, row.id, row.statement) for row in rows]))
    else:
        print("No row is all of these.")


@command("export", argument="FOLDER")
def export_command(folder: str, as_json: bool) -> None:
    """Write all data to FOLDER as JSON, CSV, BibTeX, SQLite and Parquet. The site has the same
    files in api/v1/.

    Example: flopbook export flopbook-data
    """
    from flopbook.export.tables import published

    if Path(folder).is_file():
        raise UsageError(f"{printable(folder)} is a file, expected a folder")
    written = []
    made, left_out = published()  # everything is computed before anything is written
    for name, content in made.items():
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        written.append({"file": str(path), "bytes": len(content)})
    if as_json:
        print_json(written)
    else:
        print(columns([(item["file"], f"{item['bytes']:,} bytes") for item in written]))
        for reason in left_out:
            print(f"left out: {reason}")
