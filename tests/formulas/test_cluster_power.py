"""Power, energy, water and floor of a cluster."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import cluster_power
from flopbook.hardware.chip import chip

LLAMA_3: dict[str, Any] = {"power": 700, "chips": 16384, "pue": 1.0}


@given(st.floats(1, 1e4), st.integers(1, 10**6).map(float), st.floats(1, 3), st.floats(0.01, 1))
def test_power_is_a_product(power: float, chips: float, pue: float, load: float) -> None:
    out = cluster_power(power=power, chips=chips, pue=pue, load=load)
    assert out["watts"] == pytest.approx(power * chips * pue * load)
    assert out["watts"] >= out["it_watts"]
    assert cluster_power(power=power, chips=2 * chips, pue=pue, load=load)[
        "watts"
    ] == pytest.approx(2 * out["watts"])


def test_the_cluster_of_llama_3() -> None:
    """16,384 H100: 11.5 MW for the chips alone.

    The slides say 11.2 for 16 thousand (slides2025scaling).
    """
    assert cluster_power(**LLAMA_3)["watts"] == pytest.approx(11.4688e6)
    assert cluster_power(**{**LLAMA_3, "chips": 16000})["watts"] == pytest.approx(11.2e6)


def test_a_chip_draws_its_share_of_the_server() -> None:
    """A DGX H100 is rated 10.2 kW for eight chips (nvidia2026dgxh100): 1,275 W for each."""
    from_chip = calculate("cluster-power", chip="h100-sxm", chips=16384, pue=1)
    assert from_chip["watts"] == 16384 * 1275
    assert from_chip.inputs["power"].source == "nvidia2026dgxh100"
    assert any("10.2 kW for 8 chips" in note for note in from_chip.notes)
    # What is typed is all of it.
    typed = calculate("cluster-power", chip="h100-sxm", power="700W", chips=16384, pue=1)
    assert typed["watts"] == 16384 * 700 and not any("share of" in note for note in typed.notes)


def test_measured_servers_stay_below_their_rating() -> None:
    """76 percent of 10.2 kW in demanding training (newkirk2025power)."""
    rated = calculate("cluster-power", chip="h100-sxm", chips=8, pue=1)
    noted = rated.omitted["power_below_the_rating"]
    assert rated["watts"] * (1 + noted.share) == pytest.approx(0.76 * 10200)
    assert noted.text.endswith("(-24 %)")
    assert not calculate("cluster-power", chip="h100-sxm", chips=8, pue=1, load=0.76).omitted


def test_the_floor_of_its_racks() -> None:
    """16 chips in a rack (llamateam2024herd), 600 by 1,098 mm (charest2022meta).

    675 m2, where the slides say 500.
    """
    out = cluster_power(**LLAMA_3, chips_per_rack=16)
    assert out["square_metres"] == pytest.approx(1024 * 0.600 * 1.098)
    assert out["square_metres"] == pytest.approx(675, abs=1)
    assert (
        cluster_power(**LLAMA_3, chips_per_rack=16, floor_factor=2)["square_metres"]
        == 2 * out["square_metres"]
    )


def test_racks_are_whole() -> None:
    areas = [
        cluster_power(power=1, chips=n, pue=1, chips_per_rack=16, rack_area=1)["square_metres"]
        for n in (16, 17)
    ]
    assert areas == [1, 2]


def test_the_hosts_of_a_server_are_not_little() -> None:
    """A server of eight H100 draws up to 10.2 kW, its chips 5.6: 575 W come on top for each."""
    server, alone = chip("nvidia/dgx-h100").power(), chip("nvidia/h100-sxm").power()
    assert (server, 8 * alone) == (10200, 5600)
    assert (
        cluster_power(power=alone, overhead=server / 8 - alone, chips=8, pue=1)["watts"] == server
    )


def test_energy_counts_the_site_and_water_the_computers() -> None:
    """A day of 1 MW at a PUE of 1.5 is 36 MWh.

    1.8 litres for each kWh of the computers are 43.2 cubic metres.
    """
    out = calculate(
        "cluster-power",
        power="1kW",
        chips=1000,
        pue=1.5,
        seconds="1day",
        water_per_joule="1.8L/kWh",
    )
    assert out["joules"] == pytest.approx(36 * 3.6e9)
    assert out["cubic_metres"] == pytest.approx(43.2)


def test_energy_of_a_run_from_chip_hours() -> None:
    """Percentages taken as factors gave a chip of 700 W 32,295 W in one tool (GenZ, defect 12)."""
    one = cluster_power(power=700, chips=1, pue=1, load=0.4)
    assert one["watts"] == pytest.approx(280) and one["watts"] <= 700


def test_what_is_not_given_stays_open() -> None:
    result = calculate("cluster-power", power="700W", chips=8, pue=1.2)
    assert [result[name] for name in ("joules", "cubic_metres", "square_metres")] == [None] * 3
    with pytest.raises(FlopbookError, match="cluster-power needs --pue"):
        calculate("cluster-power", chip="h100-sxm", chips=8)


def test_the_power_of_a_chip_has_its_source() -> None:
    given_ = calculate("cluster-power", chip="h100-sxm", chips=1, pue=1).inputs["power"]
    assert (given_.value, given_.source) == (1275.0, "nvidia2026dgxh100")


def test_arrays_equal_floats() -> None:
    pue = np.array([1.0, 1.1, 1.5])
    out = cluster_power(power=700, chips=10, pue=pue)
    assert out["watts"].tolist() == [
        cluster_power(power=700, chips=10, pue=p)["watts"] for p in pue.tolist()
    ]


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"pue": 0.9}, "pue is 0.9, expected at least 1"),
        ({"pue": 110}, "pue is 110, which is not a plausible size; expected at most 10"),
        ({"chips": 1.5}, "expected a whole number"),
        ({"chips": 0}, "chips is 0, expected at least 1"),
        ({"power": -700}, "power is -700, expected more than 0"),
        ({"load": 40}, "load is 40, which is not a plausible size; expected at most 1"),
        ({"seconds": math.nan}, "seconds is not a number"),
    ],
)
def test_refused_values_say_what_was_expected(given_: dict[str, Any], message: str) -> None:
    with pytest.raises(FlopbookError, match=message):
        cluster_power(**{**LLAMA_3, **given_})
