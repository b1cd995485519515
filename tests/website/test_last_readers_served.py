"""What the last strict readers found wrong in chapters on layouts, formats, serving and racks."""

from __future__ import annotations

import math
import re

import pytest

from flopbook.architectures.shape import shape
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from scripts.website.figures import token_degree
from scripts.website.pages.prediction_prose import PredictionProse
from tests.support.rendering import DOCS, text_of

PREDICTION = PredictionProse()


@pytest.mark.parametrize("degree", [8, 16, 32, 64])
def test_a_kernel_of_one_shot_takes_longer_on_more_ranks(degree: int) -> None:
    """A rank reads a vector of 16,384 numbers from each of the others, over a port of 900 GB/s."""
    kernel = token_degree.sums()["SGLang"]
    read = (degree - 8) * 2 * shape("llama-3-405b").d_model
    grown = kernel + read / chip("nvidia/gb200-gpu").scaleup_bandwidth()
    assert token_degree.at_degree("SGLang", kernel, degree) == pytest.approx(grown)
    assert (grown > kernel) == (degree > 8)
    assert "the same at every degree" not in token_degree.figure().caption
    assert "for a small batch, and takes" not in text_of("racks")


def test_spares_save_the_wait_for_a_repair_and_not_the_restart() -> None:
    """Of 2,048 GPUs that each fail once in five years one fails every 21 hours, spares or not."""
    hours = 5 * 365.25 * 24 / 2048
    assert hours == pytest.approx(21.4, abs=0.1)
    told = text_of("racks")
    assert "racks stop the job, not GPUs" not in told
    assert "still sends the job back to its last checkpoint" in told


def test_nodes_that_send_less_and_overlap_are_nearer_to_a_rack() -> None:
    """3.0 times as fast as nodes without means, 2.3, 1.9 and 1.5 with one more of them each."""
    options = {"model": "deepseek-v3", "chip": "nvidia/gb200-gpu", "dtype": "fp8", "seq": 4096}
    step = calculate("decode", **options, tp=1, dp=64, ep=64, batch=64 * 64)
    rack = step["seconds"] + step["message_seconds"]
    each = step["message_seconds"] / 63 * 64 / 8 * 900 / 50  # one copy to another node
    sent = [each * nodes for nodes in (8 * 56 / 64, 7 * (1 - (7 / 8) ** 8), 3.5)]
    steps = [step["seconds"] + messages for messages in sent]
    steps.append(max(step["seconds"] + step["weight_seconds"], sent[-1]))
    assert [one / rack for one in steps] == pytest.approx([3.0, 2.3, 1.9, 1.5], abs=0.06)
    assert "nodes that do nothing of this" in text_of("racks")


def test_no_recipe_of_transformer_engine_has_a_scale_per_row() -> None:
    """Five recipes serve three of the four answers; the fourth is that of torchao."""
    assert "each of these answers but the scale per row" in text_of("low-precision")


def test_exercises_of_low_precision_go_from_easy_to_hard() -> None:
    levels = re.findall(r'exercise\("(\w+)"\)', text_of("low-precision"))
    assert levels == sorted(levels, key=["easy", "medium", "hard"].index)


def test_the_price_of_longer_contexts_follows_from_what_is_printed() -> None:
    """139 GB of weights and 46 caches of 10.7 GB over eight H100: 23.62 ms and 2.28 USD."""
    found = calculate("serving", model="llama-3-70b", chip="h100-sxm", tp=8, seq=32768)
    read = 8 * found["weight_bytes"] - 2 * 128_256 * 8192  # without the embedding table
    seconds = (read + 46 * 4 * 2.684e9) / (8 * 3.35e12)
    assert read == pytest.approx(139e9, rel=1e-3)
    assert seconds == pytest.approx(found["seconds"], rel=1e-3)
    assert "of them, without the embedding table), and a sequence" in text_of("inference")


def test_a_latent_of_deepseek_has_242_flops_for_each_byte() -> None:
    """128 heads multiply 576 numbers for a score and 512 for a value, of 1,152 bytes."""
    flops = 2 * (576 + 512) * 128 / (2 * 576)
    assert (round(flops), round(flops / 128, 1)) == (242, 1.9)
    assert "of the order of $2 H$" not in text_of("inference")


def test_a_cut_of_four_by_sixteen_sends_three_fifths_of_tp() -> None:
    llama = shape("llama-3-70b")
    best = math.sqrt(2 * 64 * llama.d_model / (3 * llama.d_ff))
    sent = 2 * (2 * llama.d_model / 4 + 3 * llama.d_ff / 16)
    assert (best, sent / (4 * llama.d_model)) == pytest.approx((3.5, 0.58), abs=0.01)
    assert "a cut into 4 by 16 is near the best" in text_of("inference")


