"""The step time obeys the laws that any layout obeys, whatever the fitted parameters are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.data.measured_runs import run_files
from flopbook.formulas.pipeline import SCHEDULES
from flopbook.prediction.catalogue import MODELS
from flopbook.prediction.fits import cases_of
from flopbook.prediction.layouts import Layouts, OneRun, RunLayout, training_run
from flopbook.prediction.parameters import PRIORS
from flopbook.prediction.step_time import StepParts, step_parts, tokens_per_second
from tests.support.training_rows import FITTED, LLAMA, layout, parts, row

START = {name: prior.start for name, prior in PRIORS.items()}
MIXTURE = {**LLAMA, "n_experts": 8, "experts_per_token": 2, "moe_d_ff": 14336}


def seconds(run: RunLayout, parameters: Any = FITTED) -> float:
    return float(step_parts(Layouts([run]), parameters).seconds[0])


@pytest.mark.parametrize("parameters", [START, FITTED], ids=["priors", "fitted"])
@pytest.mark.parametrize("model", [LLAMA, MIXTURE], ids=["dense", "mixture"])
def test_parts_are_positive_and_add_up(model: Any, parameters: Any) -> None:
    found = parts(layout(model=model), parameters)
    assert all(part[0] >= 0 for part in found)
    assert found.seconds[0] == pytest.approx(sum(part[0] for part in found))


def test_throughput_is_the_batch_over_the_step() -> None:
    run = layout()
    rate = tokens_per_second(Layouts([run]), FITTED)[0]
    assert rate == pytest.approx(64 * 8192 / seconds(run) / 64)


def test_a_run_by_itself_has_the_parts_of_an_array_of_one() -> None:
    """Plain numbers in place of arrays, for every run on file and every part."""
    cases = cases_of(MODELS["training_throughput"], run_files().values()).cases
    for case in cases:
        alone, among = (
            step_parts(runs, FITTED) for runs in (OneRun(case.inputs), Layouts([case.inputs]))
        )
        for name in StepParts._fields:
            expected = getattr(among, name).ravel()[0]
            assert getattr(alone, name) == pytest.approx(expected, rel=1e-12), (case.row.id, name)
        assert type(alone.seconds) is float


def test_many_runs_at_once_are_predicted_as_one_by_one() -> None:
    runs = [layout(), layout(model=MIXTURE), layout(run={"precision": "fp8"}), layout(tp=4, dp=16)]
    together = tokens_per_second(Layouts(runs), FITTED)
    alone = [tokens_per_second(Layouts([run]), FITTED)[0] for run in runs]
    np.testing.assert_allclose(together, alone, rtol=1e-12)


@given(st.sampled_from([1, 2, 4, 8]), st.sampled_from([1024, 4096, 16384]))
def test_a_larger_model_never_trains_faster(tp: int, sequence: int) -> None:
    small = layout(model={**LLAMA, "seq_len_tokens": sequence}, tp=tp, dp=64 // tp)
    deep = {**LLAMA, "n_layers": 96, "seq_len_tokens": sequence}
    wide = {**LLAMA, "d_ff": 32768, "seq_len_tokens": sequence}
    assert seconds(layout(model=deep, tp=tp, dp=64 // tp)) > seconds(small)
    assert seconds(layout(model=wide, tp=tp, dp=64 // tp)) > seconds(small)


def test_recomputation_costs_about_a_third() -> None:
    none, full = layout(), layout(run={"recompute": "full"})
    assert 1.2 < seconds(full) / seconds(none) < 1.45


def test_a_narrow_format_is_faster_but_less_than_its_peak() -> None:
    plain, fp8 = layout(), layout(run={"precision": "fp8"})
    assert 1 < seconds(plain) / seconds(fp8) < 2
    framework = layout(run={"precision": "float8 rowwise"})
    assert seconds(fp8) < seconds(framework)


@pytest.mark.parametrize("stages", [2, 4, 8])
def test_a_pipeline_idles_by_its_bubble(stages: int) -> None:
    """(p - 1)/v of a micro-batch with its sends, times the fitted share."""
    run = layout(pp=stages, tp=1, dp=64 // stages, global_batch_seqs=64 * 4)
    chunked = layout(pp=stages, tp=1, dp=64 // stages, global_batch_seqs=64 * 4, vp=2)
    for layout_, chunks in ((run, 1), (chunked, 2)):
        found = parts(layout_)._asdict()
        left = ("bubble", "gradients", "optimizer", "straggling")
        busy = sum(part[0] for name, part in found.items() if name not in left)
        waits = (stages - 1) / chunks * FITTED["bubble"] * busy / run.micro_batches
        assert found["bubble"][0] == pytest.approx(waits)


def test_stages_send_for_each_chunk() -> None:
    run = layout(pp=4, tp=2, dp=8, global_batch_seqs=64 * 4)
    sends = parts(run).pipeline_sends[0]
    assert parts(run._replace(virtual=4)).pipeline_sends[0] == pytest.approx(4 * sends)
    assert parts(run._replace(tp=4)).pipeline_sends[0] == pytest.approx(sends / 2)
    assert parts(layout()).pipeline_sends[0] == 0


def test_a_schedule_that_parts_the_backward_pass_idles_less() -> None:
    """With passes of equal length: a third of the bubble in ZB-H1, none in ZB-H2 and ZB-V."""
    run = layout(pp=8, tp=1, dp=8, global_batch_seqs=64 * 4)
    plain = parts(run).bubble[0]
    idle = {name: parts(run._replace(schedule=name)).bubble[0] for name in SCHEDULES}
    assert idle["1f1b"] == idle["gpipe"] == plain
    assert idle["zb-h1"] == pytest.approx(plain / 3)
    assert idle["zb-h2"] == idle["zb-v"] == 0
    # Seven waits of three passes against three of two.
    assert idle["dualpipe"] == pytest.approx(plain * 6 / 21)


def test_context_parallelism_passes_the_keys_of_all_ranks() -> None:
    """The ring of a rank brings what the others hold: the more ranks, the more of it."""
    shown = []
    for cp in (1, 2, 4, 8):
        run = layout(cp=cp, tp=1, dp=8 // cp, global_batch_seqs=64)
        shown.append(parts(run).context_parallel[0] / run.micro_batches)
    assert shown[0] == 0 and shown == sorted(shown)
    inside = layout(cp=8, tp=1, dp=8, global_batch_seqs=64)
    beyond = layout(cp=16, tp=1, dp=4, global_batch_seqs=64)
    assert parts(beyond).context_parallel[0] > parts(inside).context_parallel[0]


def test_ranks_of_context_parallelism_hold_the_same_weights() -> None:
    """They share in sums and gathers as those of data parallelism do."""
    run = layout(tp=1, dp=64, zero_stage=3)
    halved = run._replace(dp=32, cp=2, micro_batches=2 * run.micro_batches)
    assert parts(halved).optimizer[0] == pytest.approx(parts(run).optimizer[0])
    plain = run._replace(zero=1), halved._replace(zero=1)
    assert parts(plain[0]).gradients[0] == pytest.approx(parts(plain[1]).gradients[0])


def test_zero_2_sums_the_gradients_of_every_micro_batch() -> None:
    run = layout(zero_stage=1, global_batch_seqs=64)
    once, each = parts(run).gradients[0], parts(run._replace(zero=2)).gradients[0]
    assert run.micro_batches == 8 and 4 * once < each < 8 * once
    alone = layout(zero_stage=1, global_batch_seqs=8)
    assert parts(alone._replace(zero=2)).gradients[0] == parts(alone).gradients[0]


def test_zero_2_in_a_pipeline_sums_once_as_zero_1_does() -> None:
    """It adds up whole gradients until the last micro-batch, which its memory counts too."""
    run = layout(zero_stage=1, global_batch_seqs=64, pp=2, dp=4)
    assert run.micro_batches > 1
    assert parts(run._replace(zero=2)).gradients[0] == parts(run).gradients[0] > 0


def test_groups_gather_inside_and_sum_across() -> None:
    """HSDP on 8 nodes: weights come over the links of a node, shards are summed over the cards."""
    whole = layout(zero_stage=3, tp=1, dp=64)
    grouped = whole._replace(hsdp=8.0)
    assert parts(grouped).gathers[0] < parts(whole).gathers[0]
    assert parts(grouped).gradients[0] > parts(whole).gradients[0] == 0
    assert parts(grouped).optimizer[0] == pytest.approx(8 * parts(whole).optimizer[0])
    alone = parts(whole._replace(hsdp=64.0))
    assert alone.gathers[0] == 0 and alone.gradients[0] > parts(grouped).gradients[0]


def test_groups_of_a_sharded_optimizer_sum_their_shards_once_more() -> None:
    one = layout(zero_stage=1, tp=1, dp=64)
    grouped = one._replace(hsdp=8.0)
    quick, slow = {**FITTED, "hop": 1e-9}, {**FITTED, "hop": 1e-3}
    assert parts(grouped, quick).gradients[0] > parts(one, quick).gradients[0] > 0
    # Rings are shorter: 8 ranks inside a node and 8 groups, in place of 64 ranks.
    assert parts(grouped, slow).gradients[0] < parts(one, slow).gradients[0] / 2


def test_gradients_hide_behind_the_backward_pass_where_a_stack_overlaps_them() -> None:
    """What is hidden is never more than what there is, and nothing without overlap."""
    run = layout(zero_stage=1, tp=1, dp=64)
    overlapped, blocking = parts(run), parts(run._replace(stack="nanotron"))
    assert 0 < overlapped.gradients[0] < blocking.gradients[0]
    everything = {**FITTED, "gradient_exposed": 1.0}
    same = [parts(one, everything).gradients[0] for one in (run, run._replace(stack="nanotron"))]
    assert same[0] == pytest.approx(same[1])


def test_experts_are_summed_over_the_ranks_that_hold_them() -> None:
    """A rank of expert parallelism holds its own experts, and sums and updates no others.

    In a rack that is less to send. Between boards each sum of an eighth has one card in place of
    eight.
    """
    runs = [layout(model=MIXTURE, tp=1, dp=64, ep=ep, zero_stage=1) for ep in (1, 8)]
    boards, racks = ([parts(run._replace(domain=size)) for run in runs] for size in (8.0, 64.0))
    assert racks[1].gradients[0] < 0.5 * racks[0].gradients[0]
    assert boards[1].gradients[0] < boards[0].gradients[0]
    assert racks[1].optimizer[0] < 0.5 * racks[0].optimizer[0]


def test_the_ranks_of_a_node_fetch_together_what_all_of_them_need() -> None:
    """Eight cards bring weights eight times as fast as one, but no faster than the links."""
    # So much work that both hide alike: of what shows, the law holds as of what is sent.
    run = layout(tp=1, dp=64, zero_stage=3, micro_batch_seqs=8, global_batch_seqs=512)
    alone = run._replace(domain=1.0)
    rates = {**FITTED, "hop": 1e-12}
    ratio = parts(alone, rates).gathers[0] / parts(run, rates).gathers[0]
    assert 2 < ratio < 8.01


def test_weights_stay_gathered_through_a_pipeline() -> None:
    """FSDP gathers once a step there, else once a micro-batch."""
    piped = layout(pp=4, tp=1, dp=16, zero_stage=3, global_batch_seqs=256)
    flat = layout(tp=1, dp=64, zero_stage=3, global_batch_seqs=256)
    for run, doubles in ((piped, False), (flat, True)):
        more = run._replace(micro_batches=2 * run.micro_batches)
        ratio = parts(more).gathers[0] / parts(run).gathers[0]
        assert ratio == pytest.approx(2 if doubles else 1)


def test_the_last_rank_of_an_uncut_sequence_has_most_of_the_work() -> None:
    """2 - 1/c of the mean over c ranks, twice at most; a zigzag split evens it out."""
    run = layout(cp=4, dp=2)._replace(stack="torchtitan")
    even, uncut = (parts(run, {**FITTED, "context_unbalanced": share}) for share in (0.0, 1.0))
    assert uncut.attention[0] / even.attention[0] == pytest.approx(2 - 1 / 4)
    zigzag = run._replace(stack="nemo")
    assert parts(zigzag, {**FITTED, "context_unbalanced": 1.0}) == parts(zigzag)


def test_the_busiest_rank_of_experts_is_waited_for() -> None:
    """One expert on a rank shares its overload with nobody; of many, most evens out."""
    even = {**FITTED, "imbalance": 1e-12}
    many = {**MIXTURE, "n_experts": 64}
    delays = []
    for model, ep in ((many, 1), (many, 8), (many, 64)):
        run = layout(model=model, tp=1, dp=64, ep=ep, zero_stage=1)
        delays.append(parts(run).experts[0] / parts(run, even).experts[0])
    assert delays[0] == pytest.approx(1) and 1 < delays[1] < delays[2]
    assert delays[2] == pytest.approx(1 + FITTED["imbalance"])


def test_a_ring_of_context_parallelism_pays_for_every_step() -> None:
    """However short the blocks, each of c - 1 steps starts a send and kernels."""
    short = {**LLAMA, "seq_len_tokens": 256}
    costs = [
        parts(layout(model=short, cp=cp, tp=1, dp=8 // cp, global_batch_seqs=64)) for cp in (2, 8)
    ]
    least = FITTED["ring_step"] * 3 * LLAMA["n_layers"]
    assert costs[0].context_parallel[0] > least
    assert costs[1].context_parallel[0] > 7 * least


def test_a_chip_that_outruns_its_memory_needs_larger_products() -> None:
    """With twice the memory bandwidth, half of the rate is reached at half of the size."""
    run = layout()
    quick = run._replace(memory_bandwidth=2 * run.memory_bandwidth)
    assert parts(quick).products[0] < parts(run).products[0]
    halves = {**FITTED, "half_tokens": 1e-9, "half_width": 1e-9}
    assert parts(quick, halves).products[0] == pytest.approx(parts(run, halves).products[0])


def test_one_chip_talks_to_nobody() -> None:
    run = layout(tp=1, dp=64, global_batch_seqs=256)._replace(chips=1.0, dp=1.0)
    found = parts(run)
    for name in ("tensor_parallel", "context_parallel", "expert_parallel", "gathers", "gradients"):
        assert getattr(found, name)[0] == 0, name


def test_tensor_parallelism_past_the_node_waits_for_the_network() -> None:
    inside, beyond = layout(tp=8, dp=8), layout(tp=16, dp=4)
    assert parts(beyond).tensor_parallel[0] > 2 * parts(inside).tensor_parallel[0]


def test_only_mixtures_have_experts() -> None:
    dense, mixture = parts(layout()), parts(layout(model=MIXTURE, ep=8))
    assert dense.experts[0] == 0 and dense.expert_parallel[0] == 0
    assert mixture.experts[0] > 0 and mixture.expert_parallel[0] > 0


def test_sharded_weights_are_gathered_and_others_are_not() -> None:
    kept, sharded = layout(zero_stage=1), layout(zero_stage=3)
    assert parts(kept).gathers[0] == 0 < parts(sharded).gathers[0]
    assert parts(sharded).gradients[0] == 0 < parts(kept).gradients[0]


def test_widths_that_are_no_multiple_of_64_cost_extra() -> None:
    """BLOOM's first candidates ran a third slower for it: 14,400 over 8 ranks is 1,800."""
    even = layout(model={**LLAMA, "d_model": 14336, "n_heads": 112})
    odd = layout(model={**LLAMA, "d_model": 14400, "n_heads": 112, "head_dim": 128})
    ratio = parts(odd).products[0] / parts(even).products[0]
    assert ratio > 0.9 * FITTED["misaligned"]


