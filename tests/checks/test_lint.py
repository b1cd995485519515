"""The check of all data: files, cross-references, claims, and all problems at once."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.checks import lint as checker
from flopbook.data.placeholders import LOCATOR
from flopbook.errors import DataError, Problem, UnknownName, printable, shorten
from tests.support.samples import (
    LEDGER,
    MODEL,
    SOURCE,
    TOPICS,
    VENDOR,
    World,
    assert_clean,
    bib,
    claim,
    die,
    entry_text,
    place,
)


def lint() -> list[Problem]:
    """What the check finds, but for values that a short sample does not have."""
    return [problem for problem in checker.lint() if problem.rule != "needed"]


def only() -> Problem:
    """The one problem that the check finds."""
    (problem,) = lint()
    assert_clean(DataError([problem]))
    return problem


def where(problem: Problem) -> tuple[str, int, int]:
    return problem.file, problem.line, problem.column


def test_a_sound_world_has_no_problems(world: World) -> None:
    assert lint() == []


def test_the_problems_of_all_files_come_at_once(world: World) -> None:
    """One broken file of each kind: the check stops at none of them."""
    world.entry("one", claim(drop=("unit",)), id="acme/two")
    world.entry("three", claim(source="nobody2026x"))
    world.write("accelerators/acme/bad.yaml", "a: [")
    world.write("accelerators/bolt/x.yaml", entry_text(id="bolt/x", vendor="bolt"))
    world.write("accelerators/acme/vendor.yaml", VENDOR.replace("https:", "javascript:"))
    world.write("models/tiny-1b.yaml", MODEL.replace("1e9", "-1"))
    world.write("bibliography/claims/acme.yaml", LEDGER.replace("2 + 2,", "2 + 3,"))
    world.write("bibliography/topics.yaml", TOPICS.replace("id: chips", "id: links"))
    problems = lint()
    assert_clean(DataError(problems))
    assert [(p.file, p.rule) for p in problems] == [
        ("accelerators/acme/bad.yaml", "yaml"),
        ("accelerators/acme/one.yaml", "path"),
        ("accelerators/acme/one.yaml", "missing"),
        ("accelerators/acme/three.yaml", "source"),
        ("accelerators/acme/vendor.yaml", "format"),
        ("accelerators/acme/vendor.yaml", "markup"),
        ("accelerators/bolt/vendor.yaml", "vendor"),
        ("bibliography/all.bib", "topic"),
        ("bibliography/claims/acme.yaml", "verdict"),
        ("models/tiny-1b.yaml", "form"),
    ]


def test_a_broken_bibliography_does_not_hide_the_rest(world: World) -> None:
    world.write("bibliography/all.bib", bib(author=None) + bib("b2020c", year=None))
    world.entry("one", parts={"acme/none": 2})
    world.write("bibliography/topics.yaml", "topics: 3\n")
    world.write(
        "bibliography/claims/acme.yaml",
        LEDGER.replace("verdict: holds, call: 2 + 2", "verdict: holds"),
    )
    assert {(p.file, p.rule) for p in lint()} == {
        ("bibliography/all.bib", "missing"),
        ("accelerators/acme/one.yaml", "part"),
        ("bibliography/topics.yaml", "type"),
        ("bibliography/claims/acme.yaml", "missing"),
    }


UNKNOWN = "nobody2026x"
FACT = (
    f"facts: [{{field: founded, value: 2026, source: {UNKNOWN}, as_of: 2026-11-21, locator: x}}]\n"
)


@pytest.mark.parametrize(
    ("path", "text", "column"),
    [
        ("accelerators/acme/one.yaml", entry_text(claim(), claim("memory", source=UNKNOWN)), 1),
        (
            "accelerators/acme/one.yaml",
            entry_text(status=f"[{{state: shipping, as_of: 2026-11-21, source: {UNKNOWN}}}]"),
            None,
        ),
        (
            "accelerators/acme/one.yaml",
            entry_text(die=die(source=UNKNOWN).replace(f'"{UNKNOWN}"', UNKNOWN)),
            None,
        ),
        ("accelerators/acme/vendor.yaml", VENDOR + FACT, None),
        ("accelerators/acme/vendor.yaml", f"{VENDOR}media: [{UNKNOWN}]\n", None),
        ("models/tiny-1b.yaml", MODEL.replace(SOURCE, UNKNOWN), 1),
        ("bibliography/topics.yaml", TOPICS.replace("}", f", start_here: [{UNKNOWN}]}}"), None),
        (
            "bibliography/claims/acme.yaml",
            LEDGER.replace("why:", f"evidence: [{UNKNOWN}], why:"),
            1,
        ),
    ],
)
def test_every_source_must_be_in_the_bibliography(
    world: World, path: str, text: str, column: int | None
) -> None:
    world.write(path, text)
    problem = only()
    line, found = place(text, UNKNOWN)
    assert str(problem).endswith(
        f"source: found '{UNKNOWN}', expected a key of bibliography/*.bib; add the reference or "
        "mend the key"
    )
    if "claims/" in path:
        line -= 1  # a row is named by its first line
    assert where(problem) == (path, line, column or found)


def test_a_source_of_values_says_who_speaks(world: World) -> None:
    """Without a tier it would lose every choice among values, unnoticed."""
    world.write("bibliography/all.bib", bib(tier=None))
    problem = only()
    assert problem.rule == "source" and f"no tier in '{SOURCE}'" in problem.found
    assert where(problem) == ("bibliography/all.bib", 1, 1)


@pytest.mark.parametrize(
    ("kind", "head"),
    [("node", {"parts": {"acme/none": 8}}), ("package", {"variant_of": "acme/none"})],
)
def test_parts_and_variants_must_exist(world: World, kind: str, head: dict[str, Any]) -> None:
    path = world.entry("box", kind=kind, **head)
    text = (world.root / path).read_text()
    problem = only()
    assert where(problem) == (path, *place(text, "acme/none")) and problem.rule == "part"
    assert "found 'acme/none', expected the id of an entry" in str(problem)


def test_a_missing_part_of_a_part_is_said_once(world: World) -> None:
    world.entry("box", kind="node", parts={"acme/none": 8})
    world.entry("pod", kind="pod", parts={"acme/box": 2})
    assert [(p.file, p.rule) for p in lint()] == [("accelerators/acme/box.yaml", "part")]


def test_a_cycle_is_a_problem_and_stops_nothing(world: World) -> None:
    world.entry("box", kind="node", parts={"acme/pod": 8})
    world.entry("pod", kind="pod", parts={"acme/box": 2})
    world.entry("three", claim(source=UNKNOWN))
    problems = lint()
    assert_clean(DataError(problems))
    assert [p.rule for p in problems] == ["part", "source"]
    assert "acme/box contains itself: acme/box > acme/pod > acme/box" in str(problems[0])
    assert problems[0].line == 8 and "mend 'contains'" in str(problems[0])


@pytest.mark.parametrize(
    ("one", "two", "name"),
    [
        ({"aliases": "[fast]"}, {"aliases": "[fast]"}, "fast"),
        ({}, {"aliases": "[one]"}, "one"),
        ({"device_names": '["Fast 80GB"]'}, {"device_names": '["fast 80gb"]'}, "fast 80gb"),
    ],
)
def test_an_alias_names_one_entry(world: World, one: dict, two: dict, name: str) -> None:
    world.entry("one", **one)
    path = world.entry("two", **two)
    problem = only()
    line, column = place(
        (world.root / path).read_text().lower(),
        f'"{name}"' if "device_names" in two else f"[{name}",
    )
    assert (
        where(problem) == (path, line, column + ("device_names" not in two))
        and problem.rule == "alias"
    )
    assert f"found '{name}', expected a name of one entry; acme/one has it too" in str(problem)


def test_two_vendors_may_share_a_short_name_but_not_a_device_name(world: World) -> None:
    world.entry("one", aliases="[fast]")
    world.write("accelerators/bolt/vendor.yaml", VENDOR.replace("acme", "bolt", 1))
    world.write(
        "accelerators/bolt/b.yaml", entry_text(id="bolt/b", vendor="bolt", aliases="[fast]")
    )
    assert lint() == []
    world.write(
        "accelerators/bolt/b.yaml", entry_text(id="bolt/b", vendor="bolt", device_names="[fast]")
    )
    assert only().rule == "alias"


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"as_of": "2099-01-01"}, "dates"),
        ({"locator": LOCATOR}, "placeholder"),
        ({"locator": None, "quote": LOCATOR}, "placeholder"),
        ({"locator": None}, "form"),
        ({"source": None}, "missing"),
        ({"foundry": "Acme"}, "unknown"),
    ],
)
def test_a_die_has_a_source_a_place_and_a_day(
    world: World, changes: dict[str, str | None], rule: str
) -> None:
    world.entry("one", die=die(**changes))
    assert only().rule == rule
    world.entry("one", die=die())
    assert lint() == []


def test_an_alias_names_one_model(world: World) -> None:
    path = world.write(
        "models/tiny-2b.yaml", MODEL.replace("id: tiny-1b", "id: tiny-2b") + "aliases: [tiny-1b]\n"
    )
    assert where(only()) == (path, 8, 11)


@pytest.mark.parametrize(
    ("printed", "fine"),
    [
        ({"value": 800}, True),
        ({"value": 820}, "system"),
        ({"value": 820, "note": "Acme does not say why."}, True),
        ({"value": 0.8, "unit": "PFLOP/s"}, True),
        ({"value": 830}, "total"),
        ({"value": 770}, "total"),
        ({"value": 1600}, "total"),
        ({"value": 1600, "note": "Sparse, it seems."}, "total"),
        ({"value": 1600, "known_error": True, "note": "Sparse, it seems."}, True),
        ({"value": 1600, "conflicts_with": "8 x 100"}, "system"),
        ({"value": 1600, "conflicts_with": "8 x 100", "note": "Sparse, it seems."}, True),
        ({"value": 1600, "sparsity": "2:4"}, True),
        ({"value": 1600, "engine": "vector"}, True),
        ({"value": 1600, "per": "package"}, True),
        ({"value": "not published"}, True),
    ],
)
def test_a_printed_total_is_count_times_chip_within_3_percent(
    world: World, printed: dict, fine: bool | str
) -> None:
    """A total that is no rounding of the sum is shown in its place, so it needs a reason too."""
    path = world.entry(
        "box", claim(**{"per": "node", **printed}), kind="node", parts={"acme/one": 8}
    )
    if fine is True:
        assert lint() == []
        return
    problem = only()
    assert where(problem) == (path, 10, 1) and problem.rule == fine
    assert " 8 x 100 TFLOP/s is" in problem.found
    if fine == "total":
        assert problem.mend == "mend it, or say why under 'exceptions'"


def test_memories_are_compared_with_their_like(world: World) -> None:
    """2 TB of system memory beside eight times 80 GB of HBM is no contradiction."""
    world.entry("one", claim(), claim("memory"))
    world.entry(
        "box",
        claim("memory", tier="ddr", value=2000, per="node"),
        kind="node",
        parts={"acme/one": 8},
    )
    assert lint() == []


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("2 + 2,", "2 + 3,", "verdict holds, but it states 4.0 and the computation gives 5"),
        ("2 + 2,", "2 / 0,", "division by zero"),
        ("2 + 2,", '"__import__(1)",', "unknown name '__import__'"),
        ("2 + 2,", "'chip(\"acme/none\").peak()',", "unknown chip 'acme/none'"),
        (
            "holds, call: 2 + 2",
            "does-not-hold, corrected: {value: 4}, chapter: fsdp, call: 2 + 2",
            "gives 4 as stated",
        ),
    ],
)
def test_a_verdict_must_stand(world: World, old: str, new: str, says: str) -> None:
    quoted = LEDGER.replace("stated: {value: 4}", "stated: {value: 4, text: four}")
    path = world.write("bibliography/claims/acme.yaml", quoted.replace(old, new))
    problem = lint()[0]
    assert where(problem) == (path, 4, 5) or where(problem) == (path, 4, 1)
    assert problem.rule == "verdict" and "two-and-two" in problem.found and says in problem.found


def test_an_id_twice_in_the_ledger(world: World) -> None:
    path = world.write("bibliography/claims/more.yaml", LEDGER)
    assert where(only())[:2] == (path, 4) and "claim 'two-and-two'" in only().found


@pytest.mark.parametrize("text", ["\x1b[31mred\n", "a\tb\r\nc", "\u202etxt", "\x00"])
def test_a_problem_is_one_printable_line(text: str) -> None:
    assert str(Problem("f.yaml", 1, 1, "rule", text, text, text)).isprintable()
    assert str(UnknownName("chip", text, ["one"])).isprintable()
    assert "\x1b" not in printable(text) and len(shorten(text * 100)) <= 60


def test_data_errors_are_sorted_and_said_once() -> None:
    later, earlier = Problem("a", 2, 1, "r", "x", "y", "z"), Problem("a", 1, 1, "r", "x", "y", "z")
    assert DataError([later, earlier, later]).problems == (earlier, later)
    assert str(DataError([later])) == "a:2:1: r: found x, expected y; z"


def test_a_broken_entry_is_reported_once_and_at_its_place(world: World) -> None:
    """A row of the ledger that computes with a broken chip is not what has to be mended."""
    world.write(
        "bibliography/claims/acme.yaml",
        LEDGER.replace("call: 2 + 2", 'call: chip("acme/one").peak("bf16")'),
    )
    path = world.entry("one", claim(drop=("sparsity",)))
    problems = lint()
    assert len(problems) == 1 and problems[0].file.endswith(path)


def test_a_source_cannot_have_been_read_tomorrow(world: World) -> None:
    """A date in the future would win every choice among values, for the newest reading counts."""
    world.entry("one", claim(as_of="2099-01-01"))
    assert [problem.rule for problem in lint()] == ["dates"]


def test_a_file_that_no_reader_opens_is_an_error(world: World) -> None:
    """`two.yml` looks like an entry and would be none."""
    world.write("accelerators/acme/two.yml", entry_text(id="acme/two"))
    assert [problem.rule for problem in lint()] == ["file"]


@pytest.mark.parametrize("kind", ["node", "pod", "system"])
def test_a_whole_without_parts_is_told(world: World, kind: str) -> None:
    """A total of nothing could not be checked against a sum."""
    world.entry("box", claim(), kind=kind)
    found = [problem for problem in lint() if problem.rule == "part"]
    assert [problem.found for problem in found] == [f"a {kind} of nothing"]
    world.entry("box", claim(), kind=kind, parts={"acme/one": 8})
    world.library.forget()
    assert [problem for problem in lint() if problem.rule == "part"] == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, ["memory per node in the entry of a package"]),
        ({"per": "package"}, []),
        ({"per": "die"}, []),
    ],
)
def test_a_chip_states_no_total_of_its_node(
    world: World, changes: dict[str, str], words: list[str]
) -> None:
    """640 GB of a node, typed into the entry of the chip, were shown as those of the chip."""
    world.entry("one", claim("memory", **{"per": "node", **changes}))
    found = [problem for problem in lint() if problem.rule == "part"]
    assert [problem.found for problem in found] == words
    if found:
        assert_clean(DataError(found))


def test_a_chip_states_the_domain_that_it_is_linked_into(world: World) -> None:
    world.entry("one", claim("scaleup_domain", per="node"))
    assert not [problem for problem in lint() if problem.rule == "part"]
