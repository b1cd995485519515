"""A computer with one chip is no server: it does not say how many chips their links join."""

from __future__ import annotations

import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.hardware.network import Network
from flopbook.hardware.servers import servers_of

SHARED = {"model": "deepseek-v3", "dtype": "fp8", "tp": 1, "dp": 8, "ep": 8, "batch": 512}


@pytest.mark.parametrize(("name", "chips"), [("gb300-gpu", 72), ("b300", 8), ("h100-sxm", 8)])
def test_a_chip_is_joined_as_in_a_server_of_several(name: str, chips: int) -> None:
    domain = Network(chip(f"nvidia/{name}")).pick_domain()
    assert domain is not None and domain.value == chips


def test_the_chip_of_a_station_is_sold_in_racks_too() -> None:
    kinds = {server.entry.id: server.chips for server in servers_of("nvidia/gb300-gpu")}
    assert kinds["nvidia/dgx-station"] == 1 and kinds["nvidia/gb300-nvl72"] == 72


def test_messages_of_a_rack_travel_over_its_links() -> None:
    """GB300 has the ports of GB200, so the same exchange takes as long: 0.6 ms, not 5.6."""
    times = [
        calculate("decode", chip=f"nvidia/{name}", seq=4096, **SHARED)["message_seconds"]
        for name in ("gb200-gpu", "gb300-gpu")
    ]
    assert times[0] == pytest.approx(times[1])
