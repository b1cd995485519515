"""`flopbook new calculator`: what it writes runs at once, and says of itself that it is not
finished.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from flopbook.cli import contributing
from flopbook.contributing import new_calculator as skeleton
from flopbook.contributing.new_calculator import (
    FORMULAS,
    MARK,
    PACKAGE,
    NewCalculator,
    declared,
    registered,
    texts,
)
from flopbook.errors import FlopbookError
from flopbook.formulas import CATALOGUE, SECTIONS

ROOT = Path(__file__).resolve().parents[2]
NEW = NewCalculator("weight-read-time", "Clusters", "reading")
WORDS = ("new", "calculator", "weight-read-time", "--section", "clusters")


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copied tree in which a calculator was made, all placeholders as they were written."""
    copy = tmp_path_factory.mktemp("clone")
    # Compiled code comes along: five interpreters need not compile the package each.
    ignore = shutil.ignore_patterns("*.egg-info")
    for name in ("calculators", "tests", "accelerators", "bibliography", "scripts"):
        shutil.copytree(ROOT / name, copy / name, ignore=ignore)
    for name in ("pyproject.toml", "ruff.toml"):
        shutil.copy(ROOT / name, copy / name)
    made = call(copy, "flopbook", *WORDS)
    assert (made.returncode, made.stderr) == (0, ""), made.stderr
    assert made.stdout.startswith("calculators/flopbook/formulas/cost.py is written\n")
    return copy


