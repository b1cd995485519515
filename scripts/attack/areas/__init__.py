"""The areas that are attacked, one file each.

Every module has a `NAME`, and an `attack` that takes the `Campaign` and yields an `Attempt` for
each thing that it tried.
"""

from __future__ import annotations

from types import ModuleType

from scripts.attack.areas import answers, builds, payloads, predictions, same_bytes, titles

AREAS: tuple[ModuleType, ...] = (titles, answers, predictions, payloads, builds, same_bytes)
