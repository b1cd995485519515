"""The unit of an expression of the ledger.

Told where its parts tell it, open where a bare number may carry it.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from flopbook.errors import FlopbookError
from flopbook.ledger.recomputation import NAMES
from flopbook.ledger.rows import Row, Stated, ledger_rows
from flopbook.ledger.units import CHIP_UNITS, MODEL_UNITS, expression_dimensions
from flopbook.ledger.verdicts import judge
from flopbook.quantities.units import unit

KNOWN = [
    ('chip("h100-sxm").peak("bf16")', "FLOP/s"),
    ('chip("h100-sxm").memory()', "byte"),
    ('chip("h100-sxm").power()', "W"),
    ('chip("h100-sxm").peak("bf16") / chip("h100-sxm").memory_bandwidth()', "FLOP/byte"),
    ('calc("training-flops", params=7e9, tokens=1e12)', "FLOP"),
    ('calc("training-flops", params=7e9, tokens=1e12)["pf_days"]', "PF-day"),
    ('calc("training-flops", model="gpt-3-175b")["flop"] / chip("h100-sxm").peak("bf16")', "s"),
    ('q("90GB/s") * q("4us")', "byte"),
    ('q("2.5e3 GB/s")', "byte/s"),
    ('q("4EFLOP")', "FLOP"),
    ('q("80GB") + q("1GiB") - chip("h100-sxm").memory()', "byte"),
    ('model("gpt-3-175b").params', "param"),
    ('-q("2s")', "s"),
]
OPEN = [
    "6 * 7",
    '2 * chip("h100-sxm").scaleup_bandwidth()',
    'q("3")',
    'chip("dgx-h100").total("memory")',
    'max(q("1s"), q("2s"))',
    'chip("h100-sxm").memory() ** 2',
    'calc("bubble", stages=8, microbatches=32)["no such output"]',
    'model("gpt-3-175b")["params"]',
]


@pytest.mark.parametrize(("expression", "name"), KNOWN)
def test_units_that_can_be_told(expression: str, name: str) -> None:
    found = expression_dimensions(expression)
    assert found is not None and found.powers == unit(name).dimensions


@pytest.mark.parametrize("expression", OPEN)
def test_a_bare_number_may_stand_for_anything(expression: str) -> None:
    assert expression_dimensions(expression) is None


def test_bytes_and_seconds_cannot_be_added() -> None:
    with pytest.raises(FlopbookError, match=r"adds byte and s$"):
        expression_dimensions('q("1GB") + q("1s")')


@pytest.mark.parametrize("expression", ["6 *", "", "(", 'calc("no-such-calculator", a=1)'])
def test_what_is_no_expression_is_refused(expression: str) -> None:
    with pytest.raises(FlopbookError):
        expression_dimensions(expression)


def test_the_tables_name_what_expressions_may_ask_for() -> None:
    """A new attribute of a chip needs a unit here, or is left open on purpose."""
    asked = {
        name
        for view in (NAMES["chip"], NAMES["model"])
        for name in vars(view).get("expression_attributes", ())
    }
    assert set(CHIP_UNITS) | {"total"} | set(MODEL_UNITS) <= asked
    assert set(NAMES["chip"].expression_attributes) == set(CHIP_UNITS) | {"total"}


ROW = Row(
    id="made-up",
    source="brown2020language",
    document="",
    line=1,
    topic="compute",
    statement="A peak.",
    stated=Stated(989.4, "TFLOP/s"),
    verdict="holds",
    why="Data sheet.",
    call='chip("h100-sxm").peak("bf16")',
)


def test_a_row_is_judged_by_its_unit_too() -> None:
    assert judge(ROW) == []
    for name in ("TFLOP", "TB/s", "TB"):
        assert any(
            f"states {name}, but" in problem
            for problem in judge(replace(ROW, stated=Stated(989.4, name)))
        )
    assert judge(replace(ROW, stated=Stated(989.4e12, "FLOP/s"))) == []


def test_a_slip_is_judged_by_its_correction() -> None:
    """A text has no unit; what it should say has."""
    slip = replace(ROW, verdict="typo", stated=Stated(text="989 TFLOPs"))
    assert judge(replace(slip, corrected=Stated(989.4, "TFLOP/s", "989 TFLOP/s"))) == []
    assert judge(replace(slip, corrected=Stated(989.4, "TFLOP", "989 TFLOP")))


def test_most_rows_that_compute_with_data_have_a_unit() -> None:
    """Rows that compute one output of a calculator or one value of a chip are all checked."""
    single = [
        row
        for row in ledger_rows()
        if row.call.startswith(("calc(", "chip(")) and row.call.count("(") <= 2
    ]
    told = [row for row in single if expression_dimensions(row.call) is not None]
    assert len(told) >= 0.8 * len(single) > 40
