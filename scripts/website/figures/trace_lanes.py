"""A made-up trace of a GPU: launches above, two streams below, and what ends each gap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from flopbook.quantities.units import percent
from scripts.website.figures.drawing import Figure, Sheet, arrow, box, words
from scripts.website.figures.plotted import FigureValue

LAUNCH = 1.0  # what the CPU needs to put a kernel into a queue
_BAR = 24.0


class TracedKernel(NamedTuple):
    """A kernel as the program asks for it: its stream, its time, and what it waits for.

    `after` is a kernel of the other stream that has to end first, `read` the time for which the
    CPU, which waits for this kernel to end, is busy with what it has read.
    """

    name: str
    stream: str
    run: float
    after: str = ""
    read: float = 0.0


class TracedSpan(NamedTuple):
    """When something ran, on which lane."""

    name: str
    lane: str
    start: float
    end: float


PROGRAM = (
    TracedKernel("matmul 1", "compute", 5.0),
    TracedKernel("gather 2", "messages", 8.0),
    TracedKernel("matmul 2", "compute", 6.0, after="gather 2"),
    TracedKernel("gather 3", "messages", 6.0),
    TracedKernel("attention", "compute", 4.0),
    TracedKernel("matmul 3", "compute", 5.0, after="gather 3", read=1.5),
    TracedKernel("norm", "compute", 0.5),
    TracedKernel("cast", "compute", 0.5),
    TracedKernel("add", "compute", 0.5),
    TracedKernel("matmul 4", "compute", 5.0),
)
_NAMES = {"CPU": "CPU launches", "compute": "compute stream", "messages": "NCCL stream"}
_SHORT = {"CPU": "CPU", "compute": "GPU", "messages": "NCCL"}
# Under a gap: what made it.
_WAITS = {
    "exposed message": "exposed gather",
    "read-back": "read-back",
    "launch": "launches",
}
_ANCHORS = {"exposed message": "middle", "read-back": "end", "launch": "start"}


def traced(program: tuple[TracedKernel, ...] = PROGRAM) -> list[TracedSpan]:
    """Launches in the order of the program, kernels in the order of their stream.

    A kernel starts when its launch, the kernel before it and what it waits for have ended. The CPU
    runs ahead until it reads a result.
    """
    clock, ends, free = 0.0, dict[str, float](), {"compute": 0.0, "messages": 0.0}
    spans = []
    for kernel in program:
        spans.append(TracedSpan(kernel.name, "CPU", clock, clock + LAUNCH))
        clock += LAUNCH
        begun = max(clock, free[kernel.stream], ends.get(kernel.after, 0.0))
        ends[kernel.name] = free[kernel.stream] = begun + kernel.run
        spans.append(TracedSpan(kernel.name, kernel.stream, begun, begun + kernel.run))
        if kernel.read:
            spans.append(TracedSpan("read a result", "CPU", clock, ends[kernel.name] + kernel.read))
            clock = ends[kernel.name] + kernel.read
    return spans


def gaps(spans: list[TracedSpan]) -> list[TracedSpan]:
    """Where the compute stream is empty, named by what ends the gap."""
    busy = sorted((s.start, s.end) for s in spans if s.lane == "compute")
    found, last = [], busy[0][0]
    for start, end in busy:
        if start > last:
            found.append(TracedSpan(_reason(spans, last, start), "compute", last, start))
        last = max(last, end)
    return found


def _reason(spans: list[TracedSpan], begun: float, end: float) -> str:
    """What a gap waits for: a message that ends with it, a read-back in it, else its launch."""
    if any(s.lane == "messages" and s.end == end for s in spans):
        return "exposed message"
    if any(s.name == "read a result" and s.start <= begun < s.end for s in spans):
        return "read-back"
    return "launch"


def idle_share(spans: list[TracedSpan]) -> float:
    """Share of the time between its first and its last kernel in which compute has nothing."""
    busy = [span for span in spans if span.lane == "compute"]
    whole = max(span.end for span in busy) - min(span.start for span in busy)
    return sum(gap.end - gap.start for gap in gaps(spans)) / whole


def figure() -> Figure:
    """Three lanes with arrows from launches to kernels, and a name under each kind of gap."""
    spans = traced()
    kinds = [gap.name for gap in gaps(spans)]
    facts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    return Figure(
        f"The compute stream is empty for {percent(idle_share(spans))} of the time, for three "
        "reasons",
        f"Lanes of a trace: launches on the CPU, the compute stream and the NCCL stream. Gaps of "
        f"the compute stream by what ends them: {facts}.",
        "A constructed trace; an arrow leads from each launch to its kernel. From the left: a "
        "matmul waits for weights that are still being gathered, while the next gather hides; the "
        "CPU reads a number of the GPU and launches nothing meanwhile; then kernels are shorter "
        "than their launches, the queue is empty, and the arrows stand steep.",
        196,
        tuple(_lanes(spans, 106, 526, _NAMES)),
        narrow=Sheet(344, 196, tuple(_lanes(spans, 42, 298, _SHORT))),
        readings=tuple(
            FigureValue(_NAMES[span.lane], span.name, span.end - span.start, start=span.start)
            for span in spans
        ),
    )


def _lanes(
    spans: list[TracedSpan], left: float, width: float, names: Mapping[str, str]
) -> Iterator[str]:
    scale = width / max(span.end for span in spans)
    tops = {"CPU": 10.0, "compute": 78.0, "messages": 154.0}
    for lane, top in tops.items():
        yield words(left - 8, top + 16.5, names[lane], "end")
    yield from _arrows(spans, tops, left, scale)
    yield from _empty(gaps(spans), tops["compute"], left, scale)
    for span in spans:
        place = left + span.start * scale, tops[span.lane], (span.end - span.start) * scale, _BAR
        yield from _bar(span, place)


def _empty(found: list[TracedSpan], top: float, left: float, scale: float) -> Iterator[str]:
    """Hollow boxes, and under those of one kind what they wait for."""
    for gap in found:
        place = left + gap.start * scale, top, (gap.end - gap.start) * scale, _BAR
        yield box(*place, "fb-hollow", f"empty: {_WAITS[gap.name]}")
    for kind in dict.fromkeys(gap.name for gap in found):
        ends = [place for gap in found if gap.name == kind for place in (gap.start, gap.end)]
        places = {"start": min(ends), "middle": (min(ends) + max(ends)) / 2, "end": max(ends)}
        x = left + scale * places[_ANCHORS[kind]]
        yield words(x, top + _BAR + 17, _WAITS[kind], _ANCHORS[kind], "fb-strong")


def _bar(span: TracedSpan, place: tuple[float, float, float, float]) -> Iterator[str]:
    """Arithmetic is blue, messages orange, the CPU's work grey."""
    colour = {"CPU": "c5", "compute": "c0", "messages": "c1"}[span.lane]
    x, top, wide, high = place
    tip = f"{span.name}: {span.end - span.start:g} long, from {span.start:g} on"
    yield box(x, top, max(wide - 1, 1), high, f"fb-{colour}", tip)
    if wide > 6.2 * len(span.name):
        yield words(x + wide / 2, top + 16, span.name, kind=f"fb-small fb-on{colour[1:]}")


def _arrows(
    spans: list[TracedSpan], tops: Mapping[str, float], left: float, scale: float
) -> Iterator[str]:
    """From the end of each launch on the CPU to the start of its kernel."""
    launches = {span.name: span.end for span in spans if span.lane == "CPU"}
    for span in spans:
        if span.lane == "compute":
            start = left + launches[span.name] * scale, tops["CPU"] + _BAR
            yield arrow(start, (left + span.start * scale, tops["compute"] - 1), "fb-stroke")
