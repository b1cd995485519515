"""What the readers of entries, vendors and models share: a checked document, dates, and claims."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from flopbook.data.claims import NONE, NOT_PUBLISHED, Claim
from flopbook.data.contributed_text import text_problems
from flopbook.data.folders import schema_paths
from flopbook.data.schema import check, load_schema
from flopbook.data.yaml_text import Node, read_yaml
from flopbook.errors import DataError, Problem, shorten, show_path

# Words of a model's shape; "none" is one of them and no missing value.
WORD_FIELDS = (
    *("ffn", "tied_embeddings", "positions", "biases", "norm", "qk_norm"),
    *("attention_gate", "attention_pattern", "key_is_value", "state_kind"),
    *("weight_format", "weight_format_of", "weight_format_beside"),
)
TEXT_FIELDS = (
    "announced",
    "launched",
    "process",
    "form_factor",
    "compute_capability",
    *WORD_FIELDS,
)


def read_checked(path: Path, schema: str, expected_id: str | None = None) -> Node:
    """Read a YAML file and check it against a published schema, and the id where it has one.

    Raises DataError with every problem.
    """
    document, file = read_yaml(path), show_path(path)
    problems = [
        *check(document, load_schema(schema_paths()[schema]), file),
        *text_problems(document, file),
        *(() if expected_id is None else _id_problems(document, file, expected_id)),
    ]
    if problems:
        raise DataError(problems)
    return document


def _id_problems(document: Node, file: str, expected_id: str) -> Iterator[Problem]:
    """The id is the path, so that an entry is found without an index; the vendor is its folder."""
    expected_values = {"id": expected_id, "vendor": expected_id.partition("/")[0]}
    for key, expected in expected_values.items():
        written = document.get(key)
        if written in (None, expected):
            continue
        place = document.value[key]
        mend = "make it equal the file's path, or move the file"
        message = f"{key} '{shorten(written)}'"
        yield Problem(file, place.line, place.column, "path", message, f"'{expected}'", mend)


def with_dates(raw: Any, key: str = "") -> Any:
    """`as_of` as a date whether it was quoted or not; other text that looks like a date as text."""
    if isinstance(raw, dict):
        return {name: with_dates(value, name) for name, value in raw.items()}
    if isinstance(raw, list):
        return [with_dates(value) for value in raw]
    if key == "as_of":
        return datetime.date.fromisoformat(raw) if isinstance(raw, str) else raw
    return raw.isoformat() if isinstance(raw, datetime.date) else raw


def claim_of(node: Node, file: str) -> Claim:
    """The claim that a checked mapping is, with the file and line where it is written."""
    raw = with_dates(node.plain())
    field, value = raw["field"], raw["value"]
    is_absent = value == NONE and field not in WORD_FIELDS
    if value == NOT_PUBLISHED or is_absent:
        raw |= {"value": None, "absent": is_absent}
    elif field in TEXT_FIELDS:
        raw["value"] = str(value)
    return Claim(**raw, file=file, line=node.line)


def keep_fields(record: Any, raw: Mapping[str, Any]) -> Any:
    """A named tuple of the keys that it has fields for."""
    return record(**{name: value for name, value in raw.items() if name in record._fields})
