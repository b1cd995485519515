"""A misspelt chip is refused, and not taken for the one whose name it begins with."""

from __future__ import annotations

import io
import sys
import time

import pytest

from flopbook.cli.app import run
from flopbook.data.measured_runs import run_files
from flopbook.errors import UnknownName
from flopbook.prediction.machines import entry_id, machine

ASKED = ["--model", "llama-3-8b", "--chips", "8", "--batch", "8"]


@pytest.mark.parametrize("command", [["predict"], ["plan"], ["plan", "--serve"]])
def test_a_misspelt_chip_is_no_other_chip(
    command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = io.StringIO()
    monkeypatch.setattr(sys, "stderr", said)
    assert run([*command, *ASKED, "--chip", "h100-sxn"]) == 2
    assert said.getvalue().startswith("flopbook: unknown chip 'h100-sxn'; nearest: h100-sxm")


@pytest.mark.parametrize("name", ["h100-pcie-foo", "a100-xyz", "b200-typo", "tpu-v5p-512"])
def test_words_that_no_entry_knows_are_not_left_off(name: str) -> None:
    with pytest.raises(UnknownName):
        machine(name)


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("H100-SXM-80GB", "nvidia/h100-sxm"),
        ("H100-SXM-96GB-HBM2e-500W", "nvidia/h100-sxm"),
        ("H100 SXM5 80GB", "nvidia/h100-sxm"),
        ("TPU7x-Ironwood", "google/tpu-v7x"),
    ],
)
def test_what_sources_say_beside_a_name_is_left_off(name: str, entry: str) -> None:
    assert entry_id(name) == entry


def test_every_row_on_file_names_a_chip_or_none_that_is_on_file() -> None:
    names = {row.hardware["chip"] for file in run_files().values() for row in file.rows}
    unknown = []
    for name in sorted(names):
        try:
            entry_id(name)
        except UnknownName:
            unknown.append(name)
    assert unknown == []


@pytest.mark.parametrize("piece", ["(", "a-", "h100-sxm-", "9gb-"])
def test_a_name_without_end_is_refused_at_once(piece: str) -> None:
    begun = time.process_time()
    with pytest.raises(UnknownName, match="unknown chip"):
        entry_id(piece * (120_000 // len(piece)))
    assert time.process_time() - begun < 5
