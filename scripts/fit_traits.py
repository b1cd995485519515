"""In what runs are unlike all that were fitted.

A chip generation, an engine, a format or a kind of work that no fitted run has is a stranger. What
strangers cost is measured on the fitted rows: all rows of one value are left out, as if nobody had
measured it yet.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from flopbook.prediction.bands import unlike
from flopbook.prediction.models import Case, PredictionModel

# A value that fewer sound rows share is a stranger still.
FEW = 5


def seen_by(model: PredictionModel, cases: Sequence[Case]) -> dict[str, list[str]]:
    """The values of each trait that several sound rows share."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for case in cases:
        for trait, value in model.traits(case.inputs).items():
            counts[trait][value] += case.is_sound
    return {
        trait: sorted(value for value, count in values.items() if count >= FEW)
        for trait, values in counts.items()
    }


def strangeness(model: PredictionModel, cases: Sequence[Case]) -> list[int]:
    """In how many traits each run is unlike those of other sources."""
    known = {
        name: seen_by(model, [case for case in cases if case.source != name])
        for name in {case.source for case in cases}
    }
    return [len(unlike(known[case.source], model.traits(case.inputs))) for case in cases]


def trait_values(model: PredictionModel, cases: Sequence[Case]) -> dict[str, tuple[str, ...]]:
    """The value that each case has of each trait in which they differ."""
    each = [model.traits(case.inputs) for case in cases]
    values = {trait: tuple(traits[trait] for traits in each) for trait in (each[0] if each else ())}
    # Were all alike, nothing would be left to fit.
    return {trait: of_cases for trait, of_cases in values.items() if len(set(of_cases)) > 1}
