"""What readers of the mended chapters found wrong, each recomputed beside words that are right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flopbook.architectures.shape import shape
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from scripts.website.figures import (
    batch_units,
    block_scales,
    context_traffic,
    decode_step,
    measured_all_reduce,
    measured_matmuls,
    step_budget,
    training_compute,
    transformer_layer,
    two_batches,
)
from scripts.website.figures.overlap import idle_share
from scripts.website.pages.benched import benched
from tests.support.rendering import READS_THE_HANDBOOK, rendered, text_of


def test_an_exchange_takes_about_as_long_as_arithmetic_in_the_formats_of_the_run() -> None:
    """DeepSeek-V3 multiplies in fp8: 1.9 microseconds at 40 percent of it, 1.72 on the wire."""
    model, peak = shape("deepseek-v3"), chip("h800-sxm").peak("bf16")
    experts = 6 * model.d_model * model.expert_d_ff * (model.experts_per_token + 1)
    projections = 2 * calculate("params", model="deepseek-v3")["attention"] / model.layers
    scores = 2 * (192 + 128) * model.heads * 4096 / 2
    sent = 0.75 * 4 * 4 * model.d_model / 50e9
    narrow = (experts + projections) / (0.4 * 2 * peak) + scores / (0.4 * peak)
    assert sent / narrow == pytest.approx(0.91, abs=0.005)
    printed = rendered("handbook/expert-and-context-parallelism.md")
    assert "DeepSeek multiplied in fp8" in printed
    assert "the exchange is 91 percent of it" in re.sub(r"<[^>]+>", "", printed)
    assert "ports below their printed rate" not in printed


def test_the_form_of_experts_stands_with_the_width_that_it_computes() -> None:
    text = text_of("expert-and-context-parallelism")
    assert text.index('form("ep-limit")') < text.index("## Worked example")


def test_the_scheduler_is_given_a_script_that_names_its_shell() -> None:
    """Slurm refuses a batch script whose first line is not that of an interpreter."""
    page = Path(__file__).resolve().parents[2] / "docs/handbook/from-plan-to-flags.md"
    batch = page.read_text("utf-8").split("#SBATCH")[0].rsplit("```bash\n", 1)[1]
    assert batch == "#!/bin/bash\n"


def test_the_exercise_on_caches_asks_for_the_fraction_of_one_engine() -> None:
    """With one fraction for both, 80 x - 26 = 54 x only at 1; beside vLLM's 0.92 it is 0.88."""
    kept = 0.92 * 80 - 26
    assert kept / (80 - 26) == pytest.approx(0.88, abs=0.005)
    text = text_of("from-plan-to-flags")
    assert "both have the same" not in text and "as much as vLLM does at 0.92" in text


def test_tokens_that_hide_a_transfer_are_not_told_of_an_update_on_the_host() -> None:
    """New weights hide from 15,459 tokens on, the update from 41,975 and only a step late."""
    ratio = chip("h100-sxm").peak("bf16") / 64e9
    assert ratio == pytest.approx(15_459, abs=1)
    text = text_of("overlap-and-offloading")
    assert "optimizer on host, in turn" not in text and "Tokens, new weights up" in text


def test_idle_chips_that_are_kept_busy_burn_with_the_cooling() -> None:
    """16,384 times 500 W for a tenth of the time are 0.82 MW, and 0.9 with a PUE of 1.1."""
    burnt = 16_384 * (chip("h100-sxm").power() - 200) / 10
    assert burnt * 1.1 == pytest.approx(0.9e6, rel=0.01)
    assert "meanwhile, with a PUE of 1.1, is" in text_of("reliability-and-energy")


def test_a_rank_that_ran_ahead_is_the_one_that_differs() -> None:
    """The listing goes by what most ranks have, not by the longest list."""
    listing = (
        (Path(__file__).resolve().parents[2] / "docs/handbook/reliability-and-energy.md")
        .read_text("utf-8")
        .split("log = {")[1]
        .split("```")[0]
    )
    compare = listing.split("}\n", 1)[1].split("\nassert")[0]
    known = {rank: [(41, "all_gather"), (42, "all_reduce")] for rank in range(3)}
    known[3] = [(41, "all_gather"), (42, "broadcast"), (43, "all_reduce")]
    names: dict[str, object] = {"log": known}
    exec(compare, names)
    assert names["others"] == {3: (42, "broadcast")}


def test_names_of_a_measured_sum_stand_in_the_wide_picture_too() -> None:
    parts = "".join(measured_all_reduce.figure().parts)
    assert ">measured<" in parts and ">a ring at the printed rate<" in parts


