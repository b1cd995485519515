"""`diff` and `stale` in a terminal.

Text, Markdown that nobody can break, JSON, and the exit status for a check.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from flopbook.changes import revisions as base
from flopbook.changes.difference import Change, Difference
from flopbook.cli import changes
from flopbook.errors import FlopbookError
from tests.support.samples import World, claim

SOURCE = "a2020b"
CHANGED = Change(
    "accelerator",
    "acme/one",
    "peak bf16 dense",
    "changed",
    "100 TFLOP/s",
    "200 TFLOP/s",
    1.0,
    "a2020b",
    "a2020b",
)
FOUND = Difference(
    written=(
        CHANGED,
        Change(
            "accelerator",
            "acme/two",
            "",
            "added",
            None,
            "package, 9 values",
            None,
            "",
            "a2020b, c2020d",
        ),
        Change(
            "accelerator", "acme/one", "memory hbm", "removed", "80 GB", None, None, "a2020b", ""
        ),
        Change(
            "accelerator",
            "acme/one",
            "power maximum",
            "reread",
            "700 W",
            "700 W",
            0.0,
            SOURCE,
            SOURCE,
            ("as_of",),
        ),
        Change(
            "accelerator",
            "acme/one",
            "die area",
            "changed",
            "814 mm2",
            "815 mm2",
            0.00123,
            SOURCE,
            "c2020d",
            ("note",),
        ),
    ),
    chosen=(CHANGED,),
    calculators=(
        Change(
            "calculator",
            "flopbook min-batch --chip acme/one",
            "tokens",
            "changed",
            300.0,
            600.0,
            1.0,
        ),
    ),
    ledger=(Change("ledger", "some-row", "verdict", "changed", "holds", "does-not-hold"),),
    problems=(
        "acme/one peak bf16 dense: 100 TFLOP/s to 200 TFLOP/s (+100 %) "
        "with the same source a2020b; name it",
    ),
    unread=(),
)
NOTHING = Difference((), (), (), (), (), ())


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Sets what the comparison finds."""

    def set_(difference: Difference) -> None:
        monkeypatch.setattr(base, "against", lambda revision: difference)

    set_(FOUND)
    return set_


def test_diff_as_text(found: Any, cli: Any) -> None:
    outcome = cli("diff", "main")
    assert (outcome.status, outcome.err) == (0, "")
    for line in (
        "Values and entries",
        "Values in use",
        "Calculators",
        "Ledger",
        "acme/two accelerator added package, 9 values",
        "acme/one peak bf16 dense 100 TFLOP/s -> 200 TFLOP/s (+100.00 %) a2020b",
        "acme/one memory hbm removed 80 GB a2020b",
        "acme/one power maximum 700 W (as_of changed) a2020b",
        "814 mm2 -> 815 mm2 (+0.12 %) (note changed too) a2020b -> c2020d",
        "flopbook min-batch --chip acme/one tokens 300 -> 600 (+100.00 %)",
        "some-row verdict holds -> does-not-hold",
        "problem: acme/one",
    ):
        assert line in " ".join(outcome.out.split()), line


def test_diff_as_json(found: Any, cli: Any) -> None:
    record = json.loads(cli("diff", "main", "--json").out)
    assert list(record) == [
        "base",
        "written",
        "chosen",
        "calculators",
        "ledger",
        "problems",
        "unread",
    ]
    assert record["base"] == "main" and record["problems"] == list(FOUND.problems)
    assert record["written"][0] == {
        "kind": "accelerator",
        "id": "acme/one",
        "field": "peak bf16 dense",
        "how": "changed",
        "old": "100 TFLOP/s",
        "new": "200 TFLOP/s",
        "relative": 1.0,
        "old_source": "a2020b",
        "new_source": "a2020b",
        "also": [],
    }


def test_diff_as_markdown(found: Any, cli: Any) -> None:
    text = cli("diff", "main", "--markdown").out
    assert text.startswith("## Data compared with main\n\n**To mend**\n\n- acme/one peak")
    for title, count in (
        ("Values and entries", 5),
        ("Values in use", 1),
        ("Calculators", 1),
        ("Ledger", 1),
    ):
        assert f"\n### {title}: {count}\n" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert all(line.count("|") == 5 for line in rows) and len(rows) == 4 * 2 + 8


HOSTILE = (
    "<img src=x onerror=alert(1)> | [link](javascript:alert(1)) `code` **bold** @team #1\n"
    "# head ![x](y) \x1b[1m \u202e"
)


def test_markdown_cannot_be_broken_by_data(found: Any, cli: Any) -> None:
    """Texts of a pull request land in a page of the project: they stay text in their cell."""
    change = Change(
        "accelerator",
        HOSTILE,
        HOSTILE,
        "changed",
        HOSTILE,
        HOSTILE + "2",
        None,
        HOSTILE,
        HOSTILE,
        (HOSTILE,),
    )
    found(Difference((change,), (change,), (change,), (change,), (HOSTILE,), (HOSTILE,)))
    text = cli("diff", HOSTILE, "--markdown").out
    for harm in ("<img", "](", "`", "**b", "\n# ", "\x1b", "\u202e"):
        assert harm not in text
    assert all(line.count("|") == 5 for line in text.splitlines() if line.startswith("|"))


