"""The ledger of claims: every row recomputed, and a verdict that does not stand is found out."""

from __future__ import annotations

import collections
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flopbook.data.library import references
from flopbook.errors import DataError, FlopbookError, UnknownName
from flopbook.ledger.recomputation import NAMES, recompute
from flopbook.ledger.rows import (
    DEFAULT_TOLERANCE,
    VERDICTS,
    Row,
    Stated,
    ledger_row,
    ledger_rows,
    read_ledger,
)
from flopbook.ledger.verdicts import judge
from tests.support.cases import every

ROWS = ledger_rows()


@every("row", ROWS)
def test_the_verdict_stands(row: Row) -> None:
    assert judge(row) == []


@every("row", ROWS)
def test_the_row_is_complete(row: Row) -> None:
    """Each verdict brings what it needs to be believed."""
    assert row.verdict in VERDICTS and row.why and (row.place or row.line) and row.where
    assert row.source in references() and set(row.evidence) <= set(references())
    assert row.stated.value is not None or row.stated.text
    if row.verdict in ("holds", "rounding"):
        assert row.call and row.stated.value is not None
    if row.verdict == "rounding":
        assert row.tolerance > DEFAULT_TOLERANCE
    if row.verdict == "does-not-hold":
        assert row.call and row.corrected is not None and row.corrected.value is not None
    if row.verdict == "depends":
        assert row.assumption
    if row.verdict == "typo":
        assert row.stated.text and row.corrected is not None and row.corrected.text
    if row.verdict == "quoted":
        assert row.evidence


def test_the_first_thirty_claims_are_there() -> None:
    counts = collections.Counter(row.verdict for row in ROWS)
    assert sum(counts.values()) >= 30 and counts["does-not-hold"] >= 3 and len(counts) >= 4


PAPERS = {
    "austin2025training": 13,
    "austin2025sharding": 4,
    "korthikanti2023reducing": 14,
    "rajbhandari2020zero": 5,
    "touvron2023llama": 6,
    "narayanan2021efficient": 4,
    "deepseek2025dualpipe": 5,
    "liu2023ring": 5,
}


@every("source, least", PAPERS.items())
def test_published_figures_of_each_source_are_recomputed(source: str, least: int) -> None:
    """Tables and worked examples that our calculators reproduce; nearly all of them hold."""
    rows = [row for row in ROWS if row.source == source]
    assert len(rows) >= least and all(row.call for row in rows)
    assert {row.verdict for row in rows} <= {"holds", "rounding", "depends", "typo"}


def test_ids_are_unique_and_found() -> None:
    assert len({row.id for row in ROWS}) == len(ROWS)
    assert ledger_row(ROWS[3].id) == ROWS[3]
    with pytest.raises(UnknownName, match=f"nearest: .*{ROWS[3].id}"):
        ledger_row(ROWS[3].id + "x")


BASE = Row(
    id="made-up",
    source="brown2020language",
    document="a.txt",
    line=1,
    topic="compute",
    statement="Six times seven is 42.",
    stated=Stated(42, "FLOP"),
    verdict="holds",
    why="Arithmetic.",
    call="6 * 7",
)
WRONG = replace(
    BASE, verdict="does-not-hold", call="6 * 8", corrected=Stated(48, "FLOP"), reproduces="6 * 7"
)


@pytest.mark.parametrize(
    "row",
    [
        BASE,
        WRONG,
        replace(BASE, stated=Stated(0.042, "PFLOP"), call="42e12"),
        replace(BASE, verdict="rounding", stated=Stated(40, "FLOP"), tolerance=0.05),
        replace(BASE, verdict="depends", assumption="The base is ten."),
        replace(BASE, verdict="depends", assumption="The base is ten.", call=""),
        replace(
            BASE, verdict="typo", stated=Stated(text="6 * 8"), corrected=Stated(42, "FLOP", "6 * 7")
        ),
        replace(
            BASE, verdict="typo", stated=Stated(text="sixs"), corrected=Stated(text="six"), call=""
        ),
        replace(BASE, verdict="quoted", call="", evidence=("brown2020language",)),
        replace(WRONG, tolerance=0.1),
        replace(BASE, stated=Stated(0, "FLOP"), call="0 * 3"),
        replace(BASE, call='model("gpt-3-175b").layers - 54'),
    ],
)
def test_sound_rows_pass(row: Row) -> None:
    assert judge(row) == []


