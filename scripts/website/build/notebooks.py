"""Executes the notebooks with real kernels, and keeps results that cannot have changed.

The cache key covers the notebook, the whole package, all data, the interpreter and the lock files:
a notebook that imports our calculators is run again when any number may differ. A notebook whose
extra is not installed is not run; what is made of it then is in extras.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flopbook.data.files import read_bytes, read_text, write_made
from flopbook.errors import printable, shorten
from scripts.website.build import extras, recordings
from scripts.website.build.outputs import output_problems

if TYPE_CHECKING:
    from jupyter_client.manager import AsyncKernelManager
    from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOKS = ROOT / "calculators" / "notebooks"
CACHE = ROOT / "build" / "notebook-cache"
TIMEOUT_S = 300  # for a cell; a machine that does other things too is no reason to fail
KERNELSPEC = {"display_name": "Python 3", "language": "python", "name": "python3"}
# What a notebook may compute with: the package and all its data.
_FOLDERS = ("calculators/flopbook", "accelerators", "bibliography", "calculators/models")
_SUFFIXES = (".py", ".yaml", ".bib", ".json")
# One thread for a matmul, as two kernels run at once: a second one waits more than it helps, and
# rounding no longer depends on how many cores there are. What NumPy frees stays with the process:
# a training asks for the same arrays in each step, and to get them from the system took longer than
# the arithmetic.
_ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(128 << 20),
}
# One arena of the allocator, and large blocks outside of it: what is freed is there for all, or
# goes back to the system. 70 MB less of JAX.
_SMALL = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "262144"}
# Flags of XLA, by notebook. To compile a step of training, the tiled emitter takes 45 MB more than
# the one before it, for the same bits. Elsewhere it stays: programs print as for readers. Machine
# code that runs for a second is not worth optimising: eight programs compile in half the time.
_XLA_FLAGS = {
    "jax-data-parallel": "--xla_backend_extra_options=xla_cpu_disable_tiled_emitter "
    "--xla_cpu_parallel_codegen_split_count=1 --xla_backend_optimization_level=0"
}
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_TEXT_DIGITS, _STATE_DIGITS = 12, 24  # of the two hashes in the name of a kept result


class NotebookError(RuntimeError):
    """A notebook failed; the message names it and the error."""


def sources() -> list[Path]:
    """The notebooks in percent format, by name."""
    return sorted(path for path in NOTEBOOKS.glob("*.py") if not path.name.startswith("_"))


def state_hash(extra: str = "") -> str:
    """One hash of everything but its own text that the result of a notebook can depend on."""
    digest = hashlib.sha256(sys.version.encode())
    for path in sorted(_read_by_notebooks(extra)):
        if path.is_file():
            digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + read_bytes(path))
    return digest.hexdigest()


def _read_by_notebooks(extra: str) -> Iterator[Path]:
    for folder in _FOLDERS:
        yield from (path for path in (ROOT / folder).rglob("*") if path.suffix in _SUFFIXES)
    yield ROOT / "requirements" / "lock.txt"
    if extra and extra not in recordings.RECORDED:
        yield extras.lock_of(extra)
    yield from NOTEBOOKS.glob("_*.py")
    yield from NOTEBOOKS.glob("*.json")  # what they show of measurements


def execute_all(
    progress: Callable[[str], None], jobs: int = 2, *, preview: bool = False, only: str = ""
) -> dict[str, str]:
    """Name -> executed notebook as JSON text; all, or `only` those of one extra.

    A preview shows the last result of a notebook whose own text is unchanged: running all of them
    after each edit of the data would keep the editor waiting. A build never does. Raises
    NotebookError, ExtraError or RecordingError.
    """
    needs = {path: extras.extra_of(path) for path in sources()}
    interpreters = {name: extras.find(name) for name in set(needs.values())}
    states = {name: state_hash(name)[:_STATE_DIGITS] for name in interpreters}

    def result(path: Path) -> tuple[str, str]:
        name = needs[path]
        kept = CACHE / f"{path.stem}-{_text_hash(path)}-{states[name]}.ipynb"
        return path.stem, _result(path, interpreters[name], kept, progress, preview=preview)

    wanted = [path for path in needs if not only or needs[path] == only]
    # The longest first, so that none runs alone at the end.
    longest_first = sorted(wanted, key=lambda path: -path.stat().st_size)
    with ThreadPoolExecutor(jobs) as pool:
        return dict(sorted(pool.map(result, longest_first)))


def _text_hash(path: Path) -> str:
    return hashlib.sha256(read_bytes(path)).hexdigest()[:_TEXT_DIGITS]


def _result(
    path: Path,
    extra: extras.Extra,
    kept: Path,
    progress: Callable[[str], None],
    *,
    preview: bool,
) -> str:
    """One notebook as JSON text: kept from before, shown as written, or executed now."""
    stem = path.stem
    if extra.name in recordings.RECORDED:
        progress(f"{stem}: recorded")
        return finished(recordings.attached(read(path), path), stem)
    earlier = _earlier(kept, preview=preview)
    if earlier is not None and extra.wish != "0":
        is_current = earlier == kept
        progress(f"{stem}: {'unchanged' if is_current else 'as it was before this edit'}")
        return earlier.read_text(encoding="utf-8")
    if extra.python is None:
        progress(f"{stem}: not run, there is no {extra.name}")
        return finished(extras.unexecuted(read(path), extra), stem)
    progress(f"{stem}: running")
    begun = time.perf_counter()
    executed = execute(path, extra.python)
    _store(kept, executed, stem)
    progress(f"{stem}: done in {time.perf_counter() - begun:.1f} s")
    return executed


def _earlier(kept: Path, *, preview: bool) -> Path | None:
    """The file of a result that may be shown: that of this state, in a preview that of any."""
    if _is_sound(kept):
        return kept
    if not preview:
        return None
    name_and_text = kept.stem.rpartition("-")[0]
    return next(filter(_is_sound, sorted(CACHE.glob(f"{name_and_text}-*.ipynb"))), None)


def _is_sound(kept: Path) -> bool:
    """Whether a result is kept and passes the check of today, which may be younger than it."""
    try:
        cells = json.loads(read_text(kept))["cells"]
        return not any(output_problems(cells, kept.stem))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return False


def _store(kept: Path, text: str, stem: str) -> None:
    """Keep a result in place of all earlier ones of the notebook."""
    write_made(kept, text)
    for old in CACHE.glob(f"{stem}-{'?' * _TEXT_DIGITS}-{'?' * _STATE_DIGITS}.ipynb"):
        if old != kept:
            old.unlink(missing_ok=True)  # two builds may run at once


# The packages of Jupyter take a second to import, and most builds find all results kept: they are
# imported where a notebook is read or run.


def read(path: Path) -> NotebookNode:
    """A notebook as written. Raises NotebookError, whatever jupytext stumbles over."""
    import jupytext

    try:
        notebook: NotebookNode = jupytext.reads(read_text(path), fmt="py:percent")
        notebook.metadata["kernelspec"] = dict(KERNELSPEC)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise NotebookError(f"{path.name}: no notebook: {shorten(one_line(reason), 200)}") from None
    return notebook


def execute(path: Path, python: Path) -> str:
    """Run a notebook in a kernel of its own, with this Python; the result as JSON text.

    Raises NotebookError.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    notebook = read(path)
    place = {"metadata": {"path": str(NOTEBOOKS)}}
    # What a cell prints arrives in pieces; how many depends on the moment, and a page should not.
    client = NotebookClient(
        notebook,
        km=_kernels(python, _environment(path)),
        timeout=TIMEOUT_S,
        resources=place,
        coalesce_streams=True,
    )
    name = path.relative_to(ROOT)
    # What a kernel says of itself is read only if it ends: one that is told to may say that its
    # sockets are gone, which is no fault of the notebook.
    with tempfile.TemporaryFile() as heard:
        try:
            client.execute(cleanup_kc=True, stderr=heard)
        except CellTimeoutError:
            raise NotebookError(f"{name}: a cell ran for more than {TIMEOUT_S} s") from None
        except CellExecutionError as error:
            raise NotebookError(f"{name}: {_last_line(str(error))}") from None
        except DeadKernelError:
            heard.seek(0)
            last = _last_line(heard.read().decode(errors="replace")) or "without a word"
            raise NotebookError(f"{name}: its kernel ended: {last}") from None
    # The page of practicals says so. How long it took is told to who builds, never published.
    notebook.metadata.setdefault("flopbook", {})["executed"] = True
    return finished(notebook, path.stem)


