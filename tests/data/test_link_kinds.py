"""What software reaches on links: the file, and what is said of a broken one."""

from __future__ import annotations

from pathlib import Path

import pytest

from flopbook.checks.lint import lint
from flopbook.data.library import reference_keys
from flopbook.data.link_kinds import link_kinds, read_link_kinds
from flopbook.errors import DataError
from tests.support.samples import World


def test_every_kind_is_plausible_and_has_its_sources() -> None:
    kinds = link_kinds()
    assert {"NVLink 3", "NVLink 4", "NVLink 5", "ICI", "PCIe Gen3 x16"} <= kinds.keys()
    for name, kind in kinds.items():
        assert kind.name == name and set(kind.sources) <= reference_keys() and kind.sources
        assert 1e-6 < kind.startup < 1e-3 and 0 < kind.ramp < 1e-4
        assert 0.1 < kind.efficiency <= 1 and 0.1 < kind.reduction_efficiency <= 1


def test_a_library_without_the_file_has_measured_nothing(tmp_path: Path) -> None:
    assert read_link_kinds(tmp_path / "links.yaml") == {}


@pytest.mark.parametrize("text", ["kinds: 3\n", "{}\n", "kinds:\n  one: {startup: 1}\n"])
def test_a_broken_file_names_itself_and_its_author(tmp_path: Path, text: str) -> None:
    path = tmp_path / "links.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match="links") as refused:
        read_link_kinds(path)
    assert "python -m scripts.fit_links writes it" in str(refused.value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("startup", "-1"), ("startup", "nan"), ("startup", "[1]"), ("ramp", "0")),
        *(("efficiency", "1.5"), ("efficiency", "1e999"), ("efficiency", "true")),
        *(("reduction_efficiency", "'0.5'"), ("sources", "a"), ("sources", "[1]"), ("x", "1")),
    ],
)
def test_a_kind_that_cannot_be_is_refused_at_its_line(
    tmp_path: Path, field: str, value: str
) -> None:
    path = tmp_path / "links.yaml"
    row = {"startup": "1e-5", "ramp": "1e-6", "efficiency": "0.5", "sources": "[a]", field: value}
    written = ", ".join(f"{name}: {text}" for name, text in row.items())
    path.write_text(f"kinds:\n  one: {{{written}}}\n", encoding="utf-8")
    with pytest.raises(DataError, match="links") as refused:
        read_link_kinds(path)
    (problem,) = refused.value.problems
    assert problem.line == 2 and "one with" in problem.found


@pytest.mark.parametrize(("name", "rule"), [("NVLink 9", "source"), ("<b>", "links")])
def test_lint_reads_the_links_and_knows_their_sources(world: World, name: str, rule: str) -> None:
    row = "{startup: 1e-5, ramp: 1e-6, efficiency: 0.5, sources: [nobody2020none]}"
    world.write("accelerators/links.yaml", f"kinds:\n  {name!r}: {row}\n")
    assert [problem.rule for problem in lint()] == [rule]


def test_where_nothing_was_added_up_in_the_switch_the_rate_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "links.yaml"
    row = "{startup: 1e-5, ramp: 1e-6, efficiency: 0.5, sources: [a]}"
    path.write_text(f"kinds:\n  one: {row}\n", encoding="utf-8")
    kind = read_link_kinds(path)["one"]
    assert kind.efficiency == kind.reduction_efficiency == 0.5
