"""A TPU v5e has 16 GiB: the page of its vendor in the version read last prints the binary unit."""

from __future__ import annotations

import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip

MEMORY = 16 * 2**30


def test_the_memory_is_that_of_the_vendor_in_binary_units() -> None:
    picked = chip("google/tpu-v5e").pick_memory()
    assert picked.value == MEMORY
    assert picked.claim.source == "google2026v5ebinary"
    assert picked.claim.quote == "HBM capacity per chip | 16 GiB"


@pytest.mark.parametrize("name", ["google/tpu-v5e", "google/tpu-v5p", "google/tpu-v6e"])
def test_the_tpus_of_the_handbook_count_alike(name: str) -> None:
    """All in GiB, as JAX counts them, so that their rows of a table can be compared."""
    assert chip(name).pick_memory().claim.unit == "GiB"


def test_sixteen_hold_as_many_sequences_with_and_without_the_option() -> None:
    run = {"model": "llama-3-70b", "chip": "google/tpu-v5e", "tp": 16, "seq": 8192}
    assert calculate("serving", **run)["batch_fits"] == 24
    assert calculate("serving", memory=MEMORY, **run)["batch_fits"] == 24
