"""The rules of the house that can be counted: sizes, documentation, which room may know which."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from flopbook.contributing.new_calculator import MARK

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "calculators" / "flopbook"
MODULES = sorted(PACKAGE.rglob("*.py"))
CODE = [*MODULES, *sorted((ROOT / "scripts").rglob("*.py"))]
TESTS = sorted((ROOT / "tests").rglob("*.py"))

# From the top down; a room may import from its own level or from one below.
LEVELS = (
    ("cli", "__main__"),
    ("checks", "changes", "contributing", "export", "drawing"),
    ("ledger",),
    ("evaluation",),
    ("architectures",),
    ("hardware",),
    ("faces", "pipelines"),
    ("formulas",),
    ("sharding", "kernels"),
    ("data",),
    ("quantities",),
    ("errors",),
)
MAX_LINES, MAX_FUNCTION, MAX_PARAMETERS = 640, 160, 6


def label(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def functions(path: Path) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            yield node


@pytest.mark.parametrize("path", [*CODE, *TESTS], ids=label)
def test_files_and_functions_keep_to_their_budget(path: Path) -> None:
    """A file has at most 400 lines, a function 60 lines and six parameters."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_LINES
    for function in functions(path):
        assert (function.end_lineno or 0) - function.lineno + 1 <= MAX_FUNCTION, function.name
        if path in CODE and not _is_formula(function):
            names = [
                a.arg
                for a in (*function.args.args, *function.args.kwonlyargs)
                if a.arg not in ("self", "cls")
            ]
            assert len(names) <= MAX_PARAMETERS, function.name


def _is_formula(function: ast.FunctionDef) -> bool:
    """A formula, a part of one or a rule has a parameter for each thing it depends on."""
    marks = [d.func if isinstance(d, ast.Call) else d for d in function.decorator_list]
    return any(getattr(mark, "id", "") in ("formula", "part", "rule") for mark in marks)


@pytest.mark.parametrize("path", CODE, ids=label)
def test_public_functions_are_annotated_and_documented(path: Path) -> None:
    """Public functions, classes and modules say what they do.

    Every parameter and result has a type.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), "module"
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            assert ast.get_docstring(node), node.name
        if isinstance(node, ast.FunctionDef):
            arguments = (*node.args.args, *node.args.kwonlyargs)
            assert node.returns is not None, node.name
            assert all(argument.annotation is not None for argument in arguments), node.name


def _level(module: str) -> int:
    return next((n for n, names in enumerate(LEVELS) if module in names), -1)


@pytest.mark.parametrize("path", MODULES, ids=label)
def test_arrows_run_downwards(path: Path) -> None:
    """A room knows those below it, never those above.

    Formulas know nothing of files, pages or vendors.
    """
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if own == "__init__":
        return
    assert _level(own) >= 0, f"{own} has no place in the house: add it to LEVELS"
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("flopbook."):
            names = [node.module.split(".")[1]]
        elif isinstance(node, ast.Import):
            names = [
                alias.name.split(".")[1]
                for alias in node.names
                if alias.name.startswith("flopbook.")
            ]
        for name in names:
            assert _level(name) >= _level(own), f"{label(path)} imports {name}, which lies above it"


def test_only_scripts_know_the_site_generator() -> None:
    """The package would not change if the site generator did."""
    for path in MODULES:
        assert not re.search(
            r"^\s*(import|from) (mkdocs|zensical|nbconvert|nbclient)",
            path.read_text(encoding="utf-8"),
            re.M,
        )


def test_as_many_lines_of_tests_as_of_source() -> None:
    """Tests are at least as long as what they test."""
    lines = [
        sum(len(p.read_text(encoding="utf-8").splitlines()) for p in group)
        for group in (TESTS, CODE)
    ]
    assert lines[0] >= lines[1]


def test_nothing_derived_is_committed() -> None:
    """Built files live outside the repository's history."""
    done = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip("not a git checkout")
    built = ("site/", "build/", ".venv/", ".cache/")
    assert not [
        name
        for name in done.stdout.splitlines()
        if name.startswith(built) or name.endswith(".ipynb")
    ]


@pytest.mark.parametrize("path", [*MODULES, *TESTS], ids=label)
def test_nothing_is_left_to_be_filled_in(path: Path) -> None:
    """Every line that `flopbook new calculator` wrote has been replaced by the real thing."""
    lines = path.read_text(encoding="utf-8").splitlines()
    waiting = [
        f"{label(path)}:{n}: {line.strip()}" for n, line in enumerate(lines, 1) if MARK in line
    ]
    assert not waiting, "fill in:\n" + "\n".join(waiting)


@pytest.mark.parametrize(
    "words", [("check", "--quiet"), ("format", "--check", "--quiet")], ids=lambda words: words[0]
)
def test_code_style(words: tuple[str, ...]) -> None:
    """What `make lint` asks of the code holds."""
    done = subprocess.run(
        [sys.executable, "-m", "ruff", *words, "--no-cache", "."],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
