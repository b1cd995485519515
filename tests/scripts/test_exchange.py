"""One build at a time, and a site that is whole at every moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from scripts.website.build import exchange

SAY_NOTHING = [].append


def site_of(folder: Path, text: str) -> Path:
    """A site of one page."""
    folder.mkdir(parents=True)
    (folder / "index.html").write_text(text)
    return folder


@pytest.mark.parametrize("can_exchange", [True, False])
def test_a_new_site_takes_the_place_of_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, can_exchange: bool
) -> None:
    site = site_of(tmp_path / "site", "old")
    if not can_exchange:
        monkeypatch.setattr(exchange, "_exchanged", lambda *_: False)
    with exchange.staging(site, SAY_NOTHING) as staged:
        (staged / "index.html").write_text("new")
        exchange.put(staged, site)
    assert (site / "index.html").read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_first_site_needs_no_old_one(tmp_path: Path) -> None:
    with exchange.staging(tmp_path / "a" / "site", SAY_NOTHING) as staged:
        (staged / "index.html").write_text("new")
        exchange.put(staged, tmp_path / "a" / "site")
    assert (tmp_path / "a" / "site" / "index.html").read_text() == "new"


def test_a_failure_leaves_the_old_site_and_nothing_else(tmp_path: Path) -> None:
    site = site_of(tmp_path / "site", "old")
    with pytest.raises(OSError, match="full"), exchange.staging(site, SAY_NOTHING) as staged:
        (staged / "half.html").write_text("ne")
        raise OSError("full")
    assert (site / "index.html").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_request_to_end_in_the_midst_of_tidying_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TERM reached a build in the last tenth of a second: its staging folder stayed behind."""
    remove = exchange.shutil.rmtree
    requests = [signal.SIGTERM, signal.SIGTERM]

    def interrupted(folder: Path, **options: bool) -> None:
        if requests and folder.exists():
            signal.raise_signal(requests.pop())
        remove(folder, **options)

    monkeypatch.setattr(exchange.shutil, "rmtree", interrupted)
    with (
        pytest.raises(SystemExit, match="143"),
        exchange.tidy_when_ended(),
        exchange.staging(tmp_path / "site", SAY_NOTHING) as staged,
    ):
        (staged / "half.html").write_text("ne")
    assert list(tmp_path.iterdir()) == []
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_lone_old_site_gets_its_name_back(tmp_path: Path) -> None:
    """A build that was killed between two renames, on a system that cannot exchange."""
    site_of(tmp_path / "site.old", "old")
    site_of(tmp_path / "site.new-77", "half")
    exchange.recover(tmp_path / "site")
    assert (tmp_path / "site" / "index.html").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


@pytest.mark.parametrize("name", ["site.old", "site.new-{}"])
@pytest.mark.parametrize(
    "make", [os.mkfifo, Path.touch, Path.mkdir, lambda path: path.symlink_to(path.parent / "own")]
)
def test_whatever_is_left_in_the_way_is_removed_and_nothing_else(
    tmp_path: Path, name: str, make: Callable[[Path], object]
) -> None:
    """A pipe is no folder to look into: a build would wait for its writer."""
    others = [site_of(tmp_path / other, "own") for other in ("own", ".new-5", "book.new-5")]
    site = site_of(tmp_path / "site", "old")
    make(tmp_path / name.format(os.getpid()))
    with exchange.staging(site, SAY_NOTHING) as staged:
        (staged / "index.html").write_text("new")
        exchange.put(staged, site)
    assert {path.name for path in tmp_path.iterdir()} == {"site", *(one.name for one in others)}
    assert (site / "index.html").read_text() == "new"
    assert all((one / "index.html").read_text() == "own" for one in others)


def test_the_second_build_waits_and_says_for_whom(tmp_path: Path) -> None:
    messages: list[str] = []
    ended = threading.Event()

    def second() -> None:
        with exchange.alone(tmp_path, messages.append):
            ended.set()

    with exchange.alone(tmp_path, messages.append):
        thread = threading.Thread(target=second)
        thread.start()
        deadline = time.monotonic() + 10
        while not messages and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not ended.is_set()
        assert messages == [f"waiting for the build of process {os.getpid()} in {tmp_path}"]
    thread.join(10)
    assert ended.is_set() and list(tmp_path.iterdir()) == []


def test_a_killed_holder_holds_nothing(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys\nfrom pathlib import Path\n"
        "from scripts.website.build.exchange import alone\n"
        "with alone(Path(sys.argv[1]), print):\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    subprocess.run(command, cwd=Path(__file__).parents[2], check=False)
    messages: list[str] = []
    with exchange.alone(tmp_path, messages.append):
        pass
    assert messages == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends children with their parent")
def test_a_child_ends_with_its_parent(tmp_path: Path) -> None:
    program = (
        "import os, signal, subprocess, sys, time\n"
        "from scripts.website.build.exchange import end_with_parent\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], "
        "preexec_fn=end_with_parent)\n"
        "print(child.pid, flush=True)\nos.kill(os.getpid(), signal.SIGKILL)\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=False
    )
    state = Path("/proc") / done.stdout.strip() / "stat"
    deadline = time.monotonic() + 10
    while _runs(state) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _runs(state)


def _runs(state: Path) -> bool:
    try:
        return state.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_site_in_the_work_folder_does_not_wait_for_itself(tmp_path: Path) -> None:
    """The tests of the site build so; a second lock of the same folder would wait forever."""
    messages: list[str] = []
    with (
        exchange.alone(tmp_path, messages.append),
        exchange.staging(tmp_path / "site", messages.append),
    ):
        assert messages == []
    with exchange.alone(tmp_path, messages.append):
        assert messages == []
