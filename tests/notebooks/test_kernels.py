"""What the kernel of a notebook is told of memory: without it, JAX takes more than 500 MB."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from scripts.website.build import notebooks

IN_JAX = """\
# ---
# jupyter:
#   flopbook:
#     extra: jax
# ---

"""
SAID = """\
# %%
import os
NAMES = ("MALLOC_ARENA_MAX", "OPENBLAS_NUM_THREADS", "XLA_FLAGS")
print(*(os.environ.get(name) for name in NAMES))
"""


@pytest.mark.parametrize(
    ("stem", "text", "told"),
    [
        ("plain", SAID, "None 1 None"),
        ("other-in-jax", IN_JAX + SAID, "1 None None"),
        (
            "jax-data-parallel",
            IN_JAX + SAID,
            f"1 None {notebooks._XLA_FLAGS['jax-data-parallel']}",
        ),
    ],
)
def test_a_kernel_spares_memory_in_jax_and_keeps_it_in_numpy(
    stem: str, text: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notebooks, "ROOT", tmp_path)
    monkeypatch.setattr(notebooks, "NOTEBOOKS", tmp_path)
    for name in ("MALLOC_ARENA_MAX", "OPENBLAS_NUM_THREADS", "XLA_FLAGS"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / f"{stem}.py").write_text(text, encoding="utf-8")
    assert f'"{told}\\n"' in notebooks.execute(tmp_path / f"{stem}.py", Path(sys.executable))


def test_flags_of_the_compiler_are_for_notebooks_that_exist() -> None:
    assert notebooks._XLA_FLAGS.keys() <= {path.stem for path in notebooks.sources()}


_TALKER = """\
# %%
import os
os.write(2, b"Traceback of the kernel itself")
"""
_DYING = """\
# %%
import os
os.write(2, b"no more memory\\n")
os._exit(3)
"""


def test_what_a_kernel_says_of_itself_is_not_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """One that was told to end lost its socket, and a build printed twenty lines of it."""
    monkeypatch.setattr(notebooks, "ROOT", tmp_path)
    monkeypatch.setattr(notebooks, "NOTEBOOKS", tmp_path)
    (tmp_path / "talker.py").write_text(_TALKER, encoding="utf-8")
    notebooks.execute(tmp_path / "talker.py", Path(sys.executable))
    assert "Traceback" not in capfd.readouterr().err


def test_a_kernel_that_ends_by_itself_is_one_line_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notebooks, "ROOT", tmp_path)
    monkeypatch.setattr(notebooks, "NOTEBOOKS", tmp_path)
    (tmp_path / "dying.py").write_text(_DYING, encoding="utf-8")
    with pytest.raises(notebooks.NotebookError) as ended:
        notebooks.execute(tmp_path / "dying.py", Path(sys.executable))
    said = str(ended.value)
    assert said.startswith("dying.py: its kernel ended") and said.endswith("no more memory")
    assert "\n" not in said
