"""Every face shows the same key figures of an entry: one place chooses among the sources."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from flopbook.cli.app import run
from flopbook.data.accelerators import Entry
from flopbook.data.library import load_entries
from flopbook.errors import FlopbookError
from flopbook.export.records import entry_record
from flopbook.hardware.chip import Chip
from flopbook.hardware.choice import choose_date
from flopbook.hardware.key_figures import pick_key_figure
from scripts.website.pages import prose
from scripts.website.pages.explorer import items
from scripts.website.pages.explorer_data import explorer_record
from scripts.website.pages.quantities import peak_id

FIELDS = ("peak", "memory", "memory_bandwidth", "scaleup_bandwidth", "power")
# The explorer keeps peaks apart that do not say whether they are dense; a face with one peak a
# format takes them where no dense one is known.
PEAKS = (peak_id("bf16", "tensor", "dense"), peak_id("bf16", "tensor", "unstated"))
Figures = dict[str, float | None]


def number_of(view: Callable[[], float]) -> float | None:
    try:
        return float(view())
    except FlopbookError:
        return None


def from_calculators(entry: Entry) -> Figures:
    chip = Chip(entry)
    views = (chip.peak, chip.memory, chip.memory_bandwidth, chip.scaleup_bandwidth, chip.power)
    return dict(zip(FIELDS, map(number_of, views), strict=True))


def from_prose(entry: Entry) -> Figures:
    chip = prose._Chip("index.md", entry.id)
    views = (chip.peak, chip.memory, chip.memory_bandwidth, chip.scaleup_bandwidth, chip.power)
    return dict(zip(FIELDS, map(number_of, views), strict=True))


def from_command_line(record: dict[str, Any]) -> Figures:
    figures: Figures = {field: record[field].get("value") for field in FIELDS}
    return figures | {"year": record["year"]}


def from_explorer(cells: dict[str, Any]) -> Figures:
    # A cell is a list that begins with its value, or words in its place.
    numbers = {name: cell[0] for name, cell in cells.items() if isinstance(cell, list)}
    figures: Figures = {field: numbers.get(field) for field in FIELDS[1:]}
    figures["peak"] = next((numbers[name] for name in PEAKS if name in numbers), None)
    figures["year"] = int(numbers["date"]) if "date" in numbers else None
    return figures


def from_export(entry: Entry) -> Figures:
    """The figures whose claim is marked as chosen in the export."""
    record = entry_record(entry)
    chosen = [claim for claim in record["claims"] if claim["chosen"]]
    listed = {(claim["field"], claim["source"], claim["value"]) for claim in chosen}
    figures: Figures = dict.fromkeys((*FIELDS, "year"))
    for field in FIELDS:
        picked = pick_key_figure(entry, field)
        if picked and (field, picked.claim.source, picked.claim.value) in listed:
            figures[field] = picked.value
    date = choose_date(entry.claims)
    if date and (date.field, date.source, date.value) in listed:
        figures["year"] = int(str(date.value)[:4])
    return figures


def differences(expected: Figures, face: str, shown: Figures) -> Iterator[str]:
    for field, number in shown.items():
        if number != expected[field]:
            yield f"{face}: {field} {number}, flopbook list {expected[field]}"


def test_every_face_shows_the_same_key_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["list", "--json"]) == 0
    listed = {record["id"]: record for record in json.loads(capsys.readouterr().out)}
    explorer: dict[str, Any] = explorer_record(items())
    explored = {row[0]: one for row in explorer["entries"] for one in row if isinstance(one, dict)}
    problems = []
    for entry in load_entries().values():
        expected = from_command_line(listed[entry.id])
        faces = {"export": from_export(entry)}
        if entry.id in explored:
            faces["explorer"] = from_explorer(explored[entry.id])
        if entry.computes:  # of a system, calculators and prose ask for totals by name
            faces |= {"calculators": from_calculators(entry), "prose": from_prose(entry)}
        for face, shown in faces.items():
            problems += [f"{entry.id}: {text}" for text in differences(expected, face, shown)]
    assert not problems, "\n".join(problems)
