"""The picture of a step's budget: nothing is lost, and each layout wastes what its name says."""

from __future__ import annotations

import pytest

from flopbook.errors import UnknownName
from flopbook.prediction.asking import predict
from flopbook.quantities.units import percent
from scripts.website.figures.step_budget import KINDS, LAYOUTS, RUN, budgets, figure

ROWS = {row.name: row for row in budgets()}


def test_every_part_of_a_prediction_has_one_kind() -> None:
    known = [part for parts in KINDS.values() for part in parts]
    assert len(known) == len(set(known))
    for degrees in LAYOUTS.values():
        assert set(predict({**RUN, **degrees}).parts) <= set(known)


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_kinds_add_up_to_the_step(name: str) -> None:
    assert sum(ROWS[name].kinds.values()) == pytest.approx(ROWS[name].seconds, rel=1e-9)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("not interleaved", "waiting"),
        ("recomputed", "products"),
        ("TP 16, over two nodes", "messages"),
    ],
)
def test_a_layout_spends_more_on_what_the_caption_says(name: str, kind: str) -> None:
    planned, other = ROWS["as planned"], ROWS[name]
    more = {k: other.kinds[k] - planned.kinds[k] for k in KINDS}
    assert max(more, key=more.__getitem__) == kind
    assert other.seconds > planned.seconds


def test_the_title_says_the_share_of_the_products() -> None:
    planned = ROWS["as planned"]
    assert percent(planned.kinds["products"] / planned.seconds) in figure().title


def test_a_narrower_format_shrinks_products_and_nothing_else() -> None:
    """But casting moves a few more bytes through memory, and stragglers follow the step."""
    wide, narrow = budgets("formats")[:2]
    assert narrow.kinds["products"] < 0.75 * wide.kinds["products"]
    for kind in ("attention", "messages"):
        assert narrow.kinds[kind] == pytest.approx(wide.kinds[kind], rel=1e-6)
    assert narrow.kinds["memory-bound"] > wide.kinds["memory-bound"]
    assert f"{wide.seconds / narrow.seconds:.2f} times" in figure(of="formats").title
    with pytest.raises(UnknownName):
        budgets("chips")


def test_waiting_is_hollow_as_in_every_other_picture() -> None:
    """It was grey, the colour of the host: one bar for each layout, and one in the legend."""
    drawn = "".join(figure().parts)
    assert drawn.count("fb-hollow") == len(ROWS) + 1 and "fb-c5" not in drawn
