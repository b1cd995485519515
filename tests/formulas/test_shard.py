"""Bytes of sharded arrays.

Laws of copies and blocks, then the worked questions of the book on scaling.
"""

from __future__ import annotations

from math import prod
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook import shard
from flopbook.errors import FlopbookError, UnknownName
from flopbook.evaluation.calculator import calculate

KIB, MIB = 1024, 1024**2
SIDES = st.integers(1, 4)
LAYOUTS = (
    "A[I, J]",
    "A[I_X, J]",
    "A[I_XY, J]",
    "A[I_YX, J]",
    "A[I_Z, J_XY]",
    "A[I, J_Y] {U_X}",
    "A[I] {U_ZX}",
)


@st.composite
def cases(draw: Any) -> dict[str, str]:
    """A layout on a mesh of three axes, and an array that divides."""
    layout = draw(st.sampled_from(LAYOUTS))
    sizes = [draw(SIDES) for _ in "XYZ"]
    sides = [str(prod(sizes) * draw(SIDES)) for _ in range(1 + layout.count(","))]
    dtype = draw(st.sampled_from(["bf16", "fp32", "int8", "int4"]))
    mesh = ",".join(f"{axis}={size}" for axis, size in zip("XYZ", sizes, strict=True))
    return {"array": f"{dtype}[{','.join(sides)}]", "layout": layout, "mesh": mesh}


@given(cases())
def test_every_byte_is_on_some_device_as_often_as_there_are_copies_and_terms(
    case: dict[str, str],
) -> None:
    found = shard(**case)
    assert found["bytes_total"] == found["bytes_per_device"] * found["devices"]
    assert found["bytes_total"] == found["array_bytes"] * found["copies"] * found["terms"]
    assert found["copies"] >= 1 and found["bytes_per_device"] <= found["array_bytes"]


@given(cases())
def test_the_local_shape_has_the_bytes_of_a_device(case: dict[str, str]) -> None:
    found = shard(**case)
    shape = [float(side) for side in case["array"].partition("[")[2].rstrip("]").split(",")]
    share = prod(found["local_shape"]) / prod(shape)
    assert found["bytes_per_device"] == pytest.approx(found["array_bytes"] * share, rel=1e-15)


@given(cases())
def test_a_mesh_of_one_device_has_no_copies(case: dict[str, str]) -> None:
    found = shard(**{**case, "mesh": "X=1,Y=1,Z=1"})
    assert (found["copies"], found["terms"], found["devices"]) == (1, 1, 1)
    assert found["bytes_per_device"] == found["bytes_total"] == found["array_bytes"]


@given(cases(), st.integers(2, 8))
def test_an_unused_axis_multiplies_copies_and_nothing_else(case: dict[str, str], more: int) -> None:
    before, after = shard(**case), shard(**{**case, "mesh": f"{case['mesh']},W={more}"})
    multiplied = {"copies", "bytes_total", "devices"}
    assert after == {
        name: value * more if name in multiplied else value for name, value in before.items()
    }


@given(cases(), st.permutations(range(3)))
def test_the_order_of_the_axes_of_a_mesh_changes_no_size(
    case: dict[str, str], order: list[int]
) -> None:
    axes = case["mesh"].split(",")
    assert shard(**{**case, "mesh": ",".join(axes[n] for n in order)}) == shard(**case)


def test_the_order_of_axes_on_a_dimension_changes_no_size() -> None:
    base = {"array": "bf16[64,64]", "mesh": "X=2,Y=4"}
    assert shard(**base, layout="A[I_XY, J]") == shard(**base, layout="A[I_YX, J]")


def test_the_quiz_of_the_book() -> None:
    """austin2025sharding, first pop quiz.

    int8[128, 2048], A[I_XY, J], mesh 2 x 8 x 2: 16,384 bytes and 512 KiB.
    """
    found = shard(array="int8[128,2048]", layout="A[I_XY, J]", mesh="X=2,Y=8,Z=2")
    assert found["bytes_per_device"] == 16384 and found["bytes_total"] == 512 * KIB
    assert found["local_shape"] == (8, 2048) and found["copies"] == 2 and found["devices"] == 32


def test_the_exercise_of_the_slides() -> None:
    """Seed claim 002-L0868.

    bf16[256, 2048], A[I_XY, J], mesh 4 x 8 x 2: 32 KiB per device, 2 MiB on all 64.
    """
    found = shard(array="bf16[256,2048]", layout="A[I_XY, J]", mesh="X=4,Y=8,Z=2")
    assert (
        found["bytes_per_device"] == 32 * KIB
        and found["bytes_total"] == 2 * MIB
        and found["array_bytes"] == MIB
    )


def test_question_one_of_the_book() -> None:
    """austin2025sharding, question 1: cut by X alone on 4 x 8 x 2, all hold 16 times the array."""
    found = shard(array="bf16[64,32,16]", layout="A[I_X, J, K]", mesh="X=4,Y=8,Z=2")
    assert found["bytes_total"] / found["array_bytes"] == 16 == found["copies"]


def test_examples_of_the_text() -> None:
    """austin2025sharding: A[I_X, J_Y] of 4 x 128 on 2 x 2 is 2 x 64.

    A[X, Y] of 8 x 2048 is 4 x 1024 in its code.
    """
    assert shard(array="bf16[4,128]", layout="A[I_X, J_Y]", mesh="X=2,Y=2")["local_shape"] == (
        2,
        64,
    )
    assert shard(array="bf16[8,2048]", layout="A[B_X, D_Y]", mesh="X=2,Y=2")["local_shape"] == (
        4,
        1024,
    )
    assert shard(array="bf16[2048,8192]", layout="B[D, F_Y]", mesh="X=2,Y=2")["local_shape"] == (
        2048,
        4096,
    )


def test_half_bytes() -> None:
    assert shard(array="int4[3]", layout="A[I]", mesh="X=2")["bytes_per_device"] == 1.5


WRONG = {
    "axis": ({"layout": "A[I_Q, J]"}, "the mesh has no axis Q; it has X, Y"),
    "indivisible": ({"mesh": "X=3,Y=2"}, "I of 256 does not divide into 3 blocks"),
    "dimensions": ({"layout": "A[I_X]"}, "has 1 dimensions, and the array 2"),
    "absurd": ({"array": "bf16[1e12,1e12]", "layout": "A[I, J]"}, "is not plausible"),
    "number": ({"mesh": 4}, "mesh.* is '4', expected a text"),
    "empty": ({"layout": " "}, "--layout is empty"),
    "long": ({"layout": "A[" + "I" * 3000 + "]"}, "has 3,003 characters, at most 2,000 are read"),
}


@pytest.mark.parametrize(("changed", "message"), WRONG.values(), ids=WRONG)
def test_misuse(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(FlopbookError, match=message):
        calculate(
            "shard",
            **{"array": "bf16[256,2048]", "layout": "A[I_X, J]", "mesh": "X=4,Y=8", **changed},
        )


def test_a_missing_input_is_named() -> None:
    with pytest.raises(FlopbookError, match="shard needs --mesh"):
        calculate("shard", array="bf16[8]", layout="A[I]")
    with pytest.raises(UnknownName, match="option of shard 'dtype'"):
        calculate("shard", array="bf16[8]", layout="A[I]", mesh="X=1", dtype="bf16")