@every(
    "row, message",
    [
        (replace(BASE, call="6 * 8"), "verdict holds, but it states 42.* gives 48"),
        (replace(BASE, call="42.1"), "verdict holds, but it states 42"),
        (replace(BASE, stated=Stated(42, "PFLOP")), "verdict holds, but it states 4.2e"),
        (replace(BASE, stated=Stated(text="forty-two")), "verdict holds, but it states None"),
        (
            replace(WRONG, call="6 * 7", corrected=Stated(42, "FLOP")),
            "verdict does-not-hold, but the computation gives 42 as stated",
        ),
        (
            replace(WRONG, tolerance=0.2),
            "verdict does-not-hold, but the computation gives 48 as stated",
        ),
        (replace(WRONG, corrected=Stated(49, "FLOP")), "the correction says 49.* gives 48"),
        (replace(WRONG, corrected=None), "the correction says None"),
        (replace(WRONG, reproduces="6 * 9"), "'reproduces' gives 54, not the stated 42"),
        (
            replace(BASE, verdict="rounding", tolerance=0.05, stated=Stated(30, "FLOP")),
            "verdict rounding, but it states 30",
        ),
        (
            replace(BASE, verdict="rounding", tolerance=DEFAULT_TOLERANCE),
            "tolerance 0.001 is not above the usual 0.001",
        ),
        (
            replace(BASE, verdict="depends", assumption="x", call="43"),
            "verdict depends, but it states 42",
        ),
        (
            replace(BASE, verdict="typo", corrected=Stated(43, "FLOP", "43")),
            "the correction says 43.* gives 42",
        ),
        (
            replace(BASE, call='chip("nvidia/h100-smx").peak()'),
            "unknown chip 'nvidia/h100-smx'; nearest: .*nvidia/h100-sxm",
        ),
        (
            replace(BASE, call='calc("min-bach")'),
            "unknown calculator 'min-bach'; nearest: min-batch",
        ),
        (replace(BASE, call='model("gpt-5").params'), "unknown model 'gpt-5'"),
        (replace(BASE, call='calc("bubble", stages=8)'), "bubble needs --microbatches"),
        (
            replace(BASE, call='calc("bubble", stages=8, microbatches=8)["share"]'),
            "there is no 'share' here",
        ),
        (replace(BASE, call='chip("nvidia/h100-sxm").entry'), "'.entry' is not available here"),
        (replace(BASE, call='chip("nvidia/h100-sxm")._require_package()'), "is not available here"),
        (replace(BASE, call='chip("nvidia/h100-sxm").peak'), "gives no number"),
        (replace(BASE, call="chip(5)"), "'chip\\(5\\)'"),
        (replace(BASE, call='"42"'), "gives no number"),
        (replace(BASE, call="answer"), "unknown name 'answer'; known: abs, calc"),
        (replace(BASE, call='open("x")'), "unknown name 'open'"),
        (replace(BASE, call="1 / 0"), "division by zero"),
        (replace(BASE, stated=Stated(42, "FLOPS")), "unknown unit 'FLOPS'"),
        (replace(BASE, reproduces="6 *"), "is not an expression"),
    ],
)
def test_unsound_rows_are_found_out(row: Row, message: str) -> None:
    problems = judge(row)
    assert problems
    with pytest.raises(AssertionError, match=message):
        raise AssertionError("; ".join(problems))


def test_an_infinite_computation_proves_nothing() -> None:
    """No batch is enough for so small a matrix.

    That must not count as any number that a source states.
    """
    call = 'calc("min-batch", chip="nvidia/h100-sxm", d_model=8, d_ff=8)["tokens_exact"]'
    assert judge(replace(BASE, stated=Stated(1000, "token"), call=call))
    assert judge(replace(BASE, call="1e308 * 10"))


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ('q("80GB")', 80e9),
        ('q("80GiB")', 80 * 2**30),
        ('q("1e9")', 1e9),
        ('q("1e9byte")', 1e9),
        ('q("1.5e13token")', 1.5e13),
        ('q("2.5E3 GB/s")', 2.5e12),
        ('q("4EFLOP")', 4e18),
        ('q("90 GB/s")', 90e9),
        ('q("400Gbit/s")', 50e9),
        ('q("12%")', 0.12),
        ('q("3")', 3),
        ('q("1us")', 1e-6),
        ('q("365days")', 365 * 86400),
        ('q("-2s")', -2),
        ('q("7_000token")', 7000),
    ],
)
def test_quantities(expression: str, value: float) -> None:
    assert recompute(expression) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    "text", ["", "GB", "80 G B", "1e", "80GBB", "1,000", "nan", "inf", "--1", "1e999"]
)
def test_what_is_no_quantity(text: str) -> None:
    with pytest.raises(FlopbookError):
        recompute(f"q({text!r})")


def test_a_calculator_stands_for_its_first_output() -> None:
    whole = recompute('calc("training-flops", params=7e9, tokens=1e12)')
    assert whole == recompute('calc("training-flops", params=7e9, tokens=1e12)["flop"]') == 4.2e22


