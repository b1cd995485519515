"""Values of a model as calculators, pages and prose ask for them."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from flopbook.architectures import counts, layers
from flopbook.data.claims import Claim
from flopbook.data.library import model, per_library
from flopbook.data.models import Model
from flopbook.hardware.choice import choose
from flopbook.hardware.picked import Missing, Picked

NOTHING: Mapping[str, Any] = MappingProxyType({})
PUBLISHED = "published_"  # model("gpt-3-175b").published_params is 175e9, as its paper prints it
# What is counted rather than claimed, by the name under which an input asks for it.
COUNTED = {**layers.COUNTED, **counts.COUNTED}


class Shape:
    """A model with its values at hand, as plain numbers: `model("gpt-3-175b").d_model`.

    Parameters and numbers of layers of each kind are counted from the shape. `given` replaces
    sizes of the shape, so that what follows from them is counted anew.
    """

    def __init__(self, model_: Model, given: Mapping[str, Any] = NOTHING) -> None:
        self.model, self.given = model_, given
        # One answer asks for the same field many times, and neither model nor sizes change.
        self._chosen: dict[str, Claim | None] = {}
        self._counted: dict[str, Picked | None] = {}

    def __repr__(self) -> str:
        given = "".join(f", {name}={value!r}" for name, value in self.given.items())
        return f"<model {self.id}: {self.model.name}{given}>"

    @property
    def id(self) -> str:
        """The model's id."""
        return self.model.id

    @functools.cached_property
    def _recorded(self) -> frozenset[str]:
        """The fields of its claims."""
        return frozenset(claim.field for claim in self.model.claims)

    @functools.cached_property
    def parts(self) -> Mapping[str, Any] | None:
        """Parameters by part, as `params` counts them; None where the shape is not known in full.

        Several values follow from them, so they are counted once.
        """
        return counts.parameters(self)

    def having(self, given: Mapping[str, Any]) -> Shape:
        """The same model with other sizes."""
        return Shape(self.model, {**self.given, **given}) if given else self

    def records(self, field: str) -> bool:
        """Whether the model records a field, be it only as not published, or it is counted."""
        return field in self._recorded or self._count(field) is not None

    def claim(self, field: str) -> Claim | None:
        """The chosen claim of a field, a number or a word; None when unrecorded or unpublished."""
        if field not in self._chosen:
            of_field = (claim for claim in self.model.claims if claim.field == field)
            self._chosen[field] = choose(of_field)
        return self._chosen[field]

    def size(self, field: str) -> Any:
        """A size or a word of the shape, as given or as recorded; None where it is neither."""
        if field in self.given:
            return self.given[field]
        claim = self.claim(field)
        if claim is None:
            return None
        return claim.value if claim.si_value is None else claim.si_value

    def pick(self, field: str) -> Picked:
        """The value of a field: counted from the shape where it follows from it, else as claimed.

        Raises FlopbookError when it is not recorded or not published.
        """
        return self._count(field) or self.pick_claim(field)

    def _count(self, field: str) -> Picked | None:
        """The value of a field as counted from the shape; None where it does not follow."""
        if field in COUNTED and field not in self._counted:
            self._counted[field] = COUNTED[field](self)
        return self._counted.get(field)

    def pick_claim(self, field: str) -> Picked:
        """The chosen claim of a field, such as the marketed number of parameters.

        Raises FlopbookError when it is not recorded or not published.
        """
        claim = self.claim(field)
        if claim is None or claim.si_value is None:
            recorded = sorted({c.field for c in self.model.claims if c.si_value is not None})
            raise Missing(
                f"model {self.id} has no published {field}; it has: {', '.join(recorded)}"
            )
        return Picked(claim.si_value, claim.si_unit, claim)

    def __getattr__(self, field: str) -> float:
        if field.startswith("_"):
            raise AttributeError(field)
        if field.startswith(PUBLISHED):
            return self.pick_claim(field.removeprefix(PUBLISHED)).value
        return self.pick(field).value


def shape(name: str) -> Shape:
    """A model by id or alias.

    >>> shape("llama-3-8b").id, shape("llama-3-8b").model.kind
    ('llama-3-8b', 'dense')

    Raises UnknownName with the nearest ids.
    """
    return _shape(model(name).id)


@per_library
def _shape(model_id: str) -> Shape:
    """One for each model, so that all who ask share what was chosen and counted."""
    return Shape(model(model_id))
