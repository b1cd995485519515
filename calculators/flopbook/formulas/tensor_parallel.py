"""How far a layer is split over chips, alone or with FSDP, before activation traffic limits it."""

from typing import Annotated, Any

from flopbook.formulas.conditions import rule
from flopbook.formulas.declaration import Input, Output, Step, StepWord, formula, part
from flopbook.formulas.network_inputs import Axes, LinksPerAxis, Peak, ValueBytes
from flopbook.formulas.network_omissions import (
    attention_of_a_layer,
    fsdp_alone,
    overlap_of_axes,
    own_columns,
    own_shares,
    summed_in_fp32,
)
from flopbook.formulas.reach import (
    LINKS,
    MIXTURE_RULES,
    NETWORK_RULES,
    REACH_SYMBOLS,
    VERDICTS,
    batch_reach,
    count_reach,
    mixture,
)
from flopbook.formulas.rooflines import FLOP_PER_WEIGHT
from flopbook.quantities.ops import floor, inf, maximum, minimum, sqrt, where

FFNWidth = Annotated[
    float,
    Input(
        "1",
        "F",
        "feed-forward width, which is split",
        model="block_d_ff",
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
        "feed-forward block: two matrices, or three with a gate",
        model="ffn",
        choices=("plain", "gated"),
    ),
]
RegatherInput = Annotated[
    str,
    Input(
        "1",
        r"\text{regather}",
        "whether the backward pass gathers its input again",
        choices=("no", "yes"),
    ),
]
# Four matrices as wide as the model beside a block of four times the width: 4/8.
AttentionShare = Annotated[
    float,
    Input(
        "1",
        r"\rho_a",
        "weights of attention over those of the feed-forward block",
        model="attention_share",
        most=1e6,
        none=True,
    ),
]
TensorAxes = Annotated[
    float, Input("1", r"n_Y", "torus axes for tensor parallelism", least=1, whole=True, most=16)
]


@part
def block_traffic(
    peak: Peak,
    network: Step,
    outward: Step,
    d_ff: FFNWidth,
    bytes_per_param: ValueBytes = 2.0,
    ffn_kind: FFNKind = "plain",
    regather: RegatherInput = "no",
) -> dict[str, Any]:
    """TP degrees at which arithmetic takes as long as traffic, within a domain and across."""
    matrices = 3 if ffn_kind == "gated" else 2
    # Gradients are gathered and scattered; an input that was not kept is gathered once more.
    sent = 3 if regather == "yes" else 2
    per_rate = FLOP_PER_WEIGHT * matrices * d_ff / (2 * bytes_per_param * peak)
    forward_degree = per_rate * network
    backward_degree = forward_degree * 4 / sent
    busy = minimum(forward_degree, backward_degree)
    across_degree = minimum(busy, busy / network * outward)
    return {
        "sent": sent,
        "forward_degree": forward_degree,
        "backward_degree": backward_degree,
        "across_degree": across_degree,
        "domain_cap": floor(busy),
        "across_cap": floor(across_degree),
    }


@formula(
    "tp-limit",
    title="Tensor-parallel limit",
    question="Over how many chips can a layer be split before the network is the limit?",
    outputs={
        "max_tp_degree": Output(
            "chip",
            r"Y_\text{max}",
            "largest TP degree in a scale-up domain that stays compute-bound at any batch",
        ),
        "forward_degree": Output(
            "1", r"Y_\text{fwd}", "TP degree at which the forward pass is just compute-bound"
        ),
        "backward_degree": Output(
            "1", r"Y_\text{bwd}", "TP degree at which the backward pass is just compute-bound"
        ),
        "step_degree": Output(
            "1", r"Y_\text{step}", "TP degree at which the whole step is just compute-bound"
        ),
        "across_degree": Output(
            "1",
            r"Y_\text{across}",
            "TP degree across domains, over all network cards of each",
            needs=("scaleout_bandwidth",),
        ),
        "within": Output(
            "1",
            r"\text{within}",
            "whether a TP degree of --chips stays compute-bound",
            needs=("chips",),
            choices=VERDICTS,
        ),
    },
    sources=("austin2025training", "shoeybi2019megatron"),
    symbols={
        **REACH_SYMBOLS,
        "matrices": "m",
        "sent": "s",
        "per_rate": r"\kappa",
        "busy": "Y_b",
    },
    asks=("model", "chip", "dtype", "chips"),
    examples=(
        {"chip": "tpu-v5p", "model": "llama-3-70b"},
        {"chip": "tpu-v5p", "axes": "1", "d-ff": "28672", "link-bandwidth": "90GB/s"},
        {"chip": "h100-sxm", "model": "llama-3-70b", "chips": "16"},
    ),
    rules=NETWORK_RULES,
    omissions=(own_columns, attention_of_a_layer),
    parts=(*LINKS, block_traffic, count_reach),
)
def tp_limit(
    forward_degree: Step,
    backward_degree: Step,
    across_degree: Step,
    sent: Step,
    at_home: Step,
    within: StepWord,
    axes: Axes = 1.0,
    links_per_axis: LinksPerAxis = 2.0,
    attention_share: AttentionShare = 0.5,
) -> dict[str, Any]:
    """TP degree up to which a feed-forward block, split by its width, stays limited by arithmetic.

    Derivation:
        The activations of B tokens are gathered before the block, b bytes for each of B x D
        entries, and the results scattered after it: 2bBD/W. The two matrices take 4BDF operations,
        divided by Y chips. The batch and the width D cancel, and the block stays compute-bound up
        to Y = 2FW/(bC), that is F W/C at two bytes. A gate is a third matrix on the same
        activations, which allows a TP degree half as large again.

        The backward pass moves as much (gradients are gathered and scattered) and computes twice as
        much, so twice the degree would do; if its input is gathered once more, four thirds. Both
        passes have to stay compute-bound, so the forward pass sets the limit. The number format
        cancels as long as it changes peak and width alike.

        Across scale-up domains chips of equal place share what crosses, so a domain of g chips
        sends it over all of its g network cards: the degree is the same with g w_out in place of W.

    Leaves out:
        - The factor (Y-1)/Y of what a chip has already: at TP 8 a limit 14 percent higher.
          [own_columns]
        - Latency, which is what counts at small batches; this traffic lies on the critical path and
          hides only if a product is cut into pieces. [no size: the batch is not asked]
        - Attention, whose heads are split in the same way with less arithmetic on the same traffic
          when the context is short: a whole layer allows a smaller degree. [attention_of_a_layer]
        - What software reaches of printed rates, about 80 percent of a link and less of a peak. [no
          size: both fall short, so that their ratio changes by less than either]
    """
    return {
        "max_tp_degree": at_home,
        "forward_degree": forward_degree,
        "backward_degree": backward_degree,
        "step_degree": forward_degree * 6 / (2 + sent),
        "across_degree": across_degree,
        "within": within,
    }


