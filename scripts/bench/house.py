"""The state of the house: rooms, imports that go upwards, cycles, types, sizes and density."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import grimp

from scripts.bench.density import density
from scripts.bench.processes import PYTHON, ROOT
from scripts.bench.results import Counted

PACKAGE, SCRIPTS, TESTS = "calculators/flopbook", "scripts", "tests"
# What setuptools reads to make the wheel; a copy keeps its leavings out of the working tree.
_WHEEL_SOURCES = (
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "LICENSES",
    "accelerators",
    "bibliography",
    "calculators",
)
_TYPE_ERRORS = re.compile(r"^Found (\d+) errors? in (\d+) files?", re.MULTILINE)
_CONTRACTS = re.compile(r"Contracts: .*")


def house(_: int) -> Iterator[Counted]:
    """Counted, not timed; the type checker takes half a minute when nothing is kept."""
    yield from _rooms()
    yield from _imports()
    yield Counted("type errors (mypy)", _type_errors())
    yield Counted("lines of Python in the package", f"{_lines(ROOT / PACKAGE):,}")
    yield from _wheel()
    for folder in (PACKAGE, SCRIPTS, TESTS):
        yield Counted(f"density of {folder}", str(density((ROOT / folder).rglob("*.py"))))


def _rooms() -> Iterator[Counted]:
    for folder in (PACKAGE, SCRIPTS):
        root = ROOT / folder
        rooms = {path.parent for path in root.rglob("__init__.py")} - {root}
        modules = len(list(root.rglob("*.py")))
        yield Counted(f"{folder}", f"{len(rooms)} rooms, {modules} modules")


def _imports() -> Iterator[Counted]:
    """Contracts of import-linter, then the imports themselves in the graph that it reads."""
    yield Counted("import contracts (import-linter)", _contracts())
    graph = grimp.build_graph("flopbook", "scripts", cache_dir=None)
    yield Counted("imports upwards", _listed(sorted(imports_upwards(graph))))
    yield Counted("cycles", _listed(sorted(map(_cycle_words, import_cycles(graph)))))


def _cycle_words(cycle: frozenset[str], longest: int = 3) -> str:
    shown = " <-> ".join(sorted(cycle)[:longest])
    return f"{shown} and {len(cycle) - longest} more" if len(cycle) > longest else shown


def _listed(names: list[str], longest: int = 3) -> str:
    """How many there are, and the first few of them."""
    if not names:
        return "0"
    shown = "; ".join(names[:longest])
    return f"{len(names)} ({shown}{'; ...' if len(names) > longest else ''})"


def _contracts() -> str:
    process = subprocess.run(
        [str(Path(PYTHON).parent / "lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    summary = _CONTRACTS.search(process.stdout)
    return summary[0].removeprefix("Contracts: ") if summary else "did not run"


def levels() -> dict[str, int]:
    """Room of the package -> its level in .importlinter, the lowest being 0."""
    config = configparser.ConfigParser()
    config.read(ROOT / ".importlinter", encoding="utf-8")
    layers = config["importlinter:contract:rooms"]["layers"].split("\n")
    names = [layer.split(" : ") for layer in reversed(layers) if layer.strip()]
    return {name.strip(" |"): level for level, layer in enumerate(names) for name in layer}


def imports_upwards(graph: grimp.ImportGraph) -> Iterator[str]:
    """Imports that lead from a module of the package to something above it."""
    by_room = levels()
    for importer in graph.modules:
        for imported in graph.find_modules_directly_imported_by(importer):
            if _level(importer, by_room) < _level(imported, by_room):
                yield f"{importer} -> {imported}"


def _level(module: str, by_room: dict[str, int]) -> float:
    """The level of a module.

    `flopbook` itself, the public names and the version, is made of all rooms but the command line,
    which reads it: it stands between the two. `__main__` and scripts are on top.
    """
    if module == "flopbook":
        return by_room["cli"] - 0.5
    package, _, place = module.partition(".")
    top = len(by_room)
    return by_room.get(place.partition(".")[0], top) if package == "flopbook" else top


def import_cycles(graph: grimp.ImportGraph) -> set[frozenset[str]]:
    """Modules that import each other, over whatever others."""
    upstream = {module: graph.find_upstream_modules(module) for module in graph.modules}
    cycles = set()
    for module, imported in upstream.items():
        peers = [peer for peer in imported if module in upstream[peer]]
        if peers:
            cycles.add(frozenset((module, *peers)))
    return cycles


def _type_errors() -> str:
    process = subprocess.run(
        [PYTHON, "-m", "mypy"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    summary = _TYPE_ERRORS.search(process.stdout)
    if summary:
        return f"{summary[1]} in {summary[2]} files"
    return "0" if process.returncode == 0 else "did not run"


def _lines(folder: Path) -> int:
    texts = (path.read_text(encoding="utf-8") for path in folder.rglob("*.py"))
    return sum(len(text.splitlines()) for text in texts)


def _wheel() -> Iterator[Counted]:
    """Lines and size of what is installed: the package with its data."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "source"), Path(folder, "wheel")
        for name in _WHEEL_SOURCES:
            _copy(ROOT / name, source / name)
        options = ["--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(target)]
        subprocess.run([PYTHON, "-m", "pip", "wheel", *options, str(source)], check=True)
        (wheel,) = target.glob("*.whl")
        size = wheel.stat().st_size
        with zipfile.ZipFile(wheel) as packed:
            lines = [len(packed.read(name).splitlines()) for name in packed.namelist()]
    yield Counted("lines of the wheel", f"{sum(lines):,} in {len(lines):,} files")
    yield Counted("size of the wheel", f"{size / 1000:,.0f} kB")


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)
