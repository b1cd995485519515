"""Sums that chapters print worked to the end, each done again beside its words."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.prediction import fits
from flopbook.prediction.asking import predict
from scripts.fit_ablation import PIECES, fitted_cases, without
from scripts.website.figures import configuration_map, layout_spread, narrow
from scripts.website.pages.prediction_prose import PredictionProse
from tests.support.rendering import DOCS, READS_THE_HANDBOOK, rendered

pytestmark = READS_THE_HANDBOOK
PLAN = {
    **{"model": "llama-3-70b", "chip": "h100-sxm", "chips": "512", "tp": "4", "pp": "8"},
    **{"virtual": "10", "zero": "1", "seq": "8192", "batch_tokens": "4Mi", "micro_batch": "1"},
    **{"recompute": "none", "stack": "megatron-core"},
}


def _words(chapter: str) -> str:
    """What a chapter prints, without markup and on one line."""
    return " ".join(re.sub(r"<[^>]+>", "", rendered(f"handbook/{chapter}.md")).split())


def test_the_prediction_ends_with_the_day_that_its_opening_asks_for() -> None:
    """15 trillion tokens, 4 Mi a step: 345 days of steps, and more by goodput and by the factor."""
    steps = 15e12 / (4 * 2**20)
    found = predict(PLAN)
    assert found.spent.goodput == pytest.approx(0.99, abs=0.005)
    days = steps * found.seconds / 86_400 / found.spent.goodput
    slow = days * float(PredictionProse().covering())
    printed = _words("prediction")
    assert f"{steps / 1e6:.2f} million steps" in printed
    assert f"{days:.0f} days from Monday" in printed
    assert f"At the slow end it is {slow:.0f} days" in printed


def test_a_stage_sends_640_messages_of_its_share_of_a_micro_batch() -> None:
    """32 micro-batches, ten chunks, on and back; 8,192 tokens of width 8,192 over TP 4."""
    messages, each = 32 * 10 * 2, 2 * 8192 * 8192 / 4
    assert (messages, round(each / 1e6)) == (640, 34)
    assert messages * each == pytest.approx(21e9, rel=0.03)
    assert "640 messages or 21 GB" in _words("prediction")


def test_three_throughputs_that_agree_move_a_prediction_nearly_to_their_mean() -> None:
    logarithms = [-0.09, -0.12, -0.15]
    error = np.var(logarithms, ddof=1) / len(logarithms)
    trust = 0.15**2 / (0.15**2 + error)
    printed = _words("prediction")
    assert f"the fraction is {trust:.2f}" in printed
    assert f"multiplied by {math.exp(np.mean(logarithms) * trust):.2f}" in printed


def test_the_flags_follow_one_dense_plan_before_they_turn_to_others() -> None:
    """The script names the sections that it comes from, which stand before it in its order."""
    text = (DOCS / "handbook/from-plan-to-flags.md").read_text("utf-8")
    heads = re.findall(r"^## (.+)$", text, flags=re.MULTILINE)
    named = re.findall(r"  # (.+)$", text.split("```bash\n")[1].split("```")[0], re.MULTILINE)
    places = [heads.index(name) for name in named] + [heads.index("Worked example")]
    assert places == sorted(places)
    assert heads.index("Check what runs") < heads.index("Mixtures of experts")


def test_two_switches_lie_between_the_memory_of_a_plan_and_of_its_run() -> None:
    """28 GB of optimizer states and 37 GB of activations: 70 and 135 GB."""
    run = {"model": "llama-3-70b", "chip": "h100-sxm", "seq": 8192, "tp": 4, "pp": 8, "dp": 16}
    run |= {"schedule": "interleaved", "virtual": 10, "microbatches": 32, "grad_bytes": 4}
    run |= {"recompute": "none", "attention": "flash", "dropout": "no"}
    whole, states, both = (
        float(calculate("memory", **run, zero=zero, sequence_parallel=split)["total"]) / 1e9
        for zero, split in ((1, "yes"), (0, "yes"), (0, "no"))
    )
    assert (states - whole, both - states) == pytest.approx((28, 37), abs=0.6)
    printed = f"together they lie between its {whole:.0f} GB and {both:.1f} GB"
    assert printed in _words("from-plan-to-flags")


def test_exercises_on_a_layout_print_the_rules_that_their_answers_take() -> None:
    """Chunks ask for groups; inputs of layers are kept; whole degrees share the arithmetic."""
    printed = _words("choosing-a-configuration")
    for question, rule in {
        "can its stages have chunks": "Larger groups may leave a rest, of at least as many",
        "does memory alone ask for": "$D$ values of 2 bytes for each token",
        "Can FSDP alone keep": "The two have to stay below 1",
    }.items():
        asked = printed.split(question)[1].split("??? success")[0]
        assert rule in asked
    assert f"are {2 * 80 * 8192 / 1e6:.3f} MB for a token" in printed


def test_layouts_in_pictures_are_named_where_the_text_speaks_of_them() -> None:
    """The four of the table have their lines, the two that fit their stages."""
    spread, ways = layout_spread.figure(), configuration_map.figure()
    assert [text for _, text in spread.plots[0].labels][:4] == ["1", "2", "3", "4"]
    assert {"as trained", "PP 32"} <= {text for _, text in ways.plots[0].labels}
    rows: dict[int, list[float]] = {}
    for one in sorted(configuration_map.configurations(), key=lambda one: -one.pp):
        rows.setdefault(one.tp, []).append(one.bytes)
    assert all(held == sorted(held) for held in rows.values())


def test_collectives_of_three_networks_can_be_done_by_hand() -> None:
    """1 GB over 64 chips: what the chapter multiplies is what its table prints, less the hops."""
    size, part = 1e9, 1e9 / 64
    by_hand = {
        "h100-sxm": (size * 7 / 8 / 400e9, part * 56 / 64 / 50e9),
        "gb200-gpu": (size * 63 / 64 / 900e9, part * 63 / 64 / 900e9),
        "google/tpu-v5p": (size * 63 / 64 / 600e9, 32 * part / 2 / (2 * 4**2 * 100e9)),
    }
    options = {"chips": 64, "bytes": size, "startup": 0, "ramp": 0, "efficiency": 1}
    for chip, times in by_hand.items():
        for op, seconds in zip(("all-gather", "all-to-all"), times, strict=True):
            whole = float(calculate("collective", chip=chip, op=op, **options)["seconds"])
            assert 0 <= whole - seconds <= 8e-6, (chip, op)
    printed = _words("networks")
    assert "By hand, without the hops" in printed and "875 MB at 400 GB/s" in printed
    cards, rack, torus = (by_hand[chip] for chip in by_hand)
    gather, exchange = cards[0] / rack[0], cards[1] / rack[1]
    assert f"the gather is {gather:.0f} times as fast, the all-to-all {exchange:.0f}." in printed
    assert f"{torus[1] / rack[1]:.1f} times as long as in the rack" in printed


def test_the_switch_that_adds_is_told_before_what_leaving_a_node_costs() -> None:
    text = (DOCS / "handbook/networks.md").read_text("utf-8")
    adding, leaving = text.split("### Reductions in the switch")[1].split("### What leaving")
    assert "gives it away" in adding and "Eight of them run at once" in leaving
    assert "**Both at once.**" in leaving, "the table that it discusses stands right before it"


def test_the_scheduler_starts_the_script_on_the_nodes_that_it_names() -> None:
    """Its variables are those that the script reads; 64 nodes of eight are its 512 GPUs."""
    text = (DOCS / "handbook/from-plan-to-flags.md").read_text("utf-8")
    script, batch = (part.split("```")[0] for part in text.split("```bash\n")[1:3])
    asked = dict(re.findall(r"#SBATCH --([\w-]+)=(\d+)", batch))
    assert int(asked["nodes"]) * int(asked["gpus-per-node"]) == 512
    assert asked["ntasks-per-node"] == "1" and f"--nnodes {asked['nodes']} " in script
    for name in set(re.findall(r"\$(\w+)", script)):
        assert f"{name}=" in batch, name


def test_the_constant_share_of_the_ablation_is_fitted_and_not_the_guess_of_the_opening() -> None:
    """The runs put it at 36 percent of the peak; the chapter called it that of 40."""
    fitted = fits.fitted(without(PIECES[1:]), fitted_cases())
    assert fitted["matrix"] == pytest.approx(0.356, abs=0.002)
    assert "the second guess of the opening but fitted to these runs" in _words("prediction")


def test_a_phone_names_both_layouts_that_fit_as_well() -> None:
    """A longer name beside the point that was used had no room left of the edge."""
    sheet = narrow.narrow_sheet(configuration_map.figure())
    assert sheet is not None
    shown = "".join(sheet.parts)
    assert "as trained<" in shown and "PP 32<" in shown


def test_cards_of_half_the_rate_lengthen_a_step_by_more_than_their_parts() -> None:
    """Sends double, and of gradients that mostly hid three times as much is left: 7 percent."""
    whole, half = predict(PLAN), predict({**PLAN, "network": "200Gb/s"})
    taken = whole.parts["pipeline_sends"] + whole.parts["gradients"]
    more = half.seconds - whole.seconds
    assert more > 1.1 * taken
    assert half.parts["gradients"] / whole.parts["gradients"] == pytest.approx(3, abs=0.5)
    said = f"half the rate would add {100 * more / whole.seconds:.0f} percent"
    assert said in _words("prediction")
