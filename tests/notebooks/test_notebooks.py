"""Every notebook runs as a plain script, proves its claims, and has a chapter.

Its numbers come from flopbook.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import jupytext
import nbformat
import pytest

from scripts.website.build import extras
from scripts.website.pages.chapter import chapter_of
from scripts.website.pages.practicals import name_problems
from tests.support import running
from tests.support.running import run_and_look

FOLDER = Path(__file__).parents[2] / "calculators" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.py"))
CALCULATORS = {"params", "training-flops", "min-batch", "fsdp-limit", "bubble"}
PRACTICALS = {
    "intensity",
    "matmul-roofline",
    "min-batch",
    "dot-product",
    "transformer",
    "sharded-matmul",
    "data-parallel",
    "pipeline",
    "llama-3",
}
# Scales that turn SI values into a unit on an axis; every other large number belongs in the data.
LARGE_ALLOWED = {1e12, 1e15}
HANDBOOK = Path(__file__).parents[2] / "docs" / "handbook"

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def cells(path: Path, kind: str = "") -> list[nbformat.NotebookNode]:
    """The cells of a notebook, all of them or those of one kind."""
    return [cell for cell in jupytext.read(path).cells if kind in ("", cell.cell_type)]


def headings(path: Path) -> list[tuple[int, str]]:
    """Level and text of every heading, in order."""
    text = "\n".join(cell.source for cell in cells(path, "markdown"))
    return [(len(marks), title) for marks, title in re.findall(r"^(#+) (.+)$", text, re.M)]


def test_the_first_calculators_and_the_practicals_have_a_notebook():
    assert {path.stem for path in NOTEBOOKS} >= CALCULATORS | PRACTICALS


def test_every_notebook_belongs_to_a_chapter_and_every_name_is_a_notebook():
    """A chapter lists its practicals in its head: the build links them, none is forgotten."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(HANDBOOK.glob("*.md"))}
    found = [chapter_of(text, path.name) for path, text in texts.items()]
    named = {name for one in found if one is not None for name in one.practicals}
    assert named == {path.stem for path in NOTEBOOKS}
    assert not [p for path, text in texts.items() for p in name_problems(text, str(path), named)]


@every_notebook
def test_it_runs_as_a_script_from_any_folder(path, tmp_path, monkeypatch, capsys):
    """Here, or in the Python that has the extra of the notebook.

    Where there is none, the site build runs it.
    """
    monkeypatch.chdir(tmp_path)
    extra = extras.find(extras.extra_of(path))
    if extra.python is None:
        pytest.skip(
            f"{extra.name} is not installed, or not as locked; `make {extra.name}` installs it"
        )
    if extra.name:
        program = str(running.__file__)
        done = subprocess.run(
            [extra.python, program, path], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-2000:]
        out, err = done.stdout, done.stderr
    else:
        run_and_look(path)
        out, err = capsys.readouterr()
    assert out.rstrip().endswith("all checks passed") and not err
    assert not list(tmp_path.iterdir()), "a notebook leaves no files behind"


@every_notebook
def test_it_converts_to_a_valid_notebook(path):
    notebook = jupytext.read(path)
    nbformat.validate(nbformat.from_dict(nbformat.reads(nbformat.writes(notebook), as_version=4)))
    assert notebook.metadata.kernelspec.name == "python3"
    assert not any(cell.get("outputs") for cell in notebook.cells)


