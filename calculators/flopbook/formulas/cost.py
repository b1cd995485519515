"""What a cluster draws, where it stands and what it drinks."""

from typing import Annotated, Any

from flopbook.formulas.declaration import Constant, Input, Output, formula
from flopbook.formulas.omissions import omission
from flopbook.quantities.ops import ceil, inf, where

MEASURED_LOAD = Constant(0.76, "1", "measured over rated power of an H100 server in training")


@omission(
    "power is the rating of the server: an H100 server was measured at 76 % of it in training, "
    "which --load 0.76 counts ({size})",
    of="watts",
)
def power_below_the_rating(load: float) -> float:
    """Even demanding training reached no more than 76 percent of 10.2 kW (newkirk2025power)."""
    return where(load < 1, 0, MEASURED_LOAD - 1)


@formula(
    "cluster-power",
    title="Cluster power",
    question="How much power, energy, water and floor does a cluster take?",
    outputs={
        "watts": Output("W", "P", "power of the site, cooling and losses included"),
        "it_watts": Output("W", r"P_\text{IT}", "power of chips, hosts, network and storage"),
        "joules": Output("J", "E", "energy of the site", needs=("seconds",)),
        "cubic_metres": Output(
            "m3", "V", "water evaporated at the site", needs=("seconds", "water_per_joule")
        ),
        "square_metres": Output(
            "m2", "A", "floor, for racks that are not shared", needs=("chips_per_rack",)
        ),
    },
    sources=(
        "llamateam2024herd",
        "charest2022meta",
        "aidcguide2026metrics",
        "submer2020wue",
        "newkirk2025power",
    ),
    symbols={"racks": "n", "it_joules": r"E_\text{IT}"},
    omissions=(power_below_the_rating,),
    asks=("chip", "chips", "pue"),
    examples=(
        {"chip": "h100-sxm", "chips": "16384", "pue": "1.1", "chips-per-rack": "16"},
        {
            "power": "1.275kW",
            "chips": "1024",
            "pue": "1.3",
            "seconds": "30days",
            "water-per-joule": "1.8L/kWh",
        },
    ),
)
def cluster_power(
    power: Annotated[
        float,
        Input(
            "W", "p", "power of a chip with its share of the server", chip="server_power", most=1e6
        ),
    ],
    chips: Annotated[float, Input("chip", "N", "chips", least=1, whole=True, most=1e9)],
    pue: Annotated[
        float,
        Input(
            "1",
            r"\eta",
            "power usage effectiveness: all of the site over its computers",
            least=1,
            most=10,
        ),
    ],
    overhead: Annotated[
        float,
        Input("W", "h", "power per chip beside the server: switches, storage", most=1e6, none=True),
    ] = 0.0,
    load: Annotated[float, Input("1", "u", "average power over rated power", most=1)] = 1.0,
    seconds: Annotated[float, Input("s", "t", "duration", most=1e12)] = inf,
    water_per_joule: Annotated[
        float,
        Input("m3/J", "w", "water usage effectiveness: water over energy of the computers", most=1),
    ] = inf,
    chips_per_rack: Annotated[
        float, Input("chip", "k", "chips in a rack", least=1, whole=True, most=1e6)
    ] = inf,
    rack_area: Annotated[
        float, Input("m2", "a", "floor under one rack", least=0.01, most=100)
    ] = 0.6588,
    floor_factor: Annotated[
        float,
        Input(
            "1", "f", "floor of the hall over floor under racks: aisles, cooling", least=1, most=100
        ),
    ] = 1.0,
) -> dict[str, Any]:
    """Power of a cluster from that of its servers, and the energy, water and floor that follow.

    Derivation:
        Chips times the power of one with its share of the server, and what switches and storage
        draw for each of them, is the power of the computers. Power usage effectiveness (PUE) is the
        energy of the whole site over that of the computers, so it multiplies. Water usage
        effectiveness is the water of the site over the energy of the computers, not of the site.
        Racks are counted up to whole ones. The area of a rack, if none is given, is that of an Open
        Rack V3 frame, 600 by 1,098 mm.

    Leaves out:
        - The draw of servers below their rating. [power_below_the_rating]
        - Switches and storage, unless given as overhead. [no size: data sheets of servers do not
          have them]
        - A PUE is an average over a year. [no size: it depends on the weather of the site]
        - Water that power stations use. [no size: it depends on the grid]
        - Offices and rooms for power and cooling. [no size: each building has its own]
    """
    it_watts = chips * (power + overhead) * load
    watts = it_watts * pue
    it_joules = it_watts * seconds
    # Racks are not divided; without their size the floor is left open, not zero.
    racks = where(chips_per_rack < inf, ceil(chips / chips_per_rack), 0)
    return {
        "watts": watts,
        "it_watts": it_watts,
        "joules": watts * seconds,
        "cubic_metres": it_joules * water_per_joule,
        "square_metres": racks * rack_area * floor_factor,
    }
