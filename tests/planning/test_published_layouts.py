"""Layouts that large runs were made with are near the best that is predicted for them.

The runs, each with its source and what its software lacked, stand in
`scripts/website/measured/published_layouts.py`; the page on planning shows them.
"""

from __future__ import annotations

import pytest

from flopbook.data.library import library
from scripts.website.measured.published_layouts import PUBLISHED, compared

NEAR = 0.10


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_layout_is_near_the_best(name: str) -> None:
    """Within 10 percent of the best time that is predicted for software of its year."""
    run = PUBLISHED[name]
    found = compared(run, as_of_its_time=True)
    assert 0 <= found.slower <= NEAR
    for degree, size in run.layout.items():
        assert getattr(found.published, degree) == size


@pytest.mark.parametrize("name", ["llama-3-405b", "narayanan-1t"])
def test_means_of_today_would_gain_more(name: str) -> None:
    """Here the prediction holds something against the layout: the page says how much.

    Llama 3 would gain most: with the sequence cut in two, nothing has to be recomputed.
    """
    assert NEAR < compared(PUBLISHED[name], as_of_its_time=False).slower < 0.45


def test_every_layout_has_a_source_on_file() -> None:
    assert {run.source for run in PUBLISHED.values()} <= set(library().references)
