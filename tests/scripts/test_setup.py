"""The set-up layer: the lock, the set-up script, the workflows."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
import yaml

ROOT = Path(__file__).parents[2]
INPUTS = sorted((ROOT / "requirements").glob("*.in"))
LOCKS = {name: (ROOT / "requirements" / f"{name}.txt").read_text() for name in ("lock", "jax")}
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def name_of(requirement: str) -> str:
    """The normalised project name at the start of a requirement."""
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found, requirement
    return re.sub(r"[-_.]+", "-", found.group()).lower()


def requirements(path: Path) -> list[str]:
    lines = (line.split("#")[0].strip() for line in path.read_text().splitlines())
    return [line for line in lines if line]


@pytest.fixture
def setup_env() -> ModuleType:
    spec = importlib.util.spec_from_file_location("setup_env", ROOT / "scripts" / "setup_env.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def locked(text: str) -> dict[str, str]:
    """The version of each package that a lock names with hashes."""
    entries = re.findall(
        r"^([a-z0-9-]+)==(\S+)[^\n]*\\\n((?:    --hash=sha256:[0-9a-f]{64}[ \\]*\n)+)", text, re.M
    )
    found = {name: version for name, version, _ in entries}
    assert len(found) == len(entries)
    return found


@pytest.mark.parametrize(("name", "least"), [("lock", 50), ("jax", 5)])
def test_every_locked_package_has_one_version_and_hashes(name: str, least: int) -> None:
    assert len(locked(LOCKS[name])) == len(re.findall(r"^[^#\s]", LOCKS[name], re.M)) >= least


@pytest.mark.parametrize("name", LOCKS)
def test_the_lock_names_no_host(name: str) -> None:
    assert not re.search(r"https?://|--index-url|--find-links|file:", LOCKS[name])


def test_the_lock_of_an_extra_agrees_with_the_lock_below_it() -> None:
    """It is installed on top of the other packages: what both name has to be the same."""
    main, extra = locked(LOCKS["lock"]), locked(LOCKS["jax"])
    both = main.keys() & extra.keys()
    assert "numpy" in both and {name: main[name] for name in both} == {
        name: extra[name] for name in both
    }
    assert not {"jax", "jaxlib", "scipy"} & main.keys(), (
        "the lock that everybody installs stays light"
    )


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: path.name)
def test_inputs_are_locked_and_say_why(path: Path) -> None:
    for line in path.read_text().splitlines():
        assert "#" in line, f"{path.name}: {line}: no reason given"
    for requirement in requirements(path):
        assert name_of(requirement) in locked(LOCKS.get(path.stem, LOCKS["lock"])), requirement


def test_runtime_input_and_pyproject_name_the_same_packages() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    declared = [*project["dependencies"], *(entry for extra in extras for entry in extra)]
    inputs = [
        line
        for name in ("runtime", "jax")
        for line in requirements(ROOT / "requirements" / f"{name}.in")
    ]
    assert {name_of(entry) for entry in declared} == {name_of(entry) for entry in inputs}


def test_set_up_does_nothing_when_all_is_in_place(setup_env: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "lock.txt").write_text("")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").write_text("")
    setup_env.write_stamp(str(tmp_path), setup_env.wanted_state(str(tmp_path)))
    assert setup_env.set_up(str(tmp_path)) == "nothing"


@pytest.mark.parametrize(
    ("file", "fresh"),
    [("requirements/lock.txt", True), ("pyproject.toml", False)],
    ids=["lock", "pyproject"],
)
def test_a_changed_file_brings_its_own_step(
    setup_env: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, fresh: bool
) -> None:
    steps: list[str] = []
    monkeypatch.setattr(setup_env, "create", lambda root: steps.append("create"))
    monkeypatch.setattr(setup_env, "install_package", lambda root: steps.append("package"))
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "lock.txt").write_text("")
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").write_text("")
    setup_env.write_stamp(str(tmp_path), setup_env.wanted_state(str(tmp_path)))
    (tmp_path / file).write_text("changed")
    assert setup_env.set_up(str(tmp_path)) == ("all" if fresh else "package")
    assert steps == (["create", "package"] if fresh else ["package"])
    assert setup_env.set_up(str(tmp_path)) == "nothing"


@pytest.mark.parametrize("stamp", ["", "[]", "{"])
def test_a_spoilt_stamp_means_a_new_set_up(
    setup_env: ModuleType, tmp_path: Path, stamp: str
) -> None:
    (tmp_path / ".venv").mkdir()
    Path(setup_env.stamp_path(str(tmp_path))).write_text(stamp)
    assert setup_env.read_stamp(str(tmp_path)) == {}


def test_an_old_python_is_told_in_one_line(setup_env: ModuleType) -> None:
    with pytest.raises(
        setup_env.SetupError, match=r"Python 3\.11 or newer is needed, and .* is 3\.9\."
    ) as caught:
        setup_env.check_python((3, 9, 2))
    assert "\n" not in str(caught.value)


def test_a_python_without_venv_is_told_what_to_install(
    setup_env: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    with pytest.raises(setup_env.SetupError, match="apt-get install python3-venv"):
        setup_env.check_python()


def test_a_failing_install_shows_its_last_lines(setup_env: ModuleType, tmp_path: Path) -> None:
    command = [sys.executable, "-c", "print('no such package'); raise SystemExit(1)"]
    with pytest.raises(setup_env.SetupError, match="no such package"):
        setup_env.run_logged(command, str(tmp_path / "log"))


def test_make_without_python_says_so() -> None:
    done = subprocess.run(
        ["make", "--no-print-directory", "setup", "PYTHON=no-such-python"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "'no-such-python' was not found. Install Python 3.11 or newer" in done.stderr


def test_make_alone_lists_every_target() -> None:
    done = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True)
    listed = set(re.findall(r"^  make (\w+)", done.stdout, re.M))
    assert {
        "help",
        "site",
        "serve",
        "test",
        "lint",
        "links",
        "bench",
        "jax",
        "lock",
        "clean",
    } <= listed


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_are_pinned_and_may_do_little(path: Path) -> None:
    uses = re.findall(r"uses: (.*)", path.read_text())
    assert uses
    for use in uses:
        assert re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use), use
    flow = yaml.safe_load(path.read_text())
    assert flow["permissions"] == {"contents": "read"}
    assert flow["concurrency"]
    for name, job in flow["jobs"].items():
        assert job["timeout-minutes"]
        assert name in ("deploy", "propose") or "permissions" not in job
        for step in job["steps"]:
            if "checkout" in step.get("uses", ""):
                assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize(
    "path", [path for path in WORKFLOWS if "propose:" in path.read_text()], ids=lambda p: p.name
)
def test_a_job_that_may_write_runs_nothing_that_was_fetched(path: Path) -> None:
    """What was read from the web is made into a patch by a job that may not write.

    Another one only applies it.
    """
    jobs = yaml.safe_load(path.read_text())["jobs"]
    assert jobs["propose"]["permissions"] == {"contents": "write", "pull-requests": "write"}
    checkout, run = jobs["propose"]["steps"]
    assert checkout["uses"].startswith("actions/checkout@") and run["run"].startswith(
        ".ci/propose "
    )
    assert "${{" not in run["run"], (
        "values go through the environment, where no shell reads them as code"
    )
    (before,) = [job for name, job in jobs.items() if name == jobs["propose"]["needs"]]
    assert before["outputs"]["patch"] and before["steps"][-1]["run"].startswith(
        ".ci/patch bibliography"
    )
    assert ".github" not in before["steps"][-1]["run"]


def git(folder: Path, *words: str) -> str:
    names = ["-c", "user.name=Jane", "-c", "user.email=jane@acme.example"]
    return subprocess.run(
        ["git", *names, *words], cwd=folder, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.parametrize("already", ["0", "1"])
def test_a_patch_becomes_a_pull_request(tmp_path: Path, already: str) -> None:
    """What one checkout changed, new files too, arrives on a branch of the other.

    Gh and the remote are stand-ins.
    """
    work, remote, tools = tmp_path / "work", tmp_path / "remote.git", tmp_path / "tools"
    (work / ".ci").mkdir(parents=True)
    tools.mkdir()
    for name in ("patch", "propose"):
        shutil.copy(ROOT / ".ci" / name, work / ".ci" / name)
    (work / "data").mkdir()
    (work / "data" / "old.txt").write_text("old\n")
    git(work, "init", "-q", "-b", "main")
    git(work, "add", "-A")
    git(work, "commit", "-qm", "first")
    git(tmp_path, "clone", "-q", "--bare", str(work), str(remote))
    git(tmp_path, "clone", "-q", str(remote), "other")
    assert (
        subprocess.run([work / ".ci" / "patch", "data"], capture_output=True, check=True).stdout
        == b""
    )
    (work / "data" / "old.txt").write_text("new\n")
    (work / "data" / "more.txt").write_text("more\n")
    (work / "elsewhere.txt").write_text("not this\n")
    message = subprocess.run(
        [work / ".ci" / "patch", "data"], capture_output=True, text=True, check=True
    ).stdout
    assert message.startswith("patch=") and message.count("\n") == 1
    (tools / "gh").write_text(
        f'#!/bin/sh\n[ "$2" = list ] && echo {already} || echo "$@" >> {tmp_path}/made\n'
    )
    (tools / "gh").chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{tools}:{os.environ['PATH']}",
        "PATCH": message.strip().removeprefix("patch="),
        "GH_TOKEN": "t",
        "GITHUB_REPOSITORY": "acme/book",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.file://{remote}.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://x-access-token:t@github.com/acme/book.git",
    }
    command = [tmp_path / "other" / ".ci" / "propose", "papers", "New works", "A body; $(touch x)"]
    subprocess.run(command, env=environment, capture_output=True, check=True)
    assert git(remote, "log", "-1", "--format=%s", "papers") == "New works\n"
    assert git(remote, "show", "--stat=80", "--format=", "papers").count("|") == 2
    assert git(remote, "show", "papers:data/more.txt") == "more\n"
    made = (tmp_path / "made").read_text() if already == "0" else ""
    assert (made.startswith("pr create --repo acme/book --head papers --base main")) == (
        already == "0"
    )


def test_ci_runs_the_two_commands_of_the_readme() -> None:
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    assert [line.split()[1] for line in lines if line.startswith("make ")] == ["test", "site"]
