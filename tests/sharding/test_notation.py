"""The named-axis notation: what is read, what is refused, and that both end in one line."""

from __future__ import annotations

from collections.abc import Callable
from string import ascii_letters
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.errors import FlopbookError
from flopbook.sharding.notation import (
    Layout,
    read_array,
    read_layout,
    read_mesh,
    read_product,
    read_sizes,
)


@st.composite
def layouts(draw: Any) -> Layout:
    """Any layout of up to four dimensions on up to five axes."""
    names = st.sampled_from(["I", "J", "K", "dmodel", "D2"])
    dims = tuple(draw(st.lists(names, min_size=1, max_size=4, unique=True)))
    axes = draw(st.permutations("UXYZw"))
    cuts: dict[str, tuple[str, ...]] = dict.fromkeys((*dims, "sum", "none"), ())
    for axis in axes:
        cuts[draw(st.sampled_from([*cuts]))] += (axis,)
    return Layout(
        draw(st.sampled_from(["A", "W1", "out"])),
        dims,
        tuple(cuts[dim] for dim in dims),
        cuts["sum"],
    )


@given(layouts())
def test_a_layout_is_read_as_it_is_written(layout: Layout) -> None:
    assert read_layout(str(layout)) == layout


@given(layouts(), st.data())
def test_space_and_braces_change_nothing(layout: Layout, data: Any) -> None:
    text = str(layout)
    for sign in "[],{}":
        text = text.replace(sign, data.draw(st.sampled_from([sign, f" {sign}", f"{sign}  "])))
    assert read_layout(text) == layout


@pytest.mark.parametrize(
    ("text", "cuts", "partial"),
    [
        ("A[I_XY, J]", (("X", "Y"), ()), ()),
        ("A[I_{XY},J]", (("X", "Y"), ()), ()),
        ("A[I_{X, Y}, J_Z]", (("X", "Y"), ("Z",)), ()),
        ("  A [ I , J_YX ] { U_Z } ", ((), ("Y", "X")), ("Z",)),
        ("A[I, J] {U_{XZ}}", ((), ()), ("X", "Z")),
    ],
)
def test_layouts_as_people_write_them(
    text: str, cuts: tuple[Any, ...], partial: tuple[str, ...]
) -> None:
    assert read_layout(text) == Layout("A", ("I", "J"), cuts, partial)


def test_meshes_sizes_and_arrays() -> None:
    assert read_mesh("X=4, Y=8,Z=2") == {"X": 4, "Y": 8, "Z": 2}
    assert list(read_mesh("Z=2,X=4")) == ["Z", "X"]
    assert read_sizes("I=8k,dmodel=1e4, K=2_048") == {"I": 8000, "dmodel": 10000, "K": 2048}
    assert read_array("bf16[256,2048]") == ("bf16", (256, 2048))
    assert read_array(" BF16 [ 7 ] ") == ("bf16", (7,))


def test_products() -> None:
    names = [str(layout) for layout in read_product("A[I,J_X]*B[J_X,K]->C[I,K]{U_X}")]
    assert names == ["A[I, J_X]", "B[J_X, K]", "C[I, K] {U_X}"]


def test_axes_of_one_device_cut_nothing() -> None:
    assert read_layout("A[I_XY, J] {U_Z}").on({"X": 1, "Y": 2, "Z": 1}) == read_layout("A[I_Y, J]")


