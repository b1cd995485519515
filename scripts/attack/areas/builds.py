"""Builds of a bare checkout that are killed, run two at a time, or run out of space.

The kills are the area of this module; pairs and full disks are one of their own beside it. Each
ends with a site that equals the one of a clean build, or the one that was there before; what
is built next equals a clean build; no process is left.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import os
import queue
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from scripts.attack.bare import bare_checkout
from scripts.attack.campaign import Attempt, Campaign
from scripts.attack.checkout import build, build_command, environment

NAME = "killed-builds"
KILLS = 50
EDIT = "docs/handbook/one.md"
_PATIENCE_S = 900
_AGAIN = "--again"  # a build that finds nothing to do would prove nothing
# Run in a mount namespace of its own: a small disk, the old site on it, a build into it.
_SMALL_DISK = """
mount -t tmpfs -o size="$1" tmpfs "$2" || exit 77
cp -a "$3" "$2/site" || exit 77
shift 3
"$@"
status=$?
cp -a "$OUT_OF/site" "$OUT_TO"
ls "$OUT_OF" >&2
exit $status
"""


class _Bench:
    """A small checkout with the hashes of its two sites: of the text before and after an edit."""

    def __init__(self, folder: Path, edited: str) -> None:
        self.folder = folder
        self.before = self._built()
        self.old = folder.with_name(f"{folder.name}-old")
        shutil.copytree(self.folder / "site", self.old)
        text = (self.folder / edited).read_text(encoding="utf-8")
        (self.folder / edited).write_text(f"{text}\nA line more.\n", encoding="utf-8")
        begun = time.monotonic()
        self.after = self._built()
        self.seconds = time.monotonic() - begun
        assert self.before != self.after

    def _built(self) -> str:
        done = build(self.folder, _AGAIN)
        if done.returncode:
            raise RuntimeError(f"the checkout does not build: {done.stdout}{done.stderr}")
        return digest(self.folder / "site")

    def beside(self, folder: Path) -> _Bench:
        """The same in another folder, for what runs at the same time."""
        second_bench = copy.copy(self)
        second_bench.folder = folder
        shutil.copytree(self.folder, folder)
        return second_bench

    def go_back(self) -> None:
        """Put the old site in place, and remove what a killed build has left beside it.

        The next build would remove that too, but only if it lives to its staging.
        """
        for path in self.folder.glob("site*"):
            shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(self.old, self.folder / "site")

    def fault(self, *, leftovers: bool = False) -> str:
        """What is wrong with the site as it is; names of leftovers only where there may be none."""
        site = self.folder / "site"
        if digest(site) not in (self.before, self.after):
            return "the site is neither the old one nor the new one"
        names = {path.name for path in self.folder.glob("site*")} - {"site"}
        return "" if leftovers or not names else f"left behind: {', '.join(sorted(names))}"


Attack = Callable[[_Bench, float], Attempt]


def digest(folder: Path) -> str:
    """One hash of the names and bytes of all files of a folder."""
    hasher = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            hasher.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return hasher.hexdigest()


def attack(campaign: Campaign) -> Iterator[Attempt]:
    """Kills on the bare checkout."""
    checkout = bare_checkout(campaign.folder / "checkout-0")
    yield from attacked(campaign, checkout, EDIT, {killed: KILLS})


def attacked(
    campaign: Campaign,
    checkout: Path,
    edited: str,
    counts: Mapping[Attack, int],
    lane_count: int = 1,
) -> Iterator[Attempt]:
    """So many attacks of each kind on builds, in `lane_count` copies at once."""
    first = _Bench(checkout, edited)
    # Each lane ends with a build of its own: a small campaign is sooner done in one.
    others = range(1, campaign.count(lane_count))
    lanes = [first, *(first.beside(campaign.folder / f"checkout-{n}") for n in others)]
    free: queue.SimpleQueue[_Bench] = queue.SimpleQueue()
    for bench in lanes:
        free.put(bench)

    def in_a_lane(job: tuple[Attack, float]) -> Attempt:
        bench = free.get()
        try:
            return job[0](bench, job[1])
        finally:
            free.put(bench)

    # Chance is asked before anything runs: the order in which lanes are free is not its business.
    jobs = [
        (attack_kind, campaign.rng.random())
        for attack_kind, full_count in counts.items()
        for _ in range(campaign.count(full_count))
    ]
    with ThreadPoolExecutor(len(lanes)) as pool:
        yield from pool.map(in_a_lane, jobs)
        for fault in pool.map(_whole, lanes):
            yield Attempt("a build after all of it", fault)


def _whole(bench: _Bench) -> str:
    done = build(bench.folder, _AGAIN)
    if done.returncode:
        return f"exit {done.returncode}: {done.stderr[-300:]}"
    is_new = digest(bench.folder / "site") == bench.after
    return bench.fault() or ("" if is_new else "the site is not the new one")


def _started(bench: _Bench, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        build_command(*words),
        cwd=bench.folder,
        env=environment(bench.folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def killed(bench: _Bench, chance: float) -> Attempt:
    """A build that is killed at a random moment; its children are gone soon after.

    Every third one runs its notebooks again, so kernels are among the children.
    """
    bench.go_back()
    if int(chance * 1e5) % 3 == 0:
        shutil.rmtree(bench.folder / "build" / "notebook-cache", ignore_errors=True)
    moment = chance * bench.seconds * 1.1
    name = ("KILL", "KILL", "TERM")[int(chance * 1e6) % 3]
    process = _started(bench, _AGAIN)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(moment)
    process.send_signal(getattr(signal, f"SIG{name}"))
    process.wait(_PATIENCE_S)
    title = f"{name} after {moment:.2f} s"
    if left := _left_running(bench.folder):
        return Attempt(title, f"still running: {left}")
    return Attempt(title, bench.fault(leftovers=name == "KILL"))


def _left_running(folder: Path) -> str:
    """What of a build runs on after three seconds; it is ended then."""
    deadline = time.monotonic() + 3
    while (left := _of_checkout(folder)) and time.monotonic() < deadline:
        time.sleep(0.05)
    for pid in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return ", ".join(left.values())


def _of_checkout(folder: Path) -> dict[int, str]:
    """Processes with the code of a checkout, and their commands; a kernel has its own session.

    What has ended and only waits to be reaped has no environment any more.
    """
    commands: dict[int, str] = {}
    variable = f"PYTHONPATH={folder}{os.pathsep}".encode()
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if variable in (path / "environ").read_bytes():
                command = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                commands[int(path.name)] = command[:120]
    return commands


def pair(bench: _Bench, chance: float) -> Attempt:
    """Two builds at once, the second begun at a random moment of the first.

    Every other second one may find its site made; the others make it again.
    """
    bench.go_back()
    moment = chance * bench.seconds
    first = _started(bench, _AGAIN)
    time.sleep(moment)
    second = _started(bench, *([_AGAIN] if int(chance * 1e6) % 2 else []))
    outputs = [process.communicate(timeout=_PATIENCE_S)[0] for process in (first, second)]
    title = f"a second build after {moment:.2f} s"
    if first.returncode or second.returncode:
        return Attempt(
            title, f"exit {first.returncode} and {second.returncode}: {outputs[1][-300:]}"
        )
    if digest(bench.folder / "site") != bench.after:
        return Attempt(title, "the site is not the one of a clean build")
    return Attempt(title, bench.fault())


def full_disk(bench: _Bench, chance: float) -> Attempt:
    """A build on a disk that holds the old site and less than all of the new one."""
    out = bench.folder.with_name(f"{bench.folder.name}-disk-{chance}")
    disk = out / "disk"
    disk.mkdir(parents=True)
    size = sum(path.stat().st_size for path in bench.old.rglob("*"))
    room = int(size * (1.22 + 1.2 * chance))
    folders = ("--site", str(disk / "site"), "--work", str(disk / "build"))
    script = ["sh", "-c", _SMALL_DISK, "sh", str(room), str(disk), str(bench.old)]
    spaces = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    variables = {"OUT_OF": str(disk), "OUT_TO": str(out / "site")}
    done = _run(bench, [*spaces, *script, *build_command(_AGAIN, *folders)], variables)
    title = f"a disk of {room:,} bytes"
    if done.returncode == 77 or "unshare" in done.stderr[:20]:
        return _small_files(bench, chance)
    if "Traceback" in done.stderr:
        return Attempt(title, f"a traceback: {done.stderr[-300:]}")
    expected = bench.after if done.returncode == 0 else bench.before
    is_whole = digest(out / "site") == expected
    return Attempt(title, "" if is_whole else f"exit {done.returncode} and not the site of it")


def _small_files(bench: _Bench, chance: float) -> Attempt:
    """Where no disk can be made: a system that refuses files above a size."""
    bench.go_back()
    limit = int(2 ** (10 + 8 * chance))

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    # Python would keep the first bytes of what it compiled, and the next build read them.
    compiles = {"PYTHONDONTWRITEBYTECODE": "1"}
    done = _run(bench, build_command(_AGAIN), compiles, limited)
    title = f"files of at most {limit:,} bytes"
    if "Traceback" in done.stderr:
        return Attempt(title, f"a traceback: {done.stderr[-300:]}")
    return Attempt(title, bench.fault())


def _run(
    bench: _Bench,
    command: list[str],
    variables: dict[str, str],
    begin: Callable[[], None] | None = None,
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=bench.folder,
        env=environment(bench.folder) | variables,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=begin,
    )
