"""The order of passes on each stage where micro-batches enter at one end.

GPipe: Huang et al. 2019. 1F1B and interleaved: Narayanan et al. 2021. ZB-H1 and ZB-H2: Qi et al.,
Zero Bubble, 2024. ZB-V: Qi et al., Controllable Memory, 2024, in the fixed order in which
torch.distributed.pipelining runs it.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain

from flopbook.pipelines.passes import StageOrder, StagePass, one_at_a_time


def gpipe(stage: int, stages: int, microbatches: int) -> StageOrder:
    """All forward passes, then all backward passes."""
    forward = _passes("F", stage, microbatches)
    backward = _passes("A", stage, microbatches)
    return one_at_a_time([*forward, *backward])


def one_by_one(stage: int, stages: int, microbatches: int) -> StageOrder:
    """1F1B: as many forward passes as stages lie ahead, then one of each in turn."""
    forward = _passes("F", stage, microbatches)
    backward = _passes("A", stage, microbatches)
    return one_at_a_time(_alternate(forward, backward, warm_up=stages - stage - 1))


def interleaved(stage: int, stages: int, microbatches: int, virtual: int) -> StageOrder:
    """1F1B over `virtual` chunks on each stage.

    Groups of micro-batches, as many as there are stages, go through chunk by chunk.
    """
    if virtual == 1:
        return one_by_one(stage, stages, microbatches)
    forward: list[StagePass] = []
    backward: list[StagePass] = []
    for group in range(0, microbatches, stages):
        members = range(group, group + stages)
        for turn in range(virtual):
            down, up = turn * stages + stage, (virtual - 1 - turn) * stages + stage
            forward += [StagePass("F", m, down) for m in members]
            backward += [StagePass("A", m, up) for m in members]
    # Twice as many as in 1F1B, and all passes through the chunks before the last.
    warm_up = 2 * (stages - stage - 1) + (virtual - 1) * stages
    return one_at_a_time(_alternate(forward, backward, warm_up))


def zero_bubble(stage: int, stages: int, microbatches: int, ahead: int) -> StageOrder:
    """ZB-H1 (`ahead` 1) and ZB-H2 (`ahead` 2): weight passes are put off to fill the bubble.

    A stage starts `ahead` forward passes for each stage that lies ahead of it, and one more, and
    puts off `ahead` weight passes for each stage behind it, so all stages hold equally many
    micro-batches. Where no forward pass is left, a weight pass takes its place.
    """
    started = min(ahead * (stages - stage - 1) + 1, microbatches)
    put_off = ahead * stage
    weight_passes = 0
    passes = _passes("F", stage, started)
    for m in range(microbatches):
        passes.append(StagePass("B", m, stage))
        if m >= put_off or started == microbatches:
            passes.append(StagePass("W", weight_passes, stage))
            weight_passes += 1
        if started < microbatches:
            passes.append(StagePass("F", started, stage))
            started += 1
    remaining = _passes("W", stage, microbatches)[weight_passes:]
    return one_at_a_time([*passes, *remaining])


def zero_bubble_v(stage: int, stages: int, microbatches: int) -> StageOrder:
    """ZB-V: the model goes down all stages and up again, so each stage has two chunks of it.

    The order is made for enough micro-batches to fill the V; with fewer, the passes of those
    missing are left out.
    """
    count = max(2 * stages - 1, microbatches)
    down, up = stage, 2 * stages - 1 - stage
    passes: list[StagePass] = []
    # The next micro-batch of each kind of pass through each chunk.
    upcoming: Counter[tuple[str, int]] = Counter()

    def run(chunk: int, kinds: str) -> None:
        for kind in kinds:
            passes.append(StagePass(kind, upcoming[kind, chunk], chunk))
            upcoming[kind, chunk] += 1

    # Fill: forward passes down the V, joined by those that come up again.
    for _ in range(2 * (stages - stage) - 1):
        run(down, "F")
    for _ in range(stage):
        run(up, "F")
        run(down, "F")
    for _ in range(stages - stage):
        run(up, "FBW")
    # Steady state: all three passes of a chunk in turn.
    while upcoming["F", up] < count:
        run(down, "FBW" if upcoming["F", down] < count else "BW")
        run(up, "FBW")
    # Drain: backward passes for the inputs first, since the stage before waits for them.
    for _ in range(stage):
        run(down, "B")
        run(up, "B")
    for _ in range(stages - stage):
        run(down, "BW")
    for chunk in (up, down):
        run(chunk, "W" * (count - upcoming["W", chunk]))
    return one_at_a_time(p for p in passes if p.microbatch < microbatches)


def _passes(kind: str, stage: int, count: int) -> list[StagePass]:
    """Passes of one kind of the first `count` micro-batches, on a stage of one chunk."""
    return [StagePass(kind, m, stage) for m in range(count)]


def _alternate(
    forward: list[StagePass], backward: list[StagePass], warm_up: int
) -> list[StagePass]:
    """`warm_up` forward passes, then forward and backward in turn, then backward passes alone."""
    warm_up = min(warm_up, len(forward))
    pairs = zip(forward[warm_up:], backward, strict=False)
    drained = len(backward) - warm_up
    return [*forward[:warm_up], *chain.from_iterable(pairs), *backward[drained:]]
