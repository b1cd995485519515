"""What passed the check of its schema is remembered: by its content, and by that of the schema."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from flopbook.data import approvals
from flopbook.data.schema import Schema, check
from flopbook.data.yaml_text import parse_yaml

SCHEMA = '{"type": "object", "properties": {"a": {"type": "integer"}}}'
# Reads one entry and says whether the library of JSON Schema was needed for it.
LOOK_UP = """
import sys
from flopbook.data.library import entry
entry("nvidia/h100-sxm")
print("jsonschema_rs" in sys.modules)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FLOPBOOK_CACHE", str(tmp_path))
    return tmp_path


def test_a_document_is_approved_with_its_schema() -> None:
    approvals.approve(SCHEMA, {"a": 1})
    assert approvals.approved(SCHEMA, {"a": 1})
    assert not approvals.approved(SCHEMA, {"a": 2})
    assert not approvals.approved(SCHEMA + " ", {"a": 1})


def test_approvals_add_up() -> None:
    for number in range(3):
        approvals.approve(SCHEMA, {"a": number})
    assert all(approvals.approved(SCHEMA, {"a": number}) for number in range(3))


def test_other_code_approves_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    approvals.approve(SCHEMA, {"a": 1})
    monkeypatch.setattr(approvals, "_version", lambda: "another")
    assert not approvals.approved(SCHEMA, {"a": 1})


def test_the_list_starts_anew_before_it_grows_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(approvals, "MOST", 2)
    for number in range(3):
        approvals.approve(SCHEMA, {"a": number})
    assert [approvals.approved(SCHEMA, {"a": n}) for n in range(3)] == [False, False, True]


def test_only_what_is_valid_is_approved() -> None:
    """A document with a problem is refused however often it is read."""
    broken = parse_yaml("a: x", "f.yaml")
    for _ in range(2):
        (problem,) = check(broken, Schema(SCHEMA), "f.yaml")
        assert problem.rule == "type"


def test_a_valid_document_needs_the_checker_once() -> None:
    sound = parse_yaml("a: 1", "f.yaml")
    first, second = Schema(SCHEMA), Schema(SCHEMA)
    assert check(sound, first, "f.yaml") == [] and first.compiled
    assert check(sound, second, "f.yaml") == [] and not second.compiled


def test_looking_up_a_chip_again_does_without_the_library(folder: Path) -> None:
    environment = {**os.environ, "FLOPBOOK_CACHE": str(folder)}
    command = [sys.executable, "-c", LOOK_UP]
    answers = [
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert answers == ["True\n", "False\n"]


def test_without_a_folder_everything_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLOPBOOK_CACHE", "")
    approvals.approve(SCHEMA, {"a": 1})
    assert not approvals.approved(SCHEMA, {"a": 1})
