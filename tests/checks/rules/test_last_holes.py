"""Names of pages, days that have not been, and markup and lengths of references."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from flopbook.checks import lint as checker
from flopbook.checks.rules import RULES, dates, elements, glossary, stray, symbols, typed
from flopbook.checks.rules.base import Holdings
from flopbook.data.files import MAX_PAGE_BYTES
from flopbook.data.folders import is_id
from flopbook.data.library import library
from flopbook.data.link_status import read_link_statuses
from flopbook.errors import DataError
from scripts.website.build.maths import replace_maths
from scripts.website.build.typesetting import typeset_page
from tests.support.samples import World, bib, claim


@pytest.mark.parametrize(
    "name",
    ["a b.md", "a\nb.md", "\x1b[2J.md", "\u202ea.md", "a'.svg", "é.md", "Aux.md", "nul.v2.md"],
)
def test_the_name_of_a_page_is_plain(name: str, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / name).write_text("# One\n")
    (tmp_path / "docs" / "plain-one.v2.md").write_text("# Two\n")
    holdings = Holdings(library=library(), accelerators=tmp_path / "none", docs=tmp_path / "docs")
    (finding,) = list(stray.check(holdings))
    assert "it becomes an address" in str(finding.problem) and str(finding.problem).isprintable()


def test_a_page_is_no_larger_than_a_reviewer_reads(tmp_path: Path) -> None:
    """The rules that read prose leave it out."""
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs" / "long.md"
    page.write_text("# One\n" + "<script>\n" * 200_000)
    holdings = Holdings(library=library(), accelerators=tmp_path / "none", docs=tmp_path / "docs")
    problems = [str(finding.problem) for rule in RULES for finding in rule.check(holdings)]
    assert [line for line in problems if "1,800,006 bytes, expected at most 250,000" in line]
    assert not [line for line in problems if "script" in line]


@pytest.mark.parametrize("mark", "`~")
def test_prose_is_read_in_one_go(mark: str) -> None:
    """Of so many marks the rules took ever shorter runs for the beginning of code: for minutes."""
    text = f"---\norder: 1\n---\n# One\n\n{mark * 200_000}\n"
    begun = time.process_time()
    assert list(elements.elements(text)) and not typed.typed_numbers(text)
    assert not list(symbols.uses_of(text)) and glossary.CODE.sub("", text)
    assert typeset_page(text) == replace_maths(text) == text
    assert time.process_time() - begun < 2


@pytest.mark.parametrize("mark", ["{{", "{{ 1 ", "{% ", "{#"])
def test_expressions_that_never_end_are_read_in_one_go(mark: str) -> None:
    """The rule on symbols looked for the end of each of them to the end of the page."""
    marks = mark * (MAX_PAGE_BYTES // len(mark) - 20)
    text = f"---\norder: 1\n---\n# One\n\n$a$ }}}} %}} #}}\n{marks}"
    begun = time.process_time()
    assert [use.letter for use in symbols.uses_of(text)] == ["a"] and not typed.typed_numbers(text)
    assert time.process_time() - begun < 2


@pytest.mark.parametrize("name", ["aux", "con", "com1", "nul.v2"])
def test_names_that_windows_keeps_are_no_ids(name: str) -> None:
    assert not is_id(name) and not is_id(f"acme/{name}") and not is_id(f"{name}/one")
    assert is_id(f"x{name}") and is_id(f"acme/a-{name}") and is_id("conduit")


def test_a_status_is_of_a_day_that_has_been(world: World) -> None:
    world.write("bibliography/all.bib", bib())
    world.entry("one", claim("peak"))
    path = world.root / "accelerators/acme/one.yaml"
    text = path.read_text(encoding="utf-8")
    head, status, tail = text.partition("status:")
    path.write_text(head + status + tail.replace("2026-11-21", "9999-12-31", 1), encoding="utf-8")
    holdings, _ = checker.read_holdings(world.library)
    messages = [str(finding.problem) for finding in dates.check(holdings)]
    assert any("as_of 9999-12-31 of the status" in line for line in messages), messages


@pytest.mark.parametrize("day", ["9999-12-31", "0001-01-01"])
def test_a_source_was_read_on_a_day_that_has_been(day: str, world: World) -> None:
    """The newest reading is the date of the site."""
    world.write("bibliography/all.bib", bib(urldate=day))
    holdings, _ = checker.read_holdings(world.library)
    messages = [str(finding.problem) for finding in dates.check(holdings)]
    assert any(f"found urldate {day}" in line for line in messages)


@pytest.mark.parametrize(
    ("url", "row"),
    [
        ("https://a.example/", {"archive": "https://acme.example/"}),
        ("https://a.example/", {"archive": "https://web.archive.org.acme.example/web/1"}),
        ("https://a.example/", {"archive": "https://web.archive.org/web/<b>"}),
        ("https://a.example/", {"status": "<b>"}),
        ("https://a.example/", {"status": "4" * 99}),
        ("https://a.example/ b", {}),
        ("https://\u0430.example/", {}),
    ],
)
def test_a_dead_link_leads_to_the_archive_alone(
    url: str, row: dict[str, str], tmp_path: Path
) -> None:
    """A row led readers of a dead link to any host that its author chose."""
    path = tmp_path / "link-status.json"
    path.write_text(json.dumps({url: {"status": "404", "checked": "2026-11-01", **row}}))
    with pytest.raises(DataError, match="link-status: found ValueError"):
        read_link_statuses(path)


@pytest.mark.parametrize(
    ("change", "rule"),
    [({"annote": "x" * 1001}, "length"), ({"annote": "Shows &#60;b one."}, "markup")],
)
def test_references_hold_no_entities_and_end(
    change: dict[str, str], rule: str, world: World
) -> None:
    world.write("bibliography/all.bib", bib(**change))
    _, problems = checker.read_holdings(world.library)
    assert rule in {problem.rule for problem in problems}
