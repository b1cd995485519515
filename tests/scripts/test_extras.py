"""Notebooks with an extra: run by its Python where there is one, else shown as written.

Tried with made-up ones.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import nbformat
import pytest

from scripts import jax_environment, setup_jax
from scripts.website.build import extras, notebooks
from scripts.website.build.extras import Extra, ExtraError
from scripts.website.build.notebooks import NotebookError

HEAD = """# ---
# jupyter:
#   flopbook:
#     extra: {extra}
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

"""
BODY = """# %% [markdown]
# # A title
#
# What it shows.
#
# More of it.

# %%
import sys
print(sys.executable)
"""


class House:
    """A folder of notebooks, one with an extra and one without, and what is said while they run."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.said = folder, list[str]()

    def write(self, stem: str, text: str) -> None:
        """A notebook of this name."""
        (self.folder / f"{stem}.py").write_text(text, encoding="utf-8")

    def run(self, **options: object) -> dict[str, str]:
        """All notebooks, or those that are asked for; what was said is kept."""
        self.said = []
        return notebooks.execute_all(self.said.append, **options)  # type: ignore[arg-type]


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    """Two notebooks and an empty cache; JAX is not there."""
    monkeypatch.setattr(notebooks, "ROOT", tmp_path)
    monkeypatch.setattr(extras, "ROOT", tmp_path)
    monkeypatch.setattr(notebooks, "NOTEBOOKS", tmp_path / "notebooks")
    monkeypatch.setattr(notebooks, "CACHE", tmp_path / "cache")
    monkeypatch.delenv(jax_environment.VARIABLE, raising=False)
    (tmp_path / "notebooks").mkdir()
    small_house = House(tmp_path / "notebooks")
    small_house.write("plain", BODY)
    small_house.write("heavy", HEAD.format(extra="jax") + BODY)
    return small_house


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Path]]:
    """Instead of a kernel: what was to be run, and by which Python."""
    executed: list[tuple[str, Path]] = []

    def execute(path: Path, python: Path) -> str:
        executed.append((path.stem, python))
        return done(path.stem)

    monkeypatch.setattr(notebooks, "execute", execute)
    return executed


def done(stem: str, **output: object) -> str:
    """What comes of a notebook that was run, as text."""
    outputs = [{"output_type": "display_data", "data": output}] if output else []
    return json.dumps({"cells": [{"source": f"ran {stem}", "outputs": outputs}]})


def have(monkeypatch: pytest.MonkeyPatch, python: Path | None, wish: str = "") -> None:
    """Let the extra be there, run by this Python, or not be there."""
    extras_here = {"": Extra("", Path(sys.executable), "1"), "jax": Extra("jax", python, wish)}
    monkeypatch.setattr(extras, "find", extras_here.__getitem__)


def test_without_the_extra_the_page_shows_the_source_and_says_so(
    house: House, ran: list[tuple[str, Path]]
) -> None:
    pages = house.run()
    assert ran == [("plain", Path(sys.executable))] and pages["plain"] == done("plain")
    heavy = nbformat.reads(pages["heavy"], as_version=4)
    title, summary, notice, source = heavy.cells[0].source.split("\n\n")
    assert (title, summary, source) == ("# A title", "What it shows.", "More of it.")
    assert notice.startswith("> **Not executed.**") and "`make jax`" in notice
    assert "print(sys.executable)" in heavy.cells[1].source and not heavy.cells[1].outputs
    assert "heavy: not run, there is no jax" in house.said
    assert house.run() == pages and len(ran) == 1, "what was not run is not kept as if it had been"
    assert [path.name[:5] for path in notebooks.CACHE.iterdir()] == ["plain"]


