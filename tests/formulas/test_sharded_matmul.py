"""Products of sharded matrices.

Laws of their times, then the worked questions of the book on scaling.

That the plans are right is shown in tests/meshes/test_products.py, where they are carried out on
real blocks.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook import collective, sharded_matmul
from flopbook.errors import FlopbookError, UnknownName
from flopbook.evaluation.calculator import calculate

CASES = {
    1: "A[I_X, J] * B[J, K_Y] -> C[I_X, K_Y]",
    2: "A[I_X, J_Y] * B[J_X, K] -> C[I_X, K]",
    3: "A[I, J_X] * B[J_X, K] -> C[I, K]",
    4: "A[I_X, J] * B[J, K_X] -> C[I, K_X]",
}
CHIP = {"peak": 1e15, "link_bandwidth": 45e9}
MICRO = 1e-6


def product(
    text: str, mesh: str = "X=4,Y=4", dims: str = "I=4096,J=8192,K=4096", **more: Any
) -> dict[str, Any]:
    return sharded_matmul(product=text, mesh=mesh, dims=dims, **{**CHIP, **more})


every_case = pytest.mark.parametrize("case", CASES)


@every_case
def test_each_case_is_named(case: int) -> None:
    found = product(CASES[case])
    assert [text[:2] for text in found["case"]] == [f"{case}:"] and (
        found["collectives"] == ()
    ) == (case == 1)


@every_case
def test_a_mesh_of_one_device_has_no_traffic(case: int) -> None:
    found = product(CASES[case], "X=1,Y=1")
    assert found["collectives"] == () and found["bytes"] == found["communication_seconds"] == 0
    assert found["bound"] == "arithmetic" and found["flop"] == 2 * 4096 * 8192 * 4096
    assert found["seconds"] == found["seconds_in_turn"] == found["compute_seconds"]


@given(
    st.sampled_from([*CASES.values()]),
    st.sampled_from(["ring", "torus", "switch", "mesh"]),
    st.floats(1e9, 1e13),
)
def test_totals_are_the_longer_and_the_sum(text: str, topology: str, link: float) -> None:
    found = product(text, topology=topology, link_bandwidth=link)
    both = found["compute_seconds"], found["communication_seconds"]
    assert found["seconds"] == max(both) and found["seconds_in_turn"] == sum(both)
    assert found["bound"] == ("network" if both[1] > both[0] else "arithmetic")
    assert found["compute_seconds"] == found["flop"] / CHIP["peak"]


@every_case
def test_times_scale_as_they_should(case: int) -> None:
    base = product(CASES[case], latency=1e-12)
    assert product(CASES[case], latency=1e-12, link_bandwidth=90e9)[
        "communication_seconds"
    ] == pytest.approx(base["communication_seconds"] / 2)
    wide = product(CASES[case], latency=1e-12, bytes_per_param=4)
    assert wide["communication_seconds"] == pytest.approx(2 * base["communication_seconds"])
    assert (wide["flop"], wide["bytes"]) == (base["flop"], 2 * base["bytes"])
    open_ends = product(CASES[case], latency=1e-12, wrap="no")
    assert open_ends["communication_seconds"] == pytest.approx(2 * base["communication_seconds"])


def test_a_reduce_scatter_is_half_of_an_all_reduce() -> None:
    """The check of seed claim 002-L0888: half the bytes where a result in pieces will do."""
    whole, pieces = product(CASES[3]), product("A[I, J_X] * B[J_X, K] -> C[I_X, K]")
    assert whole["communication_seconds"] == 2 * pieces["communication_seconds"] > 0


def test_collectives_are_timed_by_the_calculator_of_collectives() -> None:
    """An axis each on a ring, two axes at once on a torus, a switch with one port."""
    fsdp = product(CASES[2], "X=4,Y=8")
    gathers = [
        collective(op="all-gather", bytes=size, chips=chips, link_bandwidth=45e9)["seconds"]
        for size, chips in ((4096 * 8192 * 2 / 4, 8), (8192 * 4096 * 2, 4))
    ]
    assert fsdp["communication_seconds"] == sum(gathers)
    text = "A[I, J_XYZ] * B[J_XYZ, K] -> C[I, K]"
    shape = {"op": "all-reduce", "bytes": 4096 * 4096 * 2, "chips": 64, "link_bandwidth": 45e9}
    torus = collective(**shape, topology="torus", axes=3, side_x=2, side_y=4)["seconds"]
    assert product(text, "X=2,Y=4,Z=8")["communication_seconds"] == torus
    switch = collective(**shape, topology="switch")["seconds"]
    assert product(text, "X=2,Y=4,Z=8", topology="switch")["communication_seconds"] == switch


# The book takes the longer of transfer and latency; the two add up, so each is tried alone.
SLOW, FAST = {"latency": 1e-12}, {"link_bandwidth": 1e18}


def test_the_quiz_on_the_time_of_a_gather() -> None:
    """austin2025sharding, pop quiz 2: bf16[2048, 8192] over 4 chips of TPU v5e takes 560 us.

    The chips are not closed to a ring; 256 x 256 is bound by the latency of 3 hops, 3 us.
    """
    found = product(
        "A[I, J_Y] * B[J, K] -> C[I, K]", "X=8,Y=4", "I=2048,J=8192,K=8", wrap="no", **SLOW
    )
    assert found["communication_seconds"] == pytest.approx(560 * MICRO, rel=0.01)
    small = product(
        "A[E_Y, F] * W[F, K] -> C[E, K]", "X=8,Y=4", "E=256,F=256,K=256", wrap="no", **FAST
    )
    assert small["communication_seconds"] == pytest.approx(3 * MICRO)


def test_question_two_of_the_book() -> None:
    """austin2025sharding, question 2, on 4 x 4 x 4: 23 us over one axis, 46 us over two.

    The book counts the block that a chip has already, as for a long ring; ours is less by 1/4 and
    1/16.
    """
    dims = "B=1024,D=4096,F=4096"
    one = product("A[B_X, D] * W[D, F_Y] -> C[B, F_Y]", "X=4,Y=4,Z=4", dims, **SLOW)
    assert one["collectives"] == ("all-gather of C over X",) and one["bytes"] == 2 * 1024 * 4096 / 4
    assert one["communication_seconds"] / (1 - 1 / 4) == pytest.approx(23 * MICRO, rel=0.02)
    two = product("A[B_XY, D] * W[D, F] -> C[B, F]", "X=4,Y=4,Z=4", dims, **SLOW)
    assert two["communication_seconds"] / (1 - 1 / 16) == pytest.approx(46 * MICRO, rel=0.02)


def test_question_three_of_the_book() -> None:
    """austin2025sharding, question 3: 128 values gathered over a ring of 4 take two hops, 2 us."""
    found = product("A[J_X] * B[J, K] -> C[K]", "X=4,Y=4,Z=4", "J=128,K=1", **FAST)
    assert found["communication_seconds"] == pytest.approx(2 * MICRO)


def test_question_four_of_the_book() -> None:
    """austin2025sharding, question 4: gather the weights, or multiply shards and add up.

    The second does 1/X of the arithmetic and moves 4BF bytes: twice an array of 2BF. For the first
    the text we read has 2BD bytes; the array that is gathered there is W[D, F], so it is 2DF.
    """
    dims, mesh = "B=512,D=8192,F=4096", "X=8"
    gather = product("A[B, D] * W[D_X, F] -> C[B, F]", mesh, dims, **SLOW)
    add = product("A[B, D_X] * W[D_X, F] -> C[B, F]", mesh, dims, **SLOW)
    assert gather["flop"] == 2 * 512 * 8192 * 4096 == 8 * add["flop"]
    assert gather["bytes"] == 2 * 8192 * 4096 and add["bytes"] == 2 * 512 * 4096
    ring = 2 * 45e9 / (1 - 1 / 8)
    assert add["communication_seconds"] == pytest.approx(4 * 512 * 4096 / ring)
    assert gather["communication_seconds"] == pytest.approx(2 * 8192 * 4096 / ring)


def test_question_nine_of_the_book() -> None:
    """austin2025sharding, question 9: gathering an operand against scattering the result.

    Gathering A[N, M] moves M/K times what scattering the result [N, K] does.
    """
    dims = "N=1024,M=8192,K=2048"
    gather = product("A[N, M_X] * B[M, K] -> C[N, K]", "X=4", dims, **SLOW)
    scatter = product("A[N, M_X] * B[M_X, K] -> C[N_X, K]", "X=4", dims, **SLOW)
    assert gather["communication_seconds"] / scatter["communication_seconds"] == pytest.approx(
        8192 / 2048
    )


def test_question_ten_of_the_book() -> None:
    """austin2025sharding, question 10.

    On a ring closed both ways an all-to-all takes a quarter of a gather of V/W.
    """
    chips = 16
    turn = product("A[I_X, J] * B[J, K] -> C[I, K_X]", f"X={chips}", **SLOW)
    gather = product("A[I_X, J] * B[J, K] -> C[I, K]", f"X={chips}", **SLOW)
    assert turn["collectives"] == ("all-to-all of C over X",)
    assert turn["communication_seconds"] / (
        gather["communication_seconds"] / (1 - 1 / chips)
    ) == pytest.approx(1 / 4)


def test_without_a_chip_the_plan_is_there_and_the_times_are_open() -> None:
    found = calculate("sharded-matmul", product=CASES[3], dims="I=8,J=8,K=8", mesh="X=2")
    assert (
        found["collectives"] == ("all-reduce of C over X",)
        and found["seconds"] is None
        and found["bound"] is None
    )
    assert "seconds, seconds_in_turn, bound need --peak and --link-bandwidth" in found.notes


def test_a_chip_gives_rates_topology_and_axes() -> None:
    asked = {"product": CASES[3], "dims": "I=4096,J=8192,K=4096", "mesh": "X=4"}
    torus, switch = (
        calculate("sharded-matmul", chip=chip, **asked) for chip in ("tpu-v5p", "h100-sxm")
    )
    assert torus.inputs["topology"].value == "torus" and torus.inputs["axes"].value == 3
    assert switch.inputs["topology"].value == "switch" and "axes" not in switch.inputs
    assert not any("choose with --axes" in note for note in torus.notes)
    fp8 = calculate("sharded-matmul", chip="h100-sxm", dtype="fp8", **asked)
    assert (
        fp8["bytes"] == switch["bytes"] / 2 and fp8["compute_seconds"] < switch["compute_seconds"]
    )


def test_a_mesh_beyond_the_fast_network_is_said() -> None:
    asked: dict[str, Any] = {"product": CASES[3], "dims": "I=64,J=64,K=64", "chip": "h100-sxm"}
    assert not any(
        "ends at" in note for note in calculate("sharded-matmul", mesh="X=8", **asked).notes
    )
    assert any(
        "ends at 8 chips" in note
        for note in calculate("sharded-matmul", mesh="X=16", **asked).notes
    )


WRONG = {
    "axes of the chip": (
        {"mesh": "X=2,Y=2,Z=2", "chip": "tpu-v5e"},
        r"3 axes .* \(X, Y, Z\), and the network 2",
    ),
    "four at once": (
        {"product": "A[I, J_WXYZ] * B[J_WXYZ, K] -> C[I, K]", "mesh": "W=2,X=2,Y=2,Z=2"},
        "all-reduce of C over WXYZ uses 4 axes at once; a torus has at most 3",
    ),
    "topology": ({"topology": "two-level"}, "unknown .*topology 'two-level'"),
    "one way": (
        {"wrap": "no", "links_per_axis": 1},
        "an axis of one link per chip has to be closed",
    ),
    "absurd": ({"dims": "I=1e12,J=1e12,K=8"}, "is not plausible"),
    "width": ({"bytes_per_param": 0}, "bytes.per.param is 0"),
}


@pytest.mark.parametrize(("changed", "message"), WRONG.values(), ids=WRONG)
def test_misuse(changed: dict[str, Any], message: str) -> None:
    base: dict[str, Any] = {"product": CASES[3], "mesh": "X=2", "dims": "I=64,J=64,K=64"}
    rates = {} if "chip" in changed else CHIP
    with pytest.raises((FlopbookError, UnknownName), match=message):
        calculate("sharded-matmul", **{**base, **rates, **changed})


def told_sums(case: int, **more: Any) -> float:
    """By how much fp32 sums are told to be slower; 0 where nothing is told."""
    sizes = "I=4096,J=8192,K=8192"
    asked = {"product": CASES[case], "dims": sizes, "mesh": "X=4,Y=4", **CHIP, **more}
    noted = calculate("sharded-matmul", **asked).omitted.get("sums_in_fp32")
    return noted.share if noted else 0.0


def test_sums_in_fp32_take_what_values_of_four_bytes_take() -> None:
    """Case three adds up partial sums; nothing else is sent, so all is as if values were wide."""
    sent = {"product": CASES[3], "dims": "I=4096,J=8192,K=8192", "mesh": "X=4,Y=4", **CHIP}
    narrow, wide = (calculate("sharded-matmul", **sent, bytes_per_param=n) for n in (2, 4))
    assert told_sums(3) == pytest.approx(wide["seconds"] / narrow["seconds"] - 1)
    assert told_sums(3, bytes_per_param=1) > 2 * told_sums(3) > 1
    assert told_sums(3, bytes_per_param=4) == told_sums(3, bytes_per_param=8) == 0
    assert told_sums(3, peak=1e12) == 0, "arithmetic hides them"
    assert told_sums(2) == told_sums(4) == 0, "gathers have no sums"


def on_a_board(mesh: str, **more: Any) -> float:
    """Seconds of the all-reduce of case three on a board of eight MI300X."""
    asked = {"product": CASES[3], "dims": "I=4096,J=8192,K=1024", "mesh": mesh, **more}
    return float(calculate("sharded-matmul", chip="mi300x", **asked)["communication_seconds"])


@pytest.mark.parametrize("chips", [2, 4, 8])
def test_chips_wired_in_pairs_use_a_link_to_each_that_takes_part(chips: int) -> None:
    """One link of the seven was taken for the port of a switch: eight chips were 7 times slower."""
    summed = 4096 * 1024 * 2
    expected = calculate("collective", op="all-reduce", bytes=summed, chips=chips, chip="mi300x")
    assert on_a_board(f"X={chips}") == pytest.approx(expected["seconds"])
    assert on_a_board(f"X={chips},Y={8 // chips}") == pytest.approx(expected["seconds"])
    assert on_a_board(f"X={chips}", topology="switch") < 1.1 * on_a_board("X=8")


def test_a_mesh_of_a_chip_without_one_needs_its_links() -> None:
    asked = {"product": CASES[3], "dims": "I=8,J=8,K=8", "mesh": "X=2", "topology": "mesh"}
    with pytest.raises(FlopbookError, match="a mesh needs --link-bandwidth"):
        calculate("sharded-matmul", chip="h100-sxm", **asked)
    assert calculate("sharded-matmul", chip="h100-sxm", link_bandwidth=5e10, **asked)["seconds"] > 0
