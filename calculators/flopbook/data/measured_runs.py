"""All measured runs of the library in use, read once and kept between commands."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from flopbook.data.cache import digest
from flopbook.data.files import MAX_YAML_BYTES, read_bytes
from flopbook.data.folders import schema_paths
from flopbook.data.library import library, per_library
from flopbook.data.runs import RunFile, read_run_file, record_of_run_file, run_file_of_record
from flopbook.data.shelf import Shelf
from flopbook.errors import DataError, Problem, show_path

_MAKER_NAMES = (
    *("contributed_text.py", "measured_runs.py", "records.py", "runs.py"),
    *("schema.py", "schema_words.py", "yaml_text.py"),
)


def run_paths() -> list[Path]:
    """The files of measured runs, sorted; a library may have none."""
    return sorted(library().folders.runs.glob("*.yaml"))


def read_runs() -> tuple[dict[str, RunFile], list[Problem]]:
    """The files that can be read, by name, and the problems of the others."""
    return read_run_files(run_paths())


@per_library
def run_files() -> dict[str, RunFile]:
    """All measured runs, by file name. Raises DataError with every problem of every file."""
    files, problems = read_runs()
    if problems:
        raise DataError(problems)
    return files


def read_run_files(paths: Sequence[Path]) -> tuple[dict[str, RunFile], list[Problem]]:
    """The given files that can be read, by name, and the problems of the others."""
    code = (Path(__file__).with_name(name) for name in _MAKER_NAMES)
    shelf = Shelf("runs", *code, schema_paths()["runs"])
    files: dict[str, RunFile] = {}
    problems: list[Problem] = []
    for path in paths:
        try:
            files[path.stem] = _read_shelved(shelf, path)
        except DataError as error:
            problems += error.problems
    shelf.close()
    return files, problems


def _read_shelved(shelf: Shelf, path: Path) -> RunFile:
    try:
        key = digest(read_bytes(path, MAX_YAML_BYTES))
    except OSError:
        return read_run_file(path)  # raises with what is wrong
    record = shelf.get(key)
    if record is not None:
        return run_file_of_record(record, show_path(path))
    runs = read_run_file(path)
    shelf.put(key, record_of_run_file(runs))
    return runs
