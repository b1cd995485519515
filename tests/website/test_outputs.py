"""Outputs of notebooks: text is shown as text, and nothing that could run is published."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import pytest
from mkdocs_jupyter.nbconvert2 import nb2html

from scripts.attack.hostile import SCRIPTS
from scripts.website.build import notebooks, recordings
from scripts.website.build.notebook_pages import notebook_html
from scripts.website.build.notebooks import NotebookError
from scripts.website.build.policy import page_problems
from scripts.website.build.recordings import RecordingError
from scripts.website.build.twins import twins

_SVG = '<svg xmlns="http://www.w3.org/2000/svg">{}</svg>'
_PAGE = base64.b64encode(b"<script>attacked()</script>").decode()
# Every type that a converter of notebooks shows, each with what would run or be markup.
ACTIVE = {
    "application/javascript": "attacked()",
    "application/vnd.jupyter.widget-view+json": {"model_id": "</script><script>attacked()"},
    "text/html": "<img src=x onerror=attacked()>",
    "text/markdown": "<script>attacked()</script> [x](javascript:attacked())",
    "text/latex": r"$\href{javascript:attacked()}{x}$ </script><script>attacked()</script>",
    "text/vnd.mermaid": "</pre><script>attacked()</script>",
    "image/svg+xml": _SVG.format("<script>attacked()</script>"),
    "image/png": _PAGE,
    "image/jpeg": _PAGE,
    "application/pdf": _PAGE,
}
_SHOW = """# %% [markdown]
# # T
#
# What it shows.

# %%
import json
from IPython.display import display
ACTIVE = json.loads({text!r})
for mime, content in ACTIVE.items():
    display({{mime: content}}, raw=True)
"""


def notebook() -> Any:
    """A notebook with one cell of code."""
    text = "# %% [markdown]\n# # T\n#\n# What it shows.\n\n# %%\nprint(1)\n"
    return jupytext.reads(text, fmt="py:percent")


def with_output(output: Any) -> Any:
    """A notebook whose cell shows this."""
    made = notebook()
    made.cells[1].outputs = [output]
    made.metadata["kernelspec"] = dict(notebooks.KERNELSPEC)
    return made


def data(mime: str, content: object) -> Any:
    """An output of a type."""
    return nbformat.v4.new_output("display_data", data={mime: content, "text/plain": "x"})


@pytest.mark.parametrize("mime", ACTIVE)
def test_an_active_output_is_refused_from_a_recording(mime: str, tmp_path: Path) -> None:
    path = tmp_path / "torch-x.py"
    path.write_text(jupytext.writes(notebook(), fmt="py:percent"), encoding="utf-8")
    made = {"date": "2026-01-02", "machine": "2 cores", "software": "PyTorch 9"}
    recorded = recordings.recording(with_output(data(mime, ACTIVE[mime])), made)
    recordings.place(path).write_text(recorded, encoding="utf-8")
    attached = recordings.attached(notebooks.read(path), path)
    with pytest.raises(NotebookError, match=r"^torch-x: cell 2: ") as raised:
        notebooks.finished(attached, "torch-x")
    assert "\n" not in str(raised.value) and str(raised.value).isprintable()


def test_all_active_outputs_are_refused_from_a_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One kernel shows all of them: it takes a second to start."""
    monkeypatch.setattr(notebooks, "ROOT", tmp_path)
    monkeypatch.setattr(notebooks, "NOTEBOOKS", tmp_path)
    path = tmp_path / "fresh.py"
    path.write_text(_SHOW.format(text=json.dumps(ACTIVE)), encoding="utf-8")
    with pytest.raises(NotebookError) as raised:
        notebooks.execute(path, Path(sys.executable))
    lines = str(raised.value).splitlines()
    assert len(lines) == len(ACTIVE) and all(line.startswith("fresh: cell 2: ") for line in lines)


def test_an_output_that_is_an_error_is_refused() -> None:
    error = nbformat.v4.new_output("error", ename="E", evalue="<b>", traceback=["<b>"])
    with pytest.raises(NotebookError, match="an output of the kind 'error'"):
        notebooks.finished(with_output(error), "x")


def texts() -> Iterator[Any]:
    """Outputs that are text, with every script in them."""
    hostile = "\n".join((*SCRIPTS, "```", "<script>attacked()</script>", "~~~~", "\x1b[31m<b>"))
    yield nbformat.v4.new_output("stream", name="stdout", text=hostile)
    yield nbformat.v4.new_output("stream", name="stderr", text=hostile)
    yield nbformat.v4.new_output("display_data", data={"text/plain": hostile})
    yield nbformat.v4.new_output("execute_result", data={"text/plain": hostile})
    yield data("image/svg+xml", _SVG.format("<title>&lt;script&gt;attacked()</title>"))


def test_text_is_text_on_the_page_and_in_its_twin(tmp_path: Path) -> None:
    made = notebook()
    made.cells[1].outputs = list(texts())
    path = tmp_path / "n.ipynb"
    path.write_text(notebooks.finished(made, "n"), encoding="utf-8")
    page, _ = notebook_html(nb2html(str(path)), tmp_path / "out", "notebooks/n.ipynb")
    assert list(page_problems(page, "n", tmp_path)) == []
    assert page.count("&lt;script&gt;attacked()") >= 4
    [twin] = twins({"notebooks/n.ipynb": path.read_bytes()}).values()
    fences = [line for line in twin.splitlines() if line.startswith("````")]
    assert len(fences) == 8 and fences[1::2] == ["````"] * 4


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"made": [], "code": "", "outputs": []}',
        '{"made": {"date": "a", "software": "b", "machine": "c"}, "code": "", "outputs": 3}',
        '{"made": {"date": "a", "software": "b", "machine": "c"}, "code": "", "outputs": [[3]]}',
        '{"made": {"date": "a"}, "code": "", "outputs": [[]]}',
    ],
)
def test_what_is_no_recording_is_one_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "torch-x.py"
    recordings.place(path).write_text(text, encoding="utf-8")
    with pytest.raises(RecordingError, match=r"^torch-x.recorded.json: no recording"):
        recordings.attached(notebook(), path)


def test_a_recording_has_outputs_for_each_cell(tmp_path: Path) -> None:
    path = tmp_path / "torch-x.py"
    made = {"date": "a", "software": "b", "machine": "c"}
    content = json.loads(recordings.recording(notebook(), made)) | {"outputs": [[], []]}
    recordings.place(path).write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(RecordingError, match="not one list for each cell"):
        recordings.attached(notebook(), path)


@pytest.mark.parametrize(
    "head", ["language_info: 3", "jupytext: 3", "jupytext: {formats: 3}", "kernelspec: 3"]
)
def test_a_head_that_makes_no_notebook_is_one_line(head: str, tmp_path: Path) -> None:
    path = tmp_path / "n.py"
    path.write_text(f"# ---\n# jupyter:\n#   {head}\n# ---\n\n# %%\n1\n", encoding="utf-8")
    try:
        notebooks.finished(notebooks.read(path), "n")
    except NotebookError as error:
        assert str(error).isprintable() and len(str(error)) < 300
