"""Forms whose inputs are texts: several chips in one, and drawings that follow what is typed."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from flopbook.evaluation.calculator import calculate
from tests.support.forming import put, read, visit
from tests.support.notations import joined

pytestmark = pytest.mark.browser


def test_several_chips_of_a_link_are_their_roofs(forms: Any) -> None:
    """A picker holds one chip; the answers are those of all."""
    state = {"chip": "mi300x, h100-sxm", "kernels": "gemm 4096x4096x4096", "dtype": "fp8"}

    def look(tab: Any, base: str) -> tuple[dict[str, Any], str]:
        visit(tab, base, f"?{urlencode(state)}")
        return read(tab), tab.input_value("[name=chip]")

    found, picked = forms("roofline", look)
    right = {name: joined(value) for name, value in calculate("roofline", **state).items()}
    assert found == {name: value for name, value in right.items() if name != "reached"}
    assert picked == ""


def test_what_is_drawn_follows_the_answer(forms: Any) -> None:
    """Blocks of an array, and kernels with the numbers of their rows."""

    def blocks(tab: Any, _: str) -> tuple[list[str], str]:
        put(tab, {"array": "bf16[64,64]", "layout": "A[I_X, J_Y]", "mesh": "X=2,Y=3,Z=2"})
        refused = tab.inner_text(".fb-open")
        put(tab, {"array": "bf16[64,66]", "layout": "A[I_X, J_Y]", "mesh": "X=2,Y=3,Z=2"})
        return tab.locator(".fb-blocks td[class]").all_inner_texts(), refused

    cells, refused = forms("shard", blocks)
    assert forms("shard", lambda tab, _: tab.locator(".fb-typed").is_visible()) is False
    assert cells == ["0, 1", "2, 3", "4, 5", "6, 7", "8, 9", "10, 11"]
    assert "J of 64 does not divide into 3 blocks" in refused

    def points(tab: Any, _: str) -> tuple[int, str]:
        put(tab, {"chip": "nvidia/h100-sxm", "kernels": "gemm 8x64x64, dot 100"})
        return tab.locator(".fb-curve circle").count(), tab.inner_text(".fb-curve figcaption")

    count, words = forms("roofline", points)
    assert count == 2 and words.startswith("2 of 2 kernels wait for memory")
