"""What does not fit is said first, with the smallest number of chips and a change that helps."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from flopbook.cli.app import run
from flopbook.data.library import model_ids
from flopbook.errors import FlopbookError
from flopbook.evaluation.answers import answer
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import decode, kv_cache, prefill, serving
from tests.support.cases import every

CHIP: dict[str, Any] = {"peak": 989.4e12, "bandwidth": 3.35e12, "memory": 80e9}
LARGE: dict[str, Any] = {"model": "llama-3-405b", "chip": "h100-sxm"}
CALCULATORS = {"decode": decode, "prefill": prefill, "serving": serving}


def shape(params: float, heads: int, kv_heads: int) -> dict[str, Any]:
    return {
        "params": params,
        "compute_params": params,
        "layers": 80,
        "heads": heads,
        "kv_heads": kv_heads,
        "head_dim": 128,
    }


@pytest.mark.parametrize("name", ["decode", "prefill", "serving"])
def test_405_billion_weights_do_not_fit_one_h100(name: str) -> None:
    """810 GB of weights and 34 GB of cache in 80 GB: 11 chips hold them, as 16 with TP."""
    result = calculate(name, **LARGE, batch=64, seq=1024)
    cache = calculate("kv-cache", model="llama-3-405b", batch=64, seq=1024)["bytes"]
    assert result["chip_bytes"] == pytest.approx(2 * 405e9 + cache, rel=0.01)
    assert result["free"] == pytest.approx(80e9 - result["chip_bytes"])
    assert result["fewest_chips"] == 11
    first = answer(result).splitlines()[0]
    over = f"{-result['free'] / 1e9:.4g} GB over"
    assert first == f"does not fit: {over}; smallest number of chips 11; with --tp 16 it fits"


def test_json_says_so_with_the_figures() -> None:
    record = calculate("decode", **LARGE, batch=64, seq=1024).as_json()
    assert record["fits"] is False and record["smallest_chips"] == 11
    assert record["over"] == {"value": -record["outputs"]["free"]["value"], "unit": "byte"}
    assert record["fits_with"] == "--tp 16"
    json.dumps(record, allow_nan=False)
    fitting = calculate("decode", **LARGE, batch=64, seq=1024, tp=16)
    assert fitting.as_json()["fits"] is True and "over" not in fitting.as_json()
    assert answer(fitting).startswith("seconds ")


def test_nothing_is_said_of_a_memory_that_is_not_known() -> None:
    result = calculate("decode", model="llama-3-405b", peak="1PFLOP/s", bandwidth="3TB/s", seq=1024)
    assert result.fit is None and "fits" not in result.as_json()
    assert result["free"] is None and result["fewest_chips"] is None
    assert "free, fewest_chips need --memory" in result.notes


def test_a_number_of_chips_fills_the_tp_degree() -> None:
    by_chips, by_tp = (calculate("decode", **LARGE, seq=1024, **{n: 16}) for n in ("chips", "tp"))
    assert by_chips.outputs == by_tp.outputs
    replicas = calculate("decode", **LARGE, seq=1024, batch=64, chips=32, dp=2)
    assert replicas.outputs == calculate("decode", **LARGE, seq=1024, batch=64, tp=16, dp=2).outputs
    assert (
        replicas.outputs
        == calculate("decode", **LARGE, seq=1024, batch=64, tp=16, chips=32).outputs
    )
    spread = {"model": "deepseek-v3", "chip": "h200", "dtype": "fp8", "batch": 256, "seq": 4096}
    assert (
        calculate("decode", **spread, ep=32, chips=64).outputs
        == calculate("decode", **spread, ep=32, dp=32, tp=2).outputs
    )


@every(
    "given_, message",
    [
        ({"chips": 12, "tp": 8}, "--chips 12 is not a multiple of --tp 8; use 8 or 16"),
        ({"chips": 16, "tp": 8, "dp": 4}, "--chips 16 is not --tp 8 times --dp 4"),
        ({"chips": 24}, "a TP degree that divides 64 attention heads; give --tp and --dp"),
        ({"chips": 2, "dp": 4, "batch": 8}, "a TP degree that divides 64 attention heads"),
        ({"ep": 4, "dp": 6, "batch": 8}, "--ep 4 does not divide the replicas of attention"),
        ({"ep": 4, "tp": 8, "chips": 16, "batch": 8}, "--ep 4 does not divide the replicas"),
        ({"dp": 8, "batch": 4}, "--batch 4 is smaller than the replicas of attention"),
        ({"chips": 32, "tp": 8, "batch": 3}, "--batch 3 is smaller than the replicas"),
    ],
)
@every("name", sorted(CALCULATORS))
def test_layouts_that_cannot_be_are_refused(
    name: str, given_: dict[str, Any], message: str
) -> None:
    with pytest.raises(FlopbookError, match=message):
        CALCULATORS[name](**shape(70e9, 64, 8), **CHIP, seq=128, **given_)


@given(
    st.floats(1e9, 3e12),
    st.sampled_from([(64, 8), (128, 8), (128, 16), (96, 96), (32, 1)]),
    st.integers(1, 512),
    st.integers(1, 200_000),
    st.sampled_from([0, 40, 72]),
)
def test_the_smallest_number_of_chips_holds_it_and_one_less_does_not(
    params: float, heads: tuple[int, int], batch: int, seq: int, state_layers: int
) -> None:
    """Held against every TP degree and number of replicas, divisors or not, one by one.

    Keys and values are cut up to the KV heads, the states of other layers by any degree.
    """
    kinds = {"full_layers": 80 - state_layers, "state_layers": state_layers, "state_values": 1e6}
    out = decode(**shape(params, *heads), **CHIP, **kinds, batch=batch, seq=seq)
    states = 4 * state_layers * 1e6
    attention = {"heads": heads[0], "kv_heads": heads[1], "head_dim": 128}
    cache = kv_cache(layers=80 - state_layers, **attention, seq=seq)["bytes"]

    def held(degree: int, replicas: int) -> float:
        cut = degree if degree < heads[1] else heads[1]
        return 2 * params / degree + batch * (states / degree + cache / cut) / replicas

    most = 4000
    counts = [
        degree * replicas
        for replicas in range(1, min(batch, most) + 1)
        for degree in _degrees(held, replicas, most)
    ]
    assume(counts)
    fewest = min(counts)
    # Exact while all chips divide the cache; beyond, few layouts are tried, not all.
    assert fewest <= out["fewest_chips"] <= 2 * fewest
    if 2 * params + batch * (cache + states) <= heads[1] * 80e9:
        assert out["fewest_chips"] == fewest
    if out["free"] >= 0:
        assert out["fewest_chips"] == 1


def _degrees(held: Any, replicas: int, most: int) -> list[int]:
    """The smallest TP degree with which so many replicas fit, if one does."""
    low, high = 1, most
    if held(high, replicas) > 80e9:
        return []
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if held(middle, replicas) <= 80e9 else (middle + 1, high)
    return [low]


@given(st.integers(1, 4096), st.integers(1, 100_000), st.sampled_from([1, 2, 4, 8, 16]))
def test_more_sequences_and_tokens_need_more_memory_and_more_chips_less(
    batch: int, seq: int, tp: int
) -> None:
    base = decode(**shape(70e9, 64, 8), **CHIP, batch=batch, seq=seq, tp=tp)
    more = decode(**shape(70e9, 64, 8), **CHIP, batch=batch + 1, seq=seq + 1, tp=tp)
    wider = decode(**shape(70e9, 64, 8), **CHIP, batch=batch, seq=seq, tp=2 * tp)
    assert more["chip_bytes"] > base["chip_bytes"] > wider["chip_bytes"]
    assert more["fewest_chips"] >= base["fewest_chips"] == wider["fewest_chips"]


@every("model", model_ids())
def test_a_change_that_is_proposed_makes_it_fit(model: str) -> None:
    """What the first line proposes is taken, and fits; on every model that one L40S is too small
    for.
    """
    asked: dict[str, Any] = {"model": model, "chip": "l40s", "seq": 2048, "batch": 512}
    if model == "grok-1-314b":  # publishes no active parameters; any number will do here
        asked["compute_params"] = "80B"
    result = calculate("decode", **asked)
    assert result.fit is not None and result.fit.fits == (result["free"] >= 0)
    if not result.fit.remedy:
        assert result.fit.fits or result["fewest_chips"] > 1
        return
    option, value = result.fit.remedy.removeprefix("--").split()
    changed = calculate("decode", **asked | {option.replace("-", "_"): value})
    assert changed["free"] >= 0 > result["free"]
    if option == "tp":
        assert int(value) >= result["fewest_chips"]


@pytest.mark.parametrize(
    ("model", "chip", "chips", "remedy"),
    [
        ("deepseek-v3", "h200", 8, "--weight-dtype fp8"),
        ("gpt-oss-120b", "h100-sxm", 1, "--weight-dtype mxfp4"),
        # Published in bf16: nothing is narrower than what was counted.
        ("llama-3-405b", "h100-sxm", 8, "--chips 16"),
    ],
)
def test_weights_as_published_are_the_first_way_out(
    model: str, chip: str, chips: int, remedy: str
) -> None:
    """The files of the models name the configuration that says in which format weights come."""
    fit = calculate("serving", model=model, chip=chip, chips=chips, seq=8192, batch=8).fit
    assert fit is not None and not fit.fits and fit.remedy == remedy


# 1,024 sequences for each GPU of a node of eight, where 605 fit.
RACK: dict[str, Any] = {"model": "deepseek-v3", "dtype": "fp8", "ep": 8, "dp": 8, "seq": 4096}
WORDS = [f"--{name}={value}" for name, value in RACK.items()]


@every("name", sorted(CALCULATORS))
def test_the_largest_batch_is_the_one_that_serving_has_room_for(name: str) -> None:
    most = calculate("serving", **RACK, chip="gb200-gpu")["batch_fits"]
    assert most == 8 * 605
    beyond = calculate(name, **RACK, chip="gb200-gpu", batch=8 * 1024)
    assert f"over; largest batch {most:,.0f};" in answer(beyond).splitlines()[0]
    assert beyond.as_json()["largest_batch"] == most
    assert "does not fit" in repr(beyond)
    at_most = calculate(name, **RACK, chip="gb200-gpu", batch=most)
    assert at_most["free"] >= 0 and "largest_batch" not in at_most.as_json()
    assert "does not fit" not in repr(at_most)
    one_more = calculate("decode", **RACK, chip="gb200-gpu", batch=most + 8)  # for each replica
    assert one_more["free"] < 0


@every(
    "words, line",
    [
        ("--chip gb200-gpu,h200 --batch 8192", "nvidia/gb200-gpu: does not fit: 60.23 GB over"),
        ("--chip gb200-gpu,h200 --batch 8192", "nvidia/h200-sxm: does not fit: 105.2 GB over"),
        (
            "--chip gb200-gpu --sweep batch=4096,8192,16384 --outputs likely_seconds",
            "does not fit: 2 of 3 points, the first at batch 8,192, 60.23 GB over",
        ),
        (
            "--chip gb200-gpu --sweep batch=4096,8192 --plot -",
            "does not fit: 1 of 2 points, the first at batch 8,192, 60.23 GB over",
        ),
        ("--chip gb200-gpu --solve batch --target seconds=30ms", "does not fit: 45.12 GB over"),
        ("--chip gb200-gpu --batch 8192 --explain", "does not fit: 60.23 GB over"),
    ],
)
def test_every_form_of_an_answer_says_it(
    words: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Side by side, swept, drawn, solved and explained: no form leaves it to a minus sign."""
    assert run(["decode", *WORDS, *words.split()]) == 0
    assert any(told.startswith(line) for told in capsys.readouterr().out.splitlines())


