"""Plans of sharded products, carried out on a simulated mesh with real blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flopbook.errors import FlopbookError
from flopbook.sharding.blocks import ways
from flopbook.sharding.notation import Layout, read_mesh, read_product
from flopbook.sharding.products import CASES, plan_product
from tests.support.fleet import Fleet, einsum_text, run_plan

SIZES = {"I": 8, "J": 16, "K": 24}


def plan(text: str, mesh: str = "X=2,Y=4", sizes: dict[str, int] | None = None) -> Any:
    return plan_product(read_product(text), sizes or SIZES, read_mesh(mesh))


Product = tuple[Layout, Layout, Layout]
FREE = [(("I",), ("K",)), (("I", "L"), ("K",)), ((), ("K",)), (("I",), ())]


@st.composite
def problems(draw: Any) -> tuple[Product, dict[str, int], dict[str, int]]:
    """A mesh, two factors of two or three dimensions and a result, each cut by random axes."""
    mesh = dict(zip("XYZ", draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)), strict=False))
    contracted = draw(st.sampled_from([("J",), ("J", "M"), ()]))
    first_free, second_free = draw(st.sampled_from(FREE))
    axes = tuple(mesh)
    first = draw(_layout("A", draw(_shuffled(first_free, contracted)), axes))
    second = draw(_layout("B", draw(_shuffled(contracted, second_free)), axes))
    result = draw(_layout("C", draw(_shuffled(first_free, second_free)), axes))
    if draw(st.booleans()):  # factors that meet, which chance seldom makes
        common = [axis for dim in contracted for axis in first.axes(dim)]
        second = _freed(second, common)
        for dim in contracted:
            second = second.cut(dim, first.axes(dim))
        summed = [axis for axis in common if mesh[axis] > 1]
        if summed and draw(st.booleans()):
            result = _freed(result, summed[:1])._replace(partial=(summed[0],))
    devices = ways(mesh, mesh)
    dims = (*first_free, *contracted, *second_free)
    sizes = {dim: devices * draw(st.integers(1, 2)) for dim in dims}
    return (first, second, result), sizes, mesh


def _shuffled(*dims: tuple[str, ...]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.permutations(sum(dims, ())).map(tuple)


@st.composite
def _layout(draw: Any, name: str, dims: tuple[str, ...], axes: tuple[str, ...]) -> Layout:
    cuts: dict[str, tuple[str, ...]] = dict.fromkeys(dims, ())
    for axis in draw(st.permutations(axes)):
        dim = draw(st.sampled_from((*dims, "")))
        if dim:
            cuts[dim] += (axis,)
    return Layout(name, dims, tuple(cuts.values()))


def _freed(layout: Layout, axes: list[str]) -> Layout:
    """The layout without some axes."""
    return layout._replace(
        cuts=tuple(tuple(a for a in old if a not in axes) for old in layout.cuts)
    )


def arrays(product: Product, sizes: dict[str, int]) -> list[np.ndarray]:
    """Whole numbers, so that sums are exact in any order."""
    rng = np.random.default_rng(7)
    return [rng.integers(-9, 9, [sizes[dim] for dim in layout.dims]) for layout in product[:2]]


@given(problems())
@settings(max_examples=300, deadline=None)
def test_every_plan_gives_the_dense_product_in_the_layout_that_was_asked_for(problem: Any) -> None:
    """Every step leaves on each device the block that its layout says.

    `run_plan` checks them one by one.
    """
    product, sizes, mesh = problem
    planned = plan_product(product, sizes, mesh)
    factors = arrays(product, sizes)
    blocks = run_plan(planned, factors, (product[0].on(mesh), product[1].on(mesh)), mesh)
    asked = product[2].on(mesh)
    last = planned.after[-1].after if planned.after else planned.result
    assert set(last.partial) == set(asked.partial)
    assert last._replace(partial=asked.partial) == asked
    dense = np.einsum(einsum_text(*product), *factors)
    assert Fleet(mesh).holds(asked, dense, blocks)


@given(problems())
@settings(max_examples=150, deadline=None)
def test_arithmetic_is_that_of_the_blocks(problem: Any) -> None:
    """All devices together do the product's arithmetic, and more only when work is repeated."""
    product, sizes, mesh = problem
    planned = plan_product(product, sizes, mesh)
    dense = 2.0 * np.prod([float(size) for size in sizes.values()])
    spread = {*planned.first.spent, *planned.second.spent}
    assert planned.flop * ways(mesh, spread) == dense


