"""All accelerators at once: the same from the files and from what an earlier run kept, and never
stale.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from flopbook.data import cache as store
from flopbook.data import catalogue, shelf
from flopbook.data.entry_records import entry_of_record, record_of_entry
from flopbook.data.library import entry_ids, library, load_entries, load_entry
from flopbook.errors import DataError
from tests.support.samples import World, claim, write


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which this test's runs keep what they parsed."""
    monkeypatch.setenv("FLOPBOOK_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept" / "accelerators.json"


def again() -> dict:
    """What a new run would load."""
    library().forget()
    return load_entries()


def test_what_was_kept_equals_what_was_read(world: World, kept: Path) -> None:
    world.entry(
        "two",
        claim(),
        claim("process"),
        claim("power", value="none"),
        parts={"acme/one": 8},
        kind="node",
        stale_after='{days: 30, reason: "It changes monthly."}',
        aliases="[ii]",
    )
    first = again()
    assert kept.is_file() and again() == first == {name: load_entry(name) for name in entry_ids()}
    assert type(again()["acme/two"].claims[0].as_of) is type(first["acme/two"].claims[0].as_of)


def test_the_real_entries_survive_being_kept() -> None:
    records = {
        name: json.loads(json.dumps(record_of_entry(load_entry(name)))) for name in entry_ids()
    }
    assert all(
        entry_of_record(record, load_entry(name).file) == load_entry(name)
        for name, record in records.items()
    )


def test_a_kept_entry_is_not_checked_again_and_a_changed_one_is(
    world: World, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.entry("two", id="acme/two")
    again()
    (world.accelerators / "acme" / "one.yaml").write_text(
        (world.accelerators / "acme" / "one.yaml").read_text() + "\n"
    )
    read: list[str] = []
    read_whole = catalogue._read
    monkeypatch.setattr(
        catalogue, "_read", lambda path, name: read.append(name) or read_whole(path, name)
    )
    assert set(again()) == {"acme/one", "acme/two"} and read == ["acme/one"]
    load_entry("acme/two")
    assert read == ["acme/one"]


def test_one_changed_value_is_seen_at_once(world: World, kept: Path) -> None:
    again()
    world.entry("one", claim(value=123))
    assert again()["acme/one"].claims[0].value == 123
    assert again()["acme/one"].claims[0].value == 123


def test_the_same_bytes_in_another_place_are_another_entry(world: World, kept: Path) -> None:
    again()
    path = world.accelerators / "acme" / "one.yaml"
    write(world.accelerators / "acme" / "copy.yaml", path.read_bytes())
    with pytest.raises(DataError, match="path"):
        again()


def test_broken_files_are_never_kept_and_all_problems_come_at_once(
    world: World, kept: Path
) -> None:
    world.entry("bad", claim(drop=("unit",)))
    world.entry("worse", claim(drop=("source",)))
    for _ in range(2):
        library().forget()
        with pytest.raises(DataError) as caught:
            load_entries()
        assert {p.file.rpartition("/")[2] for p in caught.value.problems} == {
            "bad.yaml",
            "worse.yaml",
        }
    assert len(json.loads(kept.read_text())["records"]) == 1


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"\xff", b'{"version": "?", "records": {}}', b'{"records": 3}']
)
def test_a_damaged_store_is_made_anew(world: World, kept: Path, content: bytes) -> None:
    first = again()
    kept.write_bytes(content)
    assert again() == first
    assert len(json.loads(kept.read_text())["records"]) == 1


def test_other_code_does_not_use_what_this_code_kept(
    world: World, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    again()
    monkeypatch.setattr(shelf, "fingerprint", lambda *_: "of another version")
    again()
    assert json.loads(kept.read_text())["version"] == "of another version"


def test_nothing_is_kept_when_nothing_is_to_be_kept(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLOPBOOK_CACHE", "")
    assert store.folder() is None and len(again()) == 1


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="this user may write everywhere")
def test_a_folder_that_cannot_be_written_is_no_error(
    world: World, tmp_path: Path, kept: Path
) -> None:
    kept.parent.mkdir()
    kept.parent.chmod(stat.S_IRUSR | stat.S_IXUSR)
    assert len(again()) == 1 and not kept.exists()


def test_a_file_in_place_of_the_folder_is_no_error(
    world: World, tmp_path: Path, kept: Path
) -> None:
    write(kept.parent, "not a folder")
    assert len(again()) == 1


def test_it_lies_in_the_users_cache_folder_and_can_be_moved(tmp_path: Path) -> None:
    code = "from flopbook.data import cache; print(cache.folder())"
    clean = {k: v for k, v in os.environ.items() if k not in ("FLOPBOOK_CACHE", "XDG_CACHE_HOME")}
    folders = [
        subprocess.run(
            [sys.executable, "-c", code],
            env=clean | variables,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for variables in (
            {"XDG_CACHE_HOME": str(tmp_path)},
            {"HOME": str(tmp_path)},
            {"FLOPBOOK_CACHE": str(tmp_path)},
        )
    ]
    expected = [tmp_path / "flopbook", tmp_path / ".cache" / "flopbook", tmp_path]
    assert [line.strip() for line in folders] == [str(path) for path in expected]
