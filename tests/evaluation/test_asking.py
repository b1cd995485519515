"""What a calculator makes of what people type, and what it says of answers beyond the network."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flopbook.errors import FlopbookError, UnknownName
from flopbook.evaluation.calculator import DOMAIN_ENDS, SMALL_BATCH, calculate
from flopbook.evaluation.request import SPARSITIES
from flopbook.formulas import bubble, get_formula
from flopbook.formulas.pipeline import SCHEDULES
from flopbook.hardware.chip import chip

V5P = {"chip": "google/tpu-v5p", "axes": 3}


def ends(name: str) -> str:
    """The note of a chip's domain, as it must read."""
    domain = chip(name).pick_scaleup_domain()
    assert domain is not None
    return DOMAIN_ENDS.format(size=f"{domain.value:,.0f} chips", chip=name)


@pytest.mark.parametrize("name", ["amd/mi350x", "google/tpu-v4"])
def test_a_limit_ends_with_a_network_whose_rate_beyond_is_unknown(name: str) -> None:
    """From the size of the domain on there is a note, one chip below it there is none."""
    domain = chip(name).pick_scaleup_domain()
    assert domain is not None
    per_chip = calculate("fsdp-limit", chip=name)["tokens_per_chip"]
    below, at, above = (
        calculate("fsdp-limit", chip=name, batch_tokens=per_chip * (domain.value + n))
        for n in (-0.5, 0.5, 10.5)
    )
    assert below["max_chips"] == domain.value - 1
    assert at["max_chips"] == above["max_chips"] == domain.value
    assert ends(name) not in below.notes and ends(name) in at.notes and ends(name) in above.notes
    beyond = calculate("fsdp-limit", chip=name, batch_tokens="1G", scaleout_bandwidth="50GB/s")
    assert ends(name) not in beyond.notes and beyond["max_chips"] > domain.value


def test_the_note_reads_as_a_sentence() -> None:
    assert ends("google/tpu-v4") == (
        "the scale-up network of google/tpu-v4 ends at 4,096 chips, and the answer with it; "
        "for more, give the rate beyond as --scaleout-bandwidth, one way of one chip"
    )


def test_a_given_link_or_an_open_batch_has_no_end() -> None:
    for options in ({"batch_tokens": "40M", "link_bandwidth": "90GB/s"}, {}):
        assert not any(
            "scale-up network of" in note
            for note in calculate("fsdp-limit", **V5P, **options).notes
        )


def test_a_batch_for_less_than_one_chip_is_said_to_be_so() -> None:
    small, large = (calculate("fsdp-limit", **V5P, batch_tokens=n) for n in (10, 10_000))
    assert small["max_chips"] == 0 and SMALL_BATCH in small.notes and SMALL_BATCH not in large.notes
    both = calculate("fsdp-limit", **V5P, batch_tokens=np.array([10.0, 40e6]))
    assert SMALL_BATCH in both.notes


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("spell", [str.upper, str.title, lambda text: f" {text} "])
def test_a_choice_may_be_spelt_in_any_case(schedule: str, spell: Any) -> None:
    sizes = {"stages": 8, "microbatches": 32}
    result = calculate("bubble", **sizes, schedule=spell(schedule))
    assert result.inputs["schedule"].value == schedule
    assert (
        dict(result)
        == bubble(**sizes, schedule=schedule)
        == bubble(**sizes, schedule=spell(schedule))
    )


def test_formats_and_sparsities_may_be_spelt_in_any_case() -> None:
    result = calculate("min-batch", chip="h100-sxm", dtype="BF16", sparsity="Dense")
    assert (
        result.as_json()
        == calculate("min-batch", chip="h100-sxm", dtype="bf16", sparsity="dense").as_json()
    )


def test_few_names_are_listed_when_none_is_near() -> None:
    with pytest.raises(
        UnknownName, match=f"^unknown sparsity 'x'; one of: {', '.join(SPARSITIES)}; for the sparse"
    ):
        calculate("min-batch", chip="h100-sxm", sparsity="x")
    with pytest.raises(UnknownName, match="unknown dtype '!!'; nothing is near it"):
        calculate("min-batch", chip="h100-sxm", dtype="!!")


@pytest.mark.parametrize("option", ["chip", "dtype", "sparsity", "peak", "bandwidth", "d_model"])
@pytest.mark.parametrize("text", ["", "  "])
def test_an_empty_text_is_named_by_its_option(option: str, text: str) -> None:
    with pytest.raises(FlopbookError, match=f"^--{option.replace('_', '-')} is empty$"):
        calculate("min-batch", **{"chip": "h100-sxm", option: text})


RATES = [
    ("min-batch", "peak", "989", "989TFLOP/s"),
    ("min-batch", "bandwidth", "3.35", "3.35TB/s"),
    ("fsdp-limit", "link_bandwidth", "90", "90GB/s"),
    ("min-batch", "bandwidth", " 999999 ", "999999GB/s"),
]


@pytest.mark.parametrize(("name", "option", "text", "meant"), RATES)
def test_a_small_rate_needs_its_unit(name: str, option: str, text: str, meant: str) -> None:
    """As text; a number from Python is in SI, and so is a text that is large enough for it."""
    flag = f"--{option.replace('_', '-')}"
    with pytest.raises(
        FlopbookError, match=f"^{flag}: '{text.strip()}' has no unit; write for example {meant}$"
    ):
        calculate(name, chip="h100-sxm", **{option: text})
    assert calculate(name, chip="h100-sxm", **{option: meant}).inputs[option].origin == "given"
    for plain in (float(text), "1e6", "1_000_000"):
        assert calculate(name, chip="h100-sxm", **{option: plain}).inputs[option].value == float(
            plain
        )


BOUNDS = {
    "params": 1e18,
    "tokens": 1e21,
    "peak": 1e24,
    "bandwidth": 1e18,
    "bytes_per_param": 64,
    "d_model": 1e9,
    "d_ff": 1e9,
    "link_bandwidth": 1e18,
    "axes": 16,
    "links_per_axis": 1e4,
    "batch_tokens": 1e15,
    "experts": 1e6,
    "experts_per_token": 1e6,
    "stages": 1e6,
    "microbatches": 1e6,
    "virtual": 1e6,
    "bytes_per_activation": 64,
    "forward": 1e6,
    "backward_input": 1e6,
    "backward_weight": 1e6,
    "scaleout_bandwidth": 1e18,
    "chips": 1e9,
    "chips_per_node": 1e7,
    "ring_side": 1e7,
    "side_x": 1e7,
    "side_y": 1e7,
    "active_params": 1e18,
    "layers": 1e6,
    "heads": 1e6,
    "head_dim": 1e6,
    "vocab": 1e9,
    "seq": 1e9,
    "qk_nope_head_dim": 1e6,
    "qk_rope_head_dim": 1e6,
    "v_head_dim": 1e6,
    "kv_lora_rank": 1e9,
    **dict.fromkeys(("window", "chunk", "selected_tokens", "state_values"), 1e12),
    **dict.fromkeys(("window_layers", "chunk_layers", "full_layers", "sparse_layers"), 1e6),
    **dict.fromkeys(("state_layers", "index_heads", "index_head_dim", "window_head_dim"), 1e6),
    **dict.fromkeys(("index_layers", "compressed_layers", "index_compression", "compression"), 1e6),
    "side_window": 1e12,
}


@pytest.mark.parametrize("name", ["training-flops", "min-batch", "fsdp-limit", "bubble"])
def test_every_size_has_a_plausible_bound(name: str) -> None:
    for key, spec in get_formula(name).inputs.items():
        assert spec.choices or spec.most == BOUNDS[key]
