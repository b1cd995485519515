"""Recorded notebooks: what is shown, what a stale or spoilt recording leads to, who can record."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import jupytext
import nbformat
import pytest

from scripts import record_notebooks
from scripts.record_notebooks import NoTorch
from scripts.website.build import extras, notebooks, recordings
from scripts.website.build.recordings import RecordingError

MADE = {"date": "2026-01-02", "machine": "2 cores", "software": "PyTorch 9"}
SOURCE = "# %% [markdown]\n# # T\n#\n# What it shows.\n\n# %%\nprint(1)\n\n# %%\nprint(2)\n"
FOLDER = Path(__file__).parents[2] / "calculators" / "notebooks"
KEPT = [path for path in sorted(FOLDER.glob("*.py")) if extras.extra_of(path) == "torch"]


def notebook(text: str = SOURCE) -> nbformat.NotebookNode:
    return jupytext.reads(text, fmt="py:percent")


def printed(text: str, name: str = "stdout") -> nbformat.NotebookNode:
    return nbformat.v4.new_output("stream", name=name, text=text)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A notebook with a recording: one printed line for each of its two cells."""
    file = tmp_path / "torch-x.py"
    file.write_text(SOURCE)
    executed = notebook()
    executed.cells[1].outputs = [printed("1\n"), printed("a warning", "stderr")]
    executed.cells[2].outputs = [printed("2\n")]
    recordings.place(file).write_text(recordings.recording(executed, MADE))
    return file


def test_what_was_recorded_is_shown_with_machine_and_date(path: Path) -> None:
    shown = recordings.attached(notebook(), path)
    assert [cell.outputs[0].text for cell in shown.cells[1:]] == ["1\n", "2\n"]
    title, summary, note = shown.cells[0].source.split("\n\n")
    assert (title, summary) == ("# T", "What it shows.")
    assert note.startswith("> **Recorded.**")
    assert all(detail in note for detail in MADE.values())
    assert shown.metadata["flopbook"]["executed"] is True


def test_the_error_stream_is_not_recorded(path: Path) -> None:
    assert "a warning" not in recordings.place(path).read_text()


def test_prose_may_change_and_code_may_not(path: Path) -> None:
    recordings.attached(notebook(SOURCE.replace("What it shows", "What it does")), path)
    with pytest.raises(
        RecordingError, match=r"torch-x\.py: its code is not that of .* `make torch`"
    ):
        recordings.attached(notebook(SOURCE.replace("print(2)", "print(3)")), path)


def test_a_missing_recording_says_how_to_make_it(path: Path) -> None:
    recordings.place(path).unlink()
    with pytest.raises(
        RecordingError, match=r"torch-x\.recorded\.json is missing; run `make torch`"
    ):
        recordings.attached(notebook(), path)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"made": {}, "code": "", "outputs": []}'])
def test_a_spoilt_recording_is_one_line(path: Path, text: str) -> None:
    recordings.place(path).write_text(text)
    with pytest.raises(RecordingError, match=r"^torch-x\.recorded\.json: no recording; run"):
        recordings.attached(notebook(), path)


@pytest.mark.parametrize("kept", KEPT, ids=lambda kept: kept.stem)
def test_every_notebook_in_pytorch_has_the_recording_of_its_code(kept: Path) -> None:
    shown = recordings.attached(notebook(kept.read_text(encoding="utf-8")), kept)
    last = [cell for cell in shown.cells if cell.cell_type == "code"][-1]
    assert last.outputs[0].text.strip().endswith("all checks passed")


def test_a_build_runs_no_recorded_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(path: Path, python: Path) -> str:
        raise AssertionError(f"{path.stem} was run")

    monkeypatch.setattr(notebooks, "execute", never)
    messages: list[str] = []
    shown = notebooks.execute_all(messages.append, only="torch")
    assert sorted(shown) == [kept.stem for kept in KEPT]
    assert sorted(messages) == [f"{kept.stem}: recorded" for kept in KEPT]


def test_a_python_without_torch_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "python").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "python").chmod(0o755)
    for python in (tmp_path / "python", tmp_path / "none"):
        assert record_notebooks.main(["--python", str(python)]) == 2
        error = capsys.readouterr().err
        assert "cannot import torch: name a Python that has PyTorch" in error
        assert error.count("\n") == 1


def test_a_name_that_is_no_recorded_notebook_is_refused() -> None:
    assert record_notebooks.wanted([]) == KEPT
    assert record_notebooks.wanted(["torch-experts"]) == [FOLDER / "torch-experts.py"]
    with pytest.raises(NoTorch, match=r"no recorded notebook 'bubble'; there are torch-experts,"):
        record_notebooks.wanted(["bubble"])


def test_a_run_is_written_beside_its_notebook(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a real kernel, of a Python that need not have PyTorch for this notebook."""
    monkeypatch.setattr(notebooks, "ROOT", path.parent)
    monkeypatch.setattr(notebooks, "NOTEBOOKS", path.parent)
    recordings.place(path).unlink()
    record_notebooks.record(path, Path(sys.executable), MADE)
    content = json.loads(recordings.place(path).read_text())
    assert content["made"] == MADE
    assert [outputs[0]["text"] for outputs in content["outputs"]] == ["1\n", "2\n"]
