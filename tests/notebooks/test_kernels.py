"""What the kernel of a notebook is told of memory: without it, JAX takes more than 500 MB."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from scripts.website.build import notebooks

SAID = """\
# %%
import os
print(os.environ.get("MALLOC_ARENA_MAX"), os.environ.get("XLA_FLAGS"))
"""


@pytest.mark.parametrize(
    ("stem", "told"),
    [
        ("plain", "1 None"),
        ("jax-data-parallel", f"1 {notebooks._XLA_FLAGS['jax-data-parallel']}"),
    ],
)
def test_a_kernel_is_told_to_spare_memory(
    stem: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notebooks, "ROOT", tmp_path)
    monkeypatch.setattr(notebooks, "NOTEBOOKS", tmp_path)
    monkeypatch.delenv("MALLOC_ARENA_MAX", raising=False)
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    (tmp_path / f"{stem}.py").write_text(SAID, encoding="utf-8")
    assert f'"{told}\\n"' in notebooks.execute(tmp_path / f"{stem}.py", Path(sys.executable))


def test_flags_of_the_compiler_are_for_notebooks_that_exist() -> None:
    assert notebooks._XLA_FLAGS.keys() <= {path.stem for path in notebooks.sources()}
