"""The kind of each layer of a model, from a pattern such as "10 x (5 window, 1 full), 2 window".

A pattern is written out for all layers, or as a period that divides their number.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from flopbook.errors import FlopbookError, shorten

# What a layer attends with. "sparse-reuse" reads what the indexer of an earlier layer selected;
# "compressed" reads entries that stand for many tokens; "state+full" has both side by side; "none"
# has a feed-forward block only.
KINDS = (
    *("full", "window", "chunk", "sparse", "sparse-reuse", "compressed"),
    *("state", "state+full", "none"),
)
MOST_LAYERS = 10_000  # a longer pattern is a slip

_KIND = "|".join(sorted((kind.replace("+", r"\+") for kind in KINDS), key=len, reverse=True))
_TERM = rf"\d{{1,3}} (?:{_KIND})"
_TERMS = rf"{_TERM}(?:, {_TERM})*"
_GROUP = rf"(?:\d{{1,2}} x \({_TERMS}\)|{_TERM})"
PATTERN = rf"^{_GROUP}(?:, {_GROUP})*$"


def kinds_of(pattern: str, layers: int) -> tuple[str, ...]:
    """The kind of each layer.

    >>> kinds_of("2 window, 1 full", 6)
    ('window', 'window', 'full', 'window', 'window', 'full')

    Raises FlopbookError for words that are no kind and for a pattern that does not add up.
    """
    period = _written(pattern)
    if len(period) > layers or layers % len(period):
        raise FlopbookError(
            f"attention_pattern '{shorten(pattern)}' has {len(period)} layers, which do not add up "
            f"to {layers}; write out the rest, such as '10 x (5 window, 1 full), 2 window'"
        )
    return period * (layers // len(period))


def cut(pattern: str, layers: int, recorded: int) -> tuple[str, ...]:
    """The kinds of the first layers of a model, or of a deeper one that goes on in the same way."""
    kinds = kinds_of(pattern, recorded)
    return (kinds * (layers // len(kinds) + 1))[:layers]


def _written(pattern: str) -> tuple[str, ...]:
    """The layers that a pattern writes out. Raises FlopbookError."""
    if not re.match(PATTERN, pattern):
        raise FlopbookError(
            f"attention_pattern is '{shorten(pattern)}', expected numbers and kinds such as "
            f"'5 window, 1 full' or '10 x (5 window, 1 full), 2 window'; kinds: {', '.join(KINDS)}"
        )
    layers: list[str] = []
    for times, inner, single in re.findall(rf"(\d+) x \(({_TERMS})\)|({_TERM})", pattern):
        layers += _terms(inner) * int(times) if inner else _terms(single)
    if not 0 < len(layers) <= MOST_LAYERS:
        raise FlopbookError(f"attention_pattern '{shorten(pattern)}' has {len(layers)} layers")
    return tuple(layers)


def _terms(text: str) -> list[str]:
    layers: list[str] = []
    for term in text.split(", "):
        number, _, kind = term.partition(" ")
        layers += [kind] * int(number)
    return layers


def written(kinds: Sequence[str]) -> str:
    """The shortest pattern of some layers: a period where there is one, else runs of one kind.

    >>> written(["window", "full"] * 3), written(["full", "window", "window"])
    ('1 window, 1 full', '1 full, 2 window')
    """
    period = _period(kinds)
    repeats = len(kinds) // period
    rest = list(kinds[repeats * period :])
    text = _runs(kinds[:period])
    if rest:
        text = f"{repeats} x ({text}), {_runs(rest)}" if repeats > 1 else _runs(kinds)
    return text


def _period(kinds: Sequence[str]) -> int:
    """The least number of layers after which all the others repeat."""
    return next(
        size for size in range(1, len(kinds) + 1) if all(map(str.__eq__, kinds, kinds[size:]))
    )


def _runs(kinds: Sequence[str]) -> str:
    runs: list[tuple[str, int]] = []
    for kind in kinds:
        if runs and runs[-1][0] == kind:
            runs[-1] = (kind, runs[-1][1] + 1)
        else:
            runs.append((kind, 1))
    return ", ".join(f"{number} {kind}" for kind, number in runs)


def counts(kinds: Sequence[str], shared: int = 0) -> dict[str, int]:
    """Inputs of `formulas.layer_kinds` that a sequence of kinds gives.

    The last `shared` layers reuse the cache of an earlier one.
    """
    number = Counter(kinds)
    counted = {f"{kind}_layers": number[kind] for kind in ("chunk", "compressed") if number[kind]}
    sparse = number["sparse"] + number["sparse-reuse"]
    if sparse:
        counted["sparse_layers"] = sparse
    # Without a number, each has an indexer.
    if number["sparse-reuse"]:
        counted["index_layers"] = number["sparse"]
    states = number["state"] + number["state+full"]
    if states:
        counted["state_layers"] = states
    # Without a number, a window would be that of all layers.
    counted["window_layers"] = number["window"]
    # Full layers follow from the others, unless a layer is of two kinds or of none.
    if number["state+full"] or number["none"]:
        counted["full_layers"] = number["full"] + number["state+full"]
    if shared:
        counted["shared_window_layers"] = Counter(kinds[-shared:])["window"]
    return counted
