"""Results of notebooks that no build runs: recorded once, with the machine and the date.

PyTorch's wheels bring several gigabytes of CUDA libraries that a notebook on the processor does not
use, and the timings of a profile differ from run to run. Both are reasons to record. A recording
belongs to the code that made it: after an edit it is refused until it is made again.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flopbook.data.files import read_text

if TYPE_CHECKING:
    from nbformat import NotebookNode

RECORDED = ("torch",)  # the extras whose notebooks are recorded
SUFFIX = ".recorded.json"


class RecordingError(RuntimeError):
    """A recording that is missing, cannot be read, or belongs to other code; says what to do."""


def place(path: Path) -> Path:
    """The file of the recording, beside the notebook."""
    return path.with_name(path.stem + SUFFIX)


def code_hash(notebook: NotebookNode) -> str:
    """A hash of the code of a notebook; its prose may change without a new recording."""
    code = "\0".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    return hashlib.sha256(code.encode()).hexdigest()


def recording(executed: NotebookNode, made: dict[str, str]) -> str:
    """The outputs of an executed notebook as JSON text; `made` says with what and when.

    What went to the error stream is left out: it names processes of one machine.
    """
    outputs = [
        [output for output in cell.outputs if output.get("name") != "stderr"]
        for cell in executed.cells
        if cell.cell_type == "code"
    ]
    content = {"made": made, "code": code_hash(executed), "outputs": outputs}
    return json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def attached(notebook: NotebookNode, path: Path) -> NotebookNode:
    """The notebook with its recorded outputs and a note that says where they come from.

    Raises RecordingError.
    """
    import nbformat

    content = _content(path)
    if content["code"] != code_hash(notebook):
        raise RecordingError(
            f"{path.name}: its code is not that of {place(path).name}; run `make torch`"
        )
    as_output: Any = nbformat.from_dict  # it has no types
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    if len(code) != len(content["outputs"]):
        raise RecordingError(f"{place(path).name}: not one list for each cell; run `make torch`")
    for number, (cell, outputs) in enumerate(zip(code, content["outputs"], strict=True), 1):
        cell.execution_count = number
        cell.outputs = [as_output(output) for output in outputs]
    title, summary, *paragraphs = notebook.cells[0].source.split("\n\n")
    note = f"> {_note(content['made'])}"
    notebook.cells[0].source = "\n\n".join([title, summary, note, *paragraphs])
    # the page of practicals lists it among those that show results
    notebook.metadata.setdefault("flopbook", {})["executed"] = True
    return notebook


def _content(path: Path) -> dict[str, Any]:
    file = place(path)
    if not file.exists():
        raise RecordingError(f"{path.name}: {file.name} is missing; run `make torch`")
    try:
        content = json.loads(read_text(file))
        lists = [*content["outputs"]]
        is_whole = all(isinstance(output, dict) for outputs in lists for output in outputs)
        if not is_whole or len({"date", "software", "machine"} - content["made"].keys()):
            raise ValueError
        content["code"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise RecordingError(f"{file.name}: no recording; run `make torch`") from None
    kept: dict[str, Any] = content
    return kept


def _note(made: dict[str, str]) -> str:
    """Where the results of the page come from."""
    return (
        f"**Recorded.** The results below were recorded on {made['date']} with "
        f"{made['software']} on {made['machine']}; building this site does not run them again. "
        "`make torch` does."
    )
