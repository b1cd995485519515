"""The package as people install it: data inside the wheel, public names, cold start."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import flopbook
from flopbook.data.library import entry_ids, model_ids
from flopbook.formulas import CATALOGUE

ROOT = Path(__file__).resolve().parents[1]
SOURCES = (
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "LICENSES",
    "accelerators",
    "bibliography",
    "calculators",
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy so that nothing is left in the repository."""
    import shutil

    copy = tmp_path_factory.mktemp("source")
    ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in SOURCES:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=ignore)
        else:
            shutil.copy(source, copy / name)
    out = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-build-isolation",
        "--no-deps",
        "--no-index",
        "-w",
        str(out),
        str(copy),
    ]
    subprocess.run(command, check=True, capture_output=True)
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel unpacked into a folder of its own."""
    target = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    return target


def run(installed: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The command from the unpacked wheel, away from the repository."""
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    command = [sys.executable, "-m", "flopbook", *words]
    return subprocess.run(
        command, cwd=installed, env=environment, capture_output=True, text=True, check=False
    )


def test_every_data_file_is_inside_the_wheel(wheel: Path) -> None:
    """A chip that is in the repository but not in the wheel would exist for developers only."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    for entry_id in entry_ids():
        assert f"flopbook/accelerators/{entry_id}.yaml" in names
    for model_id in model_ids():
        assert f"flopbook/models/{model_id}.yaml" in names
    for path in [*(ROOT / "bibliography").glob("*.bib"), *(ROOT / "bibliography").rglob("*.yaml")]:
        assert (
            f"flopbook/bibliography/{path.relative_to(ROOT / 'bibliography').as_posix()}" in names
        )
    for schema in (
        "accelerators/schema.json",
        "accelerators/vendor.schema.json",
        "models/schema.json",
    ):
        assert f"flopbook/{schema}" in names
    assert not [name for name in names if "/notebooks/" in name or name.startswith("tests/")]


def test_every_module_is_inside_the_wheel(wheel: Path) -> None:
    """A folder that pyproject.toml does not list would be missing from an installed flopbook."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    package = ROOT / "calculators" / "flopbook"
    modules = {f"flopbook/{path.relative_to(package).as_posix()}" for path in package.rglob("*.py")}
    assert modules <= names, sorted(modules - names)


@pytest.mark.parametrize("name", ["sharded-matmul", "pipeline", "llama-3"])
def test_a_notebook_runs_with_the_installed_package(
    installed: Path, tmp_path: Path, name: str
) -> None:
    """As somebody who downloaded it runs it: those that use the most of the package."""
    notebook = ROOT / "calculators" / "notebooks" / f"{name}.py"
    environment = {**os.environ, "PYTHONPATH": str(installed), "MPLBACKEND": "agg"}
    done = subprocess.run(
        [sys.executable, str(notebook)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("all checks passed\n") and not done.stderr


def test_the_wheel_carries_both_licences(wheel: Path) -> None:
    """Code is Apache-2.0, data and prose are CC-BY-4.0."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert any(name.endswith("CC-BY-4.0.txt") for name in names)


def test_the_installed_command_computes_and_its_data_is_sound(installed: Path) -> None:
    """From the wheel alone: a calculator with a chip, and all checks of all data."""
    answer = run(installed, "min-batch", "--chip", "h100-sxm", "--json")
    assert answer.returncode == 0, answer.stderr
    assert '"calculator": "min-batch"' in answer.stdout
    checked = run(installed, "lint")
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_an_installed_package_is_for_reading(installed: Path) -> None:
    """It finds devices and says which file of the repository to edit.

    It does not write into itself.
    """
    assert "TFLOP/s dense bf16" in run(installed, "peak", "NVIDIA H100 80GB HBM3").stdout
    where = run(installed, "where", "h100-sxm").stdout.splitlines()
    assert where[0] == "accelerators/nvidia/h100-sxm.yaml:1" and "installed package" in where[1]
    chip = (
        "new",
        "chip",
        "nvidia/x1",
        "--name",
        "X1",
        "--kind",
        "card",
        "--status",
        "announced",
        "--source",
        "a2020b",
    )
    for words, message in (
        (chip, "clone the repository"),
        (("diff", "HEAD"), "an installed package has no revisions"),
    ):
        refused = run(installed, *words)
        assert (
            refused.returncode == 2
            and message in refused.stderr
            and refused.stderr.count("\n") == 1
        )


def test_the_wheel_is_what_was_tested(installed: Path) -> None:
    """The unpacked package, not the editable one, answers in the tests above."""
    code = "import flopbook; print(flopbook.__file__)"
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=installed,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith(str(installed))


def test_public_names_are_a_tested_list() -> None:
    """What `import flopbook` offers; a change here is a change of the interface."""
    calculators = {name.replace("-", "_") for name in CATALOGUE}
    assert set(flopbook.__all__) - calculators == {
        "DataError",
        "FlopbookError",
        "UnknownName",
        "__version__",
        "calculate",
        "chip",
        "entry",
        "entry_ids",
        "format_quantity",
        "ledger_rows",
        "model",
        "model_ids",
        "parse_quantity",
        "peak",
        "plan",
        "predict",
        "reference",
        "sensitivities",
        "solve",
        "sweep",
    }
    assert {"bubble", "fsdp_limit", "min_batch", "params", "training_flops"} <= calculators
    for name in flopbook.__all__:
        assert getattr(flopbook, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = flopbook.nothing


def test_a_cold_command_imports_nothing_heavy() -> None:
    """Start-up is a promise: these would each cost a large part of it."""
    heavy = (
        "numpy",
        "matplotlib",
        "pybtex",
        "jsonschema",
        "requests",
        "jinja2",
        "pylatexenc",
        "click",
        "inspect",
        "dataclasses",
    )
    code = (
        "import sys; from flopbook.cli.app import run; run(['min-batch', '--chip', 'h100-sxm', "
        "'--json']);"
        f"print([m for m in {heavy} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_versions_agree() -> None:
    """pyproject.toml, the package and CITATION.cff speak of one version."""
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == flopbook.__version__
    assert f"version: {flopbook.__version__}" in (ROOT / "CITATION.cff").read_text(
        encoding="utf-8"
    ).replace('"', "")
