"""Where the folders of a library lie, in a checkout or in an installed package."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from flopbook.data.files import confine

# The file that makes a folder of accelerators/ a vendor.
VENDOR_FILE = "vendor.yaml"
_PACKAGE = Path(__file__).resolve().parents[1]
_SCHEMAS = {
    "accelerator": ("accelerators", "schema.json"),
    "vendor": ("accelerators", "vendor.schema.json"),
    "prices": ("accelerators", "prices.schema.json"),
    "sought": ("accelerators", "sought.schema.json"),
    "model": ("models", "schema.json"),
    "runs": ("runs", "schema.json"),
    "workloads": ("runs", "workloads.schema.json"),
    "topics": ("bibliography", "topics.schema.json"),
    "claims": ("bibliography", "claims.schema.json"),
    "glossary": ("bibliography", "glossary.schema.json"),
}


class Folders(NamedTuple):
    """The folders below a root; `docs` exists in a checkout only."""

    root: Path
    accelerators: Path
    bibliography: Path
    models: Path
    runs: Path
    docs: Path


def folders_of(root: Path) -> Folders:
    """The folders of a root, in the layout of a checkout or in that of an installed package.

    From then on no link below the root is followed. Those of an installed package are let be: an
    installer may link what it unpacked once, and the data is trusted as the code beside it is.
    """
    if root != _PACKAGE:
        confine(root)
    in_checkout = root / "calculators" / "models"
    return Folders(
        root=root,
        accelerators=root / "accelerators",
        bibliography=root / "bibliography",
        models=in_checkout if in_checkout.is_dir() else root / "models",
        runs=in_checkout.with_name("runs") if in_checkout.is_dir() else root / "runs",
        docs=root / "docs",
    )


def missing_place(folders: Folders) -> str:
    """The first place that a root lacks, for a message; empty for a root that holds our data."""
    try:
        is_there = {
            f"accelerators/VENDOR/{VENDOR_FILE}": any(
                folders.accelerators.glob(f"*/{VENDOR_FILE}")
            ),
            "calculators/models/": folders.models.is_dir(),
            "bibliography/": folders.bibliography.is_dir(),
        }
    except OSError as error:
        return f"folder that can be read: {error.strerror}"
    return next((place for place, exists in is_there.items() if not exists), "")


def _vendor_files(folders: Folders) -> Iterator[Path]:
    return folders.accelerators.glob(f"*/{VENDOR_FILE}")


@functools.cache
def packaged() -> Folders:
    """The data that came with this code: inside the wheel, or the checkout around the code."""
    if (_PACKAGE / "accelerators").is_dir():
        return folders_of(_PACKAGE)
    return folders_of(_PACKAGE.parents[1])


RESERVED = frozenset(
    ("con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10)))
)
# Of one part: the file with its ending, and one beside it while it is written, fit a file system.
LONGEST_ID = 200
_PART = "[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?"
_ID = re.compile(f"{_PART}(?:/{_PART})*")


def is_id(name: str) -> bool:
    """Whether the name of a file can be an id, as the schemas have it: lower case and hyphens.

    Windows keeps some names for devices, whatever stands behind a dot. A file system takes names of
    255 bytes. The page of a product called index would be that of its vendor.
    """
    if not _ID.fullmatch(name):
        return False
    parts = name.split("/")
    if "index" in parts or max(map(len, parts)) > LONGEST_ID:
        return False
    return RESERVED.isdisjoint(part.partition(".")[0] for part in parts)


def stems_in(folder: Path) -> Iterator[str]:
    """Vendor and stem of every file of an accelerator, without opening one.

    Not by `Path.glob`, which takes four times as long.
    """
    for vendor in _listed(folder):
        for name in _listed(folder / vendor):
            if name.endswith(".yaml") and name != VENDOR_FILE:
                yield f"{vendor}/{name.removesuffix('.yaml')}"


def _listed(folder: Path) -> list[str]:
    """The names in a folder; none where it is no folder, or one that cannot be read."""
    try:
        return os.listdir(folder)
    except OSError:
        return []


def ids_of(names: Iterable[str]) -> tuple[str, ...]:
    """The names that can be ids, sorted; lint speaks of the others."""
    return tuple(sorted(name for name in names if is_id(name)))


def schema_paths() -> dict[str, Path]:
    """Name -> file of every published schema.

    Data is checked against the schemas that came with the code, wherever the data lies: a schema
    says which fields the readers of this version understand.
    """
    folders = packaged()._asdict()
    return {name: folders[folder] / file for name, (folder, file) in _SCHEMAS.items()}
