"""What strict readers found wrong in chapters, each recomputed beside words that are right."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from flopbook.architectures.shape import shape
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.prediction.asking import predict
from flopbook.quantities.units import percent
from scripts.website.figures import (
    checkpoint_interval,
    draft_speedup,
    offload_step,
    step_budget,
)
from scripts.website.figures.origins import source_line
from scripts.website.measured.gpu_traces import gpu_step
from tests.support.rendering import READS_THE_HANDBOOK, rendered, text_of


def test_twelve_stages_never_have_chunks_with_a_batch_of_a_power_of_two() -> None:
    """Chunks want micro-batches in multiples of the stages, and 1,024 has no factor of three."""
    assert not [each for each in range(1, 1025) if 1024 % each == 0 and each % 12 == 0]
    assert "1,024 has no factor of three" in text_of("choosing-a-configuration")


@pytest.mark.parametrize("chips", [16, 21, 64])
def test_a_gated_block_cut_along_both_sides_sends_less_from_6_f_over_d_chips_on(
    chips: int,
) -> None:
    """A reduce-scatter of gate and up and a gather of their product: three of 2 F / Y, not four."""
    llama = shape("llama-3-70b")
    wide, hidden = llama.d_model, llama.d_ff
    cuts = np.linspace(0.2, chips, 200_001)
    least = (2 * wide / cuts + 3 * hidden * cuts / chips).min()
    assert least == pytest.approx(2 * math.sqrt(6 * hidden * wide / chips), rel=1e-4)
    assert (least <= 2 * wide * (1 + 1e-4)) == (chips >= 6 * hidden / wide)
    assert "t = 6 F / D" in text_of("inference") and "$6F/D$" in text_of("inference")


@pytest.mark.parametrize("accepted", [0.5, 0.7, 0.8, 0.9])
def test_the_point_of_a_draft_is_its_best_length_and_not_the_end_of_the_axis(
    accepted: float,
) -> None:
    gains = {
        drafted: (1 - accepted ** (drafted + 1)) / (1 - accepted) / (1 + 0.05 * drafted)
        for drafted in range(1, 40)
    }
    best = max(gains, key=lambda drafted: gains[drafted])
    drawn = draft_speedup.figure()
    told = f"{percent(accepted)} accepted: at best {gains[best]:.2f} times with {best} drafted"
    assert told in drawn.description
    assert "of a pass for each token" in drawn.caption


def test_a_cut_by_tokens_gathers_queries_before_it_merges_outputs() -> None:
    """64 heads of 128: queries in, and an output, a maximum and a sum out, in two bytes each."""
    llama = shape("llama-3-70b")
    moved = 2 * (llama.heads * llama.head_dim + llama.heads * (llama.head_dim + 2))
    assert moved == 2 * llama.heads * (2 * llama.head_dim + 2) == 33_024
    assert "$H (2 d + 2)$ numbers" in text_of("inference")


def test_caches_end_the_rate_of_the_server_of_the_worked_example() -> None:
    """185 sequences write 14 percent of FLOP/s over FLOPs; no batch comes to a fifth."""
    server = {"model": "llama-3-70b", "chip": "h100-sxm", "tp": 8, "seq": 8192}
    divided = 8 * chip("h100-sxm").peak("bf16") / (2 * shape("llama-3-70b").params)
    assert calculate("serving", **server)["tokens_per_s"] / divided == pytest.approx(
        0.14, abs=0.005
    )
    crowd = calculate("serving", **server, batch=100_000)["tokens_per_s"]
    caches = 8 * 3.35e12 / (8192 * 327_680)
    assert crowd < caches == pytest.approx(10_000, rel=0.01)
    assert "the caches alone cap it" in text_of("inference")


@pytest.mark.parametrize(("width", "reading"), [(64, 32), (128, 48), (256, 80)])
def test_a_wide_tile_leaves_cycles_of_shared_memory(width: int, reading: int) -> None:
    """Slices 16 deep in bf16: 4,096 FLOPs and 128 bytes in a cycle of an SM of Hopper."""
    multiplying = 2 * 64 * width * 16 / 4096
    assert (64 + width) * 16 * 2 / 128 == reading <= multiplying
    text = text_of("accelerators")
    assert "leaves none for writing the next slices into shared memory" in text
    assert (1 - 80 / 128) == 3 / 8 and "leaves three eighths of the cycles for that" in text


def test_a_lane_multiplies_and_adds_in_a_cycle() -> None:
    """66.9 TFLOP/s in fp32 are 132 SMs of 128 lanes at the boost clock, two operations each."""
    printed = chip("h100-sxm").peak("fp32", engine="vector")
    assert float(printed) == pytest.approx(132 * 4 * 32 * 2 * 1.98e9, rel=0.002)
    assert "units that do one multiply-add in a cycle for one thread" in text_of("accelerators")


def test_hops_along_a_torus_say_what_its_middle_says() -> None:
    """Six hops on average along a closed side of 24, two links of 100 GB/s: as the cut gives."""
    side, link = 24, 100e9
    hops = sum(min(far, side - far) for far in range(side)) / side
    cut = 2 * 16 * 16 * link
    assert hops == 6
    assert 2 * link / hops == pytest.approx(2 * cut / (16 * 16 * side / 2))
    assert "a chip has a sixth for its own" in text_of("accelerators")


@READS_THE_HANDBOOK
def test_a_slow_stage_costs_what_it_exceeds_the_last_one_by() -> None:
    """The last stage has the head and set the pace: 30 percent over others are 20 over it."""
    layout = {**step_budget.LAYOUTS["not interleaved"], "virtual": "1"}
    run = predict({**step_budget.RUN, **layout})
    once = sum(run.parts[part] for part in ("bubble", "gradients", "optimizer", "straggling"))
    last = run.seconds - once
    others = last - run.parts["head"]
    assert (last, others) == pytest.approx((7.64, 7.08), abs=0.01)
    assert 1.2 * others - last == pytest.approx(0.86, abs=0.01)  # what 20 percent would cost
    assert 1.3 * others / last == pytest.approx(1.2, abs=0.01)
    assert run.seconds * ((32 * 1.2 + 7) / 39 - 1) == pytest.approx(1.5, abs=0.05)
    text = " ".join(rendered("handbook/profiling.md").split())
    assert "Its passes take 30 percent longer than those of others" in text
    assert "which is 20 percent longer than the last stage takes with its head" in text
    assert "The last stage, which has the head, works" in text


def test_the_source_line_of_a_predicted_step_names_the_predictor() -> None:
    """The bars of a step's budget are computed, and not drawn from a definition."""
    said = source_line(Path(step_budget.__file__)).text
    assert "prediction of a step" in said and "definition" not in said


