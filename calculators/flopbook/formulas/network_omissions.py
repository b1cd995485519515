"""What collectives and the limits of parallelism leave out, with its size."""

from typing import Any

from flopbook.formulas.declaration import Constant
from flopbook.formulas.omissions import omission
from flopbook.formulas.optimizer_states import FP32
from flopbook.quantities.ops import inf, maximum, minimum, sqrt, where

SUMMED_IN_SWITCHES = Constant(0.5, "1", "of the bytes that a switch saves by summing itself")
SECOND = Constant(1.0, "s", "a time that keeps a quotient a number")
# The middle of the kinds of links in accelerators/links.yaml.
MEASURED_SHARE = Constant(0.828, "1", "of the printed rate that large messages reach")
# Rings over four servers of A100 and of H100 reached 192 of 200 and 370 of 400 GB/s, all cards of
# a server together (gtc-a100x32 and gtc-h100x32 in calculators/runs/gtc-slides.yaml).
CARD_SHARE = Constant(0.925, "1", "of the rate of a network card that large messages reach")
# Eight RTX 5090 on PCIe Gen5 added up at 28 of 64 GB/s (nvidia2025ncclthread).
BUS_SHARE = Constant(0.44, "1", "of the printed rate that sums reach on a bus without a sweep")
GEN4_LEAST = Constant(30e9, "byte/s", "no other port than PCIe Gen4 x16 has 30 to 33 GB/s")
GEN4_MOST = Constant(33e9, "byte/s", "PCIe Gen4 x16, rounded up")
GEN5_LEAST = Constant(62e9, "byte/s", "no other port than PCIe Gen5 x16 has 62 to 65 GB/s")
GEN5_MOST = Constant(65e9, "byte/s", "PCIe Gen5 x16, rounded up")
# The startup of NVLink 4 in accelerators/links.yaml.
LEAST_START = Constant(9.45e-6, "s", "start of a collective on the links where it is shortest")
# Tree, protocol LL, over the network: `hwLatencies` in src/graph/tuning.cc of NCCL at 5067397c.
NETWORK_STEP = Constant(5e-6, "s", "a step of a small message between servers")
# On two nodes NCCL uses trees, says a maintainer (issue 196 of NVIDIA/nccl-tests).
TREE_OF_TWO = Constant(2.0, "1", "servers over which a sum takes a tree instead of a ring")
RING_OF_FOUR = Constant(4.0, "1", "chips from which on a ring makes an all-to-all slower")
# The largest of 72 even draws lies 2.9 standard deviations above their mean, that of 300 3.4.
FULLEST = Constant(3.0, "1", "standard deviations of the fullest chip above the mean")
MIXED_TRIP = Constant(3.0, "byte/param", "a value that leaves in fp8 and comes back in bf16")


@omission(
    "sums between domains may be made in the switches of the network (SHARP), which halves what "
    "each chip sends ({size})",
    of="seconds",
)
def sums_in_the_network(
    op: str, level_overlap: str, scaleout_bytes: float, scaleout_bandwidth: float, seconds: float
) -> float:
    """Half of the time beyond the domain, for collectives that sum, at most all but half."""
    # Beyond a bridge of two cards lies the bus of the host, which carries and does not sum.
    is_network = {"yes": 1}.get(level_overlap, 0)
    sums = is_network * {"all-reduce": 1, "reduce-scatter": 1}.get(op, 0)
    # One chip alone takes no time at all.
    whole = where(seconds > 0, seconds, SECOND)
    beyond = where(scaleout_bytes > 0, scaleout_bytes / scaleout_bandwidth, 0 * whole)
    return -sums * SUMMED_IN_SWITCHES * minimum(beyond / whole, 1)


@omission(
    "a ring counts two links of each chip, one to either side: where one card or port serves both, "
    "--links-per-axis 1, it takes longer ({size})",
    of="seconds",
)
def one_port_for_both_sides(
    topology: str, links_per_axis: float, bandwidth_seconds: float, seconds: float
) -> float:
    """As much again for what crosses the links, which carry half each."""
    is_ring = {"ring": 1}.get(topology, 0)
    whole = where(seconds > 0, seconds, SECOND)
    return is_ring * (links_per_axis - 1) * bandwidth_seconds / whole