def test_a_sweep_says_it_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["decode", *WORDS, "--chip=gb200-gpu", "--json"]
    assert run([*words, "--sweep", "batch=4096,8192"]) == 0
    assert json.loads(capsys.readouterr().out)["notes"][0].startswith("does not fit: 1 of 2 points")
    assert run([*words, "--sweep", "batch=256,4096"]) == 0
    assert "does not fit" not in capsys.readouterr().out


@every(
    "layout",
    [
        {"chips": 8},
        {"chips": 8, "tp": 8},
        {"chips": 8, "dp": 8, "ep": 8},
        {"chips": 8, "tp": 1, "dp": 8, "ep": 8},
        {"dp": 8, "ep": 8},
        {"ep": 8},
        {"tp": 8},
    ],
)
@every("chip", ["gb200-gpu", "h200"])
def test_a_way_out_is_taken_beside_what_was_typed(layout: dict[str, Any], chip: str) -> None:
    """What is proposed does not contradict a number of chips or degrees that were given."""
    asked = {**RACK, "chip": chip, "batch": 8192, "dp": None, "ep": None, **layout}
    given_ = {name: value for name, value in asked.items() if value is not None}
    fit = calculate("decode", **given_).fit
    assert fit is not None and not fit.fits and fit.remedy
    words = fit.remedy.split()
    pairs = zip(words[::2], words[1::2], strict=True)
    changes = {option.removeprefix("--").replace("-", "_"): value for option, value in pairs}
    assert calculate("decode", **{**given_, **changes})["free"] >= 0


