"""Every rule of the data: an example that breaks it, one that keeps it, and what excuses it."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import pytest

from flopbook.checks import lint as checker
from flopbook.checks import rules
from flopbook.checks.rules.agreement import EXCUSABLE
from flopbook.errors import DataError, Problem
from tests.support.samples import NEEDED, SOURCE, TOPICS, World, assert_clean, bib, claim, flow

REASON = "The sample breaks this rule on purpose."


def broken(rule: str) -> list[Problem]:
    """What one rule finds, with messages that say what, where and how to mend it."""
    problems = [problem for problem in checker.lint() if problem.rule == rule]
    if problems:
        assert_clean(DataError(problems))
    return problems


def full(*changed: dict[str, Any]) -> list[dict[str, Any]]:
    """Claims of a chip that keeps every rule, with some of them replaced and others added."""
    fields = {change["field"] for change in changed}
    return [*(claim(name) for name in NEEDED if name not in fields), *changed]


PEAK = claim("peak", value=200)
SPARSE = claim("peak", value=300, sparsity="2:4")
LINK = {"name": "Link 4", "direction": "one-way", "aggregate": "link", "unit": "GB/s"}
RATE = claim("flop_per_clock", value=512)

# rule -> (claims that break it, claims that keep it); the last claim of the first is the one that
# is named.
EXAMPLES: dict[str, tuple[list[dict], list[dict]]] = {
    "sparsity": ([PEAK, SPARSE], [PEAK, {**SPARSE, "value": 400}]),
    "clock": (
        [
            claim(value=600, at_clock_mhz=1830),
            claim("cores"),
            RATE,
        ],  # 512 x 528 x 1.83 GHz is 494.7 TFLOP/s
        [claim(value=494.7, at_clock_mhz=1830), claim("cores"), RATE],
    ),
    "links": (
        [
            claim("scaleup_bandwidth"),
            claim("scaleup_links"),
            claim("scaleup_bandwidth", **LINK, value=50),
        ],
        [
            claim("scaleup_bandwidth"),
            claim("scaleup_links"),
            claim("scaleup_bandwidth", **LINK, value=25),
        ],
    ),
    "two-way": (
        [claim("scaleup_bandwidth", direction="one-way"), claim("scaleup_bandwidth")],
        [claim("scaleup_bandwidth", direction="one-way", value=450), claim("scaleup_bandwidth")],
    ),
    "stacks": (
        [claim("memory", value=96), claim("stacks"), claim("stack_memory")],
        [claim("memory", value=80), claim("stacks"), claim("stack_memory")],
    ),
    "range": ([claim("power", value=7, unit="kW")], [claim("power", value=700)]),
    "binary": (
        [claim("memory"), claim("memory", unit="GiB")],
        [claim("memory"), claim("memory", unit="GiB", conflicts_with="80 GB in Table 1")],
    ),
    "inferred": (
        [
            claim(
                dtype="int8",
                value=200,
                unit="TOP/s",
                basis="derived",
                formula="2 x 100",
                derived_from="the fp8 peak",
            )
        ],
        [
            claim(
                dtype="int8",
                value=200,
                unit="TOP/s",
                basis="derived",
                formula="8 x 25",
                derived_from="rate per core",
            )
        ],
    ),
    "dates": (
        [claim("announced"), claim("launched", value="2021")],
        [claim("announced"), claim("launched", value="2022-03")],
    ),
    "intensity": ([claim(value=1000), claim("memory_bandwidth", value=0.5)], [claim(value=600)]),
}


@pytest.mark.parametrize("rule", EXAMPLES)
def test_a_rule_finds_its_example_and_keeps_quiet_otherwise(world: World, rule: str) -> None:
    bad, good = EXAMPLES[rule]
    world.entry("one", *full(*bad))
    (problem,) = broken(rule)
    assert problem.file == "accelerators/acme/one.yaml" and problem.line > 7
    world.entry("one", *full(*good))
    assert checker.lint() == []


@pytest.mark.parametrize("rule", EXAMPLES)
def test_a_reason_excuses_a_claim_or_a_whole_entry(world: World, rule: str) -> None:
    bad, _ = EXAMPLES[rule]
    claims = full(*bad)
    world.entry("one", *claims)
    (problem,) = broken(rule)
    texts = [flow(example) for example in claims]
    place = problem.line - 8
    texts[place] = texts[place].removesuffix("}") + f', exceptions: {{{rule}: "{REASON}"}}}}'
    world.entry("one", *texts)
    assert checker.lint() == []
    world.entry("one", *claims, exceptions=f'{{{rule}: "{REASON}"}}')
    assert checker.lint() == []


@pytest.mark.parametrize("rule", EXCUSABLE)
def test_an_exception_that_nothing_needs_is_an_error(world: World, rule: str) -> None:
    """BCD calls them missing expected failures.

    An allow-list that is never cleared hides the next mistake.
    """
    world.entry("one", exceptions=f'{{{rule}: "{REASON}"}}')
    (problem,) = checker.lint()
    assert problem.rule == "exception" and f"from '{rule}'" in problem.found


@pytest.mark.parametrize(
    "changes", [{"known_error": True, "note": "It counts two."}, {"conflicts_with": "another"}]
)
@pytest.mark.parametrize("rule", ["sparsity", "range", "two-way", "stacks"])
def test_recorded_disagreements_need_not_agree(world: World, rule: str, changes: dict) -> None:
    *earlier, last = full(*EXAMPLES[rule][0])
    world.entry("one", *earlier, {**last, **changes})
    assert broken(rule) == []


@pytest.mark.parametrize("field", NEEDED)
def test_a_chip_without_a_needed_value_is_refused(world: World, field: str) -> None:
    world.entry("one", *(claim(name) for name in NEEDED if name != field))
    (problem,) = broken("needed")
    assert problem.found == f"no {'announced or launched' if field == 'announced' else field}"
    if field == "announced":
        return
    for words in ("not published", "none"):
        world.entry("one", *full(claim(field, value=words)))
        assert checker.lint() == []


def test_a_vector_peak_is_not_the_peak_that_calculators_need(world: World) -> None:
    world.entry("one", *full(claim(engine="vector")))
    assert [problem.found for problem in broken("needed")] == ["no peak"]


def test_a_chip_on_aggregators_alone_is_refused(world: World) -> None:
    """66 of 175 rows of a well-known data set rest on one database that has no matrix rates."""
    world.write("bibliography/all.bib", bib(tier="community") + bib("b2026two", tier="press"))
    assert [problem.found for problem in broken("community")] == [f"only {SOURCE}"]
    world.entry("one", *full(claim("power", source="b2026two")))
    assert checker.lint() == []
    world.entry("one", *full(claim("power", source="b2026two", value="not published")))
    assert len(broken("community")) == 1


def test_what_was_read_before_it_was_written(world: World) -> None:
    world.write("bibliography/all.bib", bib(year="2027"))
    assert {problem.rule for problem in checker.lint()} == {
        "dates",
        "year",
    }  # the key is of another year, too


@pytest.mark.parametrize(
    ("rule", "year", "value", "fine"),
    [
        ("range", "2017", 125, True),
        ("range", "2017", 140, False),
        ("range", "2024", 2500, True),
        ("range", "2024", 4500, False),
        ("range", "2026", 4500, True),
    ],
)
def test_the_peak_that_a_year_allows(
    world: World, rule: str, year: str, value: float, fine: bool
) -> None:
    """A sparse peak that is taken for a dense one is out of its time."""
    bandwidth = claim("memory_bandwidth", value=0.9 if year == "2017" else 8)
    world.entry("one", *full(claim(value=value), bandwidth, claim("announced", value=year)))
    assert (broken(rule) == []) == fine


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("calculators: [min-bach]", "found 'min-bach', expected a calculator such as min-batch"),
        ("chips: [acme/on]", "found 'acme/on', expected a chip such as acme/one"),
        ("vendor: acne", "found 'acne', expected a vendor such as acme; mend the vendor of chips"),
    ],
)
def test_what_a_topic_points_to_is_there(world: World, more: str, says: str) -> None:
    world.write("bibliography/topics.yaml", TOPICS.replace("}", f", {more}}}"))
    (problem,) = broken("topic")
    assert says in str(problem) and problem.line == 2
    world.write(
        "bibliography/topics.yaml",
        TOPICS.replace("}", ", calculators: [min-batch, memory], chips: [acme/one], vendor: acme}"),
    )
    assert not broken("topic")


def test_a_schema_that_drifts_from_the_code_is_an_error(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flopbook.checks.rules.agreement.CLAIM_FIELDS", ("field",))
    monkeypatch.setattr("flopbook.checks.rules.agreement.EXCUSABLE", (*EXCUSABLE, "taste"))
    drifts = [problem.found for problem in broken("schema")]
    assert (
        len(drifts) == 2
        and "as_of" in drifts[0]
        and drifts[1] == "exceptions: taste on one side only"
    )


def test_every_rule_is_a_file_that_runs() -> None:
    """A module in the folder that the list forgets would check nothing."""
    names = {m.name for m in pkgutil.iter_modules(rules.__path__)} - {"base"}
    listed = [rule.__name__.rpartition(".")[2] for rule in rules.RULES]
    assert sorted(listed) == sorted(names)
    assert len(
        {importlib.import_module(f"flopbook.checks.rules.{name}").NAME for name in names}
    ) == len(names)
    assert set(EXCUSABLE) == {*EXAMPLES, "total", "community"}


def test_what_python_keeps_beside_the_data_is_no_entry(world: World) -> None:
    """Where Python may write, it compiles the file that makes the folder a package."""
    world.write("accelerators/__pycache__/__init__.cpython-311.pyc", "bytes")
    world.write("accelerators/acme/one.txt", "words")
    assert [problem.found for problem in broken("file")] == ["'one.txt'"]
