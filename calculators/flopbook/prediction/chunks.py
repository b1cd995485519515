"""What a pipeline gains from several model chunks on each stage, where nobody named a schedule."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

from flopbook.prediction import arrays
from flopbook.prediction.arrays import Mask, Numbers
from flopbook.prediction.layouts import OneRun, RunLayout
from flopbook.prediction.step_time import Parameters, step_parts
from flopbook.quantities.units import percent

# Of the step: what is worth a note.
WORTH = 0.1
# Embedding and head stand for a layer each, as in the 126 layers of Llama 3 405B on 16 stages.
ENDS = 2
# A stage may be short of this many layers in all, as embedding, head and a module that predicts a
# further token take their places: Llama 3 405B has 126 layers on 16 stages, DeepSeek-V3 has 61.
SHORT = 3
MOST_UNEVEN = 0.05


class Interleaving(NamedTuple):
    """The chunks of a stage with which a step takes least, and the share by which it is longer."""

    virtual: int
    share: float

    def told(self, stages: float, waits: float, seconds: float) -> str:
        """The note of a step of so many seconds, for `waits` of which a stage stands idle."""
        return (
            f"one model chunk on each of {stages:.0f} stages, which wait "
            f"{percent(waits / seconds)} of the step: interleaved, --virtual {self.virtual}, "
            f"it takes {seconds * (1 + self.share):.3g} s ({percent(self.share)})"
        )


def interleaving(
    run: RunLayout, parameters: Parameters, fits: Callable[[RunLayout], bool]
) -> Interleaving | None:
    """The fastest interleaved schedule that fits, where it saves more than a tenth of the step."""
    plain = _seconds(run, parameters)
    chunked = (run._replace(virtual=count, schedule="interleaved") for count in _chunks(run))
    timed = sorted((_seconds(one, parameters), int(one.virtual), one) for one in chunked)
    for seconds, virtual, one in timed:
        share = seconds / plain - 1
        if share > -WORTH:
            return None
        if fits(one):
            return Interleaving(virtual, share)
    return None


def is_even(layers: float, chunks: Numbers) -> Mask:
    """Whether chunks of a model hold equally many layers, but for the few that others replace."""
    short = arrays.ceil(layers / chunks) * chunks - layers
    return (short <= min(SHORT, MOST_UNEVEN * layers)) & (chunks <= layers)


def _chunks(run: RunLayout) -> Iterator[int]:
    """Chunks of a stage that hold equally many layers, in rounds that its micro-batches fill."""
    if run.pp < 2 or run.micro_batches % run.pp:
        return
    for chunks in range(2, int(run.shape.layers / run.pp) + 2):
        held = run.pp * chunks
        if held <= run.shape.layers + ENDS and -run.shape.layers % held <= ENDS:
            yield chunks


def _seconds(run: RunLayout, parameters: Parameters) -> float:
    return math.fsum(map(float, step_parts(OneRun(run), parameters)))
