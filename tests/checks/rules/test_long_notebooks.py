"""A notebook that is too long to be read is refused in one line, by whoever asks for its head."""

from __future__ import annotations

from pathlib import Path

import pytest

from flopbook.checks.rules.pageheads import extra_in_head
from flopbook.data.files import MAX_PAGE_BYTES
from flopbook.errors import DataError


def test_a_notebook_that_is_too_long_is_refused_with_its_place(tmp_path: Path) -> None:
    """The file's own error came through, which the build shows as a traceback."""
    path = tmp_path / "long.py"
    path.write_text(f"# ---\n# x: {'y' * MAX_PAGE_BYTES}\n# ---\n", encoding="utf-8")
    with pytest.raises(DataError) as caught:
        extra_in_head(path)
    (problem,) = caught.value.problems
    assert problem.line == 1 and "long.py:1:1: size: found 250," in str(problem)
    assert str(problem).endswith("split the notebook")