@READS_THE_HANDBOOK
def test_the_worked_product_keeps_one_tile_from_step_to_step() -> None:
    """256 by 128: 22.8 GB without a cache, and a wave in one row reads longer than it works."""
    rows, columns, depth = 4096, 28672, 8192
    card = chip("h100-sxm")
    peak, bus = card.peak("bf16"), card.memory_bandwidth()
    tiles = rows / 256 * columns / 128
    moved = 2 * (tiles * (256 + 128) * depth + rows * columns)
    assert moved == pytest.approx(22.8e9, rel=0.01)
    assert moved / bus / (2 * rows * columns * depth / peak) == pytest.approx(3.5, abs=0.05)
    work = 2 * 256 * 128 * depth * 132 / peak
    row, block = (2 * depth * side / bus / work for side in (256 + 132 * 128, 11 * 256 + 12 * 128))
    assert (row, block) == pytest.approx((1.17, 0.30), abs=0.005)
    text = " ".join(rendered("handbook/kernels.md").split())
    assert "1.17 times as long; as a block of 11 by 12 in 21.2" in text
    assert "tiles of 128 by 128 move" not in text


@READS_THE_HANDBOOK
def test_a_step_with_the_optimizer_on_the_host_is_that_of_its_picture() -> None:
    """Four sequences: 2.1 s of passes, 2.0 of the update, so 49 percent of waiting in turn."""
    parts = offload_step.times()
    assert parts.update / parts.arithmetic == pytest.approx(0.96, abs=0.005)
    assert parts.update / (parts.update + parts.arithmetic) == pytest.approx(0.49, abs=0.005)
    in_turn, late = parts.arithmetic + parts.update, parts.arithmetic
    assert (4 * 8192 / in_turn, 4 * 8192 / late) == pytest.approx((7855, 15402), rel=0.01)
    assert math.ceil(parts.update / (2.5 * parts.arithmetic / 4)) == 2
    text = " ".join(rendered("handbook/overlap-and-offloading.md").split())
    assert "and the update adds 96 percent to it" in text
    assert "from two sequences on" in text


