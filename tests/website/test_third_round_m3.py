"""What a reader of the third round found wrong, each recomputed beside words that are right."""

from __future__ import annotations

import re

import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.quantities.number_formats import number_format
from scripts.website.figures import (
    loop_times,
    narrow_sums,
)
from tests.support.rendering import rendered, text_of


def _plain(chapter: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", rendered(f"handbook/{chapter}.md")))


def test_a_sum_in_fp32_misses_a_thousand_as_well() -> None:
    """Rounded after each of 10,000 additions, 0.1 makes 999.9029."""
    end = narrow_sums.sums(number_format("fp32"))[-1]
    assert end == pytest.approx(999.9029, abs=1e-4)
    assert "0.1 makes 999.9 in fp32, 256 in fp16, 32 in bf16" in narrow_sums.figure().title


def test_the_caches_stand_in_the_picture_of_loops() -> None:
    """Each size measured lies in the memory that the table names."""
    sizes = [size for size, _ in loop_times.CACHES]
    first, second, third, memory = (size for size, _ in loop_times.times("eight"))
    assert first < sizes[0] < second < sizes[1] < third < sizes[2] < memory
    drawn = "".join(loop_times.figure().parts)
    assert all(name in drawn for _, name in loop_times.CACHES)


def test_the_type_of_an_array_is_named_as_jax_prints_it() -> None:
    """`f32[8@X,4@Y]` is the spelling of a jaxpr."""
    text = text_of("sharded-matrices")
    assert "`float32[8@X,4@Y]`, which `jax.typeof` shows" in text and "`f32[8@X" not in text


@pytest.mark.parametrize("op", ["all-gather", "all-reduce", "all-to-all"])
@pytest.mark.parametrize("topology", ["ring", "switch"])
def test_the_table_of_collectives_is_the_calculator(op: str, topology: str) -> None:
    ranks, size, hop = 16, 1e6, 1e-6
    device = "google/tpu-v5p" if topology == "ring" else "nvidia/gb200-gpu"
    rate = chip(device).scaleup_bandwidth() / (3 if topology == "ring" else 1)
    options = {"chip": device, "chips": ranks, "bytes": size, "op": op, "topology": topology}
    if topology == "ring":
        options["axes"] = 1
    found = calculate("collective", startup=0, ramp=0, efficiency=1, **options)
    lacking = 1 - 1 / ranks
    spread = 1 / 4 if topology == "ring" else lacking / ranks
    share = {"all-gather": lacking, "all-reduce": 2 * lacking, "all-to-all": spread}[op]
    hops = (2 if op == "all-reduce" else 1) * (ranks / 2 if topology == "ring" else 1)
    assert found["seconds"] == pytest.approx(share * size / rate + hops * hop, rel=1e-3)
    assert r"$\frac{V}{4w} + \frac{N}{2} \tau$" in text_of("sharded-matrices")
