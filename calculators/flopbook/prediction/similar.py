"""Measured runs like one that is asked about: the nearest on the same generation of chips."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple, Protocol

from flopbook.prediction.known_runs import KnownRun, known_runs
from flopbook.prediction.layouts import RunLayout
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


class SimilarRuns(NamedTuple):
    """How many measured runs are alike, the nearest of them, and what they share with it."""

    total: int
    nearest: tuple[SimilarRun, ...]
    shared: str


def similar_runs(run: RunLayout) -> SimilarRuns:
    """Training runs of the same generation, format, kind of model and share of trained weights.

    The nearest in size come first.
    """
    alike = (
        known_run
        for known_run in known_runs("training_throughput")
        if known_run.generation == run.machine.generation
        and known_run.is_mixture == run.shape.is_mixture
        and known_run.precision == run.precision
        and known_run.trained == run.trained
    )
    return nearest(alike, run, "chip generation, format and kind of model")


def nearest(alike: Iterable[KnownRun], run: HasSize, shared: str) -> SimilarRuns:
    """The runs that are nearest in size, the nearest first, and the number of all."""
    ordered = sorted(alike, key=lambda known: distance(known, run))
    named = (
        SimilarRun(neighbour.id, neighbour.source, neighbour.url)
        for neighbour in ordered[:MOST_SIMILAR]
    )
    return SimilarRuns(len(ordered), tuple(named), shared)


def distance(known: KnownRun, run: HasSize) -> float:
    """How far apart two runs are, in doublings of parameters and of chips."""
    parameters = abs(math.log2(known.parameters / run.shape.parameters))
    return parameters + abs(math.log2(known.chips / run.chips))
