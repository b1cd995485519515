"""The layers of a model add up, and each kind has the sizes that it needs."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.architectures.layers import kinds
from flopbook.architectures.shape import Shape
from flopbook.checks.rules.base import Advice, Finding, Holdings
from flopbook.data.claims import Claim
from flopbook.data.library import using
from flopbook.data.models import Model
from flopbook.errors import FlopbookError, Problem

NAME = "layers"
ADVICE = Advice("kinds that add up to 'layers', with their sizes", "mend the pattern, add the size")
# Kind of layer -> the fields of which one has to be there.
NEEDED = {
    "window": ("window",),
    "chunk": ("chunk",),
    "sparse": ("selected_tokens",),
    "compressed": ("compression",),
    "state": ("state_kind", "state_values"),
    "state+full": ("state_kind", "state_values"),
}
PATTERN = "attention_pattern"


def check(holdings: Holdings) -> Iterator[Finding]:
    """Patterns that do not add up, kinds without a size, and sizes without a kind."""
    for model in holdings.models.values():
        shape = Shape(model)
        # Which of two claims counts depends on the sources of that library.
        with using(holdings.library):
            findings = [*_of_pattern(shape), *_of_sizes(shape)]
        yield from findings


def _of_pattern(shape: Shape) -> Iterator[Finding]:
    claim = shape.claim(PATTERN)
    if claim is None:
        return
    if shape.claim("layers") is None:
        yield _at(claim, f"{PATTERN} of a model without layers")
        return
    try:
        pattern = kinds(shape) or ()
    except FlopbookError as error:
        yield _at(claim, str(error))
        return
    for kind in sorted(set(pattern) & NEEDED.keys()):
        if not any(shape.claim(field) for field in NEEDED[kind]):
            yield _at(claim, f"{PATTERN} has {kind} layers, but there is no {NEEDED[kind][0]}")
    shared = shape.size("shared_kv_layers") or 0
    if shared >= len(pattern):
        yield _at(claim, f"shared_kv_layers is {shared:g} of {len(pattern)} layers")


def _of_sizes(shape: Shape) -> Iterator[Finding]:
    """A size says nothing while no layer is of its kind."""
    pattern = shape.claim(PATTERN)
    written = "" if pattern is None else str(pattern.value)
    for kind, fields in NEEDED.items():
        for claim in _sizes(shape.model, fields):
            if kind not in written and not (kind == "state+full" and "state" in written):
                yield _at(claim, f"{claim.field}, but {PATTERN} has no {kind} layers")


def _sizes(model: Model, fields: tuple[str, ...]) -> Iterator[Claim]:
    return (claim for claim in model.claims if claim.field in fields and claim.published)


def _at(claim: Claim, observed: str) -> Finding:
    return Finding(Problem(claim.file, claim.line, 1, NAME, observed, *ADVICE), (claim,))
