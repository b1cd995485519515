"""Measured runs like one that is asked about: the nearest on the same generation of chips."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from flopbook.data.index import scan_links
from flopbook.data.library import library
from flopbook.data.measured_runs import run_files
from flopbook.prediction import training
from flopbook.prediction.fits import cases_of
from flopbook.prediction.layouts import RunLayout
from flopbook.prediction.models import Case
from flopbook.prediction.transformers import Transformer

MOST_SIMILAR = 5


class HasSize(Protocol):
    """What has a model and a number of chips."""

    @property
    def shape(self) -> Transformer:
        """The model."""

    @property
    def chips(self) -> float:
        """The number of chips."""


class SimilarRun(NamedTuple):
    """A measured run: its id, the BibTeX key of its source, and where the source stands."""

    id: str
    source: str
    url: str

    def record(self) -> dict[str, str]:
        """As JSON holds it."""
        return self._asdict()


def similar_runs(run: RunLayout) -> tuple[SimilarRun, ...]:
    """Training runs of the same generation, format and kind of model, the nearest in size first."""
    cases = cases_of(training.MODEL, run_files().values()).cases
    alike = [
        case
        for case in cases
        if case.inputs.machine.generation == run.machine.generation
        and case.inputs.shape.is_mixture == run.shape.is_mixture
        and case.inputs.precision == run.precision
    ]
    ordered = sorted(alike, key=lambda case: distance(case.inputs, run))
    return linked(ordered[:MOST_SIMILAR])


def linked(cases: Sequence[Case]) -> tuple[SimilarRun, ...]:
    """Cases with the addresses of their sources."""
    sources = {name: one for file in run_files().values() for name, one in file.sources.items()}
    keys = [sources[case.source].source for case in cases]
    links = scan_links(library().bibliography, set(keys))
    return tuple(
        SimilarRun(case.row.id, key, links[key]) for case, key in zip(cases, keys, strict=True)
    )


def distance(first: HasSize, second: HasSize) -> float:
    """How far apart two runs are, in doublings of parameters and of chips."""
    parameters = abs(np.log2(first.shape.parameters / second.shape.parameters))
    return float(parameters + abs(np.log2(first.chips / second.chips)))
