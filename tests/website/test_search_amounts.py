"""What a search makes of amounts, of two chips, and of the book as a whole."""

from __future__ import annotations

import pytest

from scripts.website.build.search_ranking import search
from tests.support.searching import SEARCHES, cards

pytestmark = SEARCHES

CASES = [
    # An amount with its unit says how much is meant, not of what.
    ("accelerators with over 100 GB of memory", "accelerators/"),
    ("all gpus with at least 48 gb vram", "accelerators/"),
    # Of a chip, its size and its performance are figures; its page has them.
    ("h200 performance", "accelerators/nvidia/h200-sxm/"),
    ("b200 die size", "accelerators/nvidia/b200/"),
    ("tpu v4 pod size", "accelerators/google/tpu-v4-pod/"),
    # A size of what is no chip is computed.
    ("kv cache size of llama 3 8b", "calculators/kv-cache/"),
    # Whoever looks for the book as a whole.
    ("textbook", "handbook/"),
    ("course on parallelism with exercises", "handbook/"),
    ("epub", "handbook/"),
]


@pytest.mark.parametrize(("question", "place"), CASES)
def test_the_first_three_have_what_is_meant(question: str, place: str) -> None:
    found = [hit.location.partition("?")[0] for hit in search(question, cards())][:3]
    assert any(where == place or where.startswith(f"{place}#") for where in found), found


def test_a_unit_beside_its_number_weighs_less_than_alone() -> None:
    """The table of all chips, not a page that happens to name gigabytes."""
    with_amount = search("200 gb hbm chips", cards())[0]
    assert with_amount.location == "accelerators/"


def test_two_chips_lead_to_their_comparison_and_to_their_pages() -> None:
    """The same title stood twice, and then all calculators that take a chip."""
    hits = search("h100 vs mi300x", cards())
    assert [hit.location for hit in hits[:4]] == [
        "compare/h100-sxm-vs-mi300x/",
        "accelerators/?view=compare&compare=nvidia/h100-sxm,amd/mi300x",
        "accelerators/nvidia/h100-sxm/",
        "accelerators/amd/mi300x/",
    ]
    assert len({hit.title for hit in hits}) == len(hits)
    assert [hit.kind for hit in hits[:4]] == ["comparison", "comparison", "chips", "chips"]
