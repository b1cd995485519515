"""Parts that decode, prefill and serving share: layout, cache, weights, what fits."""

from typing import Any

from flopbook.formulas.conditions import rule, visited_experts_exist
from flopbook.formulas.declaration import Constant, Step, part
from flopbook.formulas.inference_inputs import (
    ActivationWidth,
    Chips,
    ComputeParams,
    Degree,
    DispatchWidth,
    Dp,
    Ep,
    ExpertLayers,
    FarBandwidth,
    KvWidth,
    Memory,
    NearChips,
    Overhead,
    Params,
    Peak,
    PortBandwidth,
    Published,
    PublishedBeside,
    PublishedShare,
    Reached,
    Share,
    Vocab,
    WeightWidth,
    Width,
)
from flopbook.formulas.layer_inputs import StateBytes
from flopbook.formulas.omissions import omission
from flopbook.formulas.parameters import (
    Context,
    Experts,
    ExpertsPerToken,
    Layers,
    Positions,
    Tied,
)
from flopbook.formulas.rooflines import FLOP_PER_WEIGHT, Bandwidth
from flopbook.quantities.ops import ceil, floor, inf, maximum, minimum, where

# Of 19 published steps of gpt-fast and FasterTransformer on A100 (calculators/runs/gpt-fast.yaml,
# kipply.yaml; sources pytorchlabs2024gptfast, chen2022transformer) these two numbers are the best
# fit: a share of the rate of the bound, and a time for each layer. With that time for a layer, 16
# published prompts of TensorRT-LLM, FasterTransformer and Gaudi (trtllm-0.6.yaml, kipply.yaml,
# gaudi-inf.yaml) give the share of prompts. A test fits all three again.
REACHED = 0.80
PROMPT_REACHED = 0.50
LAYER_OVERHEAD = 76e-6
MESSAGES = Constant(2.0, "1", "all-reduces of a layer: after attention and after the FFN")
# 23.2 ms for a token of one sequence at TP 16, by SGLang; 5.5 ms are expected of it.
TWO_SERVERS = Constant(4.2, "1", "measured over expected, between two servers")
TENTH_MORE = Constant(1.1, "1", "a step that arithmetic makes a tenth longer")
SECOND = Constant(1.0, "s", "any time, where there is none")

LIMITS = ("weights", "KV cache", "arithmetic")


@rule("--chips {chips} is not a multiple of --tp {tp}; use {chips:multiple of tp}")
def tp_divides_chips(chips: float, tp: float) -> bool:
    """The chips are whole groups of tensor parallelism."""
    return where(chips < inf, chips, 0) % where(tp < inf, tp, 1) == 0


@rule("--chips {chips} is not --tp {tp} times --dp {dp}; leave one of the three out")
def chips_are_tp_times_dp(chips: float, tp: float, dp: float) -> bool:
    """Two of the three give the third."""
    return (chips == inf) | (tp == inf) | (dp == inf) | (chips == tp * dp)


@rule(
    "--chips {chips} does not give every replica a TP degree that divides {heads} attention heads; "
    "give --tp and --dp"
)
def chips_fill_the_heads(
    chips: float,
    tp: float,
    dp: float,
    ep: float,
    heads: float,
    kv_heads: float,
    kv_lora_rank: float,
) -> bool:
    """Chips without a TP degree are shared out evenly over the replicas of attention."""
    degree = where(chips < inf, chips, 1) / where(chips < inf, where(dp < inf, dp, ep), 1)
    keys = minimum(kv_heads, heads)
    is_even = (kv_lora_rank > 0) | (keys % degree == 0) | (degree % keys == 0)
    return (tp < inf) | ((degree % 1 == 0) & (degree > 0) & (heads % degree == 0) & is_even)


@rule(
    "--ep {ep} does not divide the replicas of attention (--dp, or --chips over --tp): "
    "experts are spread over chips that otherwise hold the same weights"
)
def ep_divides_the_replicas(chips: float, tp: float, dp: float, ep: float) -> bool:
    """Expert parallelism takes its ranks from data parallelism, as in training."""
    shared = where(chips < inf, chips, 1) / where(tp < inf, tp, 1)
    groups = where(tp < inf, where(chips < inf, shared, ep), ep)
    return where(dp < inf, dp, groups) % ep == 0


