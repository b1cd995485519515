"""Errors of predictions that saw nothing of a row, for kinds whose constants lie elsewhere.

The constants of collectives are those of `accelerators/links.yaml`; what is known of training
memory is the code of frameworks. Bands are made from what remains when either is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from flopbook.data.link_kinds import LinkKind
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.hardware.network import Network
from flopbook.prediction import collectives, memory
from flopbook.prediction.arrays import Column
from flopbook.prediction.fits import predicted
from flopbook.prediction.models import Case
from scripts.fit_links import IDEAL, Point, fitted

Kinds = Mapping[str, LinkKind]
SHORT = 2.0**20  # bytes of a message whose time is mostly the start


def collective_errors(cases: Sequence[Case], group: Callable[[Case], str]) -> Column:
    """Predicted over measured less one, by constants of links that saw nothing of the group."""
    groups = [group(case) for case in cases]
    ratios = np.empty(len(cases))
    for left_out in sorted(set(groups)):
        kept = [case for case, name in zip(cases, groups, strict=True) if name != left_out]
        kinds = _kinds(kept)
        for place, case in enumerate(cases):
            if groups[place] == left_out:
                options = case.inputs.options | _known(kinds, _kind(case))
                ratios[place] = calculate("collective", **options)["seconds"] / case.measured - 1
    return ratios


def _kinds(cases: Sequence[Case]) -> Kinds:
    """The constants of each kind of link by its cases.

    A kind without short messages takes what they decide, start-up and ramp, from the others.
    """
    by_name: dict[str, list[Case]] = {}
    for case in cases:
        if _kind(case):
            by_name.setdefault(_kind(case), []).append(case)
    kinds = {name: _constants(name, rows) for name, rows in by_name.items()}
    short = [name for name, rows in by_name.items() if min(map(_bytes, rows)) <= SHORT]
    middle = collectives.middle_constants([kinds[name] for name in short])
    for name, kind in kinds.items():
        if name not in short and middle:
            kinds[name] = kind._replace(startup=middle["startup"], ramp=middle["ramp"])
    return kinds


def _bytes(case: Case) -> float:
    return float(case.inputs.options["bytes"])


def _kind(case: Case) -> str:
    """The kind of link of a case; empty where its network is a rule's."""
    name = case.inputs.options.get("chip")
    return Network(chip(str(name))).pick_port().claim.name if name else ""


def _point(case: Case) -> Point:
    ideal = calculate("collective", **{**case.inputs.options, **IDEAL})
    in_switch = case.inputs.options.get("reduction") == "switch"
    transfer, hops = ideal["bandwidth_seconds"], ideal["latency_seconds"]
    return Point(transfer, hops, in_switch, case.measured)


def _constants(name: str, cases: Sequence[Case]) -> LinkKind:
    points = [_point(case) for case in cases]
    startup, ramp, efficiency, in_switch = fitted(points)
    if not any(point.in_switch for point in points):
        in_switch = efficiency
    return LinkKind(name, startup, ramp, efficiency, in_switch, ())


def _known(kinds: Kinds, name: str) -> dict[str, float]:
    """The constants of a kind, or those in the middle where its sweeps were left out."""
    if name not in kinds:
        return collectives.middle_constants(kinds.values())
    return {constant: getattr(kinds[name], constant) for constant in collectives.CONSTANTS}


def errors_without_framework(cases: Sequence[Case], sources: Mapping[str, Any]) -> Column:
    """Errors of training memory where nothing says which code ran."""
    blind = [memory.read_as("", case.row, sources[case.source]) for case in cases]
    measured = np.array([case.measured for case in blind])
    errors: Column = predicted(memory.MODEL, blind, {}) / measured - 1
    return errors
