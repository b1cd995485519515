"""How long the chips of a network take to gather, add up and exchange an array."""

from typing import Any

from flopbook.formulas.collective_inputs import (
    RULES,
    ArrayBytes,
    Chips,
    Efficiency,
    Latency,
    LevelOverlap,
    LinksOfAxis,
    Op,
    Ramp,
    Reduction,
    ReductionEfficiency,
    StartUp,
    TorusAxes,
)
from flopbook.formulas.declaration import Output, Step, StepWord, formula, part
from flopbook.formulas.network_inputs import LinkBandwidth, ScaleOutBandwidth, Topology
from flopbook.formulas.network_omissions import (
    array_of_each_chip,
    cards_below_their_rate,
    links_without_a_sweep,
    one_port_for_both_sides,
    start_without_a_sweep,
    starts_apart,
    steps_between_servers,
    sums_in_the_network,
)
from flopbook.formulas.slices import SLICE_SYMBOLS, slice_links, slice_sides
from flopbook.quantities.ops import ceil, floor, inf, maximum, minimum, sqrt, where


@part
def amounts(bytes: ArrayBytes, chips: Chips, op: Op = "all-reduce") -> dict[str, Any]:
    """What a chip starts with and lacks at the end of a pass, of which an all-reduce has two."""
    share = bytes / chips
    # One chip alone has nobody to pass its share to: minimum(chips - 1, 1) is 0 there.
    gathered = bytes * (1 - 1 / chips) if op != "permute" else share * minimum(chips - 1, 1)
    twice = 2 if op == "all-reduce" else 1
    return {"share": share, "gathered": gathered, "twice": twice}


@part
def slice_hops(
    links_per_axis: Step,
    first: Step,
    second: Step,
    third: Step,
    ways_x: Step,
    ways_y: Step,
    ways_z: Step,
) -> dict[str, Any]:
    """Hops across a slice and to the next chip, and how many blocks of an all-to-all share a link.

    On a ring half of it is the farthest; on an open axis, or one way round, all of it.
    """
    hops_x = where(ways_x > 1, floor(first / 2), first - 1)
    hops_y = where(ways_y > 1, floor(second / 2), second - 1)
    hops_z = where(ways_z > 1, floor(third / 2), third - 1)
    # On an open axis the last chip passes its share back to the first, over the whole line.
    next_x = where(ways_x < links_per_axis, first - 1, minimum(first - 1, 1))
    next_y = where(ways_y < links_per_axis, second - 1, minimum(second - 1, 1))
    next_z = where(ways_z < links_per_axis, third - 1, minimum(third - 1, 1))
    crowd_x = floor(first / 2) * ceil(first / 2) / (ways_x * first)
    crowd_y = floor(second / 2) * ceil(second / 2) / (ways_y * second)
    crowd_z = floor(third / 2) * ceil(third / 2) / (ways_z * third)
    longest = maximum(first, maximum(second, third))
    crowd = where(
        links_per_axis > 1, maximum(crowd_x, maximum(crowd_y, crowd_z)), (longest - 1) / 2
    )
    return {
        "hops": hops_x + hops_y + hops_z,
        "to_next": maximum(next_x, maximum(next_y, next_z)),
        "crowd": crowd,
    }


@part
def traffic(
    bytes: Step,
    chips: Step,
    op: StepWord,
    topology: StepWord,
    share: Step,
    inside: Step,
    lanes: Step,
    hops: Step,
    to_next: Step,
    crowd: Step,
    reduction: Reduction = "chips",
) -> dict[str, Any]:
    """Bytes of one pass on a link within the domain and beyond it, and hops one after the other."""
    domains = chips / inside
    passed = share * minimum(inside - 1, 1)
    lacking = bytes * (1 - 1 / inside)
    direct = share * (inside - 1) / chips
    on_axes = {"all-to-all": share * inside / chips * crowd, "permute": passed}.get(
        op, lacking / lanes
    )
    at_port = {"all-to-all": direct, "permute": passed}.get(op, lacking)
    on_pairs = {"all-to-all": direct / lanes, "permute": passed}.get(op, lacking / lanes)
    chips_add = {"switch": at_port, "two-level": at_port, "mesh": on_pairs}.get(topology, on_axes)
    # Each chip sends its array up once, and gets its share of the sum and all of it back.
    switch_adds = bytes * (1 + 1 / inside) / 2 * minimum(inside - 1, 1)
    on_link = switch_adds if reduction == "switch" else chips_add
    across = (
        share * minimum(domains - 1, 1) if op == "permute" else bytes / inside * (1 - 1 / domains)
    )
    out = across * inside / chips if op == "all-to-all" else across
    on_axis = to_next if op == "permute" else hops
    one_hop = minimum(inside - 1, 1)
    along = {"switch": one_hop, "two-level": one_hop, "mesh": one_hop}.get(topology, on_axis)
    return {
        "domains": domains,
        "on_link": on_link,
        "out": out,
        "along": along,
    }


