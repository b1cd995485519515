"""The recorded texts that the chapter on profiling reads line by line."""

from __future__ import annotations

import re

import pytest

from scripts.record_hlo import reduced
from scripts.website.figures import figure_of
from scripts.website.figures.layer_trace import PRODUCTS, labelled_products, layer
from scripts.website.measured.compiled_block import (
    ROWS,
    WIDE,
    WIDTH,
    compiled_block,
    listing,
    made_with,
)

TEXT = """HloModule jit_block

ENTRY %main.2_spmd (param: f32[4,2]) -> f32[4,2] {
  %param = f32[4,2]{1,0} parameter(0), sharding={devices=[4,1]<=[4]}
  ROOT %sum = f32[4,2]{1,0} all-reduce(%param), channel_id=1, to_apply=%add.clone, metadata={a="b"}
}
"""


def test_an_instruction_keeps_what_it_does_and_loses_who_takes_part() -> None:
    assert reduced(TEXT) == [
        "param = f32[4,2]{1,0} parameter(0), sharding={devices=[4,1]<=[4]}",
        "sum = f32[4,2]{1,0} all-reduce(param)",
    ]


def test_the_lines_are_what_the_chapter_says_of_them() -> None:
    _, lines = compiled_block()
    assert len(lines) == 15
    assert [n for n, line in enumerate(lines, 1) if "parameter(" in line] == [1, 2, 4, 5]
    assert f"f32[{ROWS // 4},{WIDTH}]" in lines[0] and "replicated" in lines[1]
    assert f"f32[{WIDTH},{WIDE // 4}]" in lines[3] and f"f32[{WIDE // 4},{WIDTH}]" in lines[4]
    assert "all-gather(" in lines[9] and f"f32[{ROWS},{WIDTH}]" in lines[9]
    assert [n for n, line in enumerate(lines, 1) if "kCustom" in line] == [7, 11, 13]
    assert "all-reduce(" in lines[13] and "dynamic-slice" in lines[14]
    assert not any("reduce-scatter" in line for line in lines)


def test_the_listing_is_code_with_numbers_and_says_what_made_it() -> None:
    shown = listing().split("\n")
    assert shown[0] == "```text" and shown[-1] == "```" and shown[1].startswith(" 1 param")
    assert re.fullmatch(r"jax [\d.]+, 4 devices of a processor, 20\d\d-\d\d-\d\d", made_with())


@pytest.mark.parametrize(("name", "kernels"), [("written", 26), ("compiled", 22)])
def test_a_layer_has_four_products_whose_times_go_with_their_sizes(name: str, kernels: int) -> None:
    """Out has D^2 weights, up and down 4 D^2 each, queries with keys and values 3 D^2."""
    one = layer(name)
    assert len(one) == kernels and one[-1].kind == "attention"
    times = {label: kernel.run for label, kernel in labelled_products(one)}
    for label, size in (("up", 4), ("down", 4), ("QKV", 3)):
        assert times[label] / times["out"] == pytest.approx(size, rel=0.15)


def test_the_picture_of_a_layer_draws_every_kernel_and_launch() -> None:
    drawn = figure_of("layer-trace")
    assert "then QKV and attention of the layer after it" in drawn.caption
    count = sum(len(layer(name)) for name in ("written", "compiled"))
    assert sum("<rect" in part for part in drawn.parts) == count + 3  # and a legend of three
    assert sum(part.count("L") for part in drawn.parts if part.startswith("<path")) == count


def test_every_product_of_the_layer_has_its_name_in_both_pictures() -> None:
    """On a phone only one of four had room for it, though the caption counts them out."""
    drawn = figure_of("layer-trace")
    assert drawn.narrow
    for parts in (drawn.parts, drawn.narrow.parts):
        for name in PRODUCTS:
            assert sum(f">{name}<" in part for part in parts) == 2
