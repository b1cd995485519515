"""Exports in both directions: of data that lint lets through, and as the base of a comparison.

What lint lets through is exported with numbers that can be and cells that a spreadsheet only shows.
An exported folder comes from anywhere: `flopbook diff` compares with it, or says in a line that it
is none.
"""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from flopbook.changes.exported import TABLES
from flopbook.checks.lint import lint
from flopbook.data.files import confine
from flopbook.data.library import Library, using
from flopbook.data.sheets import csv_safe
from flopbook.export.records import files
from scripts.attack.areas.data_files import kept_in
from scripts.attack.broken import broken, odd_record, yaml_of
from scripts.attack.campaign import Attempt, Campaign
from scripts.attack.checkout import small_checkout
from scripts.attack.poison import load
from scripts.attack.shell import fault_of

NAME = "exports"
_FILES, _FOLDERS = 60, 60
_PATTERNS = (
    *("accelerators/audits/*.csv", "calculators/runs/*.yaml", "bibliography/*.yaml"),
    *("accelerators/*.yaml", "accelerators/*/*.yaml", "calculators/models/*.yaml"),
    "bibliography/*.bib",
)
_SIGNED = frozenset("+-")


def attack(campaign: Campaign) -> Iterator[Attempt]:
    """Broken files that may pass lint, then broken tables of an export."""
    root = small_checkout(campaign.folder / "checkout")
    confine(root)
    with kept_in(campaign.folder / "kept"):
        kinds = [kind for each in _PATTERNS if (kind := sorted(root.glob(each)))]
        for _ in range(campaign.count(_FILES)):
            path = campaign.rng.choice(campaign.rng.choice(kinds))
            yield _of_file(path, campaign.rng, root)
        with using(Library(root)):
            folder = campaign.folder / "exported"
            yield Attempt("export", fault_of("export", str(folder), "--json"))
            for _ in range(campaign.count(_FOLDERS)):
                yield _of_folder(folder, campaign.rng)


def _of_file(path: Path, rng: random.Random, root: Path) -> Attempt:
    """One file broken and mended again; what lint refuses is not exported."""
    content = path.read_bytes()
    way, made = "odd values", content
    if path.suffix == ".yaml" and rng.random() < 0.6:
        made = yaml_of(odd_record(load(path), rng))
    else:
        way, made = broken(content, rng)
    path.write_bytes(made)
    try:
        with using(Library(root)):
            fault = "" if lint() else next(_faults(), "")
    except Exception as error:
        fault = f"{type(error).__name__}: {error}"
    finally:
        path.write_bytes(content)
    return Attempt(f"{way} of {path.name}: {made[:1000]!r}" if fault else "", fault)


def _faults() -> Iterator[str]:
    """What of an export cannot be."""
    for name, text in files():
        if name.endswith(".json"):
            json.loads(text, parse_constant=_refuse)
        elif name.endswith(".csv"):
            cells = (cell for row in csv.reader(io.StringIO(text)) for cell in row)
            yield from (f"{name}: the formula {cell!r}" for cell in cells if _is_formula(cell))


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


def _is_formula(cell: str) -> bool:
    """Whether a spreadsheet would run a cell; a number with a sign it reads."""
    is_signed_number = cell[:1] in _SIGNED and cell[1:2].isdigit()
    return csv_safe(cell) != cell and not is_signed_number


def _of_folder(folder: Path, rng: random.Random) -> Attempt:
    """An exported folder with one table broken, and mended again."""
    path = folder / f"{rng.choice(TABLES)}.json"
    content = path.read_bytes()
    table: list[Any] = json.loads(content)
    if table and rng.random() < 0.8:
        place = rng.randrange(len(table))
        table[place] = odd_record(table[place], rng)
        way, made = str(table[place]), json.dumps(table).encode("utf-8", "surrogatepass")
    else:
        way, made = broken(content, rng)
    path.write_bytes(made)
    try:
        return Attempt(f"{path.name}: {way[:1000]}", fault_of("diff", str(folder), "--json"))
    finally:
        path.write_bytes(content)
