"""What a cluster draws, where it stands and what it drinks."""

from typing import Annotated, Any

from flopbook.formulas.declaration import Input, Output, formula
from flopbook.quantities.ops import ceil, inf, where


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
    sources=("llamateam2024herd", "charest2022meta", "aidcguide2026metrics", "submer2020wue"),
    symbols={"racks": "n", "it_joules": r"E_\text{IT}"},
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
    power: Annotated[float, Input("W", "p", "power of a chip", chip="power", most=1e6)],
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
        Input("W", "h", "power of hosts, network and storage for each chip", most=1e6, none=True),
    ] = 0.0,
    load: Annotated[
        float, Input("1", "u", "power drawn on average over the power given", most=1)
    ] = 1.0,
    seconds: Annotated[float, Input("s", "t", "time for which it runs", most=1e12)] = inf,
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
    """Power of a cluster from that of its chips, and the energy, water and floor that follow.

    Derivation:
        Chips times their power, with what hosts, network and storage draw for each of them, is the
        power of the computers. Power usage effectiveness (PUE) is the energy of the whole site over
        that of the computers, so it multiplies. Water usage effectiveness is the water of the site
        over the energy of the computers, not of the site. Racks are counted up to whole ones. The
        area of a rack, if none is given, is that of an Open Rack V3 frame, 600 by 1,098 mm.

    Leaves out:
        The printed power of a chip is mostly a limit of its design: training draws less, say with
        the load how much. Hosts and network are left out unless given, and they are not little: a
        server of eight H100 may draw 10.2 kW, of which the chips are 5.6. A PUE is an average over
        a year. Water that power stations use is beside this, and so are offices and rooms for power
        and cooling.
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
