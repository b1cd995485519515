"""The Python programs that chapters print run as they stand and check themselves.

Those of the chapter on kernels need stand-ins for their languages and have tests of their own.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

HANDBOOK = Path(__file__).resolve().parents[2] / "docs" / "handbook"
LISTING = re.compile(r"^```python\n(.*?)^```", re.S | re.M)
# One program for each way of dividing the work, forward and backward, and for narrow blocks.
TAUGHT = (
    "data-parallelism",
    "fsdp",
    "tensor-parallelism",
    "pipeline-parallelism",
    "expert-and-context-parallelism",
    "context-parallelism",
    "low-precision",
)
CHAPTERS = sorted(path.stem for path in HANDBOOK.glob("*.md") if path.stem != "kernels")
PROGRAMS = [
    pytest.param(chapter, number, program, id=f"{chapter}-{number}")
    for chapter in CHAPTERS
    for number, program in enumerate(
        LISTING.findall((HANDBOOK / f"{chapter}.md").read_text(encoding="utf-8"))
    )
]


@pytest.mark.parametrize(("chapter", "number", "program"), PROGRAMS)
def test_a_program_runs_and_checks_itself(chapter: str, number: int, program: str) -> None:
    assert "assert " in program, f"{chapter}: program {number} checks nothing"
    names: dict[str, Any] = {}
    exec(compile(program, f"{chapter}-{number}", "exec"), names)


@pytest.mark.parametrize("chapter", TAUGHT)
def test_a_subject_has_its_program(chapter: str) -> None:
    assert chapter in {parameters.values[0] for parameters in PROGRAMS}


@pytest.mark.parametrize(("chapter", "number", "program"), PROGRAMS)
def test_a_program_fits_a_phone(chapter: str, number: int, program: str) -> None:
    lines = program.splitlines()
    assert len(lines) <= 45 and max(map(len, lines)) <= 100
