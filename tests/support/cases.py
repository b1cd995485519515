"""Many cases in one test: each is tried, and all that fail are told at once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

# What an assertion, an unexpected exception and `pytest.fail` raise; not what interrupts a run.
_FAILURES = (Exception, pytest.fail.Exception)


def every(
    names: str, cases: Iterable[Any] | Callable[[], Iterable[Any]]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Like `pytest.mark.parametrize`, but one test that tries all cases and lists what failed.

    For hundreds of cases that take less than a test itself, which costs a few milliseconds in each
    worker that collects it and in the one that runs it. All cases get the same fixtures: a test
    that changes what a fixture gives is not one for this. With no case at all the test fails.
    Cases that take long to list are given as a function, which is asked when the test runs.
    """
    keys = [name.strip() for name in names.split(",")]
    kept = cases if callable(cases) else list(cases)

    def wrap(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def walk(**fixtures: Any) -> None:
            listed = list(kept() if callable(kept) else kept)
            assert listed, f"no case for {names}"
            failures = [
                failure for case in listed if (failure := _tried(test, keys, case, fixtures))
            ]
            if failures:
                raise AssertionError(
                    f"{len(failures)} of {len(listed)} cases failed\n" + "\n".join(failures)
                ) from None

        signature = inspect.signature(test)
        left = [one for name, one in signature.parameters.items() if name not in keys]
        # pytest reads the fixtures from here, so the names of the cases must not be among them.
        walk.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return walk

    return wrap


def _tried(test: Callable[..., None], keys: list[str], case: Any, fixtures: dict[str, Any]) -> str:
    """What was wrong with a case; nothing for a good one."""
    values = case if len(keys) > 1 else (case,)
    try:
        test(**dict(zip(keys, values, strict=True)), **fixtures)
    except _FAILURES as error:
        shown = ", ".join(repr(value)[:80] for value in values)
        return f"[{shown}] {type(error).__name__}: {error}"
    return ""
