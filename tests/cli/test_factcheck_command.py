"""`flopbook check`: exit status, text, JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("text", "status"),
    [("H100 bf16 989 TFLOPS", 0), ("H100 1,979 TFLOPS", 1), ("H100 80 GB, 1,979 TFLOPS", 1)],
)
def test_the_status_says_whether_all_hold(text: str, status: int, cli: Any) -> None:
    outcome = cli("check", text)
    assert (outcome.status, outcome.err) == (status, "")


def test_the_answer_names_the_condition_and_the_source(cli: Any) -> None:
    answer, *evidence = cli("check", "H100 1,979 TFLOPS").out.splitlines()
    assert answer == (
        "NVIDIA H100 SXM5 80GB: 1,979 TFLOP/s is bf16 with 2:4 sparsity; dense is 989.4 TFLOP/s; "
        "also fp16 with 2:4 sparsity, dense fp8, dense int8"
    )
    assert any("nvidia2022hopper" in line for line in evidence)


def test_words_need_no_quotation_marks(cli: Any) -> None:
    assert cli("check", "H100", "989", "TFLOPS") == cli("check", "H100 989 TFLOPS")


def test_json_has_verdict_value_and_quotes(cli: Any) -> None:
    (finding,) = json.loads(cli("check", "H100 NVLink 900 GB/s", "--json").out)
    assert (finding["holds"], finding["verdict"]) == (False, "both-ways")
    assert finding["stated"] == finding["value"] == 900e9
    assert finding["evidence"][0]["direction"] == "both" and finding["evidence"][0]["quote"]


@pytest.mark.parametrize(
    "text", ["", "hello", "989 TFLOPS", "H100", "H100 " + "1" * 1000, "\x1b[2J"]
)
def test_what_cannot_be_read_is_one_line_and_status_2(text: str, fails: Any) -> None:
    assert "write" in fails("check", text) or "give" in fails("check", text)
