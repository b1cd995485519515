"""The scan for other names says what the reader of the entries says, however the lists are written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flopbook.data import accelerators as entries
from flopbook.data import names
from flopbook.data.names import Names, other_names
from flopbook.data.yaml_text import parse_yaml
from flopbook.errors import DataError, FlopbookError, UnknownName
from tests.support.samples import MODEL, World, entry_text, write

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
    "words of the same kind in a text": ("notes: the aliases: [no] of it\n", None),  # type: ignore[dict-item]
    "words in a quoted text": ('notes: "its aliases: [no]"\naliases: [one]\n', Names(("one",))),
    "words in a folded text": ("notes: >-\n  aliases: [no]\naliases: [one]\n", Names(("one",))),
    "line ends of Windows": (
        "aliases: [one]\r\ndevice_names: [One]\r\n",
        Names(("one",), ("One",)),
    ),
    "line ends of old": ("aliases: [one]\rdevice_names: [One]\r", Names(("one",), ("One",))),
    "a key twice": ("aliases: [one]\naliases: [two]\n", Names()),
    "no list": ("aliases: one\n", Names()),
    "a broken list": ("aliases: [one\n", Names()),
}


def scanned(tmp_path: Path, text: str | bytes) -> Names:
    """What the scan makes of a file."""
    write(tmp_path / "acme" / "one.yaml", text)
    other_names.cache_clear()
    return other_names(("acme/one",), tmp_path)["acme/one"]


def parsed(text: str) -> Names:
    """What the reader of YAML makes of it."""
    try:
        node = parse_yaml(text, "f")
    except DataError:
        return Names()
    lists = (node.get(key) for key in Names._fields)
    return Names(*(tuple(map(str, one)) if isinstance(one, list) else () for one in lists))


@pytest.mark.parametrize(("text", "expected"), WAYS.values(), ids=WAYS)
def test_every_way_to_write_the_lists(text: str, expected: Names | None, tmp_path: Path) -> None:
    found = scanned(tmp_path, f"id: acme/one\n{text}kind: package\n")
    assert found == parsed(f"id: acme/one\n{text}kind: package\n")
    assert expected is None or found == expected
    assert scanned(tmp_path, text) == parsed(text) if text else True


@pytest.mark.parametrize(
    "data",
    [b"", b"\xff\xfe", b"\x00", b"aliases: [\xff]", b"- a list", b"\xef\xbb\xbfaliases: [one]\n"],
)
def test_what_is_no_entry_has_no_other_names(data: bytes, tmp_path: Path) -> None:
    found = scanned(tmp_path, data)
    assert isinstance(found, Names) and all(
        isinstance(name, str) for name in (*found.aliases, *found.device_names)
    )


def test_a_file_that_is_gone_has_none(tmp_path: Path) -> None:
    assert other_names(("acme/gone",), tmp_path) == {"acme/gone": Names()}


def test_the_scan_equals_the_reading_of_all_real_entries() -> None:
    found = other_names(entries.entry_ids())
    for name in entries.entry_ids():
        one = entries.load_entry(name)
        assert found[name] == Names(one.aliases, one.device_names)


NAMES = st.lists(
    st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]) | st.just(" "), min_size=1),
    max_size=4,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(aliases=NAMES, devices=NAMES, style=st.sampled_from(["json", "hyphens", "lines"]))
def test_any_names_are_scanned_as_they_are_read(
    aliases: list[str], devices: list[str], style: str, tmp_path: Path
) -> None:
    def listed(items: list[str]) -> str:
        quoted = [json.dumps(item, ensure_ascii=False) for item in items]
        if style == "hyphens" and quoted:
            return "\n" + "".join(f"  - {item}\n" for item in quoted)
        return " [" + (",\n  " if style == "lines" else ", ").join(quoted) + "]\n"

    text = f"id: acme/one\naliases:{listed(aliases)}device_names:{listed(devices)}kind: package\n"
    assert scanned(tmp_path, text) == parsed(text) == Names(tuple(aliases), tuple(devices))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.sampled_from("aliases: [],\"'one#\n-{}device_names"), max_size=60))
def test_garbage_is_scanned_without_an_error(text: str, tmp_path: Path) -> None:
    assert isinstance(scanned(tmp_path, f"aliases: {text}"), Names)


def test_a_name_is_found_without_reading_other_entries(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.entry("two", aliases="[second]", device_names='["ACME TWO/2 80GB"]')
    world.write("accelerators/acme/broken.yaml", "aliases: [third\n")
    read: list[str] = []
    load = entries.load_entry
    monkeypatch.setattr(
        entries, "load_entry", lambda name, root: read.append(name) or load(name, root)
    )
    for name in ("second", "acme/second", "ACME TWO/2 80GB", "acme two/2 80gb"):
        assert entries.entry(name).id == "acme/two"
    assert set(read) == {"acme/two"}


def test_an_unknown_name_is_compared_with_aliases_too(world: World) -> None:
    world.entry("two", aliases="[grendel]")
    with pytest.raises(UnknownName, match="nearest: grendel"):
        entries.find_id("grendle")


def test_a_model_is_found_by_its_alias_without_reading_others(world: World) -> None:
    world.write("models/tiny-1b.yaml", MODEL.replace("claims:", "aliases: [tiny]\nclaims:"))
    world.write("models/broken.yaml", "aliases: [gone\n")
    assert entries.model("tiny").id == entries.model(" TINY ").id == "tiny-1b"
    with pytest.raises(UnknownName, match="unknown model 'tinny'; nearest: tiny"):
        entries.model("tinny")


def test_the_scan_equals_the_reading_of_all_real_models() -> None:
    found = other_names(entries.model_ids(), entries.MODELS)
    for name in entries.model_ids():
        assert found[name].aliases == entries.load_model(name).aliases


def test_a_name_of_two_entries_is_refused(world: World) -> None:
    world.entry("two", device_names="[Same]")
    world.write(
        "accelerators/bolt/b.yaml", entry_text(id="bolt/b", vendor="bolt", device_names="[same]")
    )
    with pytest.raises(FlopbookError, match="'SAME' fits several entries: acme/two, bolt/b"):
        entries.find_id("SAME")


def test_the_names_nearest_in_any_case(world: World) -> None:
    with pytest.raises(UnknownName) as caught:
        raise UnknownName("device", "nvidia h101", ["NVIDIA H100", "TPU v5p"])
    assert caught.value.near == ("NVIDIA H100",)


HEADS: dict[str, Any] = {
    "as usual": {},
    "with lists": {"aliases": "[first]", "device_names": "[First]"},
    "with parts": {"parts": {"acme/two": 2}},
    "with a limit": {"stale_after": '{days: 30, reason: "It moves fast."}'},
}


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_a_head_is_the_entry_without_claims(head: dict[str, Any], world: World) -> None:
    world.entry("one", **head)
    whole = entries.load_entry("acme/one")
    assert entries.load_head("acme/one") == whole._replace(claims=()) and whole.claims


def test_a_head_below_the_claims_is_read_too(world: World) -> None:
    text = entry_text() + "aliases: [late]\n"
    world.write("accelerators/acme/one.yaml", text)
    assert (
        entries.load_head("acme/one").aliases
        == ("late",)
        == other_names(("acme/one",))["acme/one"].aliases
    )


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
        entries.load_head("acme/one")
    with pytest.raises(DataError) as whole:
        entries.load_entry("acme/one")
    assert head.value.problems == whole.value.problems


def test_heads_of_all_real_entries() -> None:
    for name in entries.entry_ids():
        assert entries.load_head(name) == entries.load_entry(name)._replace(claims=())


def test_the_root_is_the_folder_of_the_entries() -> None:
    assert names.ROOT == entries.ACCELERATORS
