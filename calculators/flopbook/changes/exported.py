"""A folder that `flopbook export` wrote, as a snapshot to compare with.

Such a folder may come from anywhere, so what a comparison asks of a record is checked here, once.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from flopbook.changes.snapshot import HEAD, MODEL_HEAD, Record
from flopbook.data.files import read_text
from flopbook.errors import FlopbookError, printable, shorten

TABLES = ("accelerators", "vendors", "models", "claims", "references")
_ROW = ("verdict", "statement", "source")
_CLAIM_TEXTS = ("field", "source")
# What an export adds to a claim.
_ADDED = ("si_unit", "url")
# What a table or a claim has beside texts and numbers: reasons by rule.
_NESTED = ("exceptions",)


def is_export(folder: Path) -> bool:
    """Whether `flopbook export` wrote a folder, or began to: it writes this file first."""
    try:
        return (folder / "accelerators.json").is_file()
    except (OSError, ValueError):  # what can be no path is no folder
        return False


def exported(folder: Path) -> Record:
    """An exported folder as a snapshot; it has verdicts, but no results of calculators."""
    try:
        tables = {name: _table(folder / f"{name}.json") for name in TABLES}
        return {
            "entries": {_id(row): _bare(row, HEAD) for row in tables["accelerators"]},
            "vendors": {_id(row): compact(row) for row in tables["vendors"]},
            "models": {_id(row): _bare(row, MODEL_HEAD) for row in tables["models"]},
            "references": {_id(row): "" for row in tables["references"]},
            "ledger": {_id(row): ledger_row(row) for row in tables["claims"]},
        }
    except (
        *(OSError, ValueError, KeyError, TypeError, AttributeError),
        *(RecursionError, MemoryError),
    ) as error:
        what = f"{printable(str(folder))} is no folder that flopbook export wrote"
        raise FlopbookError(f"{what}: {printable(shorten(repr(error)))}") from None


def _table(path: Path) -> list[Any]:
    table = json.loads(read_text(path), parse_constant=_refuse)
    if not isinstance(table, list):
        raise TypeError("expected lists")
    return table


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


def _id(row: Mapping[str, Any]) -> str:
    return _text(row, "id")


def _text(record: Mapping[str, Any], name: str) -> str:
    text = record[name]
    if not isinstance(text, str):
        raise TypeError(f"{name} is no text")
    return text


def ledger_row(row: Mapping[str, Any]) -> Record:
    """As much of a row of the ledger as an export has of it."""
    return {key: _text(row, key) for key in _ROW}


def _bare(record: Mapping[str, Any], head: Iterable[str]) -> Record:
    """A record without what the export adds to it."""
    _text(record, "kind")
    return {
        **{name: record.get(name) for name in head},
        "claims": [_claim(claim) for claim in record["claims"]],
    }


def _claim(claim: Mapping[str, Any]) -> Record:
    """A claim whose fields are texts and numbers, so that any two of them can be compared."""
    for name in _CLAIM_TEXTS:
        _text(claim, name)
    for name, value in claim.items():
        if name not in _NESTED and not _is_scalar(value):
            raise TypeError(f"{shorten(name)} is neither a text nor a number")
    si_value = claim["si_value"]
    if isinstance(si_value, str) or not isinstance(claim["chosen"], bool):
        raise TypeError("si_value is no number, or chosen is no truth value")
    if claim["value"] is None:
        raise TypeError("value is none")
    return {name: value for name, value in claim.items() if name not in _ADDED}


def _is_scalar(value: Any) -> bool:
    """A text, nothing, or a number that a float can be."""
    if isinstance(value, (int, float)):
        return abs(value) <= sys.float_info.max
    return value is None or isinstance(value, str)


def compact(value: Any) -> Any:
    """A record as both the file and the export have it: no empty values, all scalars as text."""
    if isinstance(value, Mapping):
        return {
            key: compact(inner) for key, inner in value.items() if inner not in ("", None, [], {})
        }
    if isinstance(value, list):
        return [compact(inner) for inner in value]
    return str(value)
