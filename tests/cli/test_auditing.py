"""`audit` in a terminal: a sheet, its score, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.checks.test_audit import filled, rows_of


def test_in_a_terminal(cli: Any, tmp_path: Path, fails: Any) -> None:
    text = cli("audit", "--sample", "4", "--seed", "2").out
    assert len(rows_of(text)) == 4
    path = tmp_path / "sheet.csv"
    path.write_text(filled(text, "right", "wrong"))
    said = cli("audit", "--score", str(path)).out
    assert "looked up   4, not found 0" in said and "wrong       2, 50.0 % (95 % interval" in said
    assert '"cases": 2' in cli("audit", "--score", str(path), "--json").out
    assert '"quantity"' in cli("audit", "--sample", "1", "--json").out
    assert "is no count; write 100" in fails("audit", "--sample", "-1")
    assert "does not go with" in fails("audit", "--score", str(path), "--seed", "1")
    assert "nowhere.csv" in fails("audit", "--score", str(tmp_path / "nowhere.csv"))
