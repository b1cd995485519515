"""A question as someone types it, with the answer that the second module gives."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Expected = Callable[[], Mapping[str, Any]]


@dataclass(frozen=True)
class Question:
    """A command without `flopbook`, the outputs that it must give (SI), and how nearly.

    `defect` names what is known to be wrong, for an answer that does not hold yet.
    """

    command: str
    expected: Expected
    rel: float = 1e-9
    defect: str = ""

    @property
    def words(self) -> list[str]:
        """The command as a shell splits it."""
        return shlex.split(self.command)

    @property
    def options(self) -> dict[str, str]:
        """The options as Python names them; each has a value."""
        names = [word.removeprefix("--").replace("-", "_") for word in self.words[1::2]]
        return dict(zip(names, self.words[2::2], strict=True))

    @property
    def calculator(self) -> str:
        """Which calculator is asked."""
        return self.words[0]
