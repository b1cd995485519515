"""A build that fails says where and leaves the site as it was.

One that succeeds is whole, also with Zensical.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from flopbook.data.library import Library, using
from scripts import build_site

ROOT = Path(__file__).resolve().parents[3]


def snapshot(folder: Path) -> dict[str, str]:
    """Every file below a folder with the hash of its bytes."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def build(tree: Path) -> tuple[int, str, str]:
    """Build a copy of the repository, whose package, data and scripts are the ones in use."""
    place = tree.parent / "place"
    (place / "site").mkdir(parents=True)
    (place / "site" / "index.html").write_text("as it was", encoding="utf-8")
    before = snapshot(place)
    done = subprocess.run(
        [sys.executable, "-m", "scripts.build_site", "--site", str(place / "site")],
        cwd=tree,
        env={**os.environ, "FLOPBOOK_DATA": str(tree)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert snapshot(place) == before, "a failed build changed the site"
    assert [path.name for path in place.iterdir()] == ["site"]
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    return done.returncode, done.stdout, done.stderr


def break_file(tree: Path, path: str, old: str, new: str) -> None:
    """Replace the first occurrence of a text; it must be there."""
    text = (tree / path).read_text(encoding="utf-8")
    assert old in text, path
    (tree / path).write_text(text.replace(old, new, 1), encoding="utf-8")


def append(tree: Path, path: str, text: str) -> int:
    """Add a line to a file and return its number."""
    before = (tree / path).read_text(encoding="utf-8").rstrip("\n")
    (tree / path).write_text(f"{before}\n\n{text}\n", encoding="utf-8")
    return before.count("\n") + 3


def test_an_unknown_name_in_prose(tree: Path) -> None:
    line = append(
        tree, "docs/handbook/index.md", 'The {{ chip("nvidia/h1000-sxm").peak("bf16") }} of it.'
    )
    status, _, errors = build(tree)
    assert status == 1 and f"docs/handbook/index.md:{line}:1: prose" in errors
    assert "h1000-sxm" in errors and "h100-sxm" in errors and errors.count("docs/") == 1


def test_an_undefined_word_and_an_unknown_practical(tree: Path) -> None:
    """Both at once, each with its place."""
    line = append(tree, "docs/index.md", "A {{ nonsense }}.")
    break_file(tree, "docs/handbook/roofline.md", "practicals: [intensity", "practicals: [intensty")
    status, _, errors = build(tree)
    assert status == 1 and f"docs/index.md:{line}:1" in errors and "nonsense" in errors
    assert "docs/handbook/roofline.md:5:14: practicals" in errors and "nearest: intensity" in errors


def refusal(tree: Path) -> str:
    """What the first step of a build says of the data of a tree, in this process."""
    with using(Library(tree)), pytest.raises(build_site.CheckFailed) as caught:
        build_site.check_data()
    return str(caught.value)


@pytest.mark.parametrize(
    ("path", "old", "new", "reason"),
    [
        ("nvidia/h100-sxm.yaml", "kind: package", "kind: gadget", "gadget"),
        ("nvidia/h100-sxm.yaml", "family: Hopper", "family: Hopper\nfamily: Hopper", "family"),
        ("nvidia/h100-sxm.yaml", "name: NVIDIA H100", "name: [NVIDIA H100", "yaml"),
        ("nvidia/h100-sxm.yaml", "family: Hopper", "family: <script>alert(1)</script>", "script"),
        ("nvidia/vendor.yaml", "https://www.nvidia.com/", "javascript:alert(1)", "javascript"),
    ],
)
def test_bad_data_stops_the_build_at_its_line(
    tmp_path: Path, path: str, old: str, new: str, reason: str
) -> None:
    """In this process: that a failed build leaves the site alone is tested with real builds."""
    for name in ("accelerators", "bibliography", "calculators/models"):
        shutil.copytree(ROOT / name, tmp_path / name)
    break_file(tmp_path, f"accelerators/{path}", old, new)
    message = refusal(tmp_path)
    assert f"accelerators/{path}:" in message and reason in message


def test_a_notebook_whose_assertion_fails(tree: Path) -> None:
    path = tree / "calculators" / "notebooks" / "bubble.py"
    path.write_text(
        "# %% [markdown]\n# # Broken\n\n# %%\nassert 1 + 1 == 3, 'not even close'\n",
        encoding="utf-8",
    )
    status, _, errors = build(tree)
    assert (
        status == 1 and "calculators/notebooks/bubble.py" in errors and "not even close" in errors
    )


def test_a_broken_link_in_prose_and_no_notebook_runs_twice(tree: Path) -> None:
    """The notebooks come from the cache that the first build left.

    Nothing that they depend on has changed.
    """
    append(
        tree,
        "docs/handbook/index.md",
        "[Nowhere](no-such-page.md) and [no anchor](roofline.md#no-such-part).",
    )
    status, out, errors = build(tree)
    assert (
        status == 1
        and "handbook/index.md" in errors
        and "no-such-page.md" in errors
        and "no-such-part" in errors
    )
    count = len(list((tree / "calculators/notebooks").glob("*.py")))
    assert (
        sum(map(out.count, (": unchanged", ": recorded", ": not run, there is no jax"))) == count
        and ": running" not in out
    )


def test_a_wish_for_jax_that_is_none(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLOPBOOK_JAX", "maybe")
    status, _, errors = build(tree)
    assert status == 1 and errors.startswith("FLOPBOOK_JAX is 'maybe': write 0 to leave JAX out")


def test_zensical_builds_the_same_pages(built: Path) -> None:
    """The second generator reads the same content in strict mode.

    Nothing here depends on the first.
    """
    pages = [
        {p.relative_to(root).as_posix() for p in root.rglob("*.html")}
        for root in (built / "site", built / "zensical" / "site")
    ]
    assert pages[0] == pages[1] and len(pages[0]) > 50
    text = (built / "zensical" / "site" / "notebooks" / "bubble" / "index.html").read_text(
        encoding="utf-8"
    )
    assert "simulate" in text and ".svg" in text


def test_the_build_says_what_it_does_and_how_long_it_took(built: Path) -> None:
    log = (built / "log").read_text(encoding="utf-8")
    for step in (
        "check the data",
        "run the notebooks",
        "write the content",
        "build the site",
        "check the links",
        "Zensical",
        "put it in place",
    ):
        assert step in log
    assert f"site: {built / 'site' / 'index.html'}" in log and "in all" in log


def test_a_good_build_leaves_nothing_beside_the_site(built: Path) -> None:
    assert {path.name for path in built.iterdir()} <= {
        "site",
        "docs",
        "mkdocs.yml",
        "zensical",
        "log",
        "started",
    }