def test_an_outlier_picture_says_what_its_orange_dots_are() -> None:
    assert "orange: a number that became zero" in block_scales.figure().caption


def test_a_shared_step_names_what_each_framework_counts() -> None:
    given = dict(batch_units.BatchUnits(16, 32, 1, 8192, 512).asked())
    assert given["Megatron-LM"] == "step: 512 sequences; micro-batch: 1"
    assert given["torchtitan"].startswith("step: 4,194,304 tokens; micro-batch: 8,192")


def test_two_halves_in_the_format_of_the_run_wait_for_a_tenth_of_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In bf16 they hide all but the last exchange; in fp8 it is nearly as long as the rest."""
    model, times = shape("deepseek-v3"), two_batches.layer_times()
    scores = 2 * (192 + 128) * model.heads * 2048 / (0.4 * chip("h800-sxm").peak("bf16"))
    narrow = {**times, "A": (times["A"] - scores) / 2 + scores, "E": times["E"] / 2}
    monkeypatch.setattr(two_batches, "layer_times", lambda: narrow)
    waits = idle_share(two_batches.schedule(2, two_batches.mixture_layers()))
    assert waits == pytest.approx(0.1, abs=0.005)
    assert "the same two still wait for a tenth" in text_of("expert-and-context-parallelism")


@pytest.mark.parametrize(("heads", "kv_heads"), [(128, 8), (32, 4), (16, 2)])
def test_in_training_heads_are_exchanged_for_less_from_fewer_ranks_on(
    heads: int, kv_heads: int
) -> None:
    """Backward a ring moves twice its forward bytes, an exchange of heads as many as forward."""
    equal = heads / (1.5 * kv_heads - 1)
    assert kv_heads < equal < heads / (kv_heads - 1)
    ring = 3 * context_traffic.ring_share(kv_heads, equal)
    assert ring == pytest.approx(2 * context_traffic.exchange_share(heads, kv_heads, equal))
    text = text_of("context-parallelism")
    assert "$X = H / (1.5 G - 1)$" in text and "$H / (1.5 G - 1)$ over both passes" in text


def test_with_one_kv_head_a_ring_stays_ahead_in_training_as_well() -> None:
    """The two would meet at 2 H ranks, and only H ranks have a query head."""
    for ranks in range(2, 17):
        ring = 3 * context_traffic.ring_share(1, ranks)
        assert ring < 2 * context_traffic.exchange_share(16, 1, ranks)
    assert "twice as many ranks as there are query heads" in text_of("context-parallelism")


def test_half_a_card_hides_from_sums_in_stages_and_not_from_rings() -> None:
    """Two nodes of eight, one card at 25 GB/s: each card sums an eighth of the array."""
    counted = 2 * (1 - 1 / 16)  # arrays that bus bandwidth counts
    stages = 2 * (1 - 1 / 2) / 8 / 25e9
    rings = counted / 8 / 25e9
    assert counted / stages == pytest.approx(375e9) and counted / rings == pytest.approx(200e9)
    assert "rings would show it" in text_of("networks")


@READS_THE_HANDBOOK
def test_the_yearly_growth_of_the_largest_runs_takes_the_months_between_their_papers() -> None:
    """May 2020 and July 2024 lie 50 months apart, not four years."""
    by_id = {run.id: run for run in training_compute.runs()}
    early, late = by_id["gpt-3-175b"], by_id["llama-3-405b"]
    assert 12 * (late.year - early.year) == pytest.approx(50)
    growth = (late.flop / early.flop) ** (12 / 50)
    told = " ".join(rendered("handbook/why-compute.md").split())
    assert f"{growth:.1f} a year over the 50 months" in told


def test_the_exponent_by_compute_is_that_of_either_penalty_at_the_best_split() -> None:
    alpha, beta = 0.3478, 0.3658
    together = alpha * beta / (alpha + beta)
    assert 1 - 10**-together == pytest.approx(0.34, abs=0.005)
    assert r"$\alpha \beta / (\alpha + \beta)$" in text_of("why-compute")


def test_caches_are_read_longer_than_weights_from_the_sequence_after_the_title_on() -> None:
    batch = int(decode_step.figure().title.split()[2])
    at, above = (
        decode_step.parts("llama-3-70b", "nvidia/h100-sxm", 8, 8192, batch + more)
        for more in (0, 1)
    )
    assert at["weight_seconds"] > at["kv_seconds"]
    assert above["weight_seconds"] < above["kv_seconds"]


def test_replicas_of_a_node_need_as_many_tokens_to_hide_their_sum_as_sharding_over_all() -> None:
    """Two passes over the cards behind the backward pass, and three behind the whole step."""
    flop, cards = chip("h100-sxm").peak("bf16"), 8 * 50e9
    summed = 2 * 2 / cards / (4 / flop)  # bytes of a weight over its FLOPs of a token
    assert summed == pytest.approx(3 * 2 / cards / (6 / flop)) == pytest.approx(2474, abs=1)
    assert "does not lower the batch that hides it" in text_of("fsdp")


def test_a_cube_of_twice_the_side_is_near_the_flat_roof() -> None:
    """1,024 reaches a fifth of the printed peak, 2,048 two thirds; the picture names the cubes."""
    peak = chip("h100-sxm").peak("bf16")
    small, large = (measured_matmuls.product((side,) * 3).rate / peak for side in (1024, 2048))
    assert small < 0.2 and large > 0.65
    drawn = "".join(measured_matmuls.figure().parts)
    assert all(f">{side:,}</text>" in drawn for side in measured_matmuls.LARGER)
    assert "A cube needs no more than twice the side" in text_of("roofline")


@READS_THE_HANDBOOK
def test_the_stage_that_recomputes_is_counted_from_printed_states() -> None:
    """36 GB less 17.11 are 6.7 micro-batches of 2.813; from the 17 once printed they are 6.8."""
    exact, rounded = (36 - 17.11) / 2.813, (36 - 17) / 2.813
    assert (exact, rounded) == pytest.approx((6.72, 6.75), abs=0.01)
    text = " ".join(rendered("handbook/pipeline-parallelism.md").split())
    assert "17.11" in text.split("In the worked example a GPU has")[1].split("of states")[0]
    assert "stage 1 of a picture has" in text and "The fifth stage" not in text


def test_a_total_as_long_as_the_run_is_no_diagnosis() -> None:
    """Recomputation would take 10.79 s as well, and was not planted into the run of 10.8 s."""
    recomputed = next(each for each in step_budget.budgets() if each.name == "recomputed")
    assert recomputed.seconds == pytest.approx(10.8, rel=0.005)
    said = text_of("profiling")
    picture, sentence = said.index('figure("step-budget")'), said.index("So a total names no cause")
    assert 0 < sentence - picture < 1000


def test_a_pair_of_sms_needs_three_quarters_of_a_measured_cache() -> None:
    """One tile of 256 by 256 has 128 FLOP/byte; an author measured 10.2 TB/s on an H200."""
    needed = chip("h100-sxm").peak("bf16") / 128
    measured = float(benched("rate", "cache-h200"))
    assert needed / measured == pytest.approx(0.75, abs=0.01)
    assert "three quarters of what the faster of the two caches gives" in text_of("kernels")


def test_half_of_a_backward_pass_leaves_less_than_its_beginning() -> None:
    """A layer frees more than twice what its gradients take: 149 GB, then 139."""
    llama = shape("llama-3-8b")
    kept = calculate("memory", model="llama-3-8b", seq=8192, recompute="none", dropout="no")
    activations, states = kept["activations"], 14 * llama.params
    begin, half = states + activations, states + activations / 2 + llama.params
    assert (begin / 1e9, half / 1e9) == pytest.approx((149, 138.7), abs=0.1)
    assert activations > 2 * 2 * llama.params
    assert "a layer frees more than twice what its gradients take" in text_of("transformers")


def test_warps_alone_do_not_hide_a_read() -> None:
    """64 warps of an SM are 16 for each of its four schedulers."""
    text = text_of("accelerators")
    assert "set ten, far, near, held = 10, 650, 270, 16" in text
    assert 64 // 4 == 16 and (10 + 650) / 10 == 66 and 16 * 10 / 660 < 0.25
    assert "warps alone do not hide a read of main memory" in text


def test_the_picture_of_a_layer_says_what_gate_does() -> None:
    """The box between up, gate and down held a bare dot; the text never gave SiLU."""
    drawn = transformer_layer.figure()
    assert drawn.narrow
    for parts in (drawn.parts, drawn.narrow.parts):
        assert ">SiLU,<" in "".join(parts) and ">×<" in "".join(parts)
    assert "SiLU, which divides each number by one plus" in text_of("transformers")


def test_a_program_takes_row_and_column_from_a_quotient_and_a_remainder() -> None:
    text = text_of("kernels")
    assert "i = tl.program_id(0) // across" in text and "j = tl.program_id(0) % across" in text
    assert "in place of its quotient and its remainder" in text