@formula(
    "collective",
    title="Collective",
    question="How long does an all-gather, all-reduce or all-to-all take on this network?",
    outputs={
        "seconds": Output("s", "T", "time of the collective"),
        "bytes_per_link": Output(
            "byte", r"Q_\text{link}", "bytes on the busiest link of the domain, one way"
        ),
        "bus_bandwidth": Output(
            "byte/s",
            r"\beta_\text{bus}",
            "bus bandwidth as nccl-tests defines it",
            absent="one chip alone moves nothing",
        ),
        "latency_seconds": Output("s", r"T_\text{lat}", "time of an empty message"),
        "bandwidth_seconds": Output(
            "s", r"T_\text{bw}", "transfer time at the printed link rates, the lower bound"
        ),
        "crossover_bytes": Output(
            "byte",
            r"V_\text{cross}",
            "array size at which latency equals transfer; latency dominates below it",
            absent="one chip alone moves nothing",
        ),
        "steps": Output("1", "h", "hops one after the other"),
        "scaleout_bytes": Output(
            "byte", r"Q_\text{out}", "bytes that each chip sends beyond its scale-up domain"
        ),
        "one_ring_seconds": Output(
            "s",
            r"T_\text{ring}",
            "transfer time as a single ring that crosses domains at the rate beyond them",
            absent="all chips are in one scale-up domain",
        ),
    },
    sources=("austin2025sharding", "nvidia2026nccltests", "bekman2026network"),
    symbols={
        **SLICE_SYMBOLS,
        "hops_x": "h_x",
        "hops_y": "h_y",
        "hops_z": "h_z",
        "next_x": "i_x",
        "next_y": "i_y",
        "next_z": "i_z",
        "crowd_x": "c_x",
        "crowd_y": "c_y",
        "crowd_z": "c_z",
        "longest": "s",
        "crowd": "c",
        "hops": r"h_\text{axes}",
        "to_next": r"h_\text{next}",
        "domains": "m",
        "share": "q",
        "gathered": "G",
        "twice": "f",
        "passed": "q'",
        "lacking": "I",
        "direct": "D",
        "on_axes": r"A_\text{axes}",
        "at_port": r"A_\text{port}",
        "on_pairs": r"A_\text{pair}",
        "chips_add": r"A_\text{chips}",
        "switch_adds": r"A_\text{sum}",
        "on_link": "A",
        "across": "R",
        "out": "O",
        "on_axis": r"h_\text{slice}",
        "one_hop": "h_1",
        "along": r"h_\text{along}",
        "within": r"T_\text{in}",
        "beyond": r"T_\text{out}",
        "rate_share": r"\eta'",
        "reached": r"T_\text{in}'",
        "transfer": "T'",
        "moved": "U",
    },
    asks=("op", "chips", "bytes", "chip", "link_bandwidth"),
    examples=(
        {
            "op": "all-gather",
            "topology": "ring",
            "chips": "16",
            "bytes": "32MiB",
            "link-bandwidth": "45GB/s",
        },
        {"op": "all-reduce", "chip": "h100-sxm", "chips": "8", "bytes": "1GB"},
        {"op": "all-reduce", "chip": "h100-sxm", "chips": "512", "bytes": "16GB"},
        {"op": "all-gather", "chip": "tpu-v5e", "chips": "8", "bytes": "1GB"},
        {"op": "all-reduce", "chip": "h100-pcie", "chips": "8", "bytes": "1GB"},
    ),
    rules=RULES,
    omissions=(
        array_of_each_chip,
        one_port_for_both_sides,
        sums_in_the_network,
        cards_below_their_rate,
        links_without_a_sweep,
        start_without_a_sweep,
        starts_apart,
        steps_between_servers,
    ),
    parts=(amounts, slice_sides, slice_links, slice_hops, traffic),
)
def collective(
    bytes: Step,
    chips: Step,
    op: StepWord,
    domains: Step,
    gathered: Step,
    twice: Step,
    on_link: Step,
    out: Step,
    along: Step,
    reduction: StepWord,
    link_bandwidth: LinkBandwidth,
    topology: Topology = "ring",
    axes: TorusAxes = 1.0,
    links_per_axis: LinksOfAxis = 2.0,
    latency: Latency = 1e-6,
    startup: StartUp = 0.0,
    ramp: Ramp = 0.0,
    efficiency: Efficiency = 1.0,
    reduction_efficiency: ReductionEfficiency = 1.0,
    scaleout_bandwidth: ScaleOutBandwidth = inf,
    level_overlap: LevelOverlap = "yes",
) -> dict[str, Any]:
    """Time of a collective on a ring, a torus, a switch, a mesh or two levels, and the bytes on
    each link.

    Derivation:
        One array of V bytes is meant: all of it on every chip after an all-gather and before a
        reduce-scatter or all-reduce, V/N on each for an all-to-all or a permute. A chip that
        gathers receives the V(1 - 1/N) that it lacks, through all links of a ring or torus alike. A
        reduce-scatter is the same backwards, an all-reduce both. An open axis takes twice as long:
        the chip at its end has one link to receive on. TPU slices below 16 chips an axis (v5e, v6e)
        or below whole cubes (v4, v5p) are open. In a mesh each pair of chips has a link of its own,
        so n chips use n - 1 links each, however many the board has.

        In an all-to-all every block goes the shortest way. On a long ring the busiest link carries
        V/8, a quarter of an all-gather; on a line V/4; on a torus the longest axis decides. A
        permute passes each share on by one. At a switch each chip has one port, and all send to
        each other at once. A switch that adds up receives V from each chip and returns V/N of sums,
        which it then sends to all: V(1 + 1/N) instead of 2V(1 - 1/N).

        More chips than a scale-up domain holds make two levels. Chips of equal place in their
        domains share what crosses: V/g each. NCCL keeps both levels busy at once, so the slower one
        counts. Cards that a bridge joins in pairs have no such algorithm: the program runs one
        collective after the other, and the times add up.

        An empty message takes the launch and its hops. A transfer runs at a share of the printed
        rate, and its pipeline of chunks has to fill: with the best size of chunk that costs twice
        the root of fill time and transfer time. The three constants are fitted to published sweeps
        for each kind of link; without a chip they are those of an ideal network.

    Leaves out:
        - Arrays of their own on each chip: one over all chips is meant. [array_of_each_chip]
        - A single port that serves both sides of a ring. [one_port_for_both_sides]
        - Sums over pairs of nodes in the switches between them, SHARP on InfiniBand.
          [sums_in_the_network]
        - Rates of network cards below the printed ones. [cards_below_their_rate]
        - Congestion among jobs. [no size: it is a matter of the cluster and of its other jobs]
        - Links for which no sweep is published, whose rates are taken as printed.
          [links_without_a_sweep]
        - The start of a collective, where no sweep says it, and that sweeps differ in it.
          [start_without_a_sweep, starts_apart]
        - Steps of a tree between servers, beyond one hop up and one down. [steps_between_servers]
        - Axes of unlike length, which need shares to match. [no size: all axes carry N - 1 of N
          parts whatever their lengths, and shares that match change the start alone]
    """
    # At a switch, in a mesh and between domains a message takes one hop, whatever the chips.
    steps = twice * (along + minimum(domains - 1, 1))
    bytes_per_link = twice * on_link
    latency_seconds = startup * minimum(chips - 1, 1) + latency * steps
    within = bytes_per_link / link_bandwidth
    beyond = twice * out / scaleout_bandwidth
    bandwidth_seconds = maximum(within, beyond) if level_overlap == "yes" else within + beyond
    rate_share = reduction_efficiency if reduction == "switch" else efficiency
    reached = within / rate_share
    transfer = maximum(reached, beyond) if level_overlap == "yes" else reached + beyond
    seconds = latency_seconds + 2 * sqrt(ramp * transfer) + transfer
    moved = gathered / chips if op == "all-to-all" else twice * gathered
    bus_bandwidth = where(seconds > 0, moved / where(seconds > 0, seconds, inf), inf)
    crossover_bytes = where(
        bandwidth_seconds > 0,
        bytes * latency_seconds / where(bandwidth_seconds > 0, bandwidth_seconds, inf),
        inf,
    )
    return {
        "seconds": seconds,
        "bytes_per_link": bytes_per_link,
        "bus_bandwidth": bus_bandwidth,
        "latency_seconds": latency_seconds,
        "bandwidth_seconds": bandwidth_seconds,
        "crossover_bytes": crossover_bytes,
        "steps": steps,
        "scaleout_bytes": twice * out,
        "one_ring_seconds": where(domains > 1, moved / scaleout_bandwidth, inf),
    }
