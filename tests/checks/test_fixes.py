"""What `lint --fix` mends, and what it leaves alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pybtex.database import parse_string

from flopbook.checks.fixes import fix, fixed
from flopbook.checks.lint import lint
from flopbook.data.folders import schema_paths
from flopbook.data.library import library
from flopbook.data.schema import load_schema
from flopbook.data.yaml_text import parse_yaml
from flopbook.errors import FlopbookError
from tests.support.samples import World, bib, claim, entry_text

ALLOWED = {
    unit
    for rule in load_schema(schema_paths()["accelerator"])["$defs"]["claim"]["allOf"]
    for unit in rule.get("then", {}).get("properties", {}).get("unit", {}).get("enum", ())
}


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("TFLOPS", "TFLOP/s"),
        ("PFLOPs", "PFLOP/s"),
        ("TOPS", "TOP/s"),
        ("GBps", "GB/s"),
        ("Gbps", "Gbit/s"),
        ("TB/sec", "TB/s"),
        ("GiB/sec", "GiB/s"),
        ("Tb/s", "Tbit/s"),
        ("Watts", "W"),
        ("kWatt", "kW"),
        ("KB", "kB"),
        ("mm²", "mm2"),
        ("mm^2", "mm2"),
        ("Mhz", "MHz"),
    ],
)
def test_a_unit_has_one_spelling(written: str, right: str) -> None:
    assert right in ALLOWED
    for quote in ("", '"', "'"):
        text, changes = fixed(
            f"- {{value: 1, unit: {quote}{written}{quote}, per: package}}\n", bibliography=False
        )
        assert f"unit: {quote}{right}{quote}," in text and changes == ["spellings of units"]


@pytest.mark.parametrize("unit", sorted(ALLOWED))
def test_a_right_unit_stays(unit: str) -> None:
    text = f"- {{unit: {unit}}}\n"
    assert fixed(text, bibliography=False) == (text, [])


def test_bits_and_bytes_are_never_confused() -> None:
    """Gbps and GBps differ by a factor of eight and in one letter: case is never repaired."""
    text = "- {unit: gbps}\n- {unit: GBPS}\n- {unit: gb/s}\n"
    assert fixed(text, bibliography=False) == (text, [])


def test_quotations_and_notes_are_not_touched() -> None:
    text = '- {quote: "900 GBps, unit: big", note: "TFLOPS as of 2026/11/21 "}\n'
    assert fixed(text, bibliography=False) == (text, [])


def test_lines_and_dates() -> None:
    text, changes = fixed(
        "\ufeffa: 1  \r\nb:\t\r\n  - {as_of: 2026/11/21}\r\n\r\n\r\n", bibliography=False
    )
    assert text == "a: 1\nb:\n  - {as_of: 2026-11-21}\n"
    assert changes == ["line ends and spaces", "dates"]


def test_identifiers_lose_their_address_and_entries_find_their_order() -> None:
    second_work = bib("b2026two", doi="https://doi.org/10.1000/ABC", eprint=None)
    text = (
        "% head\n"
        + second_work
        + "\n\n\n"
        + bib("a2026one", eprint="arXiv:2205.14135", urldate="2026.11.21")
    )
    mended, changes = fixed(text, bibliography=True)
    assert changes == ["dates", "identifiers without address", "order and layout"]
    assert mended.startswith("% head\n\n@misc{a2026one,") and "doi = {10.1000/ABC}" in mended
    assert "eprint = {2205.14135}" in mended and "urldate = {2026-11-21}" in mended
    assert fixed(mended, bibliography=True) == (mended, [])


@pytest.mark.parametrize("between", ["a comment\n", "% why\n"])
def test_text_between_entries_keeps_its_place(between: str) -> None:
    text = bib("b2026two") + between + bib("a2026one")
    assert fixed(text, bibliography=True)[0] == text


@given(st.permutations(["a2020x", "b2021y", "c2022z", "d2023w"]))
def test_sorting_loses_nothing(keys: list[str]) -> None:
    text = "\n".join(bib(key, title=f"{{Braces {{in}} {key}}} \\{{\\}}") for key in keys)
    mended, _ = fixed(text, bibliography=True)
    before, after = parse_string(text, "bibtex"), parse_string(mended, "bibtex")
    assert list(after.entries) == sorted(keys)
    assert all(before.entries[key].fields == after.entries[key].fields for key in keys)


@pytest.mark.parametrize(
    "path", sorted(library().accelerators.glob("*/*.yaml"))[::12], ids=lambda path: path.stem
)
def test_mending_a_real_entry_changes_no_value(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    mended, _ = fixed(text.replace("\n", " \r\n"), bibliography=False)
    assert parse_yaml(mended, "").plain() == parse_yaml(text, "").plain()


def test_the_real_bibliography_needs_no_mending() -> None:
    wrong = [
        p.name
        for p in library().bibliography.glob("*.bib")
        if fixed(p.read_text(encoding="utf-8"), bibliography=True)[1]
    ]
    assert wrong == []


def test_a_mended_file_passes(world: World) -> None:
    text = entry_text(
        *(
            claim(name)
            for name in ("peak", "memory", "memory_bandwidth", "scaleup_bandwidth", "power")
        ),
        claim("announced"),
    )
    path = world.accelerators / "acme" / "one.yaml"
    path.write_text(
        text.replace('"TFLOP/s"', '"TFLOPS"').replace("2026-11-21", "2026/11/21"), encoding="utf-8"
    )
    (done,) = fix([path])
    assert done.changes == ("dates", "spellings of units")
    library().forget()
    assert lint() == [] and not list(fix([path]))


def test_a_file_that_is_no_text_is_refused_and_left(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"a: \xff\r\n")
    with pytest.raises(FlopbookError, match="not UTF-8"):
        list(fix([path]))
    assert path.read_bytes() == b"a: \xff\r\n"
