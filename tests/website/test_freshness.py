"""A site stays where a build would make the same one, and nowhere else."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from scripts.website.build import freshness


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout with a site that is fresh."""
    for name in ("docs/index.md", "accelerators/a/b.yaml", "tests/test_a.py", "site/index.html"):
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text("as it was", encoding="utf-8")
    (tmp_path / "build").mkdir()
    freshness.note(tmp_path / "site", tmp_path / "build", freshness.sources_hash(tmp_path))
    return tmp_path


def is_fresh(root: Path) -> bool:
    return freshness.is_fresh(root, root / "site", root / "build")


def _put(name: str) -> Callable[[Path], object]:
    def change(root: Path) -> None:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("another", encoding="utf-8")

    return change


@pytest.mark.parametrize(
    "change",
    [
        lambda root: None,
        _put("tests/test_a.py"),
        _put("build/docs/index.md"),
        _put(".github/workflows/x.yml"),
        _put("docs/__pycache__/x.pyc"),
        _put("site.new-1/index.html"),
        lambda root: os.utime(root / "docs" / "index.md", (1, 1)),
    ],
)
def test_what_no_page_is_made_from_may_change(root: Path, change: Callable[[Path], object]) -> None:
    change(root)
    assert is_fresh(root)


@pytest.mark.parametrize(
    "change",
    [
        _put("docs/index.md"),
        _put("accelerators/a/c.yaml"),
        _put("mkdocs.yml"),
        _put("scripts/website/build/slim.py"),  # no folder of what is built
        _put("site/index.html"),
        _put("site/book/book.pdf"),
        lambda root: (root / "docs" / "index.md").unlink(),
        lambda root: (root / "docs" / "index.md").rename(root / "docs" / "other.md"),
        lambda root: (root / "site" / "index.html").unlink(),
        lambda root: os.utime(root / "site" / "index.html", (1, 1)),
        lambda root: (root / "build" / "site-state.json").unlink(),
        lambda root: (root / "build" / "site-state.json").write_text("[1"),
    ],
)
def test_every_other_change_asks_for_a_build(root: Path, change: Callable[[Path], object]) -> None:
    change(root)
    assert not is_fresh(root)


def test_the_site_of_the_second_generator_is_asked_for_where_it_is_wanted(root: Path) -> None:
    """`make site` makes the first alone; the tests want both, and find those of an earlier run."""
    site, work = root / "site", root / "build"

    def stays() -> bool:
        return freshness.is_fresh(root, site, work, zensical=True)

    assert not stays()
    _put("build/zensical/site/index.html")(root)
    assert not stays()
    freshness.note(site, work, freshness.sources_hash(root), zensical=True)
    assert stays() and is_fresh(root)
    _put("build/zensical/site/other.html")(root)
    assert not stays() and is_fresh(root)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FLOPBOOK_SITE_URL", "https://x.example/"),
        ("FLOPBOOK_JAX", "0"),
        ("FLOPBOOK_DATA", "/elsewhere"),
    ],
)
def test_variables_that_a_build_reads_count(
    root: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    assert not is_fresh(root)


def test_another_commit_asks_for_a_build(root: Path) -> None:
    """The feed of changes is made from the history."""
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.example"]
    subprocess.run([*git, "init", "-q"], cwd=root, check=True)
    assert is_fresh(root)  # no commit yet, as before
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "one"], cwd=root, check=True)
    assert not is_fresh(root)


def test_a_name_that_is_no_text_is_one_more_name(tmp_path: Path) -> None:
    """It ended every build with a traceback."""
    before = freshness.sources_hash(tmp_path)
    try:
        (tmp_path / "\udcff.txt").write_text("x")
    except OSError:
        pytest.skip("this filesystem has names of text alone")
    assert freshness.sources_hash(tmp_path) != before
