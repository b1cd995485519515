"""What counts as a change: laws of the comparison, every kind of change of a claim, and the
rule on new sources.
"""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.changes.difference import Change, Difference, difference, relative
from flopbook.changes.snapshot import claim_record
from flopbook.data.claims import Claim
from flopbook.hardware.choice import quantity_of
from tests.support.samples import READ, SOURCE


def record(
    value: float | str | None = 100.0, chosen: bool = True, **changes: Any
) -> dict[str, Any]:
    """A claim of a snapshot, a peak if nothing else is said."""
    fields = {
        "field": "peak",
        "unit": "TFLOP/s",
        "dtype": "bf16",
        "engine": "tensor",
        "sparsity": "dense",
        "per": "package",
        "source": SOURCE,
        "as_of": READ,
        "locator": "Table 1",
    } | changes
    return claim_record(Claim(value=value, **fields), chosen)


def state(*claims: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A snapshot with one chip."""
    entry = {
        "kind": "package",
        "name": "One",
        "aliases": [],
        "status": [{"state": "shipping"}],
        "claims": list(claims),
    }
    empty = {
        "vendors": {},
        "models": {},
        "references": {},
        "ledger": {},
        "calculators": {},
        "unread": [],
    }
    return {"entries": {"acme/one": entry}, **empty, **more}


def written(old: dict[str, Any], new: dict[str, Any]) -> list[Change]:
    """The changes of what is written."""
    return list(difference(old, new).written)


def only(changes: list[Change]) -> Change:
    """The one change that there is."""
    assert len(changes) == 1, changes
    return changes[0]


def test_nothing_changed() -> None:
    changes = difference(state(record()), state(record()))
    assert not changes and changes == Difference((), (), (), (), (), ())


def test_a_value_changed() -> None:
    changes = difference(state(record()), state(record(105)))
    assert only(list(changes.written)) == Change(
        "accelerator",
        "acme/one",
        "peak bf16 dense",
        "changed",
        "100 TFLOP/s",
        "105 TFLOP/s",
        pytest.approx(0.05),
        SOURCE,
        SOURCE,
    )
    moved = only(list(changes.chosen))
    assert (moved.old, moved.new, moved.relative) == (
        "100 TFLOP/s",
        "105 TFLOP/s",
        pytest.approx(0.05),
    )


CHANGES: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]], str, str]] = {
    "a claim came": ([], [record()], "added", "peak bf16 dense"),
    "a claim went": ([record()], [], "removed", "peak bf16 dense"),
    "another unit of the same value": (
        [record()],
        [record(0.1, unit="PFLOP/s")],
        "changed",
        "peak bf16 dense",
    ),
    "a number was found": ([record(None)], [record()], "changed", "peak bf16 dense"),
    "a number was withdrawn": ([record()], [record(None)], "changed", "peak bf16 dense"),
    "none instead of not published": (
        [record(None)],
        [record(None, absent=True)],
        "changed",
        "peak bf16 dense",
    ),
    "another source": ([record()], [record(source="bolt2026one")], "changed", "peak bf16 dense"),
    "read again": ([record()], [record(as_of=READ.replace(day=22))], "reread", "peak bf16 dense"),
    "a quote was added": ([record()], [record(quote="100 TFLOPS")], "reread", "peak bf16 dense"),
    "known to be wrong now": (
        [record()],
        [record(known_error=True, note="Twice.")],
        "reread",
        "peak bf16 dense",
    ),
    "a sparse one beside the dense": (
        [record()],
        [record(), record(200, sparsity="2:4")],
        "added",
        "peak bf16 2:4",
    ),
    "a vector one": ([], [record(engine="vector")], "added", "peak bf16 vector dense"),
    "another value of the same source": (
        [record()],
        [record(), record(99)],
        "added",
        "peak bf16 dense",
    ),
    "a text": (
        [record("4 nm", field="process", unit="", dtype="", engine="", sparsity="")],
        [record("3 nm", field="process", unit="", dtype="", engine="", sparsity="")],
        "changed",
        "process",
    ),
}


@pytest.mark.parametrize(("old", "new", "how", "field"), CHANGES.values(), ids=CHANGES)
def test_every_kind_of_change_of_a_claim(
    old: list[Any], new: list[Any], how: str, field: str
) -> None:
    change = only(written(state(*old), state(*new)))
    assert (change.how, change.field, change.id) == (how, field, "acme/one")


def test_what_changed_beside_the_value_is_named() -> None:
    change = only(
        written(
            state(record()), state(record(101, as_of=READ.replace(day=22), note="New edition."))
        )
    )
    assert change.also == ("as_of", "note") and change.how == "changed"


def test_a_line_that_moved_is_no_change() -> None:
    claims = [record(), record(200, sparsity="2:4"), record(99, source="bolt2026one"), record(98)]
    assert not difference(state(*claims), state(*reversed(claims))).written


def test_the_right_one_of_several_is_matched() -> None:
    """A claim of another source that went does not pair with the one that stayed."""
    old = [record(100), record(90, source="bolt2026one"), record(80, source="cord2026one")]
    change = only(written(state(*old), state(*old[:1], *old[2:])))
    assert (change.how, change.old, change.old_source) == ("removed", "90 TFLOP/s", "bolt2026one")
    change = only(written(state(*old), state(old[0], record(91, source="bolt2026one"), old[2])))
    assert (change.old, change.new, change.new_source) == (
        "90 TFLOP/s",
        "91 TFLOP/s",
        "bolt2026one",
    )


def test_totals_are_no_lines_of_a_file() -> None:
    total = record(800, per="node", locator="")
    changes = difference(state(record()), state(record(), total))
    assert not changes.written and only(list(changes.chosen)).new == "800 TFLOP/s"


@pytest.mark.parametrize("value", [110.1, 89.9, 200, 1])
def test_a_large_change_needs_a_new_source(value: float) -> None:
    problem = only(list(difference(state(record()), state(record(value))).problems))
    assert problem.startswith("acme/one peak bf16 dense: 100 TFLOP/s to ") and SOURCE in problem
    assert "known_error: true" in problem and "new source" in problem


@pytest.mark.parametrize(
    "new",
    [
        record(110),
        record(90),
        record(0.1, unit="PFLOP/s"),
        record(200, source="bolt2026one"),
        record(None),
    ],
    ids=str,
)
def test_a_small_change_or_a_new_source_does_not(new: dict[str, Any]) -> None:
    assert not difference(state(record()), state(new)).problems


def test_a_misreading_is_mended_by_keeping_it() -> None:
    """The way out that the rule names: the old claim stays as a known error, the right one is
    added.
    """
    wrong = record(200, chosen=False, known_error=True, note="The sparse rate.")
    changes = difference(state(record(200)), state(wrong, record(100)))
    assert not changes.problems and {change.how for change in changes.written} == {
        "reread",
        "added",
    }
    assert only(list(changes.chosen)).relative == pytest.approx(-0.5)


def test_chosen_values_that_come_and_go() -> None:
    old = state(record(chosen=False), record(99, source="bolt2026one"))
    new = state(record(), record(99, False, source="bolt2026one"))
    moved = only(list(difference(old, new).chosen))
    assert (moved.old_source, moved.new_source, moved.how) == ("bolt2026one", SOURCE, "changed")
    assert (
        only(list(difference(state(record()), state(record(chosen=False))).chosen)).how == "removed"
    )
    assert (
        only(list(difference(state(record(chosen=False)), state(record())).chosen)).how == "added"
    )


def test_the_same_value_of_another_source_is_a_move_too() -> None:
    old, new = state(record()), state(record(source="bolt2026one"))
    assert only(list(difference(old, new).chosen)).relative == 0


def test_one_quantity_is_what_the_rule_of_choice_says() -> None:
    """Two claims with one key of the choice compete; the comparison follows them as one
    quantity.
    """
    old, new = (
        Claim("memory", 80, "a2026b", READ, "GB", tier="hbm", type="HBM3"),
        Claim("memory", 90, "a2026b", READ, "GB", tier="hbm", type="HBM3E"),
    )
    assert quantity_of(old) == quantity_of(new)
    moved = only(
        list(difference(state(claim_record(old, True)), state(claim_record(new, True))).chosen)
    )
    assert (moved.how, moved.old, moved.new) == ("changed", "80 GB", "90 GB")


CLAIMS = st.lists(
    st.builds(
        record,
        st.sampled_from([None, 1.0, 2.0, 100.0]),
        st.booleans(),
        source=st.sampled_from(["a2020b", "c2020d"]),
        sparsity=st.sampled_from(["dense", "2:4"]),
        dtype=st.sampled_from(["bf16", "fp8"]),
        note=st.sampled_from(["", "Rounded."]),
    ),
    max_size=6,
)


@given(CLAIMS)
def test_a_state_does_not_differ_from_itself(claims: list[dict[str, Any]]) -> None:
    snapshot = state(*claims)
    assert not difference(snapshot, copy.deepcopy(snapshot)) and not difference(
        snapshot, json.loads(json.dumps(snapshot))
    )


@given(CLAIMS, CLAIMS)
def test_back_is_the_opposite_of_forth(
    one: list[dict[str, Any]], two: list[dict[str, Any]]
) -> None:
    """As many changes either way, with old and new exchanged and added for removed."""
    opposite = {"added": "removed", "removed": "added", "changed": "changed", "reread": "reread"}
    forth, back = difference(state(*one), state(*two)), difference(state(*two), state(*one))
    for a, b in ((forth.written, back.written), (forth.chosen, back.chosen)):
        assert len(a) == len(b)
    count = lambda found: sorted(change.how for change in found.written)  # noqa: E731
    assert count(forth) == sorted(opposite[how] for how in count(back))


@given(CLAIMS, CLAIMS)
def test_claims_are_kept_in_number(one: list[dict[str, Any]], two: list[dict[str, Any]]) -> None:
    """What came less what went is what there is more."""
    hows = [change.how for change in difference(state(*one), state(*two)).written]
    assert hows.count("added") - hows.count("removed") == len(two) - len(one)


@pytest.mark.parametrize(
    ("old", "new", "by"),
    [
        *((100, 110, 0.1), (100, 50, -0.5), (0, 1, None), (None, 1, None), (1, "a", None)),
        (5e-324, 1e300, None),  # no number
    ],
)
def test_relative_changes(old: Any, new: Any, by: float | None) -> None:
    assert relative(old, new) == (None if by is None else pytest.approx(by))
