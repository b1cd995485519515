"""The data as tables: what a query finds is what the entries say."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from flopbook.data.claims import CLAIM_FIELDS
from flopbook.data.library import entry_ids, glossary, model_ids, references, vendor_ids
from flopbook.data.measured_runs import run_files
from flopbook.export import records as export
from flopbook.export import tables
from flopbook.hardware.chip import chip
from flopbook.ledger.rows import ledger_rows


@pytest.fixture(scope="module")
def built() -> list[tables.Table]:
    """All tables, which take seconds."""
    return list(tables.tables())


@pytest.fixture(scope="module")
def files() -> list[tuple[str, str]]:
    """All other files, which take as long."""
    return list(export.files())


@pytest.fixture(scope="module")
def database(
    built: list[tables.Table], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[sqlite3.Connection]:
    path = tmp_path_factory.mktemp("tables") / tables.DATABASE
    path.write_bytes(tables.sqlite_bytes(built))
    connection = sqlite3.connect(path)
    yield connection
    connection.close()


def test_every_record_is_a_row(database: sqlite3.Connection) -> None:
    counts = {
        "entries": len(entry_ids()),
        "vendors": len(vendor_ids()),
        "models": len(model_ids()),
        "works": len(references()),
        "ledger": len(ledger_rows()),
        "terms": len(glossary()),
        "claims": sum(len(entry["claims"]) for entry in export.accelerators()),
        "model_claims": sum(len(model["claims"]) for model in export.models()),
        "runs": sum(len(file.rows) for file in run_files().values()),
    }
    for table, count in counts.items():
        assert database.execute(f"SELECT count(*) FROM {table}").fetchone() == (count,), table


def test_the_query_of_the_data_page_finds_the_chosen_dense_peak(
    database: sqlite3.Connection,
) -> None:
    peaks = dict(
        database.execute(
            "SELECT entry, si_value FROM claims "
            "WHERE field = 'peak' AND dtype = 'bf16' AND engine = 'tensor' "
            "AND sparsity = 'dense' AND chosen AND accumulate IS NULL AND per = 'package'"
        )
    )
    for name in ("nvidia/h100-sxm", "amd/mi300x", "google/tpu-v5p"):
        assert peaks[name] == chip(name).peak("bf16")


def test_a_value_is_a_number_or_words_never_both(database: sqlite3.Connection) -> None:
    odd = "SELECT count(*) FROM claims WHERE (value IS NULL) = (words IS NULL)"
    assert database.execute(odd).fetchone() == (0,)
    words = {
        row[0]
        for row in database.execute(
            "SELECT words FROM claims WHERE field IN ('peak', 'memory', 'power')"
        )
    }
    assert words <= {None, "not published", "none"}


def test_no_column_of_a_claim_is_forgotten() -> None:
    """`exceptions` speaks to the check of the data and to nobody else."""
    assert set(CLAIM_FIELDS) - set(tables.CLAIM_COLUMNS) == {"exceptions"}


def test_lists_are_json(database: sqlite3.Connection) -> None:
    (aliases,) = database.execute(
        "SELECT device_names FROM entries WHERE id = 'nvidia/h100-sxm'"
    ).fetchone()
    assert "NVIDIA H100 80GB HBM3" in json.loads(aliases)


def test_a_die_is_json_with_its_source(database: sqlite3.Connection) -> None:
    rows = database.execute(
        "SELECT die FROM entries WHERE id IN ('nvidia/h100-sxm', 'google/tpu-v6e')"
    )
    read = [json.loads(die) if die else None for (die,) in rows]
    assert [die and (die["name"], die["source"]) for die in read] == [
        None,
        ("GH100", "dbgpu2025database"),
    ]


def test_the_same_data_give_the_same_bytes() -> None:
    one, other = list(tables.tables()), list(tables.tables())
    assert tables.sqlite_bytes(one) == tables.sqlite_bytes(other)
    assert tables.parquet_files(one) == tables.parquet_files(other)


def test_parquet_holds_what_the_database_holds(
    tmp_path: Path, database: sqlite3.Connection
) -> None:
    import duckdb

    for name, content in tables.parquet_files().items():
        path = tmp_path / name
        path.write_bytes(content)
        columns, flag = "entry, field, value", "chosen"
        if name == "runs.parquet":
            columns, flag = "id, kind, value", "complete"
        rows = duckdb.sql(f"SELECT {columns}, {flag} FROM '{path}'").fetchall()
        stored = database.execute(
            f"SELECT {columns}, {flag} FROM {tables.PARQUET[name]}"
        ).fetchall()
        assert rows == [(*row[:3], bool(row[3])) for row in stored] and len(rows) > 90


def test_without_the_library_the_rest_is_written_and_the_gap_is_said(
    monkeypatch: pytest.MonkeyPatch, built: list[tables.Table], files: list[tuple[str, str]]
) -> None:
    monkeypatch.setattr(tables, "tables", lambda: built)
    monkeypatch.setattr(export, "files", lambda: files)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    written, left_out = tables.published()
    assert {*dict(files), tables.DATABASE} <= set(written) and not set(tables.PARQUET) & set(
        written
    )
    assert left_out[0] == "Parquet files need DuckDB: pip install 'flopbook[parquet]'"


def test_without_history_there_is_no_feed_and_the_gap_is_said(
    monkeypatch: pytest.MonkeyPatch, built: list[tables.Table], files: list[tuple[str, str]]
) -> None:
    monkeypatch.setattr(tables, "tables", lambda: built)
    monkeypatch.setattr(export, "files", lambda: files)
    monkeypatch.setattr("flopbook.changes.history.checkout", lambda: None)
    written, left_out = tables.published()
    assert "changes.atom" not in written and left_out == [
        "changes.atom: an installed package has no history"
    ]