@rule("--batch {batch} is smaller than the replicas of attention (--dp): each needs a sequence")
def replicas_have_sequences(batch: float, chips: float, tp: float, dp: float, ep: float) -> bool:
    """Every replica of attention works on sequences of its own."""
    shared = where(chips < inf, chips, 1) / where(tp < inf, tp, 1)
    groups = where(tp < inf, where(chips < inf, shared, ep), ep)
    return batch >= where(dp < inf, dp, groups)


@rule("--expert-layers {expert_layers} is larger than --layers {layers}")
def expert_layers_are_some(layers: float, expert_layers: float) -> bool:
    """Layers with experts are some of all layers; open, they are all of them."""
    return where(expert_layers < inf, expert_layers, 0) <= layers


LAYOUT_RULES = (
    visited_experts_exist,
    expert_layers_are_some,
    tp_divides_chips,
    chips_are_tp_times_dp,
    chips_fill_the_heads,
    ep_divides_the_replicas,
    replicas_have_sequences,
)


@part
def layout(tp: Degree = inf, dp: Dp = inf, ep: Ep = 1.0, chips: Chips = inf) -> dict[str, Any]:
    """TP degree and replicas of attention: what was given, and the rest filled from the chips."""
    shared = where(chips < inf, chips, 1) / where(tp < inf, tp, 1)
    groups = where(tp < inf, where(chips < inf, shared, ep), ep)
    replicas = where(dp < inf, dp, groups)
    filled = where(chips < inf, chips, replicas) / replicas
    degree = where(tp < inf, tp, filled)
    return {"replicas": replicas, "degree": degree}


@part
def cache_of_a_sequence(
    kept: Step,
    kept_on_chip: Step,
    kept_state: Step,
    kept_state_on_chip: Step,
    bytes_per_kv: KvWidth = 2.0,
    bytes_per_state: StateBytes = 4.0,
) -> dict[str, Any]:
    """Bytes that a sequence keeps, keys and values or states, in all and on a chip of TP."""
    return {
        "sequence_bytes": kept * bytes_per_kv + kept_state * bytes_per_state,
        "sequence_states": kept_state * bytes_per_state,
        "sequence_on_chip": kept_on_chip * bytes_per_kv + kept_state_on_chip * bytes_per_state,
    }


@part
def routed_weights(
    params: Params,
    compute_params: ComputeParams,
    d_model: Width = inf,
    vocab: Vocab = 0.0,
    tied_embeddings: Tied = "no",
    positions: Positions = "rotary",
    context: Context = inf,
    experts: Experts = 1.0,
    experts_per_token: ExpertsPerToken = 1.0,
) -> dict[str, Any]:
    """Weights of all routed experts, and those of embeddings that are only looked up."""
    # Of learned positions and of an embedding one row is read; a tied one is read as the head.
    model_width = where(d_model < inf, d_model, 0)
    table = vocab * model_width
    places = where(context < inf, context, 0) if positions == "learned" else 0
    lookup = (table if tied_embeddings == "no" else 0) + places * model_width
    # Weights that a token neither looks up nor is multiplied with are those of experts that it does
    # not visit, which gives all routed weights. The guard keeps a dense model from division by 0.
    unvisited = experts - experts_per_token
    unmet = maximum(params - lookup - compute_params, 0)
    all_routed = unmet * experts / where(unvisited > 0, unvisited, 1)
    # Rounded totals may say that nearly all weights are routed, but not more than there are.
    routed = where(unvisited > 0, minimum(all_routed, params - lookup), 0)
    return {"lookup": lookup, "routed": routed}


@part
def weights_read(
    params: Params,
    bandwidth: Bandwidth,
    step_tokens: Step,
    replicas: Step,
    degree: Step,
    lookup: Step,
    routed: Step,
    experts: Experts = 1.0,
    experts_per_token: ExpertsPerToken = 1.0,
    bytes_per_param: WeightWidth = 2.0,
    ep: Ep = 1.0,
) -> dict[str, Any]:
    """Time for reading the weights that the tokens of a step visit, on each chip."""
    # The experts of an expert-parallel group see the tokens of as many replicas.
    visits = step_tokens * ep / replicas
    # The chance that no token of the group chooses an expert, if each chooses evenly.
    untouched = (1 - experts_per_token / experts) ** visits
    chip_read = (params - routed - lookup) / degree + routed * (1 - untouched) / (degree * ep)
    return {"weight_seconds": chip_read * bytes_per_param / bandwidth}