def test_the_memory_share_keeps_a_reserve_free() -> None:
    whole, kept = (
        calculate("decode", model="llama-3-8b", chip="h100-sxm", seq=1024, memory_share=share)
        for share in (1, 0.9)
    )
    assert whole["free"] - kept["free"] == pytest.approx(8e9)
    assert whole["chip_bytes"] == kept["chip_bytes"]


def test_experts_are_spread_where_attention_has_replicas() -> None:
    """DeepSeek-V3 in fp8, 671 GB: a chip of 32 holds a part of the experts and the rest whole."""
    out = calculate(
        "decode", model="deepseek-v3", chip="h200", dtype="fp8", seq=4096, batch=256, ep=32
    )
    values = {name: used.value for name, used in out.inputs.items()}
    lookup = values["vocab"] * values["d_model"]
    routed = (values["params"] - lookup - values["compute_params"]) * 256 / 248
    cache = calculate("kv-cache", model="deepseek-v3", dtype="fp8", seq=4096, batch=8)["bytes"]
    assert out["chip_bytes"] == pytest.approx(values["params"] - routed + routed / 32 + cache)


def test_one_sequence_that_no_chips_hold_says_so() -> None:
    """A cache that only replicas could divide, and a single sequence."""
    result = calculate("decode", model="falcon-7b", chip="l40s", seq="100M")
    assert result["fewest_chips"] == math.inf and not result.fit.fits  # type: ignore[union-attr]
    assert result.as_json()["smallest_chips"] is None
    assert answer(result).splitlines()[0].endswith(" GB over")


