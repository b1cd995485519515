"""How long the chips of a network take to gather, add up and exchange an array."""

from typing import Annotated, Any

from flopbook.formulas.conditions import rule
from flopbook.formulas.declaration import Input, Output, Step, StepWord, formula, part
from flopbook.quantities.ops import ceil, floor, inf, maximum, minimum, sqrt, where

OPS = ("all-gather", "reduce-scatter", "all-reduce", "all-to-all", "permute")
TOPOLOGIES = ("ring", "torus", "switch", "two-level")

ArrayBytes = Annotated[
    float, Input("byte", "V", "bytes of the whole array, over all chips", most=1e18)
]
Chips = Annotated[float, Input("chip", "N", "chips that take part", least=1, whole=True, most=1e7)]
PortBandwidth = Annotated[
    float,
    Input("byte/s", "w", "one-way bandwidth of one link or port", chip="link_bandwidth", most=1e18),
]
Op = Annotated[str, Input("1", r"\text{op}", "what the chips do", choices=OPS)]
Topology = Annotated[
    str,
    Input("1", r"\text{topology}", "how the chips are joined", chip="topology", choices=TOPOLOGIES),
]
TorusAxes = Annotated[
    float, Input("1", "n", "torus axes used", chip="axes", least=1, whole=True, most=16)
]
LinksOfAxis = Annotated[
    float,
    Input(
        "1",
        "l",
        "links of a chip on an axis: 2, or 1 for a one-way ring",
        chip="links_per_axis",
        least=1,
        whole=True,
        most=2,
    ),
]
Wrap = Annotated[
    str, Input("1", r"\text{wrap}", "whether the axes close into rings", choices=("yes", "no"))
]
SideX = Annotated[
    float, Input("1", "X", "chips along the first axis", least=2, whole=True, most=1e7)
]
SideY = Annotated[
    float, Input("1", "Y", "chips along the second axis", least=2, whole=True, most=1e7)
]
Latency = Annotated[
    float, Input("s", r"\tau", "time of one hop of an empty message", least=1e-12, most=1)
]
ChipsPerNode = Annotated[
    float,
    Input(
        "chip",
        "g",
        "chips that the fast level joins, of two levels",
        chip="chips_per_node",
        least=1,
        whole=True,
        most=1e7,
    ),
]
ScaleOutBandwidth = Annotated[
    float,
    Input(
        "byte/s",
        r"w_\text{out}",
        "one-way bandwidth of a chip beyond its node",
        chip="scaleout_bandwidth",
        most=1e18,
    ),
]


@rule("--axes {axes} is above 3, expected 1 to 3 on a torus")
def torus_has_three_axes(axes: float, topology: str) -> bool:
    """The formula knows tori of one, two and three axes."""
    return (topology != "torus") | (axes <= 3)


@rule(
    "side-x and side-y belong to a torus of two or three axes; use --topology torus --axes 2 or 3"
)
def sides_belong_to_a_torus(side_x: float, side_y: float, topology: str, axes: float) -> bool:
    """A ring, a switch and two levels have no sides, and the side of one axis is all chips."""
    has_sides = (topology == "torus") & (axes > 1)
    return ((side_x == inf) & (side_y == inf)) | has_sides


@rule(
    "side-y belongs to a torus of three axes; "
    "with two, the second side follows from --chips and --side-x"
)
def second_side_needs_three_axes(side_y: float, axes: float) -> bool:
    """All sides but the last are chosen."""
    return (side_y == inf) | (axes > 2)


@rule(
    "{chips} chips do not fill a torus of whole sides; "
    "give --side-x and --side-y, or use fewer --axes"
)
def chips_fill_the_torus(
    chips: float, axes: float, side_x: float, side_y: float, topology: str
) -> bool:
    """The sides, given or as equal as possible, are whole numbers that multiply to the chips."""
    even_first = floor(chips ** (1 / axes) + 0.5)
    chosen_first = where(side_x < inf, side_x, even_first)
    first = where(axes > 1, chosen_first, chips)
    even_second = floor(sqrt(chips / first) + 0.5)
    chosen_second = where(side_y < inf, side_y, even_second)
    second = where(axes > 2, chosen_second, chips / first)
    # A first side of more than all chips makes the second one zero.
    third = chips / maximum(first * second, 1)
    second_is_whole = (second % 1 == 0) & (second > 0)
    third_is_whole = (third % 1 == 0) & (third > 0)
    return (topology != "torus") | (second_is_whole & third_is_whole)


@rule("an axis of one link per chip has to be closed; use --wrap yes")
def one_way_rings_close(topology: str, wrap: str, links_per_axis: float) -> bool:
    """Along an open line, one link a chip leads nowhere from its end."""
    has_no_axes = (topology != "ring") & (topology != "torus")
    return has_no_axes | (wrap == "yes") | (links_per_axis > 1)


