"""A file that opens and cannot be read: the message names it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

_UNREADABLE = Path("/proc/self/mem")  # nothing lies at its first address


@pytest.mark.skipif(not _UNREADABLE.exists(), reason="only Linux has such a file")
@pytest.mark.parametrize("words", [("params", "--config"), ("audit", "--score")])
def test_it_is_named(fails: Callable[..., str], words: tuple[str, ...]) -> None:
    """It was `system: Input/output error`."""
    assert fails(*words, str(_UNREADABLE)) == f"{_UNREADABLE}: Input/output error"
