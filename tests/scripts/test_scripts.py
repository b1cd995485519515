"""Every script at the top of scripts/ runs as `python -m scripts.NAME` and explains itself."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Modules that scripts share, which are not run.
SHARED = (
    *("__init__", "fit_bands", "fit_left_out", "fit_moves", "fit_traits", "fit_years"),
    "jax_environment",
)
SCRIPTS = sorted(path for path in (ROOT / "scripts").glob("*.py") if path.stem not in SHARED)
NAMES = [path.stem for path in SCRIPTS]


@pytest.mark.parametrize("name", NAMES)
def test_it_runs_as_a_module_and_prints_its_help(name: str) -> None:
    command = [sys.executable, "-m", f"scripts.{name}", "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage: ") and "--help" in done.stdout


@pytest.mark.parametrize("path", SCRIPTS, ids=NAMES)
def test_it_has_a_main_and_sets_no_path(path: Path) -> None:
    """A path that is set by hand hides what is imported from where."""
    source = path.read_text(encoding="utf-8")
    functions = [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    assert "main" in functions and source.rstrip().endswith("sys.exit(main())")
    assert "sys.path" not in source and "E402" not in source


def test_the_set_up_runs_as_a_file_too() -> None:
    """A newer Python is started with the file: the old one may not know -m of a package."""
    command = [sys.executable, ROOT / "scripts" / "setup_env.py", "--help"]
    done = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "usage: setup_env" in done.stdout


def test_the_set_up_keeps_to_a_syntax_that_an_old_python_reads() -> None:
    source = (ROOT / "scripts" / "setup_env.py").read_text(encoding="utf-8")
    tree = ast.parse(source, feature_version=(3, 5))
    newer = (ast.JoinedStr, ast.NamedExpr, ast.AnnAssign)
    assert not [node for node in ast.walk(tree) if isinstance(node, newer)]
