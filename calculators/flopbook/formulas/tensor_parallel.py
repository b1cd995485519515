"""How far a layer is split over chips, alone or with FSDP, before activation traffic limits it."""

from typing import Annotated, Any

from flopbook.formulas.conditions import rule, visited_experts_exist
from flopbook.formulas.declaration import Input, Output, formula
from flopbook.formulas.network_inputs import (
    Axes,
    BatchTokens,
    Experts,
    ExpertsPerToken,
    LinkBandwidth,
    LinksPerAxis,
    Peak,
    ValueBytes,
)
from flopbook.formulas.rooflines import FLOP_PER_WEIGHT
from flopbook.quantities.ops import floor, inf, maximum, minimum, sqrt

FFNWidth = Annotated[
    float,
    Input(
        "1", "F", "feed-forward width, which is split", model="d_ff", least=1, whole=True, most=1e9
    ),
]
FFNKind = Annotated[
    str,
    Input(
        "1",
        r"\text{ffn}",
        "feed-forward block: two matrices, or three with a gate",
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
TensorAxes = Annotated[
    float, Input("1", r"n_Y", "torus axes for tensor parallelism", least=1, whole=True, most=16)
]
Chips = Annotated[float, Input("chip", "N", "chips in all", least=1, whole=True, most=1e9)]


@formula(
    "tp-limit",
    title="Tensor-parallel limit",
    question="Over how many chips can a layer be split before the network is the limit?",
    outputs={
        "max_ways": Output(
            "chip", r"Y_\text{max}", "largest number of chips that stay busy, whatever the batch"
        ),
        "forward_ways": Output("1", r"Y_\text{fwd}", "ways at which the forward pass is just busy"),
        "backward_ways": Output(
            "1", r"Y_\text{bwd}", "ways at which the backward pass is just busy"
        ),
        "step_ways": Output("1", r"Y_\text{step}", "ways at which the whole step is just busy"),
    },
    sources=("austin2025training", "shoeybi2019megatron"),
    symbols={"network": "W", "matrices": "m", "sent": "s"},
    examples=(
        {"chip": "tpu-v5p", "model": "llama-3-70b"},
        {"chip": "tpu-v5p", "axes": "1", "d-ff": "28672", "link-bandwidth": "90GB/s"},
        {"chip": "h100-sxm", "model": "llama-3-70b", "ffn-kind": "gated"},
    ),
)
def tp_limit(
    peak: Peak,
    link_bandwidth: LinkBandwidth,
    d_ff: FFNWidth,
    axes: Axes = 1.0,
    links_per_axis: LinksPerAxis = 2.0,
    bytes_per_param: ValueBytes = 2.0,
    ffn_kind: FFNKind = "plain",
    regather: RegatherInput = "no",
) -> dict[str, Any]:
    """Chips over which a feed-forward block can be split by its width and stay limited by
    arithmetic.

    Derivation:
        The activations of B tokens are gathered before the block, b bytes for each of B x D
        entries, and the results scattered after it: 2bBD/W. The two matrices take 4BDF operations,
        divided by Y chips. The batch and the width D cancel, and the block stays busy up to Y =
        2FW/(bC), that is F W/C at two bytes. A gate is a third matrix on the same activations, so
        half as many ways again fit.

        The backward pass moves as much (gradients are gathered and scattered) and computes twice as
        much, so twice as many ways would do; if its input is gathered once more, four thirds. Both
        passes have to be busy, so the forward pass sets the limit. The number format cancels as
        long as it changes peak and width alike.

    Leaves out:
        The factor (Y-1)/Y of what a chip has already: with 8 ways a limit 14 percent higher.
        Latency, which at small batches is what counts; this traffic lies on the critical path and
        hides only if a product is cut into pieces. Attention, whose heads are split in the same way
        with less arithmetic on the same traffic when the context is short: a whole layer allows
        somewhat fewer ways.
    """
    network = axes * links_per_axis * link_bandwidth
    matrices = 3 if ffn_kind == "gated" else 2
    # Gradients are gathered and scattered; an input that was not kept is gathered once more.
    sent = 3 if regather == "yes" else 2
    forward_ways = FLOP_PER_WEIGHT * matrices * d_ff * network / (2 * bytes_per_param * peak)
    backward_ways = forward_ways * 4 / sent
    return {
        "max_ways": floor(minimum(forward_ways, backward_ways)),
        "forward_ways": forward_ways,
        "backward_ways": backward_ways,
        "step_ways": forward_ways * 6 / (2 + sent),
    }


@rule(
    "--tensor-axes {tensor_axes} leaves no axis for FSDP; it has to be smaller than --axes {axes}"
)
def axes_are_left_for_fsdp(axes: float, tensor_axes: float) -> bool:
    """Both share the only axis of a switch, but the axes of a torus are divided between them."""
    return (tensor_axes <= axes) & ((axes > tensor_axes) | (axes == 1))


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
            "1", r"X_\text{opt}", "best ways of FSDP, not rounded", needs=("batch_tokens", "chips")
        ),
        "y_opt": Output(
            "1",
            r"Y_\text{opt}",
            "best ways of tensor parallelism, not rounded",
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
        "max_chips": Output(
            "chip",
            r"N_\text{max}",
            "largest number of chips that stay busy at this batch",
            needs=("batch_tokens",),
        ),
    },
    sources=("austin2025training",),
    symbols={
        "link": "W",
        "fsdp_axes": "n_X",
        "matrices": "m",
        "dilution": r"\rho",
        "intensity": r"\alpha",
        "width": "F'",
        "best": r"X'",
        "weights": "V",
        "activations": "A",
        "work": "U",
    },
    examples=(
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
    rules=(axes_are_left_for_fsdp, visited_experts_exist),
)
def mixed_limit(
    peak: Peak,
    link_bandwidth: LinkBandwidth,
    d_ff: FFNWidth,
    axes: Axes = 1.0,
    tensor_axes: TensorAxes = 1.0,
    links_per_axis: LinksPerAxis = 2.0,
    batch_tokens: BatchTokens = inf,
    chips: Chips = inf,
    bytes_per_param: ValueBytes = 2.0,
    ffn_kind: FFNKind = "plain",
    experts: Experts = 1.0,
    experts_per_token: ExpertsPerToken = 1.0,
) -> dict[str, Any]:
    """Smallest batch per chip for FSDP and tensor parallelism together, and the best split of the
    chips.

    Derivation:
        With X ways of FSDP and Y = N/X of tensor parallelism, a chip gathers weights of 1/Y of a
        layer and activations of 1/X of the batch. Splitting more by FSDP leaves more weights to
        gather, splitting more by tensors more activations: F X/(N n_X) against B/(X n_Y). Their sum
        is least at X = sqrt(B N n_X/(F n_Y)). There it is hidden behind the arithmetic if B/N is at
        least 4 a^2/(n_X n_Y F), with a the arithmetic intensity of one axis, C/W at two bytes. The
        smallest batch falls with the square of the network's rate.

        The axes are shared out: n_Y for tensors, the others for FSDP. At a switch both take turns
        at the one port, which the sum of the two times describes exactly. A third matrix (gate)
        counts as a width of 3F/2. In a mixture of experts weights weigh E/k times as much, and F is
        the width of all experts of a token.

    Leaves out:
        That traffic on different axes may overlap, which would quarter the batch at best. Whole
        numbers: X and Y have to divide the chips, and a ring; rounding X by a factor of 1.4 costs 6
        percent. Latency, attention and the factor (X-1)/X. If F is below 4a(n_X + n_Y)/(n_X n_Y),
        or 4a at a switch, FSDP alone on all axes asks for less: compare the two.
    """
    link = links_per_axis * link_bandwidth
    # At a switch there is one axis, the port: both kinds of traffic take turns at it.
    fsdp_axes = maximum(axes - tensor_axes, 1)
    dilution = experts / experts_per_token
    intensity = bytes_per_param * peak / (FLOP_PER_WEIGHT * link)
    # A gate is a third matrix: the block counts as one of two matrices and a width of 3F/2.
    width = d_ff * 3 / 2 if ffn_kind == "gated" else d_ff
    tokens_per_chip = 4 * dilution * intensity * intensity / (fsdp_axes * tensor_axes * width)
    best = sqrt(batch_tokens * chips * fsdp_axes / (dilution * width * tensor_axes))
    # The best split may lie outside of what the chips allow: then one kind does everything.
    x_opt = minimum(maximum(best, 1), chips)
    weights = dilution * width * x_opt / (chips * fsdp_axes)
    activations = batch_tokens / (x_opt * tensor_axes)
    work = batch_tokens * width / (chips * intensity)
    return {
        "tokens_per_chip": tokens_per_chip,
        "x_opt": x_opt,
        "y_opt": chips / x_opt,
        "slack": work / (weights + activations),
        "fsdp_tokens": dilution * intensity / axes,
        "max_chips": floor(batch_tokens / tokens_per_chip),
    }
