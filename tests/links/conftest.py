"""Fixtures: a real server on 127.0.0.1."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
for folder in (HERE, HERE.parents[1] / "scripts"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

from linkserver import FakeClock, LinkServer  # noqa: E402

from services import ForbiddenListener  # noqa: E402


@pytest.fixture
def server(forbidden: ForbiddenListener) -> Iterator[LinkServer]:
    """The server with all the ways a link can behave."""
    running = LinkServer(forbidden.url)
    yield running
    running.close()


@pytest.fixture
def clock() -> FakeClock:
    """A clock that does not wait."""
    return FakeClock()
