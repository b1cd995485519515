"""Patterns of layers: written, read, and counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.architectures.patterns import KINDS, counts, cut, kinds_of, written
from flopbook.architectures.shape import shape
from flopbook.errors import FlopbookError

sequences = st.lists(st.sampled_from(KINDS), min_size=1, max_size=40)


@given(sequences, st.integers(1, 5))
def test_a_pattern_that_is_written_reads_the_same(kinds: list[str], times: int) -> None:
    layers = kinds * times
    assert list(kinds_of(written(layers), len(layers))) == layers


@given(sequences)
def test_kinds_add_up_to_the_layers(kinds: list[str]) -> None:
    """Each layer is counted once; one of two kinds counts as a state and as full attention."""
    found = counts(kinds)
    full = found.get("full_layers", kinds.count("full"))
    both, none = kinds.count("state+full"), kinds.count("none")
    names = ("window", "chunk", "sparse", "compressed", "state")
    others = sum(found.get(f"{kind}_layers", 0) for kind in names)
    assert full + others + none - both == len(kinds)
    indexers = found.get("index_layers", found.get("sparse_layers", 0))
    assert indexers == kinds.count("sparse")


def test_a_period_repeats_and_groups_are_written_out() -> None:
    assert kinds_of("1 window, 1 full", 4) == ("window", "full", "window", "full")
    assert kinds_of("2 x (1 window, 1 full), 1 window", 5) == (*("window", "full") * 2, "window")
    assert kinds_of("3 full", 6) == ("full",) * 6


def test_fewer_or_more_layers_keep_the_order() -> None:
    assert cut("3 x (1 window, 1 full), 1 full", 3, 7) == ("window", "full", "window")
    assert len(cut("1 window, 1 full", 9, 4)) == 9
    assert cut("1 window, 1 full", 5, 4) == ("window", "full", "window", "full", "window")


def test_layers_that_share_a_cache_are_the_last() -> None:
    kinds = ("window", "full", "window", "window", "full")
    assert "shared_window_layers" not in counts(kinds)
    assert counts(kinds, 3)["shared_window_layers"] == 2


@pytest.mark.parametrize(
    ("pattern", "layers", "message"),
    [
        ("5 window, 1 full", 62, "has 6 layers, which do not add up to 62; write out the rest"),
        ("8 full", 4, "has 8 layers, which do not add up to 4"),
        ("5 local, 1 full", 6, "expected numbers and kinds such as"),
        ("", 6, "expected numbers and kinds such as"),
        ("0 full", 6, "has 0 layers"),
        ("99 x (999 full)", 6, "has 98901 layers"),
        ("100 x (1 full)", 100, "expected numbers and kinds such as"),
    ],
)
def test_what_does_not_add_up_is_one_line(pattern: str, layers: int, message: str) -> None:
    with pytest.raises(FlopbookError, match=message):
        kinds_of(pattern, layers)


def test_a_model_counts_its_layers_of_each_kind() -> None:
    gemma = shape("gemma-3-27b")
    assert gemma.window_layers == 52 and gemma.window == 1024
    assert gemma.having({"layers": 16.0}).window_layers == 14
    assert not shape("llama-3-8b").records("window_layers")
