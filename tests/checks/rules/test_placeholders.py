"""What `flopbook new` writes for a person to replace does not pass for a reading of a source."""

from __future__ import annotations

import pytest

from flopbook.checks import lint as checker
from flopbook.checks.rules import placeholders
from flopbook.checks.rules.base import Holdings
from flopbook.contributing.new_entry import NewChip, NewVendor, chip_text, vendor_text
from flopbook.data.library import library
from flopbook.data.placeholders import LOCATOR, SUMMARY, is_placeholder
from flopbook.errors import DataError, Problem
from tests.support.samples import (
    MODEL,
    NEEDED,
    SOURCE,
    VENDOR,
    World,
    assert_clean,
    claim,
    entry_text,
    flow,
    place,
)

FACT = f"{{field: founded, value: 2026, source: {SOURCE}, as_of: 2026-11-21, locator: {LOCATOR}}}"
STATUS = f"[{{state: shipping, as_of: 2026-11-21, source: {SOURCE}, note: {LOCATOR}}}]"


def found(world: World) -> list[Problem]:
    """What the rule finds, in messages that say what, where and how to mend it."""
    problems = [problem for problem in checker.lint() if problem.rule == placeholders.NAME]
    if problems:
        assert_clean(DataError(problems))
    return problems


@pytest.mark.parametrize(
    ("path", "text", "needle"),
    [
        ("accelerators/acme/one.yaml", entry_text(summary=f'"{SUMMARY}"'), f'"{SUMMARY}'),
        ("accelerators/acme/one.yaml", entry_text(notes="To be written"), "To be written"),
        ("accelerators/acme/one.yaml", entry_text(status=STATUS), LOCATOR),
        ("accelerators/acme/vendor.yaml", f"{VENDOR}facts: [{FACT}]\n", LOCATOR),
        ("accelerators/acme/vendor.yaml", VENDOR.replace("A maker", "To be written"), "To be"),
        ("models/tiny-1b.yaml", MODEL.replace("Table 1", LOCATOR), LOCATOR),
        ("models/tiny-1b.yaml", MODEL.replace("A model", "To be written. A model"), "To be"),
    ],
)
def test_a_text_that_waits_to_be_written_is_refused_at_its_place(
    world: World, path: str, text: str, needle: str
) -> None:
    world.write(path, text)
    (problem,) = found(world)
    assert (problem.file, problem.line, problem.column) == (path, *place(text, needle))


def test_every_claim_is_named_at_its_own_locator(world: World) -> None:
    """Several claims share the words; each is found, with the field that it fills."""
    changed = {"peak": "locator", "memory": "quote", "power": "note"}
    claims = [claim(name, **{changed[name]: LOCATOR}) for name in changed]
    unchanged = [claim(name) for name in NEEDED if name not in changed]
    path = world.entry("one", *claims, *unchanged)
    lines = (world.root / path).read_text(encoding="utf-8").splitlines()
    problems = found(world)
    assert [(p.line, p.column) for p in problems] == [
        (number, line.index(f'"{LOCATOR}') + 1)
        for number, line in enumerate(lines, 1)
        if LOCATOR in line
    ]
    assert [p.found.split()[1] for p in problems] == list(changed.values())
    assert str(problems[0]).endswith(
        "placeholder: found the locator 'not looked up yet', expected where in the source it "
        "stands; read the source and name the place"
    )


def test_a_new_file_waits_until_all_of_it_is_written(world: World) -> None:
    chip = NewChip("acme/two", "Acme Two", "package", "announced", SOURCE, "2026-11-21")
    world.write("accelerators/acme/two.yaml", chip_text(chip))
    world.write(
        "accelerators/acme/vendor.yaml", vendor_text(NewVendor("acme", "Acme", "https://a.example"))
    )
    fields = [(p.file.rpartition("/")[2], p.found.split()[1]) for p in found(world)]
    locators = [("two.yaml", "locator")] * 6
    assert fields == [("two.yaml", "summary"), *locators, ("vendor.yaml", "summary")]


@pytest.mark.parametrize(
    ("text", "waits"),
    [
        (SUMMARY, True),
        (LOCATOR, True),
        ("NOT LOOKED UP YET", True),
        ("not looked up yet; page 3?", True),
        ("  to be written", True),
        ("", False),
        ("not published", False),
        ("The first announcement was not looked up.", False),
        ("Kernels have to be written by hand.", False),
    ],
)
def test_what_counts_as_a_placeholder(text: str, waits: bool) -> None:
    assert is_placeholder(text) == waits


def test_sound_texts_are_left_alone(world: World) -> None:
    """Nothing is read again where nothing is found: records made by hand have no files."""
    world.entry("one", flow(claim(note="Kernels are to be written by hand.")))
    assert found(world) == []
    assert list(placeholders.check(Holdings(library=library()))) == []
