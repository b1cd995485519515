"""How far a batch spreads over chips before traffic of weights and gradients is the limit."""

from typing import Annotated, Any

from flopbook.formulas.declaration import Input, Output, Step, StepWord, formula, part
from flopbook.formulas.network_inputs import Axes, GradBytes, LinksPerAxis, Peak, WeightBytes
from flopbook.formulas.network_omissions import own_share, reduced_in_fp32, sums_in_fp32
from flopbook.formulas.reach import (
    LINKS,
    MIXTURE_RULES,
    NETWORK_RULES,
    REACH_SYMBOLS,
    VERDICTS,
    batch_reach,
    mixture,
)
from flopbook.formulas.rooflines import FLOP_PER_WEIGHT
from flopbook.quantities.ops import maximum

Regather = Annotated[
    str,
    Input(
        "1",
        r"\text{regather}",
        "whether the backward pass gathers weights again",
        choices=("yes", "no"),
    ),
]


def _passes(hidden: str) -> dict[str, Output]:
    """The outputs of both limits; `hidden` is the traffic that the smallest batch hides."""
    return {
        "tokens_per_chip": Output(
            "token",
            r"B_\text{chip}",
            f"smallest batch per chip that hides {hidden}",
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
        "forward_tokens": Output(
            "token", r"B_\text{fwd}", "batch per chip that hides the traffic of the forward pass"
        ),
        "backward_tokens": Output(
            "token", r"B_\text{bwd}", "batch per chip that hides the traffic of the backward pass"
        ),
        "step_tokens": Output(
            "token",
            r"B_\text{step}",
            "batch per chip if all traffic may hide behind the whole step",
        ),
        "pod_tokens": Output(
            "token",
            r"B_\text{pod}",
            "smallest batch per domain that hides what crosses domains",
            needs=("scaleout_bandwidth",),
        ),
        "max_chips": Output(
            "chip",
            r"X_\text{max}",
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
    }


@part
def weight_traffic(
    peak: Peak, network: Step, outward: Step, dilution: Step, bytes_per_param: WeightBytes = 2.0
) -> dict[str, Any]:
    """Tokens whose arithmetic takes as long as moving all weights once, within and beyond."""
    unit = dilution * bytes_per_param * peak / FLOP_PER_WEIGHT
    return {"unit": unit, "once": unit / network, "outside_tokens": unit / outward}


@part
def gradient_traffic(
    peak: Peak, network: Step, outward: Step, dilution: Step, bytes_per_param: GradBytes = 2.0
) -> dict[str, Any]:
    """The same of all gradients, which may be as wide as weights or wider."""
    unit = dilution * bytes_per_param * peak / FLOP_PER_WEIGHT
    return {"unit": unit, "once": unit / network, "outside_tokens": unit / outward}


@part
def summed_once(once: Step) -> dict[str, Any]:
    """An all-reduce moves weights twice, behind a backward pass of twice the arithmetic."""
    return {"domain_tokens": once}


@formula(
    "dp-limit",
    title="Data-parallel limit",
    question=(
        "Over how many chips can plain data parallelism spread before the network is the limit?"
    ),
    outputs=_passes("the sum of gradients"),
    sources=("austin2025training",),
    symbols={**REACH_SYMBOLS, "unit": "U", "once": "B_1", "outside_tokens": r"B_\text{out}"},
    asks=("chip", "dtype", "model", "chips", "batch_tokens"),
    examples=(
        {"chip": "tpu-v5p", "batch-tokens": "16M"},
        {"chip": "tpu-v5p", "axes": "1", "batch-tokens": "16M", "link-bandwidth": "90GB/s"},
        {"chip": "h100-sxm", "batch-tokens": "16M", "chips": "1024"},
    ),
    rules=(*NETWORK_RULES, *MIXTURE_RULES),
    omissions=(own_share, sums_in_fp32),
    parts=(*LINKS, mixture, gradient_traffic, summed_once, batch_reach),
)
def dp_limit(
    unit: Step,
    tokens_per_chip: Step,
    domain_tokens: Step,
    across_tokens: Step,
    max_chips: Step,
    within: StepWord,
    scaleout_bandwidth: Step,
    axes: Axes = 1.0,
    links_per_axis: LinksPerAxis = 2.0,
) -> dict[str, Any]:
    """Smallest batch per chip for plain data parallelism to stay limited by arithmetic, and the
    chips that follow.

    Derivation:
        Every chip holds all weights, so the forward pass needs no network. After the backward pass
        the gradients are added over all chips: an all-reduce of b bytes for each weight, which
        costs as much as a reduce-scatter and an all-gather, 2b/W. The backward pass does 4
        operations for each weight and token. The sum is hidden behind it when B/X is at least
        bC/(2W), C/W at two bytes. If the last sums may also hide behind the next forward pass, the
        6 operations of the whole step count, and two thirds of that suffice.

        Across pods each chip sums the share of the gradients that its pod has left to it, so a pod
        counts as one chip with the links of all: bC/(2w) tokens per pod, however large the pod is.

        In a mixture of experts all E experts have gradients and a token computes on k: E/k times
        the batch.

    Leaves out:
        - The factor (X-1)/X of an exact sum, 12.5 percent on 8 chips. [own_share]
        - The latency of hops, large for small weights on long rings. [no size: the weights are not
          asked; collective counts it]
        - Gradients summed wider than weights are kept: fp32 doubles all of bf16. [sums_in_fp32]
        - Several micro-batches before one sum, which divide the traffic. [no size: their number is
          not asked; the tokens are those of all of them]
        - The end of the scale-up network, in domain_tokens. [no size: across_tokens is the answer
          beyond it]
    """
    return {
        "tokens_per_chip": tokens_per_chip,
        "domain_tokens": domain_tokens,
        "across_tokens": across_tokens,
        "forward_tokens": 0 * domain_tokens,  # no traffic; the factor keeps the unit
        "backward_tokens": domain_tokens,
        "step_tokens": domain_tokens * 2 / 3,  # 4 of the 6 operations are the backward pass's
        "pod_tokens": unit / scaleout_bandwidth,
        "max_chips": max_chips,
        "within": within,
    }


@part
def gathered_weights(once: Step, regather: Regather = "yes") -> dict[str, Any]:
    """Weights are gathered for both passes, and gradients scattered in the backward one."""
    # Gradients are scattered, and the weights gathered again unless they were kept.
    sent = 2 if regather == "yes" else 1
    backward_tokens = once * sent / 2
    return {
        "sent": sent,
        "backward_tokens": backward_tokens,
        "domain_tokens": maximum(once, backward_tokens),
    }


@formula(
    "fsdp-limit",
    title="FSDP limit",
    question="How small a batch per chip, and how many chips, before the network limits FSDP?",
    outputs=_passes("the all-gather of weights"),
    sources=("austin2025scaling", "zhao2023pytorch", "rajbhandari2020zero"),
    symbols={
        **REACH_SYMBOLS,
        "unit": "U",
        "once": "B_1",
        "outside_tokens": r"B_\text{out}",
        "sent": "s",
    },
    asks=("chip", "dtype", "model", "chips", "batch_tokens"),
    examples=(
        {"chip": "tpu-v5p", "batch-tokens": "16M"},
        {"chip": "h100-sxm", "batch-tokens": "16M", "chips": "1024"},
        {"chip": "tpu-v5p", "axes": "3", "batch-tokens": "40M", "link-bandwidth": "90GB/s"},
    ),
    rules=(*NETWORK_RULES, *MIXTURE_RULES),
    omissions=(own_share, reduced_in_fp32),
    parts=(*LINKS, mixture, weight_traffic, gathered_weights, batch_reach),
)
def fsdp_limit(
    unit: Step,
    once: Step,
    sent: Step,
    tokens_per_chip: Step,
    domain_tokens: Step,
    backward_tokens: Step,
    across_tokens: Step,
    max_chips: Step,
    within: StepWord,
    scaleout_bandwidth: Step,
    axes: Axes = 1.0,
    links_per_axis: LinksPerAxis = 2.0,
) -> dict[str, Any]:
    """Smallest batch per chip for FSDP (ZeRO-3) to stay limited by arithmetic, and the chips that
    follow.

    Derivation:
        Each chip gathers every weight once for the forward pass: b bytes for each weight. With its
        share of the batch it then does 2 operations for each weight and token. The gathering is
        hidden when the arithmetic takes at least as long. The weights cancel, whatever the model's
        size. In the backward pass both sides double (the weights are gathered again and their
        gradients scattered; two products instead of one), so the same batch is needed, and for the
        whole step as well. If the gathered weights are kept (`--regather no`), only the gradients
        move in the backward pass, and half the batch hides them.

        On a torus each axis used is a ring with a link to either side, and both links carry data at
        once, so an axis has twice the one-way bandwidth of a link. Every further axis adds as much.
        In a mixture of experts all E experts are gathered but a token computes on only k of them,
        so the batch must be E/k times larger.

        Across pods the gradients are summed, as in plain data parallelism, each chip its own shard:
        2b bytes for each weight against 4 operations, so a pod needs bC/(2w) tokens, w the rate of
        one chip beyond its pod.

    Leaves out:
        - The end of the scale-up network, in domain_tokens. [no size: across_tokens is the answer
          beyond it]
        - The latency of each hop, which matters for small weights on long rings. [no size: the
          weights are not asked; collective counts it]
        - The factor (X-1)/X: of X shards a chip has its own already, so it gathers less by 12.5
          percent on 8 chips and by less than one percent above 100. [own_share]
        - Gradients reduced wider than weights are gathered. [reduced_in_fp32]
        - Tensor or pipeline parallelism beside FSDP, and the memory that the gathered weights take.
          [no size: mixed-limit and memory answer these]
        - Without a model, attention and shared weights, which serve every token: E/k is the factor
          of an expert layer alone. [no size: a model gives all over active parameters]
    """
    return {
        "tokens_per_chip": tokens_per_chip,
        "domain_tokens": domain_tokens,
        "across_tokens": across_tokens,
        "forward_tokens": once,
        "backward_tokens": backward_tokens,
        "step_tokens": once * (1 + sent) / 3,
        "pod_tokens": unit / scaleout_bandwidth,
        "max_chips": max_chips,
        "within": within,
    }
