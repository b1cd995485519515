"""Executes the notebooks with real kernels, and keeps results that cannot have changed.

The cache key covers the notebook, the whole package, all data, the interpreter and the lock files:
a notebook that imports our calculators is run again when any number may differ. A notebook whose
extra is not installed is not run; what is made of it then is in sitebuild.extras.
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
from typing import Any

from scripts.website.build import extras

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOKS = ROOT / "calculators" / "notebooks"
CACHE = ROOT / "build" / "notebook-cache"
TIMEOUT_S = 300  # for a cell; a machine that does other things too is no reason to fail


class NotebookError(RuntimeError):
    """A notebook failed; the message names it and the error."""


def sources() -> list[Path]:
    """The notebooks in percent format, by name."""
    return sorted(path for path in NOTEBOOKS.glob("*.py") if not path.name.startswith("_"))


def state_hash(extra: str = "") -> str:
    """One hash of everything that a notebook's result can depend on besides itself and, with an
    extra, its packages.
    """
    digest = hashlib.sha256(sys.version.encode())
    folders = ("calculators/flopbook", "accelerators", "bibliography", "calculators/models")
    paths = [
        path
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".yaml", ".bib", ".json")
    ]
    locks = [ROOT / "requirements" / "lock.txt", *([extras.lock_of(extra)] if extra else [])]
    for path in sorted([*paths, *locks, *NOTEBOOKS.glob("_*.py")]):
        if path.is_file():
            digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def execute_all(
    progress: Callable[[str], None], jobs: int = 2, *, preview: bool = False, only: str = ""
) -> dict[str, str]:
    """Name -> executed notebook as JSON text; all, or `only` those of one extra. Raises
    NotebookError or ExtraError.

    A preview shows the last result of a notebook whose own text is unchanged: running all of them
    after each edit of the data would keep the editor waiting. A build never does.
    """
    needs = {path: extras.extra_of(path) for path in sources()}
    found = {name: (extras.find(name), state_hash(name)[:24]) for name in set(needs.values())}

    def one(path: Path) -> tuple[str, str]:
        extra, state = found[needs[path]]
        text = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
        cached = CACHE / f"{path.stem}-{text}-{state}.ipynb"
        earlier = (
            [cached]
            if cached.exists()
            else sorted(CACHE.glob(f"{path.stem}-{text}-*.ipynb"))
            if preview
            else []
        )
        if earlier and extra.wish != "0":
            progress(
                f"{path.stem}: {'unchanged' if earlier[0] == cached else 'as it was before this edit'}"
            )
            return path.stem, earlier[0].read_text(encoding="utf-8")
        if extra.python is None:
            progress(f"{path.stem}: not run, there is no {extra.name}")
            return path.stem, _finished(extras.unexecuted(_read(path), extra), path.stem)
        progress(f"{path.stem}: running")
        executed = execute(path, extra.python)
        _store(cached, executed, path.stem)
        progress(f"{path.stem}: done")
        return path.stem, executed

    with ThreadPoolExecutor(jobs) as pool:
        return dict(pool.map(one, (path for path in needs if not only or needs[path] == only)))


def _store(cached: Path, text: str, stem: str) -> None:
    cached.parent.mkdir(parents=True, exist_ok=True)
    partial = cached.with_suffix(f".{os.getpid()}.partial")  # two builds may run at once
    partial.write_text(text, encoding="utf-8")
    for old in CACHE.glob(f"{stem}-{'?' * 12}-{'?' * 24}.ipynb"):
        old.unlink()
    partial.replace(cached)


def _read(path: Path) -> Any:
    import jupytext

    notebook = jupytext.read(path, fmt="py:percent")
    notebook.metadata["kernelspec"] = {
        "display_name": "Python 3",
        "language": "python",
        "name": "python3",
    }
    return notebook


def execute(path: Path, python: Path) -> str:
    """Run a notebook in a kernel of its own, with this Python; the result as JSON text.

    Raises NotebookError.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError

    notebook = _read(path)
    where = {"metadata": {"path": str(NOTEBOOKS)}}
    # what a cell prints arrives in pieces; how many depends on the moment, and a page should not
    client = NotebookClient(
        notebook, km=_kernels(python), timeout=TIMEOUT_S, resources=where, coalesce_streams=True
    )
    begun = time.perf_counter()
    try:
        client.execute(cleanup_kc=True)
    except CellTimeoutError:
        raise NotebookError(
            f"{path.relative_to(ROOT)}: a cell ran for more than {TIMEOUT_S} s"
        ) from None
    except CellExecutionError as error:
        last = [line for line in str(error).strip().splitlines() if line.strip()][-1]
        raise NotebookError(f"{path.relative_to(ROOT)}: {last}") from None
    seconds = round(time.perf_counter() - begun, 1)
    notebook.metadata.setdefault("flopbook", {})["seconds"] = (
        seconds  # the page of practicals says it
    )
    return _finished(notebook, path.stem)


def _kernels(python: Path) -> Any:
    """Starts kernels of one interpreter, whichever are installed for Jupyter on this machine."""
    from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager

    # the kernel's notice about its loopback port is not ours to print
    words = [
        str(python),
        "-m",
        "ipykernel_launcher",
        "-f",
        "{connection_file}",
        "--IPKernelApp.log_level=40",
    ]

    class Specs(KernelSpecManager):  # type: ignore[misc]
        def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
            return KernelSpec(argv=words, display_name=kernel_name, language="python")

    return AsyncKernelManager(kernel_name="python3", kernel_spec_manager=Specs())


def _finished(notebook: Any, stem: str) -> str:
    """A notebook as text, the same for the same results."""
    import nbformat

    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"{stem}-{number}"  # stable ids: the same notebook gives the same page
        cell.metadata.pop("execution", None)
    notebook.metadata.pop("jupytext", None)
    nbformat.validate(notebook)
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def as_markdown(text: str) -> tuple[str, dict[str, bytes]]:
    """An executed notebook as Markdown with its pictures, for a site generator that knows no
    notebooks.
    """
    import nbformat
    from nbconvert import MarkdownExporter

    body, resources = MarkdownExporter().from_notebook_node(nbformat.reads(text, as_version=4))
    return body, dict(resources.get("outputs", {}))