@READS_THE_HANDBOOK
def test_keys_and_values_come_back_sooner_than_they_are_computed() -> None:
    """4,096 tokens of 330 kB over the 64 GB/s of one GPU: 21 ms, where eight compute for 74."""
    back = 4096 * 327_680 / 64e9
    server = {"model": "llama-3-70b", "chip": "h100-sxm", "tp": 8}
    again = calculate("prefill", **server, seq=4096)["seconds"]
    assert (back, again) == pytest.approx((21e-3, 73.6e-3), rel=0.01)
    assert "serving.md#prefix-caches" in text_of("overlap-and-offloading")


@pytest.mark.parametrize(("product", "message", "rate"), [(100.0, 40.0, 0.8), (10.0, 10.0, 0.5)])
def test_a_message_that_slows_products_is_paid_for_in_part(
    product: float, message: float, rate: float
) -> None:
    """Moment by moment: products run at that rate until the message ends, then at their own."""
    left, now, step = product, 0.0, 0.01
    while left > 0:
        left -= step * (rate if now < message else 1.0)
        now += step
    assert now == pytest.approx(message + product - rate * message, abs=2 * step)
    assert "What a hidden message costs" in text_of("overlap-and-offloading")


def test_libraries_change_rails_in_either_order() -> None:
    """DeepEP goes out first and then over NVLink; the all-to-all of NCCL does the reverse."""
    text = text_of("networks")
    assert "they send a token over the sender's rail to the right node first" not in text
    assert "first writes over NVLink to the GPU beside the card it needs" in text


def test_a_training_step_under_tp_reaches_three_quarters_of_the_peak() -> None:
    """Three of five exchanges of a block, and what attention is too short to hide."""
    tokens, width, hidden, keys, degree = 4096, 8192, 28672, 1024, 8
    peak, port = 989.4e12, 450e9
    exchange = 7 / 8 * 2 * tokens * width / port
    matmuls = 2 * tokens * (3 * width * hidden + 2 * width * (width + keys)) / degree / peak
    of_inputs = 2 * tokens * width * (width + 2 * keys) / degree / peak
    assert 2 * tokens * width * 2 * hidden / degree / peak > exchange > of_inputs
    exposed = 2 * 3 * exchange + 2 * (exchange - of_inputs)
    assert 3 * matmuls / (3 * matmuls + exposed) == pytest.approx(0.75, abs=0.005)
    text = text_of("tensor-parallelism")
    assert "So $2 \\cdot 3$ exchanges and twice that rest are exposed" in text
    assert "Four exchanges per layer, one after the other" not in text


def test_a_gated_block_of_41_000_columns_reaches_80_percent_at_tp_8() -> None:
    """Matmuls four times as long as two exposed exchanges, whatever the batch and the width."""
    peak, port, degree = 989.4e12, 450e9, 8
    hidden = 56 / 3 * peak / port
    for tokens, width in ((4096, 8192), (1000, 500)):
        matmuls = 6 * tokens * width * hidden / degree / peak
        exchanges = 2 * 7 / 8 * 2 * tokens * width / port
        assert matmuls / (matmuls + exchanges) == pytest.approx(0.8)
    assert hidden == pytest.approx(41_042, abs=10)


@READS_THE_HANDBOOK
def test_the_recorded_step_ends_in_its_mfu() -> None:
    """Six FLOPs for each of 201 million weights and 4,096 tokens, and causal attention."""
    work = 6 * (12 * 4 * 2048**2) * 4096 + 3 * 2 * 1024**2 * 2048 * 4 * 4
    written, compiled = gpu_step("written"), gpu_step("compiled")
    best = compiled.seconds - compiled.longest_gap
    shares = [
        round(100 * work / seconds / chip("h100-sxm").peak("bf16"))
        for seconds in (written.seconds, compiled.seconds, best)
    ]
    text = " ".join(rendered("handbook/profiling.md").split())
    assert f"its MFU goes from {shares[0]} to {shares[1]} percent" in text
    assert f"at best, {shares[2]} percent" in text