def test_text_cannot_drive_the_terminal(found: Any, cli: Any) -> None:
    found(
        NOTHING._replace(written=(CHANGED._replace(id=HOSTILE, new=HOSTILE),), problems=(HOSTILE,))
    )
    assert "\x1b" not in cli("diff", "main").out and "\u202e" not in cli("diff", "main").out


def test_no_difference_is_a_sentence(found: Any, cli: Any) -> None:
    found(NOTHING)
    assert cli("diff", "main").out == "no difference from main\n"
    assert cli("diff", "main", "--markdown").out == "## Data compared with main\n\nNo difference.\n"
    assert json.loads(cli("diff", "main", "--json").out)["written"] == []
    assert cli("diff", "main", "--check").status == 0


@pytest.mark.parametrize("form", [(), ("--markdown",), ("--json",)], ids=str)
def test_a_check_has_a_status(form: tuple[str, ...], found: Any, cli: Any) -> None:
    assert (
        cli("diff", "main", *form).status == 0 and cli("diff", "main", "--check", *form).status == 1
    )
    found(FOUND._replace(problems=()))
    assert cli("diff", "main", "--check", *form).status == 0
    found(NOTHING._replace(unread=("now: acme/one: broken",)))
    outcome = cli("diff", "main", "--check", *form)
    assert outcome.status == 1 and "broken" in outcome.out


def test_a_long_table_is_cut_and_says_so(found: Any, cli: Any) -> None:
    found(NOTHING._replace(written=(CHANGED,) * (changes.MOST_ROWS + 2)))
    assert (
        "and 2 rows more; flopbook diff BASE --json has all"
        in cli("diff", "main", "--markdown").out
    )
    assert len(json.loads(cli("diff", "main", "--json").out)["written"]) == changes.MOST_ROWS + 2


def test_a_base_that_cannot_be_read_is_one_line(
    monkeypatch: pytest.MonkeyPatch, fails: Any
) -> None:
    def refuse(revision: str) -> Difference:
        raise FlopbookError(f"'{revision}' is no revision")

    monkeypatch.setattr(base, "against", refuse)
    assert fails("diff", "main") == fails("diff", "main", "--json") == "'main' is no revision"
    assert "diff needs BASE" in fails("diff") and "do not go together" in fails(
        "diff", "x", "--json", "--markdown"
    )


def test_stale_in_three_forms(world: World, cli: Any) -> None:
    world.entry("fast", claim(), stale_after='{days: 30, reason: "Its clock | is moving."}')
    later = ("--as-of", "2026-12-31")
    text, markdown = cli("stale", *later).out, cli("stale", *later, "--markdown").out
    assert re.search(
        r"^acme/fast +2026-11-21  40 days  30 days  2 of 2  Its clock \| is moving\.$", text, re.M
    )
    assert (
        markdown.startswith("## To be read again: 1\n\n| entry |")
        and "&#124; is moving" in markdown
    )
    (item,) = json.loads(cli("stale", *later, "--json").out)
    assert (item["id"], item["age"], item["days"], item["oldest"]) == (
        "acme/fast",
        40,
        30,
        "2026-11-21",
    )
    assert item["reason"] == "Its clock | is moving."


@pytest.mark.parametrize("form", [(), ("--markdown",)], ids=str)
def test_nothing_stale_is_a_sentence(form: tuple[str, ...], world: World, cli: Any) -> None:
    outcome = cli("stale", "--as-of", "2026-11-22", *form)
    assert outcome.status == 0
    assert (
        outcome.out
        == "nothing was read longer ago than its number of days (180 where an entry states none)\n"
    )
    assert cli("stale", "--as-of", "2026-11-22", "--json").out == "[]\n"


def test_a_report_is_no_failure(world: World, cli: Any) -> None:
    outcome = cli("stale", "--as-of", "2046-01-01")
    assert outcome.status == 0 and "acme/one" in outcome.out
    assert len(cli("stale", "--as-of", "2026-12-01", "--days", "5").out.splitlines()) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--days", "soon"), "--days: 'soon' is no number of days; write for example 180"),
        (("--days", "0"), "is no number"),
        (("--days", "-5"), "is no number"),
        (("--days", "1e9"), "is no number"),
        (("--days", "٣"), "is no number"),
        (("--days", ""), "is no number"),
        (("--as-of", "soon"), "--as-of: 'soon' is no day; write for example 2026-11-21"),
        (("--as-of", "2026-02-30"), "is no day"),
        (("--as-of", "\x1b[1m"), "is no day"),
        (("x",), "stale takes options only"),
        (("--json", "--markdown"), "do not go together"),
    ],
    ids=str,
)
def test_stale_refuses(options: tuple[str, ...], message: str, fails: Any) -> None:
    assert message in fails("stale", *options)
