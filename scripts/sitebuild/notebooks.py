"""Executes the notebooks with real kernels, and keeps results that cannot have changed.

The cache key covers the notebook, the whole package, all data, the interpreter and the lock file: a notebook that
imports our calculators is run again when any number may differ.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "calculators" / "notebooks"
CACHE = ROOT / "build" / "notebook-cache"
TIMEOUT_S = 120


class NotebookError(RuntimeError):
    """A notebook failed; the message names it and the error."""


def sources() -> list[Path]:
    """The notebooks in percent format, by name."""
    return sorted(path for path in NOTEBOOKS.glob("*.py") if not path.name.startswith("_"))


def state_hash() -> str:
    """One hash of everything that a notebook's result can depend on besides itself."""
    digest = hashlib.sha256(sys.version.encode())
    folders = ("calculators/flopbook", "accelerators", "bibliography", "calculators/models")
    paths = [
        path
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".yaml", ".bib", ".json")
    ]
    for path in sorted([*paths, ROOT / "requirements" / "lock.txt", *NOTEBOOKS.glob("_*.py")]):
        if path.is_file():
            digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def execute_all(progress: Callable[[str], None], jobs: int = 2, *, preview: bool = False) -> dict[str, str]:
    """Name -> executed notebook as JSON text. Raises NotebookError when one fails.

    A preview shows the last result of a notebook whose own text is unchanged: running all of them after each edit of
    the data would keep the editor waiting. A build never does.
    """
    state = state_hash()

    def one(path: Path) -> tuple[str, str]:
        text = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
        cached = CACHE / f"{path.stem}-{text}-{state[:24]}.ipynb"
        earlier = [cached] if cached.exists() else sorted(CACHE.glob(f"{path.stem}-{text}-*.ipynb")) if preview else []
        if earlier:
            progress(f"{path.stem}: {'unchanged' if earlier[0] == cached else 'as it was before this edit'}")
            return path.stem, earlier[0].read_text(encoding="utf-8")
        progress(f"{path.stem}: running")
        executed = execute(path)
        _store(cached, executed, path.stem)
        progress(f"{path.stem}: done")
        return path.stem, executed

    with ThreadPoolExecutor(jobs) as pool:
        return dict(pool.map(one, sources()))


def _store(cached: Path, text: str, stem: str) -> None:
    cached.parent.mkdir(parents=True, exist_ok=True)
    partial = cached.with_suffix(f".{os.getpid()}.partial")  # two builds may run at once
    partial.write_text(text, encoding="utf-8")
    for old in CACHE.glob(f"{stem}-{'?' * 12}-{'?' * 24}.ipynb"):
        old.unlink()
    partial.replace(cached)


def execute(path: Path) -> str:
    """Run a notebook in a kernel of its own; the executed notebook as JSON text. Raises NotebookError."""
    import jupytext
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError

    notebook = jupytext.read(path, fmt="py:percent")
    notebook.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    client = NotebookClient(
        notebook,
        timeout=TIMEOUT_S,
        coalesce_streams=True,  # what one cell prints is one output, however slowly it comes
        kernel_name="python3",
        resources={"metadata": {"path": str(NOTEBOOKS)}},
        extra_arguments=[
            "--IPKernelApp.log_level=40"
        ],  # the kernel's notice about its loopback port is not ours to print
    )
    begun = time.perf_counter()
    try:
        client.execute()
    except (CellExecutionError, CellTimeoutError) as error:
        last = [line for line in str(error).strip().splitlines() if line.strip()][-1]
        raise NotebookError(f"{path.relative_to(ROOT)}: {last}") from None
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"{path.stem}-{number}"  # stable ids: the same notebook gives the same page
        cell.metadata.pop("execution", None)
    notebook.metadata.pop("jupytext", None)
    notebook.metadata["flopbook"] = {"seconds": round(time.perf_counter() - begun, 1)}  # the page of practicals says it
    nbformat.validate(notebook)
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def as_markdown(text: str) -> tuple[str, dict[str, bytes]]:
    """An executed notebook as Markdown with its pictures, for a site generator that knows no notebooks."""
    import nbformat
    from nbconvert import MarkdownExporter

    body, resources = MarkdownExporter().from_notebook_node(nbformat.reads(text, as_version=4))
    return body, dict(resources.get("outputs", {}))