@given(problems())
@settings(max_examples=150, deadline=None)
def test_one_device_moves_nothing(problem: Any) -> None:
    product, sizes, mesh = problem
    single = dict.fromkeys(mesh, 1)
    whole = product[2]._replace(partial=())
    planned = plan_product((product[0], product[1], whole), sizes, single)
    assert planned.collectives == () and planned.cases == (CASES[0],)


@given(problems(), st.permutations("XYZ"))
@settings(max_examples=100, deadline=None)
def test_the_order_of_the_axes_of_the_mesh_changes_nothing(problem: Any, order: list[str]) -> None:
    product, sizes, mesh = problem
    turned = {axis: mesh[axis] for axis in order if axis in mesh}
    assert plan_product(product, sizes, turned) == plan_product(product, sizes, mesh)


@given(problems(), st.integers(2, 5))
@settings(max_examples=100, deadline=None)
def test_an_unused_axis_changes_nothing(problem: Any, size: int) -> None:
    product, sizes, mesh = problem
    assert plan_product(product, sizes, {**mesh, "W": size}) == plan_product(product, sizes, mesh)


@given(problems())
@settings(max_examples=100, deadline=None)
def test_bytes_go_with_the_width_of_a_value(problem: Any) -> None:
    product, sizes, mesh = problem
    narrow, wide = (plan_product(product, sizes, mesh, width) for width in (1.0, 4.0))
    assert [4 * move.bytes for move in narrow.collectives] == [
        move.bytes for move in wide.collectives
    ]
    assert all(move.bytes > 0 for move in wide.collectives)


# The examples of the chapter (austin2025sharding), by its four cases: what is moved, and how the
# result is left.
BOOK = [
    ("A[I_X, J] * B[J, K_Y] -> C[I_X, K_Y]", 1, ()),
    ("A[I, J] * B[J, K] -> C[I, K]", 1, ()),
    ("A[I, J_X] * B[J, K] -> C[I, K]", 2, ("all-gather of A over X",)),
    (
        "A[I_X, J_Y] * B[J_X, K_Y] -> C[I_X, K_Y]",
        2,
        ("all-gather of A over Y", "all-gather of B over X"),
    ),
    ("A[I, J_X] * B[J_Y, K] -> C[I, K]", 2, ("all-gather of A over X", "all-gather of B over Y")),
    ("A[I, J_X] * B[J_X, K] -> C[I, K]", 3, ("all-reduce of C over X",)),
    ("A[I, J_X] * B[J_X, K] -> C[I, K_X]", 3, ("reduce-scatter of C over X",)),
    ("A[I, J_X] * B[J_X, K] -> C[I_X, K]", 3, ("reduce-scatter of C over X",)),
    ("A[I, J_X] * B[J_X, K] -> C[I, K] {U_X}", 3, ()),
    ("A[I_X, J] * B[J, K_X] -> C[I, K_X]", 4, ("all-gather of A over X",)),
    ("A[I_X, J] * B[J, K_X] -> C[I_X, K]", 4, ("all-gather of B over X",)),
    ("A[I_X, J] * B[J, K] -> C[I, K]", 1, ("all-gather of C over X",)),
    ("A[I_X, J] * B[J, K] -> C[I, K_X]", 1, ("all-to-all of C over X",)),
    ("A[I_X, J_Y] * B[J_Y, K] -> C[I_X, K]", 3, ("all-reduce of C over Y",)),  # question 6
    ("A[I_X, J] * B[J_X, K_Y] -> C[I_X, K_Y]", 2, ("all-gather of B over X",)),
    ("A[I, J_XY] * B[J_XY, K] -> C[I, K]", 3, ("all-reduce of C over XY",)),
    ("A[I, J_XY] * B[J, K] -> C[I, K]", 2, ("all-gather of A over XY",)),
]


