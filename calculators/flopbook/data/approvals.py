"""Remembers which documents passed the check of their schema.

A command that looks up one chip reads one document. Where it passed before, loading the checker
would take longer than everything else the command does. What is remembered is a digest of the
document and its schema together, so a change of either is checked again.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from flopbook.data.cache import digest, keep, kept
from flopbook.data.digests import fingerprint

NAME = "approvals"
# An edited document leaves its old digest behind. About three times as many as there are entries;
# beyond that the list starts anew.
MOST = 1000


def approved(schema: str, document: Any) -> bool:
    """True when this document passed the check of this schema in an earlier run."""
    return _digest(schema, document) in kept(NAME, _version())


def approve(schema: str, document: Any) -> None:
    """Remember that a document passed the check of its schema."""
    version = _version()
    approvals = kept(NAME, version)
    if len(approvals) >= MOST:
        approvals = {}
    keep(NAME, version, {**approvals, _digest(schema, document): True})


def _digest(schema: str, document: Any) -> str:
    text = f"{schema}\n{json.dumps(document)}"
    return digest(text.encode("utf-8", "surrogatepass"))


def _version() -> str:
    """The code that decides what passes."""
    names = ("schema.py", "schema_words.py")
    return fingerprint(*(Path(__file__).with_name(name) for name in names))
