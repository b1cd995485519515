"""A study of 24 cases, and what one process answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from flopbook.planning.study import Answer, Study, name_of, read_study
from flopbook.planning.study_workers import in_this_process
from tests.support.studies import SIZES


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The file of the study."""
    path = tmp_path / "sizes.yaml"
    path.write_text(SIZES, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """The study as it is read."""
    path = tmp_path_factory.mktemp("study") / "sizes.yaml"
    path.write_text(SIZES, encoding="utf-8")
    return read_study(path)


@pytest.fixture(scope="session")
def alone(study: Study) -> dict[str, Answer]:
    """The answers of one process, two layouts each."""
    return {name_of(case, 2): answered for case, answered in in_this_process(study.cases, 2)}
