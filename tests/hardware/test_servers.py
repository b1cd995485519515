"""The server of a chip: its size, and the power that a chip has of it."""

from __future__ import annotations

import pytest

from flopbook.data.library import entry_ids, load_entry
from flopbook.errors import FlopbookError
from flopbook.hardware.chip import Chip, chip
from flopbook.hardware.choice import choose_power
from flopbook.hardware.picked import Missing
from flopbook.hardware.servers import (
    KINDS,
    SERVER_FACTORS,
    pick_node_size,
    pick_server_power,
    servers_of,
)
from tests.support.cases import every

CHIPS = [name for name in entry_ids() if load_entry(name).computes]


@pytest.mark.parametrize(
    ("name", "watts", "of"),
    [
        ("h100-sxm", 10200 / 8, "nvidia/dgx-h100"),
        ("b200", 14300 / 8, "nvidia/dgx-b200"),
        ("a100-sxm-40gb", 6500 / 8, "nvidia/dgx-a100"),
        ("gb200-gpu", 145000 / 72, "nvidia/gb200-nvl72"),
        ("tpu-v7x", 10e6 / 9216, "google/tpu-v7x-pod"),
    ],
)
def test_a_chip_has_its_share_of_what_the_server_is_rated(name: str, watts: float, of: str) -> None:
    """Ratings of data sheets, divided by the chips inside."""
    picked = pick_server_power(chip(name))
    assert picked.value == pytest.approx(watts)
    assert picked.notes[-1].startswith(f"power is a share of {of}: ")


@pytest.mark.parametrize(
    ("name", "like"),
    [("h200-sxm", "nvidia/h100-sxm"), ("a100-sxm-80gb", "nvidia/a100-sxm-40gb")],
)
def test_a_chip_of_the_same_power_has_the_same_server(name: str, like: str) -> None:
    """H200 and A100 80GB were sold in the servers of H100 and A100 40GB; the note says whose."""
    picked = pick_server_power(chip(name))
    assert picked.value == pick_server_power(chip(like)).value
    assert f"({like}, which draws as much as nvidia/{name})" in picked.notes[-1]


def test_a_card_of_the_family_with_less_power_has_another_server() -> None:
    picked = pick_server_power(chip("h100-pcie"))
    assert picked.value == chip("h100-pcie").power()
    assert "power is that of nvidia/h100-pcie alone" in picked.notes[-1]
    assert "1.1 to 2.1 times as much" in picked.notes[-1]


@every("name", CHIPS)
def test_no_server_draws_less_than_its_chips(name: str) -> None:
    one = Chip(load_entry(name))
    try:
        alone = one.pick_power().value
    except Missing:
        return
    assert pick_server_power(one).value >= alone


def test_the_factors_that_the_note_names_are_those_of_the_record() -> None:
    """Of all servers of eight chips and more with both powers on record, the least and the most."""
    factors = []
    for name in CHIPS:
        own = choose_power(load_entry(name).claims)
        for server in servers_of(name):
            power = choose_power(load_entry(server.entry.id).claims)
            if server.chip_id == name and server.chips >= 8 and own and power:
                assert power.si_value and own.si_value
                factors.append(power.si_value / server.chips / own.si_value)
    assert len(factors) > 8
    assert (round(min(factors), 1), round(max(factors), 1)) == SERVER_FACTORS


def test_another_report_of_the_power_of_a_rack_is_told() -> None:
    """Two reports of the GB200 NVL72, 145 and about 120 kW; NVIDIA prints neither."""
    (note,) = pick_server_power(chip("gb200-gpu")).notes
    assert note.endswith(": 145 kW for 72 chips; another report has 120 kW (-17 %)")
    (note,) = pick_server_power(chip("h100-sxm")).notes
    assert "another report" not in note


def test_servers_are_nodes_before_racks_and_pods() -> None:
    for name in CHIPS:
        own = [one for one in servers_of(name) if one.chip_id == name]
        kinds = [KINDS.index(one.entry.kind) for one in own]
        assert kinds == sorted(kinds)
        assert all(one.entry.vendor == load_entry(name).vendor for one in own)


@pytest.mark.parametrize(
    ("name", "size"), [("h100-sxm", 8), ("trainium2", 16), ("h200-sxm", 8), ("tpu-v5p", None)]
)
def test_nodes_have_the_chips_that_are_recorded(name: str, size: int | None) -> None:
    picked = pick_node_size(chip(name))
    assert (picked and picked.value) == size


def test_more_than_one_chip_and_one_without_any_power_are_refused() -> None:
    with pytest.raises(FlopbookError, match=r"is a node, not a chip; name its chip"):
        pick_server_power(Chip(load_entry("nvidia/dgx-h100")))
    unknown = [name for name in CHIPS if choose_power(load_entry(name).claims) is None]
    alone = [name for name in unknown if not servers_of(name)]
    assert alone
    for name in alone:
        with pytest.raises(Missing, match=r"power is not (recorded|published)"):
            pick_server_power(Chip(load_entry(name)))
