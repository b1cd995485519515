"""Keeps parsed data between runs, so that reading all of it does not mean checking all of it again.

What is kept is keyed by the bytes that it was made from and by the code and schemas that made it:
it cannot be stale, and losing it costs only time. The folder is `FLOPBOOK_CACHE` (empty: keep
nothing), else `flopbook` in the user's cache folder.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flopbook.data.files import read_bytes, write_made
from flopbook.errors import FlopbookError


def folder() -> Path | None:
    """Where kept data lies; None when nothing is to be kept.

    A path from where one happens to be would put records anywhere, into a checkout too.
    """
    try:
        place = _named_folder()
        os.fspath(place or "").encode()
    except (RuntimeError, UnicodeEncodeError):  # no home, or a name that is no text
        return None
    return place if place and place.is_absolute() else None


def _named_folder() -> Path | None:
    named = os.environ.get("FLOPBOOK_CACHE")
    if named is not None:
        return Path(named) if named else None
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "flopbook"


def digest(content: bytes) -> str:
    """A name for these bytes, another one for any others."""
    import hashlib  # loads OpenSSL, which a command that finds everything kept does without

    return hashlib.sha256(content).hexdigest()


def kept(name: str, version: str) -> dict[str, Any]:
    """What an earlier run of this version kept under a name; empty where that is of no use."""
    place = folder()
    if place is None:
        return {}
    try:
        content = json.loads(read_bytes(place / f"{name}.json"))
    except (OSError, ValueError, RecursionError, MemoryError):
        return {}
    if not isinstance(content, dict) or content.get("version") != version:
        return {}
    records = content.get("records")
    return records if isinstance(records, dict) else {}


def keep(name: str, version: str, records: Mapping[str, Any]) -> None:
    """Keep records for later runs, whole or not at all.

    A folder that cannot be written is no error.
    """
    place = folder()
    if place is None:
        return
    content = {"version": version, "records": records}
    with contextlib.suppress(FlopbookError):
        # Not json.dump, which writes ten times as slowly.
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        write_made(place / f"{name}.json", text)
