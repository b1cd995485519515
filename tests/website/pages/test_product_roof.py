"""Measured products under the roof of their chip: none passes it, a small square falls short."""

from __future__ import annotations

import pytest

from scripts.website.figures.product_roof import MeasuredProduct, products, roof, tiles


def test_no_product_passes_the_roof() -> None:
    found = products()
    assert len(found) > 10
    assert all(0 < one.rate < roof(one.intensity) for one in found)


def test_intensity_is_that_of_the_chapter() -> None:
    """n / 3 of a square in bf16; few rows have about as many operations for each byte."""
    assert MeasuredProduct(3000, 3000, 3000, 1.0).intensity == pytest.approx(1000)
    assert MeasuredProduct(128, 8192, 8192, 1.0).intensity == pytest.approx(128, rel=0.05)


def test_the_smallest_square_fills_no_more_of_the_chip_than_its_tiles() -> None:
    """Its share of the peak is below that of the 132 SMs that have a tile."""
    small, larger = sorted((one for one in products() if one.is_square), key=lambda one: one.m)[:2]
    assert small.rate / roof(small.intensity) < tiles(small) / 132 < 0.25
    assert larger.rate / roof(larger.intensity) > 0.6 and 1 > tiles(larger) / 132 > 0.9
