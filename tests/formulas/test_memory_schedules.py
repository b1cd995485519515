"""Training memory under each order of passes.

What the schedules hold, and what DualPipe holds twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook import calculate
from flopbook.errors import FlopbookError
from flopbook.formulas import bubble, get_formula, memory
from flopbook.formulas.pipeline import SCHEDULES
from flopbook.formulas.training_omissions import copies_of_dualpipe
from flopbook.pipelines import plan, simulate
from flopbook.quantities.ops import inf

STATES = ("weights", "gradients", "optimizer")
# All but the activations, of which the fuller of the first and the last stage counts.
OTHERS = (
    *(*STATES, "stage_extra", "gathered", "working", "step"),
    *("communication", "reserved", "context"),
)
TWO_ENDED = ("zb-v", "dualpipe", "dualpipe-v")
every_schedule = pytest.mark.parametrize("schedule", SCHEDULES)
SHAPE: dict[str, Any] = {
    "params": 175e9,
    "layers": 96,
    "d_model": 12288,
    "heads": 96,
    "vocab": 51200,
    "d_ff": 49152,
    "ffn_kind": "plain",
    "tied_embeddings": "yes",
    "seq": 2048,
    "tp": 8,
    "pp": 8,
}


def held(schedule: str, **more: Any) -> dict[str, Any]:
    return memory(**{**SHAPE, "schedule": schedule, "microbatches": 32, **more})


@every_schedule
@given(st.integers(1, 24), st.integers(1, 8))
def test_memory_holds_what_the_bubble_says(schedule: str, half: int, groups: int) -> None:
    """One source for both.

    micro-batches in flight on the first stage, and their activations in proportion.
    """
    stages = 2 * half
    shape = {"pp": stages, "microbatches": 2 * stages * groups}
    out = held(schedule, **shape)
    wanted = bubble(schedule=schedule, stages=stages, microbatches=shape["microbatches"])[
        "peak_microbatches"
    ]
    assert out["inflight"] == wanted
    one = held("1f1b", pp=stages, microbatches=1)
    assert out["activations"] == pytest.approx(one["activations"] * wanted, rel=1e-12)


@every_schedule
def test_memory_holds_what_a_run_of_the_schedule_holds(schedule: str) -> None:
    """Pass by pass: the first stage, or with few micro-batches in ZB-V at most what it says."""
    for stages, microbatches in ((2, 4), (4, 8), (8, 20), (6, 24)):
        if schedule == "interleaved" and microbatches % stages:
            continue
        run = simulate(plan(schedule, stages, microbatches))
        out = held(schedule, pp=stages, microbatches=microbatches)
        assert out["inflight"] == max(run.held) == run.held[0]


def test_the_table_of_dualpipe() -> None:
    """deepseek2025dualpipe, README: parameters 1, 1 and 2 times.

    Activations PP, PP and PP + 1, for any PP.

    Its revision with DualPipe-V adds 2 times and PP + 1 on PP/2 devices, of chunks of a PP-th of
    the model: our stages are the devices, so the same is once the share of a device and stages +
    1/2.
    """
    for stages in (2, 4, 8, 16):
        out = {name: held(name, pp=stages) for name in ("1f1b", "zb-h1", "dualpipe")}
        assert [out[name]["inflight"] for name in out] == [stages, stages, stages + 1]
        for part in STATES:
            assert [out[name][part] / out["1f1b"][part] for name in out] == [1, 1, 2]
    folded, whole = held("dualpipe-v", pp=4), held("dualpipe", pp=8)
    assert folded["activations"] == pytest.approx(whole["activations"])
    assert all(folded[part] == pytest.approx(whole[part]) for part in STATES)


def test_the_memory_of_the_zero_bubble_schedules() -> None:
    """qi2024zero: ZB-H1 keeps the activations of 1F1B, p micro-batches; ZB-H2 2p - 1.
    qi2024pipeline: ZB-V keeps p.
    """
    out = {name: held(name)["activations"] for name in ("1f1b", "zb-h1", "zb-h2", "zb-v")}
    assert out["zb-h1"] == out["zb-v"] == out["1f1b"] and out["zb-h2"] == pytest.approx(
        out["1f1b"] * 15 / 8
    )


@pytest.mark.parametrize("schedule", TWO_ENDED)
@pytest.mark.parametrize("tied", ["yes", "no"])
def test_where_the_way_turns_the_first_device_has_both_ends(schedule: str, tied: str) -> None:
    """Embedding and head stand whole beside 1/p of each on average.

    One table serves both where they are tied.
    """
    copies, kinds = (2 if schedule == "dualpipe" else 1), (1 if tied == "yes" else 2)
    out = held(schedule, tied_embeddings=tied)
    table = 51200 * 12288 / 8
    assert out["stage_extra"] == pytest.approx(16 * table * kinds * (1 - copies / 8))
    states = sum(out[part] for part in OTHERS)
    assert out["total"] == pytest.approx(states + out["activations"] + out["logits"])


def test_two_stages_of_dualpipe_hold_the_whole_model_each() -> None:
    whole, out = held("1f1b", pp=1), held("dualpipe", pp=2)
    assert (
        all(out[part] == pytest.approx(whole[part]) for part in (*STATES, "stage_extra"))
        and not out["stage_extra"]
    )


@pytest.mark.parametrize("schedule", ["zb-h1", "zb-h2"])
def test_the_last_stage_is_as_full_as_the_first_and_has_the_logits(schedule: str) -> None:
    out = held(schedule)
    states = sum(out[part] for part in OTHERS)
    assert out["total"] == pytest.approx(states + out["activations"] + out["logits"])
    assert out["stage_extra"] == held("1f1b")["stage_extra"]


@every_schedule
def test_one_device_holds_the_same_under_any_order(schedule: str) -> None:
    if schedule == "dualpipe":
        return
    out, plain = held(schedule, pp=1, microbatches=2), held("1f1b", pp=1, microbatches=2)
    assert all(out[part] == plain[part] for part in (*STATES, "stage_extra", "logits"))
    expected = {"gpipe": 2, "dualpipe-v": 1.5}.get(schedule, 1)
    assert out["inflight"] == expected


@pytest.mark.parametrize("schedule", [s for s in SCHEDULES if s != "gpipe"])
def test_an_open_number_of_microbatches_is_many(schedule: str) -> None:
    assert held(schedule, microbatches=inf) == held(schedule, microbatches=1024)


@every_schedule
def test_arrays_equal_floats(schedule: str) -> None:
    stages, microbatches = np.array([2.0, 4.0, 16.0]), np.array([8.0, 16.0, 32.0])
    out = held(schedule, pp=stages, microbatches=microbatches)
    for i in range(3):
        single = held(schedule, pp=float(stages[i]), microbatches=float(microbatches[i]))
        assert {name: np.broadcast_to(value, 3)[i] for name, value in out.items()} == single


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schedule": "dualpipe", "pp": 5}, "dualpipe needs an even number of stages"),
        ({"schedule": "dualpipe", "pp": 1}, "dualpipe needs an even number of stages"),
        ({"schedule": "dualpipe", "microbatches": 17}, "an even number of micro-batches"),
        (
            {"schedule": "dualpipe", "microbatches": 14},
            "at least twice as many micro-batches as stages",
        ),
        (
            {"schedule": "dualpipe-v", "microbatches": 15},
            "at least twice as many micro-batches as stages",
        ),
        ({"schedule": "zb-v", "virtual": 2}, "virtual stages belong to the interleaved schedule"),
        ({"schedule": "dualpipe", "pp": np.array([4.0, 3.0])}, "an even number of stages"),
        ({"schedule": "zb-h3"}, "nearest: zb-h2, zb-h1"),
        ({"schedule": "dualpipe-v", "pp": 97}, "no layer"),
    ],
)
def test_shapes_that_a_schedule_does_not_run_are_refused(
    change: dict[str, Any], message: str
) -> None:
    with pytest.raises(FlopbookError, match=message):
        held(**{"schedule": "1f1b", **change})


def test_a_model_from_the_data() -> None:
    """Words are read in any case; DualPipe takes twice the weights from a model of the data."""
    run = {
        "model": "deepseek-v3",
        "seq": 4096,
        "dp": 128,
        "ep": 64,
        "zero": 1,
        "attention": "flash",
    }
    two = calculate("memory", pp=16, schedule="DualPipe", **run)
    one = calculate("memory", pp=16, schedule="1f1b", **run)
    assert two["inflight"] == 17 and two["weights"] == pytest.approx(2 * one["weights"])


@pytest.mark.parametrize(("zero", "parts"), [(0, ()), (1, ("optimizer",))])
def test_both_copies_of_dualpipe_may_share_what_zero_divides(
    zero: int, parts: tuple[str, ...]
) -> None:
    """Half of it, of whatever the stage divides."""
    run = {"params": 7e9, "layers": 32, "d_model": 4096, "heads": 32, "vocab": 32000, "d_ff": 11008}
    whole = calculate(
        "memory", **run, seq=128, pp=2, microbatches=8, schedule="dualpipe", zero=zero, dp=1
    )
    values = {name: value.value for name, value in whole.inputs.items()} | whole.outputs
    found = copies_of_dualpipe.value({**get_formula("memory").defaults, **values})
    assert found * whole["total"] == pytest.approx(-sum(whole[part] for part in parts) / 2)
    values |= {"zero": 3.0}
    every = sum(whole[part] for part in ("optimizer", "gradients", "weights"))
    assert copies_of_dualpipe.value(values) * whole["total"] == pytest.approx(-every / 2)
    assert copies_of_dualpipe.value(values | {"schedule": "1f1b"}) == 0
