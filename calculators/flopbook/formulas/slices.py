"""The part of a scale-up network that some chips use: sides of a slice, rings, links at work."""

from typing import Any

from flopbook.formulas.conditions import rule
from flopbook.formulas.declaration import Step, StepWord, part
from flopbook.formulas.network_inputs import (
    Axes,
    ChipsPerNode,
    LinksPerAxis,
    RingSide,
    SideX,
    SideY,
    Wrap,
)
from flopbook.quantities.ops import floor, inf, maximum, minimum, sqrt, where


@rule("--axes {axes} is above 3, expected 1 to 3 on a torus")
def torus_has_three_axes(axes: float, chips: float, topology: str) -> bool:
    """The shape of a slice is known for one, two and three axes; without chips it has none."""
    return (topology != "torus") | (axes <= 3) | (chips == inf)


@rule(
    "side-x and side-y belong to a torus of two or three axes; use --topology torus --axes 2 or 3"
)
def sides_belong_to_a_torus(side_x: float, side_y: float, topology: str, axes: float) -> bool:
    """A ring and a switch have no sides, and the side of one axis is all chips."""
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
    chips: float, axes: float, side_x: float, side_y: float, topology: str, chips_per_node: float
) -> bool:
    """The sides, given or as equal as possible, are whole numbers that multiply to the chips."""
    inside = minimum(chips, chips_per_node)
    known = where(inside < inf, inside, 1)
    root = known ** (1 / axes)
    even = floor(root + 0.5)
    twos = where(root < 4, where(root < 2, 1, 2), where(root < 8, 4, where(root < 16, 8, 16)))
    chosen_first = where(side_x < inf, side_x, where(known % even == 0, even, twos))
    first = where(axes > 1, chosen_first, known)
    rest = known / first
    half = sqrt(rest)
    square = maximum(floor(half + 0.5), 1)
    pair = where(half < 4, where(half < 2, 1, 2), where(half < 8, 4, where(half < 16, 8, 16)))
    chosen_second = where(side_y < inf, side_y, where(rest % square == 0, square, pair))
    second = where(axes > 2, chosen_second, rest)
    # A first side of more than all chips makes the second one zero.
    third = known / maximum(first * second, 1)
    second_is_whole = (second % 1 == 0) & (second > 0)
    third_is_whole = (third % 1 == 0) & (third > 0)
    # Powers of two are as equal as slices are sold; anything longer was not meant.
    is_even = (side_x < inf) | (maximum(second, third) <= 2 * first) | (axes == 1)
    is_filled = second_is_whole & third_is_whole & is_even
    return (topology != "torus") | is_filled


@rule(
    "{chips} chips do not fill a torus of whole sides; "
    "give --side-x and --side-y, or use fewer --axes"
)
def chips_fill_a_slice(
    chips: float, axes: float, side_x: float, side_y: float, topology: str, chips_per_node: float
) -> bool:
    """The same of a part of a domain: a whole one needs no shape where only its links count."""
    known = where(chips < inf, chips, 1)
    root = known ** (1 / axes)
    even = floor(root + 0.5)
    twos = where(root < 4, where(root < 2, 1, 2), where(root < 8, 4, where(root < 16, 8, 16)))
    chosen_first = where(side_x < inf, side_x, where(known % even == 0, even, twos))
    first = where(axes > 1, chosen_first, known)
    rest = known / first
    half = sqrt(rest)
    square = maximum(floor(half + 0.5), 1)
    pair = where(half < 4, where(half < 2, 1, 2), where(half < 8, 4, where(half < 16, 8, 16)))
    chosen_second = where(side_y < inf, side_y, where(rest % square == 0, square, pair))
    second = where(axes > 2, chosen_second, rest)
    third = known / maximum(first * second, 1)
    second_is_whole = (second % 1 == 0) & (second > 0)
    third_is_whole = (third % 1 == 0) & (third > 0)
    is_even = (side_x < inf) | (maximum(second, third) <= 2 * first) | (axes == 1)
    is_filled = second_is_whole & third_is_whole & is_even
    return (topology != "torus") | (chips >= chips_per_node) | is_filled


@rule("an axis of one link per chip has to be closed; use --wrap yes")
def one_way_rings_close(topology: str, wrap: str, links_per_axis: float) -> bool:
    """Along an open line, one link a chip leads nowhere from its end."""
    has_no_axes = (topology != "ring") & (topology != "torus")
    return has_no_axes | (wrap == "yes") | (links_per_axis > 1)


@rule(
    "a mesh has as many links as there are other chips; "
    "give --chips, or --chips-per-node for those of the whole board"
)
def meshes_have_a_size(topology: str, chips: float, chips_per_node: float) -> bool:
    """Without either, the number of links at work is open."""
    return (topology != "mesh") | (chips < inf) | (chips_per_node < inf)


# Of every torus; that chips fill it is asked in two ways, above.
SLICE_RULES = (
    torus_has_three_axes,
    sides_belong_to_a_torus,
    second_side_needs_three_axes,
)


