"""Steps in the middle of an argument that chapters now print, each done by hand."""

from __future__ import annotations

import re

import numpy as np
import pytest

from flopbook.architectures.shape import shape
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.pipelines import Times, plan, simulate
from flopbook.prediction.asking import predict
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.own_moves import SCATTERS, SHARED, WIDER
from scripts.website.figures import figure_of, mixed_lanes
from scripts.website.figures.step_budget import LAYOUTS, RUN
from tests.support.rendering import text_of
from tests.website.test_exercise_answers import agrees, numbers_of


@pytest.mark.parametrize("tokens", [64.0, 1000.0, 30_000.0])
def test_the_noise_scale_is_the_critical_batch_where_all_directions_curve_alike(
    tokens: float,
) -> None:
    """The best gain of a step against noise is that without it, over 1 + B_c / B."""
    squared, variance = 2.0, 5000.0
    rates = np.linspace(0, 2, 200_001)
    gains = rates * squared - rates**2 / 2 * (squared + variance / tokens)
    without = squared / 2
    critical = variance / squared
    assert without / gains.max() == pytest.approx(1 + critical / tokens, rel=1e-4)
    assert "if $B_c = v / |g|^2$" in text_of("batch")


def test_a_sum_of_gradients_hides_from_the_peak_over_the_network_on() -> None:
    """4 bytes for each weight behind 4 FLOPs for each weight and token, before it is used."""
    peak, port, cards = 989.4e12, 450e9, 8 * 50e9
    limit = calculate("dp-limit", chip="nvidia/h100-sxm", scaleout_bandwidth=50e9)
    for rate, name in ((port, "tokens_per_chip"), (cards, "across_tokens")):
        tokens = (4 / rate) / (4 / peak)
        assert float(limit[name]) == pytest.approx(tokens, rel=1e-3)
    said = text_of("batch")
    assert "So the sum hides from $\\pi / w$ tokens on" in said
    assert said.index("$\\pi / w$ tokens on") < said.index("### Eight times the GPUs, answered")


def test_studies_are_defined_before_their_batches_are_compared() -> None:
    said = text_of("batch")
    assert said.index("$B_c = 5 (B - 1.2 B_0)$") < said.index("| Study | Model | Measured |")


