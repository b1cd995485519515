"""The areas that are attacked, one file each.

Every module has a `NAME`, and an `attack` that takes the `Campaign` and yields an `Attempt` for
each thing that it tried.
"""

from __future__ import annotations

from types import ModuleType

from scripts.attack.areas import (
    answers,
    builds,
    crowded_builds,
    data_files,
    exports,
    full_disks,
    given,
    heads,
    markup,
    network,
    payloads,
    predictions,
    prose,
    same_bytes,
    services,
    studies,
    tag_soup,
    titles,
    whole_builds,
    whole_same_bytes,
    words,
    workflows,
)

# The longest first: the short ones then fill what is left of the time.
AREAS: tuple[ModuleType, ...] = (
    *(builds, crowded_builds, payloads, same_bytes),
    *(predictions, full_disks, answers, network, data_files, given, studies, prose, markup),
    *(exports, words, heads, workflows, tag_soup, services, titles),
)
# Too long for every campaign: run where they are named, and every week.
LONG: tuple[ModuleType, ...] = (whole_builds, whole_same_bytes)
