"""The picture of one SM at a matmul: what each row does, and how long the tensor cores wait."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from flopbook.quantities.units import percent
from scripts.website.figures.matmul_stages import (
    EPILOGUE,
    READ,
    SLICES,
    TILES,
    WAYS,
    StagedKernel,
    busy_share,
    figure,
    schedule,
)


def end(way: StagedKernel) -> float:
    return max(part.end for part in schedule(way))


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_a_row_does_one_thing_at_a_time_and_a_slice_arrives_before_its_product(
    way: StagedKernel,
) -> None:
    work = schedule(way)
    for row in range(way.stages + 2):
        parts = [part for part in work if part.row == row]
        assert all(a.end <= b.start + 1e-9 for a, b in pairwise(parts))
    copies = [part for part in work if part.row < way.stages]
    products = [part for part in work if part.row == way.stages]
    assert len(copies) == len(products) == TILES * SLICES
    assert all(a.end <= b.start + 1e-9 for a, b in zip(copies, products, strict=True))
    for number in range(way.stages, len(copies)):  # its stage is free
        assert copies[number].start >= products[number - way.stages].end - 1e-9


def test_a_slice_at_a_time_pays_for_all() -> None:
    assert end(WAYS[0]) == pytest.approx(TILES * (SLICES * (READ + 1) + EPILOGUE))


def test_enough_stages_hide_all_reads_but_the_first() -> None:
    """1 + read / slice, rounded up, as the chapter has it."""
    assert WAYS[1].stages == 1 + math.ceil(READ)
    assert end(WAYS[1]) == pytest.approx(READ + TILES * (SLICES + EPILOGUE))


def test_beside_the_next_tile_only_the_last_epilogue_shows() -> None:
    assert end(WAYS[2]) == pytest.approx(READ + TILES * SLICES + EPILOGUE)


def test_the_title_has_the_three_shares() -> None:
    assert [percent(busy_share(way)) for way in WAYS] == ["38 %", "71 %", "84 %"]
    assert all(percent(busy_share(way)) in figure().title for way in WAYS)
