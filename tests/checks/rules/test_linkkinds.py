"""Each kind of link has a field of its own, and scale-up counts the ports inside a server only."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.checks import lint as checker
from flopbook.checks.rules import linkkinds
from flopbook.data.library import load_entries
from flopbook.errors import DataError, Problem
from flopbook.hardware.chip import chip
from tests.support.samples import NEEDED, World, assert_clean, claim


def broken(world: World, *more: dict[str, Any]) -> list[Problem]:
    fields = {change["field"] for change in more}
    world.entry("one", *(claim(name) for name in NEEDED if name not in fields), *more)
    problems = [problem for problem in checker.lint() if problem.rule == linkkinds.NAME]
    if problems:
        assert_clean(DataError(problems))
    return problems


@pytest.mark.parametrize(
    ("field", "name", "proper"),
    [
        ("bisection_bandwidth", "between the two dies of a module", "die_to_die_bandwidth"),
        ("scaleup_bandwidth", "UCIe-Advanced channel", "die_to_die_bandwidth"),
        ("scaleup_bandwidth", "fabric on the wafer", "fabric_bandwidth"),
        ("host_bandwidth", "NVLink-C2C to the Grace CPU", "chip_to_chip_bandwidth"),
        ("scaleup_bandwidth", "Internal chip-to-chip", "chip_to_chip_bandwidth"),
    ],
)
def test_a_link_of_another_kind_has_its_own_field(
    world: World, field: str, name: str, proper: str
) -> None:
    """The names are those of the MI250, REBEL, WSE-3, GH200 and n300 as they were recorded."""
    (problem,) = broken(world, claim(field, name=name))
    assert problem.found == f"'{name}' as {field}" and problem.mend == f"move it to {proper}"
    assert not broken(world, claim(proper, name=name))


@pytest.mark.parametrize("name", ["NVLink 5", "Infinity Fabric", "PCIe Gen5 x16", "UALink", "ICI"])
def test_links_between_accelerators_stay(world: World, name: str) -> None:
    assert not broken(world, claim("scaleup_bandwidth", name=name))


def test_all_ports_are_not_scale_up(world: World) -> None:
    """Gaudi 3: 21 ports inside the server and 3 that leave it; 600 GB/s are all 24."""
    inside = claim("scaleup_bandwidth", name="21 ports", direction="one-way", value=525)
    outside = claim("scaleout_bandwidth", name="3 ports", value=75, unit="GB/s")
    every = claim("scaleup_bandwidth", name="24 ports", value=1200)
    (problem,) = broken(world, inside, outside, every)
    assert problem.found == "1200 GB/s is 21 ports and 3 ports (scaleout_bandwidth)"
    assert "move it to 'port_bandwidth'" in problem.mend
    assert not broken(world, inside, outside, {**every, "field": "port_bandwidth"})
    assert not broken(world, inside, outside, {**every, "value": 1000})


def test_what_the_generations_of_gaudi_have_inside_a_server() -> None:
    """habana2026network: 525 and 262.5 GB/s in one direction; habana2026distributed: 7 ports."""
    rates = [chip(f"intel/gaudi-{number}").scaleup_bandwidth() for number in (1, 2, 3)]
    assert rates == [87.5e9, 262.5e9, 525e9]


def test_the_link_to_the_cpu_has_a_rate_one_way() -> None:
    for name in ("nvidia/gh200", "nvidia/gh200-144gb", "nvidia/gb200-gpu"):
        picked = chip(name).pick("chip_to_chip_bandwidth", direction="one-way")
        assert picked.value == 450e9


def test_no_product_has_a_link_in_the_field_of_another_kind() -> None:
    for entry in load_entries().values():
        names = [
            link_claim.name
            for link_claim in entry.claims
            if link_claim.field == "scaleup_bandwidth"
        ]
        assert not any("wafer" in name or "C2C" in name for name in names)
