"""The measured runs on file in few words, kept between commands: what tells which are alike."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from flopbook.data.library import library, per_library
from flopbook.data.shelf import Shelf

_SHELF = "known-runs"
_CODE = Path(__file__).parent
_MAKERS = (".yaml", ".bib", ".py")


class KnownRun(NamedTuple):
    """A run that can be predicted: its id, source and where that stands; software and size.

    `stack` is empty of runs that serve.
    """

    id: str
    source: str
    url: str
    generation: str
    is_mixture: bool
    precision: str
    stack: str
    parameters: float
    chips: float
    trained: float


@per_library
def known_runs(kind: str) -> tuple[KnownRun, ...]:
    """All runs of a kind that can be predicted, in the order of the files."""
    shelf = Shelf(_SHELF)
    state = _state()
    records = shelf.get(state)
    if records is None:
        from flopbook.prediction.catalogue import MODELS

        records = {name: list(_read(name)) for name in KINDS if name in MODELS}
        shelf.put(state, records)
    shelf.close()
    return tuple(KnownRun(*record) for record in records[kind])


# The kinds for which a prediction names runs that are alike.
KINDS = ("training_throughput", "inference")


def _state() -> str:
    """What the records are made from: names, sizes and times of all files of data and code."""
    data = library()
    digest = hashlib.sha256()
    for folder in (data.folders.runs, data.models, data.accelerators, data.bibliography, _CODE):
        # Not Path.glob, which takes three times as long.
        for place, below, names in os.walk(folder):
            below.sort()
            for name in sorted(name for name in names if name.endswith(_MAKERS)):
                path = os.path.join(place, name)
                facts = os.stat(path)
                digest.update(f"{path}\0{facts.st_size}\0{facts.st_mtime_ns}\0".encode())
    return digest.hexdigest()


def _read(kind: str) -> Iterator[KnownRun]:
    """The runs of a kind, from the files."""
    from flopbook.data.index import scan_links
    from flopbook.data.measured_runs import run_files
    from flopbook.prediction.catalogue import MODELS
    from flopbook.prediction.fits import cases_of

    files = run_files().values()
    keys = {name: source.source for file in files for name, source in file.sources.items()}
    links = scan_links(library().bibliography, set(keys.values()))
    for case in cases_of(MODELS[kind], files).cases:
        run = case.inputs
        key = keys[case.source]
        yield KnownRun(
            id=case.row.id,
            source=key,
            url=links[key],
            generation=run.machine.generation,
            is_mixture=run.shape.is_mixture,
            precision=getattr(run, "precision", ""),
            stack=getattr(run, "stack", ""),
            parameters=float(run.shape.parameters),
            chips=float(run.chips),
            trained=getattr(run, "trained", 1.0),
        )