@rule("two levels need --scaleout-bandwidth, one way of one chip")
def second_level_has_a_rate(topology: str, scaleout_bandwidth: float) -> bool:
    """The rate between nodes has no default."""
    return (topology != "two-level") | (scaleout_bandwidth < inf)


@rule("two levels need --chips-per-node")
def nodes_have_a_size(topology: str, chips_per_node: float) -> bool:
    """The size of a node has no default."""
    return (topology != "two-level") | (chips_per_node < inf)


@rule(
    "--chips {chips} is not a multiple of --chips-per-node {chips_per_node}; "
    "use {chips:multiple of chips_per_node}"
)
def nodes_are_full(topology: str, chips: float, chips_per_node: float) -> bool:
    """Every node takes part with all its chips."""
    return (topology != "two-level") | (chips % chips_per_node == 0)


RULES = (
    torus_has_three_axes,
    sides_belong_to_a_torus,
    second_side_needs_three_axes,
    chips_fill_the_torus,
    one_way_rings_close,
    second_level_has_a_rate,
    nodes_have_a_size,
    nodes_are_full,
)


@part
def torus_shape(
    chips: Step,
    topology: StepWord,
    axes: Step,
    links_per_axis: Step,
    wrap: StepWord,
    side_x: Step,
    side_y: Step,
) -> dict[str, Any]:
    """Sides of the torus, the hops across it, and how many blocks of an all-to-all share a link.

    A ring, a switch and two levels count as one axis of all chips.
    """
    dims = axes if topology == "torus" else 1
    # Without sides, axes are equally long; + 0.5 rounds a root that falls just below its number.
    first = where(dims > 1, where(side_x < inf, side_x, floor(chips ** (1 / dims) + 0.5)), chips)
    second = where(
        dims > 2, where(side_y < inf, side_y, floor(sqrt(chips / first) + 0.5)), chips / first
    )
    third = chips / (first * second)
    # An axis of one chip has no links: minimum(side - 1, 1) is 0 for it and 1 for any other.
    longest = maximum(first, maximum(second, third))
    used = maximum(minimum(first - 1, 1) + minimum(second - 1, 1) + minimum(third - 1, 1), 1)
    ways = links_per_axis if wrap == "yes" else 1
    # Both ways round a ring, half of it is the farthest; one way, all of it.
    hops = where(
        ways > 1,
        floor(first / 2) + floor(second / 2) + floor(third / 2),
        first + second + third - 3,
    )
    crowd = where(
        links_per_axis > 1,
        floor(longest / 2) * ceil(longest / 2) / (ways * longest),
        (longest - 1) / 2,
    )
    return {"longest": longest, "used": used, "ways": ways, "hops": hops, "crowd": crowd}


@part
def traffic(
    bytes: Step,
    chips: Step,
    op: StepWord,
    topology: StepWord,
    wrap: StepWord,
    chips_per_node: Step,
    longest: Step,
    used: Step,
    ways: Step,
    hops: Step,
    crowd: Step,
) -> dict[str, Any]:
    """Bytes of one pass on a link of an axis, at a port and beyond the node, and hops in turn."""
    inside = chips_per_node if topology == "two-level" else chips
    nodes = chips / inside
    share = bytes / chips
    # One chip alone has nobody to pass its share to: minimum(chips - 1, 1) is 0 there.
    gathered = bytes * (1 - 1 / chips) if op != "permute" else share * minimum(chips - 1, 1)
    twice = 2 if op == "all-reduce" else 1
    on_axes = {"all-to-all": share * crowd, "permute": gathered}.get(op, gathered / (used * ways))
    in_node = share * minimum(inside - 1, 1) if op == "permute" else bytes * (1 - 1 / inside)
    at_port = share * (inside - 1) / chips if op == "all-to-all" else in_node
    across = share * minimum(nodes - 1, 1) if op == "permute" else bytes / inside * (1 - 1 / nodes)
    out = across * inside / chips if op == "all-to-all" else across
    # On an open line the last chip passes its share back to the first, over the whole line.
    to_next = minimum(longest - 1, 1) if wrap == "yes" else longest - 1
    along = to_next if op == "permute" else hops
    levels = minimum(inside - 1, 1) + minimum(nodes - 1, 1)
    return {
        "gathered": gathered,
        "twice": twice,
        "on_axes": on_axes,
        "at_port": at_port,
        "out": out,
        "along": along,
        "levels": levels,
    }


