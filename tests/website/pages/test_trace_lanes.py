"""A made-up trace: kernels wait for what they need, and each gap has one reason."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from flopbook.quantities.units import percent
from scripts.website.figures.trace_lanes import (
    LAUNCH,
    PROGRAM,
    TracedKernel,
    figure,
    gaps,
    idle_share,
    traced,
)


def test_the_three_reasons_are_drawn_each_under_its_gap() -> None:
    reasons = [gap.name for gap in gaps(traced())]
    assert list(dict.fromkeys(reasons)) == ["exposed message", "read-back", "launch"]
    drawn = figure()
    assert drawn.narrow is not None
    for parts in (drawn.parts, drawn.narrow.parts):
        text = "".join(parts)
        assert text.count("fb-hollow") == len(reasons)
        assert all(words in text for words in ("exposed gather", "read-back", "launches"))
    assert percent(idle_share(traced())) in drawn.title


@given(st.lists(st.floats(0.1, 9.0), min_size=1, max_size=12))
def test_a_stream_runs_one_kernel_at_a_time_and_none_before_its_launch(runs: list[float]) -> None:
    program = tuple(TracedKernel(f"k{n}", "compute", run) for n, run in enumerate(runs))
    spans = traced(program)
    kernels = [span for span in spans if span.lane == "compute"]
    launches = {span.name: span.end for span in spans if span.lane == "CPU"}
    assert all(a.end <= b.start for a, b in itertools.pairwise(kernels))
    assert all(launches[kernel.name] <= kernel.start for kernel in kernels)


@given(st.integers(1, 20), st.floats(0.1, 5.0))
def test_even_kernels_take_what_the_chapter_says(count: int, run: float) -> None:
    """n kernels need n times the longer of launch and kernel, but for the first and the last."""
    spans = traced(tuple(TracedKernel(f"k{n}", "compute", run) for n in range(count)))
    end = max(span.end for span in spans)
    assert abs(end - (count * max(LAUNCH, run) + min(LAUNCH, run))) < 1e-9


def test_a_message_that_ends_in_time_leaves_no_gap() -> None:
    """The third product of the program waits for a gather too, and that one hides."""
    spans = {(span.name, span.lane): span for span in traced()}
    assert spans["gather 3", "messages"].end <= spans["attention", "compute"].end
    assert spans["matmul 3", "compute"].start == spans["attention", "compute"].end
    assert [kernel.after for kernel in PROGRAM].count("gather 3") == 1


def test_the_cpu_launches_nothing_while_it_reads() -> None:
    spans = traced()
    (read,) = [span for span in spans if span.name == "read a result"]
    launches = [span for span in spans if span.lane == "CPU" and span is not read]
    assert all(span.end <= read.start or span.start >= read.end for span in launches)
