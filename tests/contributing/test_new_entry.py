"""New files are valid from the start, and nothing that is there is written again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flopbook.checks.lint import lint
from flopbook.checks.rules import needed
from flopbook.contributing import new_entry as authoring
from flopbook.contributing.new_entry import (
    NewChip,
    NewVendor,
    chip_text,
    refuse_known_chip,
    refuse_known_vendor,
    vendor_text,
)
from flopbook.data import library as library_
from flopbook.data.files import write_new
from flopbook.data.folders import schema_paths
from flopbook.data.yaml_text import parse_yaml
from flopbook.errors import FlopbookError
from tests.support.samples import SOURCE, World

CHIP = NewChip("acme/two", "Acme Two 96GB", "package", "announced", SOURCE, "2026-11-21")
MAKER = NewVendor("bolt", "Bolt & Sons", "https://bolt.example/")


@pytest.mark.parametrize("kind", ["die", "package", "card", "node", "system", "pod"])
def test_a_new_chip_can_be_read(kind: str, world: World) -> None:
    world.write("accelerators/acme/two.yaml", chip_text(CHIP._replace(kind=kind)))
    entry = library_.load_entry("acme/two")
    assert (entry.id, entry.kind, entry.name, entry.vendor) == (
        "acme/two",
        kind,
        "Acme Two 96GB",
        "acme",
    )
    assert entry.status[0].state == "announced" and entry.summary == authoring.SUMMARY
    assert all(
        c.value is None and not c.absent and c.source == SOURCE and c.per == kind
        for c in entry.claims
    )


def test_a_new_chip_has_every_value_that_the_lint_asks_for(world: World) -> None:
    world.write("accelerators/acme/two.yaml", chip_text(CHIP))
    assert {c.field for c in library_.load_entry("acme/two").claims} >= set(needed.FIELDS)
    assert tuple(field for field, *_ in authoring.NEEDED) == needed.FIELDS
    assert [str(p) for p in lint() if p.rule == "needed"] == []


def test_every_needed_value_has_a_comment_on_how_to_fill_it_in() -> None:
    text = chip_text(CHIP)
    for field in needed.FIELDS:
        comment, _, below = text.partition(f"  # {field}: ")[2].partition("\n")
        assert len(comment) > 10 and below.startswith(f"  - {{field: {field},")
    for word in ("device_names", "aliases", "family", "accelerators/README.md", "25 words"):
        assert word in text
    assert max(map(len, text.splitlines())) <= 130


def test_parts_are_offered_to_what_is_made_of_parts() -> None:
    assert "# contains:" in chip_text(
        CHIP._replace(kind="node")
    ) and "# contains:" not in chip_text(CHIP)


def test_the_comments_are_of_use() -> None:
    """Without its number sign each commented line of a chip is one that the schema takes."""
    text = chip_text(CHIP._replace(kind="node"))
    for key in ("family", "aliases", "device_names"):
        text = text.replace(f"# {key}:", f"{key}:")
    text = text.replace("# contains:", "contains:").replace("#   - {ref", "  - {ref")
    authoring._valid(text, schema_paths()["accelerator"], "f")
    maker = vendor_text(MAKER)
    for key in ("country", "facts", "white_papers", "media", "research"):
        maker = maker.replace(f"# {key}:", f"{key}:")
    authoring._valid(
        maker.replace("#   - {field", "  - {field"),
        schema_paths()["vendor"],
        "f",
    )


def test_a_new_vendor_can_be_read(world: World) -> None:
    world.write("accelerators/bolt/vendor.yaml", vendor_text(MAKER))
    vendor = library_.vendor("bolt")
    assert (vendor.name, vendor.website, vendor.summary) == (
        "Bolt & Sons",
        "https://bolt.example/",
        authoring.SUMMARY,
    )


BAD = {
    "capital letters": ({"id": "acme/Two"}, "lower case with hyphens"),
    "no product": ({"id": "acme/"}, "lower case"),
    "out of the folder": ({"id": "acme/../two"}, "lower case"),
    "deeper": ({"id": "acme/two/three"}, "lower case"),
    "kind": ({"kind": "chip"}, "expected one of die, package"),
    "spaces": ({"id": "acme/two "}, "lower case"),
    "state": ({"status": "sold"}, "expected one of announced"),
    "a line end": ({"id": "acme/two\n"}, "lower case"),
    "date": ({"as_of": "2026-02-30"}, "2026-02-30"),
    "a word for a date": ({"as_of": "today"}, "today"),
    "key": ({"source": "no key"}, "BibTeX key"),
    "long name": ({"name": "x" * 81}, "at most 80"),
    "markup": ({"name": "<b>Two</b>"}, "<b>"),
    "no name": ({"name": ""}, "name"),
    "a line more": ({"source": "a2020b\nevil: 1"}, "BibTeX key"),
    "a brace": ({"status": "sold}"}, "sold}"),
}


@pytest.mark.parametrize(("given_", "message"), BAD.values(), ids=BAD)
def test_what_would_not_be_valid_is_refused(given_: dict[str, str], message: str) -> None:
    with pytest.raises(FlopbookError, match="would not be valid") as caught:
        chip_text(CHIP._replace(**given_))
    assert (
        message in str(caught.value)
        and str(caught.value).isprintable()
        and "\n" not in str(caught.value)
    )


@pytest.mark.parametrize(
    "website", ["ftp://bolt.example", "bolt.example", "", "javascript:alert(1)", "https://a b"]
)
def test_a_vendor_has_a_web_address(website: str) -> None:
    with pytest.raises(FlopbookError, match="http or https address"):
        vendor_text(MAKER._replace(website=website))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(st.fixed_dictionaries({}, optional={name: st.text(max_size=40) for name in NewChip._fields}))
def test_nothing_that_is_given_becomes_more_than_its_value(given_: dict[str, Any]) -> None:
    """Whatever the text, the file has the keys of the template and our values, or is refused."""
    new = CHIP._replace(**given_)
    try:
        text = chip_text(new)
    except FlopbookError as error:
        assert str(error).isprintable()
        return
    document = parse_yaml(text, "f").plain()
    assert set(document) == {"id", "kind", "name", "vendor", "summary", "status", "claims"}
    assert (
        document["name"] == " ".join(new.name.split())
        and document["id"] == new.id
        and len(document["claims"]) == 6
    )
    assert document["status"][0]["source"] == new.source


TAKEN = {
    "the id": ("acme/one", "New"),
    "an alias": ("acme/first", "New"),
    "the name": ("acme/two", "Acme One"),
    "the name in other letters": ("acme/two", "ACME  one"),
    "hyphens in the name": ("acme/two", "Acme-One"),
    "a device name": ("acme/two", "ACME 1000"),
}


@pytest.mark.parametrize(("new_id", "name"), TAKEN.values(), ids=TAKEN)
def test_what_is_there_is_refused(new_id: str, name: str, world: World) -> None:
    world.entry("one", aliases="[first]", device_names="[ACME 1000]")
    with pytest.raises(
        FlopbookError,
        match=r"is there already: accelerators/acme/one\.yaml; flopbook where acme/one",
    ):
        refuse_known_chip(new_id, name)


def test_the_nearest_are_named(world: World) -> None:
    world.entry("h100-sxm")
    assert refuse_known_chip("acme/h100-sxm5", "New") == ("acme/h100-sxm",)
    assert refuse_known_chip("acme/wholly-other", "Other") == ()


def test_a_name_of_another_vendor_is_free(world: World) -> None:
    world.write("accelerators/bolt/vendor.yaml", vendor_text(MAKER))
    assert "bolt/one" not in refuse_known_chip("bolt/one", "Bolt One")
    with pytest.raises(FlopbookError, match="'acme one' is there already"):
        refuse_known_chip("bolt/one", "Acme One")


def test_a_chip_needs_its_vendor_first(world: World) -> None:
    with pytest.raises(
        FlopbookError, match=r"unknown vendor 'acne'; nearest: acme; .*flopbook new vendor acne"
    ):
        refuse_known_chip("acne/one", "Acne One")


@pytest.mark.parametrize("new_id", ["one", "acme", "", "/", "acme/", "/one"])
def test_an_id_has_two_parts(new_id: str, world: World) -> None:
    with pytest.raises(FlopbookError, match="is no id; write VENDOR/PRODUCT"):
        refuse_known_chip(new_id, "New")


def test_a_vendor_that_is_there_is_refused(world: World) -> None:
    for new_id, name in (("acme", "New"), ("acme-2", "ACME")):
        with pytest.raises(
            FlopbookError, match=r"is there already: accelerators/acme/vendor\.yaml"
        ):
            refuse_known_vendor(new_id, name)
    assert (
        refuse_known_vendor("acmee", "Acmee") == ("acme",) and refuse_known_vendor("zz", "Zz") == ()
    )


def test_nothing_is_overwritten(world: World) -> None:
    path = world.accelerators / "acme" / "new.yaml"
    write_new(path, "first\n")
    with pytest.raises(FlopbookError, match="is there already; nothing was written"):
        write_new(path, "second\n")
    assert path.read_bytes() == b"first\n"
    write_new(world.accelerators / "bolt" / "vendor.yaml", "text\n")
    assert (world.accelerators / "bolt" / "vendor.yaml").read_text(encoding="utf-8") == "text\n"


def test_text_stays_text() -> None:
    document = parse_yaml(
        chip_text(CHIP._replace(name="2026: yes, no # {x}", summary='Says "no"\\n.')), "f"
    ).plain()
    assert document["name"] == "2026: yes, no # {x}" and document["summary"] == 'Says "no"\\n.'
    assert json.dumps(document, default=str)
