"""Pipelines, run pass by pass: every stage does its list in order, each pass after what it needs.

Orders from Huang et al. 2019 (GPipe) and Narayanan et al. 2021, figures 3 and 4 (1F1B and
interleaved 1F1B); bubbles of split backward passes from Qi et al. 2023, table 1, and of DualPipe
from DeepSeek-AI 2024 (V3), table 2.
"""

from __future__ import annotations

Pass = tuple[str, int, int]  # forward or backward, micro-batch, chunk of the whole model


def gpipe(stage: int, stages: int, batches: int) -> list[Pass]:
    """All forward passes, then all backward ones."""
    forward = [("F", i, stage) for i in range(batches)]
    return forward + [("B", i, stage) for i in reversed(range(batches))]


def one_f_one_b(stage: int, stages: int, batches: int) -> list[Pass]:
    """Warm up as deep as the stage lies before the end, then in turn."""
    warm = min(stages - stage - 1, batches)
    order: list[Pass] = [("F", i, stage) for i in range(warm)]
    for i in range(batches):
        if warm + i < batches:
            order.append(("F", warm + i, stage))
        order.append(("B", i, stage))
    return order


def interleaved(stage: int, stages: int, batches: int, chunks: int) -> list[Pass]:
    """Groups of `stages` micro-batches go through one chunk after the other."""
    total = batches * chunks

    def virtual(index: int, forward: bool) -> Pass:
        group, within = divmod(index, stages * chunks)
        chunk, place = divmod(within, stages)
        if not forward:
            chunk = chunks - 1 - chunk
        return ("F" if forward else "B", group * stages + place, chunk * stages + stage)

    warm = min(total, 2 * (stages - stage - 1) + (chunks - 1) * stages)
    order = [virtual(i, True) for i in range(warm)]
    for i in range(total):
        if warm + i < total:
            order.append(virtual(warm + i, True))
        order.append(virtual(i, False))
    return order


def run(orders: list[list[Pass]], chunks: int, forward: float, backward: float) -> dict[str, float]:
    """Time of all stages and the most activations that one holds, in whole stages."""
    last = len(orders) * chunks - 1
    done: dict[Pass, float] = {}
    clocks, places = [0.0] * len(orders), [0] * len(orders)
    held, most = [0] * len(orders), 0
    left = sum(map(len, orders))
    while left:
        for stage, order in enumerate(orders):
            while places[stage] < len(order):
                kind, batch, block = order[places[stage]]
                needed = _needed(kind, batch, block, last)
                if needed is not None and needed not in done:
                    break
                begin = max(clocks[stage], done[needed] if needed else 0.0)
                clocks[stage] = begin + (forward if kind == "F" else backward) / chunks
                done[kind, batch, block] = clocks[stage]
                held[stage] += 1 if kind == "F" else -1
                most = max(most, held[stage])
                places[stage] += 1
                left -= 1
    batches = len(orders[0]) / 2 / chunks
    total, ideal = max(clocks), batches * (forward + backward)
    return {
        "fraction": 1 - ideal / total,
        "overhead": total / ideal - 1,
        "ideal_seconds": ideal,
        "total_seconds": total,
        "peak_microbatches": most / chunks,
    }


def _needed(kind: str, batch: int, block: int, last: int) -> Pass | None:
    if kind == "F":
        return ("F", batch, block - 1) if block else None
    return ("B", batch, block + 1) if block < last else ("F", batch, block)


def simulated(
    schedule: str, stages: int, batches: int, chunks: int = 1, times: tuple[float, float] = (1, 2)
) -> dict[str, float]:
    """A whole step of a schedule whose backward pass is one."""
    if schedule == "interleaved":
        orders = [interleaved(s, stages, batches, chunks) for s in range(stages)]
    else:
        order = {"gpipe": gpipe, "1f1b": one_f_one_b}[schedule]
        orders = [order(s, stages, batches) for s in range(stages)]
    return run(orders, chunks, *times)


def split_bubble(schedule: str, stages: int, f: float, b: float, w: float) -> float:
    """Idle seconds of a stage in the published tables, B and W the two halves of backward."""
    if schedule == "zb-h1":
        return (stages - 1) * (f + b - w)
    if schedule == "zb-h2":
        return (stages - 1) * (f + b - 2 * w)
    if schedule == "dualpipe":
        return (stages / 2 - 1) * (f + 2 * (b + w) - 3 * w)
    raise ValueError(schedule)
