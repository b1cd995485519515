"""Kernels of Mamba-2: what they move and multiply does not shrink with the format of products."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.architectures.shape import shape
from flopbook.prediction.layouts import RunLayout, training_run
from flopbook.prediction.named_models import sizes_of
from flopbook.prediction.state_kernels import CHUNK, state_kernel_sizes
from flopbook.prediction.transformers import transformer
from tests.support.training_rows import FITTED, layout, parts, row

NANO = "nemotron-3-nano-30b-a3b"
MAMBA2 = (NANO, "nemotron-3-super-120b-a12b", "nemotron-h-56b", "granite-4.0-h-small")
OTHERS = ("llama-3-70b", "jamba-52b", "qwen-3-next-80b-a3b", "minimax-text-01")
SEQUENCE = 8192


def run_of(model_id: str, precision: str = "fp8", **options: Any) -> RunLayout:
    sizes = sizes_of(shape(model_id), SEQUENCE)
    run = {"precision": precision, **options.pop("run", {})}
    return layout(model=sizes, **{"tp": 1, "dp": 64, "run": run, **options})


def test_the_forward_pass_of_nemotron_3_nano_by_hand() -> None:
    """64 heads of 64 with states of 128, in 8 groups; a layer of 23, on chunks of 128 tokens."""
    inner, keys, groups = 64 * 64, 8 * 128, 8
    states, scores, channels = inner * 128 / CHUNK, groups * CHUNK, inner + 2 * keys
    moved = 7 * channels + 22 * inner + 17 * keys + 22 * states + 16 * scores
    products = 4 * scores * 128 + 7 * inner * 128 + 4 * inner * CHUNK
    found = state_kernel_sizes(shape(NANO))
    assert found == pytest.approx({"kernel_moved": 23 * moved, "kernel_products": 23 * products})


@pytest.mark.parametrize("model_id", MAMBA2)
def test_chunks_take_more_than_the_update_of_a_state(model_id: str) -> None:
    """`training-flops` counts a multiplication for its update and one for its reading."""
    known = transformer(sizes_of(shape(model_id), SEQUENCE))
    assert 3 * 2 * known.state_values < 1.1 * known.state_products < 3 * 6 * known.state_values


@pytest.mark.parametrize("model_id", OTHERS)
def test_other_recurrences_are_counted_as_before(model_id: str) -> None:
    known = transformer(sizes_of(shape(model_id), SEQUENCE))
    assert (known.state_products, known.state_moved) == (0, 0)


@pytest.mark.parametrize("precision", ["fp8", "nvfp4"])
def test_formats_speed_up_products_and_no_kernel_of_states(precision: str) -> None:
    def seconds(run: RunLayout) -> tuple[float, float]:
        without = run._replace(shape=run.shape._replace(state_moved=0.0))
        moved = parts(run).elementwise[0] - parts(without).elementwise[0]
        return float(moved), float(parts(run).attention[0])

    wide, narrow = run_of(NANO, "bf16"), run_of(NANO, precision)
    assert seconds(narrow) == pytest.approx(seconds(wide))
    assert parts(narrow).products[0] < parts(wide).products[0]


def test_tensor_parallelism_divides_the_heads_of_states() -> None:
    one, two = (run_of(NANO, tp=tp, dp=64 // tp) for tp in (1, 2))
    moved = []
    for run in (one, two):
        without = run._replace(shape=run.shape._replace(state_moved=0.0))
        each = parts(run).elementwise[0] - parts(without).elementwise[0]
        moved.append(each / run.micro_batches)
    assert moved[1] == pytest.approx(moved[0] / 2)


def test_recipes_for_hybrids_replay_a_graph_of_each_mixer_and_not_of_the_step() -> None:
    """So that what launches experts counts, as in mixtures of other stacks."""
    said = {"precision": "MXFP8", "software": "NeMo container 26.06"}
    sizes = sizes_of(shape(NANO), SEQUENCE)
    asked = row(model=sizes, run=said, tp=1, dp=64, ep=8, zero_stage=1)
    run = training_run(asked._replace(hardware={**asked.hardware, "chip": "GB200-NVL72"}), 2026, "")
    whole = run._replace(shape=run.shape._replace(attending=1.0))
    assert parts(whole).launches[0] == 0 < parts(run).launches[0]
    assert parts(run).experts[0] / parts(whole).experts[0] == pytest.approx(FITTED["expert_cost"])
