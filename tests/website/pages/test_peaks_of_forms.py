"""A form names the same formats as the command where a chip has no peak of the one asked for."""

from __future__ import annotations

import pytest

from flopbook.data.library import load_entry
from flopbook.evaluation.calculator import calculate
from flopbook.evaluation.lookups import NO_PEAK, OTHER_PEAKS, WIDE_FORMATS
from flopbook.hardware.chip import Chip
from scripts.website.pages.form_values import chip_record


@pytest.mark.parametrize(
    "chip",
    [
        *("apple/m3-ultra", "nvidia/jetson-agx-thor", "nvidia/gb10", "nvidia/rtx-5080"),
        *("tenstorrent/blackhole", "nvidia/p100-sxm2", "openai/jalapeno", "google/tpu-v1"),
    ],
)
def test_forms_know_the_formats_that_the_command_names(chip: str) -> None:
    result = calculate("decode", chip=chip, model="llama-3-8b", seq=4096)
    assert "peak" not in result.inputs
    peaks = chip_record(Chip(load_entry(chip)))["peaks"]
    assert isinstance(peaks, dict) and not set(WIDE_FORMATS) & peaks.keys()
    known = ", ".join(sorted(peaks))
    others = OTHER_PEAKS.format(formats=known) if known else ""
    asked = {"chip": chip, "sparsity": "dense", "dtype": "bf16"}
    assert NO_PEAK.format(others=others, **asked) in result.notes
