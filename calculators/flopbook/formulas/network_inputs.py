"""Inputs that all limits of parallelism share: what a chip computes and what its links carry."""

from typing import Annotated

from flopbook.formulas.declaration import Input

# Upper bounds are far beyond any machine: what exceeds them is a slip of the keyboard.
Peak = Annotated[
    float,
    Input(
        "FLOP/s", "C", "peak rate of the compute format", chip="peak", dtype="compute", most=1e24
    ),
]
LinkBandwidth = Annotated[
    float, Input("byte/s", r"w", "one-way bandwidth of one link", chip="link_bandwidth", most=1e18)
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
ScaleOutBandwidth = Annotated[
    float,
    Input(
        "byte/s",
        r"w_\text{out}",
        "one-way bandwidth of a chip beyond its pod",
        chip="scaleout_bandwidth",
        most=1e18,
    ),
]
BatchTokens = Annotated[float, Input("token", "B", "tokens in the whole batch", least=1, most=1e15)]
WeightBytes = Annotated[
    float,
    Input(
        "byte/param", "b", "width of a weight on the network", dtype="weight", least=0.01, most=64
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
        "experts that a token visits",
        model="experts_per_token",
        least=1,
        whole=True,
        most=1e6,
    ),
]
