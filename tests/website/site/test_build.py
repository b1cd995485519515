"""A build that fails says where and leaves the site as it was.

One that succeeds is whole, also with Zensical.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path

import pytest

from flopbook.data.library import Library, using
from scripts import build_site
from scripts.attack import checkout

ROOT = Path(__file__).resolve().parents[3]


def snapshot(folder: Path) -> dict[str, str]:
    """Every file below a folder with the hash of its bytes."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small checkout with its notebook run: it breaks as the whole one does, much sooner."""
    folder = checkout.small_checkout(tmp_path_factory.mktemp("build") / "checkout")
    done = checkout.build(folder, "--content-only")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def tree(kept: Path, tmp_path: Path) -> Path:
    """A copy of it, which a test may break."""
    return Path(shutil.copytree(kept, tmp_path / "repo"))


def build(tree: Path, **variables: str) -> tuple[int, str, str]:
    """Build the site of a checkout beside one that is there; a failure must leave that alone."""
    place = tree.parent / "place"
    (place / "site").mkdir(parents=True)
    (place / "site" / "index.html").write_text("as it was", encoding="utf-8")
    before = snapshot(place)
    done = checkout.build(tree, "--site", str(place / "site"), **variables)
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


def test_all_problems_of_the_prose_are_told_at_once_with_their_places(tree: Path) -> None:
    """An unknown product, an undefined word and an unknown practical, each said once."""
    product = append(
        tree, "docs/handbook/index.md", 'The {{ chip("nvidia/h1000-sxm").peak("bf16") }} of it.'
    )
    word = append(tree, "docs/index.md", "A {{ nonsense }}.")
    break_file(tree, "docs/handbook/one.md", "order: 1", "order: 1\npracticals: [practicl]")
    status, _, errors = build(tree)
    assert status == 1 and errors.count("docs/") == 3
    assert f"docs/handbook/index.md:{product}:1: prose" in errors
    assert "h1000-sxm" in errors and "h100-sxm" in errors
    assert f"docs/index.md:{word}:1" in errors and "nonsense" in errors
    assert "docs/handbook/one.md:5:14: practicals" in errors and "nearest: practical" in errors


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
    path = tree / "calculators" / "notebooks" / "practical.py"
    path.write_text(
        "# %% [markdown]\n# # Broken\n\n# %%\nassert 1 + 1 == 3, 'not even close'\n",
        encoding="utf-8",
    )
    status, _, errors = build(tree)
    assert status == 1
    assert "calculators/notebooks/practical.py" in errors and "not even close" in errors


def test_a_broken_link_in_prose_and_no_notebook_runs_twice(tree: Path) -> None:
    """The notebook comes from the cache that the first build left.

    Nothing that it depends on has changed.
    """
    links = "[Nowhere](no-such-page.md) and [no anchor](one.md#no-such-part)."
    append(tree, "docs/handbook/index.md", links)
    status, out, errors = build(tree)
    assert status == 1 and "handbook/index.md" in errors
    assert "no-such-page.md" in errors and "no-such-part" in errors
    assert "practical: unchanged" in out and ": running" not in out


def test_a_wish_for_jax_that_is_none(tree: Path) -> None:
    head = "# ---\n# jupyter:\n#   flopbook:\n#     extra: jax\n# ---\n\n"
    path = tree / "calculators" / "notebooks" / "practical.py"
    path.write_text(head + path.read_text(encoding="utf-8"), encoding="utf-8")
    status, _, errors = build(tree, FLOPBOOK_JAX="maybe")
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


def test_a_good_build_says_what_it_does_and_leaves_nothing_beside_the_site(tree: Path) -> None:
    """Each step, where the site is, how long it took.

    A second build, for which nothing has changed, leaves the sites of both generators.
    """
    before = {path.name for path in tree.iterdir()}
    first = checkout.build(tree, "--zensical")
    assert first.returncode == 0 and "in all" in first.stdout, first.stderr
    steps = re.findall(r"^\[\d/7\] (.+) \.\.\.$", first.stdout, re.MULTILINE)
    assert steps == [
        "check the data",
        "run the notebooks",
        "write the content",
        "build the site",
        "check the links of the site",
        "build with Zensical",
        "put it in place",
    ]
    assert f"site: {tree / 'site' / 'index.html'}" in first.stdout
    assert {path.name for path in tree.iterdir()} == {*before, "site"}
    built = (tree / "site").stat()
    second = checkout.build(tree, "--zensical")
    assert second.returncode == 0 and "nothing has changed" in second.stdout
    assert (tree / "site").stat() == built
