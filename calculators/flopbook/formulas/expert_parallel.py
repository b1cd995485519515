"""How far experts spread over chips before the all-to-all of tokens is the limit."""

from typing import Annotated, Any

from flopbook.formulas.conditions import rule, visited_experts_exist
from flopbook.formulas.declaration import Input, Output, Step, StepWord, formula, part
from flopbook.formulas.network_inputs import (
    Axes,
    DispatchBytes,
    Experts,
    ExpertsPerToken,
    LinksPerAxis,
    Peak,
)
from flopbook.formulas.network_omissions import (
    fullest_chip,
    narrower_dispatch,
    rest_of_the_layer,
    shared_trips,
)
from flopbook.formulas.reach import (
    LINKS,
    NETWORK_RULES,
    REACH_SYMBOLS,
    VERDICTS,
    count_reach,
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
        model="ffn",
        choices=("gated", "plain"),
    ),
]
ModelWidth = Annotated[
    float, Input("1", "D", "model width", model="d_model", least=1, whole=True, most=1e9)
]
ExpertLayers = Annotated[
    float,
    Input("1", "L", "layers with experts", model="expert_layers", least=1, whole=True, most=1e5),
]
# Without a model there is nothing beside the experts.
BesideShare = Annotated[
    float,
    Input(
        "1",
        r"\rho_b",
        "weights of attention and shared experts over those of the experts of a token",
        model="beside_share",
        most=1e6,
        none=True,
    ),
]


@rule("--axes {axes} is above 3, expected 1 to 3")
def experts_are_exchanged_on_three_axes(axes: float) -> bool:
    """The share of the longest axis is known for one to three of them."""
    return axes <= 3


@part
def exchange(
    peak: Peak,
    network: Step,
    axes: Step,
    links_per_axis: Step,
    topology: StepWord,
    scaleout_bandwidth: Step,
    expert_d_ff: ExpertWidth,
    experts: Experts = 1.0,
    bytes_per_param: DispatchBytes = 2.0,
    ffn_kind: FFNKind = "gated",
) -> dict[str, Any]:
    """Arithmetic of an expert against the exchange of its tokens, in a domain and across."""
    matrices = 3 if ffn_kind == "gated" else 2
    # There and back for each token and expert; tokens, experts and the model width cancel.
    least_bytes = bytes_per_param * peak * 2 / (FLOP_PER_WEIGHT * matrices)
    least_width = least_bytes / network
    slack = expert_d_ff / least_width
    across_slack = minimum(slack, expert_d_ff / least_bytes * scaleout_bandwidth)
    # On a closed ring of X chips a token travels X/4 links on average, which bounds each side.
    side = floor(4 * slack / axes)
    torus = where(axes > 2, side * side * side, where(axes > 1, side * side, side))
    on_rings = where(torus > 1, torus, 1)
    at_switch = where(slack >= 1, experts, 1)
    on_axes = where(links_per_axis > 1, on_rings, at_switch)
    most = {"switch": at_switch, "mesh": at_switch}.get(topology, on_axes)
    return {
        "least_width": least_width,
        "slack": slack,
        "across_slack": across_slack,
        "domain_cap": minimum(most, experts),
        "across_cap": where(across_slack >= 1, experts, 0),
    }


@formula(
    "ep-limit",
    title="Expert-parallel limit",
    question=(
        "Over how many chips can experts be spread before the exchange of tokens is the limit?"
    ),
    outputs={
        "tokens_per_chip": Output(
            "token", r"B_\text{chip}", "batch per chip that keeps every expert compute-bound"
        ),
        "max_chips": Output(
            "chip", r"X_\text{max}", "largest EP degree that stays compute-bound at any batch"
        ),
        "slack": Output(
            "1", "s", "arithmetic over all-to-all between neighbours; below 1 the network limits"
        ),
        "least_width": Output("1", r"F_\text{min}", "expert width that hides the all-to-all there"),
        "bytes_per_token": Output(
            "byte",
            r"Q_\text{token}",
            "bytes sent for a token and step: dispatch and combine in each pass and layer",
            needs=("d_model", "layers"),
        ),
        "across_slack": Output(
            "1",
            r"s_\text{across}",
            "arithmetic over all-to-all across domains, each chip on its own network card",
            needs=("scaleout_bandwidth",),
        ),
        "within": Output(
            "1",
            r"\text{within}",
            "whether an EP degree of --chips stays compute-bound",
            needs=("chips",),
            choices=VERDICTS,
        ),
    },
    sources=("austin2025sharding", "deepseek2026deepep"),
    symbols={
        **REACH_SYMBOLS,
        "matrices": "m",
        "least_bytes": r"\kappa",
        "side": "a",
        "torus": "T",
        "on_rings": r"X_\text{ring}",
        "at_switch": r"X_\text{switch}",
        "on_axes": r"X_\text{axes}",
        "most": r"X_\text{most}",
        "busy": r"B_\text{expert}",
        "spread": "X'",
    },
    asks=("model", "chip", "dtype", "chips"),
    examples=(
        {"chip": "h100-sxm", "model": "deepseek-v3"},
        {"chip": "h100-sxm", "model": "deepseek-v3", "chips": "64"},
        {"chip": "tpu-v5p", "axes": "1", "model": "mixtral-8x7b", "expert-d-ff": "14336"},
    ),
    rules=(*NETWORK_RULES, visited_experts_exist, experts_are_exchanged_on_three_axes),
    omissions=(shared_trips, narrower_dispatch, fullest_chip, rest_of_the_layer),
    parts=(*LINKS, exchange, count_reach),
)
def ep_limit(
    peak: Step,
    chips: Step,
    experts: Step,
    bytes_per_param: Step,
    least_width: Step,
    slack: Step,
    across_slack: Step,
    reach: Step,
    within: StepWord,
    memory_bandwidth: MemoryBandwidth,
    experts_per_token: ExpertsPerToken = 1.0,
    axes: Axes = 1.0,
    links_per_axis: LinksPerAxis = 2.0,
    d_model: ModelWidth = inf,
    layers: ExpertLayers = inf,
    beside_share: BesideShare = 0.0,
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

        Across scale-up domains nearly all copies of a token leave the domain, each over the network
        card of the chip that has it: the same with its rate in place of W.

    Leaves out:
        - Uneven loads, which make every chip wait for the fullest one. [fullest_chip]
        - Tokens whose experts share a chip, which travel once. [shared_trips]
        - Dispatch in a narrower format than combine. [narrower_dispatch]
        - Latency, which dominates in decoding. [no size: the batch of a step is not asked]
        - Shared experts and attention, which hide part of the exchange. [rest_of_the_layer]
    """
    # The minimum batch of an expert: with fewer tokens, reading its weights takes longer.
    busy = bytes_per_param * peak / (FLOP_PER_WEIGHT * memory_bandwidth)
    spread = minimum(chips, reach)
    return {
        "tokens_per_chip": busy * experts / (experts_per_token * spread),
        "max_chips": reach,
        "slack": slack,
        "least_width": least_width,
        "bytes_per_token": 4 * bytes_per_param * experts_per_token * d_model * layers,
        "across_slack": across_slack,
        "within": within,
    }
