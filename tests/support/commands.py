"""Command lines of tests."""

from __future__ import annotations

from collections.abc import Sequence


def with_options(base: Sequence[str], more: Sequence[str]) -> list[str]:
    """A command whose options are those of `more`, and of `base` those that are not among them.

    Options of `base` have a value each, behind the words of the command; one that comes twice
    would be refused.
    """
    first = next((n for n, word in enumerate(base) if word.startswith("--")), len(base))
    options = zip(base[first::2], base[first + 1 :: 2], strict=True)
    kept = (word for name, value in options if name not in more for word in (name, value))
    return [*base[:first], *kept, *more]