@formula(
    "collective",
    title="Collective",
    question="How long does an all-gather, all-reduce or all-to-all take on this network?",
    outputs={
        "seconds": Output("s", "T", "time: the longer of latency and transfer"),
        "bytes_per_link": Output(
            "byte", r"Q_\text{link}", "bytes that the busiest link carries, one way"
        ),
        "bus_bandwidth": Output(
            "byte/s",
            r"\beta_\text{bus}",
            "bus bandwidth as the tests of NCCL define it",
            absent="one chip alone moves nothing",
        ),
        "latency_seconds": Output(
            "s", r"T_\text{lat}", "time of the hops alone, as for a tiny array"
        ),
        "bandwidth_seconds": Output(
            "s", r"T_\text{bw}", "time of the transfer alone, as for a huge array"
        ),
        "crossover_bytes": Output(
            "byte",
            r"V_\text{cross}",
            "size of array at which the two times are equal; below it latency rules",
            absent="one chip alone moves nothing",
        ),
        "steps": Output("1", "h", "hops that the data takes one after the other"),
        "scaleout_bytes": Output(
            "byte", r"Q_\text{out}", "bytes that a chip sends over the scale-out network"
        ),
    },
    sources=("austin2025sharding", "nvidia2026nccltests"),
    symbols={
        "dims": "d",
        "first": "x",
        "second": "y",
        "third": "z",
        "used": "u",
        "longest": "s",
        "ways": "l'",
        "hops": r"h_\text{axes}",
        "crowd": "c",
        "inside": "g'",
        "nodes": "m",
        "share": "q",
        "gathered": "G",
        "twice": "f",
        "on_axes": "A",
        "in_node": "I",
        "at_port": "P",
        "across": "R",
        "out": "O",
        "to_next": r"h_\text{next}",
        "along": r"h_\text{along}",
        "levels": r"h_\text{levels}",
        "moved": "U",
    },
    examples=(
        {
            "op": "all-gather",
            "topology": "ring",
            "chips": "16",
            "bytes": "32MiB",
            "link-bandwidth": "45GB/s",
        },
        {"op": "all-reduce", "chip": "h100-sxm", "chips": "8", "bytes": "1GB"},
        {
            "op": "all-reduce",
            "topology": "two-level",
            "chips": "512",
            "chips-per-node": "8",
            "bytes": "16GB",
            "link-bandwidth": "450GB/s",
            "scaleout-bandwidth": "400Gbit/s",
        },
    ),
    rules=RULES,
    parts=(torus_shape, traffic),
)
def collective(
    bytes: ArrayBytes,
    chips: Chips,
    link_bandwidth: PortBandwidth,
    gathered: Step,
    twice: Step,
    on_axes: Step,
    at_port: Step,
    out: Step,
    along: Step,
    levels: Step,
    op: Op = "all-reduce",
    topology: Topology = "ring",
    axes: TorusAxes = 1.0,
    links_per_axis: LinksOfAxis = 2.0,
    wrap: Wrap = "yes",
    side_x: SideX = inf,
    side_y: SideY = inf,
    latency: Latency = 1e-6,
    chips_per_node: ChipsPerNode = inf,
    scaleout_bandwidth: ScaleOutBandwidth = inf,
) -> dict[str, Any]:
    """Time of a collective operation on a ring, a torus, a switch or two levels, and the bytes on
    each link.

    Derivation:
        One array of V bytes is meant: all of it on every chip after an all-gather and before a
        reduce-scatter or all-reduce, V/N on each for an all-to-all or a permute. A chip that
        gathers receives the V(1 - 1/N) that it lacks, through all links of a ring or torus alike. A
        reduce-scatter is the same backwards, an all-reduce both. An open line (`--wrap no`) takes
        twice as long: at its ends only one link is there to receive.

        In an all-to-all every block goes the shortest way. On a long ring the busiest link carries
        V/8, a quarter of an all-gather; on a line V/4; on a torus the longest axis decides. A
        permute passes each share on by one. At a switch each chip has one port, and all send to
        each other at once. With two levels pieces move through both at the same time, so the slower
        one counts: chips of equal place gather V/g across the nodes.

        Each hop takes a time of its own, so the time is the larger of hops x latency and bytes over
        bandwidth. The bus bandwidth is what a chip has to move, over time; at a switch its limit is
        the rate of the port.

    Leaves out:
        What software reaches: on eight GPUs at a switch large arrays move at 80 percent of the
        printed rate and small ones wait tens of microseconds. Near the crossover the two times add
        up, at most to double. Switches that add (SHARP) spare an all-reduce up to half its traffic.
        Axes of unlike length need shares to match.
    """
    # At a switch and on two levels a message takes one hop on each level, whatever the chips.
    steps = twice * {"switch": levels, "two-level": levels}.get(topology, along)
    bytes_per_link = twice * {"switch": at_port, "two-level": at_port}.get(topology, on_axes)
    latency_seconds = latency * steps
    bandwidth_seconds = maximum(bytes_per_link / link_bandwidth, twice * out / scaleout_bandwidth)
    seconds = maximum(latency_seconds, bandwidth_seconds)
    moved = gathered / chips if op == "all-to-all" else twice * gathered
    bus_bandwidth = where(seconds > 0, moved / where(seconds > 0, seconds, inf), inf)
    crossover_bytes = where(
        seconds > 0, bytes * latency_seconds / where(seconds > 0, bandwidth_seconds, inf), inf
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
    }
