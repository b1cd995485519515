"""The rules of the house that can be counted: sizes, documentation, which room may know which."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest

from flopbook.contributing.new_calculator import MARK
from scripts.bench.house import import_cycles, imports_upwards
from tests.support.cases import every

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "calculators" / "flopbook"
MODULES = sorted(PACKAGE.rglob("*.py"))
CODE = [*MODULES, *sorted((ROOT / "scripts").rglob("*.py"))]
TESTS = sorted((ROOT / "tests").rglob("*.py"))
ATTACKS = sorted((ROOT / "scripts" / "attack").rglob("*.py"))

MAX_LINES, MAX_FUNCTION, MAX_PARAMETERS = 400, 60, 6
# Longer for now: each is to be split, and then leaves this list.
# The third group is the line of the import: "flopbook.data.claims -> flopbook.ledger.rows (l.12)"
IMPORT = re.compile(r"([\w.]+) -> ([\w.]+) \(l\.(\d+)")


def label(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def functions(path: Path) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            yield node


@every("path", [*CODE, *TESTS])
def test_files_and_functions_keep_to_their_budget(path: Path) -> None:
    """A file has at most 400 lines, a function 60 lines and six parameters."""
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= MAX_LINES
    for function in functions(path):
        assert _length(function, lines) <= MAX_FUNCTION, function.name
        if path in CODE and not _is_formula(function):
            assert len(_parameters(function)) <= MAX_PARAMETERS, function.name


def _length(function: ast.FunctionDef, lines: list[str]) -> int:
    """Lines of a function; of a formula those that compute, as its inputs take one line each."""
    first, last = function.lineno, function.end_lineno or 0
    if not _is_formula(function):
        return last - first + 1
    statements = function.body[1:] if ast.get_docstring(function) else function.body
    body = lines[statements[0].lineno - 1 : last]
    return sum(not line.lstrip().startswith("#") for line in body)


def _parameters(function: ast.FunctionDef) -> list[str]:
    """What a caller passes."""
    arguments = (*function.args.args, *function.args.kwonlyargs)
    return [argument.arg for argument in arguments if argument.arg not in ("self", "cls")]


def _is_formula(function: ast.FunctionDef) -> bool:
    """A formula, a part of one or a rule has a parameter for each thing it depends on."""
    marks = [d.func if isinstance(d, ast.Call) else d for d in function.decorator_list]
    return any(getattr(mark, "id", "") in ("formula", "part", "rule", "omission") for mark in marks)


@every("path", CODE)
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


def _tool(*words: str) -> subprocess.CompletedProcess[str]:
    """A tool of the environment, run on the whole repository."""
    name, *arguments = words
    return subprocess.run(
        [str(Path(sys.executable).parent / name), *arguments],
        cwd=ROOT,
        # wide enough that no line of a report is broken
        env={**os.environ, "COLUMNS": "500", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def import_offences(report: str) -> list[str]:
    """Each import that breaks a contract in a report of import-linter, and what to do about it."""
    return [
        f"{_file_of(importer)}:{line} imports {imported}, which lies above it: move the code down "
        "or pass the value in; docs/contributing/architecture.md has the map"
        for importer, imported, line in dict.fromkeys(IMPORT.findall(report))
    ]


def _file_of(module: str) -> str:
    """The file of a module, from the top of the repository."""
    path = module.replace(".", "/")
    if module.split(".")[0] == "flopbook":
        path = f"calculators/{path}"
    return f"{path}/__init__.py" if (ROOT / path).is_dir() else f"{path}.py"


def test_arrows_run_downwards() -> None:
    """A room knows those below it, never those above: .importlinter says which is which."""
    checked = _tool("lint-imports", "--no-logo", "--cache-dir", "build/import-linter")
    report = checked.stdout + checked.stderr
    offences = import_offences(report)
    assert checked.returncode == 0, "\n".join(offences) or report


@pytest.fixture(scope="module")
def import_graph() -> grimp.ImportGraph:
    """Who imports whom in package and scripts, lazy imports and those for types included."""
    return grimp.build_graph("flopbook", "scripts", cache_dir=None)


def test_no_module_imports_itself_by_way_of_others(import_graph: grimp.ImportGraph) -> None:
    """A lazy import hides a cycle from Python, not from who reads the two modules."""
    assert import_cycles(import_graph) == set()


def test_only_the_command_line_imports_the_public_face(import_graph: grimp.ImportGraph) -> None:
    """`flopbook` itself offers names of the rooms: a room that took one of them from there would
    import upwards, which the contracts do not see."""
    assert list(imports_upwards(import_graph)) == []


def test_an_import_that_runs_upwards_is_named_with_its_remedy() -> None:
    report = (
        "flopbook.data is not allowed to import flopbook.ledger:\n\n"
        "- flopbook.data.claims -> flopbook.ledger (l.12)\n"
    )
    assert import_offences(report) == [
        "calculators/flopbook/data/claims.py:12 imports flopbook.ledger, which lies above it: "
        "move the code down or pass the value in; docs/contributing/architecture.md has the map"
    ]


def test_types_hold() -> None:
    """What mypy finds, a line each, as file:line: message; its cache is in build/mypy."""
    checked = _tool("mypy", "--no-error-summary", "--no-pretty")
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_package_has_rooms_and_no_loose_modules() -> None:
    """A module that belongs to no room would be below and above everything."""
    entries = {path.name for path in PACKAGE.iterdir() if path.name != "__pycache__"}
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert entries == rooms | {"__init__.py", "__main__.py", "errors.py", "py.typed"}


def test_a_class_name_has_one_meaning() -> None:
    """Who looks for a class by its name finds one."""
    places: dict[str, list[str]] = {}
    for path in [*MODULES, *sorted((ROOT / "scripts" / "website").rglob("*.py"))]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(f"{label(path)}:{node.lineno}")
    offences = [
        f"{name} is at {' and at '.join(lines)}: rename one by what it holds"
        for name, lines in places.items()
        if len(lines) > 1
    ]
    assert not offences, "\n".join(offences)


def test_only_scripts_know_the_site_generator() -> None:
    """The package would not change if the site generator did."""
    for path in MODULES:
        assert not re.search(
            r"^\s*(import|from) (mkdocs|zensical|nbconvert|nbclient)",
            path.read_text(encoding="utf-8"),
            re.M,
        )


def test_as_much_of_tests_as_of_source() -> None:
    """Tests hold at least as much as what they test.

    Nodes of the syntax tree are counted: how many lines they take is up to the formatter. What
    attacks the project tests it.
    """
    tested = [path for path in CODE if path not in ATTACKS]
    tests, code = (
        sum(len(list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))) for path in group)
        for group in (TESTS + ATTACKS, tested)
    )
    assert tests >= code


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


@every("path", [*MODULES, *TESTS])
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