@every_notebook
def test_headings_are_one_title_and_sections_below_it(path):
    levels = [level for level, _ in headings(path)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert set(levels[1:]) == {2}


@every_notebook
def test_it_ends_with_a_check_of_its_claims(path):
    assert headings(path)[-1] == (2, "Check")
    last = cells(path)[-1]
    asserts = [node for node in ast.walk(ast.parse(last.source)) if isinstance(node, ast.Assert)]
    assert last.cell_type == "code" and len(asserts) >= 3


@every_notebook
def test_every_figure_has_a_text_before_it_and_a_title(path):
    pairs = [
        (before, cell)
        for before, cell in zip(cells(path), cells(path)[1:], strict=False)
        if cell.cell_type == "code" and "plt.subplots" in cell.source
    ]
    assert pairs
    for before, cell in pairs:
        assert before.cell_type == "markdown" and "figure shows" in before.source
        assert re.search(r'^show\(\s*"[^"]{20,}"(?:\s*"[^"]+")*\s*\)$', cell.source, re.M), (
            "one figure a cell, shown with a title"
        )
        assert cell.source.count("plt.subplots") == 1


@every_notebook
def test_every_figure_labels_its_axes(path):
    """Seen in the source too, since most machines lack the extra of some notebooks.

    A bar chart in PyTorch had no label below it for as long as nobody ran it under this test.
    """
    drawn = [cell.source for cell in cells(path, "code") if "plt.subplots" in cell.source]
    assert all("xlabel" in source and "ylabel" in source for source in drawn)


# What the text of a notebook claims, by the names that its last cell has to assert.
CLAIMED = {
    "torch-sharding": {"replicated", "from_fsdp", "from_tp", "by_fsdp", "once", "twice", "most"},
    "torch-pipeline": {"results", "most_kept", "lengths", "idle", "shares"},
    "torch-ring-attention": {"worked", "counted", "unmasked", "last", "off"},
    "torch-experts": {"seen", "off", "spread", "fullest", "mean"},
    "torch-profile": {"operators", "parts_before", "attention_flops", "fast_mfu", "fast_losses"},
}


@pytest.mark.parametrize(("name", "claimed"), CLAIMED.items(), ids=CLAIMED)
def test_a_notebook_asserts_what_its_text_claims(name, claimed):
    last = ast.parse(cells(FOLDER / f"{name}.py")[-1].source)
    asserted = {node.id for node in ast.walk(last) if isinstance(node, ast.Name)}
    assert not claimed - asserted


@every_notebook
def test_markdown_has_no_latex_and_no_html(path):
    for cell in cells(path, "markdown"):
        assert not re.search(r"\$|\\[a-z]+|\\\(|<[a-z/]", cell.source), cell.source


@every_notebook
def test_no_hardware_number_is_typed(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    literals = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    large = {n for n in literals if isinstance(n, int | float) and abs(n) > 1e9} - LARGE_ALLOWED
    assert not large, "take it from chip(), model() or a formula"


@every_notebook
def test_it_stands_alone(path):
    """The downloaded notebook needs flopbook, matplotlib, its extra and Python, no more.

    NumPy comes with matplotlib.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    plain = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    named = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    allowed = {"flopbook", "matplotlib", "numpy", extras.extra_of(path), *sys.stdlib_module_names}
    assert {name.partition(".")[0] for name in plain | named} <= allowed
    assert "flopbook.drawing.plotting" in named and "use_style()" in path.read_text(
        encoding="utf-8"
    )
    assert not re.search(r"^\s*[%!]", path.read_text(encoding="utf-8"), re.M)


@every_notebook
def test_it_names_what_it_needs_and_says_how_to_follow(path):
    """The same two sentences in each, so that a reader of one knows all."""
    opening = cells(path, "markdown")[0].source
    extra = extras.extra_of(path)
    wanted = (
        f"`pip install '.[{extra}]' matplotlib`" if extra else "`pip install . numpy matplotlib`"
    )
    assert wanted in opening.replace("\n", " ")
    assert opening.partition("\n\n")[2].startswith("You will "), (
        "the page of practicals shows this paragraph"
    )
    assert (2, "Set up") in headings(path) and (2, "Try it") in headings(path)


def functions(name: str) -> dict[str, str]:
    """The functions of a notebook, each as its syntax tree."""
    tree = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    return {node.name: ast.dump(node) for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_both_practicals_with_a_transformer_have_the_same_one():
    """They cannot import each other and still stand alone, so the copies are held equal here."""
    first, second = functions("transformer"), functions("data-parallel")
    shared = set(first) & set(second)
    assert shared >= {
        "matmul",
        "linear",
        "norm",
        "softmax",
        "attention",
        "forward",
        "loss_and_gradients",
        "adam",
    }
    assert {name: first[name] for name in shared} == {name: second[name] for name in shared}


def test_the_program_that_is_run_is_the_one_in_the_chapter():
    """The chapter shows the listing; the notebook executes it, letter by letter."""
    text = (HANDBOOK / "computer.md").read_text(encoding="utf-8")
    listings = re.findall(r"```asm\n(.*?)```", text, re.S)
    tree = ast.parse((FOLDER / "dot-product.py").read_text(encoding="utf-8"))
    program = next(
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and node.targets[0].id == "PROGRAM"
    )
    assert program in listings
