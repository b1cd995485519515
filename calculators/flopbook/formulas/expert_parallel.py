"""How far experts spread over chips before the all-to-all of tokens is the limit."""

from typing import Annotated, Any

from flopbook.formulas.conditions import rule, visited_experts_exist
from flopbook.formulas.declaration import Input, Output, formula
from flopbook.formulas.network_inputs import (
    Axes,
    DispatchBytes,
    Experts,
    ExpertsPerToken,
    LinkBandwidth,
    LinksPerAxis,
    Peak,
)
from flopbook.formulas.rooflines import FLOP_PER_WEIGHT
from flopbook.quantities.ops import floor, inf, minimum, where

MemoryBandwidth = Annotated[
    float, Input("byte/s", r"\beta", "memory bandwidth", chip="memory_bandwidth", most=1e18)
]
ExpertWidth = Annotated[
    float,
    Input(
        "1",
        "F",
        "feed-forward width of one expert",
        model="expert_d_ff",
        least=1,
        whole=True,
        most=1e9,
    ),
]
FFNKind = Annotated[
    str,
    Input(
        "1",
        r"\text{ffn}",
        "an expert: two matrices, or three with a gate",
        choices=("gated", "plain"),
    ),
]
ModelWidth = Annotated[
    float, Input("1", "D", "model width", model="d_model", least=1, whole=True, most=1e9)
]
ExpertLayers = Annotated[
    float, Input("1", "L", "layers with experts", least=1, whole=True, most=1e5)
]
Chips = Annotated[
    float, Input("chip", "X", "chips that share the experts", least=1, whole=True, most=1e6)
]


@rule("--axes {axes} is above 3, expected 1 to 3")
def experts_are_exchanged_on_three_axes(axes: float) -> bool:
    """The share of the longest axis is known for one to three of them."""
    return axes <= 3


@formula(
    "ep-limit",
    title="Expert-parallel limit",
    question=(
        "Over how many chips can experts be spread before the exchange of tokens is the limit?"
    ),
    outputs={
        "tokens_per_chip": Output(
            "token", r"B_\text{chip}", "batch per chip that keeps every expert busy"
        ),
        "max_chips": Output(
            "chip", r"X_\text{max}", "largest number of chips that stay busy, whatever the batch"
        ),
        "slack": Output(
            "1", "s", "arithmetic over exchange if all are neighbours; below 1 the network limits"
        ),
        "least_width": Output(
            "1", r"F_\text{min}", "width of an expert that hides the exchange there"
        ),
        "bytes_per_token": Output(
            "byte",
            r"Q_\text{token}",
            "bytes sent for a token and step, there and back in each pass and layer",
            needs=("d_model", "layers"),
        ),
    },
    sources=("austin2025sharding", "deepseek2026deepep"),
    symbols={
        "network": "W",
        "matrices": "m",
        "side": "a",
        "torus": "T",
        "on_rings": r"X_\text{ring}",
        "at_switch": r"X_\text{switch}",
        "busy": r"B_\text{expert}",
        "spread": "X'",
    },
    examples=(
        {"chip": "h100-sxm", "model": "deepseek-v3", "layers": "58", "chips": "8"},
        {"chip": "tpu-v5p", "axes": "1", "model": "mixtral-8x7b", "expert-d-ff": "14336"},
    ),
    rules=(visited_experts_exist, experts_are_exchanged_on_three_axes),
)
def ep_limit(
    peak: Peak,
    link_bandwidth: LinkBandwidth,
    memory_bandwidth: MemoryBandwidth,
    expert_d_ff: ExpertWidth,
    experts: Experts = 1.0,
    experts_per_token: ExpertsPerToken = 1.0,
    axes: Axes = 1.0,
    links_per_axis: LinksPerAxis = 2.0,
    bytes_per_param: DispatchBytes = 2.0,
    ffn_kind: FFNKind = "gated",
    chips: Chips = inf,
    d_model: ModelWidth = inf,
    layers: ExpertLayers = inf,
) -> dict[str, Any]:
    """Chips over which experts can be spread while the all-to-all of tokens hides behind their
    arithmetic.

    Derivation:
        A token goes to its k experts and back: 2bkD bytes, and they compute k experts of m matrices
        on it: 2mkDF operations. Tokens, k and D cancel. At a switch the exchange is hidden when F
        is at least bC/(mW), for any number of chips up to one expert on each; below, no number
        helps. On a closed ring of X chips a token travels X/4 links, so the ring may have 4mFW/(bC)
        chips; on a torus that bounds each side. The backward pass exchanges as much and computes
        twice as much, so the forward pass sets the limit.

        An expert sees k/E of the tokens of all X chips. To be busy although it reads its weights
        from memory it needs bC/(2 beta) of them (the minimum batch), so a chip must bring E/(kX)
        times as many. In every layer of a step the exchange happens four times.

    Leaves out:
        Uneven loads, which make everybody wait for the fullest expert; tokens whose experts share a
        chip, which travel once; narrower numbers on the way there than on the way back; latency,
        which rules in decoding. A second level: between nodes give the rate of a chip there as link
        bandwidth. Shared experts and attention, which hide part of the exchange.
    """
    network = axes * links_per_axis * link_bandwidth
    matrices = 3 if ffn_kind == "gated" else 2
    # There and back for each token and expert; tokens, experts and the model width cancel.
    least_width = bytes_per_param * peak * 2 / (FLOP_PER_WEIGHT * matrices * network)
    slack = expert_d_ff / least_width
    # On a closed ring of X chips a token travels X/4 links on average, which bounds each side.
    side = floor(4 * slack / axes)
    torus = where(axes > 2, side * side * side, where(axes > 1, side * side, side))
    on_rings = where(torus > 1, torus, 1)
    at_switch = where(slack >= 1, experts, 1)
    max_chips = minimum(where(links_per_axis > 1, on_rings, at_switch), experts)
    # The minimum batch of an expert: with fewer tokens, reading its weights takes longer.
    busy = bytes_per_param * peak / (FLOP_PER_WEIGHT * memory_bandwidth)
    spread = minimum(chips, max_chips)
    return {
        "tokens_per_chip": busy * experts / (experts_per_token * spread),
        "max_chips": max_chips,
        "slack": slack,
        "least_width": least_width,
        "bytes_per_token": 4 * bytes_per_param * experts_per_token * d_model * layers,
    }
