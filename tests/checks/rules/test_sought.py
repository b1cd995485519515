"""A chip that was looked for in vain has no entry; a row that says otherwise is told."""

from __future__ import annotations

import datetime

import pytest

from flopbook.checks.rules import sought
from flopbook.checks.rules.base import Holdings
from flopbook.data.library import library, load_entry
from flopbook.data.sought import Sought

DAY = datetime.date(2026, 11, 20)
CHIP = Sought("A2", "Acme", DAY, "its site", "a picture", "accelerators/sought.yaml", 3)


def messages(*chips: Sought) -> list[str]:
    entries = {"nvidia/h100-sxm": load_entry("nvidia/h100-sxm")}
    holdings = Holdings(library=library(), entries=entries, sought=chips)
    return [str(finding.problem) for finding in sought.check(holdings)]


def test_a_chip_without_an_entry_is_sound() -> None:
    assert messages(CHIP, CHIP._replace(name="A3")) == []


@pytest.mark.parametrize("name", ["H100 SXM", "h100-sxm"])
def test_a_chip_that_has_an_entry_is_told(name: str) -> None:
    (message,) = messages(CHIP._replace(maker="NVIDIA", name=name))
    assert message.startswith("accelerators/sought.yaml:3:1: sought: ")
    assert "drop the row: nvidia/h100-sxm has figures" in message


def test_nobody_looked_on_a_day_to_come() -> None:
    (message,) = messages(CHIP._replace(as_of=datetime.date(2999, 1, 1)))
    assert "found looked for on 2999-01-01" in message
