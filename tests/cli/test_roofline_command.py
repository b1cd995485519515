"""`flopbook roofline`: table, picture and file, the working, and misuse in one line."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

ROOFS = "mine: bf16 100TFLOP/s, fp8 200TFLOP/s, memory 1TB/s, L2 10TB/s"


def test_the_command_prints_table_picture_and_file(cli: Any, tmp_path: Path) -> None:
    path = tmp_path / "roof.svg"
    outcome = cli("roofline", "--chip", "h100-sxm", "--plot", str(path))
    assert (outcome.status, outcome.err) == (0, "") and ET.parse(path)
    assert re.search(r"^kernel +on +flop +bytes +intensity +bound", outcome.out, re.M)
    assert (
        "reached" not in outcome.out.splitlines()[0]
        and "FLOP/byte" in outcome.out
        and "wrote" in outcome.out
    )
    record = json.loads(cli("roofline", "--chip", "h100-sxm", "--json").out)
    assert (
        record["outputs"]["reached"]["value"][0] is None
        and len(record["outputs"]["kernel"]["value"]) == 9
    )


def test_the_steps_in_words(cli: Any) -> None:
    out = cli(
        "roofline", "--roofs", ROOFS, "--kernels", "point 120, gemm 64x64x64", "--explain"
    ).out
    assert "point 120 on mine is given: 120 FLOP/byte x memory 1 TB/s = 120 TFLOP/s" in out
    assert "mine: bf16 over L2 at 10 FLOP/byte" in out


def test_misuse_is_one_line(fails: Any) -> None:
    assert "unknown kernel 'gem'" in fails("roofline", "--chip", "h100-sxm", "--kernels", "gem 5")
    assert "needs --roofs or --chip" in fails("roofline")
    assert "does not end in .svg" in fails("roofline", "--chip", "h100-sxm", "--plot", "a.png")