@part
def decoding_step(
    compute_params: ComputeParams,
    bandwidth: Bandwidth,
    step_tokens: Step,
    replicas: Step,
    degree: Step,
    weight_seconds: Step,
    read_on_chip: Step,
    moved_state_on_chip: Step,
    token_work: Step,
    peak: Peak = inf,
    bytes_per_kv: KvWidth = 2.0,
    bytes_per_state: StateBytes = 4.0,
) -> dict[str, Any]:
    """Time of a step that writes one token of each sequence: products, and then attention."""
    product_work = FLOP_PER_WEIGHT * compute_params * step_tokens / (degree * replicas)
    score_work_of_step = FLOP_PER_WEIGHT * token_work * step_tokens / (degree * replicas)
    compute_seconds = product_work / peak
    moved = read_on_chip * bytes_per_kv + moved_state_on_chip * bytes_per_state
    kv_seconds = step_tokens * moved / (replicas * bandwidth)
    score_seconds = score_work_of_step / peak
    # Attention follows the products of its layer, so both times add; within each, reading and
    # arithmetic overlap.
    longest = TENTH_MORE * (weight_seconds + kv_seconds)
    attention = maximum(kv_seconds, score_seconds)
    products = maximum(weight_seconds, compute_seconds)
    return {
        "compute_seconds": compute_seconds,
        "kv_seconds": kv_seconds,
        "attention": attention,
        "products": products,
        "step": products + attention,
        # Arithmetic may set the pace of products, of attention or of both.
        "enough_peak": maximum(
            (product_work + score_work_of_step) / longest,
            maximum(
                product_work / (longest - kv_seconds),
                score_work_of_step / (longest - weight_seconds),
            ),
        ),
    }


@part
def messages(
    layers: Layers,
    step_tokens: Step,
    replicas: Step,
    degree: Step,
    d_model: Width = inf,
    experts_per_token: ExpertsPerToken = 1.0,
    expert_layers: ExpertLayers = inf,
    ep: Ep = 1.0,
    bytes_per_activation: ActivationWidth = 2.0,
    bytes_per_dispatch: DispatchWidth = 2.0,
    link_bandwidth: PortBandwidth = inf,
    chips_per_node: NearChips = inf,
    scaleout_bandwidth: FarBandwidth = inf,
) -> dict[str, Any]:
    """Time of the messages of a step: all-reduces and all-to-alls, inside a domain and beyond."""
    replica_values = step_tokens / replicas * where(d_model < inf, d_model, 0)
    # A ring moves each byte of an all-reduce twice, but for the part that a chip has already.
    reduced = MESSAGES * 2 * (degree - 1) / degree * replica_values * bytes_per_activation
    # A token leaves for each of its experts that lies on another chip, and its result comes back.
    there_and_back = bytes_per_dispatch + bytes_per_activation
    copies = experts_per_token * replica_values / degree * there_and_back
    # Beyond a domain an all-reduce goes on between the domains, divided over the chips of each;
    # of the copies those go there whose expert is in none of the chips nearby.
    domains = maximum(ceil(degree / chips_per_node), 1)
    in_domain = minimum(degree, chips_per_node)
    between = MESSAGES * 2 * (domains - 1) / domains * replica_values / in_domain
    group = where(ep > 1, degree * ep, 1)
    leaving = where(group > chips_per_node, 1 - chips_per_node / group, 0)
    # Layers with a dense block, as the first three of DeepSeek-V3, send no token to an expert.
    exchanged = minimum(expert_layers, layers) * copies
    near = layers * reduced + ((ep - 1) / ep - leaving) * exchanged
    far = layers * between * bytes_per_activation + leaving * exchanged
    slower = where(scaleout_bandwidth < inf, scaleout_bandwidth, link_bandwidth)
    return {"message_seconds": near / link_bandwidth + far / slower}


@part
def expected_step(
    layers: Layers,
    step: Step,
    message_seconds: Step,
    bandwidth_share: Reached = REACHED,
    layer_overhead: Overhead = LAYER_OVERHEAD,
) -> dict[str, Any]:
    """Time of a decoding step of a tuned engine: below the peak rates, with launches, messages."""
    return {"likely": step / bandwidth_share + layers * layer_overhead + message_seconds}


