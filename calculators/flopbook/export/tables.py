"""The data as tables: one SQLite database of everything, and Parquet files of the values of chips
and models.

`published` is the whole of what the export writes, these files included.
"""

from __future__ import annotations

import csv
import json
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from flopbook.changes.history import history
from flopbook.errors import FlopbookError
from flopbook.export import changes_feed as feed
from flopbook.export import records as export

DATABASE = "flopbook.sqlite"
PARQUET = {"accelerators.parquet": "claims", "models.parquet": "model_claims"}
_SQL_TYPES = {"text": "TEXT", "real": "REAL", "flag": "INTEGER", "json": "TEXT"}
_PARQUET_TYPES = {"text": "VARCHAR", "real": "DOUBLE", "flag": "BOOLEAN", "json": "VARCHAR"}


class Table(NamedTuple):
    """Rows with named columns; a column is a text, a real number, a flag, or JSON for lists and
    mappings.
    """

    name: str
    columns: dict[str, str]
    rows: list[tuple[Any, ...]]


CLAIM_COLUMNS = {
    "field": "text",
    "value": "real",
    "words": "text",
    "unit": "text",
    "si_value": "real",
    "si_unit": "text",
    "per": "text",
    "dtype": "text",
    "engine": "text",
    "sparsity": "text",
    "accumulate": "text",
    "at_power_w": "real",
    "at_clock_mhz": "real",
    "tier": "text",
    "type": "text",
    "name": "text",
    "direction": "text",
    "aggregate": "text",
    "topology": "text",
    "of": "text",
    "shape": "text",
    "basis": "text",
    "formula": "text",
    "derived_from": "text",
    "chosen": "flag",
    "known_error": "flag",
    "conflicts_with": "text",
    "source": "text",
    "as_of": "text",
    "url": "text",
    "quote": "text",
    "locator": "text",
    "note": "text",
}


def tables() -> Iterator[Table]:
    """All tables, parents before children."""
    entries, models = export.accelerators(), export.models()
    yield _table(
        "vendors",
        export.vendors(),
        id="text",
        name="text",
        website="text",
        country="text",
        summary="text",
        facts="json",
        white_papers="json",
        media="json",
        research="json",
    )
    yield _table(
        "entries",
        entries,
        id="text",
        vendor="text",
        kind="text",
        name="text",
        family="text",
        summary="text",
        notes="text",
        variant_of="text",
        aliases="json",
        device_names="json",
        status="json",
        contains="json",
    )
    yield _table("claims", _claims(entries), entry="text", **CLAIM_COLUMNS)
    yield _table(
        "models",
        models,
        id="text",
        kind="text",
        name="text",
        developer="text",
        family="text",
        summary="text",
        notes="text",
        aliases="json",
    )
    yield _table("model_claims", _claims(models), entry="text", **CLAIM_COLUMNS)
    yield _table(
        "works",
        export.references_csl(),
        id="text",
        type="text",
        title="text",
        issued="json",
        author="json",
        DOI="text",
        URL="text",
        topics="json",
        annote="text",
    )
    yield _table(
        "ledger",
        export.ledger(),
        id="text",
        source="text",
        verdict="text",
        statement="text",
        stated="json",
        corrected="json",
        why="text",
        call="text",
        locator="json",
        evidence="json",
    )
    yield _table(
        "terms",
        export.terms(),
        id="text",
        term="text",
        also="json",
        symbol="json",
        unit="text",
        meaning="text",
        elsewhere="text",
        chapter="text",
        names="json",
        see_also="json",
        calculators="json",
    )


def _claims(owners: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The claims of all owners.

    A value that is a text goes into `words`: a column holds one kind of thing.
    """
    found = []
    for owner in owners:
        for claim in owner["claims"]:
            number = isinstance(claim["value"], (int, float))
            value = (
                {"value": claim["value"]} if number else {"value": None, "words": claim["value"]}
            )
            found.append({**claim, **value, "entry": owner["id"]})
    return found


def _table(table: str, records: Iterable[dict[str, Any]], /, **columns: str) -> Table:
    return Table(
        table,
        columns,
        [tuple(_cell(r.get(c), kind) for c, kind in columns.items()) for r in records],
    )


def _cell(value: Any, kind: str) -> Any:
    if kind == "flag":
        return bool(value)
    if value is None or value == "":
        return None
    if kind == "json":
        return json.dumps(value, ensure_ascii=False)
    return float(value) if kind == "real" else str(value)


def sqlite_bytes(made: Iterable[Table] | None = None) -> bytes:
    """The database as a file's content, of tables made already or of all; the same data give the
    same bytes.
    """
    with sqlite3.connect(":memory:") as connection:
        for table in tables() if made is None else made:
            columns = ", ".join(
                f'"{name}" {_SQL_TYPES[kind]}' for name, kind in table.columns.items()
            )
            connection.execute(f'CREATE TABLE "{table.name}" ({columns})')
            marks = ", ".join("?" * len(table.columns))
            connection.executemany(f'INSERT INTO "{table.name}" VALUES ({marks})', table.rows)
        connection.execute("CREATE INDEX claims_by_field ON claims (field, dtype, sparsity)")
        connection.commit()
        return connection.serialize()


def parquet_files(made: Iterable[Table] | None = None) -> dict[str, bytes]:
    """Name and content of each Parquet file, of tables made already or of all.

    Raises FlopbookError where the library that writes them is missing.
    """
    try:
        import duckdb
    except ImportError:
        raise FlopbookError("Parquet files need DuckDB: pip install 'flopbook[parquet]'") from None
    settings = {
        "threads": 1,
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    by_name = {table.name: table for table in (tables() if made is None else made)}
    with duckdb.connect(config=settings) as connection, tempfile.TemporaryDirectory() as folder:
        return {
            file: _parquet(connection, by_name[name], Path(folder) / file)
            for file, name in PARQUET.items()
        }


def _parquet(connection: Any, table: Table, path: Path) -> bytes:
    """Through a CSV file, which DuckDB reads a hundred times faster than it takes rows from Python."""
    columns = {name: _PARQUET_TYPES[kind] for name, kind in table.columns.items()}
    rows = path.with_suffix(".csv")
    with rows.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(table.rows)
    form = {
        "header": False,
        "auto_detect": False,
        "delimiter": ",",
        "quotechar": '"',
        "escapechar": '"',
        "na_values": "",
    }
    read = connection.read_csv(str(rows), columns=columns, **form)
    read.write_parquet(str(path), compression="zstd")
    return path.read_bytes()


def published() -> tuple[dict[str, bytes], list[str]]:
    """Every file of the export with its content, and what had to be left out and why."""
    listed = list(tables())
    made = {name: text.encode() for name, text in export.files()} | {DATABASE: sqlite_bytes(listed)}
    left_out = []
    for more in (partial(parquet_files, listed), _feed):
        try:
            made |= more()
        except FlopbookError as error:
            left_out.append(str(error))
    return made, left_out


def _feed() -> dict[str, bytes]:
    try:
        return {feed.FILE: feed.feed(history()).encode()}
    except FlopbookError as error:
        raise FlopbookError(f"{feed.FILE}: {error}") from None
