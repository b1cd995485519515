"""The order of passes on each stage where micro-batches enter at one end.

GPipe: Huang et al. 2019. 1F1B and interleaved: Narayanan et al. 2021. ZB-H1 and ZB-H2: Qi et al.,
Zero Bubble, 2024. ZB-V: Qi et al., Controllable Memory, 2024, in the fixed order in which
torch.distributed.pipelining runs it.
"""

from __future__ import annotations

from itertools import chain

from flopbook.pipelines.passes import Slots, Work, single


def gpipe(stage: int, stages: int, microbatches: int) -> Slots:
    """All forward passes, then all backward passes."""
    forward = [Work("F", m, stage) for m in range(microbatches)]
    return single([*forward, *(Work("A", m, stage) for m in range(microbatches))])


def one_by_one(stage: int, stages: int, microbatches: int) -> Slots:
    """1F1B: as many forward passes as stages lie ahead, then one of each in turn."""
    forward = [Work("F", m, stage) for m in range(microbatches)]
    backward = [Work("A", m, stage) for m in range(microbatches)]
    return single(_alternate(forward, backward, stages - stage - 1))


def interleaved(stage: int, stages: int, microbatches: int, virtual: int) -> Slots:
    """1F1B over `virtual` chunks on each stage: groups of micro-batches, as many as stages, go
    chunk by chunk.
    """
    if virtual == 1:
        return one_by_one(stage, stages, microbatches)
    order = [
        (group + inside, chunk)
        for group in range(0, microbatches, stages)
        for chunk in range(virtual)
        for inside in range(stages)
    ]
    forward = [Work("F", m, chunk * stages + stage) for m, chunk in order]
    backward = [Work("A", m, (virtual - 1 - chunk) * stages + stage) for m, chunk in order]
    return single(_alternate(forward, backward, 2 * (stages - stage - 1) + (virtual - 1) * stages))


def _alternate(forward: list[Work], backward: list[Work], warm: int) -> list[Work]:
    """`warm` forward passes, then forward and backward in turn, then the backward passes that are
    left.
    """
    warm = min(warm, len(forward))
    pairs = chain.from_iterable(zip(forward[warm:], backward, strict=False))
    return [*forward[:warm], *pairs, *backward[len(backward) - warm :]]


def zero_bubble(stage: int, stages: int, microbatches: int, ahead: int) -> Slots:
    """ZB-H1 (`ahead` 1) and ZB-H2 (`ahead` 2): later stages put off more weight passes, so all hold
    equally many.

    A stage starts `ahead` forward passes for each stage that lies ahead of it, and one more, and
    puts off `ahead` weight passes for each stage behind it. Where no forward pass is left, a weight
    pass takes its place.
    """
    started = min(ahead * (stages - stage - 1) + 1, microbatches)
    delay, weights = ahead * stage, 0
    passes = [Work("F", m, stage) for m in range(started)]
    for m in range(microbatches):
        passes.append(Work("B", m, stage))
        if m >= delay or started == microbatches:
            passes.append(Work("W", weights, stage))
            weights += 1
        if started < microbatches:
            passes.append(Work("F", started, stage))
            started += 1
    return single([*passes, *(Work("W", m, stage) for m in range(weights, microbatches))])


def zero_bubble_v(stage: int, stages: int, microbatches: int) -> Slots:
    """ZB-V: the way through the model goes down all stages and up again, so each stage has two
    chunks of it.

    The order is made for enough micro-batches to fill the V; with fewer, the passes of those
    missing are left out.
    """
    count = max(2 * stages - 1, microbatches)
    down, up = stage, 2 * stages - 1 - stage
    done = dict.fromkeys(((kind, chunk) for kind in "FBW" for chunk in (down, up)), 0)
    passes: list[Work] = []

    def go(chunk: int, kinds: str) -> None:
        for kind in kinds:
            passes.append(Work(kind, done[kind, chunk], chunk))
            done[kind, chunk] += 1

    for _ in range(2 * (stages - stage) - 1):
        go(down, "F")
    for _ in range(stage):
        go(up, "F")
        go(down, "F")
    for _ in range(stages - stage):
        go(up, "FBW")
    while done["F", up] < count:
        go(down, "FBW" if done["F", down] < count else "BW")
        go(up, "FBW")
    for _ in range(stage):
        go(down, "B")
        go(up, "B")
    for _ in range(stages - stage):
        go(down, "BW")
    for chunk in (up, down):
        go(chunk, "W" * (count - done["W", chunk]))
    return single([work for work in passes if work.microbatch < microbatches])
