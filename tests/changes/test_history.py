"""What commits changed in the values and the works, and the feeds: a real repository, made for the
test.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from flopbook.changes import additions, history
from flopbook.errors import FlopbookError
from flopbook.export import changes_feed as feed
from flopbook.export.atom import NAMESPACE
from tests.support.samples import bib, claim, entry_text

ATOM = {"a": NAMESPACE}
Commit = Callable[[dict[str, str | None]], str]


@pytest.fixture
def commit(tmp_path: Path) -> Commit:
    """Writes files of the repository (None removes one), commits them, gives the commit's name."""

    def git(*words: str) -> str:
        name = (
            "-c",
            "user.name=Ada",
            "-c",
            "user.email=ada@acme.example",
            "-c",
            "commit.gpgsign=false",
        )
        done = subprocess.run(
            ["git", "-C", str(tmp_path), *name, *words], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def write(files: dict[str, str | None]) -> str:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                path.unlink()
            else:
                path.write_text(text, encoding="utf-8")
        git("add", "-A")
        git("commit", "--quiet", "--message", "a change")
        return git("rev-parse", "HEAD")

    git("init", "--quiet", "--initial-branch=main")
    return write


def events(root: Path, head: str) -> list[tuple[str, str]]:
    """Entry and title of each event, newest first."""
    return [(event.entry, feed.title(event.changes)) for event in history._events(root, head)]


ONE = "accelerators/acme/one.yaml"


def test_what_each_commit_did_to_an_entry(tmp_path: Path, commit: Commit) -> None:
    commit({ONE: entry_text(claim(), claim("power")), "README.md": "x"})
    commit({ONE: entry_text(claim(value=110), claim("power"))})
    commit({ONE: entry_text(claim(value=110), claim("power", value=600, source="b2026two"))})
    commit(
        {
            ONE: entry_text(
                claim(value=110, as_of="2026-12-01"), claim("power", value=600, source="b2026two")
            )
        }
    )
    commit({"README.md": "y"})
    commit({ONE: entry_text(claim(value=110, as_of="2026-12-01"))})
    head = commit({ONE: None})
    assert events(tmp_path, head) == [
        ("acme/one", "removed"),
        ("acme/one", "1 value removed"),
        ("acme/one", "1 value read again"),
        ("acme/one", "1 value changed"),
        ("acme/one", "1 value corrected"),
        ("acme/one", "added"),
    ]


def test_a_value_that_moved_in_the_file_is_no_change(tmp_path: Path, commit: Commit) -> None:
    commit({ONE: entry_text(claim(), claim("power"))})
    head = commit({ONE: entry_text(claim("power"), claim())})
    assert events(tmp_path, head) == [("acme/one", "added")]


@pytest.mark.parametrize(
    "text", ["", "a: [", "- 1", "claims: 3", "claims: [7]", "\x00", "!!python/object:os.system {}"]
)
def test_a_file_that_is_no_entry_is_passed_over(tmp_path: Path, commit: Commit, text: str) -> None:
    commit({ONE: text})
    head = commit({ONE: entry_text()})
    assert events(tmp_path, head) == [("acme/one", "added")]


def test_vendors_are_no_accelerators(tmp_path: Path, commit: Commit) -> None:
    assert (
        events(
            tmp_path,
            commit(
                {"accelerators/acme/vendor.yaml": "id: acme\n", "accelerators/schema.json": "{}"}
            ),
        )
        == []
    )


def test_the_feed_is_atom_and_says_old_new_and_source(tmp_path: Path, commit: Commit) -> None:
    commit({ONE: entry_text(claim())})
    head = commit({ONE: entry_text(claim(value=150, source="b2026two"))})
    root = ElementTree.fromstring(feed.feed(history._events(tmp_path, head)).encode())
    assert root.tag == f"{{{NAMESPACE}}}feed"
    assert all(
        root.find(f"a:{tag}", ATOM) is not None
        for tag in ("title", "id", "updated", "author", "link")
    )
    entries = root.findall("a:entry", ATOM)
    assert [entry.findtext("a:title", "", ATOM) for entry in entries] == [
        "acme/one: 1 value changed",
        "acme/one: added",
    ]
    assert len({entry.findtext("a:id", "", ATOM) for entry in entries}) == 2
    content = entries[0].findtext("a:content", "", ATOM)
    assert content == "peak bf16 dense: changed, 100 TFLOP/s to 150 TFLOP/s (+50.0 %), b2026two"


def test_the_feed_holds_whatever_people_write(tmp_path: Path, commit: Commit) -> None:
    """Markup is text, and what XML cannot hold is replaced: a contributed value must not break
    every reader.
    """
    commit({ONE: entry_text(claim("process", value="<b>&\u0001 4 nm</b>"))})
    head = commit({ONE: entry_text(claim("process", value="]]> <script>"))})
    root = ElementTree.fromstring(feed.feed(history._events(tmp_path, head)).encode())
    content = root.findtext("a:entry/a:content", "", ATOM)
    assert "]]> <script>" in content and "\ufffd" in content and root.find(".//script") is None


def test_no_more_than_a_reader_wants(tmp_path: Path, commit: Commit) -> None:
    claims = [claim("clock", name=f"clock {n}") for n in range(60)]
    commit({ONE: entry_text(claim())})
    (event, _) = history._events(tmp_path, commit({ONE: entry_text(claim(), *claims)}))
    lines = feed.lines(event.changes)
    assert len(lines) == feed.MOST_LINES + 1 and lines[-1] == "and 20 more"


def test_an_empty_history_is_a_valid_feed() -> None:
    assert ElementTree.fromstring(feed.feed([]).encode()).find("a:updated", ATOM) is not None


def test_a_part_of_a_history_is_refused(
    tmp_path: Path, commit: Commit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shallow clone would tell its one commit as the birth of every entry."""
    commit({ONE: entry_text()})
    commit({ONE: entry_text(claim())})
    clone = tmp_path / "clone"
    subprocess.run(
        ["git", "clone", "--quiet", "--depth=1", f"file://{tmp_path}", str(clone)], check=True
    )
    monkeypatch.setattr(history, "checkout", lambda: clone)
    with pytest.raises(FlopbookError, match="git fetch --unshallow"):
        history.history()


def test_the_history_of_this_repository() -> None:
    try:
        recent = history.history()
    except FlopbookError as error:
        pytest.skip(str(error))
    assert all(event.changes and "/" in event.entry for event in recent)


def test_a_reference_came_with_the_commit_that_first_had_it(tmp_path: Path, commit: Commit) -> None:
    """Also when it is edited later, or moved to another file; a note that looks like an entry is
    none.
    """
    first = commit(
        {
            "bibliography/a.bib": bib("old2020one") + "\n" + bib("gone2020two"),
            "README.md": "@misc{no2020pe,\n",
        }
    )
    commit(
        {
            "bibliography/a.bib": bib("old2020one", annote="Another note."),
            "bibliography/b.bib": bib("new2021one"),
        }
    )
    commit(
        {
            "bibliography/a.bib": None,
            "bibliography/b.bib": bib("new2021one") + "\n" + bib("old2020one"),
        }
    )
    added = additions._added(tmp_path, "HEAD")
    assert set(added) == {"old2020one", "gone2020two", "new2021one"}
    day = subprocess.run(
        ["git", "-C", str(tmp_path), "show", "-s", "--format=%cI", first],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    assert added["old2020one"] == day <= added["new2021one"]


def test_without_a_history_nothing_is_said_of_additions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(additions, "checkout", lambda: tmp_path)
    assert additions.additions() == {}
    monkeypatch.setattr(additions, "checkout", lambda: None)
    assert additions.additions() == {}
