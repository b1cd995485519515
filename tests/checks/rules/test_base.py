"""What rules work on: records made by hand are enough, for a rule reads nothing itself."""

from __future__ import annotations

import ast
import datetime
import importlib
from contextvars import Context
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from flopbook.checks import lint as checker
from flopbook.checks.rules import (
    RULES,
    agreement,
    base,
    links,
    names,
    sources,
    thin,
    topic,
    vendors,
)
from flopbook.checks.rules.base import Holdings, agree, locate
from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim
from flopbook.data.library import VARIABLE, Library, library
from flopbook.data.models import Model
from flopbook.data.reference import Person, Reference
from flopbook.data.topics import Topic
from flopbook.errors import FlopbookError
from tests.support.samples import LEDGER, World, bib, claim

READ = datetime.date(2026, 11, 21)
WORK = Reference(
    key="doe2026work",
    type="misc",
    kind="paper",
    title="A work",
    people=(Person("Doe", "Jane"),),
    year=2026,
    topics=("chips",),
    file="all.bib",
    line=3,
)
# What rules may take from the readers of data: records and words, no function and no folder.
READERS = (
    *("accelerators", "catalogue", "glossary", "library", "link_status", "names", "references"),
    "tiers",
)


def entry(entry_id: str, *claims: Claim, **fields: Any) -> Entry:
    vendor = entry_id.partition("/")[0]
    file = f"{entry_id}.yaml"
    return Entry(entry_id, "package", entry_id, vendor, "A chip.", claims, file=file, **fields)


def link(**fields: Any) -> Claim:
    return Claim(
        "scaleup_bandwidth", 25, "doe2026work", READ, unit="GB/s", direction="one-way", **fields
    )


def holdings_of(**fields: Any) -> Holdings:
    """Holdings made by hand: the library only stands for the folders that no rule here opens."""
    return Holdings(library=library(), **fields)


def found(rule: ModuleType, holdings: Holdings) -> list[str]:
    return [finding.problem.found for finding in rule.check(holdings)]


def test_a_rule_needs_no_file() -> None:
    """Three links of 25 GB/s are no 100 GB/s; with four of them the rule keeps quiet."""
    chip = link(aggregate="chip", per="package", name="L")._replace(value=100)
    own_link = link(aggregate="link", per="package", name="L", file="one.yaml", line=7)
    count = Claim("scaleup_links", 3, "doe2026work", READ, unit="link", per="package", name="L")
    entries = {"acme/one": entry("acme/one", chip, own_link, count)}
    (finding,) = links.check(holdings_of(entries=entries))
    assert finding.problem.line == 7 and finding.owners[0] == own_link
    assert finding.problem.found.startswith("3 links x 25 GB/s one-way, chip 100 GB/s")
    entries = {"acme/one": entry("acme/one", chip, own_link, count._replace(value=4))}
    assert found(links, holdings_of(entries=entries)) == []


def test_a_vendor_whose_file_is_broken_is_described() -> None:
    """`vendor_ids` are those of the files; only a folder without one is a problem."""
    entries = {"acme/one": entry("acme/one"), "bolt/two": entry("bolt/two")}
    holdings = holdings_of(entries=entries, vendor_ids=("acme",), accelerators=Path("/data"))
    (finding,) = vendors.check(holdings)
    assert finding.problem.file == "/data/bolt/vendor.yaml"


def test_an_unreadable_bibliography_makes_no_key_unknown() -> None:
    entries = {"acme/one": entry("acme/one", link())}
    assert found(sources, holdings_of(entries=entries)) == ["'doe2026work'"]
    assert found(sources, holdings_of(entries=entries, unreadable=frozenset({"references"}))) == []


def test_an_unreadable_tree_makes_no_keyword_unknown() -> None:
    holdings = holdings_of(references={WORK.key: WORK})
    assert found(topic, holdings) == ["'chips'"]
    without = holdings_of(references={WORK.key: WORK}, unreadable=frozenset({"topics"}))
    assert found(topic, without) == []


def test_an_unreadable_bibliography_makes_no_topic_thin(world: World) -> None:
    topics = (Topic("chips", "Chips", "What chips do."),)
    holdings = holdings_of(topics=topics, bibliography=world.bibliography)
    assert found(thin, holdings) == ["0 works on 'chips'"]
    without = holdings_of(topics=topics, unreadable=frozenset({"references"}))
    assert found(thin, without) == []


def test_a_schema_without_claims_names_none_of_their_fields() -> None:
    assert all("on one side only" in text for text in found(agreement, holdings_of()))


def test_owners_are_accelerators_and_models() -> None:
    model = Model("tiny", "dense", "Tiny", "Acme", "A model.", ())
    holdings = holdings_of(entries={"acme/one": entry("acme/one")}, models={"tiny": model})
    assert [owner.id for owner in holdings.owners] == ["acme/one", "tiny"]


