"""`audit` in a terminal: a sheet, its score, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.checks.test_audit import filled, rows_of
from tests.support.samples import World, claim


def test_in_a_terminal(cli: Any, tmp_path: Path, fails: Any) -> None:
    text = cli("audit", "--sample", "4", "--seed", "2").out
    assert len(rows_of(text)) == 4
    path = tmp_path / "sheet.csv"
    path.write_text(filled(text, "right", "wrong"))
    said = cli("audit", "--score", str(path)).out
    assert "looked up   4, not found 0" in said and "wrong       2, 50.0 % (95 % interval" in said
    assert '"cases": 2' in cli("audit", "--score", str(path), "--json").out
    assert '"quantity"' in cli("audit", "--sample", "1", "--json").out
    wanted = "no whole number from 1 to 999,999,999; write"
    assert f"'-1' is {wanted} 100" in fails("audit", "--sample", "-1")
    assert f"'20261129000' is {wanted} 1" in fails("audit", "--seed", "20261129000")
    assert "does not go with" in fails("audit", "--score", str(path), "--seed", "1")
    assert "nowhere.csv" in fails("audit", "--score", str(tmp_path / "nowhere.csv"))


def test_the_last_audit_is_told_beside_a_sheet_and_alone(
    cli: Any, fails: Any, world: World
) -> None:
    world.entry("one", claim())
    assert cli("audit", "--sample", "1").err == ""
    assert "no audit is on record" in fails("audit", "--last")
    # A value that is shown no more: it was mended.
    world.write(
        "accelerators/audits/2026-03-01-seed-9.csv",
        "entry,quantity,conditions,verdict\na/b,peak,,Wrong\na/b,memory,,right\n",
    )
    beside = cli("audit", "--sample", "1")
    assert beside.err.startswith("last audit, 2026-03-01: 2 values looked up; wrong 1, 50.0 %")
    assert "a/b" not in beside.out and len(rows_of(beside.out)) == 1
    alone = cli("audit", "--last").out
    assert "audit of    2026-03-01, seed 9" in alone and "looked up   2, not found 0" in alone
    assert '"seed": 9' in cli("audit", "--last", "--json").out
    assert "does not go with" in fails("audit", "--last", "--seed", "1")


def test_all_audits_are_told_one_by_one_and_pooled(cli: Any, fails: Any, world: World) -> None:
    world.entry("one", claim())
    assert "no audit is on record" in fails("audit", "--past")
    head = "entry,quantity,conditions,verdict\n"
    world.write("accelerators/audits/2026-03-01-seed-9.csv", head + "a/b,peak,,wrong\n" * 2)
    world.write("accelerators/audits/2026-04-01-seed-3.csv", head + "a/b,power,,right\n" * 2)
    beside = cli("audit", "--sample", "1").err
    assert beside.startswith(
        "2 audits, the last of 2026-04-01: 4 values looked up; wrong 2, 50.0 %"
    )
    told = cli("audit", "--past").out
    first, second, together = told.split("\n\n")
    assert "2026-03-01, seed 9" in first and "wrong       2, 100.0 %" in first
    assert "2026-04-01, seed 3" in second and "wrong       0, 0.0 %" in second
    assert "2 audits" in together and "looked up   4" in together and "2, 50.0 %" in together
    record = json.loads(cli("audit", "--past", "--json").out)
    assert [audit["seed"] for audit in record["audits"]] == [9, 3]
    assert record["pooled"]["looked_up"] == 4 and record["pooled"]["wrong"]["share"] == 0.5
    assert "--past tells of audits on record" in fails("audit", "--past", "--sample", "3")
    assert "does not go with other options" in fails("audit", "--past", "--last")
    assert "does not go with" in fails("audit", "--score", "x.csv", "--past")
