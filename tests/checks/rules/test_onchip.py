"""Sizes of memories on a chip are binary, or their claim says why not."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.checks import lint as checker
from flopbook.checks.rules import onchip
from flopbook.data.library import load_entry
from flopbook.errors import DataError
from tests.support.samples import NEEDED, World, assert_clean, claim


def found(world: World, *more: dict[str, Any]) -> list[str]:
    world.entry("one", *map(claim, NEEDED), *more)
    problems = [problem for problem in checker.lint() if problem.rule == onchip.NAME]
    if problems:
        assert_clean(DataError(problems))
    return [problem.found for problem in problems]


def test_a_cache_in_mb_is_asked_what_it_counts(world: World) -> None:
    """The L2 of an A100 stood as 40 MB, the shared memory of an SM as 164 kB."""
    caches = claim("cache", value=40, unit="MB"), claim("sram", value=164, unit="kB")
    assert found(world, *caches) == ["L2 of 40 MB", "shared memory of 164 kB"]


def test_a_binary_size_given_in_decimal_is_told(world: World) -> None:
    """The unit and the note beside it contradicted each other unseen."""
    note = "Printed as MB; NVIDIA counts 1,024 here."
    assert found(world, claim("cache", value=40, unit="MB", note=note)) == ["L2 of 40 MB"]
    world.library.forget()
    assert found(world, claim("cache", value=40, unit="MiB", note=note)) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"unit": "MiB"},
        {"note": "134 MB are 128 MiB in decimal units."},
        {"note": "The source does not say whether its MB counts 1,000 or 1,024."},
        {"quote": "over 160 million bytes of on-die memory"},
        {"locator": "cmem_capacity_bytes=134_000_000"},
        {"known_error": True, "note": "That is the cache behind it."},
        {"value": "not published"},
    ],
)
def test_one_that_is_binary_or_says_what_it_counts_is_fine(
    world: World, changes: dict[str, Any]
) -> None:
    assert found(world, claim("cache", **{"value": 40, "unit": "MB", **changes})) == []


def test_a_note_on_something_else_settles_nothing(world: World) -> None:
    assert found(world, claim("cache", value=40, unit="MB", note="The die has 48 MB."))


def test_main_memory_is_not_asked(world: World) -> None:
    """Stacks of HBM and modules of DRAM are sold by either count; `binary` compares those."""
    assert found(world, claim("memory", value=80, unit="GB")) == []


@pytest.mark.parametrize(
    ("name", "cache", "size"),
    [
        ("nvidia/a100-sxm-80gb", "L2", 40 * 2**20),
        ("nvidia/a100-pcie-40gb", "L2", 40 * 2**20),
        ("nvidia/v100-sxm2", "L2", 6 * 2**20),
        ("nvidia/h100-sxm", "L2", 50 * 2**20),
        ("nvidia/h100-sxm", "register file, per SM", 2**18),
        ("amd/mi300x", "Infinity Cache", 2**28),
        ("amd/mi300x", "L2, per XCD", 2**22),
        ("aws/trainium2", "SBUF, per core", 28 * 2**20),
        ("google/tpu-8t", "VMEM", 2**27),
        ("intel/gaudi-3", "shared SRAM", 96 * 2**20),
    ],
)
def test_what_is_known_to_be_binary(name: str, cache: str, size: int) -> None:
    """The A100's L2 is printed as 40,960 KB and as 40 MB (nvidia2020ampere, nvidia2022hopper);
    AMD's table of GPUs, AWS's guide for kernels and JAX print the others in binary units.
    """
    claims = (c for c in load_entry(name).claims if c.field in onchip.FIELDS and not c.known_error)
    assert {c.si_value for c in claims if c.name == cache} == {float(size)}