@omission(
    "--bytes is one array over all chips, as of an all-gather: nccl-tests gives the size of what "
    "each of {chips} chips has, which takes longer ({size})",
    of="seconds",
)
def array_of_each_chip(op: str, chips: float, bandwidth_seconds: float, seconds: float) -> float:
    """As many times the bytes as there are chips, where each has a part of the array alone."""
    parts = {"all-to-all": 1, "permute": 1}.get(op, 0)
    whole = where(seconds > 0, seconds, SECOND)
    return parts * (chips - 1) * bandwidth_seconds / whole


@omission(
    "links count at their printed rate: large messages reach 80 to 90 % of it on NVLink and ICI, "
    "and half or less on a bus ({size})",
    of="seconds",
)
def links_without_a_sweep(
    topology: str,
    efficiency: float,
    link_bandwidth: float,
    scaleout_bandwidth: float,
    bytes_per_link: float,
    scaleout_bytes: float,
    seconds: float,
) -> float:
    """What the middle of all kinds of links would add, or a bus, where no share was measured."""
    whole = where(seconds > 0, seconds, SECOND)
    within = bytes_per_link / link_bandwidth
    beyond = scaleout_bytes / scaleout_bandwidth
    # Cards on a bus reach each other through one port; mesh links of that rate are another thing.
    ports = {"switch": 1}.get(topology, 0)
    is_gen4 = (link_bandwidth > GEN4_LEAST) & (link_bandwidth < GEN4_MOST)
    is_gen5 = (link_bandwidth > GEN5_LEAST) & (link_bandwidth < GEN5_MOST)
    is_bus = (ports > 0) & (is_gen4 | is_gen5)
    reached = where(is_bus, BUS_SHARE, MEASURED_SHARE)
    slower = maximum(within / reached, beyond) - maximum(within, beyond)
    return where(efficiency < 1, 0, slower / whole)


@omission(
    "network cards count at their printed rate, in stages: rings over four servers of A100 and "
    "H100 reached 96 and 92 % of it, and send more over few servers ({size})",
    of="seconds",
)
def cards_below_their_rate(
    op: str,
    chips: float,
    chips_per_node: float,
    scaleout_bytes: float,
    scaleout_bandwidth: float,
    bandwidth_seconds: float,
    seconds: float,
) -> float:
    """The same beyond the domain, as far as it is what takes the time.

    A ring through all chips leaves out the part of one chip, stages that of a whole server.
    """
    whole = where(seconds > 0, seconds, SECOND)
    beyond = scaleout_bytes / scaleout_bandwidth
    servers = where(scaleout_bytes > 0, chips / where(scaleout_bytes > 0, chips_per_node, 1), 1)
    # On two servers NCCL sums by a tree, which crosses the cards as often as stages do.
    fewest = {"all-reduce": TREE_OF_TWO, "all-gather": 1, "reduce-scatter": 1}.get(op, inf)
    is_ring = (servers > fewest) & (chips > servers)
    kept = where(is_ring, 1 / where(is_ring, servers, 2), 0)
    left = where(is_ring, 1 / chips, 0)
    longer = (1 - left) / (1 - kept) / CARD_SHARE
    return maximum(beyond * longer - maximum(beyond, bandwidth_seconds), 0) / whole


@omission(
    "no start is counted for links without a published sweep: NCCL takes 9 µs on NVLink 4 and 41 "
    "µs on NVLink 3 and 5, --startup 9us ({size})",
    of="seconds",
)
def start_without_a_sweep(startup: float, chips: float, seconds: float) -> float:
    """The least of both starts, where several chips take part."""
    whole = where(seconds > 0, seconds, SECOND)
    return where(startup > 0, 0, LEAST_START * minimum(chips - 1, 1)) / whole


@omission(
    "published sweeps of small messages differ: eight in ten all-reduces of up to 1 MiB took 0.6 "
    "to 2.6 times the time counted here; with twice the start it takes longer ({size})",
    of="seconds",
)
def starts_apart(startup: float, chips: float, seconds: float) -> float:
    """The start once more."""
    whole = where(seconds > 0, seconds, SECOND)
    return startup * minimum(chips - 1, 1) / whole


