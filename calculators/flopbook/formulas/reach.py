"""How far a limit of parallelism reaches: within one scale-up domain, and across several."""

from typing import Any

from flopbook.formulas.conditions import rule, visited_experts_exist
from flopbook.formulas.declaration import Step, part
from flopbook.formulas.network_inputs import (
    ActiveParams,
    BatchTokens,
    ChipsAsked,
    ChipsPerNode,
    Experts,
    ExpertsPerToken,
    LimitTopology,
    LinkBandwidth,
    MixtureParams,
    ScaleOutBandwidth,
)
from flopbook.formulas.slices import (
    SLICE_RULES,
    SLICE_SYMBOLS,
    chips_fill_a_slice,
    meshes_have_a_size,
    slice_links,
    slice_sides,
)
from flopbook.quantities.ops import floor, inf, maximum, minimum, where

VERDICTS = ("yes", "no")


@rule("--params is below --active-params: active parameters are some of all parameters")
def active_params_are_some(params: float, active_params: float) -> bool:
    """Only a mixture of experts has fewer active parameters than parameters."""
    return (params >= active_params) | (active_params == inf)


@rule("--params and --active-params of a mixture of experts belong together; give both")
def mixtures_are_whole(params: float, active_params: float) -> bool:
    """Their ratio is what counts."""
    return ((params < inf) & (active_params < inf)) | ((params == inf) & (active_params == inf))


@rule(
    "{chips} chips reach beyond a scale-up domain of {chips_per_node}; "
    "give --scaleout-bandwidth, one way of one chip"
)
def beyond_has_a_rate(chips: float, chips_per_node: float, scaleout_bandwidth: float) -> bool:
    """Without a number of chips, an unknown rate only ends the answer at the domain."""
    return (chips == inf) | (chips <= chips_per_node) | (scaleout_bandwidth < inf)


NETWORK_RULES = (*SLICE_RULES, chips_fill_a_slice, meshes_have_a_size, beyond_has_a_rate)
MIXTURE_RULES = (visited_experts_exist, active_params_are_some, mixtures_are_whole)


@part
def network_rate(
    lanes: Step,
    link_bandwidth: LinkBandwidth,
    topology: LimitTopology = "torus",
    chips: ChipsAsked = inf,
    chips_per_node: ChipsPerNode = inf,
    scaleout_bandwidth: ScaleOutBandwidth = inf,
) -> dict[str, Any]:
    """What a chip sends within its domain over all links at work, and what a domain sends out."""
    return {
        "network": lanes * link_bandwidth,
        "outward": where(chips_per_node < inf, chips_per_node, 1) * scaleout_bandwidth,
    }


# In every limit: the slice, its links, their rate.
LINKS = (slice_sides, slice_links, network_rate)


@part
def mixture(
    experts: Experts = 1.0,
    experts_per_token: ExpertsPerToken = 1.0,
    params: MixtureParams = inf,
    active_params: ActiveParams = inf,
) -> dict[str, Any]:
    """Weights that move for each weight that a token computes with.

    Of a whole model all parameters over the active ones; of a layer of experts alone E/k.
    """
    of_layer = experts / experts_per_token
    of_model = where(params < inf, params, 1) / where(active_params < inf, active_params, 1)
    return {"dilution": where(params < inf, of_model, of_layer)}


@part
def batch_reach(
    domain_tokens: Step,
    outside_tokens: Step,
    chips: Step,
    chips_per_node: Step,
    scaleout_bandwidth: Step,
    batch_tokens: BatchTokens = inf,
) -> dict[str, Any]:
    """Smallest batch per chip within and across domains, and the chips that a batch keeps busy.

    Both levels have to keep up. Where nothing is known of the rate beyond, the domain is the end.
    The tokens per chip are those of the chips that were asked about, or that the batch reaches.
    """
    across_tokens = maximum(domain_tokens, outside_tokens)
    at_home = minimum(floor(batch_tokens / domain_tokens), chips_per_node)
    abroad = where(scaleout_bandwidth < inf, floor(batch_tokens / across_tokens), 0)
    max_chips = maximum(at_home, abroad)
    asked = where(chips < inf, chips, 1)
    needed = where(asked > chips_per_node, across_tokens, domain_tokens)
    reached = where(batch_tokens < inf, max_chips, 1)
    needed_there = where(reached > chips_per_node, across_tokens, domain_tokens)
    return {
        "asked": asked,
        "tokens_per_chip": where(chips < inf, needed, needed_there),
        "across_tokens": across_tokens,
        "max_chips": max_chips,
        "within": where(batch_tokens / asked >= needed, "yes", "no"),
    }


@part
def count_reach(
    domain_cap: Step,
    across_cap: Step,
    chips: Step,
    chips_per_node: Step,
    scaleout_bandwidth: Step,
) -> dict[str, Any]:
    """The larger of what a domain and what several domains allow, and whether --chips are less."""
    at_home = minimum(domain_cap, chips_per_node)
    abroad = where(scaleout_bandwidth < inf, across_cap, 0)
    asked = where(chips < inf, chips, 1)
    cap = where(asked > chips_per_node, abroad, at_home)
    return {
        "at_home": at_home,
        "reach": maximum(at_home, abroad),
        "within": where(asked <= cap, "yes", "no"),
    }


REACH_SYMBOLS = {
    **SLICE_SYMBOLS,
    "network": "W",
    "outward": r"W_\text{out}",
    "of_layer": r"\rho_\text{layer}",
    "of_model": r"\rho_\text{model}",
    "dilution": r"\rho",
    "at_home": r"X_\text{in}",
    "abroad": r"X_\text{out}",
    "asked": "N'",
    "needed": r"B_\text{asked}",
    "reached": r"N_\text{reached}",
    "needed_there": r"B_\text{reached}",
    "domain_cap": r"Y_\text{in}",
    "across_cap": r"Y_\text{out}",
    "cap": r"Y_\text{asked}",
    "reach": "Y'",
}
