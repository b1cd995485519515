"""What the calculators of inference take alike: a model in memory, its sequences, its chips."""

from typing import Annotated

from flopbook.formulas.declaration import Group, Input

LAYOUT = Group("Parallelism")


def count(unit: str, symbol: str, meaning: str, most: float) -> Input:
    """A whole number of at least one."""
    return Input(unit, symbol, meaning, least=1, whole=True, most=most)


# Products run at the rate of the format that multiplies, whichever the weights are stored in.
Peak = Annotated[
    float,
    Input(
        "FLOP/s", r"\pi", "peak rate of the compute format", chip="peak", dtype="compute", most=1e24
    ),
]
Width = Annotated[
    float,
    Input(
        "1",
        "D",
        "model width; needed without a head dimension",
        model="d_model",
        least=1,
        whole=True,
        most=1e9,
    ),
]
Seq = Annotated[float, count("token", "T", "tokens in each sequence", 1e12)]
Batch = Annotated[float, count("1", "B", "sequences at once", 1e12)]
KvWidth = Annotated[
    float, Input("byte", "b", "width of a cached value", dtype="kv", least=0.01, most=64)
]
Tp = Annotated[float, count("chip", "t", "TP degree", 1e6)]
Degree = Annotated[
    float,
    count("chip", "t", "TP degree (default: --chips over --dp, or 1)", 1e6),
    LAYOUT,
]
Dp = Annotated[
    float,
    count("1", r"d", "data-parallel attention: replicas (default: as --ep)", 1e6),
    LAYOUT,
]
Ep = Annotated[
    float,
    count("1", "g", "expert-parallel degree, among the replicas of attention", 1e6),
    LAYOUT,
]
Chips = Annotated[float, count("chip", "X", "chips (default: --tp times --dp)", 1e6), LAYOUT]
Memory = Annotated[float, Input("byte", "M", "memory of a chip", chip="memory", most=1e18)]
Share = Annotated[
    float,
    Input("1", "s", "share of the memory for weights and KV cache; the rest is reserve", most=1),
]
Params = Annotated[
    float, Input("param", "N", "parameters in memory", model="params", least=1, most=1e18)
]
ComputeParams = Annotated[
    float,
    Input(
        "param",
        r"N_\text{active}",
        "parameters that a token is multiplied with",
        model="compute_params",
        least=1,
        most=1e18,
    ),
]
Vocab = Annotated[
    float,
    Input(
        "1",
        "V",
        "tokens in the vocabulary",
        model="vocab",
        least=1,
        whole=True,
        most=1e9,
        none=True,
    ),
]
WeightWidth = Annotated[
    float, Input("byte/param", r"b_w", "width of a weight", dtype="weight", least=0.01, most=64)
]
# Without a model all layers are alike.
ExpertLayers = Annotated[
    float,
    Input(
        "1",
        "L_e",
        "layers with experts (default: all)",
        model="expert_layers",
        least=1,
        whole=True,
        most=1e5,
    ),
    LAYOUT,
]
PUBLISHED = Group("Published checkpoint")
Published = Annotated[
    str,
    Input(
        "1",
        r"\text{published}",
        "format of the weights in the published checkpoint",
        model="weight_format",
        choices=("bf16", "fp8", "mxfp4", "int4"),
    ),
    PUBLISHED,
]
PublishedShare = Annotated[
    float,
    Input(
        "1",
        r"\varsigma_p",
        "share of the weights that the checkpoint has in that format",
        model="weight_format_share",
        most=1,
        none=True,
    ),
    PUBLISHED,
]
PublishedBeside = Annotated[
    str,
    Input(
        "1",
        r"\text{beside}",
        "format of its other weights",
        model="weight_format_beside",
        choices=("bf16", "fp8"),
    ),
    PUBLISHED,
]
SOFTWARE = Group("Software and network")
PortBandwidth = Annotated[
    float,
    Input(
        "byte/s",
        r"w_\text{up}",
        "one-way bandwidth of a chip to the others of its domain",
        chip="scaleup_bandwidth",
        most=1e18,
    ),
    SOFTWARE,
]
NearChips = Annotated[
    float,
    Input(
        "chip",
        r"g_\text{up}",
        "chips in one scale-up domain (default: no end)",
        chip="known_domain",
        least=1,
        whole=True,
        most=1e7,
    ),
    SOFTWARE,
]
FarBandwidth = Annotated[
    float,
    Input(
        "byte/s",
        r"w_\text{out}",
        "one-way bandwidth of a chip beyond its domain (default: as within)",
        chip="known_beyond",
        most=1e18,
    ),
    SOFTWARE,
]
Reached = Annotated[
    float,
    Input("1", r"\eta", "share of the peak rates that software reaches", least=0.01, most=1),
    SOFTWARE,
]
PromptReached = Annotated[
    float,
    Input(
        "1",
        r"\eta_p",
        "share of the peak rates that software reaches on prompts",
        least=0.01,
        most=1,
    ),
    SOFTWARE,
]
Overhead = Annotated[
    float,
    Input(
        "s",
        r"\tau",
        "overhead of a layer: kernel launches, latency of messages",
        most=1,
        none=True,
    ),
    SOFTWARE,
]
ActivationWidth = Annotated[
    float,
    Input(
        "byte",
        "b_a",
        "width of an activation in a message",
        dtype="activation",
        least=0.01,
        most=64,
    ),
    SOFTWARE,
]
DispatchWidth = Annotated[
    float,
    Input(
        "byte",
        "b_d",
        "width of an activation on its way to an expert",
        dtype="dispatch",
        least=0.01,
        most=64,
    ),
    SOFTWARE,
]
