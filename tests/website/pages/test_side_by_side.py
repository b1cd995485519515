"""What each kind of parallelism moves, which layouts are chosen, a batch, a layer, rails."""

from __future__ import annotations

import re

import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from scripts.website.figures import figure_of
from scripts.website.figures.batch_steps import steps, tokens
from scripts.website.figures.layer_roofline import SEQUENCES, parts
from scripts.website.figures.layout_map import CHIPS, MODELS, chosen, kind_of_layout
from scripts.website.figures.rails import RAILS, hops
from scripts.website.figures.what_moves import GROUP, KINDS, moved


def test_fsdp_moves_half_as_much_again_as_data_parallelism() -> None:
    """Three passes over the network against two, whatever the batch."""
    assert moved("fsdp") == pytest.approx(1.5 * moved("dp"))
    for kind in ("dp", "fsdp"):
        assert moved(kind, sequences=64) == moved(kind)


def test_an_all_reduce_of_the_gradients_is_what_the_calculator_says() -> None:
    size = 2 * calculate("params", model="llama-3-70b")["total"]
    sent = calculate("collective", chip="h100-sxm", chips=GROUP, bytes=size, op="all-reduce")
    assert moved("dp") == pytest.approx(float(sent["bytes_per_link"]), rel=0.01)


@pytest.mark.parametrize("kind", ["tp", "pp", "cp", "ep"])
def test_what_moves_with_the_tokens_grows_with_them(kind: str) -> None:
    assert moved(kind, sequences=16) == pytest.approx(2 * moved(kind, sequences=8))


def test_tensor_parallelism_sends_ten_halves_of_an_all_reduce_in_a_layer() -> None:
    """20 B D bytes for each layer (korthikanti2023reducing), seven eighths of them away."""
    assert moved("tp") == pytest.approx(20 * 65_536 * 8192 * 80 * 7 / 8)
    assert moved("pp") == pytest.approx(4 * 65_536 * 8192)


def test_the_picture_tells_what_was_computed() -> None:
    drawn = figure_of("what-moves")
    for kind, told in KINDS.items():
        assert f"{told.name}: {told.moves}" in drawn.description, kind
    assert drawn.narrow and drawn.narrow.width < 350
    ratio = moved("tp") / moved("pp")
    assert f"{ratio:,.0f} times" in drawn.title and max(map(moved, KINDS)) == moved("tp")


@pytest.mark.parametrize("model", MODELS)
def test_a_chosen_layout_uses_all_chips_and_fits(model: str) -> None:
    fits = []
    for chips in CHIPS:
        layout = chosen(model, chips)
        fits.append(layout is not None)
        if layout:
            assert layout.tp * layout.pp * layout.cp * layout.dp == chips
            assert layout.bytes <= chip("h100-sxm").memory()
            assert 0 < layout.mfu < 1
    assert fits == sorted(fits), "more chips never make a model too large"


def test_a_larger_model_and_more_chips_ask_for_more_kinds() -> None:
    assert kind_of_layout(chosen("llama-3-8b", 16)).name == "ZeRO alone"
    assert kind_of_layout(chosen("llama-3-405b", 8192)).name == "and CP"
    layouts = [chosen("llama-3-8b", chips) for chips in CHIPS]
    assert layouts[0].mfu > layouts[-1].mfu
    drawn = figure_of("layout-map")
    assert len(re.findall(r"TP \d+, PP \d+, CP \d+", drawn.description)) == sum(
        chosen(model, chips) is not None for model in MODELS for chips in CHIPS
    )


@pytest.mark.parametrize("batch", [0.1, 0.5, 1, 3, 10])
def test_steps_and_tokens_of_a_batch_obey_their_law(batch: float) -> None:
    """(S/S_min - 1)(E/E_min - 1) = 1 (mccandlish2018empirical)."""
    assert (steps(batch) - 1) * (tokens(batch) - 1) == pytest.approx(1)
    assert tokens(batch) == pytest.approx(batch * steps(batch))


def test_what_moves_with_users_and_what_does_not() -> None:
    """A matmul of few rows has their number as its intensity, cached attention H/K in bf16."""
    found = {(part.job, part.name): part.intensity for part in parts()}
    assert found["decoding", "feed-forward"] == pytest.approx(SEQUENCES, rel=0.01)
    assert found["decoding", "attention"] == pytest.approx(32 / 8)
    device = chip("h100-sxm")
    ridge = device.peak("bf16") / device.memory_bandwidth()
    above = {key for key, intensity in found.items() if intensity > ridge}
    assert above == {("training", name) for name in ("feed-forward", "query matrix", "attention")}


def test_a_message_changes_rails_inside_a_node() -> None:
    assert hops((0, 1), (2, 1)) == ["rail 1"] and hops((0, 1), (0, 2)) == ["NVLink"]
    assert hops((0, 0), (2, RAILS - 1)) == ["rail 0", "NVLink"] and hops((1, 1), (1, 1)) == []
    drawn = figure_of("rails")
    assert "over rail 0, then NVLink" in drawn.description and drawn.narrow
