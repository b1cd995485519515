"""The order of passes of DualPipe and DualPipe-V, as deepseek-ai/DualPipe runs them.

Every device has two chunks and serves two streams of passes: stream 0 comes from the near end of
the pipeline, stream 1 from the far end. In DualPipe the streams are two halves of the batch that
enter at either end; in DualPipe-V they are the way down and the way up of the same micro-batches.
"""

from __future__ import annotations

from collections.abc import Callable

from flopbook.pipelines.passes import Slot, StageOrder, StagePass

# (stream, n) -> (micro-batch, chunk of the model) of the n-th pass of a stream.
Address = Callable[[int, int], tuple[int, int]]
NEAR, FAR = 0, 1  # the two streams


def dualpipe(stage: int, stages: int, microbatches: int) -> StageOrder:
    """DualPipe: `stages` devices, half the micro-batches from either end."""
    half = microbatches // 2
    mirrored = stages - 1 - stage

    def address(stream: int, n: int) -> tuple[int, int]:
        # For the second half of the devices, the near end is the other one.
        backwards = (stream == FAR) != (stage >= stages // 2)
        return (half + n, mirrored) if backwards else (n, stage)

    return _Device(address).run(min(stage, mirrored), stages // 2, half)


def dualpipe_v(stage: int, stages: int, microbatches: int) -> StageOrder:
    """DualPipe-V: the way through the model goes down `stages` devices and up again."""

    def address(stream: int, n: int) -> tuple[int, int]:
        return n, 2 * stages - 1 - stage if stream == FAR else stage

    return _Device(address).run(stage, stages, microbatches)


class _Device:
    """Collects the passes of one device.

    Counts them by stream, and keeps the weight passes that were put off.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self.slots: list[Slot] = []
        self.forwards = [0, 0]
        self.backwards = [0, 0]
        self.waiting: list[StagePass] = []

    def forward(self, stream: int) -> StagePass:
        """The next forward pass of a stream."""
        microbatch, chunk = self.address(stream, self.forwards[stream])
        self.forwards[stream] += 1
        return StagePass("F", microbatch, chunk)

    def backward(self, stream: int) -> StagePass:
        """The next backward pass of a stream, in one piece."""
        microbatch, chunk = self.address(stream, self.backwards[stream])
        self.backwards[stream] += 1
        return StagePass("A", microbatch, chunk)

    def backward_input(self, stream: int) -> StagePass:
        """The next backward pass for the inputs; the one for the weights is put off."""
        stage_pass = self.backward(stream)
        self.waiting.append(stage_pass._replace(kind="W"))
        return stage_pass._replace(kind="B")

    def add(self, *passes: StagePass) -> None:
        """Run passes at once."""
        self.slots.append(passes)

    def add_weights(self) -> None:
        """Run the weight pass that has waited longest."""
        self.add(self.waiting.pop(0))

    def run(self, near: int, depth: int, count: int) -> StageOrder:
        """All passes of the device that is `near` the end of a pipeline of `depth`.

        Each stream has `count` passes of each kind.
        """
        self._fill(near, depth)
        self._alternate(near, depth, count)
        self._drain(near, depth)
        return tuple(self.slots)

    def _fill(self, near: int, depth: int) -> None:
        for _ in range(2 * (depth - near - 1)):
            self.add(self.forward(NEAR))
        for _ in range(near + 1):
            self.add(self.forward(NEAR))
            self.add(self.forward(FAR))
        for _ in range(depth - near - 1):
            self.add(self.backward_input(FAR))
            self.add_weights()
            self.add(self.forward(FAR))

    def _alternate(self, near: int, depth: int, count: int) -> None:
        """A forward and a backward pass at once, of the two streams in turn."""
        in_the_middle = near == depth - 1
        for n in range(count - 2 * depth + near + 1):
            if n == 0 and in_the_middle:  # not at once: the device would wait for itself
                self.add(self.forward(NEAR))
                self.add(self.backward(FAR))
            else:
                self.add(self.forward(NEAR), self.backward(FAR))
            self.add(self.forward(FAR), self.backward(NEAR))
        for _ in range(depth - near - 1):
            self.add(self.backward(FAR))
            self.add(self.forward(FAR), self.backward(NEAR))

    def _drain(self, near: int, depth: int) -> None:
        """The second half of the backward passes is split: their weight passes fill the end."""
        for n in range(2 * (near + 1)):
            stream = NEAR if n % 2 else FAR
            if n <= near:
                self.add(self.backward(stream))
            else:
                self.add(self.backward_input(stream))
        for _ in range(depth - near - 1):
            self.add_weights()
            self.add(self.backward_input(NEAR))
        for _ in range(near + 1):
            self.add_weights()