@pytest.mark.parametrize("as_json", [False, True])
def test_the_command_says_it_and_ends_well(
    as_json: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """The status is 0: an answer that does not fit is an answer."""
    words = ["decode", "--model", "llama-3-405b", "--chip", "h100-sxm", "--batch", "64"]
    assert run([*words, "--seq", "1024", *(["--json"] if as_json else [])]) == 0
    text = capsys.readouterr().out
    if as_json:
        assert json.loads(text)["fits"] is False
    else:
        assert text.startswith("does not fit: 765.5 GB over; smallest number of chips 11;")


def test_serving_asks_for_the_sequences_that_were_named() -> None:
    """Left open, as many run as fit; named, those that are missing are said."""
    asked: dict[str, Any] = {"model": "llama-3-8b", "chip": "h100-sxm", "seq": 8192}
    most = calculate("serving", **asked)
    assert most.fit is not None and most.fit.fits and most["free"] < 2 * 8192 * 2 * 32 * 1024
    beyond = calculate("serving", **asked, batch=4 * most["batch_fits"])
    assert beyond.fit is not None and not beyond.fit.fits
    assert beyond["seconds"] == most["seconds"] and beyond["batch_runs"] == most["batch_fits"]


def test_weights_of_four_bits_keep_a_cache_of_sixteen() -> None:
    """Llama 3 8B in int4 on an RTX 4090 at 8,192 tokens: 18 sequences in all 24 GB, not 74."""
    asked: dict[str, Any] = {"model": "llama-3-8b", "chip": "rtx-4090", "seq": 8192}
    out = calculate("serving", **asked, dtype="int4")
    assert out["batch_fits"] == 18 and out["chip_bytes"] < 24e9
    narrow = calculate("serving", **asked, dtype="int4", kv_dtype="int4")
    assert narrow["batch_fits"] == 74


@pytest.mark.parametrize("name", ["decode", "prefill"])
def test_what_fits_only_without_an_engine_is_said(name: str) -> None:
    """Llama 3 70B in bf16 on two H100 leaves 4 of 80 GB, less than the 6.4 that vLLM keeps."""
    asked = {"model": "llama-3-70b", "chip": "h100-sxm", "seq": 4096}
    tight = calculate(name, **asked, batch=8, chips=2)
    told = tight.omitted["memory_of_the_runtime"]
    assert 0 < tight["free"] < 0.08 * 80e9 and told.share == -1
    assert told.text.endswith("--memory-share 0.92, and then nothing is free (-100 %)")
    for other in (
        calculate(name, **asked, batch=8, chips=4),
        calculate(name, **asked, batch=8, chips=1),
        calculate(name, **asked, batch=8, chips=2, memory_share=0.99),
    ):
        assert "memory_of_the_runtime" not in other.omitted
