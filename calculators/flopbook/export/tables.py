"""The data as tables: an SQLite database of everything, Parquet files of chips, models and
measured runs.

`published` is the whole of what the export writes, these files included.
"""

from __future__ import annotations

import csv
import json
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from flopbook.changes.history import history
from flopbook.errors import FlopbookError, reason_of
from flopbook.export import changes_feed as feed
from flopbook.export import records as export

DATABASE = "flopbook.sqlite"
PARQUET = {
    "accelerators.parquet": "claims",
    "models.parquet": "model_claims",
    "runs.parquet": "runs",
}
# JSON stands in a column of text; a flag is 0 or 1 to SQLite.
_SQL_TYPES = {"text": "TEXT", "real": "REAL", "flag": "INTEGER", "json": "TEXT"}
_PARQUET_TYPES = {"text": "VARCHAR", "real": "DOUBLE", "flag": "BOOLEAN", "json": "VARCHAR"}


# How csv.writer writes by default: nothing is left for DuckDB to guess.
_CSV_FORM = {
    "header": False,
    "auto_detect": False,
    "delimiter": ",",
    "quotechar": '"',
    "escapechar": '"',
    "na_values": "",
}


class Table(NamedTuple):
    """Rows with named columns, each a text, a real number, a flag, or JSON for what has parts."""

    name: str
    columns: dict[str, str]
    rows: list[tuple[Any, ...]]


# Name and kind of each column, in the order of the published tables.
CLAIM_COLUMNS = {
    **{"field": "text", "value": "real", "words": "text", "unit": "text"},
    **{"si_value": "real", "si_unit": "text", "per": "text", "dtype": "text"},
    **{"engine": "text", "sparsity": "text", "accumulate": "text"},
    **{"at_power_w": "real", "at_clock_mhz": "real", "point": "text"},
    **{"tier": "text", "type": "text"},
    **{"name": "text", "direction": "text", "aggregate": "text", "topology": "text"},
    **{"of": "text", "shape": "text", "basis": "text", "formula": "text"},
    **{"derived_from": "text", "chosen": "flag", "known_error": "flag"},
    **{"conflicts_with": "text", "source": "text", "as_of": "text", "url": "text"},
    **{"quote": "text", "locator": "text", "note": "text"},
}
_COLUMNS = {
    "vendors": {
        **{"id": "text", "name": "text", "website": "text", "country": "text"},
        **{"summary": "text", "facts": "json", "white_papers": "json", "media": "json"},
        **{"research": "json"},
    },
    "entries": {
        **{"id": "text", "vendor": "text", "kind": "text", "name": "text", "family": "text"},
        **{"market": "text", "summary": "text", "notes": "text", "variant_of": "text"},
        **{"aliases": "json"},
        **{"device_names": "json", "die": "json", "status": "json", "contains": "json"},
    },
    "claims": {"entry": "text", **CLAIM_COLUMNS},
    "models": {
        **{"id": "text", "kind": "text", "name": "text", "developer": "text"},
        **{"family": "text", "summary": "text", "notes": "text", "aliases": "json"},
    },
    "model_claims": {"entry": "text", **CLAIM_COLUMNS},
    "runs": {
        **dict.fromkeys(export.RUN_COLUMNS, "text"),
        **dict.fromkeys(("chips", "date", "value", "share", "seq", "batch"), "real"),
        **dict.fromkeys(export.RUN_DEGREES, "real"),
        "complete": "flag",
    },
    "works": {
        **{"id": "text", "type": "text", "title": "text", "issued": "json", "author": "json"},
        **{"DOI": "text", "URL": "text", "topics": "json", "annote": "text"},
    },
    "ledger": {
        **{"id": "text", "source": "text", "verdict": "text", "statement": "text"},
        **{"stated": "json", "corrected": "json", "why": "text", "call": "text"},
        **{"locator": "json", "evidence": "json"},
    },
    "terms": {
        **{"id": "text", "term": "text", "also": "json", "symbol": "json", "unit": "text"},
        **{"meaning": "text", "elsewhere": "text", "chapter": "text", "names": "json"},
        **{"see_also": "json", "calculators": "json"},
    },
}


def tables() -> Iterator[Table]:
    """All tables, parents before children."""
    entries, models = export.accelerators(), export.models()
    yield _table("vendors", export.vendors())
    yield _table("entries", entries)
    yield _table("claims", _claims(entries))
    yield _table("models", models)
    yield _table("model_claims", _claims(models))
    yield _table("runs", export.run_rows())
    yield _table("works", export.references_csl())
    yield _table("ledger", export.ledger())
    yield _table("terms", export.terms())


