"""The set-up layer: the lock, the set-up script, the targets of make."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
INPUTS = sorted((ROOT / "requirements").glob("*.in"))
LOCKS = {name: (ROOT / "requirements" / f"{name}.txt").read_text() for name in ("lock", "jax")}


def name_of(requirement: str) -> str:
    """The normalised project name at the start of a requirement."""
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert match, requirement
    return re.sub(r"[-_.]+", "-", match.group()).lower()


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
    versions = {name: version for name, version, _ in entries}
    assert len(versions) == len(entries)
    return versions


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
    # PyTorch has no lock: its notebooks are recorded, never run by a build
    optional = project["optional-dependencies"].items()
    extras = [packages for name, packages in optional if name != "torch"]
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


def test_one_of_several_installs_that_fails_is_named(setup_env: ModuleType, tmp_path: Path) -> None:
    good = [sys.executable, "-c", "print('fine')"]
    bad = [sys.executable, "-c", "print('no such hash'); raise SystemExit(1)"]
    with pytest.raises(setup_env.SetupError, match="no such hash") as caught:
        setup_env.run_beside([good, bad], str(tmp_path / "log"))
    assert str(caught.value).endswith(str(tmp_path / "log.2"))
    assert (tmp_path / "log").read_text() == "fine\n"


@pytest.mark.parametrize("count", [1, 2, 4])
def test_each_package_of_the_lock_is_in_one_part_with_its_hashes(
    setup_env: ModuleType, tmp_path: Path, count: int
) -> None:
    lock = ROOT / "requirements" / "lock.txt"
    parts = [Path(path) for path in setup_env.divide_lock(str(lock), str(tmp_path), count)]
    assert len(parts) == count
    assert locked("".join(path.read_text() for path in parts)) == locked(LOCKS["lock"])
    hashes = [path.read_text().count("--hash=sha256:") for path in parts]
    assert sum(hashes) == LOCKS["lock"].count("--hash=sha256:") and all(hashes)


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
        "attack",
        "bill",
        "jax",
        "lock",
        "clean",
    } <= listed


def test_ci_runs_the_two_commands_of_the_readme() -> None:
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    assert [line.split()[1] for line in lines if line.startswith("make ")] == ["test", "site"]
