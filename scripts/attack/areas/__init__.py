"""The areas that are attacked, one file each.

Every module has a `NAME`, and an `attack` that takes the `Campaign` and yields an `Attempt` for
each thing that it tried.
"""

from __future__ import annotations

from types import ModuleType

from scripts.attack.areas import (
    answers,
    builds,
    data_files,
    network,
    payloads,
    predictions,
    prose,
    same_bytes,
    titles,
    whole_builds,
    workflows,
)

AREAS: tuple[ModuleType, ...] = (
    *(titles, prose, data_files, network, workflows, answers, predictions),
    *(payloads, builds, same_bytes),
)
# Too long for every campaign: run where they are named, and every week.
LONG: tuple[ModuleType, ...] = (whole_builds,)
