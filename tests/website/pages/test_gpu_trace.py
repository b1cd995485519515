"""A recorded step: what is kept of a profiler's file, and what the chapter says of it."""

from __future__ import annotations

import gzip
import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.errors import FlopbookError, UnknownName
from flopbook.hardware.chip import chip
from flopbook.quantities.units import percent
from scripts import record_trace
from scripts.website.figures.gpu_trace import figure
from scripts.website.measured.gpu_traces import FILE, KINDS, gpu_step, gpu_steps, reduced

NAMES = {
    "products": "nvjet_sm90_tst_256x128",
    "attention": "cudnn_generated_fort_native_sdpa_sm90_flash_fprop",
    "memory-bound": "void at::native::elementwise_kernel<128>",
    "optimizer": "void at::native::multi_tensor_apply_kernel<Adam>",
}


def trace(steps: list[list[str]], pitch: float = 10.0, lead: float = 3.0) -> dict[str, Any]:
    """A profiler's file: kernels of 4 us every `pitch`, launched `lead` before they begin."""
    events: list[dict[str, Any]] = [{"ph": "M", "name": "process_name", "args": {}}]
    for number, kind in enumerate(itertools.chain(*steps)):
        start, arguments = 1000.0 + pitch * number, {"correlation": number, "stream": 7}
        launch = {"cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": start - lead, "dur": 1}
        kernel = {"cat": "kernel", "name": NAMES[kind], "ts": start, "dur": 4.0}
        events += [{"ph": "X", "args": arguments} | event for event in (kernel, launch)]
    return {"traceEvents": events}


STEP = ["products", "memory-bound", "attention", "products", "optimizer", "optimizer"]


@given(st.integers(2, 4), st.floats(5.0, 50.0), st.floats(0.0, 4.0))
def test_the_last_step_is_kept_from_the_end_of_the_one_before(
    count: int, pitch: float, lead: float
) -> None:
    rows = reduced(trace([STEP] * count, pitch, lead))
    names = [name for name, _ in KINDS]
    assert [names[int(kind)] for kind, *_ in rows] == STEP
    for place, (_, launch, start, run) in enumerate(rows):
        assert start == pytest.approx(pitch * (place + 1) - 4.0, abs=0.11)
        assert start - launch == pytest.approx(lead, abs=0.11)
        assert run == 4.0


@pytest.mark.parametrize("steps", [[], [STEP], [STEP, ["products", "attention"]], [["optimizer"]]])
def test_a_step_whose_beginning_is_unknown_is_refused(steps: list[list[str]]) -> None:
    with pytest.raises(FlopbookError, match="no two steps"):
        reduced(trace(steps))


def test_a_kernel_that_a_graph_launched_counts_from_its_start() -> None:
    recorded = trace([STEP, STEP])
    recorded["traceEvents"] = [
        event for event in recorded["traceEvents"] if event.get("cat") != "cuda_runtime"
    ]
    assert all(launch == start for _, launch, start, _ in reduced(recorded))


def test_the_script_prints_rows_and_says_what_it_cannot_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packed = tmp_path / "trace.json.gz"
    packed.write_bytes(gzip.compress(json.dumps(trace([STEP, STEP])).encode()))
    assert record_trace.main([str(packed)]) == 0
    assert json.loads(capsys.readouterr().out) == reduced(trace([STEP, STEP]))
    bad = {"none.json": None, "torn.json.gz": b"\x1f\x8b", "list.json": b"[]", "words.json": b"no"}
    for name, content in bad.items():
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content)
        assert record_trace.main([str(path)]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"record_trace: {name} ")


def test_recorded_kernels_run_one_after_the_other_and_after_their_launches() -> None:
    for step in gpu_steps().values():
        assert all(a.end <= b.start + 1e-9 for a, b in itertools.pairwise(step.kernels))
        assert all(kernel.launch < kernel.start for kernel in step.kernels)
        assert step.busy == pytest.approx(sum(step.spent(name) for name, _ in KINDS))
        assert 0 < step.busy < step.seconds
        assert step.longest_gap < step.seconds - step.busy


def test_the_kernels_do_what_the_chapter_counts() -> None:
    """Three products for each of four matrices in each of four layers; none beats the chip."""
    layout = json.loads(FILE.read_text(encoding="utf-8"))
    weights = 12 * layout["layers"] * layout["d_model"] ** 2
    h100 = chip(layout["chip"])
    for name in ("written", "compiled"):
        step = gpu_step(name)
        kinds = [kernel.kind for kernel in step.kernels]
        assert kinds.count("products") == 3 * 4 * layout["layers"]
        floor = 6 * weights * layout["tokens"] / h100.peak("bf16")
        assert 0.7 < floor / step.spent("products") < 0.85
        assert 0.7 < 28 * weights / h100.memory_bandwidth() / step.spent("optimizer") < 0.9
    written, compiled = gpu_step("written"), gpu_step("compiled")
    assert compiled.spent("products") == pytest.approx(written.spent("products"), rel=0.03)
    assert compiled.spent("memory-bound") < 0.6 * written.spent("memory-bound")
    assert compiled.starved < 0.5 * written.starved
    gaps = list(itertools.pairwise(compiled.kernels))
    before, after = max(gaps, key=lambda pair: pair[1].start - pair[0].end)
    assert (before.kind != "optimizer") and after.kind == "optimizer"


def test_unknown_steps_and_kinds_are_named() -> None:
    with pytest.raises(UnknownName):
        gpu_step("fused")
    with pytest.raises(UnknownName):
        gpu_step("written").spent("collectives")


def test_the_figure_draws_every_kernel_of_both_steps() -> None:
    drawn = figure()
    assert drawn.narrow is not None
    kernels = sum(len(step.kernels) for step in gpu_steps().values())
    for parts in (drawn.parts, drawn.narrow.parts):
        assert "".join(parts).count("z") >= kernels
    saved = 1 - gpu_step("compiled").seconds / gpu_step("written").seconds
    assert percent(saved) in drawn.title