def test_two_accounts_of_energy_say_which_has_the_cooling_in_it() -> None:
    """LLaMA's hours of 400 W times a PUE of 1.1, BLOOM's hours of 400 W and no more."""
    power = chip("nvidia/a100-sxm-80gb").power()
    assert power * 1.1 * 1_022_362 == pytest.approx(449e6, rel=0.01)
    assert power * 1_082_990 == pytest.approx(433.196e6, rel=1e-4)
    text = text_of("reliability-and-energy")
    assert 'with a PUE of {{ 1.1 | unit("1") }} in it, and' in text and "without one." in text


def test_the_picture_of_intervals_says_what_it_takes_for_granted() -> None:
    """Its best interval is not that of the example, whose checkpoint takes 2.4 s."""
    caption = checkpoint_interval.figure(30, 600).caption
    assert "stops the run for 30 s" in caption and "a restart takes 10 minutes" in caption
    assert math.sqrt(2 * 30 * 3 * 3600) == pytest.approx(805, abs=1)


def test_a_swing_of_power_is_a_third_of_the_hall() -> None:
    """16,384 GPUs that fall from 700 to 200 W, of 1,275 W each with their host, by 1.1 to cool."""
    swing = 16384 * (700 - 200)
    assert swing == pytest.approx(8.2e6, rel=0.005)
    assert swing / (16384 * 1275 * 1.1) == pytest.approx(0.36, abs=0.005)
    text = text_of("reliability-and-energy")
    assert "once a step" in text


def test_quantising_to_four_bits_takes_hardly_more_of_a_step_than_to_eight() -> None:
    """2 bytes read twice and half a byte written twice, at 7.7 TB/s: 63 ns of 1.96 us."""
    small = shape("llama-3-8b")
    keys = small.kv_heads * small.head_dim
    inputs = 3 * small.d_model + small.d_ff
    slopes = 3 * small.d_model + 2 * keys + 2 * small.d_ff
    weights = 2 * small.d_model * (small.d_model + keys) + 3 * small.d_model * small.d_ff
    step = predict({**step_budget.SMALL, "chip": "nvidia/b200"})
    each = step.seconds * 64 / (4 * 2**20) / small.layers
    moved = 5 * (inputs + slopes + weights / 8192) / chip("nvidia/b200").memory_bandwidth()
    assert moved == pytest.approx(62.5e-9, rel=0.01) and moved / each == pytest.approx(
        0.032, abs=0.001
    )
    text = text_of("low-precision")
    assert "twice the quantisation" not in text and "two copies of half a byte" in text


def test_a_scale_of_a_row_leaves_an_outlier_channel_in_every_row() -> None:
    """Rows and columns scale out of a product; the rest of each row is erased all the same."""
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(4, 64)), rng.normal(size=(64, 3))
    rows, columns = np.abs(left).max(axis=1), np.abs(right).max(axis=0)
    scaled = (left / rows[:, None]) @ (right / columns) * rows[:, None] * columns
    assert np.allclose(scaled, left @ right)
    left[:, 7] = 1e6
    assert (np.median(np.abs(left) / np.abs(left).max(axis=1)[:, None], axis=1) < 1e-5).all()
    assert "an outlier channel sits in every row" in text_of("low-precision")


def test_inputs_of_linear_layers_are_a_fourth_of_the_memory_of_the_small_run() -> None:
    options = {"recompute": "none", "attention": "flash", "dropout": "no", "zero": 3, "dp": 64}
    found = calculate("memory", model="llama-3-8b", chip="h100-sxm", seq=8192, **options)
    small = shape("llama-3-8b")
    inputs = 2 * (3 * small.d_model + small.d_ff) * 8192 * small.layers
    assert inputs < found["activations"] / 2
    assert inputs / found["total"] == pytest.approx(0.23, abs=0.01)
    assert "saves half of them" in text_of("low-precision")