def test_every_name_may_be_used() -> None:
    assert set(NAMES) == {
        "chip",
        "model",
        "calc",
        "q",
        "min",
        "max",
        "sqrt",
        "floor",
        "ceil",
        "abs",
    }
    assert recompute("min(3, max(1, 2)) + sqrt(4) + floor(2.5) + ceil(2.5) + abs(-1)") == 10
    for call in (
        'peak("bf16")',
        "memory()",
        "memory_bandwidth()",
        "scaleup_bandwidth()",
        "power()",
    ):
        assert recompute(f'chip("nvidia/h100-sxm").{call}') > 0
    eight = recompute(
        'chip("nvidia/dgx-h100").total("peak", "bf16") / chip("nvidia/h100-sxm").peak("bf16")'
    )
    assert eight == pytest.approx(8)


HEAD = "source: brown2020language\nfile: a.txt\nrows:\n"
ROW = """\
  - id: made-up
    line: 1
    topic: compute
    statement: Six times seven is 42.
    stated: {value: 42, unit: FLOP}
    verdict: holds
    call: 6 * 7
    why: Arithmetic.
"""


def write(folder: Path, **texts: str) -> Path:
    (folder / "claims").mkdir()
    for name, text in texts.items():
        (folder / "claims" / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder


def test_a_file_is_read_into_rows(tmp_path: Path) -> None:
    (row,) = read_ledger(write(tmp_path, one=HEAD + ROW) / "claims")
    assert replace(row, file="", file_line=0) == replace(BASE, document="a.txt")
    assert row.file.endswith("one.yaml") and row.file_line == 4
    assert (row.tolerance, row.evidence, row.corrected) == (DEFAULT_TOLERANCE, (), None)


def test_files_come_in_order_and_none_is_no_row(tmp_path: Path) -> None:
    two = ROW.replace("made-up", "other")
    assert [
        row.id for row in read_ledger(write(tmp_path, b=HEAD + two, a=HEAD + ROW) / "claims")
    ] == [
        "made-up",
        "other",
    ]
    assert read_ledger(tmp_path / "none") == ()


def test_an_id_used_twice_is_a_problem_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"b\.yaml:4:1: duplicate: found claim 'made-up', expected each id once"
    ):
        read_ledger(write(tmp_path, a=HEAD + ROW, b=HEAD + ROW) / "claims")


def test_a_row_may_name_its_own_source_and_place(tmp_path: Path) -> None:
    """A file of many sources, rows with a table for a line.

    What a row names goes before what stands above the rows.
    """
    own = ROW.replace(
        "    line: 1\n", "    source: kaplan2020scaling\n    file: b.txt\n    place: Table 2\n"
    )
    (row,) = read_ledger(write(tmp_path, one=HEAD + own) / "claims")
    assert (row.source, row.document, row.line) == ("kaplan2020scaling", "b.txt", None)
    assert row.where == "Table 2" and replace(row, place="", line=7).where == "line 7"
    (tmp_path / "two").mkdir()
    assert (
        read_ledger(write(tmp_path / "two", one="rows:\n" + own) / "claims")[0].source
        == "kaplan2020scaling"
    )


BROKEN: dict[str, Any] = {
    "no place": ROW.replace("    line: 1\n", ""),
    "an unknown kind of defect": ROW
    + "    defect: {number: 1, tool: A, kind: silly, seen: source}\n",
    "a defect without a number": ROW + "    defect: {tool: A, kind: peak, seen: source}\n",
    "holds without a call": ROW.replace("    call: 6 * 7\n", ""),
    "rounding without a tolerance": ROW.replace("holds", "rounding"),
    "does-not-hold without a correction": ROW.replace("holds", "does-not-hold"),
    "depends without an assumption": ROW.replace("holds", "depends"),
    "typo without a correction": ROW.replace("holds", "typo"),
    "quoted without evidence": ROW.replace("holds", "quoted"),
    "no verdict": ROW.replace("    verdict: holds\n", ""),
    "unknown verdict": ROW.replace("holds", "maybe"),
    "unknown field": ROW + "    because: of that\n",
    "no why": ROW.replace("    why: Arithmetic.\n", ""),
    "script": ROW.replace("Arithmetic.", "<script>alert(1)</script>"),
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_broken_rows_cannot_be_read(text: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"one\.yaml:\d+:\d+: "):
        read_ledger(write(tmp_path, one=HEAD + text) / "claims")


def test_a_row_without_any_source_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        DataError,
        match=r"one\.yaml:2:\d+: source: found no source, expected the key of a reference",
    ):
        read_ledger(write(tmp_path, one="rows:\n" + ROW) / "claims")


def test_the_problems_of_all_files_come_at_once(tmp_path: Path) -> None:
    texts = {"one": HEAD + BROKEN["no verdict"], "two": HEAD + BROKEN["no why"], "three": "rows: ["}
    with pytest.raises(DataError) as caught:
        read_ledger(write(tmp_path, **texts) / "claims")
    assert {Path(problem.file).stem for problem in caught.value.problems} == {"one", "two", "three"}