@part
def slice_sides(
    chips: Step,
    topology: StepWord,
    axes: Axes,
    chips_per_node: ChipsPerNode = inf,
    side_x: SideX = inf,
    side_y: SideY = inf,
) -> dict[str, Any]:
    """Chips within one domain, and the sides of the slice of a torus that they fill.

    Sides that are not given are as equal as possible, or else powers of two, as slices are sold.
    Any other topology counts as one axis of all chips.
    """
    inside = minimum(chips, chips_per_node)
    # A limit that is asked without a number of chips means the whole network.
    known = where(chips < inf, inside, 1)
    dims = minimum(axes, 3) if topology == "torus" else 1
    # + 0.5 rounds a root that falls just below its number.
    root = known ** (1 / dims)
    even = floor(root + 0.5)
    twos = where(root < 4, where(root < 2, 1, 2), where(root < 8, 4, where(root < 16, 8, 16)))
    fitting = where(floor(known / even) * even == known, even, twos)
    first = where(dims > 1, where(side_x < inf, side_x, fitting), known)
    rest = known / first
    half = sqrt(rest)
    square = maximum(floor(half + 0.5), 1)
    pair = where(half < 4, where(half < 2, 1, 2), where(half < 8, 4, where(half < 16, 8, 16)))
    halving = where(floor(rest / square) * square == rest, square, pair)
    second = where(dims > 2, where(side_y < inf, side_y, halving), rest)
    return {
        "inside": inside,
        "known": known,
        "dims": dims,
        "first": first,
        "second": second,
        "third": known / (first * second),
    }


@part
def slice_links(
    topology: StepWord,
    axes: Step,
    links_per_axis: LinksPerAxis,
    chips_per_node: Step,
    inside: Step,
    dims: Step,
    first: Step,
    second: Step,
    third: Step,
    wrap: Wrap = "yes",
    ring_side: RingSide = 1.0,
) -> dict[str, Any]:
    """Links that each axis of the slice has for a chip, and how many carry data at once in all.

    A ring has links to either side. On an open axis the chips at its ends have one, and they finish
    last, so that one counts.
    """
    whole_x = where(floor(first / ring_side) * ring_side == first, 1, 0)
    whole_y = where(
        (floor(second / ring_side) * ring_side - second) * minimum(dims - 1, 1) == 0, 1, 0
    )
    whole_z = where(
        (floor(third / ring_side) * ring_side - third) * maximum(dims - 2, 0) == 0, 1, 0
    )
    cube = whole_x * whole_y * whole_z
    ring_x = {"no": 0, "axis": whole_x, "cube": cube}.get(wrap, 1)
    ring_y = {"no": 0, "axis": whole_y, "cube": cube}.get(wrap, 1)
    ring_z = {"no": 0, "axis": whole_z, "cube": cube}.get(wrap, 1)
    ways_x = 1 + (links_per_axis - 1) * ring_x
    ways_y = 1 + (links_per_axis - 1) * ring_y
    ways_z = 1 + (links_per_axis - 1) * ring_z
    # An axis of one chip has no links: minimum(side - 1, 1) is 0 for it and 1 for any other.
    on_slice = maximum(
        ways_x * minimum(first - 1, 1)
        + ways_y * minimum(second - 1, 1)
        + ways_z * minimum(third - 1, 1),
        1,
    )
    # A whole domain has all its rings; only a part of it is a slice.
    on_whole = axes if wrap == "no" else axes * links_per_axis
    on_torus = where(inside < chips_per_node, on_slice, on_whole)
    # A mesh has one link to each of the other chips; those of chips that take no part lie idle.
    peers = where(inside < inf, inside, 2) - 1
    lanes = {"mesh": maximum(peers, 1), "switch": 1, "two-level": 1}.get(topology, on_torus)
    return {
        "ways_x": ways_x,
        "ways_y": ways_y,
        "ways_z": ways_z,
        "lanes": lanes,
    }


# How the equations write the steps above.
SLICE_SYMBOLS = {
    "inside": "g'",
    "known": r"g_\text{known}",
    "dims": "d",
    "root": "r",
    "even": r"x_\text{even}",
    "twos": "x_2",
    "fitting": "x'",
    "first": "x",
    "rest": "N_{yz}",
    "half": "r'",
    "square": r"y_\text{even}",
    "pair": "y_2",
    "halving": "y'",
    "second": "y",
    "third": "z",
    "whole_x": "b_x",
    "whole_y": "b_y",
    "whole_z": "b_z",
    "cube": r"b_\text{cube}",
    "ring_x": "o_x",
    "ring_y": "o_y",
    "ring_z": "o_z",
    "ways_x": "l_x",
    "ways_y": "l_y",
    "ways_z": "l_z",
    "on_slice": r"u_\text{slice}",
    "on_whole": r"u_\text{whole}",
    "on_torus": r"u_\text{torus}",
    "peers": r"u_\text{mesh}",
    "lanes": "u",
}