@omission(
    "a hop between servers counts as one within, --latency: NCCL reckons with 5 µs for each step "
    "of a tree between servers, up and down, and a small message takes longer ({size})",
    of="seconds",
)
def steps_between_servers(
    op: str,
    chips: float,
    chips_per_node: float,
    latency: float,
    scaleout_bytes: float,
    seconds: float,
) -> float:
    """Two passes over the doublings of the servers, less the two hops that are counted."""
    sums = {"all-reduce": 2}.get(op, 0)
    whole = where(seconds > 0, seconds, SECOND)
    servers = where(scaleout_bytes > 0, chips / where(scaleout_bytes > 0, chips_per_node, 1), 1)
    # Formulas have no logarithm; a cluster has fewer than 8,192 servers.
    doublings = (
        where(servers >= 2, 1, 0)
        + where(servers >= 4, 1, 0)
        + where(servers >= 8, 1, 0)
        + where(servers >= 16, 1, 0)
        + where(servers >= 32, 1, 0)
        + where(servers >= 64, 1, 0)
        + where(servers >= 128, 1, 0)
        + where(servers >= 256, 1, 0)
        + where(servers >= 512, 1, 0)
        + where(servers >= 1024, 1, 0)
        + where(servers >= 2048, 1, 0)
        + where(servers >= 4096, 1, 0)
    )
    counted = where(servers >= 2, latency, 0 * latency)
    return sums * maximum(doublings * NETWORK_STEP - counted, 0) / whole


@omission(
    "each of {chips} chips has its own share already, so less is sent ({size})",
    of="tokens_per_chip",
)
def own_share(chips: float, chips_per_node: float) -> float:
    """The factor (X - 1)/X of an exact sum or gather, over chips or over domains."""
    peers = where(chips > chips_per_node, chips / chips_per_node, chips)
    return -1 / maximum(peers, 1)


@omission(
    "each chip has its own share already: of Y chips it sends (Y - 1)/Y, and the limit is higher "
    "({size})",
    of="max_tp_degree",
)
def own_columns(max_tp_degree: float) -> float:
    """Where few chips are the limit, their own share counts most."""
    return 1 / maximum(max_tp_degree - 1, 1)


@omission(
    "each chip has its own share of weights and activations already, so less is sent ({size})",
    of="tokens_per_chip",
)
def own_shares(x_opt: float, y_opt: float) -> float:
    """Both factors: the batch is as large as the product of both kinds of traffic."""
    # A split has two parts at the least; one that is not rounded may have fewer.
    weights = 1 - 1 / maximum(x_opt, 2)
    activations = 1 - 1 / maximum(y_opt, 2)
    return weights * activations - 1


@omission(
    "traffic of weights and of activations takes turns: on axes of their own they may overlap, and "
    "a smaller batch is enough ({size})",
    of="domain_tokens",
)
def overlap_of_axes(axes: float, domain_tokens: float) -> float:
    """At the best split both take as long, so overlap halves their time and quarters the batch."""
    return where(axes > 1, -3 / 4 * domain_tokens / domain_tokens, 0)


@omission(
    "FSDP alone, on all axes, asks for a smaller batch, fsdp_tokens ({size})",
    of="domain_tokens",
)
def fsdp_alone(fsdp_tokens: float, domain_tokens: float) -> float:
    """Where the block is too narrow to be split."""
    return minimum(fsdp_tokens / domain_tokens, 1) - 1


@omission(
    "on a ring the all-to-all of --method {method} crosses many links, and takes longer ({size})",
    of="tokens_per_chip",
)
def exchange_on_a_ring(method: str, topology: str, chips: float) -> float:
    """X/4 times as long on a ring of X chips; at a switch all chips reach each other."""
    exchanges = 0 if method == "ring" else 1
    rings = {"torus": 1, "ring": 1}.get(topology, 0)
    length = where(chips < inf, chips, 1)
    return exchanges * rings * maximum(length / RING_OF_FOUR - 1, 0)


