"""A digest is that of what the file holds now, whoever computed it, and costs no reading twice."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from flopbook.data import cache, digests
from flopbook.data.files import NotRead

OLD = 1_700_000_000


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which this test's runs keep digests; a file is settled as soon as it is there."""
    monkeypatch.setenv("FLOPBOOK_CACHE", str(tmp_path / "kept"))
    monkeypatch.setattr(digests, "_SETTLED_NS", -1_000_000_000)
    return tmp_path / "kept/digests.json"


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that were read."""
    names: list[str] = []
    read = digests.read_bytes
    monkeypatch.setattr(
        digests, "read_bytes", lambda path, most: names.append(path.name) or read(path, most)
    )
    return names


def next_run() -> None:
    """Another command begins: it knows what was kept and nothing else."""
    digests.digests().close()
    digests._digests_in.cache_clear()


def test_a_file_left_alone_is_read_once(tmp_path: Path, kept: Path, reads: list[str]) -> None:
    (tmp_path / "one").write_bytes(b"content")
    for _ in range(3):
        assert digests.digests().of(tmp_path / "one") == cache.digest(b"content")
        next_run()
    assert reads == ["one"] and len(json.loads(kept.read_text())["records"]) == 1


def test_what_changed_is_read_again_though_length_and_date_are_the_same(
    tmp_path: Path, kept: Path, reads: list[str]
) -> None:
    path = tmp_path / "one"
    for content in (b"before", b"behind"):
        path.write_bytes(content)
        os.utime(path, (OLD, OLD))
        assert digests.digests().of(path) == cache.digest(content)
        next_run()
    assert reads == ["one", "one"]


def test_what_was_replaced_is_read_again(tmp_path: Path, kept: Path) -> None:
    path = tmp_path / "one"
    for content in (b"before", b"behind"):
        (tmp_path / "draft").write_bytes(content)
        os.replace(tmp_path / "draft", path)
        assert digests.digests().of(path) == cache.digest(content)
        next_run()


def test_a_file_that_became_a_link_is_refused(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from flopbook.data import files

    monkeypatch.setattr(files, "_CONFINED", set())
    files.confine(tmp_path)
    path = tmp_path / "one"
    path.write_bytes(b"content")
    digests.digests().of(path)
    next_run()
    os.rename(path, tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NotRead, match="symbolic link"):
        digests.digests().of(path)


def test_a_file_just_written_is_read_each_time(
    tmp_path: Path, kept: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may change once more before the clock of its file system moves on."""
    monkeypatch.setattr(digests, "_SETTLED_NS", 3_000_000_000)
    (tmp_path / "one").write_bytes(b"content")
    digests.digests().of(tmp_path / "one")
    next_run()
    digests.digests().of(tmp_path / "one")
    assert reads == ["one", "one"] and not kept.exists()


def test_one_from_the_future_is_read_each_time(
    tmp_path: Path, kept: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "_SETTLED_NS", 0)
    (tmp_path / "one").write_bytes(b"content")
    os.utime(tmp_path / "one", (2**33, 2**33))
    for _ in range(2):
        digests.digests().of(tmp_path / "one")
    assert reads == ["one", "one"]


@pytest.mark.parametrize("row", [3, "text", [], None, {"0": 1}, ["digest", 1, 2]])
def test_a_damaged_row_is_made_anew(tmp_path: Path, kept: Path, row: object) -> None:
    path = tmp_path / "one"
    path.write_bytes(b"content")
    digests.digests().of(path)
    digests.digests().close()
    table = json.loads(kept.read_text())
    kept.write_text(json.dumps(table | {"records": {os.path.abspath(path): row}}))
    digests._digests_in.cache_clear()
    assert digests.digests().of(path) == cache.digest(b"content")


def test_the_list_does_not_grow_without_end(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "_MOST", 2)
    for name in ("one", "two", "three"):
        (tmp_path / name).write_bytes(b"content")
        digests.digests().of(tmp_path / name)
    digests.digests().close()
    records = json.loads(kept.read_text())["records"]
    assert [Path(name).name for name in records] == ["two", "three"]


def test_nothing_is_kept_when_nothing_is_to_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLOPBOOK_CACHE", "")
    (tmp_path / "one").write_bytes(b"content")
    assert digests.digests().of(tmp_path / "one") == cache.digest(b"content")
    digests.digests().close()
    assert os.listdir(tmp_path) == ["one"]


def test_a_fingerprint_changes_with_each_of_its_files(tmp_path: Path, kept: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_bytes(b"1")
    two.write_bytes(b"2")
    before = digests.fingerprint(one, two)
    assert digests.fingerprint(two, one) != before == digests.fingerprint(one, two)
    two.write_bytes(b"3")
    assert digests.fingerprint(one, two) != before