@pytest.mark.parametrize("head", [32, 64, 128, 256])
def test_narrow_heads_do_less_work_beside_each_exponential(head: int) -> None:
    """Heads of 128 and wider run at the stated rate; below, attention slows down by less than its
    heads shrink.
    """
    whole, half = layout(), FITTED["half_head"]
    narrow = layout(model={**LLAMA, "head_dim": head, "n_heads": LLAMA["n_heads"] * 128 // head})
    ratio = parts(narrow).attention[0] / parts(whole).attention[0]
    width = min(head, 128)
    assert ratio == pytest.approx((width + half) / width * 128 / (128 + half))
    assert ratio <= 128 / width


def test_kernels_for_hopper_came_with_vendors_first() -> None:
    """Two years later all stacks had them."""
    spent = {
        (stack, year): parts(layout()._replace(stack=stack, year=year)).attention[0]
        for stack in ("nemo", "fsdp2")
        for year in (2023.5, 2024.5, 2026.5)
    }
    assert spent["nemo", 2024.5] == spent["nemo", 2026.5] < spent["fsdp2", 2024.5]
    assert spent["fsdp2", 2026.5] == spent["nemo", 2026.5]


def test_every_parameter_has_a_meaning_and_moves_a_prediction() -> None:
    """A parameter that nothing depends on would be fitted to noise."""
    runs = Layouts(every_kind_of_run())
    before = tokens_per_second(runs, START)
    for name in PRIORS:
        assert PRIORS[name].meaning and PRIORS[name].start > 0 and PRIORS[name].spread > 0
        after = tokens_per_second(runs, {**START, name: 1.3 * START[name]})
        assert not np.allclose(after, before, rtol=1e-9), name


def every_kind_of_run() -> list[RunLayout]:
    """Runs that between them use every parameter."""
    base = layout()
    runs = [
        base._replace(machine=base.machine._replace(generation=name), stack=stack)
        for name in ("volta", "ampere", "hopper", "blackwell", "cdna", "neuron", "gaudi", "other")
        for stack in ("nemo", "other")
    ]
    tpu = base.machine._replace(generation="tpu", is_torus=True)
    runs.append(base._replace(machine=tpu, slices=2, zero=3, stack="maxtext"))
    stacks = ("torchtitan", "torchtune", "fsdp2", "nanotron", "megatron-core", "deepspeed")
    runs += [base._replace(stack=stack) for stack in stacks]
    runs += [
        layout(model={**LLAMA, "head_dim": 64, "n_heads": 2 * LLAMA["n_heads"]}),
        layout(run={"precision": "fp8"}),
        layout(run={"precision": "float8"}),
        layout(run={"precision": "float8 rowwise"}),
        layout(run={"precision": "nvfp4"}),
        layout(model=MIXTURE, ep=8),
        layout(model=MIXTURE, ep=8)._replace(year=2026.5),
        layout(zero_stage=3),
        layout(zero_stage=3)._replace(year=2021),
        layout(tp=16, dp=4),
        layout(pp=4, tp=1, dp=16),
        layout(cp=4, dp=2)._replace(stack="torchtitan"),
        layout(model={**LLAMA, "d_model": 8200, "n_heads": 64, "head_dim": 128}),
        base._replace(has_flash=False, year=2021),
        base._replace(year=2023, stack="fsdp2"),
        base._replace(is_compiled=False),
        base._replace(is_power_capped=True),
        base._replace(recompute="selective", inferred=("recompute",)),
    ]
    return runs


def test_degrees_that_do_not_make_the_chips_are_filled_up_with_replicas() -> None:
    assert layout(tp=1, dp=2).dp == 64
    assert layout(tp=8, dp=8).dp == 8


def test_weights_that_cannot_be_held_whole_are_taken_as_sharded() -> None:
    """70B parameters of 16 bytes fit neither one chip of 80 GB nor eight: nobody kept them so."""
    assert training_run(row(tp=1, dp=64), 2025, "").zero == 3
    assert training_run(row(tp=8, dp=8), 2025, "").zero == 1  # its optimizer is what is too large
    small = {**LLAMA, "n_layers": 4}
    assert training_run(row(model=small, tp=8, dp=8), 2025, "").zero == 0
    assert training_run(row(tp=1, dp=64, zero_stage=1), 2025, "").zero == 1  # as the row says


def test_a_row_that_names_its_schedule_is_predicted_with_it() -> None:
    piped = {"pp": 4, "tp": 1, "dp": 16}
    assert layout(**piped).schedule == "1f1b"
    assert layout(**piped, pipeline_schedule="zbv").schedule == "zb-v"
    assert layout(pipeline_schedule="zbv").schedule == "1f1b"  # there is no pipeline
    chunked = layout(**piped, pipeline_schedule="1f1b-interleaved")
    assert chunked.virtual == 2 and "chunks of a stage" in chunked.inferred
    assert layout(**piped, pipeline_schedule="Interleaved", vp=6).virtual == 6


def test_a_stage_with_fewer_layers_takes_the_head() -> None:
    """126 layers on 16 stages leave two places empty, and the last stage is not late for them.

    Llama Team, The Llama 3 herd of models (2024), section 3.3.2.
    """
    piped = {"pp": 16, "tp": 1, "dp": 4, "global_batch_seqs": 256}
    full, spare = (
        parts(layout(model={**LLAMA, "n_layers": layers}, **piped)) for layers in (128, 126)
    )
    assert spare.products[0] == pytest.approx(full.products[0])
    assert spare.head[0] < 0.1 * full.head[0]
    assert parts(layout(model={**LLAMA, "n_layers": 126})).head[0] > 0
