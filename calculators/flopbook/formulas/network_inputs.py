"""Inputs that collectives and all limits of parallelism share: a chip, its links, the network."""

from typing import Annotated

from flopbook.formulas.declaration import Group, Input

TOPOLOGIES = ("ring", "torus", "switch", "mesh", "two-level")
NETWORK = Group("Network")

# Upper bounds are far beyond any machine: what exceeds them is a slip of the keyboard.
Peak = Annotated[
    float,
    Input(
        "FLOP/s", "C", "peak rate of the compute format", chip="peak", dtype="compute", most=1e24
    ),
]
LinkBandwidth = Annotated[
    float,
    Input(
        "byte/s",
        r"w",
        "one-way bandwidth of a link, or of the port to a switch",
        chip="link_bandwidth",
        most=1e18,
    ),
]
Axes = Annotated[
    float,
    Input("1", "n", "torus axes used; 1 for a switch", chip="axes", least=1, whole=True, most=16),
]
LinksPerAxis = Annotated[
    float,
    Input(
        "1",
        r"l",
        "links of an axis that carry data at once",
        chip="links_per_axis",
        least=1,
        whole=True,
        most=1e4,
    ),
]
Topology = Annotated[
    str,
    Input(
        "1",
        r"\text{topology}",
        "topology of the scale-up domain; mesh: a link for each pair of chips",
        chip="topology",
        choices=TOPOLOGIES,
    ),
]
# The limits have the levels as outputs of their own.
LimitTopology = Annotated[
    str,
    Input(
        "1",
        r"\text{topology}",
        "topology of the scale-up domain; mesh: a link for each pair of chips",
        chip="topology",
        choices=("torus", "ring", "switch", "mesh"),
    ),
    NETWORK,
]
Wrap = Annotated[
    str,
    Input(
        "1",
        r"\text{wrap}",
        "torus axes that close into rings: all, none, each multiple of --ring-side, "
        "or all at once in slices of whole cubes",
        chip="wrap",
        choices=("yes", "no", "axis", "cube"),
    ),
    NETWORK,
]
RingSide = Annotated[
    float,
    Input(
        "chip",
        r"s_\text{ring}",
        "chips along an axis from which it closes into a ring",
        chip="ring_side",
        least=1,
        whole=True,
        most=1e7,
    ),
    NETWORK,
]
SideX = Annotated[
    float,
    Input(
        "1",
        "X",
        "chips along the first axis of the slice",
        chip="side_x",
        least=1,
        whole=True,
        most=1e7,
    ),
    NETWORK,
]
SideY = Annotated[
    float,
    Input(
        "1",
        "Y",
        "chips along the second axis of the slice",
        chip="side_y",
        least=1,
        whole=True,
        most=1e7,
    ),
    NETWORK,
]
ChipsPerNode = Annotated[
    float,
    Input(
        "chip",
        "g",
        "chips in one scale-up domain",
        chip="chips_per_node",
        least=1,
        whole=True,
        most=1e7,
    ),
]
ScaleOutBandwidth = Annotated[
    float,
    Input(
        "byte/s",
        r"w_\text{out}",
        "one-way bandwidth of a chip beyond its scale-up domain",
        chip="scaleout_bandwidth",
        most=1e18,
    ),
]
ChipsAsked = Annotated[
    float,
    Input("chip", "N", "number of chips to check against the limit", least=1, whole=True, most=1e9),
]
BatchTokens = Annotated[float, Input("token", "B", "global batch size", least=1, most=1e15)]
# Gathered as training stores them, whatever format the products read.
WeightBytes = Annotated[
    float,
    Input(
        "byte/param", "b", "width of a weight on the network", dtype="trained", least=0.01, most=64
    ),
]
GradBytes = Annotated[
    float,
    Input(
        "byte/param", "b", "width of a gradient on the network", dtype="grad", least=0.01, most=64
    ),
]
ValueBytes = Annotated[
    float,
    Input(
        "byte/param",
        "b",
        "width of a weight or activation on a link",
        dtype="activation",
        least=0.01,
        most=64,
    ),
]
DispatchBytes = Annotated[
    float,
    Input(
        "byte/param",
        "b",
        "width of a value of a token on its way to an expert",
        dtype="dispatch",
        least=0.01,
        most=64,
    ),
]
Experts = Annotated[
    float,
    Input(
        "1", "E", "experts in a layer; 1 when dense", model="experts", least=1, whole=True, most=1e6
    ),
]
ExpertsPerToken = Annotated[
    float,
    Input(
        "1",
        "k",
        "active experts per token (top-k)",
        model="experts_per_token",
        least=1,
        whole=True,
        most=1e6,
    ),
]
MixtureParams = Annotated[
    float,
    Input(
        "param",
        r"N_\text{param}",
        "parameters of the whole mixture of experts",
        model="mixture_params",
        least=1,
        most=1e18,
    ),
]
ActiveParams = Annotated[
    float,
    Input(
        "param",
        r"P_\text{act}",
        "parameters that are active for a token",
        model="mixture_active_params",
        least=1,
        most=1e18,
    ),
]