@rule(
    "--tensor-axes {tensor_axes} leaves no axis for FSDP; it has to be smaller than --axes {axes}"
)
def axes_are_left_for_fsdp(axes: float, tensor_axes: float) -> bool:
    """Both share the only axis of a switch, but the axes of a torus are divided between them."""
    return (tensor_axes <= axes) & ((axes > tensor_axes) | (axes == 1))


@part
def split_traffic(
    peak: Peak,
    network: Step,
    outward: Step,
    axes: Step,
    dilution: Step,
    d_ff: FFNWidth,
    tensor_axes: TensorAxes = 1.0,
    bytes_per_param: ValueBytes = 2.0,
    ffn_kind: FFNKind = "plain",
) -> dict[str, Any]:
    """Batch per chip at the best split within a domain, and what crosses domains."""
    # At a switch there is one axis, the port: both kinds of traffic take turns at it.
    fsdp_axes = maximum(axes - tensor_axes, 1)
    unit = bytes_per_param * peak / FLOP_PER_WEIGHT
    intensity = unit * axes / network
    # A gate is a third matrix: the block counts as one of two matrices and a width of 3F/2.
    width = d_ff * 3 / 2 if ffn_kind == "gated" else d_ff
    return {
        "fsdp_axes": fsdp_axes,
        "intensity": intensity,
        "width": width,
        "domain_tokens": 4 * dilution * intensity * intensity / (fsdp_axes * tensor_axes * width),
        "outside_tokens": dilution * unit / outward,
    }