@omission(
    "no mask is counted: a causal one, as decoders have, leaves half of the arithmetic to hide "
    "behind, --causal yes ({size})",
    of="tokens_per_chip",
)
def causal_mask_of_a_ring(causal: str, tokens_per_chip: float) -> float:
    """Twice the tokens for the same traffic."""
    doubled = 2 if causal == "no" else 1
    return doubled * tokens_per_chip / tokens_per_chip - 1


@omission(
    "experts of a token that share one of {chips} chips take one trip, not one each ({size})",
    of="slack",
)
def shared_trips(chips: float, experts_per_token: float) -> Any:
    """Experts over the chips on which they lie, if each choice falls on any chip alike."""
    places = where(chips < inf, chips, 1)
    met = places * (1 - (1 - 1 / places) ** experts_per_token)
    return where(chips < inf, experts_per_token / met - 1, 0)


@omission(
    "gradients are summed as wide as weights are kept: in fp32, as Megatron sums those of bf16, "
    "--bytes-per-param 4 ({size})",
    of="tokens_per_chip",
)
def sums_in_fp32(bytes_per_param: float) -> float:
    """All traffic is that of gradients."""
    return maximum(FP32 / bytes_per_param - 1, 0)


@omission(
    "gradients are reduced as wide as weights are gathered: in fp32, as torchtitan and Megatron "
    "reduce those of bf16, the batch has to be larger ({size})",
    of="tokens_per_chip",
)
def reduced_in_fp32(
    bytes_per_param: float, regather: str, tokens_per_chip: float, domain_tokens: float
) -> float:
    """In a domain gathers keep their width, and the forward pass its limit; beyond, all is sums."""
    wider = maximum(FP32 / bytes_per_param, 1)
    gathers = 1 if regather == "yes" else 0
    near = domain_tokens * maximum((gathers + wider) / 2, 1)
    far = where(tokens_per_chip > domain_tokens, wider * tokens_per_chip, near)
    return maximum(near, far) / tokens_per_chip - 1


@omission(
    "the attention of a layer sends as much as its feed-forward block and computes less: a whole "
    "layer stays compute-bound up to a smaller TP degree ({size})",
    of="max_tp_degree",
)
def attention_of_a_layer(attention_share: float) -> float:
    """Twice the traffic of the block alone, for (1 + a) of its arithmetic."""
    return (1 + attention_share) / 2 - 1


@omission(
    "even if tokens choose experts evenly, the fullest of {chips} chips has more of them, and "
    "all wait for it ({size})",
    of="slack",
)
def fullest_chip(chips: float, experts_per_token: float, tokens_per_chip: float) -> Any:
    """The largest of many even draws, whose spread is the root of their mean; routers are worse."""
    drawn = where(chips < inf, tokens_per_chip, 1) * experts_per_token
    above = FULLEST / sqrt(drawn)
    return 1 / (1 + where(chips < inf, where(chips > 1, above, 0), 0)) - 1


@omission(
    "the exchange hides behind the experts alone: with two micro-batches in turn, as DeepSeek-V3 "
    "runs them, it hides behind attention and shared experts too ({size})",
    of="slack",
)
def rest_of_the_layer(beside_share: float) -> float:
    """Their arithmetic over that of the experts that a token visits."""
    return beside_share


@omission(
    "tokens travel as wide there as back: dispatched in fp8 and combined in bf16, as DeepSeek-V3 "
    "does, they take other bytes ({size})",
    of="slack",
)
def narrower_dispatch(bytes_per_param: float) -> float:
    """Three bytes for a value there and back."""
    return 2 * bytes_per_param / MIXED_TRIP - 1


@omission(
    "gradients are reduced as wide as weights are gathered: in fp32, as torchtitan and Megatron "
    "reduce those of bf16, the batch has to be larger ({size})",
    of="tokens_per_chip",
)
def summed_in_fp32(bytes_per_param: float, tokens_per_chip: float, domain_tokens: float) -> float:
    """The same beside tensor parallelism, whose smallest batch grows with the traffic of FSDP."""
    wider = maximum(FP32 / bytes_per_param, 1)
    near = domain_tokens * (1 + wider) / 2
    far = where(tokens_per_chip > domain_tokens, wider * tokens_per_chip, near)
    return maximum(near, far) / tokens_per_chip - 1