@omission(
    "seconds is a bound from peak rates; published steps of tuned engines reached 40 to 74 % of it "
    "on one chip and 22 to 64 % on 2 to 8: expect likely_seconds ({size})",
    of="seconds",
)
def software(seconds: float, likely_seconds: float) -> float:
    """What tuned software takes over the bound."""
    # Where nothing fits, both are infinite.
    likely = where(seconds < inf, likely_seconds, SECOND)
    return likely / where(seconds < inf, seconds, SECOND) - 1


@omission(
    "a TP degree beyond a domain of {chips_per_node} chips waits on the network twice a layer, "
    "which no fit has seen: a published step of DeepSeek-R1 on two servers took longer ({size})",
    of="likely_seconds",
)
def waits_between_domains(
    chips: float, tp: float, dp: float, ep: float, chips_per_node: float
) -> float:
    """The one published step of its kind (gtobar2025deepseek), as a warning and no correction."""
    shared = where(chips < inf, chips, 1) / where(dp < inf, dp, ep)
    degree = where(tp < inf, tp, shared)
    return where(degree > chips_per_node, TWO_SERVERS - 1, 0)


# The same of prompts, and of batches of prompts and answers.
software_of_prompts = software.worded(
    "seconds is a bound from peak rates; published prompts reached 28 to 65 % of it on one chip "
    "and 20 to 58 % on 2 to 8: expect likely_seconds ({size})"
)
software_of_batches = software.worded(
    "times and prices at the peak rates are a bound; published batches reached 40 to 79 % of it "
    "on one chip and 14 to 53 % on 2 to 8: expect those of a tuned engine ({size})"
)


@part
def memory_room(memory: Memory = inf, memory_share: Share = 1.0) -> dict[str, Any]:
    """Memory of a chip for weights and cache; without limit where it is not known."""
    return {"room": memory * memory_share}


@part
def fit(
    params: Params,
    routed: Step,
    replicas: Step,
    degree: Step,
    cut_heads: Step,
    sequences: Step,
    sequence_bytes: Step,
    sequence_states: Step,
    sequence_on_chip: Step,
    room: Step,
    ep: Ep = 1.0,
    bytes_per_param: WeightWidth = 2.0,
    published: Published = "bf16",
    published_share: PublishedShare = 0.0,
    published_beside: PublishedBeside = "bf16",
) -> dict[str, Any]:
    """Weights and cache on each chip, and the smallest number of chips that hold them."""
    dense_bytes = (params - routed) * bytes_per_param
    routed_bytes = routed * bytes_per_param
    # Keys and values are cut as far as there are KV heads; states over all chips, as experts are.
    cache = sequences * (sequence_bytes - sequence_states)
    evenly = routed_bytes + sequences * sequence_states
    weight_bytes = dense_bytes / degree + routed_bytes / (degree * ep)
    chip_bytes = weight_bytes + sequences * sequence_on_chip / replicas
    stored = dense_bytes + evenly
    # One replica: up to as many chips as divide the cache, both parts shrink; beyond, the rest.
    narrow = ceil((stored + cache) / room)
    left = room - cache / cut_heads
    wide = where(left > 0, ceil(stored / where(left > 0, left, room)), inf)
    one_replica = where(narrow > cut_heads, wide, narrow)
    # Several replicas divide the cache further, and the experts: of the least TP degree that holds
    # all other weights, or of the one that takes fewest chips if the cache is cut no further.
    least = floor(dense_bytes / room) + 1
    spare = least * room - dense_bytes
    few = ceil((evenly + cache) / where(spare > 0, spare, room))
    width = maximum(cut_heads, ceil(2 * dense_bytes / room))
    many = ceil((evenly + cache * width / cut_heads) / (width * room - dense_bytes))
    # Each replica needs a sequence, and no more chips than heads divide the cache.
    on_few = where(least > cut_heads, inf, where(few > sequences, inf, least * few))
    on_many = where(many > sequences, inf, width * many)
    # One sequence on each replica, its cache cut as far as there are heads, and weights further.
    each = ceil((dense_bytes + (evenly + cache) / sequences) / room)
    past_cache = room - cache / sequences / cut_heads
    further = ceil((dense_bytes + evenly / sequences) / where(past_cache > 0, past_cache, room))
    wider = where(past_cache > 0, further, inf)
    on_each = sequences * where(each > cut_heads, wider, each)
    return {
        "weight_bytes": weight_bytes,
        "chip_bytes": chip_bytes,
        "free": room - chip_bytes,
        "fewest_chips": minimum(minimum(one_replica, on_each), minimum(on_few, on_many)),
    }
