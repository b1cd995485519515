"""Fixtures: a real server on 127.0.0.1."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.linkserver import FakeClock, LinkServer
from tests.support.services import ForbiddenListener


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
