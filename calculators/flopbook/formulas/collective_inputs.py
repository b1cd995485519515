"""What a collective is given: the array, the operation, the network and what software reaches."""

from typing import Annotated

from flopbook.formulas.conditions import rule
from flopbook.formulas.declaration import Group, Input
from flopbook.formulas.slices import SLICE_RULES, chips_fill_the_torus, one_way_rings_close
from flopbook.quantities.ops import inf

OPS = ("all-gather", "reduce-scatter", "all-reduce", "all-to-all", "permute")
MEASURED = Group("Measured rates")

ArrayBytes = Annotated[
    float, Input("byte", "V", "size of the whole array, over all chips", most=1e18)
]
Chips = Annotated[float, Input("chip", "N", "chips that take part", least=1, whole=True, most=1e7)]
Op = Annotated[str, Input("1", r"\text{op}", "collective operation", choices=OPS)]
LinksOfAxis = Annotated[
    float,
    Input(
        "1",
        "l",
        "links of a chip on an axis: 2, or 1 for a one-way ring",
        chip="links_per_axis",
        least=1,
        whole=True,
        most=2,
    ),
]
TorusAxes = Annotated[
    float, Input("1", "n", "torus axes used", chip="axes", least=1, whole=True, most=16)
]
LevelOverlap = Annotated[
    str,
    Input(
        "1",
        r"\text{overlap}",
        "whether both levels carry data at once, or one collective follows the other",
        chip="level_overlap",
        choices=("yes", "no"),
    ),
]
Reduction = Annotated[
    str,
    Input(
        "1",
        r"\text{reduction}",
        "where an all-reduce adds up: in the chips, or in the switch (SHARP, NVLS)",
        choices=("chips", "switch"),
    ),
]
Latency = Annotated[
    float, Input("s", r"\tau", "time of one hop of an empty message", least=1e-12, most=1)
]
StartUp = Annotated[
    float,
    Input(
        "s",
        r"T_0",
        "time to launch a collective, whatever its size",
        chip="startup",
        least=1e-12,
        most=1,
        none=True,
    ),
    MEASURED,
]
Ramp = Annotated[
    float,
    Input(
        "s",
        r"\tau_\text{ramp}",
        "pipeline fill time, whose geometric mean with the transfer is added twice",
        chip="ramp",
        least=1e-12,
        most=1,
        none=True,
    ),
    MEASURED,
]
Efficiency = Annotated[
    float,
    Input(
        "1",
        r"\eta",
        "share of the link rate that large messages reach",
        chip="efficiency",
        least=0.001,
        most=1,
    ),
    MEASURED,
]
ReductionEfficiency = Annotated[
    float,
    Input(
        "1",
        r"\eta_\text{sum}",
        "the same where the switch adds up",
        chip="reduction_efficiency",
        least=0.001,
        most=1,
    ),
    MEASURED,
]


@rule("two levels need --chips-per-node, the chips in one scale-up domain")
def nodes_have_a_size(topology: str, chips_per_node: float) -> bool:
    """The size of a domain has no default."""
    return (topology != "two-level") | (chips_per_node < inf)


@rule("two levels need --scaleout-bandwidth, one way of one chip beyond its scale-up domain")
def second_level_has_a_rate(
    topology: str, chips: float, chips_per_node: float, scaleout_bandwidth: float
) -> bool:
    """The rate between domains has no default."""
    is_one_level = (topology != "two-level") & (chips <= chips_per_node)
    return is_one_level | (scaleout_bandwidth < inf)


@rule(
    "--chips {chips} is not a multiple of --chips-per-node {chips_per_node}; "
    "use {chips:multiple of chips_per_node}"
)
def nodes_are_full(chips: float, chips_per_node: float) -> bool:
    """Beyond one domain, every domain takes part with all its chips."""
    return (chips <= chips_per_node) | (chips % chips_per_node == 0)


@rule("--reduction switch is for an all-reduce in a switch; use --op all-reduce --topology switch")
def switches_add_all_reduces(op: str, topology: str, reduction: str) -> bool:
    """Only a switch has an adder, and only an all-reduce is priced with it here."""
    has_switch = (topology == "switch") | (topology == "two-level")
    return (reduction == "chips") | ((op == "all-reduce") & has_switch)


RULES = (
    *SLICE_RULES,
    chips_fill_the_torus,
    one_way_rings_close,
    nodes_have_a_size,
    second_level_has_a_rate,
    nodes_are_full,
    switches_add_all_reduces,
)
