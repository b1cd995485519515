"""The built site, once for all workers, served compressed on loopback; a browser each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scripts.website.build.weigh import served
from tests.support import building, delays
from tests.support.forming import Forms


@pytest.fixture(scope="session")
def built() -> Path:
    """A folder with `site` (MkDocs) and `zensical/site`, built once for all workers."""
    folder = Path(os.environ[building.VARIABLE])
    building.start(folder)
    log = building.log_of(folder)
    if not log.startswith("0\n"):
        pytest.fail(f"the site does not build:\n{log}")
    return folder


@pytest.fixture(scope="session")
def site(built: Path) -> Path:
    """The site as MkDocs built it."""
    return built / "site"


@pytest.fixture(scope="session")
def base(site: Path) -> Iterator[str]:
    """The address at which the site is served."""
    delays.hold_files()
    with served(site) as address:
        yield address


@pytest.fixture(scope="session")
def forms(surf: Any, base: str) -> Iterator[Forms]:
    """The forms of all calculators, each in a tab that is kept."""
    kept = Forms(surf, base)
    yield kept
    kept.close()
