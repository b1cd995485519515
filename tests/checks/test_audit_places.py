"""Places of an audit sheet: no total from which the value follows by division."""

from __future__ import annotations

import pytest

from flopbook.checks.audit import blind_place


@pytest.mark.parametrize(
    ("locator", "value", "shown"),
    [
        ("column NVL72, row FP16 360 PFLOPS; 72 GPUs", 5, "row FP16 ... PFLOPS; 72 GPUs"),
        ("row INT8 Tensor Core 3,958* | 1,979; * with sparsity", 1979, "Core ...* | ...; *"),
        ("row BF16 at 2,400 MHz", 2516.6, "row BF16 at 2,400 MHz"),
        ("page 12, row of 500.", 250, "page 12, row of ..."),
    ],
)
def test_a_total_that_the_value_divides_is_hidden(locator: str, value: float, shown: str) -> None:
    assert shown in blind_place(locator, value)
