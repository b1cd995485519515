"""Accelerators and models as an earlier run kept them; what changed since is read and checked.

Checking a file means loading the reader of YAML and the schema, which takes longer than everything
else that a command does. What is kept is keyed by the bytes of the file and by the code and schema
that read it, so it cannot be stale.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from flopbook.data.accelerators import Entry
from flopbook.data.cache import digest, keep, kept
from flopbook.data.digests import digests, fingerprint
from flopbook.data.entry_records import (
    entry_of_record,
    model_of_record,
    record_of_entry,
    record_of_model,
)
from flopbook.data.files import MAX_YAML_BYTES, read_bytes
from flopbook.data.folders import schema_paths
from flopbook.data.models import Model
from flopbook.data.shelf import Shelf
from flopbook.errors import DataError, Problem, show_path

_ALL_ENTRIES = "accelerators"
Read = TypeVar("Read")
_MAKER_NAMES = (
    "accelerators.py",
    "catalogue.py",
    "claims.py",
    "contributed_text.py",
    "entry_reader.py",
    "entry_records.py",
    "model_reader.py",
    "models.py",
    "records.py",
    "schema.py",
    "schema_words.py",
    "yaml_text.py",
)


def _makers() -> tuple[Path, ...]:
    """The code and the schema that decide what an entry is read into."""
    code = (Path(__file__).with_name(name) for name in _MAKER_NAMES)
    return (*code, schema_paths()["accelerator"], schema_paths()["model"])


@functools.cache
def _version() -> str:
    return fingerprint(*_makers())


def load_one(path: Path, entry_id: str) -> Entry:
    """The entry of a file, kept in a record of its own. Raises DataError with all its problems."""
    codec = _Codec(_read, record_of_entry, entry_of_record)
    return _kept_or_read(f"entry-{entry_id.replace('/', '--')}", path, entry_id, codec)


def load_model(path: Path, model_id: str) -> Model:
    """The model of a file, kept in a record of its own. Raises DataError with all its problems."""
    codec = _Codec(_read_model, record_of_model, model_of_record)
    return _kept_or_read(f"model-{model_id}", path, model_id, codec)


class _Codec(NamedTuple, Generic[Read]):
    """How a file is read into a record of the data, and that into JSON and back."""

    read: Callable[[Path, str], Read]
    encode: Callable[[Read], list[Any]]
    decode: Callable[[list[Any], str], Read]


def _kept_or_read(name: str, path: Path, record_id: str, codec: _Codec[Read]) -> Read:
    version = _version_of(path, record_id)
    records = kept(name, version) if version else {}
    if "record" in records:
        return codec.decode(records["record"], show_path(path))
    record = codec.read(path, record_id)
    keep(name, version, {"record": codec.encode(record)})
    return record


def _version_of(path: Path, record_id: str) -> str:
    """The version of a kept record; empty for a file that its reader has to complain about.

    The id counts: the same bytes at another place are another entry, and a mistaken one.
    """
    try:
        return f"{_version()}-{record_id}-{digests().of(path, MAX_YAML_BYTES)}"
    except OSError:
        return ""


def _read(path: Path, entry_id: str) -> Entry:
    from flopbook.data.entry_reader import read_entry

    return read_entry(path, entry_id)


def _read_model(path: Path, model_id: str) -> Model:
    from flopbook.data.model_reader import read_model

    return read_model(path, model_id)


def read_catalogue(
    path_of: Callable[[str], Path], entry_ids: Sequence[str]
) -> tuple[dict[str, Entry], tuple[Problem, ...]]:
    """The accelerators that can be read, by id, and the problems of the others."""
    shelf = Shelf(_ALL_ENTRIES, *_makers())
    entries: dict[str, Entry] = {}
    problems: list[Problem] = []
    for entry_id in entry_ids:
        path = path_of(entry_id)
        try:
            entries[entry_id] = _load_shelved(shelf, path, entry_id)
        except DataError as error:
            problems += error.problems
    shelf.close()
    return entries, tuple(problems)


def _load_shelved(shelf: Shelf, path: Path, entry_id: str) -> Entry:
    try:
        key = f"{entry_id} {digest(read_bytes(path, MAX_YAML_BYTES))}"
    except OSError:
        return _read(path, entry_id)
    record = shelf.get(key)
    if record is not None:
        return entry_of_record(record, show_path(path))
    entry = _read(path, entry_id)
    shelf.put(key, record_of_entry(entry))
    return entry
