"""What counting needs to know of a shape, without knowing who keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from flopbook.data.claims import Claim
from flopbook.data.models import Model
from flopbook.hardware.picked import Picked


class Sized(Protocol):
    """A model with its claims, and with the sizes that were given in place of some of them."""

    model: Model
    given: Mapping[str, Any]

    @property
    def id(self) -> str:
        """The model's id."""

    @property
    def parts(self) -> Mapping[str, Any] | None:
        """Parameters by part; None where the shape is not known in full."""

    def claim(self, field: str) -> Claim | None:
        """The chosen claim of a field."""

    def size(self, field: str) -> Any:
        """A size or a word, as given or as recorded; None where it is neither."""

    def pick_claim(self, field: str) -> Picked:
        """The chosen claim of a field; raises FlopbookError where there is none."""
