"""What `python -m scripts.fit_ablation` found: errors of the predicted step piece by piece."""

from __future__ import annotations

import functools
import json
from typing import NamedTuple

from flopbook.errors import UnknownName
from scripts.fit_ablation import FILE


class AblationLine(NamedTuple):
    """Sizes of the errors of rows that a fit has not seen, with or without a piece."""

    name: str
    label: str
    median: float
    mean: float
    p90: float


class Ablation(NamedTuple):
    """Errors as pieces are added to the bare roofline, and without each of the whole."""

    rows: int
    parameters: int
    added: tuple[AblationLine, ...]
    left_out: tuple[AblationLine, ...]

    @property
    def whole(self) -> AblationLine:
        """With all pieces."""
        return self.added[-1]


@functools.cache
def ablation() -> Ablation:
    """The committed errors."""
    record = json.loads(FILE.read_text(encoding="utf-8"))
    added, left_out = (
        tuple(AblationLine(**line) for line in record[name]) for name in ("added", "left_out")
    )
    return Ablation(record["rows"], record["parameters"], added, left_out)


def line_of(lines: tuple[AblationLine, ...], name: str) -> AblationLine:
    """The line of a piece. Raises UnknownName."""
    for line in lines:
        if line.name == name:
            return line
    raise UnknownName("piece", name, tuple(line.name for line in lines))