def call(clone: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A module of Python, run in the copied tree: the data's root follows the package."""
    package = str(clone / "calculators")
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": package}
    command = [sys.executable, "-m", *words]
    return subprocess.run(
        command,
        cwd=clone,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_the_skeleton_computes_and_has_its_command(clone: Path) -> None:
    answer = call(
        clone,
        "flopbook",
        "weight-read-time",
        "--bytes",
        "140GB",
        "--bandwidth",
        "3.5TB/s",
        "--json",
    )
    assert answer.returncode == 0, answer.stderr
    record = json.loads(answer.stdout)
    assert record["outputs"]["seconds"] == {"value": 0.04, "unit": "s"} and record["sources"] == []
    again = call(clone, "flopbook", *WORDS)
    assert again.returncode == 2 and "'weight-read-time' is there already" in again.stderr


def test_its_own_tests_run_and_ask_for_what_is_missing(clone: Path) -> None:
    """Its test and the house both fail, each naming what is to be filled in; the style of the code
    is right.
    """
    done = call(
        clone,
        "pytest",
        "tests/formulas/test_weight_read_time.py",
        "tests/test_house.py",
        "-k",
        "weight or fill or style",
    )
    assert done.returncode == 1, done.stdout[-3000:] + done.stderr
    failed = [
        line.split(" - ")[0].rpartition("::")[2]
        for line in done.stdout.splitlines()
        if line[:6] == "FAILED"
    ]
    assert sorted(failed) == [
        "test_a_published_value",
        "test_nothing_is_left_to_be_filled_in",
        "test_the_limits",
    ]
    assert f"{MARK}: a published value of weight-read-time, with its source" in done.stdout
    assert "calculators/flopbook/formulas/cost.py:" in done.stdout and "fill in:" in done.stdout


def test_the_skeleton_passes_where_every_calculator_is_tested(clone: Path) -> None:
    """Its units, its letters, its steps, its examples and its command, from the first example
    alone.
    """
    files = (
        "tests/faces/test_dimensions.py",
        "tests/faces/test_worked.py",
        "tests/faces/test_latex.py",
        "tests/cli/test_calculators.py",
        "tests/cli/test_commands.py",
        "tests/test_doctests.py",
    )
    done = call(clone, "pytest", *files, "-k", "weight-read-time or every_formula or type_checker")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr


def test_a_module_of_its_own_is_whole(tmp_path: Path) -> None:
    (tmp_path / FORMULAS).mkdir(parents=True)
    for folder in (FORMULAS, PACKAGE):
        shutil.copy(ROOT / folder / "__init__.py", tmp_path / folder)
    function, test, register, public = texts(NEW, tmp_path).values()
    for text in (function, test, register, public):
        assert ast.parse(text) and text.endswith("\n") and max(map(len, text.splitlines())) <= 100
    assert function.startswith(f'"""{MARK}') and "def weight_read_time(" in function
    assert (
        function.count(MARK) >= 8 and test.count(MARK) >= 6 and "<" + "id>" not in function + test
    )


@pytest.mark.parametrize("section", SECTIONS)
def test_every_section_takes_one_more_at_its_end(section: str) -> None:
    """Nothing else of the list changes; a section on one line is opened."""
    text = (ROOT / FORMULAS / "__init__.py").read_text(encoding="utf-8")
    changed = registered(text, NEW._replace(section=section))
    scope: dict[str, Any] = {}
    node = next(n for n in ast.parse(changed).body if isinstance(n, ast.AnnAssign))
    exec(ast.unparse(node), scope)
    assert scope["SECTIONS"] == {
        **SECTIONS,
        section: {**SECTIONS[section], "weight-read-time": "reading"},
    }
    assert list(scope["SECTIONS"][section])[-1] == "weight-read-time"
    assert len(set(changed.splitlines()) - set(text.splitlines())) <= 5


@pytest.mark.parametrize("module", ["aardvarks", "capacity", "reading", "training_runs", "zebras"])
def test_its_name_is_declared_where_the_formatter_would_put_it(module: str) -> None:
    """One line more in the block for type checkers, which stays sorted."""
    text = (ROOT / PACKAGE / "__init__.py").read_text(encoding="utf-8")
    changed = declared(text, NEW._replace(module=module)).splitlines()
    added = [line for line in changed if "weight_read_time" in line]
    assert added == [
        f"    from flopbook.formulas.{module} import weight_read_time as weight_read_time"
    ]
    imports = [line.split() for line in changed if line.startswith("    from flopbook.")]
    places = [(words[1], words[3]) for words in imports]
    assert places == sorted(places)
    changed.remove(added[0])
    assert changed == text.splitlines()


def test_a_dry_run_shows_it_and_writes_nothing(cli: Any) -> None:
    out = cli(*WORDS, "--dry-run").out
    assert out.startswith("@formula(\n") and "def test_a_published_value" in out
    record = json.loads(cli(*WORDS, "--module", "reading", "--dry-run", "--json").out)
    assert record["written"] is False and list(record["files"]) == [
        f"{FORMULAS}/reading.py",
        "tests/formulas/test_weight_read_time.py",
        f"{FORMULAS}/__init__.py",
        f"{PACKAGE}/__init__.py",
    ]
    assert not (ROOT / FORMULAS / "reading.py").exists() and record["next"]


DRY = ("--section", "Clusters", "--dry-run")
REFUSED = {
    "a calculator": (("memory", *DRY), f"'memory' is there already: {FORMULAS}/training_memory.py"),
    "a command": (("list", *DRY), "'list' is the name of a command or of a part of the package"),
    "a public name": (("parse-quantity", *DRY), "'parse-quantity' is the name of a command"),
    "a room of the package": (("drawing", *DRY), "'drawing' is the name of a command or of a part"),
    "capital letters": (
        ("Reading", *DRY),
        "is no name of a calculator; expected lower case words with hyphens",
    ),
    "spaces": (("a b", *DRY), "'a b' is no name of a calculator"),
    "nothing": (("", *DRY), "is no name"),
    "a word of Python": (("class", *DRY), "'class' is no name"),
    "long": (("a" * 41, *DRY), "is no name"),
    "out of the folder": (("../x", *DRY), "'../x' is no name"),
    "underscores": (("a_b", *DRY), "'a_b' is no name"),
    "no section": (("reading", "--dry-run"), "new calculator reading needs --section"),
    "another section": (
        ("reading", "--section", "Paralelism", "--dry-run"),
        "nearest: Parallelism",
    ),
    "module out of the folder": (
        ("reading", *DRY, "--module", "../x"),
        "'../x' is no name of a module",
    ),
    "module that hides": (("reading", *DRY, "--module", "reading"), "would hide the calculator"),
    "module that hides another": (
        ("reading", *DRY, "--module", "min_batch"),
        "would hide the calculator",
    ),
    "module without imports": (
        ("reading", *DRY, "--module", "network_inputs"),
        "network_inputs.py does not import Any, Output",
    ),
    "module with the name": (
        ("full-lives", *DRY, "--module", "conditions"),
        "conditions.py does not import",
    ),
    "an option of a chip": (
        ("reading", *DRY, "--status", "announced"),
        "--status is for new chip, not for new calc",
    ),
    "a summary": (
        ("reading", *DRY, "--summary", "A."),
        "--summary is for new chip, not for new calculator",
    ),
}


@pytest.mark.parametrize(("words", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_calculator_is_refused(words: tuple[str, ...], message: str, fails: Any) -> None:
    assert message in fails("new", "calculator", *words)


def test_a_module_option_belongs_to_calculators(fails: Any) -> None:
    assert "--module is for new calculator, not for new chip" in fails(
        "new", "chip", "acme/a", "--module", "x"
    )


def test_an_installed_package_is_not_written_to(
    fails: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contributing, "checkout", lambda: None)
    assert "clone the repository" in fails(*WORDS)


def test_a_full_module_and_a_name_in_use_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / FORMULAS
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(
        (ROOT / FORMULAS / "__init__.py").read_text(encoding="utf-8")
    )
    (folder / "reading.py").write_text(skeleton.HEAD + "\nweight_read_time = 1\n", encoding="utf-8")
    with pytest.raises(
        FlopbookError, match="has a weight_read_time already; give the module with --module"
    ):
        texts(NEW, tmp_path)
    (folder / "reading.py").write_text(skeleton.HEAD + "\n" * 390, encoding="utf-8")
    with pytest.raises(FlopbookError, match=r"has no room: \d+ lines, at most 400"):
        texts(NEW, tmp_path)
    (folder / "reading.py").unlink()
    test = tmp_path / "tests" / "formulas" / "test_weight_read_time.py"
    test.parent.mkdir(parents=True)
    test.write_text("mine\n", encoding="utf-8")
    with pytest.raises(
        FlopbookError, match=r"test_weight_read_time\.py is there already; nothing was written"
    ):
        texts(NEW, tmp_path)


def test_a_race_changes_nothing(tmp_path: Path) -> None:
    """Somebody else wrote the test between the check and the writing: the list of calculators stays
    as it was.
    """
    shutil.copytree(
        ROOT / FORMULAS, tmp_path / FORMULAS, ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy(ROOT / PACKAGE / "__init__.py", tmp_path / PACKAGE)
    files = texts(NEW._replace(module="cost"), tmp_path)
    before = {path: path.read_text(encoding="utf-8") for path in files if path.exists()}
    test = next(path for path in files if path not in before)
    test.parent.mkdir(parents=True)
    test.write_text("mine\n", encoding="utf-8")
    files = {test: files.pop(test), **files}
    with pytest.raises(FlopbookError, match="is there already; nothing was written"):
        skeleton.write_new(test, files[test])
    assert before == {path: path.read_text(encoding="utf-8") for path in before}


def test_every_section_has_a_module_to_write_in() -> None:
    for section in SECTIONS:
        assert skeleton.default_module(section) in CATALOGUE.values()