def test_with_the_extra_its_python_runs_the_notebook_once(
    house: House, ran: list[tuple[str, Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    have(monkeypatch, Path("/other/python"))
    assert house.run()["heavy"] == done("heavy")
    assert sorted(ran) == [("heavy", Path("/other/python")), ("plain", Path(sys.executable))]
    assert house.run()["heavy"] == done("heavy") and len(ran) == 2


def test_a_result_outlives_the_environment(
    house: House, ran: list[tuple[str, Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It depends on what is in the key, and the environment made nothing but that result."""
    have(monkeypatch, Path("/other/python"))
    house.run()
    have(monkeypatch, None)
    assert house.run()["heavy"] == done("heavy") and "heavy: unchanged" in house.said


def test_a_new_lock_of_the_extra_runs_its_notebooks_again_and_no_others(
    house: House, ran: list[tuple[str, Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    have(monkeypatch, Path("/other/python"))
    house.run()
    lock = extras.lock_of("jax")
    lock.parent.mkdir()
    lock.write_text("jax==1")
    house.run()
    assert [name for name, _ in ran[2:]] == ["heavy"]
    (lock.parent / "lock.txt").write_text("numpy==1")
    house.run()
    assert sorted(name for name, _ in ran[3:]) == ["heavy", "plain"]


def test_who_leaves_it_out_sees_no_result_of_it(
    house: House, ran: list[tuple[str, Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    have(monkeypatch, Path("/other/python"))
    house.run()
    have(monkeypatch, None, "0")
    assert "Not executed" in house.run()["heavy"]


def test_who_insists_gets_an_error_and_no_notice(
    house: House, ran: list[tuple[str, Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    have(monkeypatch, None, "1")
    with pytest.raises(ExtraError, match=r"^jax must be there and is not.*; run `make jax`$"):
        house.run()


def test_only_those_of_an_extra_run_when_asked(
    house: House, ran: list[tuple[str, Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    have(monkeypatch, Path("/other/python"))
    assert set(house.run(only="jax")) == {"heavy"} and [name for name, _ in ran] == ["heavy"]


def test_a_preview_shows_the_last_result(
    house: House, ran: list[tuple[str, Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    have(monkeypatch, Path("/other/python"))
    house.run()
    extras.lock_of("jax").parent.mkdir()
    extras.lock_of("jax").write_text("jax==1")
    have(monkeypatch, None)
    assert house.run(preview=True)["heavy"] == done("heavy")
    assert "heavy: as it was before this edit" in house.said
    assert "Not executed" in house.run()["heavy"]


@pytest.mark.parametrize(
    "earlier", [done("plain", **{"text/html": "<script>run()</script>"}), "no notebook", "[]"]
)
@pytest.mark.parametrize("preview", [False, True])
def test_a_kept_result_that_today_is_refused_is_made_anew(
    house: House, ran: list[tuple[str, Path]], earlier: str, preview: bool
) -> None:
    """It may have been kept before the check was written."""
    house.run(preview=preview)
    [kept] = notebooks.CACHE.iterdir()
    kept.write_text(earlier, encoding="utf-8")
    assert house.run(preview=preview)["plain"] == done("plain") and len(ran) == 2
    assert kept.read_text(encoding="utf-8") == done("plain")


def test_a_real_kernel_of_another_python_runs_it(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment is made as that of JAX is, with nothing on top.

    The notebook prints who ran it.
    """
    monkeypatch.setattr(setup_jax, "run_logged", lambda command, log: None)
    setup_jax.create(tmp_path)
    python = jax_environment.folder(tmp_path) / "bin" / "python"
    have(monkeypatch, python)
    notebook = json.loads(house.run(only="jax")["heavy"])
    (output,) = notebook["cells"][1]["outputs"]
    assert "".join(output["text"]).strip() == str(python)
    house.write(
        "heavy", HEAD.format(extra="jax") + BODY + "assert sys.maxsize == 3, 'not even close'\n"
    )
    with pytest.raises(NotebookError, match=r"^notebooks/heavy\.py: .*not even close"):
        house.run(only="jax")


def test_pieces_of_what_is_printed_are_joined_and_a_cell_that_hangs_ends(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = "import time\nfor n in range(3):\n    print(n)\n    time.sleep({})\n"
    slow = f"# %% [markdown]\n# # T\n\n# %%\n{loop}"
    house.write("plain", slow.format(0.4))
    (output,) = json.loads(notebooks.execute(house.folder / "plain.py", Path(sys.executable)))[
        "cells"
    ][1]["outputs"]
    assert "".join(output["text"]) == "0\n1\n2\n"
    monkeypatch.setattr(notebooks, "TIMEOUT_S", 1)
    house.write("plain", slow.format(60))
    with pytest.raises(NotebookError, match=r"^notebooks/plain\.py: a cell ran for more than 1 s$"):
        notebooks.execute(house.folder / "plain.py", Path(sys.executable))


def test_an_extra_that_nobody_knows_is_an_error(house: House) -> None:
    house.write("heavy", HEAD.format(extra="jaxx") + BODY)
    with pytest.raises(ExtraError, match=r"heavy\.py: the extra 'jaxx' is not known; there is jax"):
        house.run()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# %%\n1\n",
        BODY,
        "# ---\n# ---\n",
        "# ---\n# jupyter:\n#   kernelspec:\n#     name: x\n# ---\n",
    ],
)
def test_most_notebooks_need_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "n.py").write_text(text)
    assert extras.extra_of(tmp_path / "n.py") == ""


def test_the_wish_decides_what_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jax_environment, "interpreter", lambda root: tmp_path)
    for wish, python in (("", tmp_path), ("1", tmp_path), ("0", None)):
        monkeypatch.setenv(jax_environment.VARIABLE, wish)
        assert extras.find("jax") == Extra("jax", python, wish)
    monkeypatch.setenv(jax_environment.VARIABLE, "maybe")
    with pytest.raises(ExtraError, match="FLOPBOOK_JAX is 'maybe'"):
        extras.find("jax")
