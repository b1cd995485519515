"""How far a model's weights can be spread before the network is the limit."""

from typing import Annotated, Any

from flopbook.formula import Input, Output, formula
from flopbook.formulas.roofline import FLOP_PER_WEIGHT
from flopbook.ops import floor, inf


@formula(
    "fsdp-limit",
    title="FSDP limit",
    question="How many chips can fully sharded training use before the network is the limit?",
    outputs={
        "tokens_per_chip": Output(
            "token", r"B_\text{chip}", "smallest batch per chip that hides the gathering of weights",
        ),
        "max_chips": Output(
            "chip", r"X_\text{max}", "largest number of chips that stay busy at this batch", needs=("batch_tokens",),
        ),
    },
    sources=("austin2025scaling", "zhao2023pytorch", "rajbhandari2020zero"),
    symbols={"network": "W", "dilution": r"\rho"},
    examples=(
        {"chip": "tpu-v5p", "axes": "3", "batch-tokens": "16M"},
        {"chip": "tpu-v5p", "axes": "3", "batch-tokens": "40M", "link-bandwidth": "90GB/s"},
    ),
    rules=(
        (lambda experts, experts_per_token, **_: bool(_all(experts >= experts_per_token)),
         "experts-per-token is larger than experts: a token cannot visit more experts than there are"),
    ),
)  # fmt: skip
def fsdp_limit(
    peak: Annotated[float, Input("FLOP/s", "C", "peak rate of the number format", chip="peak", most=1e24)],
    link_bandwidth: Annotated[
        float, Input("byte/s", r"w", "one-way bandwidth of one link", chip="link_bandwidth", most=1e18)
    ],
    axes: Annotated[
        float, Input("1", "n", "torus axes used; 1 for a switch", chip="axes", least=1, whole=True, most=16)
    ] = 1.0,
    links_per_axis: Annotated[
        float,
        Input(
            "1", r"l", "links of an axis that carry data at once", chip="links_per_axis", least=1, whole=True, most=1e4
        ),
    ] = 2.0,
    batch_tokens: Annotated[float, Input("token", "B", "tokens in the whole batch", least=1, most=1e15)] = inf,
    bytes_per_param: Annotated[
        float, Input("byte/param", "b", "width of a weight on the network", dtype="bytes", least=0.01, most=64)
    ] = 2.0,
    experts: Annotated[
        float, Input("1", "E", "experts in a layer; 1 when dense", model="experts", least=1, whole=True, most=1e6)
    ] = 1.0,
    experts_per_token: Annotated[
        float, Input("1", "k", "experts that a token visits", model="experts_per_token", least=1, whole=True, most=1e6)
    ] = 1.0,
) -> dict[str, Any]:
    """Smallest batch per chip for FSDP (ZeRO-3) to stay limited by arithmetic, and the chips that follow.

    Derivation:
        Each chip gathers every weight once for the forward pass: b bytes for each weight. With its share of the
        batch it then does 2 operations for each weight and token. The gathering is hidden when the arithmetic
        takes at least as long. The weights cancel, whatever the model's size. In the backward pass both sides
        double (the weights are gathered again and their gradients scattered; two products instead of one), so
        the same batch is needed.

        On a torus each axis used is a ring with a link to either side, and both links carry data at once, so an
        axis has twice the one-way bandwidth of a link. Every further axis adds as much. In a mixture of experts
        all E experts are gathered but a token computes on only k of them, so the batch must be E/k times
        larger.

    Leaves out:
        The end of the network: the links are those of one scale-up domain (a node, or a pod), and beyond it the
        slower scale-out network counts. The latency of each hop, which matters for small weights on long rings.
        The factor (X-1)/X: of X shards a chip has its own already, so it gathers less by 12.5 percent on 8
        chips and by less than one percent above 100. Tensor or pipeline parallelism beside FSDP, and the memory
        that the gathered weights take. E/k is the factor of an expert layer. Attention and shared weights serve
        every token, so over a whole model the factor is all parameters over active ones, which is smaller.
    """
    network = axes * links_per_axis * link_bandwidth
    dilution = experts / experts_per_token
    tokens_per_chip = dilution * bytes_per_param * peak / (FLOP_PER_WEIGHT * network)
    return {"tokens_per_chip": tokens_per_chip, "max_chips": floor(batch_tokens / tokens_per_chip)}


def _all(condition: Any) -> Any:
    return condition.all() if hasattr(condition, "all") else condition
