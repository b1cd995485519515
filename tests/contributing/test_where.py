"""Where a thing is written: file and line, for everything that has a name."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from flopbook.contributing import where as places
from flopbook.contributing.where import fields, find
from flopbook.data import library as library_
from flopbook.data.library import reference_keys
from flopbook.errors import UnknownName
from flopbook.formulas import formulas
from flopbook.ledger.rows import ledger_rows
from tests.support.samples import LEDGER, MODEL, SOURCE, World, bib, claim, entry_text


def line(world: World, place: places.Place) -> str:
    """The line of a file that a place names."""
    assert place.path.is_relative_to(world.root)
    return place.path.read_text(encoding="utf-8").splitlines()[place.line - 1]


@pytest.mark.parametrize(
    "name", ["acme/one", "one", "ONE", "first", "acme/first", "ACME ONE 80GB", " one "]
)
def test_a_chip_by_any_of_its_names(name: str, world: World) -> None:
    world.entry("one", aliases="[first]", device_names='["ACME ONE 80GB"]')
    assert find(name) == [
        places.Place("chip", "acme/one", world.accelerators / "acme" / "one.yaml")
    ]


def test_a_chip_with_a_broken_file_is_found(world: World) -> None:
    world.write("accelerators/acme/broken.yaml", "id: [")
    assert [place.id for place in find("acme/broken")] == ["acme/broken"]


def test_the_start_of_a_name(world: World) -> None:
    for product in ("h1-sxm", "h1-pcie", "h2"):
        world.entry(product)
    assert (
        [place.id for place in find("h1")]
        == [place.id for place in find("h1-")]
        == ["acme/h1-pcie", "acme/h1-sxm"]
    )
    assert [place.id for place in find("acme/h")] == ["acme/h1-pcie", "acme/h1-sxm", "acme/h2"]
    assert [place.kind for place in find("tiny")] == ["model"]
    assert [place.id for place in find("h2")] == ["acme/h2"]


def test_a_product_of_two_vendors(world: World) -> None:
    world.write("accelerators/bolt/one.yaml", entry_text(id="bolt/one", vendor="bolt"))
    assert [place.id for place in find("one")] == ["acme/one", "bolt/one"]


def test_vendors_and_models(world: World) -> None:
    world.write("models/tiny-1b.yaml", MODEL.replace("claims:", "aliases: [tiny]\nclaims:"))
    assert [(p.kind, p.path.name) for p in find("acme")] == [("vendor", "vendor.yaml")]
    for name in ("tiny-1b", "tiny", "TINY-1B"):
        assert [(p.kind, p.id) for p in find(name)] == [("model", "tiny-1b")]


def test_references_and_rows_by_their_line(world: World) -> None:
    world.write(
        "bibliography/more.bib",
        f"% a comment\n\n{bib('bolt2026one')}\n{bib('bolt2026two', kind='article')}",
    )
    world.write(
        "bibliography/claims/more.yaml",
        LEDGER.replace("two-and-two", "three").replace("- {id: three,", '-  {id: "three",'),
    )
    for name in ("bolt2026one", "bolt2026two", SOURCE):
        (place,) = find(name)
        assert (
            place.kind == "reference"
            and name in line(world, place)
            and line(world, place).startswith("@")
        )
    for name in ("two-and-two", "three"):
        (place,) = find(name)
        assert place.kind == "ledger" and name in line(world, place)


def test_a_reference_is_not_found_by_a_part_of_its_key(world: World) -> None:
    for name in (SOURCE[:-1], SOURCE[1:], SOURCE.replace("2026", ".*")):
        with pytest.raises(UnknownName):
            find(name)


def test_a_calculator_is_its_function() -> None:
    for name, formula in formulas().items():
        (place,) = find(name)
        text = place.path.read_text(encoding="utf-8").splitlines()
        near = "\n".join(text[place.line - 1 : place.line + 200])
        assert place.kind == "calculator" and f"def {formula.function.__name__}(" in near


@pytest.mark.parametrize(
    "name",
    ["", " ", "x", "../../etc/passwd", "\x00", "\udcff", "*", ".", "(", "x" * 9999, "\x1b[1m"],
)
def test_what_has_no_name_is_unknown(name: str, world: World) -> None:
    with pytest.raises(UnknownName) as caught:
        find(name)
    assert str(caught.value).isprintable() and len(str(caught.value)) < 300


def test_the_lines_of_a_field(world: World) -> None:
    world.entry(
        "one",
        claim(),
        claim(value=200, sparsity="2:4"),
        claim("memory", value="not published"),
        claim("process"),
    )
    places_found = fields(find("one"), "peak")
    assert [place.says for place in places_found] == [
        f"bf16 tensor dense 100 TFLOP/s ({SOURCE})",
        f"bf16 tensor 2:4 200 TFLOP/s ({SOURCE})",
    ]
    assert all('field: "peak"' in line(world, place) for place in places_found)
    assert fields(find("one"), "memory")[0].says == f"hbm not published ({SOURCE})"
    assert fields(find("one"), "process")[0].says == f"4 nm ({SOURCE})"
    for name, field in (
        ("one", "memroy"),
        ("one", "power"),
        ("acme", "peak"),
        ("tiny-1b", "params"),
    ):
        with pytest.raises(UnknownName, match="unknown field"):
            fields(find(name), field)


@pytest.fixture
def kept_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each search reads all bibliographies; those of the checkout stay what they are."""
    for name in ("decoded", "read_or_nothing"):
        monkeypatch.setattr(places, name, functools.cache(getattr(places, name)))


@pytest.mark.usefixtures("kept_files")
def test_every_real_thing_is_where_it_is_said_to_be() -> None:
    for name in (*library_.entry_ids(), *library_.vendor_ids(), *library_.model_ids()):
        assert any(place.id == name and place.path.is_file() for place in find(name)), name


@pytest.mark.usefixtures("kept_files")
def test_all_keys_and_rows_of_the_real_data_are_found() -> None:
    keys = sorted(reference_keys())
    assert len(keys) > 100
    for name in (*keys[::25], *(row.id for row in ledger_rows()[::10])):
        (place,) = find(name)
        assert name in Path(place.path).read_text(encoding="utf-8").splitlines()[place.line - 1]
