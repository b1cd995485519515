"""Changes of what is no claim: entries and their heads, vendors, models, references, calculators
and rows of the ledger.
"""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.changes.difference import difference
from tests.changes.test_difference import only, record, state, written
from tests.support.samples import SOURCE


def test_entries_come_and_go() -> None:
    empty = {**state(), "entries": {}}
    came, went = (
        only(written(empty, state(record(), record(99)))),
        only(written(state(record()), empty)),
    )
    assert (came.how, came.new, came.new_source) == ("added", "package, 2 values", SOURCE)
    assert (went.how, went.old, went.old_source) == ("removed", "package, 1 value", SOURCE)
    assert not difference(empty, state(record())).chosen


@pytest.mark.parametrize(
    ("key", "value", "old", "new"),
    [
        ("name", "Two", "One", "Two"),
        ("kind", "card", "package", "card"),
        ("aliases", ["first"], "", "first"),
        (
            "status",
            [{"state": "cancelled", "note": "By the press."}],
            "shipping",
            "cancelled By the press.",
        ),
        ("family", "First", "", "First"),
    ],
)
def test_the_head_of_an_entry(key: str, value: Any, old: str, new: str) -> None:
    after = state(record())
    after["entries"]["acme/one"][key] = value
    change = only(written(state(record()), after))
    assert (change.field, change.old, change.new, change.how) == (key, old, new, "changed")


def test_of_a_list_only_what_differs_is_shown() -> None:
    old, new = state(record()), state(record())
    old["entries"]["acme/one"]["aliases"], new["entries"]["acme/one"]["aliases"] = (
        ["a", "b", "c"],
        ["a", "c", "d"],
    )
    change = only(written(old, new))
    assert (change.old, change.new) == ("b", "d")


def test_vendors_models_and_references() -> None:
    old = state(
        vendors={"acme": {"name": "Acme"}, "gone": {}},
        references={"a2020b": "press", "c2020d": "press"},
        models={"m": {"kind": "dense", "claims": [record(1, field="params", unit="param")]}},
    )
    new = state(
        vendors={"acme": {"name": "ACME"}, "here": {}},
        references={"a2020b": "vendor", "e2020f": ""},
        models={"m": {"kind": "dense", "claims": [record(2, field="params", unit="param")]}},
    )
    old["entries"] = new["entries"] = {}
    changes = difference(old, new)
    assert {(c.kind, c.id, c.how) for c in changes.written} == {
        ("vendor", "acme", "changed"),
        ("vendor", "gone", "removed"),
        ("vendor", "here", "added"),
        ("reference", "a2020b", "changed"),
        ("reference", "c2020d", "removed"),
        ("reference", "e2020f", "added"),
        ("model", "m", "changed"),
    }
    assert only(list(changes.problems)).startswith("m params")
    assert only(list(changes.chosen)).kind == "model"


def test_calculators_that_move() -> None:
    old = state(
        calculators={
            "min-batch --chip h": {"tokens": 300.0, "tokens_exact": None},
            "gone": {"x": 1.0},
        }
    )
    new = state(
        calculators={
            "min-batch --chip h": {"tokens": 330.0, "tokens_exact": None},
            "here": {"x": 1.0},
        }
    )
    change = only(list(difference(old, new).calculators))
    assert (change.id, change.field) == ("flopbook min-batch --chip h", "tokens")
    assert change.relative == pytest.approx(0.1)
    new["calculators"]["min-batch --chip h"]["tokens"] = 300.0 * (1 + 1e-15)
    assert not difference(old, new).calculators


def row(**changes: Any) -> dict[str, Any]:
    """A row of the ledger in a snapshot."""
    return {
        "verdict": "holds",
        "statement": "So.",
        "source": SOURCE,
        "value": 4.0,
        "stands": True,
        **changes,
    }


def test_rows_of_the_ledger_that_move() -> None:
    old = state(ledger={"a": row(), "b": row(), "c": row(), "gone": row()})
    new = state(
        ledger={
            "a": row(value=5.0),
            "b": row(verdict="rounding"),
            "c": row(stands=False),
            "here": row(),
        }
    )
    changes = {(c.id, c.field, c.old, c.new) for c in difference(old, new).ledger}
    assert changes == {
        ("a", "computed", 4.0, 5.0),
        ("b", "verdict", "holds", "rounding"),
        ("c", "its verdict", "stands", "does not stand"),
        ("gone", "row", "holds", None),
        ("here", "row", None, "holds"),
    }


def test_rows_without_results_are_compared_by_what_they_say() -> None:
    """An exported folder has no results."""
    bare = {key: field for key, field in row().items() if key not in ("value", "stands")}
    assert not difference(state(ledger={"a": bare}), state(ledger={"a": bare})).ledger


def test_what_could_not_be_read_is_said() -> None:
    changes = difference(state(unread=["acme/two: broken"]), state(unread=["acme/six: broken"]))
    assert changes.unread == ("before: acme/two: broken", "now: acme/six: broken") and changes