@pytest.mark.parametrize(("text", "case", "collectives"), BOOK, ids=[text for text, _, _ in BOOK])
def test_the_cases_of_the_book(text: str, case: int, collectives: tuple[str, ...]) -> None:
    planned = plan(text)
    assert planned.cases == (CASES[case - 1],)
    assert tuple(map(str, planned.collectives)) == collectives


def test_the_order_of_two_axes_decides_whether_blocks_meet() -> None:
    """J_XY and J_YX cut alike into as many blocks, but each device has another one."""
    assert plan("A[I, J_XY] * B[J_YX, K] -> C[I, K]").cases == (CASES[1],)


def test_a_slow_axis_is_gathered_with_the_fast_one_which_is_cut_again() -> None:
    planned = plan("A[I_XY, J] * B[J, K] -> C[I_Y, K]")
    assert [(move.op, move.axes) for move in planned.after] == [
        ("all-gather", ("X", "Y")),
        ("slice", ("Y",)),
    ]
    assert [move.op for move in plan("A[I_XY, J] * B[J, K] -> C[I_X, K]").after] == ["all-gather"]


def test_where_the_result_has_neither_the_smaller_factor_is_gathered() -> None:
    text = "A[I_X, J] * B[J, K_X] -> C[I, K]"
    small_first = plan(text, sizes={"I": 8, "J": 16, "K": 24})
    small_second = plan(text, sizes={"I": 24, "J": 16, "K": 8})
    assert str(small_first.collectives[0]) == "all-gather of A over X"
    assert str(small_second.collectives[0]) == "all-gather of B over X"


def test_two_cases_at_once_are_both_named() -> None:
    """A layer of tensor and fully sharded data parallelism.

    Its weights are gathered, its result added up.
    """
    planned = plan("A[I_X, J_Y] * B[J_Y, K_X] -> C[I_X, K_Y]")
    assert planned.cases == (CASES[2], CASES[3])
    assert tuple(map(str, planned.collectives)) == (
        "all-gather of B over X",
        "reduce-scatter of C over Y",
    )


WRONG = {
    "batch": ("A[I, J] * B[I, J] -> C[I]", "I is in both factors and in the result"),
    "unknown in result": ("A[I, J] * B[J, K] -> C[I, L]", "L is a dimension of neither factor"),
    "lost": ("A[I, J] * B[J, K] -> C[I]", "C[I] lacks K"),
    "term": ("A[I, J] {U_X} * B[J, K] -> C[I, K]", "a factor cannot be a partial sum"),
    "no sums": (
        "A[I, J_X] * B[J, K] -> C[I, K] {U_X}",
        "the product leaves no partial sums over X",
    ),
    "size": ("A[I, J] * B[J, M] -> C[I, M]", "dims: the size of M is missing; write M=..."),
    "axis": ("A[I_Q, J] * B[J, K] -> C[I, K]", "A[I_Q, J]: the mesh has no axis Q; it has X, Y"),
    "indivisible": ("A[I, J] * B[J, K] -> C[I_XYZ, K]", "the mesh has no axis Z"),
}


@pytest.mark.parametrize(("text", "message"), WRONG.values(), ids=WRONG)
def test_what_is_no_product_is_refused(text: str, message: str) -> None:
    with pytest.raises(FlopbookError) as caught:
        plan(text)
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_the_result_has_to_divide_as_well() -> None:
    with pytest.raises(FlopbookError, match=r"C\[I_Y, K\]: I of 6 does not divide into 4 blocks"):
        plan("A[I, J] * B[J, K] -> C[I_Y, K]", sizes={"I": 6, "J": 8, "K": 8})


def test_sizes_that_nobody_uses_are_a_slip() -> None:
    with pytest.raises(FlopbookError, match="dims: Q is a dimension of neither factor"):
        plan("A[I, J] * B[J, K] -> C[I, K]", sizes={**SIZES, "Q": 2})