def _claims(owners: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The claims of all owners.

    A value that is a text goes into `words`: a column holds one kind of thing.
    """
    rows = []
    for owner in owners:
        for claim in owner["claims"]:
            row = {**claim, "entry": owner["id"]}
            if not isinstance(claim["value"], (int, float)):
                row |= {"value": None, "words": claim["value"]}
            rows.append(row)
    return rows


def _table(name: str, records: Iterable[dict[str, Any]]) -> Table:
    columns = _COLUMNS[name]
    return Table(name, columns, [_cells(record, columns) for record in records])


def _cells(record: dict[str, Any], columns: dict[str, str]) -> tuple[Any, ...]:
    return tuple(_cell(record.get(column), kind) for column, kind in columns.items())


def _cell(value: Any, kind: str) -> Any:
    if kind == "flag":
        return bool(value)
    if value is None or value == "":
        return None
    if kind == "json":
        return json.dumps(value, ensure_ascii=False)
    return float(value) if kind == "real" else str(value)


def sqlite_bytes(built: Iterable[Table] | None = None) -> bytes:
    """The database as a file's content; the same data give the same bytes.

    `built` are tables that are there already; without them all are built.
    """
    with sqlite3.connect(":memory:") as connection:
        for table in tables() if built is None else built:
            columns = [f'"{name}" {_SQL_TYPES[kind]}' for name, kind in table.columns.items()]
            connection.execute(f'CREATE TABLE "{table.name}" ({", ".join(columns)})')
            marks = ", ".join("?" * len(columns))
            connection.executemany(f'INSERT INTO "{table.name}" VALUES ({marks})', table.rows)
        connection.execute("CREATE INDEX claims_by_field ON claims (field, dtype, sparsity)")
        connection.commit()
        return connection.serialize()


def parquet_files(built: Iterable[Table] | None = None) -> dict[str, bytes]:
    """Name and content of each Parquet file, of tables as for `sqlite_bytes`.

    Raises FlopbookError as `parquet_of` does.
    """
    by_name = {table.name: table for table in (tables() if built is None else built)}
    return parquet_of({file: by_name[name] for file, name in PARQUET.items()})


def parquet_of(files: Mapping[str, Table]) -> dict[str, bytes]:
    """Name of a file -> content as Parquet, of the table that is to be in it.

    Raises FlopbookError where the library that writes them, or space for drafts, is missing.
    """
    try:
        import duckdb
    except ImportError:
        raise FlopbookError("Parquet files need DuckDB: pip install 'flopbook[parquet]'") from None
    # One thread for rows in their order; extensions are neither needed nor fetched.
    settings: dict[str, str | bool | int | float | list[str]] = {
        "threads": 1,
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    contents = {}
    try:
        with duckdb.connect(config=settings) as connection, tempfile.TemporaryDirectory() as folder:
            for file, table in files.items():
                contents[file] = _parquet(connection, table, Path(folder) / file)
    except (OSError, duckdb.IOException) as error:
        reason = reason_of(error)
        place = "cannot be written in the folder for temporary files"
        raise FlopbookError(f"Parquet files {place}: {reason}") from None
    return contents


def _parquet(connection: Any, table: Table, path: Path) -> bytes:
    """Through a CSV file, which DuckDB reads a hundred times faster than rows from Python."""
    columns = {name: _PARQUET_TYPES[kind] for name, kind in table.columns.items()}
    rows_path = path.with_suffix(".csv")
    with rows_path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows(table.rows)
    relation = connection.read_csv(str(rows_path), columns=columns, **_CSV_FORM)
    relation.write_parquet(str(path), compression="zstd")
    return path.read_bytes()


def published() -> tuple[dict[str, bytes], list[str]]:
    """Every file of the export with its content, and what had to be left out and why."""
    built = list(tables())
    contents = {name: text.encode() for name, text in export.files()}
    contents[DATABASE] = sqlite_bytes(built)
    left_out = []
    optional: Callable[[], dict[str, bytes]]
    for optional in (partial(parquet_files, built), _feed):
        try:
            contents |= optional()
        except FlopbookError as error:
            left_out.append(str(error))
    return contents, left_out


def _feed() -> dict[str, bytes]:
    try:
        return {feed.FILE: feed.feed(history()).encode()}
    except FlopbookError as error:
        raise FlopbookError(f"{feed.FILE}: {error}") from None
