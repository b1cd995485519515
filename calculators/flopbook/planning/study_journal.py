"""What a study has finished: a line for each answer, on the disk before the next is asked for.

A process that is killed loses what it was computing and nothing else. Lines that other code or
other data made, or that a power cut tore, are left out, and their cases are asked again.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from flopbook.data.files import open_to_grow, read_bytes
from flopbook.errors import FlopbookError, reason_of, show_path
from flopbook.planning.study import Answer, answer_of, made_with

NAME = "finished.jsonl"
MOST_BYTES = 2**31


class Journal:
    """The answers of a folder, and the file to which more are added."""

    def __init__(self, file: IO[bytes], path: Path, answers: dict[str, Answer]) -> None:
        self._file, self._path, self.answers = file, path, answers

    def add(self, name: str, answer: Answer) -> None:
        """Keep an answer; it is on the disk when this returns. Raises FlopbookError."""
        line = json.dumps({"name": name, **answer._asdict()}, ensure_ascii=False)
        try:
            self._file.write(line.encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            place = f"{show_path(self._path)} was not written: {reason_of(error)}"
            raise FlopbookError(f"{place}; the cases before are kept, run it again") from None
        self.answers[name] = answer


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[Journal]:
    """The journal of a folder, which is made where there is none.

    Raises FlopbookError where it cannot be read or written, or while another study writes it.
    """
    path = folder / NAME
    file = open_to_grow(path)
    try:
        _lock(file, path)
        content = _read(path)
        complete_lines = content[: content.rfind(b"\n") + 1]
        if len(complete_lines) < len(content):  # a line that was torn
            os.truncate(path, len(complete_lines))
        yield Journal(file, path, dict(_answers(complete_lines)))
    finally:
        # Closing tries once more to write what the disk refused: of that, `add` has spoken.
        with contextlib.suppress(OSError):
            file.close()


def _read(path: Path) -> bytes:
    try:
        return read_bytes(path, MOST_BYTES)
    except OSError as error:
        raise FlopbookError(f"{show_path(path)} cannot be read: {error.strerror}") from None


def _lock(file: IO[bytes], path: Path) -> None:
    """Refuse a journal that another process writes; systems without locks take the risk."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise FlopbookError(
            f"another study writes {show_path(path)}; wait or name another"
        ) from None


def _answers(content: bytes) -> Iterator[tuple[str, Answer]]:
    """The lines that this code and these data made."""
    for line in content.splitlines():
        try:
            record = json.loads(line)
            name = record.pop("name")
            kept_answer = answer_of(record)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            continue
        if isinstance(name, str) and kept_answer.made_with == made_with():
            yield name, kept_answer