Reader = Callable[[str], Any]
WRONG: dict[str, tuple[Reader, str, str]] = {
    "mesh without sizes": (
        read_mesh,
        "X,Y",
        "mesh: 'X' is not a name and a size; write for example X=4,Y=8",
    ),
    "mesh empty part": (read_mesh, "X=4,", "mesh: '' is not a name and a size"),
    "axis twice": (read_mesh, "X=4,X=2", "mesh: X is given twice"),
    "long axis": (
        read_mesh,
        "data=4",
        "mesh: axis 'data' has a long name; one letter names an axis",
    ),
    "number as axis": (read_mesh, "4=X", "mesh: '4=X' is not a name and a size"),
    "axis of zero": (read_mesh, "X=0", "mesh: X is 0, expected a whole number of at least 1"),
    "negative axis": (read_mesh, "X=-4", "mesh: X is -4, expected a whole number"),
    "half an axis": (read_mesh, "X=2.5", "mesh: X is 2.5, expected a whole number"),
    "axis of infinity": (read_mesh, "X=inf", "expected a whole number"),
    "axis of nothing": (read_mesh, "X=", "mesh: X is '', expected a whole number"),
    "axis with a unit": (read_mesh, "X=4GB", "mesh: X is '4GB', expected a whole number"),
    "two signs": (read_mesh, "X==4", "mesh: X is '=4', expected a whole number"),
    "absurd axis": (read_mesh, "X=1e9", "not a plausible size; at most 10,000,000"),
    "absurd mesh": (read_mesh, "X=1e6,Y=1e6", "mesh: 1e+12 devices are not a plausible mesh"),
    "mesh beyond all doubles": (
        read_mesh,
        ",".join(f"{axis}=10000000" for axis in ascii_letters),
        "mesh: 1e+14 devices are not a plausible mesh; at most 10,000,000",
    ),
    "absurd side": (read_sizes, "I=1e30", "not a plausible size"),
    "sizes": (
        read_sizes,
        "I:4",
        "dims: 'I:4' is not a name and a size; write for example I=4096,J=8192",
    ),
    "no shape": (
        read_array,
        "bf16",
        "array: 'bf16' is not a format and a shape, such as bf16[256,2048]",
    ),
    "open shape": (read_array, "bf16[256,2048", "is not a format and a shape"),
    "unknown dtype": (read_array, "bf61[256]", "unknown dtype 'bf61'; nearest: bf16"),
    "block dtype": (read_array, "mxfp4[256]", "the width of mxfp4 depends on its scales"),
    "side of zero": (
        read_array,
        "bf16[256,0]",
        "array: a side is 0, expected a whole number of at least 1",
    ),
    "no side": (read_array, "bf16[]", "array: a side is '', expected"),
    "open layout": (read_layout, "A[I_X, J", "layout 'A[I_X, J': [ and ] do not pair"),
    "open sums": (read_layout, "A[I_X, J] {U_Y", "{ and } do not pair"),
    "no name": (read_layout, "[I_X, J]", "is not a name and its dimensions"),
    "no brackets": (read_layout, "A", "is not a name and its dimensions, such as A[I_XY, J]"),
    "no dimensions": (read_layout, "A[]", "'' is no dimension; write J, J_X or J_XY"),
    "stray comma": (read_layout, "A[I,,J]", "'' is no dimension"),
    "bare subscript": (read_layout, "A[I_, J]", "'I_' is no dimension"),
    "subscript of a number": (read_layout, "A[I_2, J]", "'I_2' is no dimension"),
    "turned brackets": (read_layout, "A]I[", "is not a name and its dimensions"),
    "axis on two": (
        read_layout,
        "A[I_X, J_X]",
        "axis X is there twice; an axis can cut one dimension only",
    ),
    "axis on one twice": (read_layout, "A[I_XX, J]", "axis X is there twice"),
    "axis cut and summed": (read_layout, "A[I_X, J] {U_X}", "axis X is there twice"),
    "dimension twice": (read_layout, "A[I, I]", "dimension I is there twice"),
    "many dimensions": (read_layout, "A[a,b,c,d,e,f,g,h,i]", "A has 9 dimensions; at most 8"),
    "sums of nothing": (read_layout, "A[I] {}", "names no partial sums; write {U_X}"),
    "other braces": (read_layout, "A[I] {V_X}", "'{V_X}' names no partial sums"),
    "one factor": (read_product, "A[I,J] -> C[I,J]", "is not two factors and a result"),
    "three factors": (read_product, "A[I]*B[I]*C[I] -> D[I]", "is not two factors and a result"),
    "no result": (read_product, "A[I,J]*B[J,K]", "such as A[I, J_X] * B[J_X, K] -> C[I, K]"),
    "one name": (read_product, "A[I,J]*A[J,K]->C[I,K]", "product: two arrays are called A"),
    "two results": (
        read_product,
        "A[I,J]*B[J,K]->C[I,K]->D[I,K]",
        "is not a name and its dimensions",
    ),
}


@pytest.mark.parametrize(("reader", "text", "message"), WRONG.values(), ids=WRONG)
def test_each_misuse_is_one_clear_line(reader: Reader, text: str, message: str) -> None:
    with pytest.raises(FlopbookError) as caught:
        reader(text)
    printed = str(caught.value)
    assert message in printed
    assert "\n" not in printed and len(printed) < 250


def test_an_axis_that_the_mesh_lacks_is_named_with_those_it_has() -> None:
    with pytest.raises(FlopbookError, match=r"A\[I_Q\]: the mesh has no axis Q; it has X, Y"):
        read_layout("A[I_Q]").on({"X": 2, "Y": 2})


@given(st.text("AIJX_[]{}(),=*-> 0123456789.eU\n\x00é", max_size=40))
def test_garbage_is_read_or_refused_and_nothing_else(text: str) -> None:
    for reader in (read_mesh, read_sizes, read_array, read_layout, read_product):
        try:
            reader(text)
        except FlopbookError as error:
            assert str(error) and "\n" not in str(error)
