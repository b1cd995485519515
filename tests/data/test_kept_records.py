"""What a look-up keeps of one entry or model: the same as reading it, never stale, never needed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flopbook.data import bibtex_scan, cache, catalogue
from flopbook.data.entry_records import (
    entry_of_record,
    model_of_record,
    record_of_entry,
    record_of_model,
)
from flopbook.data.library import entry_ids, load_entry, load_model, model_ids, source_tiers
from flopbook.errors import DataError
from tests.support.samples import MODEL, World, claim


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which this test's look-ups keep what they read."""
    monkeypatch.setenv("FLOPBOOK_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept"


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the entries that were read from their files."""
    ids: list[str] = []
    read = catalogue._read
    monkeypatch.setattr(
        catalogue,
        "_read",
        lambda path, entry_id: ids.append(entry_id) or read(path, entry_id),
    )
    return ids


def test_a_second_look_up_reads_the_record(world: World, kept: Path, reads: list[str]) -> None:
    first = load_entry("acme/one")
    world.library.forget()
    assert load_entry("acme/one") == first and reads == ["acme/one"]
    assert [path.name for path in kept.glob("entry-*")] == ["entry-acme--one.json"]


def test_a_changed_file_is_read_again(world: World, kept: Path, reads: list[str]) -> None:
    load_entry("acme/one")
    world.entry("one", claim(value=123))
    assert load_entry("acme/one").claims[0].value == 123
    world.write("models/tiny-1b.yaml", MODEL)
    before = load_model("tiny-1b")
    world.write("models/tiny-1b.yaml", MODEL.replace("Tiny", "Tinier"))
    assert load_model("tiny-1b") != before
    assert reads == ["acme/one", "acme/one"]


def test_other_code_reads_for_itself(
    world: World, kept: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    load_entry("acme/one")
    monkeypatch.setattr(catalogue, "_version", lambda: "another reader")
    world.library.forget()
    load_entry("acme/one")
    assert reads == ["acme/one", "acme/one"]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"version": 1, "records": {}}'])
def test_a_damaged_record_is_made_anew(
    world: World, kept: Path, reads: list[str], content: bytes
) -> None:
    first = load_entry("acme/one")
    (kept / "entry-acme--one.json").write_bytes(content)
    world.library.forget()
    assert load_entry("acme/one") == first and len(reads) == 2
    assert json.loads((kept / "entry-acme--one.json").read_bytes())["records"]


def test_a_record_of_another_shape_is_made_anew(world: World, kept: Path, reads: list[str]) -> None:
    """Of this version, but written by hand or by code that kept it under another name."""
    first = load_entry("acme/one")
    path = kept / "entry-acme--one.json"
    version = json.loads(path.read_bytes())["version"]
    path.write_text(json.dumps({"version": version, "records": {"entry": []}}))
    world.library.forget()
    assert load_entry("acme/one") == first and len(reads) == 2


def test_a_broken_file_is_never_kept(world: World, kept: Path) -> None:
    world.entry("one", claim(drop=("unit",)))
    for _ in range(2):
        world.library.forget()
        with pytest.raises(DataError):
            load_entry("acme/one")
    assert not list(kept.glob("entry-*"))


def test_nothing_is_kept_when_nothing_is_to_be_kept(
    world: World, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLOPBOOK_CACHE", "")
    load_entry("acme/one")
    world.library.forget()
    load_entry("acme/one")
    assert reads == ["acme/one", "acme/one"] and cache.folder() is None


def test_every_real_record_is_what_was_read() -> None:
    for entry_id in entry_ids():
        entry = load_entry(entry_id)
        record = json.loads(json.dumps(record_of_entry(entry)))
        assert entry_of_record(record, entry.file) == entry
    for model_id in model_ids():
        model = load_model(model_id)
        record = json.loads(json.dumps(record_of_model(model)))
        assert model_of_record(record, model.file) == model


@pytest.mark.parametrize("name", ["relative", "./x", "/tmp/\udcff", "\udcff"])
def test_a_folder_that_is_no_whole_path_of_text_keeps_nothing(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records were written below the folder that one was in, under a name that stopped builds."""
    monkeypatch.setenv("FLOPBOOK_CACHE", name)
    assert cache.folder() is None
    monkeypatch.delenv("FLOPBOOK_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", name)
    assert cache.folder() is None


def test_tiers_are_kept_by_the_bytes_of_their_file(
    world: World, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second look finds them without a scan; a file that changed is scanned again."""
    texts: list[str] = []
    scan = bibtex_scan.tiers
    monkeypatch.setattr(bibtex_scan, "tiers", lambda text: texts.append(text) or scan(text))
    before = source_tiers()
    assert before and (kept / "tiers.json").is_file()
    world.library.forget()
    scanned = len(texts)
    assert source_tiers() == before and len(texts) == scanned
    place = world.root / "bibliography/added.bib"
    world.write("bibliography/added.bib", "@misc{added2026one,\n  tier = {press},\n}\n")
    assert source_tiers() == {**before, "added2026one": "press"}
    place.unlink()
    world.library.forget()
    assert source_tiers() == before
