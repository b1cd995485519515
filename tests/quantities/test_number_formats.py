"""Number formats: widths, ranges and steps, against the published tables."""

from __future__ import annotations

import sys

import pytest

from flopbook.errors import FlopbookError, UnknownName
from flopbook.quantities.number_formats import BLOCK, FORMATS, number_format


def test_widths_are_those_of_the_names() -> None:
    """fp64 has 64 bits, bf16 has 16, fp8 E4M3 has 8."""
    for one in FORMATS:
        digits = "".join(c for c in one.name.split()[0] if c.isdigit())
        assert one.bits == int(digits) and one.bytes == one.bits / 8


@pytest.mark.parametrize(
    ("name", "largest", "smallest"),
    [
        ("fp64", sys.float_info.max, sys.float_info.min),
        ("fp32", (2 - 2**-23) * 2.0**127, 2.0**-126),
        ("fp16", 65504, 2.0**-14),
        ("bf16", (2 - 2**-7) * 2.0**127, 2.0**-126),
        ("fp8 E4M3", 448, 2.0**-6),
        ("fp8 E5M2", 57344, 2.0**-14),
        ("fp6 E3M2", 28, 0.25),
        ("fp4 E2M1", 6, 1),
        ("int8", 127, 1),
        ("int4", 7, 1),
    ],
)
def test_ranges(name: str, largest: float, smallest: float) -> None:
    """IEEE 754; micikevicius2022fp8, table 1; OCP microscaling specification, element formats."""
    assert number_format(name).largest == largest and number_format(name).smallest == smallest


def test_the_step_is_the_epsilon_of_the_machine() -> None:
    assert number_format("fp64").step == sys.float_info.epsilon


def test_a_block_costs_a_little_more_than_its_numbers() -> None:
    """A byte of scale for 32 numbers is a quarter of a bit each."""
    assert BLOCK.bits_each == 4.25


def test_values_are_those_of_the_bit_patterns() -> None:
    """fp4 E2M1 writes 0, 0.5, 1, 1.5, 2, 3, 4 and 6 (OCP microscaling specification).

    Others count their codes.
    """
    assert number_format("fp4 E2M1").values == (0, 0.5, 1, 1.5, 2, 3, 4, 6)
    assert number_format("int4").values == tuple(range(8))
    assert len(number_format("fp6 E3M2").values) == 2**5
    assert len(number_format("fp8 E4M3").values) == 2**7 - 1  # one code is NaN
    assert len(number_format("fp8 E5M2").values) == 2**7 - 4  # infinity and three NaN
    for one in FORMATS:
        if one.bits <= 16:
            found = one.values
            assert found[0] == 0 and found[-1] == one.largest and list(found) == sorted(set(found))
            assert one.smallest in found and 1 + one.step in found


def test_wide_formats_are_not_listed() -> None:
    with pytest.raises(FlopbookError, match="too many"):
        _ = number_format("fp32").values


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(UnknownName, match="bf16"):
        number_format("bf61")
