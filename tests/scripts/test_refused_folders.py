"""A build replaces what builds have made, and no other folder of anybody."""

from __future__ import annotations

from pathlib import Path

import pytest

from flopbook.errors import FlopbookError
from scripts.website.build.exchange import recover, refuse_others

OURS = ("index.html",)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout with prose, and a folder of somebody's own beside it."""
    root = tmp_path / "checkout"
    (root / "docs").mkdir(parents=True)
    (root / "docs" / "index.html").write_text("prose")
    (root / "index.html").write_text("of the checkout")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "letter.txt").write_text("dear")
    return root


@pytest.mark.parametrize("name", [".", "docs", "..", "../own", "site"])
def test_what_no_build_has_made_is_not_replaced(name: str, root: Path) -> None:
    """`--site .` put a site into the place of the checkout, and `--work .` emptied docs/."""
    (root / "site").symlink_to("../own")
    with pytest.raises(FlopbookError, match="holds what no build has made"):
        refuse_others(root / name, OURS, root)


def test_a_link_to_a_site_is_not_emptied(root: Path) -> None:
    (root.parent / "own" / "index.html").write_text("a site of another program")
    (root / "build").symlink_to("../own")
    with pytest.raises(FlopbookError, match="holds what no build has made"):
        refuse_others(root / "build", OURS, root)


def test_an_earlier_site_and_an_empty_folder_are_replaced(root: Path) -> None:
    (root / "build").mkdir()
    refuse_others(root / "build", OURS, root)
    refuse_others(root / "nothing", OURS, root)
    (root / "build" / "index.html").write_text("a site")
    refuse_others(root / "build", OURS, root)


def test_only_what_builds_have_left_is_removed(tmp_path: Path) -> None:
    """A folder `site.new-ideas` was taken for the leftover of a killed build."""
    for name in ("site", "site.new-12", "site.new-ideas", "site*", "site2.new-3"):
        (tmp_path / name).mkdir()
    recover(tmp_path / "site")
    recover(tmp_path / "site*")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["site", "site*", "site.new-ideas", "site2.new-3"]
