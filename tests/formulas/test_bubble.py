"""Pipeline bubble: the closed form against a simulation of each schedule."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.errors import FlopbookError
from flopbook.formulas import bubble
from tests.support.cases import every

counts = st.integers(min_value=1, max_value=2000)


@dataclass(frozen=True)
class Task:
    """One pass of one micro-batch through one chunk of the model."""

    forward: bool
    microbatch: int
    chunk: int


def order(schedule: str, stage: int, stages: int, microbatches: int, chunks: int) -> list[Task]:
    """The tasks of a stage in the order in which it runs them."""
    total = microbatches * chunks
    if schedule == "gpipe":
        warm = total
    elif chunks == 1:
        warm = stages - stage - 1
    else:  # as in Megatron-LM: enough to keep the backward passes of later chunks fed
        warm = 2 * (stages - stage - 1) + (chunks - 1) * stages

    def unit(k: int, forward: bool) -> Task:
        """Groups of K micro-batches go through one chunk after another; backward in reverse."""
        group, inside = divmod(k, stages * chunks)
        chunk, position = divmod(inside, stages)
        return Task(forward, group * stages + position, chunk if forward else chunks - 1 - chunk)

    if chunks == 1:
        forwards = [Task(True, m, 0) for m in range(microbatches)]
        backwards = [Task(False, m, 0) for m in range(microbatches)]
    else:
        forwards = [unit(k, True) for k in range(total)]
        backwards = [unit(k, False) for k in range(total)]
    warm = min(warm, total)
    steady = itertools.chain.from_iterable(zip(forwards[warm:], backwards, strict=False))
    return [*forwards[:warm], *steady, *backwards[total - warm :]]


def before(task: Task, stage: int, stages: int, chunks: int) -> tuple[int, Task] | None:
    """Stage and task whose result a task waits for."""
    if task.forward:
        if stage > 0:
            return stage - 1, task
        return (stages - 1, Task(True, task.microbatch, task.chunk - 1)) if task.chunk else None
    if stage < stages - 1:
        return stage + 1, task
    if task.chunk < chunks - 1:
        return 0, Task(False, task.microbatch, task.chunk + 1)
    return stage, Task(True, task.microbatch, task.chunk)


def simulate(
    schedule: str, stages: int, microbatches: int, chunks: int, forward: int, backward: int
) -> tuple[Fraction, Fraction]:
    """Idle share of a stage and its peak number of micro-batches held, from a run step by step."""
    queues = [order(schedule, s, stages, microbatches, chunks) for s in range(stages)]
    ended: dict[tuple[int, Task], int] = {}
    clock, position = [0] * stages, [0] * stages
    while any(position[s] < len(queues[s]) for s in range(stages)):
        moved = False
        for s in range(stages):
            while position[s] < len(queues[s]):
                task = queues[s][position[s]]
                needed = before(task, s, stages, chunks)
                if needed is not None and needed not in ended:
                    break
                start = max(clock[s], ended[needed] if needed else 0)
                clock[s] = ended[s, task] = start + (forward if task.forward else backward)
                position[s] += 1
                moved = True
        assert moved, "the schedule waits for itself"
    busy = microbatches * chunks * (forward + backward)
    held = max(max(itertools.accumulate(1 if t.forward else -1 for t in queue)) for queue in queues)
    return 1 - Fraction(busy, max(clock)), Fraction(held, chunks)


SHAPES = [
    *[(s, k, m, 1) for s in ("gpipe", "1f1b") for k in (1, 2, 3, 4, 8) for m in (1, 2, 5, 8, 19)],
    *[
        ("interleaved", k, k * n, v)
        for k in (1, 2, 3, 4, 6)
        for n in (1, 2, 3, 5)
        for v in (1, 2, 3, 4)
    ],
]


@every("forward, backward", [(1, 1), (1, 2), (3, 5), (2, 1)])
@every("schedule, stages, microbatches, virtual", SHAPES)
def test_closed_form_equals_simulation(
    schedule: str, stages: int, microbatches: int, virtual: int, forward: int, backward: int
) -> None:
    """Share and memory of each schedule, whatever the lengths of forward and backward pass."""
    idle, held = simulate(schedule, stages, microbatches, virtual, forward, backward)
    out = bubble(schedule=schedule, stages=stages, microbatches=microbatches, virtual=virtual)
    assert out["fraction"] == pytest.approx(float(idle), abs=1e-12)
    assert out["overhead"] == pytest.approx(float(idle / (1 - idle)), abs=1e-12)
    assert out["peak_microbatches"] == pytest.approx(float(held), rel=1e-12)


@given(counts, st.sampled_from(["gpipe", "1f1b", "interleaved"]))
def test_one_stage_has_no_bubble(microbatches: int, schedule: str) -> None:
    out = bubble(stages=1, microbatches=microbatches, schedule=schedule)
    assert out["fraction"] == out["overhead"] == 0


@given(counts, counts)
def test_the_share_lies_between_nothing_and_everything(stages: int, microbatches: int) -> None:
    out = bubble(stages=stages, microbatches=microbatches)
    assert 0 <= out["fraction"] < 1
    assert out["fraction"] == pytest.approx(out["overhead"] / (1 + out["overhead"]), rel=1e-12)


@given(st.integers(2, 500), counts)
def test_more_microbatches_shrink_it_and_more_stages_grow_it(
    stages: int, microbatches: int
) -> None:
    here = bubble(stages=stages, microbatches=microbatches)["fraction"]
    assert bubble(stages=stages, microbatches=microbatches + 1)["fraction"] < here
    assert bubble(stages=stages + 1, microbatches=microbatches)["fraction"] > here


def test_without_end_of_microbatches_nothing_is_lost() -> None:
    assert bubble(stages=64, microbatches=1e6)["fraction"] < 1e-4


@given(st.integers(1, 100), st.integers(1, 100))
def test_interleaved_with_one_chunk_is_1f1b(stages: int, groups: int) -> None:
    shape = {"stages": stages, "microbatches": stages * groups}
    assert bubble(schedule="interleaved", virtual=1, **shape) == bubble(schedule="1f1b", **shape)


@given(st.integers(2, 100), st.integers(1, 100), st.integers(1, 16))
def test_chunks_divide_the_overhead_and_cost_memory(stages: int, groups: int, virtual: int) -> None:
    shape = {"stages": stages, "microbatches": stages * groups}
    plain, interleaved = bubble(**shape), bubble(schedule="interleaved", virtual=virtual, **shape)
    assert interleaved["overhead"] == pytest.approx(plain["overhead"] / virtual, rel=1e-12)
    assert interleaved["peak_microbatches"] >= plain["peak_microbatches"]
    assert interleaved["peak_microbatches"] <= shape["microbatches"]


@given(st.integers(1, 100), st.integers(1, 1000))
def test_1f1b_only_saves_memory(stages: int, microbatches: int) -> None:
    gpipe = bubble(schedule="gpipe", stages=stages, microbatches=microbatches)
    other = bubble(schedule="1f1b", stages=stages, microbatches=microbatches)
    assert other["fraction"] == gpipe["fraction"]
    assert gpipe["peak_microbatches"] == microbatches
    assert other["peak_microbatches"] == min(stages, microbatches)


def test_four_stages_and_eight_microbatches_as_printed() -> None:
    """(K - 1)/(M + K - 1) with K = 4 and M = 8 is 3/11.

    slides2025scaling, ledger row slides-pipeline-bubble.
    """
    assert bubble(schedule="gpipe", stages=4, microbatches=8)["fraction"] == pytest.approx(
        3 / 11, rel=1e-15
    )


def test_arrays_equal_floats() -> None:
    stages, groups = np.array([1.0, 2.0, 8.0]), np.array([1.0, 4.0, 32.0])
    for schedule, virtual in (("gpipe", 1), ("1f1b", 1), ("interleaved", 4)):
        out = bubble(
            stages=stages, microbatches=stages * groups, schedule=schedule, virtual=virtual
        )
        for i, (k, g) in enumerate(zip(stages, groups, strict=True)):
            single = bubble(
                stages=float(k), microbatches=float(k * g), schedule=schedule, virtual=virtual
            )
            assert {name: np.broadcast_to(v, 3)[i] for name, v in out.items()} == single


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"schedule": "gpipe", "virtual": 2}, "virtual stages belong to the interleaved schedule"),
        (
            {"schedule": "1f1b", "virtual": np.array([1.0, 2.0])},
            "virtual stages belong to the interleaved schedule",
        ),
        ({"schedule": "interleaved", "microbatches": 6}, "multiple of the stages"),
        (
            {"schedule": "interleaved", "microbatches": np.array([8.0, 6.0])},
            "multiple of the stages",
        ),
        ({"schedule": "zero-bubble"}, "unknown schedule 'zero-bubble'"),
        ({"schedule": np.array(["gpipe", "1f1b"])}, "unknown schedule"),
        ({"schedule": 4}, "unknown schedule '4'"),
        ({"stages": 0}, "stages is 0, expected at least 1"),
        ({"stages": 4.0000001}, r"stages is 4\.0000001.*, expected a whole number"),
        ({"microbatches": -8}, "microbatches is -8, expected at least 1"),
    ],
)
def test_shapes_that_no_schedule_runs_are_refused(given_: dict[str, object], message: str) -> None:
    with pytest.raises(FlopbookError, match=message):
        bubble(**{"stages": 4, "microbatches": 8, **given_})
