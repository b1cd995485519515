"""The order of passes of DualPipe and DualPipe-V, as their repository runs them
(deepseek-ai/DualPipe).

Every device has two chunks and serves two streams of passes: stream 0 comes from the near end of
the pipeline, stream 1 from the far end. In DualPipe the streams are two halves of the batch that
enter at either end; in DualPipe-V they are the way down and the way up of the same micro-batches.
"""

from __future__ import annotations

from collections.abc import Callable

from flopbook.pipelines.passes import Slot, Slots, Work

# Which micro-batch and which chunk of the model the n-th pass of a stream is: (stream, n) ->
# (micro-batch, chunk).
Address = Callable[[int, int], tuple[int, int]]


def dualpipe(stage: int, stages: int, microbatches: int) -> Slots:
    """DualPipe: `stages` devices, half the micro-batches from either end."""
    half = microbatches // 2
    near = min(stage, stages - 1 - stage)

    def address(stream: int, n: int) -> tuple[int, int]:
        backwards = bool(stream) != (stage >= stages // 2)
        return (half + n, stages - 1 - stage) if backwards else (n, stage)

    return _Device(address).run(near, stages // 2, half)


def dualpipe_v(stage: int, stages: int, microbatches: int) -> Slots:
    """DualPipe-V: the way through the model goes down `stages` devices and up again."""

    def address(stream: int, n: int) -> tuple[int, int]:
        return n, 2 * stages - 1 - stage if stream else stage

    return _Device(address).run(stage, stages, microbatches)


class _Device:
    """Collects the passes of one device; counts them by stream, and keeps the weight passes that
    were put off.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self.slots: list[Slot] = []
        self.forwards, self.backwards = [0, 0], [0, 0]
        self.waiting: list[Work] = []

    def forward(self, stream: int) -> Work:
        work = Work("F", *self.address(stream, self.forwards[stream]))
        self.forwards[stream] += 1
        return work

    def backward(self, stream: int, split: bool = False) -> Work:
        work = Work("B" if split else "A", *self.address(stream, self.backwards[stream]))
        self.backwards[stream] += 1
        if split:
            self.waiting.append(work._replace(kind="W"))
        return work

    def add(self, *works: Work) -> None:
        """Passes that run at once."""
        self.slots.append(works)

    def weights(self) -> None:
        self.slots.append((self.waiting.pop(0),))

    def run(self, near: int, depth: int, count: int) -> Slots:
        """All passes of the device that is `near` the end of a pipeline of `depth`, with `count` in
        each stream.
        """
        self._fill(near, depth)
        for n in range(count - 2 * depth + near + 1):
            if (
                n == 0 and near == depth - 1
            ):  # not at once: the device in the middle would wait for itself
                self.add(self.forward(0))
                self.add(self.backward(1))
            else:
                self.add(self.forward(0), self.backward(1))
            self.add(self.forward(1), self.backward(0))
        for _ in range(depth - near - 1):
            self.add(self.backward(1))
            self.add(self.forward(1), self.backward(0))
        self._drain(near, depth)
        return tuple(self.slots)

    def _fill(self, near: int, depth: int) -> None:
        for _ in range(2 * (depth - near - 1)):
            self.add(self.forward(0))
        for _ in range(near + 1):
            self.add(self.forward(0))
            self.add(self.forward(1))
        for _ in range(depth - near - 1):
            self.add(self.backward(1, split=True))
            self.weights()
            self.add(self.forward(1))

    def _drain(self, near: int, depth: int) -> None:
        """The second half of the backward passes is split, so that their weight passes fill the
        end.
        """
        for n in range(2 * (near + 1)):
            self.add(self.backward(1 - n % 2, split=n >= near + 1))
        for _ in range(depth - near - 1):
            self.weights()
            self.add(self.backward(0, split=True))
        for _ in range(near + 1):
            self.weights()