@pytest.mark.parametrize("ports", [4, 64])
def test_hosts_and_switches_of_a_fat_tree_follow_from_its_ports(ports: int) -> None:
    """Each leaf serves half of its ports, each pod half as many leaves, the core all pods."""
    hosts = ports // 2 * (ports // 2) * ports
    # Every port down of a pod's upper switches is matched by one up, which ends in the core.
    core = ports * (ports // 2) ** 2 // ports
    assert hosts == ports**3 / 4
    assert ports * ports + core == 5 * ports**2 / 4
    assert "a core switch has a port for each of $p$ pods" in text_of("networks")


def test_halving_leaves_each_of_four_ranks_with_the_sum_of_a_quarter() -> None:
    """Halves with the rank next door, then quarters with the one two places away."""
    arrays = np.random.default_rng(0).normal(size=(4, 8))
    held = {rank: (slice(0, 8), arrays[rank].copy()) for rank in range(4)}
    for distance in (1, 2):
        held = {rank: _swapped(rank, rank ^ distance, held) for rank in range(4)}
    total = arrays.sum(axis=0)
    for part, values in held.values():
        assert np.allclose(values, total[part])
    assert sorted(part.start for part, _ in held.values()) == [0, 2, 4, 6]
    assert "Then 0 and 2 swap quarters" in text_of("networks")


def _swapped(
    rank: int, partner: int, held: dict[int, tuple[slice, np.ndarray]]
) -> tuple[slice, np.ndarray]:
    """The half that a rank keeps of its part, with what its partner had of it added."""
    part, mine = held[rank]
    half = len(mine) // 2
    kept = slice(0, half) if rank < partner else slice(half, None)
    start = part.start + (0 if rank < partner else half)
    return slice(start, start + half), mine[kept] + held[partner][1][kept]


@pytest.mark.parametrize(("gather", "matmul"), [(1.0, 3.0), (3.0, 1.0), (2.0, 2.0)])
def test_a_cut_matmul_hides_all_but_a_piece_of_the_shorter(gather: float, matmul: float) -> None:
    """Piece by piece: each is multiplied once it is there and the one before is done."""
    pieces = 8
    done = 0.0
    for piece in range(1, pieces + 1):
        done = max(done, piece * gather / pieces) + matmul / pieces
    assert done == pytest.approx(max(gather, matmul) + min(gather, matmul) / pieces)
    assert "all but a $p$-th of the shorter of the two is hidden" in text_of("tensor-parallelism")


def test_the_slack_of_the_best_split_is_the_root_of_tokens_over_the_limit() -> None:
    """Arithmetic goes with the tokens of a chip, the traffic of the best split with their root."""
    split = calculate(
        "mixed-limit",
        chip="google/tpu-v5p",
        model="llama-3-70b",
        ffn_kind="gated",
        axes=3,
        tensor_axes=1,
        chips=1024,
        batch_tokens=500_000,
    )
    tokens = 500_000 / 1024
    assert split["slack"] == pytest.approx((tokens / split["tokens_per_chip"]) ** 0.5, rel=1e-6)
    assert "the root of step 1 over step 4" in text_of("mixed-parallelism")


@pytest.mark.parametrize(("group", "times"), [(2, 1.0), (4, 1.5)])
def test_an_open_line_gathers_more_slowly_than_a_closed_axis(group: int, times: float) -> None:
    """The last link of a line carries the blocks of all chips but one, an axis two links each."""
    over_link = [sum(1 for chip in range(group) if chip <= link) for link in range(group - 1)]
    charged = group / 2  # the whole array over both links of a chip
    assert max(over_link) / charged == pytest.approx(times)
    assert mixed_lanes.stretch(group) == pytest.approx(times)
    assert "= 1.5$ times as long" in text_of("mixed-parallelism")


@pytest.mark.parametrize(("degree", "weights", "tokens"), [(2, 1.175, 0.107), (4, 0.588, 0.320)])
def test_a_step_waits_for_half_of_the_forward_exchanges_or_for_its_weights(
    degree: int, weights: float, tokens: float
) -> None:
    """One of two exchanges forward twice, one of three backward: 1.5 times, beside 3."""
    whole = max((1 + tokens) + (2 + tokens / 2), 3 * weights) / 3
    assert whole == pytest.approx({2: 1.18, 4: 1.16}[degree], abs=0.006)
    assert "half of the column on top" in text_of("mixed-parallelism")


def test_tp_in_a_node_is_no_remedy_for_gathers_between_nodes() -> None:
    """Eight cards bring one copy of the weights into a node with TP and without."""
    alone = calculate("fsdp-limit", chip="nvidia/h100-sxm")["across_tokens"]
    group = chip("nvidia/h100-sxm").peak("bf16") / 50e9
    assert group / 8 == pytest.approx(alone, rel=0.01)
    assert "In nodes of GPUs that does not help the gathers" in text_of("mixed-parallelism")


def test_states_and_activations_of_a_stage_lie_beside_each_other() -> None:
    """Ten layers of Llama 3 70B over eight GPUs: 17 GB of states, 23 of activations."""
    config = shape("llama-3-70b")
    weights = (config.params - 2 * config.vocab * config.d_model) / 8
    states = 16 * weights / 8
    assert states == pytest.approx(17.1e9, rel=0.01)
    numbers = numbers_of("pipeline-parallelism", "In the worked example a GPU")
    held = next(number for number in numbers if 2.8 < number < 2.95) * 1e9
    room = (36e9 - states) / held
    assert [stage for stage in range(8) if 8 - stage > room] == [0, 1]
    assert max(4 * 8, 3 * 10, 3 * 11) == 33 and 2 * 8 + 2 * 10 + 4 * 11 == 80
    assert agrees(room, numbers, 0.02) and agrees(1.1 * (states + 4 * held), numbers, 0.02)
    assert "Beside them lie weights, gradients" in text_of("pipeline-parallelism")


def test_a_stage_that_recomputes_sets_the_pace_of_all() -> None:
    """1F1B with one slow stage of four, run pass by pass: the others wait for it."""
    even, slow = (_one_by_one([3, 3, 3, 3], 40), _one_by_one([4, 3, 3, 3], 40))
    assert slow / even == pytest.approx(4 / 3, rel=0.03)
    assert "the slowest stage sets the pace" in text_of("pipeline-parallelism")


def _one_by_one(times: list[float], count: int) -> float:
    """When the last of these pieces of work has passed all stages, one after the other."""
    free = [0.0] * len(times)
    for _ in range(count):
        arrived = 0.0
        for stage, taken in enumerate(times):
            free[stage] = arrived = max(arrived, free[stage]) + taken
    return free[-1]


@pytest.mark.parametrize("schedule", ["zb-v", "dualpipe"])
def test_folded_pipelines_hold_as_much_on_every_stage(schedule: str) -> None:
    """Where 1F1B goes from eight micro-batches down to one."""
    assert len(set(simulate(plan(schedule, 8, 32), Times()).held)) == 1
    assert simulate(plan("1f1b", 8, 32), Times()).held == tuple(range(8, 0, -1))
    assert "hold equally much on all stages" in text_of("pipeline-parallelism")


def test_the_two_directions_of_dualpipe_have_colours_of_their_own() -> None:
    """Passes that enter at the bottom have other fills, and a line at their foot."""
    drawn = "".join(figure_of("pipeline-schedule", schedule="dualpipe").parts)
    inks = set(re.findall(r'class="fb-on(\d)"[^>]*>(\d)</text>', drawn))
    first = {fill for fill, batch in inks if int(batch) <= 4}
    assert first and first.isdisjoint(fill for fill, batch in inks if int(batch) > 4)
    assert "enters at the top" in figure_of("pipeline-schedule", schedule="dualpipe").caption


def test_a_million_tokens_leave_as_many_on_a_group_as_the_worked_example() -> None:
    """CP 128 of 8 TP ranks, and attention with half of its scores beside two FLOPs a weight."""
    config = shape("llama-3-405b")
    attention, matmuls = 2 * config.layers * config.d_model * 1e6, 2 * config.params
    assert pytest.approx(131072 / 16, rel=0.05) == 1e6 / 128
    assert attention / (attention + matmuls) == pytest.approx(0.84, abs=0.005)
    short = 2 * config.layers * config.d_model * 8192
    assert (attention + matmuls) / (short + matmuls) == pytest.approx(5.8, abs=0.1)
    assert "**The million.**" in text_of("context-parallelism")


def test_an_exchange_with_copies_lacks_all_but_an_xth_of_what_it_attends_to() -> None:
    """H/X query heads and one KV head of all tokens, in heads of a rank's tokens."""
    heads, ranks = 128, 32
    queries, keys = heads / ranks * ranks, ranks
    lacks = (ranks - 1) / ranks
    formula = 2 * heads * (ranks - 1) / ranks + 2 * (ranks - 1)
    assert 2 * (queries + keys) * lacks == pytest.approx(formula)
    assert "Of each it lacks all but an $X$-th" in text_of("context-parallelism")


def test_a_causal_cut_from_both_ends_leaves_targets_on_another_rank() -> None:
    """Eight chunks on four ranks: the token after a chunk is elsewhere, but for one rank."""
    owner = [min(chunk, 7 - chunk) for chunk in range(8)]
    assert [chunk for chunk in range(7) if owner[chunk] == owner[chunk + 1]] == [3]
    assert "number and shift first, then cut" in text_of("context-parallelism")


def test_memory_and_backward_pass_of_context_parallelism_by_hand() -> None:
    kept = numbers_of("context-parallelism", "A stage of 8 layers")
    whole = 16 * 8 * 131072 * 16384 * 2 / 8
    assert agrees(whole, kept) and agrees(whole / 8, kept)
    assert whole / 8 < 10e9 < whole / 4
    back = numbers_of("context-parallelism", "A ring hides forward")
    assert agrees(2474 * (4 * 2) / (2 * 2) * 2 / 5, back, 0.001)
    assert agrees(2474 * (2 * 2 + 2 * 4) / (2 * 2) * 2 / 5, back, 0.001)


def test_the_backward_pass_of_a_layer_hides_as_many_bytes_for_each_flop() -> None:
    """Gathers of 2P and scatters of 2P beside 4P FLOPs a token, 2P beside 2P forward."""
    weights = 1e9
    forward, backward = 2 * weights / (2 * weights), (2 + 2) * weights / (4 * weights)
    assert forward == backward
    assert "twice the bytes beside twice the FLOPs" in text_of("networks")


def test_the_parts_of_the_predicted_step_that_are_done_by_hand_leave_little() -> None:
    """Products 5.47, attention 0.89, sums 0.50, head 0.56, sends 0.47, bubble 0.16; 0.29 others."""
    shares = fitted_kinds()["training_throughput"].parameters
    parts = predict({**RUN, **LAYOUTS["as planned"]}).parts
    micro_batches, tokens, tp, width, vocabulary = 32, 8192, 4, 8192, 128_256
    ridge = 989.4 / 3.35 / 200
    kept = shares["matrix"] * shares["matrix_hopper"] * shares["stack_megatron-core"]
    kept *= tokens / (tokens + shares["half_tokens"] * ridge)
    kept *= 28_672 / tp / (28_672 / tp + shares["half_width"] * ridge)
    products = 6 * tokens * vocabulary * width / tp / 989.4e12 / kept
    logits = 12 * tokens * vocabulary / tp / 3.35e12
    head = micro_batches * (products + logits) * shares["last_stage"]
    assert parts["head"] == pytest.approx(head, rel=1e-3)
    sent = micro_batches * 2 * 10 * 2 * tokens * width / tp
    assert parts["pipeline_sends"] == pytest.approx(sent / 50e9 / shares["card_share"], rel=1e-3)
    by_hand = ("products", "attention", "tensor_parallel", "head", "pipeline_sends", "bubble")
    assert sum(parts.values()) - sum(parts[name] for name in by_hand) == pytest.approx(
        0.29, abs=0.01
    )
    assert "7. **Head.**" in text_of("prediction")


def test_a_percent_of_the_loss_is_worth_half_of_a_budget() -> None:
    """12B parameters on 10T tokens, by the fit that the chapter on compute uses."""
    budget = 6 * 12e9 * 10e12
    half, whole = (calculate("scaling-law", flop=flop)["loss"] for flop in (budget / 2, budget))
    assert 100 * (half / whole - 1) == pytest.approx(1.0, abs=0.1)
    assert "half the training FLOPs raise the best loss by" in text_of("low-precision")


def test_the_grid_of_a_calibration_is_the_one_that_the_chapter_names() -> None:
    """Five widths, three shared factors and seven scatters are 105 choices."""
    assert WIDER == (0, 1, 4, 16, 64) and SHARED == (0, 0.1, 0.4)
    assert len(WIDER) * len(SHARED) * len(SCATTERS) == 105
    assert SCATTERS[0] < 1e-5 and SCATTERS[-1] == 0.32
    assert "weighted by that density" in text_of("prediction")