@formula(
    "mixed-limit",
    title="Mixed limit: FSDP and tensor parallelism",
    question=(
        "How should chips be split between FSDP and tensor parallelism, and how small may the "
        "batch be?"
    ),
    outputs={
        "tokens_per_chip": Output(
            "token", r"B_\text{chip}", "smallest batch per chip, at the best split"
        ),
        "x_opt": Output(
            "1",
            r"X_\text{opt}",
            "best FSDP degree, not rounded",
            needs=("batch_tokens", "chips"),
        ),
        "y_opt": Output(
            "1",
            r"Y_\text{opt}",
            "best TP degree, not rounded",
            needs=("batch_tokens", "chips"),
        ),
        "slack": Output(
            "1",
            "s",
            "time of arithmetic over time of traffic at that split; below 1 the network limits",
            needs=("batch_tokens", "chips"),
        ),
        "fsdp_tokens": Output(
            "token", r"B_\text{FSDP}", "smallest batch per chip of FSDP alone, on all axes"
        ),
        "domain_tokens": Output(
            "token", r"B_\text{in}", "smallest batch per chip within one scale-up domain"
        ),
        "across_tokens": Output(
            "token",
            r"B_\text{across}",
            "smallest batch per chip across domains, whose chips share what crosses",
            needs=("scaleout_bandwidth",),
        ),
        "max_chips": Output(
            "chip",
            r"N_\text{max}",
            "largest number of chips that stay compute-bound at this batch",
            needs=("batch_tokens",),
        ),
        "within": Output(
            "1",
            r"\text{within}",
            "whether --chips stay compute-bound at this batch",
            needs=("chips", "batch_tokens"),
            choices=VERDICTS,
        ),
    },
    sources=("austin2025training",),
    symbols={
        **REACH_SYMBOLS,
        "fsdp_axes": "n_X",
        "unit": r"\alpha_1",
        "intensity": r"\alpha",
        "width": "F'",
        "outside_tokens": r"B_\text{out}",
        "best": r"X'",
        "fewest": r"X_\text{min}",
        "weights": "V",
        "activations": "A",
        "work": "U",
        "home_slack": r"s_\text{in}",
        "there_slack": r"s_\text{out}",
    },
    asks=("model", "chip", "chips", "batch_tokens"),
    examples=(
        {"chip": "tpu-v5p", "model": "llama-3-70b", "batch-tokens": "48000"},
        {"chip": "tpu-v5p", "model": "llama-3-70b", "chips": "64", "batch-tokens": "48000"},
        {
            "chip": "tpu-v5p",
            "d-ff": "32768",
            "chips": "64",
            "batch-tokens": "48000",
            "link-bandwidth": "90GB/s",
        },
        {
            "chip": "h100-sxm",
            "model": "llama-3-70b",
            "chips": "2048",
            "batch-tokens": "16M",
            "ffn-kind": "gated",
        },
    ),
    rules=(*NETWORK_RULES, *MIXTURE_RULES, axes_are_left_for_fsdp),
    omissions=(own_shares, summed_in_fp32, overlap_of_axes, fsdp_alone),
    parts=(*LINKS, mixture, split_traffic, batch_reach),
)
def mixed_limit(
    asked: Step,
    chips_per_node: Step,
    scaleout_bandwidth: Step,
    batch_tokens: Step,
    dilution: Step,
    fsdp_axes: Step,
    intensity: Step,
    width: Step,
    tokens_per_chip: Step,
    domain_tokens: Step,
    outside_tokens: Step,
    across_tokens: Step,
    max_chips: Step,
    within: StepWord,
    tensor_axes: TensorAxes = 1.0,
    axes: Axes = 1.0,
    links_per_axis: LinksPerAxis = 2.0,
) -> dict[str, Any]:
    """Smallest batch per chip for FSDP and tensor parallelism together, and the best degrees.

    Derivation:
        With FSDP over X chips and a TP degree of Y = N/X, a chip gathers the weights of 1/Y of a
        layer and the activations of 1/X of the batch. Splitting more by FSDP leaves more weights to
        gather, splitting more by tensors more activations: F X/(N n_X) against B/(X n_Y). Their sum
        is least at X = sqrt(B N n_X/(F n_Y)). There it is hidden behind the arithmetic if B/N is at
        least 4 a^2/(n_X n_Y F), with a the arithmetic intensity of one axis, C/W at two bytes. The
        smallest batch falls with the square of the network's rate.

        The axes are shared out: n_Y for tensors, the others for FSDP. At a switch both take turns
        at the one port, which the sum of the two times describes exactly. A third matrix (gate)
        counts as a width of 3F/2. In a mixture of experts weights weigh E/k times as much, and F is
        the width of all experts of a token.

    Leaves out:
        - That traffic on different axes may overlap, which would quarter the batch at best.
          [overlap_of_axes]
        - Whole numbers: X and Y have to divide the chips, and a ring; rounding X by a factor of 1.4
          costs 6 percent. [below 10 %]
        - The factors (X-1)/X and (Y-1)/Y of what a chip has already. [own_shares]
        - Gradients reduced wider than weights are gathered. [summed_in_fp32]
        - Latency and attention. [no size: neither is asked; tp-limit sizes attention]
        - FSDP alone on all axes, which asks for less if F is below 4a(n_X + n_Y)/(n_X n_Y), or 4a
          at a switch. [fsdp_alone]
    """
    best = sqrt(batch_tokens * asked * fsdp_axes / (dilution * width * tensor_axes))
    # The best split may lie outside of what the chips allow: then one kind does everything. Tensor
    # parallelism stays within a domain.
    fewest = maximum(asked / chips_per_node, 1)
    x_opt = minimum(maximum(best, fewest), asked)
    weights = dilution * width * x_opt / (asked * fsdp_axes)
    activations = batch_tokens / (x_opt * tensor_axes)
    work = batch_tokens * width / (asked * intensity)
    home_slack = work / (weights + activations)
    there_slack = batch_tokens / asked / where(scaleout_bandwidth < inf, outside_tokens, 1)
    return {
        "tokens_per_chip": tokens_per_chip,
        "x_opt": x_opt,
        "y_opt": asked / x_opt,
        "slack": where(asked > chips_per_node, minimum(home_slack, there_slack), home_slack),
        "fsdp_tokens": dilution * intensity / axes,
        "domain_tokens": domain_tokens,
        "across_tokens": across_tokens,
        "max_chips": max_chips,
        "within": within,
    }