def _last_line(text: str) -> str:
    """The last line that says anything; empty where none does."""
    lines = [line for line in text.splitlines() if line.strip()]
    return one_line(lines[-1]) if lines else ""


def one_line(text: str) -> str:
    """What a notebook says, with nothing that a terminal acts on."""
    return printable(" ".join(_COLOURS.sub("", text).split()))


def _environment(path: Path) -> dict[str, str]:
    """What the kernel of a notebook is told, so that it is fast and takes less than 500 MB."""
    if not extras.extra_of(path):
        return _ENVIRONMENT
    flags = _XLA_FLAGS.get(path.stem)
    return _SMALL | ({"XLA_FLAGS": flags} if flags else {})


def _kernels(python: Path, environment: dict[str, str]) -> AsyncKernelManager:
    """Starts kernels of one interpreter, whichever are installed for Jupyter on this machine."""
    from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager

    # the kernel's notice about its loopback port is not ours to print
    quiet = "--IPKernelApp.log_level=40"
    command = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}", quiet]

    class OneInterpreter(KernelSpecManager):
        """Knows one kernel by every name."""

        def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
            return KernelSpec(
                argv=command, env=environment, display_name=kernel_name, language="python"
            )

    return AsyncKernelManager(kernel_name="python3", kernel_spec_manager=OneInterpreter())


def finished(notebook: NotebookNode, stem: str) -> str:
    """A notebook as text, the same for the same results. Raises NotebookError."""
    import nbformat

    if problems := list(output_problems(notebook.cells, stem)):
        raise NotebookError("\n".join(problems))
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"{stem}-{number}"  # stable ids: the same notebook gives the same page
        cell.metadata.pop("execution", None)
    notebook.metadata.pop("jupytext", None)
    try:
        nbformat.validate(notebook)
    except nbformat.ValidationError as error:
        reason = shorten(one_line(error.message), 200)
        raise NotebookError(f"{stem}: no notebook: {reason}") from None
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def as_markdown(text: str) -> tuple[str, dict[str, bytes]]:
    """An executed notebook as Markdown with its pictures, for a generator without notebooks."""
    import nbformat
    from nbconvert import MarkdownExporter

    exporter: Any = MarkdownExporter  # neither it nor `reads` has types
    reads: Any = nbformat.reads
    body, resources = exporter().from_notebook_node(reads(text, as_version=4))
    return body, dict(resources.get("outputs", {}))