def test_topics_come_with_those_below_them() -> None:
    low = Topic("c", "C", "Low.")
    middle = Topic("b", "B", "Middle.", children=(low,))
    holdings = holdings_of(topics=(Topic("a", "A", "Top.", children=(middle,)),))
    assert [topic.id for topic in holdings.every_topic] == ["a", "b", "c"]


def test_a_text_is_located_from_a_line_on(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: Word\nb: [word, {c: word}]\n", encoding="utf-8")
    assert locate(str(path), "word") == (str(path), 1, 4)
    assert locate(str(path), "word", 2) == (str(path), 2, 5)
    assert locate(str(path), "absent") == (str(path), 1, 1)


@pytest.mark.parametrize(
    ("computed", "fine"), [(103.0, True), (97.0, True), (103.1, False), (96.9, False), (0.0, False)]
)
def test_values_agree_within_a_share_of_the_recorded_one(computed: float, fine: bool) -> None:
    assert agree(computed, 100, 0.0300001) == fine
    assert not agree(computed, 0, 0.03)


def _imports(rule: ModuleType) -> list[tuple[str, str]]:
    """Module and name of everything that a rule imports."""
    tree = ast.parse(Path(str(rule.__file__)).read_text(encoding="utf-8"))
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return [(str(node.module), alias.name) for node in statements for alias in node.names]


@pytest.mark.parametrize("rule", [*RULES, base], ids=lambda rule: rule.__name__)
def test_a_rule_imports_no_reader_and_no_folder(rule: ModuleType) -> None:
    """What a rule works on is what it was given, so that another library can be checked."""
    readers = {f"flopbook.data.{name}" for name in READERS} | {"flopbook.ledger.rows"}
    for module, name in _imports(rule):
        if (module, name) == ("flopbook.data.library", "using"):
            continue  # it puts the library that the rule was given in use
        if module in readers:
            imported = getattr(importlib.import_module(module), name)
            assert isinstance(imported, (type, str, tuple)), f"{module}.{name}"
        assert module != "flopbook.data.repository"


def test_what_is_read_is_read_in_one_place(world: World) -> None:
    """All of the world is in the holdings, with the folders that it came from."""
    world.write("bibliography/all.bib", bib())
    holdings, problems = checker.read_holdings(world.library)
    assert problems == [] and holdings.unreadable == frozenset()
    assert (holdings.entry_ids, holdings.vendor_ids) == (("acme/one",), ("acme",))
    assert list(holdings.models) == ["tiny-1b"] and len(holdings.ledger) == 1
    assert (holdings.accelerators, holdings.bibliography) == (
        world.accelerators,
        world.bibliography,
    )
    assert set(holdings.tiers.values()) == {"vendor"} and holdings.terms and holdings.dtypes


def test_no_rule_reads_another_library_than_it_is_given(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them, where no library is in use and the data of the package is out of reach.

    The box has a total that is wrong, a crate contains itself. The row computes with a chip and
    holds, which it would not where no chip can be read.
    """
    world.entry("one", claim("peak"), claim("memory", value=80))
    memory = claim("memory", value=10, per="node")
    world.entry("box", memory, kind="node", parts={"acme/one": 2})
    world.entry("crate", memory, kind="node", parts={"acme/crate": 1})
    call = '\'chip("one").memory() / q("20GB")\''
    world.write("bibliography/claims/acme.yaml", LEDGER.replace("2 + 2", call))
    holdings, _ = checker.read_holdings(Library(world.root))
    monkeypatch.setenv(VARIABLE, str(world.root / "nowhere"))
    # What `using` put in use is not in use in a context of its own.
    broken = Context().run(_names_of_broken_rules, holdings)
    assert {"total", "part"} <= broken and "verdict" not in broken


def _names_of_broken_rules(holdings: Holdings) -> set[str]:
    with pytest.raises(FlopbookError, match="holds no data"):
        library()
    return {rule.NAME for rule in RULES if list(rule.check(holdings))}


def test_each_unreadable_file_is_named(world: World) -> None:
    world.write("bibliography/topics.yaml", "topics: 3\n")
    world.write("bibliography/glossary.yaml", "terms: 3\n")
    world.write("bibliography/link-status.json", "[")
    world.write("bibliography/claims/acme.yaml", "rows: 3\n")
    world.write("bibliography/all.bib", bib(author=None))
    world.entry("one", claim(drop=("unit",)))
    holdings, problems = checker.read_holdings(world.library)
    assert holdings.unreadable == {"references", "topics", "terms", "link_statuses", "ledger"}
    assert holdings.entries == {} and holdings.entry_ids == ("acme/one",)
    assert len({problem.file for problem in problems}) == 6


def test_two_names_of_one_entry_are_no_clash() -> None:
    aliased = entry("acme/one", aliases=("one", "uno"))
    assert found(names, holdings_of(entries={"acme/one": aliased})) == []
