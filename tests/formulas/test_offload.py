"""Offloading to the host: what moves, what hides, and what published runs take longer."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import memory, offload
from flopbook.formulas.training_memory_inputs import OFFLOADED

LINK = 32e9
HELD = OFFLOADED[1:]
parameters = st.floats(min_value=1e8, max_value=1e12)
places = st.sampled_from(HELD)
counts = st.integers(1, 64)
# GPT of some 13 billion parameters (Brown et al., 2020).
GPT_13B = {
    "params": 13e9,
    "layers": 40,
    "d_model": 5120,
    "heads": 40,
    "d_ff": 20480,
    "vocab": 50257,
    "ffn_kind": "plain",
    "tied_embeddings": "yes",
    "seq": 1024,
    "recompute": "full",
    "attention": "scores",
}


@given(parameters, counts)
def test_nothing_moves_that_is_not_offloaded(params: float, count: int) -> None:
    out = offload(params=params, host_bandwidth=LINK, offload="no", microbatches=count)
    assert set(out.values()) == {0}


@given(parameters, places, counts, counts)
def test_replicas_divide_all_of_it(params: float, place: str, count: int, dp: int) -> None:
    """Hosts of eight chips, however many there are: each has an eighth of the work of eight."""
    asked: dict[str, Any] = {"host_bandwidth": LINK, "offload": place, "microbatches": count}
    asked["host_chips"] = 8
    one, shared = offload(params=params, **asked), offload(params=params, dp=dp, **asked)
    for name, value in one.items():
        assert shared[name] == pytest.approx(value / dp)


@given(parameters, places, st.integers(1, 8))
def test_one_host_updates_all_parameters_once(params: float, place: str, dp: int) -> None:
    """Up to eight replicas share a host, and each brings its part of the states."""
    asked: dict[str, Any] = {"params": params, "host_bandwidth": LINK, "offload": place}
    one, shared = offload(**asked), offload(dp=dp, **asked)
    assert one["update_seconds"] == pytest.approx(28 * params / 110e9)
    assert shared["update_seconds"] == pytest.approx(one["update_seconds"])
    kept = {"optimizer": 12, "gradients": 14, "parameters": 16}[place]
    assert shared["host_bytes"] == pytest.approx(kept * params)
    assert offload(dp=8 * dp, **asked)["host_bytes"] == pytest.approx(kept * params / dp)


def test_a_host_keeps_the_activations_of_a_micro_batch_of_each_chip() -> None:
    asked: dict[str, Any] = {"params": 1e9, "host_bandwidth": LINK, "offload": "no", "dp": 4}
    out = offload(offload_activations="yes", activations=20e9, microbatches=8, **asked)
    assert out["host_bytes"] == 4 * 20e9 and out["down"] == 8 * 20e9


@given(parameters, counts)
def test_each_word_moves_what_those_before_it_do(params: float, count: int) -> None:
    asked: dict[str, Any] = {"params": params, "host_bandwidth": LINK, "microbatches": count}
    moved = [offload(offload=place, **asked) for place in OFFLOADED]
    for less, more in itertools.pairwise(moved):
        assert more["down"] >= less["down"] and more["up"] >= less["up"]
    # Weights that lie on the host are fetched for both passes of each micro-batch.
    assert moved[3]["up"] == pytest.approx(2 * count * moved[2]["up"])


@given(parameters, places, st.floats(min_value=1e-6, max_value=1e3))
def test_longer_passes_hide_more(params: float, place: str, seconds: float) -> None:
    asked: dict[str, Any] = {"params": params, "host_bandwidth": LINK, "offload": place}
    bare = offload(**asked)
    hidden = offload(compute_seconds=seconds, **asked)
    assert bare["update_seconds"] <= hidden["exposed"] <= bare["exposed"] + 1e-9
    faster = offload(**{**asked, "host_bandwidth": 2 * LINK}, compute_seconds=seconds)
    assert faster["exposed"] <= hidden["exposed"]


def test_gradients_hide_behind_the_backward_pass() -> None:
    """From the bytes of a gradient and the four operations of a weight: B = peak / (2 link)."""
    params, peak = 1e10, 312e12
    tokens = peak / (2 * LINK)
    asked: dict[str, Any] = {"params": params, "host_bandwidth": LINK, "offload": "gradients"}
    enough = offload(compute_seconds=6 * params * tokens / peak, **asked)
    fewer = offload(compute_seconds=6 * params * tokens / peak / 2, **asked)
    assert enough["exposed"] == pytest.approx(enough["update_seconds"])
    waits = params * 2 / LINK / 2
    assert fewer["exposed"] == pytest.approx(fewer["update_seconds"] + waits)


def test_activations_go_down_and_come_up() -> None:
    asked: dict[str, Any] = {"params": 1e9, "host_bandwidth": LINK, "offload": "no"}
    out = offload(offload_activations="yes", activations=32e9, microbatches=2, **asked)
    assert out["down"] == out["up"] == 64e9
    # Nothing hides them: two seconds down in the forward passes, two up in the backward ones.
    assert out["exposed"] == pytest.approx(4)


def test_the_update_of_torchtune() -> None:
    """Llama 3 70B on eight A100 with all states on the host makes 196 tokens a second and chip:
    4,096 take 20.9 s, of which the passes alone are predicted to take 11.9."""
    out = calculate(
        "offload",
        model="llama-3-70b",
        chip="a100-sxm-80gb",
        dp=8,
        offload="parameters",
        update_bytes=14,
        compute_seconds=11.9,
    ).outputs
    assert out["exposed"] + 11.9 == pytest.approx(4096 / 196, rel=0.02)


def test_thirteen_billion_parameters_train_on_one_card() -> None:
    """ZeRO-Offload trains 13B on a V100 with 32 GB, where states alone take 208 GB."""
    assert memory(**GPT_13B)["total"] > 208e9
    assert memory(**GPT_13B, offload="optimizer")["total"] > 32e9
    assert memory(**GPT_13B, offload="gradients")["total"] < 32 * 2**30


@given(st.sampled_from((0, 1, 2, 3)), st.sampled_from((1, 2, 4)), st.sampled_from((1, 8)))
def test_memory_shrinks_with_each_word(zero: int, pp: int, dp: int) -> None:
    layout: dict[str, Any] = {**GPT_13B, "zero": zero if dp > 1 else 0, "pp": pp, "dp": dp}
    found = [memory(**layout, offload=place) for place in OFFLOADED]
    assert found[1]["optimizer"] == 0 and found[1]["step"] == 0
    assert found[2]["gradients"] == 0
    assert found[3]["weights"] == found[3]["stage_extra"] == 0
    states = ("weights", "gradients", "optimizer", "stage_extra")
    totals = [sum(one[name] for name in states) for one in found]
    assert totals == sorted(totals, reverse=True)
    away = memory(**layout, offload_activations="yes")
    assert away["activations"] <= found[0]["activations"]
    assert away["weights"] == found[0]["weights"]


def test_words_are_checked() -> None:
    with pytest.raises(FlopbookError, match="offload"):
        offload(params=1e9, host_bandwidth=LINK, offload="everything")
    with pytest.raises(FlopbookError, match="no link to its host"):
        calculate("offload", model="llama-3-8b", chip="b200")


@pytest.mark.parametrize("zero", [0, 3])
@pytest.mark.parametrize(
    ("offload", "away"),
    [
        ("no", ()),
        ("optimizer", ("optimizer",)),
        ("gradients", ("optimizer", "gradients")),
        ("parameters", ("optimizer", "gradients", "weights")),
    ],
)
def test_what_is_offloaded_is_gone_and_the_rest_stays(
    offload: str, away: tuple[str, ...], zero: int
) -> None:
    """Offloading goes up the rungs of ZeRO; on the chip nothing else changes of the states."""
    run = {**GPT_13B, "zero": zero, "dp": 8}
    here, there = memory(**run), memory(**run, offload=offload)
    for part in ("weights", "gradients", "optimizer"):
        assert there[part] == (0 if part in away else here[part]), part
    assert there["activations"] == here["activations"]


def test_updates_of_deepspeed_are_told_with_what_they_take() -> None:
    """chen2024deepspeed: 7 billion on eight A800 took 17 s a step longer."""
    asked: dict[str, Any] = {"params": 6.74e9, "host_bandwidth": LINK, "dp": 8}
    result = calculate("offload", **asked)
    slow = calculate("offload", **asked, host_rate="11GB/s")
    told = result.omitted["slower_updates"]
    assert told.share == pytest.approx(slow["exposed"] / result["exposed"] - 1, rel=0.05)
    assert slow["update_seconds"] == pytest.approx(17, rel=0.05) and not slow.omitted


@given(parameters, counts)
def test_weights_on_the_host_wait_for_nothing_but_their_update(params: float, count: int) -> None:
    """Gradients have left by the end of passes that hide them, and weights come when needed."""
    out = offload(
        params=params,
        host_bandwidth=LINK,
        offload="parameters",
        microbatches=count,
        compute_seconds=1e9,
        update_bytes=0.01,
    )
    assert out["exposed"] == pytest.approx(out["update_seconds"])