def test_the_bubble_of_the_pencil_is_of_all_busy_time() -> None:
    """3.14 s of matmuls and 0.39 s of exposed TP, and 15/128 of both: 64 percent of the peak."""
    work = 6 * shape("llama-3-405b").params * 16 * 2**20 / 16384 / 989.4e12
    pencil = (989.4 / 794 * work + 0.39) * (1 + 15 / 128)
    assert (pencil, work / pencil) == pytest.approx((3.94, 0.64), abs=0.01)
    assert 'inter["overhead"] * (pencil_mm + pencil_tp)' in text_of("choosing-a-configuration")


def test_the_exchange_of_deepseek_outlasts_its_matmuls() -> None:
    """20 s a step, of which 3.4 s are matmuls at the fp8 peak; 5.4 s of messages have to hide."""
    tokens = 15360 * 4096
    step = 180e3 * 3600 / 2048 * tokens / 1e12
    work = 6 * 37e9 * tokens / (2048 * 1979e12)
    sent = tokens / 128 * 58 / 16 * 3.5 * 7168 * 6
    assert (step, work, sent / 50e9) == pytest.approx((19.9, 3.4, 5.4), abs=0.05)
    assert "That is what DualPipe has to hide" in text_of("choosing-a-configuration")


def test_the_limit_of_sequences_of_tensorrt_llm_is_of_one_group() -> None:
    """Its executor multiplies the limit by the TP degree if attention is data-parallel."""
    assert "`--max_batch_size`, of one group" in text_of("from-plan-to-flags")


def test_deepspeed_has_no_gradients_sharded_under_stages() -> None:
    told = text_of("from-plan-to-flags")
    assert "With stages DeepSpeed refuses ZeRO-2 and ZeRO-3" in told


def test_the_band_of_a_prediction_can_be_recomputed() -> None:
    """The error of left-out runs, widened for 27 publications and for later years."""
    spread = PREDICTION.spread(1.03)
    band = math.exp(float(PREDICTION.aged()) * 1.03 * round(float(spread), 3))
    assert band == pytest.approx(float(PREDICTION.band()), abs=0.005)
    assert "the *spread* is the size of error" in text_of("prediction")


def test_one_model_has_four_medians_and_the_last_is_the_largest() -> None:
    known, cluster = PREDICTION.known(), PREDICTION.whole("median")
    left_out, later = PREDICTION.calibrated("before"), PREDICTION.later()
    assert known < cluster < left_out < later
    assert "by what the fit knew of a run" in text_of("prediction")


def test_decoding_alone_fills_an_iteration_and_saves_a_fifth_of_the_servers() -> None:
    """20 requests a second: 3.9 servers read prompts, and 2.8 write at 64, 1.4 at 220."""
    server = {"model": "llama-3-70b", "chip": "h100-sxm", "tp": 8}
    prompts = 20 * calculate("prefill", **server, seq=4096)["likely_seconds"]
    steps = {
        batch: calculate("serving", **server, seq=4352, batch=batch)["likely_seconds"]
        for batch in (64, 220)
    }
    writing = {batch: 20 * 512 * seconds / batch for batch, seconds in steps.items()}
    assert (prompts, writing[64], writing[220]) == pytest.approx((3.9, 2.8, 1.4), abs=0.05)
    assert 0.95 * 30e-3 < steps[220] < 30e-3
    assert 1 - (prompts + writing[220]) / (20 / 2.5) == pytest.approx(1 / 3, abs=0.02)
    assert "in all, a third fewer than" in text_of("serving")


def test_the_script_of_the_plan_has_its_degrees_batch_and_shape() -> None:
    """64 nodes of eight: 512 GPUs; 80 layers fill 8 stages of ten chunks, 512 sequences a step."""
    text = (DOCS / "handbook/from-plan-to-flags.md").read_text(encoding="utf-8")
    script = text.split("```bash\n")[1].split("```")[0]
    flags = dict(re.findall(r"--([\w-]+) (\d+)", script))
    llama = shape("llama-3-70b")
    assert int(flags["nnodes"]) * int(flags["nproc_per_node"]) == 512
    assert (int(flags["num-layers"]), int(flags["hidden-size"])) == (llama.layers, llama.d_model)
    assert int(flags["ffn-hidden-size"]) == llama.d_ff
    assert int(flags["num-query-groups"]) == llama.kv_heads
    assert int(flags["num-attention-heads"]) == llama.heads
    assert int(flags["global-batch-size"]) * int(flags["seq-length"]) == 4 * 2**20
    chunks = int(flags["num-virtual-stages-per-pipeline-rank"])
    assert llama.layers == chunks * int(flags["pipeline-model-parallel-size"])
    assert "--use-tp-pp-dp-mapping" in script
