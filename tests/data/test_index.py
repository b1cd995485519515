"""The index says what the readers of entries and bibliography say, however it is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from flopbook.data.index import read_aliases, scan_links
from flopbook.data.library import (
    entry,
    entry_ids,
    find_id,
    library,
    load_entry,
    load_head,
    load_model,
    model,
    model_ids,
    references,
    source_tiers,
)
from flopbook.errors import DataError, FlopbookError, UnknownName
from tests.support.samples import MODEL, World, die, entry_text, write


class Names(NamedTuple):
    """The other names of one entry."""

    aliases: tuple[str, ...] = ()
    device_names: tuple[str, ...] = ()


WAYS: dict[str, tuple[str, Names]] = {
    "none": ("", Names()),
    "plain": ("aliases: [one, two.5]\n", Names(("one", "two.5"))),
    "empty": ("aliases: []\n", Names()),
    "one": ("aliases: [one]\n", Names(("one",))),
    "with a comma at the end": ("aliases: [one, two,]\n", Names(("one", "two"))),
    "double quotes": (
        'device_names: ["ACME (TM) One, 80GB", "B"]\n',
        Names((), ("ACME (TM) One, 80GB", "B")),
    ),
    "single quotes": ("device_names: ['ACME # One']\n", Names((), ("ACME # One",))),
    "plain with spaces": (
        "device_names: [TPU v5 lite,  TPU v5e ]\n",
        Names((), ("TPU v5 lite", "TPU v5e")),
    ),
    "both lists": ("aliases: [one]\ndevice_names: [One]\n", Names(("one",), ("One",))),
    "a comment behind": ("aliases: [one]   # what people type\n", Names(("one",))),
    "over two lines": ("aliases: [one,\n  two]\n", Names(("one", "two"))),
    "comments among them": ("aliases: [one,  # first\n  two]\n", Names(("one", "two"))),
    "a list with hyphens": ("aliases:\n  - one\n  - two\n", Names(("one", "two"))),
    "hyphens at the margin": ("aliases:\n- one\n- two\n", Names(("one", "two"))),
    "escapes": ('device_names: ["ACME \\u00ae"]\n', Names((), ("ACME ®",))),
    "a quote in quotes": ("device_names: ['it''s']\n", Names((), ("it's",))),
    "letters beyond ASCII": ('device_names: ["Gerät"]\n', Names((), ("Gerät",))),
    "a quoted key": ('"aliases": [one]\n', Names(("one",))),
    "a space before the colon": ("aliases : [one]\n", Names(("one",))),
    "words of the same kind in a text": ("notes: 'the aliases: [no] of it'\n", Names()),
    "words in a quoted text": ('notes: "its aliases: [no]"\naliases: [one]\n', Names(("one",))),
    "words in a folded text": ("notes: >-\n  aliases: [no]\naliases: [one]\n", Names(("one",))),
    "line ends of Windows": (
        "aliases: [one]\r\ndevice_names: [One]\r\n",
        Names(("one",), ("One",)),
    ),
    "line ends of old": ("aliases: [one]\rdevice_names: [One]\r", Names(("one",), ("One",))),
}


BROKEN = {
    "a key twice": "aliases: [one]\naliases: [two]\n",
    "no list": "aliases: 3\n",
    "a broken list": "aliases: [one\n",
    "no summary": "summary:\n",
}


def with_head(text: str) -> str:
    """A valid entry with this text among the lines above its claims."""
    return entry_text().replace("claims:", f"{text}claims:", 1)


@pytest.mark.parametrize(("text", "expected"), WAYS.values(), ids=WAYS)
def test_every_way_to_write_the_lists(world: World, text: str, expected: Names) -> None:
    """Twice: as the reader finds it, and as an earlier run kept it."""
    write(world.root / "accelerators/acme/one.yaml", with_head(text))
    whole = load_entry("acme/one")
    for _ in range(2):
        world.library.forget()
        head = library().heads["acme/one"]
        assert Names(head.aliases, head.device_names) == expected
        assert head == whole._replace(claims=())


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_a_broken_entry_hides_no_other(world: World, text: str) -> None:
    """It is in no list of names, and says what is wrong to whoever asks for it by its id."""
    world.write("accelerators/acme/two.yaml", with_head(text).replace("acme/one", "acme/two"))
    if text != BROKEN["no summary"]:
        with pytest.raises(DataError):
            load_entry("acme/two")
    assert "acme/one" in library().heads and entry("one").id == "acme/one"


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"\x00", b"- a list", b"aliases: [\xff]"])
def test_what_is_no_entry_has_no_head(world: World, content: bytes) -> None:
    world.write("accelerators/acme/two.yaml", content)
    assert set(library().heads) == {"acme/one"}


def test_claims_above_other_keys_are_read_as_a_whole(world: World) -> None:
    """The usual order puts the claims last; another order is as good."""
    lines = entry_text().splitlines(keepends=True)
    start = next(n for n, line in enumerate(lines) if line.startswith("claims:"))
    text = "".join([lines[0], *lines[start:], *lines[1:start], "aliases: [late]\n"])
    world.write("accelerators/acme/one.yaml", text)
    assert library().heads["acme/one"].aliases == ("late",) and entry("late").id == "acme/one"


def test_the_index_equals_the_reading_of_all_real_entries() -> None:
    heads = library().heads
    assert set(heads) == set(entry_ids())
    for entry_id in entry_ids():
        assert heads[entry_id] == load_entry(entry_id)._replace(claims=())


def test_the_scan_of_the_bibliography_equals_its_parse() -> None:
    assert library().reference_keys == set(references())
    assert source_tiers() == {key: work.tier for key, work in references().items() if work.tier}


def test_an_unknown_name_is_compared_with_aliases_too(world: World) -> None:
    world.entry("two", aliases="[grendel]")
    with pytest.raises(UnknownName, match="nearest: grendel"):
        find_id("grendle")


def test_a_model_is_found_by_its_alias_without_reading_others(world: World) -> None:
    world.write("models/tiny-1b.yaml", MODEL.replace("claims:", "aliases: [tiny]\nclaims:"))
    world.write("models/broken.yaml", "aliases: [gone\n")
    assert model("tiny").id == model(" TINY ").id == "tiny-1b"
    with pytest.raises(UnknownName, match="unknown model 'tinny'; nearest: tiny"):
        model("tinny")


def test_the_index_equals_the_reading_of_all_real_models() -> None:
    for model_id in model_ids():
        assert read_aliases(library().model_path(model_id)) == load_model(model_id).aliases


def test_a_name_of_two_entries_is_refused(world: World) -> None:
    world.entry("two", device_names="[Same]")
    world.write(
        "accelerators/bolt/b.yaml", entry_text(id="bolt/b", vendor="bolt", device_names="[same]")
    )
    with pytest.raises(FlopbookError, match="'SAME' fits several entries: acme/two, bolt/b"):
        find_id("SAME")


@pytest.mark.parametrize("typed", ["AC 100", "ac100", "AC-100", "8xAC100"])
def test_a_die_is_answered_with_all_chips_that_carry_it(world: World, typed: str) -> None:
    """No chip is meant by its die alone, not even where one chip has it today."""
    world.entry("one", die=die("AC 100"))
    world.entry("two")
    with pytest.raises(FlopbookError, match="is a die; chips that carry it: acme/one; name a chip"):
        find_id(typed)
    world.entry("two", die=die("AC100"))
    with pytest.raises(FlopbookError, match="carry it: acme/one, acme/two; name a chip"):
        find_id(typed)


def test_a_name_of_an_entry_goes_before_a_die(world: World) -> None:
    world.entry("one", die=die("two"))
    world.entry("two")
    assert find_id("two") == "acme/two"


def test_the_names_nearest_in_any_case(world: World) -> None:
    with pytest.raises(UnknownName) as caught:
        raise UnknownName("device", "nvidia h101", ["NVIDIA H100", "TPU v5p"])
    assert caught.value.near == ("NVIDIA H100",)


HEADS: dict[str, Any] = {
    "as usual": {},
    "with lists": {"aliases": "[first]", "device_names": "[First]"},
    "with parts": {"parts": {"acme/two": 2}},
    "with a die": {"die": die()},
    "with a limit": {"stale_after": '{days: 30, reason: "It moves fast."}'},
}


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_a_head_is_the_entry_without_claims(head: dict[str, Any], world: World) -> None:
    world.entry("one", **head)
    whole = load_entry("acme/one")
    assert load_head("acme/one") == whole._replace(claims=()) and whole.claims


def test_a_head_below_the_claims_is_read_too(world: World) -> None:
    text = entry_text() + "aliases: [late]\n"
    world.write("accelerators/acme/one.yaml", text)
    assert load_head("acme/one").aliases == ("late",)


@pytest.mark.parametrize(
    "head",
    [
        {"name": None},
        {"status": "[]"},
        {"name": "5"},
        {"kind": "5"},
        {"id": "acme/other"},
        {"status": "5"},
    ],
    ids=str,
)
def test_a_broken_head_has_the_problems_of_the_entry(head: dict[str, Any], world: World) -> None:
    world.write("accelerators/acme/one.yaml", entry_text(**head))
    with pytest.raises(DataError) as head:
        load_head("acme/one")
    with pytest.raises(DataError) as of_entry:
        load_entry("acme/one")
    assert head.value.problems == of_entry.value.problems


def test_heads_of_all_real_entries() -> None:
    for name in entry_ids():
        assert load_head(name) == load_entry(name)._replace(claims=())


def test_links_of_works_are_those_that_their_reader_gives() -> None:
    works = references()
    keys = list(works)[::7]
    scanned = scan_links(library().bibliography, keys)
    assert scanned == {key: works[key].link for key in keys}


def test_a_work_that_is_not_there_has_no_link(tmp_path: Path) -> None:
    (tmp_path / "a.bib").write_text("@misc{one2020key,\n  title = {One},\n}\n", encoding="utf-8")
    assert scan_links(tmp_path, ["one2020key", "two2020key"]) == {
        "one2020key": "",
        "two2020key": "",
    }
