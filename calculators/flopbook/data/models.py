"""The reader of models: a YAML file -> a record of a published shape and its training."""

from __future__ import annotations

from typing import NamedTuple

from flopbook.data.claims import Claim


class Model(NamedTuple):
    """A published model: its shape and training, each value a claim."""

    id: str
    kind: str
    name: str
    developer: str
    summary: str
    claims: tuple[Claim, ...]
    family: str = ""
    notes: str = ""
    aliases: tuple[str, ...] = ()
    file: str = ""
