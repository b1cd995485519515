"""Shared fixtures: a small world of data that a test may break; hypothesis without deadlines."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.configuration import set_hypothesis_home_dir

# Before NumPy is loaded: where several workers share a machine, threads for small matrices wait
# more than they compute.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# What is compiled is kept, whoever forbids that: else every worker and each of some hundred
# programs that the tests start compile the package, and the workers all tests too, each time.
os.environ["PYTHONDONTWRITEBYTECODE"] = ""

from flopbook.data.library import using
from scripts.ensure_browser import find_browser
from scripts.website.build.collecting import collect_rarely
from tests.support import browsing, building, samples
from tests.support import services as _services
from tests.support.durations import long_tests, name_of

sys.dont_write_bytecode = False
_SITE = pytest.StashKey[tempfile.TemporaryDirectory[str]]()
# Commands that the tests start keep here what they read of the data, and so do all workers.
_KEPT = tempfile.TemporaryDirectory(prefix="flopbook-kept-")
if "PYTEST_XDIST_WORKER" not in os.environ:
    os.environ["FLOPBOOK_CACHE"] = _KEPT.name
    # The build of the site and a test run the same notebooks: what JAX compiles is compiled once.
    os.environ["JAX_COMPILATION_CACHE_DIR"] = f"{_KEPT.name}/jax"
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
# The constants that hypothesis draws from: each worker of each run read all of our code for them.
# They are kept by the content of the files, so that what is drawn is what it was.
set_hypothesis_home_dir(Path(__file__).resolve().parents[1] / "build" / "hypothesis")
_SHARED: dict[str, Any] = {
    "deadline": None,
    "database": None,
    "max_examples": 60,
    "suppress_health_check": [HealthCheck.too_slow],
}
settings.register_profile("dev", **_SHARED)
settings.register_profile("ci", derandomize=True, print_blob=True, **_SHARED)
settings.load_profile("ci" if os.environ.get("CI") == "true" else "dev")


def pytest_configure(config: pytest.Config) -> None:
    """One folder for the site of this run, which the workers learn from the environment."""
    collect_rarely()  # what is imported and collected from here on stays to the end
    if not hasattr(config, "workerinput"):
        config.stash[_SITE] = tempfile.TemporaryDirectory(prefix="flopbook-site-")
        os.environ[building.VARIABLE] = config.stash[_SITE].name


def pytest_unconfigure(config: pytest.Config) -> None:
    """Take the site away again."""
    if _SITE in config.stash:
        config.stash[_SITE].cleanup()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more worker than cores: a worker that waits for its browser leaves a core free."""
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else 2


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(ids: list[str]) -> None:
    """Build the site while the workers run the tests that need none: they come first."""
    if any(name.startswith("tests/website/site/") for name in ids):
        building.start(Path(os.environ[building.VARIABLE]))


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Read the test files from both ends: every other worker from the last to the first.

    Where they meet, each finds the other half compiled, which takes longer than all else.
    """
    number = getattr(session.config, "workerinput", {}).get("workerid", "gw0").removeprefix("gw")
    if int(number) % 2 == 0:
        return
    root = session.config.rootpath
    ignored = [Path(name).resolve() for name in session.config.getoption("ignore") or ()]
    for folder in filter(Path.is_dir, (Path(name).resolve() for name in session.config.args)):
        for path in sorted(folder.rglob("test_*.py"), reverse=True):
            if not any(map(path.is_relative_to, ignored)):
                name = ".".join(path.relative_to(root).with_suffix("").parts)
                # What is wrong with it is said when it is collected.
                with contextlib.suppress(Exception):
                    importlib.import_module(name)


# Each test of these is long enough to be given to a worker by itself.
_LONG = (
    "tests/scripts/test_attack.py",
    "tests/website/site/test_build.py",
    "tests/website/site/test_visits.py",
)


def _group(item: pytest.Item) -> str:
    """What a worker takes as a whole: a file, whose tests share what they read and draw.

    All tests of forms together, which keep a tab for each calculator.
    """
    file = item.nodeid.partition("::")[0]
    if file in _LONG:
        return item.nodeid
    return "forms" if "forms" in getattr(item, "fixturenames", ()) else file


def _turn(item: pytest.Item) -> int:
    """Attacks first, which build small sites; what needs the site last, and there forms first.

    So the site is built while other tests run, and short tests fill the end of both workers.
    """
    if "tests/website/site/" not in item.nodeid:
        return 0 if item.nodeid.startswith(_LONG) else 1
    return 2 if "forms" in getattr(item, "fixturenames", ()) else 3


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark long tests, and give workers whole files.

    One test at a time would take the scheduler longer than them: what it does for a test grows
    with the number of groups that a worker has had.
    """
    known = long_tests()
    for item in items:
        if name_of(item.nodeid) in known:
            item.add_marker(pytest.mark.long)
    if not hasattr(config, "workerinput"):
        return
    items.sort(key=_turn)
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(_group(item)))


def pytest_collection_finish() -> None:
    """What has been collected stays to the end, and is half a million objects in each worker."""
    collect_rarely()


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[samples.World]:
    """A valid world in a temporary folder, which is the library in use while the test runs."""
    made = samples.World(tmp_path)
    monkeypatch.chdir(tmp_path)
    with using(made.library):
        yield made


@pytest.fixture
def forbidden() -> Iterator[_services.ForbiddenListener]:
    """A listener on 127.0.0.2; the test fails if anything connected to it."""
    listener = _services.ForbiddenListener()
    yield listener
    listener.close()
    assert listener.connections == 0, "a connection reached the forbidden host"


@pytest.fixture
def services(forbidden: _services.ForbiddenListener) -> Iterator[_services.Services]:
    """A server that plays arXiv, doi.org and the web."""
    running = _services.Services()
    yield running
    running.close()


@pytest.fixture(scope="session")
def surf() -> Iterator[browsing.Surfer]:
    """The browser; without one the test fails and says how to get it."""
    executable = find_browser()
    if executable is None:
        pytest.fail("no Chromium found; run: .venv/bin/python -m scripts.ensure_browser")
    surfer = browsing.Surfer(executable)
    yield surfer
    surfer.close()
