"""Comments of data files and text between references hide nothing from a reviewer."""

from __future__ import annotations

import pytest

from flopbook.checks import lint as checker
from flopbook.checks.rules import comments
from tests.support.samples import World, bib

COMMENT = "# dense \u202e with sparsity\n"


@pytest.mark.parametrize(
    "name",
    [
        "accelerators/acme/one.yaml",
        "accelerators/acme/vendor.yaml",
        "bibliography/topics.yaml",
        "bibliography/all.bib",
    ],
)
def test_a_comment_that_turns_the_direction_is_found(name: str, world: World) -> None:
    world.write("bibliography/all.bib", bib())
    text = (world.root / name).read_text(encoding="utf-8")
    assert _told(world) == []
    world.write(name, COMMENT + text)
    (message,) = _told(world)
    assert message.endswith("retype the line") and name in message
    assert ":1:1: control-character: found the hidden character U+202E" in message


def _told(world: World) -> list[str]:
    holdings, _ = checker.read_holdings(world.library)
    return [str(finding.problem) for finding in comments.check(holdings)]
